"""The fake scheduler over HTTP, beside an API server in memory."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.e2e.direct import Direct, RefusedError
from tests.koordinator.apiserver import NODES, PODS, RESERVATIONS, ApiServer, served
from tests.koordinator.objects import (
    NOON,
    SESSION,
    node,
    node_of,
    phase_of,
    pod,
    reservation,
    spec_of,
    status_of,
)
from tests.koordinator.scheduler import FakeScheduler

LONG_ENOUGH = 20.0


class Clock:
    def __init__(self) -> None:
        self.now = float(NOON)

    def __call__(self) -> float:
        return self.now


@contextmanager
def running(clock: Clock, *nodes: str) -> Iterator[tuple[ApiServer, Direct, FakeScheduler]]:
    with served(clock) as (server, direct):
        for name in nodes:
            server.make(NODES, node(name))
        scheduler = FakeScheduler(direct, clock=clock)
        scheduler.start()
        try:
            yield server, direct, scheduler
            assert scheduler.troubles == []
        finally:
            end(server, scheduler)


def end(server: ApiServer, scheduler: FakeScheduler) -> None:
    scheduler.leave()
    server.end_watches()
    scheduler.stop()


def until(is_so: Callable[[], object]) -> None:
    deadline = time.monotonic() + LONG_ENOUGH
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def made(direct: Direct, name: str, **more: Any) -> None:
    one = reservation(name, **more)
    del one["metadata"]["uid"], one["metadata"]["resourceVersion"]
    direct.create(RESERVATIONS, one)


def phases(server: ApiServer) -> dict[str, str]:
    return {name: phase_of(one) for name, one in server.all(RESERVATIONS).items()}


def test_a_slot_is_bound_used_and_given_back() -> None:
    clock = Clock()
    with running(clock, "n1") as (server, direct, _):
        made(direct, "r1")
        until(lambda: phases(server) == {"r1": "Available"})
        server.make(PODS, pod("s1"))
        until(lambda: status_of(server.all(RESERVATIONS)["r1"]).get("currentOwners"))
        found = server.all(PODS)["s1"]
        uid = server.all(RESERVATIONS)["r1"]["metadata"]["uid"]
        said = found["metadata"]["annotations"]["scheduling.koordinator.sh/reservation-allocated"]
        assert (spec_of(found)["nodeName"], json.loads(said)) == ("n1", {"name": "r1", "uid": uid})

        direct.delete("/api/v1/namespaces/hub/pods/s1")

        until(lambda: "currentOwners" not in status_of(server.all(RESERVATIONS)["r1"]))


def test_a_poisoned_object_stops_it_until_it_is_gone() -> None:
    """A scheduler that starts anew sees nothing at all."""
    clock = Clock()
    with running(clock, "n1") as (server, direct, _):
        made(direct, "bad", ttl="7d")
        made(direct, "r1")
        time.sleep(0.5)
        assert phases(server) == {"bad": "Pending", "r1": "Pending"}

        direct.delete(f"{RESERVATIONS}/bad")

        until(lambda: phases(server) == {"r1": "Available"})


def test_two_hundred_at_once() -> None:
    clock = Clock()
    with running(clock) as (server, direct, _):
        for number in range(4):
            server.make(NODES, node(f"n{number}", cpu="64"))
        began = time.monotonic()
        for number in range(200):
            made(direct, f"r{number}")
        until(lambda: set(phases(server).values()) == {"Available"})
        assert time.monotonic() - began < 15
        assert len({node_of(one) for one in server.all(RESERVATIONS).values()}) == 4


def test_who_changes_an_object_meanwhile_wins() -> None:
    clock = Clock()
    refused = iter([409, 500, 0])
    with served(clock) as (server, direct):
        server.make(NODES, node("n1"))
        server.refuse = lambda received: next(refused, 0) if received.path.endswith("/status") else 0
        made(direct, "r1")
        scheduler = FakeScheduler(direct, clock=clock)
        scheduler.start()
        until(lambda: phases(server) == {"r1": "Available"})
        end(server, scheduler)
    assert [trouble.rpartition(": ")[0] != "" for trouble in scheduler.troubles] == [True]


def test_the_server_has_the_manners_of_the_crd() -> None:
    """Defaults, a status apart, conflicts: what the rest of these tests stands on."""
    clock = Clock()
    with served(clock) as (server, direct):
        bare = {
            "metadata": {"name": "r1"},
            "spec": {"template": {}, "owners": [SESSION], "ttl": None},
            "status": {},
        }
        one = direct.create(RESERVATIONS, bare)
        assert one["spec"] == {"template": {}, "owners": [SESSION], "ttl": "24h", "allocateOnce": True}
        with pytest.raises(RefusedError, match="409"):
            direct.create(RESERVATIONS, bare)
        with pytest.raises(RefusedError, match="422"):
            direct.create(RESERVATIONS, {"metadata": {"name": "r2"}, "spec": {"owners": [{}]}})
        direct.patch(f"{RESERVATIONS}/r1", {"status": {"phase": "Failed"}, "spec": {"unschedulable": True}})
        assert server.all(RESERVATIONS)["r1"]["status"] == {"phase": "Pending"}
        old = {**one, "status": {"phase": "Available"}}
        with pytest.raises(RefusedError, match="409"):
            direct.ask("PUT", f"{RESERVATIONS}/r1/status", old)
        with pytest.raises(RefusedError, match="409"):
            direct.ask("DELETE", f"{RESERVATIONS}/r1", {"preconditions": {"uid": "other"}})
        with pytest.raises(RefusedError, match="404"):
            direct.patch(f"{RESERVATIONS}/r2", {})
