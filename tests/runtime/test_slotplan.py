"""What is done about slots, for any mix of them, of counts and of moments."""

from random import Random

import pytest
from berth.core.holders import SlotSpec
from berth.core.target import PoolTarget
from berth.core.timetable import TimetablePool
from berth.plugins.slots.slots import (
    HANDOVER_SECONDS,
    PENDING_SECONDS,
    TRIAL_SECONDS,
    PlaceholderOwner,
    Slot,
    SlotDemand,
    SlotOwner,
    SlotPlan,
    bridging_placeholders,
    count_slots,
    plan_slots,
    slot_name,
)

from tests.seeds import seeds

HOME = PlaceholderOwner("berth", "course-small")
SLOTS = SlotSpec("x", "new", {})
OLD = SlotSpec("x", "old", {})
BOTH = SLOTS._replace(placeholders=True)
END, NOW = 9000, 5000
REFUSED = NOW - PENDING_SECONDS
PENDING, FREE = ("Pending", ()), ("Available", ())
HANDED = ("Available", (SlotOwner("berth", "course-small-5d5f7-a"),))
USED = ("Available", (SlotOwner("students", "course-small-a"),))


def made(
    kind: tuple[str, tuple[SlotOwner, ...]], ordinal: int, slots: SlotSpec = SLOTS, **more: object
) -> Slot:
    phase, owners = kind
    name = slot_name(slots, ordinal)
    return Slot(name, f"uid-{name}", "1", NOW, END, phase, owners)._replace(**more)  # type: ignore[arg-type]


def wanted(free: int, kept: int | None = None, expires: int | None = END) -> SlotDemand:
    target = PoolTarget(TimetablePool("small", "course-small", "maintain"), free, ())
    return SlotDemand(target, free if kept is None else kept, expires)


def planned(
    slots: list[Slot], demand: SlotDemand, shape: SlotSpec = SLOTS, ready: int = 0, now: float = NOW
) -> SlotPlan:
    return plan_slots(count_slots(slots, HOME), shape, demand, now, ready)


def short(found: SlotPlan) -> tuple[list[str], list[str], list[str], list[str]]:
    """Made, renewed, removed, dropped."""
    lists = (found.renew, found.remove, found.drop)
    renewed, removed, dropped = ([slot.name.removeprefix("x-") for slot in some] for some in lists)
    return [name.removeprefix("x-") for name in found.make], renewed, removed, dropped


