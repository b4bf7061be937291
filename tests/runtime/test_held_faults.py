"""The faults of docs/reliability.md, for numbers of somebody else: each ends with the number as it was."""

import pytest
from berth.runtime.apiclient import Request, Response

from tests.objectstore import refusal
from tests.runtime.heldworld import HPA, HeldWorld, number_text, shop

NUMBER, NOTE = "/horizontalpodautoscalers/", ".held"


def held_world(now: str = "07:29:30", **more: object) -> HeldWorld:
    world = HeldWorld(now, HPA, shop())
    world.apply(number_text(HPA, **more))  # type: ignore[arg-type]
    return world


def is_over(world: HeldWorld) -> bool:
    return (world.value, world.cluster.notes(), world.pods) == (2, [], {})


REFUSALS = [(403, "Forbidden"), (409, "Conflict"), (500, "InternalError")]


@pytest.mark.parametrize("part", [NOTE, "PATCH /api/v1/namespaces/berth/configmaps", "DELETE"])
@pytest.mark.parametrize(("status", "reason"), REFUSALS)
@pytest.mark.parametrize(
    ("begin", "end"), [("07:29:50", "07:31"), ("07:59:50", "08:01")], ids=["open", "end"]
)
def test_a_note_that_is_refused_for_a_minute_is_written_then(
    begin: str, end: str, status: int, reason: str, part: str
) -> None:
    world = held_world()
    world.plan(begin, lambda: world.cluster.interfere(part, refusal(status, reason)))
    world.plan(end, lambda: world.cluster.interfere("", None))
    world.start()
    world.run("08:02:30")

    assert [value for _, value in world.changes] == [25, 2]
    assert is_over(world)


@pytest.mark.parametrize("part", [NUMBER, NOTE])
def test_conflicts_again_and_again_cost_no_more_than_tries(part: str) -> None:
    """The object changes at every second look."""
    world = held_world()
    count = [0]

    def interfere(request: Request) -> Response | None:
        if part in request.path and "leases" not in request.path and request.method != "GET":
            count[0] += 1
            if count[0] % 3:
                return refusal(409, "Conflict")
        return None

    world.cluster.interferences.append(interfere)
    world.start()
    world.run("08:01")

    assert [value for _, value in world.changes] == [25, 2]
    assert is_over(world)


@pytest.mark.parametrize("jump", [-3600.0, -90.0, 90.0, 3600.0, 86400.0])
def test_a_clock_that_jumps_and_comes_back_leaves_the_number_as_it_was(jump: float) -> None:
    world = held_world()
    pod = world.start()
    world.plan("07:40", lambda: setattr(pod, "ahead", jump))
    world.plan("07:42", lambda: setattr(pod, "ahead", 0.0))
    world.run("08:02")
    world.kill()
    world.sweeps("08:20")

    assert world.wrong == []
    assert is_over(world)


def test_a_pod_that_works_is_left_alone_by_the_sweep() -> None:
    world = held_world()
    world.start()
    world.run("07:31")
    world.cluster.changes.clear()
    for _ in range(5):
        assert world.sweep() == 0
        world.run(f"07:{int(world.now // 60 % 60) + 4}")

    assert world.changes == []
