"""Whatever goes wrong, slots come, none in use goes before the end, and none is left after it."""

from contextlib import closing
from http.client import HTTPConnection
from threading import Barrier

import pytest
from berth.plugins.slots.slots import SlotPlan
from berth.plugins.slots.slotspec import SlotSpec
from berth.plugins.slots.slotwrites import PlanResult, apply_plan
from berth.runtime.apiclient import Api, ApiError, Connection, Connections, Request, Response

from tests.objectstore import refusal
from tests.runtime.fake_koordinator import PATH, names
from tests.runtime.slotworld import DIGEST, SlotWorld, slot_text
from tests.runtime.stub_server import Received, Reply, StubServer, reply
from tests.runtime.timetables import Row

ROW: Row = ("course/1", "07:30", "07:35", "07:45", {"small": 4})
SLOT = f"{PATH}/example-course-small-1-{DIGEST}"


def quiet(text: str | None = None, **replicas: int) -> SlotWorld:
    world = SlotWorld("07:29", text or slot_text(ROW), **replicas)
    world.sessions(small={"course/1": 0})
    return world


def test_slots_that_cannot_be_created_are_retried_at_a_moderate_rate() -> None:
    world = quiet()
    world.cluster.interfere(f"POST {PATH}", refusal(403, "Forbidden"))
    world.run(until="07:34:06")

    assert 40 < len([request for request in world.cluster.requests if request.method == "POST"]) < 500


def test_a_slot_that_cannot_be_removed_does_not_delay_other_slots() -> None:
    world = quiet()
    world.plan("07:44", lambda: world.cluster.interfere(f"DELETE {SLOT}", refusal(422, "Invalid")))

    assert world.run(until="07:46") is None
    assert names(list(world.koordinator.objects)) == [f"1-{DIGEST}"]


def test_a_slot_that_cannot_be_created_does_not_delay_other_slots_or_a_new_end() -> None:
    world = quiet()

    def refuse(request: Request) -> Response | None:
        is_made = request.method == "POST" and f'-1-{DIGEST}"'.encode() in request.body
        return refusal(422, "Invalid") if is_made else None

    world.cluster.interferences.append(refuse)
    later = slot_text((*ROW[:3], "07:50", ROW[4]))
    world.plan("07:32", lambda: setattr(world.cluster, "timetable", later))
    world.run(until="07:33")

    assert names(sorted(world.koordinator.objects)) == [f"{n}-{DIGEST}" for n in (0, 2, 3)]
    assert {tree["spec"]["expires"] for tree in world.koordinator.objects.values()} == {
        "2026-02-02T07:50:00Z"
    }


def test_a_slot_that_a_session_takes_during_its_removal_is_kept() -> None:
    """A session takes the slot that had just been seen free."""
    world = quiet()
    world.plan("07:32", lambda: setattr(world.cluster, "timetable", slot_text((*ROW[:4], {"small": 3}))))

    def take(request: Request) -> None:
        if request.method == "DELETE" and not world.koordinator.used():
            world.koordinator.take(f"example-course-small-3-{DIGEST}", "a")

    world.cluster.interferences.append(take)
    world.run(until="07:33")

    assert world.koordinator.used_deletes == []
    assert names(world.koordinator.used()) == [f"3-{DIGEST}"]
    assert world.counts == "2+1"


def test_slots_with_placeholders_are_not_created_without_the_deployment() -> None:
    world = quiet(slot_text(ROW, placeholders=True))
    world.run(until="07:36")

    assert world.koordinator.objects == {}
    assert [line["subject"] for line in world.told("failed")] == ["slots of course-small"]


# Several writes at once


TOGETHER = 4
LONG_ENOUGH = 30.0  # seconds
SLOTS = SlotSpec("x", "a", {})
NAMES = tuple(f"x-{number}" for number in range(2 * TOGETHER))
CREATED = b'{"kind": "Reservation"}'


def made(api: Api, most: int = 100) -> PlanResult:
    return apply_plan(api, SLOTS, SlotPlan(make=NAMES), lambda: 0.0, lambda tried: tried < most)


def test_all_slots_are_written_over_parallel_connections() -> None:
    """No request is answered before four have come, so one after the other none ever were."""
    meeting = Barrier(TOGETHER)

    def answer(_: Received) -> Reply:
        meeting.wait(LONG_ENOUGH)
        return reply(201, CREATED)

    with StubServer(answer) as server:
        connections = Connections(
            lambda: Connection(lambda: HTTPConnection("127.0.0.1", server.port, timeout=LONG_ENOUGH), "")
        )
        with closing(connections):
            done = made(Api(connections, parallel_requests=TOGETHER))

    assert sorted(done.made) == sorted(NAMES)
    assert len({received.connection for received in server.received}) == TOGETHER


def test_the_limit_of_writes_is_checked_between_groups() -> None:
    def transport(_: Request) -> Response:
        return Response(201, CREATED)

    done = made(Api(transport, parallel_requests=TOGETHER), most=1)

    assert (sorted(done.made), done.is_cut) == (sorted(NAMES[:TOGETHER]), True)


@pytest.mark.parametrize(
    ("status", "written"),
    [
        pytest.param(422, len(NAMES), id="one-is-rejected"),
        pytest.param(503, TOGETHER, id="the-server-is-away"),
    ],
)
def test_an_error_is_raised_after_the_writes_that_can_still_be_done(status: int, written: int) -> None:
    asked: list[Request] = []

    def transport(request: Request) -> Response:
        asked.append(request)
        return Response(status if b'"x-1"' in request.body else 201, CREATED)

    with pytest.raises(ApiError) as caught:
        made(Api(transport, parallel_requests=TOGETHER))

    assert (caught.value.status, len(asked)) == (status, written)
