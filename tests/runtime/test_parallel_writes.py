"""Slots are written a few at a time, each write over a connection to itself."""

from contextlib import closing
from http.client import HTTPConnection
from threading import Barrier

import pytest
from berth.core.holders import SlotSpec
from berth.plugins.slots.slots import SlotPlan
from berth.plugins.slots.slotwrites import PlanResult, apply_plan
from berth.runtime.apiclient import Api, ApiError, Connection, Connections, Request, Response

from tests.runtime.stub_server import Received, Reply, StubServer, reply

TOGETHER = 4
LONG_ENOUGH = 30.0  # seconds
SLOTS = SlotSpec("x", "a", {})
NAMES = tuple(f"x-{number}" for number in range(2 * TOGETHER))
CREATED = b'{"kind": "Reservation"}'


def made(api: Api, most: int = 100) -> PlanResult:
    return apply_plan(api, SLOTS, SlotPlan(make=NAMES), lambda: 0.0, lambda tried: tried < most)


def test_so_many_are_written_at_once_and_all_in_the_end() -> None:
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


def test_a_limit_of_writes_is_asked_between_the_groups() -> None:
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