@pytest.mark.parametrize(
    ("slots", "demand", "expected"),
    [
        pytest.param([], wanted(2), (["0-new", "1-new"], [], [], []), id="opens"),
        pytest.param([made(FREE, 1)], wanted(2), (["0-new"], [], [], []), id="lowest-ordinals"),
        pytest.param([made(USED, 0)], wanted(1), (["1-new"], [], [], []), id="in-use-is-not-free"),
        pytest.param([made(PENDING, 0), made(HANDED, 1)], wanted(2), ([], [], [], []), id="these-will-be"),
        pytest.param(
            [made(FREE, 0), made(FREE, 1), made(PENDING, 2), made(PENDING, 3), made(FREE, 4)],
            wanted(2),
            ([], [], ["3-new", "2-new", "4-new"], []),
            id="pending-first-then-the-last",
        ),
        pytest.param([made(FREE, 0), made(FREE, 1)], wanted(1, 2), ([], [], [], []), id="still-kept"),
        pytest.param([made(HANDED, 0), made(USED, 1)], wanted(0), ([], [], [], []), id="none-in-use"),
        pytest.param(
            [
                made(FREE, 0, phase="Failed"),
                made(USED, 1, phase="Succeeded"),
                made(FREE, 2, is_terminating=True),
            ],
            wanted(1),
            (["3-new"], [], [], ["0-new", "1-new"]),
            id="the-dead-count-for-nothing",
        ),
        pytest.param(
            [made(FREE, 0, expires=END - 1), made(USED, 1, expires=None), made(PENDING, 2, expires=END + 1)],
            wanted(2),
            ([], ["2-new", "0-new", "1-new"], [], []),
            id="another-end",
        ),
        pytest.param(
            [made(kind, n, closed="[]") for n, kind in enumerate((PENDING, FREE, HANDED, USED))],
            wanted(3),
            ([], ["1-new", "2-new", "3-new"], [], []),
            id="open-to-placeholders-once-they-hold",
        ),
        pytest.param(
            [made(FREE, 0, expires=1), made(FREE, 1, expires=1)],
            wanted(1),
            ([], ["0-new"], ["1-new"], []),
            id="not-one-that-goes",
        ),
        pytest.param(
            [made(FREE, 0, closed="[]"), made(FREE, 1, closed="[]")],
            wanted(1),
            ([], ["0-new", "1-new"], [], []),
            id="none-that-a-placeholder-may-own-already",
        ),
        pytest.param(
            [made(kind, n) for n, kind in enumerate((PENDING, FREE, HANDED, USED))]
            + [made(FREE, 4, phase="Failed")],
            wanted(0, 0, None),
            ([], [], [], ["0-new", "1-new", "2-new", "3-new", "4-new"]),
            id="closed",
        ),
        pytest.param(
            [made(FREE, n, OLD) for n in range(2)],
            wanted(2),
            ([], [], ["1-old"], []),
            id="another-shape-one-makes-room",
        ),
        pytest.param([made(FREE, 0, OLD)], wanted(2), (["0-new"], [], [], []), id="and-then-one-new-is-made"),
        pytest.param(
            [made(PENDING, 0), made(FREE, 0, OLD)],
            wanted(2),
            ([], [], [], []),
            id="while-it-waits-no-other-goes",
        ),
        pytest.param(
            [made(PENDING, 0, created=REFUSED), made(FREE, 0, OLD)],
            wanted(2),
            ([], [], ["0-old"], []),
            id="but-not-for-ever",
        ),
        pytest.param(
            [made(FREE, 0), made(FREE, 0, OLD)],
            wanted(2),
            ([], [], ["0-old"], []),
            id="once-it-stands-the-next",
        ),
        pytest.param(
            [made(HANDED, 0), made(FREE, 0, OLD)], wanted(2), ([], [], [], []), id="a-handover-comes-first"
        ),
        pytest.param(
            [made(FREE, 0, OLD), made(FREE, 1, OLD)],
            wanted(1, 2),
            ([], [], ["1-old"], []),
            id="of-those-that-may-stay-too",
        ),
        pytest.param(
            [made(FREE, 0, OLD)], wanted(0, 2), ([], [], [], []), id="not-while-a-session-is-on-its-way"
        ),
        pytest.param(
            [made(PENDING, 0), made(FREE, 0, OLD), made(FREE, 1, OLD), made(FREE, 2)],
            wanted(2),
            ([], [], ["0-new", "1-old"], []),
            id="too-many-go-at-once",
        ),
        pytest.param(
            [made(PENDING, 0, OLD), made(PENDING, 1, OLD)],
            wanted(2),
            (["0-new", "1-new"], [], ["0-old", "1-old"], []),
            id="what-holds-nothing-goes-at-once",
        ),
        pytest.param(
            [
                made(PENDING, 0, created=REFUSED),
                made(PENDING, 1, created=REFUSED - 1),
                made(FREE, 2, created=1),
            ],
            wanted(3),
            (["3-new"], [], ["1-new"], []),
            id="one-that-was-refused-is-tried-again",
        ),
        pytest.param(
            [made(PENDING, 0, created=REFUSED), made(PENDING, 1)],
            wanted(2),
            ([], [], [], []),
            id="one-at-a-time",
        ),
        pytest.param(
            [
                made(PENDING, 0, created=REFUSED),
                made(PENDING, 1, created=REFUSED - 1),
                made(PENDING, 2, created=REFUSED - 2),
                made(FREE, 3, created=REFUSED),
            ],
            wanted(4),
            (["4-new", "5-new"], [], ["2-new", "1-new"], []),
            id="and-all-if-there-was-room",
        ),
        pytest.param([made(USED, 0, OLD)], wanted(0), ([], [], [], []), id="of-another-shape-in-use"),
    ],
)
def test_what_is_done(
    slots: list[Slot], demand: SlotDemand, expected: tuple[list[str], list[str], list[str], list[str]]
) -> None:
    assert short(planned(slots, demand)) == expected


