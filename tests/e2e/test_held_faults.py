"""Faults while Berth holds numbers of somebody else's objects: they stand all the same, and go back.

These are the rows of docs/reliability.md in which such a number may differ from seats: what it was is noted,
its object may go and come, and nobody is fought over it. In the other rows the same code fails and recovers.
Minutes count from when this story begins. Beside the fault tests it is they who take the API server away, at
these minutes.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import pytest
from berth.core.leases import VALID_SECONDS

from tests.e2e import binaries, project
from tests.e2e.cluster import Cluster
from tests.e2e.direct import Object
from tests.e2e.faultcases import RETURN
from tests.e2e.gitops import Engine, sweep_each_minute
from tests.e2e.heldobjects import AUTOSCALER, ROOTS, Numbers, autoscaler, held_by, held_kinds
from tests.e2e.project import Document
from tests.e2e.sidebyside import Stage
from tests.e2e.waiting import wait_for
from tests.e2e.windows import GRACE, MINUTE, OPENING, entry, reservation, sleep_until, wait_until

NAMESPACE, SITE, OWNER = "berth-held-faults", "held-faults", "held-faults-owner"
OTHER_NAMESPACE, OTHER_SITE = "berth-held-none", "held-none"  # without an engine
AWAY = (0.5, 2.5)  # as SERVER_AWAY of the faults, from the minute at which this story begins
EARLY = 3 * MINUTE  # seconds before, when the faults have given the controllers back
ROUND = MINUTE + GRACE  # seconds until a round of the sweep is over
LEFT = ROUND + VALID_SECONDS  # the same where the pod went without giving its Lease back
BEFORE, HELD, RAISED, BY_HAND, ANOTHER = 2, 8, 12, 1, 6
LATER = 3.7  # the minute of faults that need all clients of the API server


class HeldCase(NamedTuple):
    fault: int  # its number in docs/reliability.md
    name: str  # of the reservation and of the object
    opens: float = -1
    ends: float = 5
    short: float = OPENING  # seconds at most for which the number may be less than promised
    clean: float = GRACE  # seconds after `ends` until it has gone back
    steps: Sequence[int] = (BEFORE, HELD, BEFORE)  # the only numbers that it has, in this order


CASES: Sequence[HeldCase] = (
    HeldCase(3, "pod-deleted"),
    HeldCase(4, "job-deleted"),
    HeldCase(4, "cronjob-deleted", clean=ROUND),
    HeldCase(5, "over-open", opens=1, short=(AWAY[1] - 1) * MINUTE + RETURN + 40),
    HeldCase(5, "in-the-middle"),
    HeldCase(5, "over-end", ends=2, clean=(AWAY[1] - 2) * MINUTE + RETURN + 60),
    HeldCase(8, "set-by-hand", steps=(BEFORE, HELD, BY_HAND, HELD, BEFORE)),
    HeldCase(8, "object-deleted", steps=(BEFORE, HELD, BEFORE, HELD, BEFORE)),
    HeldCase(8, "object-gone", steps=(BEFORE, HELD, ANOTHER)),  # until after the end
    HeldCase(9, "raised", steps=(BEFORE, HELD, RAISED, BEFORE)),
    HeldCase(14, "timetable-broken"),
)
# Those of the site without an engine.
AGAIN = HeldCase(15, "applied-again")
DROPPED = HeldCase(15, "dropped", ends=60)
ALL = (*CASES, AGAIN, DROPPED)


class Story(NamedTuple):
    opens: int
    numbers: Numbers
    moments: dict[str, float]  # seconds since the epoch
    failed: list[str]  # what could not be done as it was meant
    left: list[str]  # notes in the end
    jobs: list[str]  # that are still active in the end
    dropped: list[str]  # ConfigMaps of the reservation that is in no inventory
    events: list[dict[str, Any]]


def config_maps(namespace: str, *roles: str) -> str:
    selector = f"labelSelector=berth.dev/role%20in%20({','.join(roles)})"
    return f"/api/v1/namespaces/{namespace}/configmaps?{selector}"


def where(name: str) -> str:
    return f"{ROOTS[AUTOSCALER].format(OWNER)}/{name}"


def declared(one: HeldCase, opens: int, held: int = HELD) -> Document:
    first = opens + round(one.opens * MINUTE)
    entries = [entry(first, 0, round(one.ends - one.opens))]
    backend = held_by(AUTOSCALER, OWNER, one.name)
    return reservation(one.name, first, entries, lead=0, seats={"seat": held}, backend=backend)


def site(name: str, namespace: str, engine: str) -> list[Document]:
    seat = project.resource_class("seat")
    seat["spec"].pop("sessions")
    clusters = [{"name": "real", "held": held_kinds(OWNER)}]
    return [project.site(name, namespace=namespace, engine=engine, clusters=clusters), seat]


class _World:
    def __init__(self, stage: Stage) -> None:
        self.cluster: Cluster = stage.cluster
        self.opens = stage.opens
        self.direct = stage.connect()
        self.engine = Engine(self.direct, stage.folder / "ours", sweep_each_minute)
        self._other = stage.folder / "other"
        self.moments: dict[str, float] = {}
        self.failed: list[str] = []

    def prepare(self) -> None:
        self.cluster.create_namespace(OWNER)
        for one in ALL:
            self.make(one.name)
        ours = [declared(one, self.opens) for one in CASES]
        self.engine.begin([*site(SITE, NAMESPACE, "argocd"), *ours])
        theirs = [declared(one, self.opens) for one in (AGAIN, DROPPED)]
        project.write(self._other, [*site(OTHER_SITE, OTHER_NAMESPACE, "none"), *theirs])
        self.apply_other()

    def apply_other(self) -> None:
        project.berth(self._other, "render")
        self.cluster.apply(self._other / "rendered" / "clusters" / "real")
        self.direct.sweep_each_minute(OTHER_NAMESPACE)
        self.moments["applied again"] = time.time()

    def drop(self) -> None:
        (self._other / "reservations" / f"capacityreservation-{DROPPED.name}.json").unlink()
        self.apply_other()
        self.direct.say_long_gone(OTHER_NAMESPACE, DROPPED.name)
        self.moments[DROPPED.name] = time.time()

    def act(self, name: str, fault: Callable[[], object]) -> None:
        self.moments[name] = time.time()
        try:
            fault()
        except Exception as error:
            self.failed.append(f"{name}: {error!r}")

    def delete_pods(self, name: str) -> None:
        for pod in self.of(name, "api/v1", "pods"):
            self.direct.delete(f"/api/v1/namespaces/{NAMESPACE}/pods/{pod['metadata']['name']}")

    def delete_jobs(self, name: str) -> None:
        for job in self.of(name, "apis/batch/v1", "jobs"):
            path = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/{job['metadata']['name']}"
            self.direct.delete(path, propagationPolicy="Background")

    def delete_cronjob(self, name: str) -> None:
        path = f"/apis/batch/v1/namespaces/{NAMESPACE}/cronjobs/{name}"
        self.direct.delete(path, propagationPolicy="Background")

    def set_by_hand(self, name: str) -> None:
        patch = {"spec": {"minReplicas": BY_HAND}}
        self.direct.ask("PATCH", f"{where(name)}?fieldManager=kubectl-edit", patch)

    def delete_object(self, name: str) -> None:
        self.direct.delete(where(name))
        wait_for(lambda: not self.direct.exists(where(name)), 20, f"{name} to be gone")

    def replace_object(self, name: str) -> None:
        self.delete_object(name)
        time.sleep(10)
        self.make(name)

    def make(self, name: str, number: int = BEFORE) -> None:
        self.direct.create(where(name).rpartition("/")[0], autoscaler(name, number))

    def raise_number(self, name: str) -> None:
        (one,) = [case for case in CASES if case.name == name]
        self.engine.declare([declared(one, self.opens, RAISED)])
        self.engine.sync(name)

    def break_timetable(self, name: str) -> None:
        broken = {"data": {"timetable.json": '{"apiVersion": "berth.dev/'}}
        self.direct.patch(f"/api/v1/namespaces/{NAMESPACE}/configmaps/{name}", broken)

    def of(self, name: str, api: str, plural: str) -> list[Object]:
        selector = f"labelSelector=berth.dev/reservation={name}"
        return self.direct.items(f"/{api}/namespaces/{NAMESPACE}/{plural}?{selector}")

    def notes(self, *roles: str) -> list[str]:
        spaces = (NAMESPACE, OTHER_NAMESPACE)
        found = [one for space in spaces for one in self.direct.items(config_maps(space, *roles))]
        return sorted(one["metadata"]["name"] for one in found)

    def active_jobs(self) -> list[str]:
        selector = "labelSelector=berth.dev/role=occurrence"
        spaces = (NAMESPACE, OTHER_NAMESPACE)
        paths = [f"/apis/batch/v1/namespaces/{space}/jobs?{selector}" for space in spaces]
        jobs = [job for path in paths for job in self.direct.items(path)]
        return [job["metadata"]["name"] for job in jobs if job["status"].get("active")]


def tell(stage: Stage) -> Story:
    sleep_until(stage.opens - EARLY)
    world = _World(stage)
    stage.forget(OWNER, NAMESPACE, OTHER_NAMESPACE)
    world.prepare()
    numbers = Numbers(world.direct, OWNER)
    numbers.start()
    try:
        return _happen(world, numbers)
    finally:
        numbers.stop()
        (binaries.cache_dir() / "held-faults.txt").write_text(numbers.histories(stage.opens))


def _happen(world: _World, numbers: Numbers) -> Story:
    opens, apiserver = world.opens, world.cluster.control_plane.apiserver
    sleep_until(opens + AWAY[0] * MINUTE)
    apiserver.stop()
    sleep_until(opens + AWAY[1] * MINUTE)
    apiserver.start(again=True)
    sleep_until(opens + LATER * MINUTE)
    faults = {
        "set-by-hand": world.set_by_hand,
        "pod-deleted": world.delete_pods,
        "job-deleted": world.delete_jobs,
        "cronjob-deleted": world.delete_cronjob,
        "raised": world.raise_number,
        "timetable-broken": world.break_timetable,
        "object-gone": world.delete_object,
        "object-deleted": world.replace_object,
    }
    for name, fault in faults.items():
        world.act(name, partial(fault, name))
    world.act(DROPPED.name, world.drop)
    sleep_until(opens + 5.3 * MINUTE)
    world.act("object-gone", partial(world.make, "object-gone", ANOTHER))
    last = opens + 5 * MINUTE + ROUND + MINUTE / 2
    wait_until(lambda: not world.notes("held") and not world.active_jobs(), last)
    wait_until(lambda: not any(name.startswith(DROPPED.name) for name in world.notes("target")), last)
    events = world.direct.items(f"/api/v1/namespaces/{NAMESPACE}/events")
    selector = f"labelSelector=berth.dev/reservation={DROPPED.name}"
    dropped = world.direct.items(f"/api/v1/namespaces/{OTHER_NAMESPACE}/configmaps?{selector}")
    names = sorted(one["metadata"]["name"] for one in dropped)
    left, jobs = world.notes("held"), world.active_jobs()
    return Story(opens, numbers, world.moments, world.failed, left, jobs, names, events)


def changes(story: Story, one: HeldCase) -> list[tuple[float, int]]:
    """Seconds since the story began, and the number from then on."""
    return [(at - story.opens, value) for at, value in story.numbers.changes(f"{AUTOSCALER}/{one.name}")]


def longest_short(story: Story, one: HeldCase, ends: float) -> float:
    """For how many seconds without a break the number was less than promised in the window."""
    first, last, longest = one.opens * MINUTE, ends, 0.0
    rows = changes(story, one)
    for (at, value), (until, _) in zip(rows, [*rows[1:], (last, 0)], strict=True):
        if value < HELD:
            longest = max(longest, min(until, last) - max(at, first))
    return longest


def test_every_fault_happened(story: Story) -> None:
    assert story.failed == []


@pytest.mark.parametrize("one", [*CASES, AGAIN], ids=lambda one: f"{one.fault}-{one.name}")
def test_the_number_is_never_short_for_longer_than_the_bound(story: Story, one: HeldCase) -> None:
    assert longest_short(story, one, one.ends * MINUTE) <= one.short


@pytest.mark.parametrize("one", [*CASES, AGAIN], ids=lambda one: f"{one.fault}-{one.name}")
def test_the_number_takes_only_the_expected_steps_and_is_restored(story: Story, one: HeldCase) -> None:
    found = changes(story, one)

    assert [value for _, value in found] == list(one.steps)
    assert -1 <= found[-1][0] - one.ends * MINUTE <= one.clean


def test_no_note_and_no_job_is_left(story: Story) -> None:
    assert story.left == []
    assert story.jobs == []


def test_a_number_that_is_set_by_hand_gets_an_event(story: Story) -> None:
    told = {
        one["involvedObject"]["name"]: one["message"]
        for one in story.events
        if one["reason"] == "NumberSetBack"
    }

    assert "kubectl-edit" in told["set-by-hand"]
    assert set(told) <= {"set-by-hand", "object-deleted"}


def test_without_an_engine_the_sweep_restores_numbers_not_in_the_inventory(story: Story) -> None:
    (_, before), (_, held), (back, after) = changes(story, DROPPED)

    assert (before, held, after) == (BEFORE, HELD, BEFORE)
    assert back + story.opens - story.moments[DROPPED.name] <= LEFT
    assert story.dropped == [f"{DROPPED.name}-record"]
