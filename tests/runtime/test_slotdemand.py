"""How many free slots are wanted, and how many are kept, for whatever sessions there are."""

from random import Random

import pytest
from berth.core.holders import REPLICAS
from berth.core.target import desired_state, pool_target
from berth.core.timetable import Override, Timetable, parse_timetable
from berth.plugins.slots.slots import SessionDebounce, SlotDemand, reported_sessions, slot_demand

from tests.runtime.slotworld import slot_text
from tests.runtime.world import Row, at
from tests.seeds import seeds

ROW: Row = ("course/1", "07:30", "08:00", "10:00", {"small": 25})
LATER: Row = ("course/2", "09:00", "09:30", "12:00", {"small": 10})


def numbers(
    timetable: Timetable, now: str, sessions: dict[str, int] | None, owners: int, settled: int
) -> tuple[int, int, int | None]:
    found = slot_demand(desired_state(timetable, timetable.pools[0], at(now), sessions), owners, settled)
    return found.wanted, found.kept, found.expires


@pytest.mark.parametrize(
    ("sessions", "owners", "settled", "expected"),
    [
        pytest.param(0, 0, 0, (25, 25), id="nobody"),
        pytest.param(3, 3, 0, (22, 22), id="all-own-one"),
        pytest.param(3, 1, 0, (22, 24), id="two-have-just-come"),
        pytest.param(3, 1, 1, (22, 23), id="one-has-settled-elsewhere"),
        pytest.param(3, 1, 2, (22, 22), id="both-have"),
        pytest.param(1, 3, 0, (22, 22), id="two-are-told-to-be-gone-and-are-not-yet"),
        pytest.param(None, 3, 0, (22, 22), id="nobody-counts"),
        pytest.param(30, 30, 0, (0, 0), id="too-many"),
    ],
)
def test_maintain(sessions: int | None, owners: int, settled: int, expected: tuple[int, int]) -> None:
    told = None if sessions is None else {"course/1": sessions}

    assert numbers(parse_timetable(slot_text(ROW)), "08:30", told, owners, settled) == (
        *expected,
        at("10:00"),
    )


def test_reduce_is_the_share_of_those_that_are_free() -> None:
    timetable = parse_timetable(slot_text(ROW, behaviour="reduce"))

    assert numbers(timetable, "09:00", {"course/1": 5}, 3, 0) == (10, 11, at("10:00"))


def test_none_wants_all_whoever_is_there() -> None:
    assert numbers(parse_timetable(slot_text(ROW, behaviour="none")), "09:00", None, 7, 0)[:2] == (25, 25)


def test_owners_that_nobody_told_of_fill_up_the_occurrence_that_ends_first() -> None:
    timetable = parse_timetable(slot_text(ROW, LATER))

    assert numbers(timetable, "09:45", {"course/1": 24, "course/2": 0}, 27, 0)[:2] == (8, 8)
    assert numbers(timetable, "09:45", {"course/1": 24, "course/2": 0}, 27, 0)[2] == at("12:00")


@pytest.mark.parametrize(
    ("text", "now"),
    [
        pytest.param(slot_text(ROW), "07:29:59", id="before"),
        pytest.param(slot_text(ROW), "10:00", id="after"),
        pytest.param(slot_text(ROW, suspend=True), "09:00", id="suspended"),
    ],
)
def test_with_nothing_open_nothing_is_kept(text: str, now: str) -> None:
    assert numbers(parse_timetable(text), now, None, 4, 0) == (0, 0, None)


def test_an_occurrence_without_seats_is_open_all_the_same() -> None:
    timetable = parse_timetable(slot_text((*ROW[:4], {"small": 0})))

    assert numbers(timetable, "09:00", None, 4, 0) == (0, 0, at("10:00"))


def test_a_pool_that_has_another_backend_now_keeps_nothing() -> None:
    before = parse_timetable(slot_text(ROW)).pools[0]
    after = parse_timetable(slot_text(ROW))
    after = after._replace(pools=(before._replace(holder=REPLICAS),))
    desired = desired_state(after, before, at("09:00"))

    assert slot_demand(desired, 4, 0) == SlotDemand(desired.target, 0, None)


def test_what_a_person_sets_is_wanted_free_and_stands_as_long() -> None:
    timetable = parse_timetable(slot_text(ROW))
    override = {"small": Override(3, at("11:00"))}
    desired = desired_state(timetable, timetable.pools[0], at("09:00"), {"course/1": 9}, override)
    found = slot_demand(desired, 2, 0)

    assert (found.wanted, found.kept, found.expires) == (3, 3, at("11:00"))


@pytest.mark.parametrize("behaviour", ["maintain", "reduce", "none"])
@pytest.mark.parametrize("seed", seeds(8, 60))
def test_whatever_is_there(seed: int, behaviour: str) -> None:
    random = Random(seed)
    timetable = parse_timetable(slot_text(ROW, LATER, behaviour=behaviour))
    pool, now = timetable.pools[0], random.randrange(at("07:20"), at("12:10"))
    told = {name: random.randrange(30) for name in ("course/1", "course/2")}
    desired = desired_state(timetable, pool, now, told)
    sessions, owners = sum(reported_sessions(desired).values()), random.randrange(40)
    settled = random.randrange(max(sessions - owners, 0) + 1)
    found = slot_demand(desired, owners, settled)

    assert found.wanted <= found.kept
    if owners <= sessions:
        assert found.wanted == pool_target(timetable, pool, now, told).replicas  # the very formula
    if owners + settled >= sessions:
        assert found.wanted == found.kept
    assert slot_demand(desired, owners + 1, settled).wanted <= found.wanted
    assert slot_demand(desired, owners, settled + 1).kept <= found.kept


def test_who_owns_no_slot_has_settled_after_its_time() -> None:
    settling = SessionDebounce()
    found = [settling.look(now, 3 if now >= 20 else 0, {}, 30) for now in range(0, 70, 5)]

    assert found == [0] * 10 + [3] * 4


def test_without_any_time_all_have_settled_at_once() -> None:
    assert SessionDebounce().look(0, 3, {"a": 1}, 0) == 2


@pytest.mark.parametrize("step", [40, -10])
def test_after_a_gap_or_with_another_clock_it_begins_anew(step: int) -> None:
    settling = SessionDebounce()
    for now in range(100, 150, 5):
        settling.look(now, 3, {}, 30)

    assert settling.look(145 + 5, 3, {}, 30) == 3
    assert settling.look(150 + step, 3, {}, 30) == 0


@pytest.mark.parametrize("seed", seeds(8, 40))
def test_nobody_has_settled_while_everybody_takes_a_slot_in_time(seed: int) -> None:
    """Each a while after it has come, and never as late as that; and each leaves at last."""
    random = Random(seed)
    moments: list[tuple[float, str, int]] = []
    for n in range(60):
        came = random.uniform(0, 300)
        moments += [(came, "come", n), (came + random.uniform(0, 29), "take", n), (came + 200, "leave", n)]
    here, owners = set[int](), dict[str, int]()
    settling, found = SessionDebounce(), []
    for now in sorted({*range(0, 500, 5), *(moment for moment, _, _ in moments)}):
        for _, what, n in (moment for moment in moments if moment[0] == now):
            if what == "come":
                here.add(n)
            elif what == "take":
                owners[f"slot-{n}"] = 1
            else:
                here.discard(n)
                owners.pop(f"slot-{n}", None)
        found.append(settling.look(now, len(here), dict(owners), 30))

    assert set(found) == {0}