@pytest.mark.parametrize(
    ("slots", "free", "ready", "expected"),
    [
        pytest.param([], 3, 0, [], id="none-is-ready"),
        pytest.param([], 3, 2, ["0-new", "1-new"], id="for-each-that-is"),
        pytest.param([], 3, 9, ["0-new", "1-new", "2-new"], id="no-more-than-wanted"),
        pytest.param([made(FREE, 0), made(HANDED, 1)], 4, 2, ["2-new"], id="handed-ones-are-of-these"),
        pytest.param([made(PENDING, 0), made(USED, 1)], 3, 1, [], id="one-is-on-its-way"),
        pytest.param([made(FREE, 0, expires=END)], 3, 1, ["1-new"], id="the-free-one-has-handed-over"),
        pytest.param(
            [made(HANDED, 0), made(PENDING, 1)], 2, 0, [], id="placeholders-that-fail-take-none-away"
        ),
    ],
)
def test_where_placeholders_come_first_slots_are_made_for_those_that_are_ready(
    slots: list[Slot], free: int, ready: int, expected: list[str]
) -> None:
    assert short(planned(slots, wanted(free), BOTH, ready)) == (expected, [], [], [])


@pytest.mark.parametrize(
    ("slots", "free", "replicas", "expected"),
    [
        pytest.param([], 3, 0, 3, id="opens"),
        pytest.param([], 0, 3, 0, id="nothing-is-wanted"),
        pytest.param([made(FREE, 0)], 3, 0, 2, id="one-is-free"),
        pytest.param([made(USED, 0)], 2, 0, 2, id="one-is-in-use"),
        pytest.param([made(HANDED, 0), made(PENDING, 1)], 3, 3, 3, id="in-the-middle"),
        pytest.param([made(HANDED, 0), made(HANDED, 1)], 2, 2, 0, id="all-have-handed-over"),
        pytest.param([made(HANDED, 0), made(FREE, 1)], 2, 0, 0, id="on-their-way"),
        pytest.param([made(HANDED, 0), made(FREE, 1)], 3, 0, 0, id="on-their-way-and-more-is-wanted"),
        pytest.param([made(HANDED, 0, OLD), made(FREE, 1, OLD)], 3, 2, 2, id="of-another-shape"),
        pytest.param([made(HANDED, 0, created=NOW - HANDOVER_SECONDS + 1)], 3, 3, 3, id="more-may-come-yet"),
        pytest.param(
            [made(HANDED, 0, created=NOW - HANDOVER_SECONDS), made(HANDED, 1)],
            3,
            3,
            0,
            id="waited-for-long-enough",
        ),
        pytest.param(
            [made(FREE, 0, created=NOW - HANDOVER_SECONDS), made(HANDED, 1)],
            3,
            2,
            2,
            id="the-free-wait-for-nothing",
        ),
        pytest.param([made(FREE, 0, closed="[]")], 3, 0, 0, id="one-would-take-the-free-slot"),
        pytest.param([made(FREE, 0, OLD, closed="[]")], 3, 1, 1, id="or-that-of-another-shape"),
    ],
)
def test_how_many_placeholders_come_first(slots: list[Slot], free: int, replicas: int, expected: int) -> None:
    assert bridging_placeholders(count_slots(slots, HOME), free, replicas, NOW) == expected


@pytest.mark.parametrize("expires", [END, None], ids=["open", "closed"])
def test_all_that_are_too_many_go_at_once(expires: int | None) -> None:
    slots = [made(FREE, n) for n in range(20)] + [made(FREE, n, phase="Failed") for n in range(20, 23)]
    todo = planned(slots, wanted(0, 0, expires))

    assert {*todo.remove, *todo.drop} == set(slots)
    assert not todo.is_busy


@pytest.mark.parametrize(
    ("slots", "is_busy"),
    [
        pytest.param([made(FREE, 0, OLD), made(FREE, 1, OLD)], True, id="one-goes"),
        pytest.param([made(FREE, 0, OLD)], True, id="one-is-made"),
        pytest.param([made(FREE, 0, OLD), made(PENDING, 0)], True, id="it-is-tried"),
        pytest.param(
            [made(FREE, 0, OLD), made(PENDING, 0, created=NOW - TRIAL_SECONDS)], False, id="there-is-no-room"
        ),
        pytest.param([made(USED, 0, OLD), made(FREE, 0), made(FREE, 1)], False, id="one-is-in-use"),
        pytest.param([made(FREE, 0), made(PENDING, 1)], False, id="opens"),
        pytest.param([made(FREE, 0), made(PENDING, 1, created=REFUSED)], True, id="one-is-tried-again"),
    ],
)
def test_while_slots_are_replaced_the_next_look_comes_soon(slots: list[Slot], is_busy: bool) -> None:
    assert planned(slots, wanted(2)).is_busy is is_busy


def test_a_name_that_somebody_else_has_is_not_asked_for() -> None:
    found = count_slots([], HOME)._replace(taken=frozenset({"x-0-new", "x-2-new"}))

    assert plan_slots(found, SLOTS, wanted(2), NOW).make == ("x-1-new", "x-3-new")


