"""Whatever goes wrong, slots come, none in use goes before the end, and none is left after it."""

from contextlib import closing
from http.client import HTTPConnection
from random import Random
from threading import Barrier

import pytest
from berth.plugins.slots.slots import SlotPlan
from berth.plugins.slots.slotspec import SlotSpec
from berth.plugins.slots.slotwrites import PlanResult, apply_plan
from berth.runtime.apiclient import Api, ApiError, Connection, Connections, Request, Response

from tests.objectstore import no_answer, refusal
from tests.runtime.fake_koordinator import PATH, names
from tests.runtime.holders import TROUBLES
from tests.runtime.slotworld import DIGEST, SlotWorld, slot_text, slots
from tests.runtime.stub_server import Received, Reply, StubServer, reply
from tests.runtime.timetables import Row
from tests.seeds import seeds

ROW: Row = ("course/1", "07:30", "07:35", "07:45", {"small": 4})
SLOT = f"{PATH}/example-course-small-1-{DIGEST}"
TROUBLE = [trouble for name, trouble in TROUBLES.items() if name != "bug"]


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


@pytest.mark.parametrize("seed", seeds(2, 8))
@pytest.mark.parametrize("placeholders", [False, True])
def test_no_slots_are_left_after_random_faults(seed: int, placeholders: bool) -> None:
    """Requests fail by chance until five minutes after the end; people and nodes come in between."""
    random = Random(seed)
    world = quiet(slot_text(ROW, placeholders=placeholders), **({"small": 0} if placeholders else {}))
    koordinator = world.koordinator
    koordinator.room = random.choice((2, 4, 100))

    def fail(request: Request) -> Response | None:
        if world.now > world_ends or random.random() > 0.15:
            return None
        outcome = random.choice((*TROUBLE, "lost"))
        if outcome == "lost":
            world.cluster.respond(request)
            raise no_answer()
        if isinstance(outcome, Exception):
            raise outcome
        assert isinstance(outcome, Response)
        return outcome

    world_ends = world.now + 21 * 60
    world.cluster.interferences.append(fail)
    for minute in range(30, 46):
        for second in (7, 33, 52):
            world.plan(f"07:{minute}:{second:02d}", lambda: happen(world, random))

    # The pod is lost three times.
    codes = [world.run(until=until) for until in ("07:31:40", "07:36:20", "07:44:10", "23:00")]
    assert codes == [None, None, None, 0]
    assert koordinator.objects == {}
    assert placeholders is False or world.cluster.scales["course-small"] == 0
    assert [when for when, _ in koordinator.used_deletes if when < "07:45"] == []


def happen(world: SlotWorld, random: Random) -> None:
    koordinator = world.koordinator
    match random.randrange(6):
        case 0 if koordinator.objects:
            koordinator.objects.pop(random.choice(list(koordinator.objects)))
        case 1 if koordinator.objects:
            koordinator.lose_nodes(random.choice(list(koordinator.objects)))
        case 2:
            name = f"example-course-small-{random.randrange(9)}-{DIGEST}"
            if name not in koordinator.objects:
                koordinator.put(name, slots()["object"])
                koordinator.objects[name]["spec"] |= {"ttl": "24h0m0s", "expires": "2026-02-02T23:00:00Z"}
        case _:
            koordinator.enter(f"s{random.random()}")


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