@pytest.mark.parametrize(
    ("owners", "expected"),
    [
        pytest.param((), 0, id="nobody"),
        pytest.param((SlotOwner("berth", "course-small-5d5f7-a"),), 0, id="a-placeholder"),
        pytest.param((SlotOwner("berth", "course-smaller-a"),), 1, id="a-pod-beside-it"),
        pytest.param((SlotOwner("students", "course-small-5d5f7-a"),), 1, id="of-another-namespace"),
        pytest.param(
            (SlotOwner("berth", "course-small-a"), SlotOwner("s", "a"), SlotOwner("s", "b")),
            2,
            id="some-of-both",
        ),
    ],
)
def test_who_of_its_owners_is_a_session(owners: tuple[SlotOwner, ...], expected: int) -> None:
    assert HOME.sessions(made(("Available", owners), 0)) == expected


def anything(random: Random) -> list[Slot]:
    found = []
    for slots in (SLOTS, OLD, SlotSpec("y", "new", {})):
        for ordinal in random.sample(range(12), random.choice([0, 0, 3, 9])):
            kind = random.choice((PENDING, FREE, FREE, HANDED, USED, ("Failed", ()), ("Succeeded", USED[1])))
            created, expires = NOW - random.choice((0, 59, 61)), random.choice((END, END, END - 5, None))
            is_terminating = random.random() < 0.1
            found.append(
                made(kind, ordinal, slots, created=created, expires=expires, is_terminating=is_terminating)
            )
    return found


def carried_out(slots: list[Slot], todo: SlotPlan, random: Random) -> list[Slot]:
    """Some of those that are made find a place at once."""
    gone = {slot.name for slot in (*todo.remove, *todo.drop)}
    renewed = {slot.name for slot in todo.renew}
    left = [
        slot._replace(expires=todo.expires) if slot.name in renewed else slot
        for slot in slots
        if slot.name not in gone
    ]
    for name in todo.make:
        phase = random.choice(("Pending", "Available"))
        left.append(Slot(name, name, "1", NOW, todo.expires, phase, ()))
    return left


@pytest.mark.parametrize("seed", seeds(25, 300))
def test_whatever_there_is(seed: int) -> None:
    random = Random(seed)
    slots, ready = anything(random), random.randrange(12)
    free = random.randrange(12)
    demand = wanted(free, free + random.choice((0, 0, 3)), random.choice((END, END, END, None)))
    shape = random.choice((SLOTS, BOTH))
    before = count_slots(slots, HOME)
    todo = plan_slots(before, shape, demand, NOW, ready)
    after = count_slots(carried_out(slots, todo, random), HOME)

    if demand.expires is None:
        assert (todo.make, len(after.present), len(after.going)) == ((), 0, len(before.going))
        return
    lost = {slot.name for slot in todo.remove}
    assert not lost & {slot.name for slot in (*before.used, *before.handed, *before.going)}
    assert set(todo.drop) <= set(before.dead)
    assert len({*todo.make}) == len(todo.make)
    assert not {*todo.make} & before.names
    fewer = len(before.free) - sum(slot.phase == "Available" for slot in before.free if slot.name not in lost)
    assert fewer <= max(1, before.spare - demand.kept)
    assert not (todo.make and any(slot.name in lost for slot in before.free))
    assert {slot.expires for slot in after.living} <= {END}


@pytest.mark.parametrize("seed", seeds(25, 300))
def test_judged_again_and_again_there_is_nothing_left_to_do(seed: int) -> None:
    """As soon as all that were made have found their place, and the placeholders have left."""
    random = Random(seed)
    slots, free = anything(random), random.randrange(12)
    demand = wanted(free, free + random.choice((0, 3)), random.choice((END, None)))
    slots = [slot._replace(owners=()) if slot in count_slots(slots, HOME).handed else slot for slot in slots]
    for _ in range(40):
        slots = carried_out(slots, planned(slots, demand), random)
        slots = [slot if slot.phase != "Pending" else slot._replace(phase="Available") for slot in slots]
    slot_counts = count_slots(slots, HOME)

    assert planned(slots, demand).writes == 0
    if demand.expires is not None:
        assert demand.wanted <= slot_counts.spare <= demand.kept
        assert slot_counts.spare < demand.kept or {
            slot.name[:1] + slot.hash for slot in slot_counts.free
        } <= {"xnew"}
