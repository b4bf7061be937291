"""How slots look, how many a pool needs, and what is done about them."""

import json
from random import Random

import pytest
from berth.core.holders import REPLICAS, SlotSpec
from berth.core.target import PoolTarget, desired_state, pool_target
from berth.core.timetable import Override, Timetable, TimetablePool, parse_timetable
from berth.durations import nanoseconds
from berth.plugins.slots.slots import (
    HANDOVER_SECONDS,
    PENDING_SECONDS,
    TRIAL_SECONDS,
    PlaceholderOwner,
    SessionDebounce,
    Slot,
    SlotDemand,
    SlotOwner,
    SlotPlan,
    bridging_placeholders,
    count_slots,
    go_duration,
    parse_slot,
    plan_slots,
    reported_sessions,
    slot_demand,
    slot_lifetime,
    slot_name,
)

from tests.koordinator.deciding import is_due
from tests.koordinator.objects import reservation
from tests.runtime.slotworld import OWNER, pool_labels, shape, slot_text
from tests.runtime.timetables import Row, at
from tests.seeds import seeds

# Values


def test_an_object_is_read_without_what_nobody_needs() -> None:
    tree = {
        "metadata": {
            "name": "example-a-b-12-aaaa1111",
            "uid": "u",
            "resourceVersion": "7",
            "creationTimestamp": "2026-02-02T07:30:00Z",
            "deletionTimestamp": "2026-02-02T07:40:00Z",
        },
        "spec": {"expires": "2026-02-02T10:00:00Z"},
        "status": {
            "phase": "Available",
            "currentOwners": [{"namespace": "students", "name": "a", "uid": "x"}],
        },
    }

    slot = parse_slot(tree)

    owners = (SlotOwner("students", "a"),)
    assert slot == Slot(
        "example-a-b-12-aaaa1111", "u", "7", at("07:30"), at("10:00"), "Available", owners, True
    )
    assert (slot.ordinal, slot.hash) == (12, "aaaa1111")


def test_one_that_nobody_has_looked_at_yet_is_pending() -> None:
    """And what somebody else has written of its end is not ours."""
    metadata = {
        "name": "odd",
        "uid": "u",
        "resourceVersion": "7",
        "creationTimestamp": "2026-02-02T07:30:00Z",
    }

    slot = parse_slot({"metadata": metadata, "spec": {"expires": "2026-02-02T10:00:00+01:00"}})

    assert slot == Slot("odd", "u", "7", at("07:30"), None, "Pending", ())
    assert (slot.ordinal, slot.hash) == (-1, "odd")


BERTH = {"namespace": "berth"}
OURS = {"object": BERTH, "labelSelector": {"matchLabels": pool_labels()}}
OTHER = {"object": BERTH, "labelSelector": {"matchLabels": pool_labels("large")}}


@pytest.mark.parametrize(
    ("owners", "closed"),
    [
        pytest.param([OWNER, OURS], [OWNER], id="placeholders-last"),
        pytest.param([OURS, OTHER, OWNER], [OTHER, OWNER], id="placeholders-first"),
        pytest.param([OWNER, OTHER], None, id="of-another-pool"),
        pytest.param([OURS], None, id="nobody-would-be-left"),
        pytest.param([], None, id="none"),
        pytest.param(None, None, id="not-said"),
        pytest.param("nonsense", None, id="nonsense"),
    ],
)
def test_who_may_take_it_once_our_placeholders_may_not(owners: object, closed: object) -> None:
    metadata = {
        "name": "x",
        "uid": "u",
        "resourceVersion": "7",
        "creationTimestamp": "2026-02-02T07:30:00Z",
        "labels": shape()["metadata"]["labels"],
    }
    slot = parse_slot({"metadata": metadata, "spec": {"owners": owners}, "status": {"phase": "Available"}})

    assert slot.closed == ("" if closed is None else json.dumps(closed))
    assert slot.is_to_close is bool(closed)
    assert not slot._replace(phase="Pending").is_to_close


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, "0s"), (59, "59s"), (60, "1m0s"), (3599, "59m59s"), (3600, "1h0m0s"), (90_061, "25h1m1s")],
)
def test_durations_are_as_go_writes_them(seconds: int, expected: str) -> None:
    assert go_duration(seconds) == expected


def test_no_window_is_too_long_for_go() -> None:
    assert slot_lifetime(0, at("07:30") * 100) == {"expires": "7578-12-18T06:00:00Z", "ttl": "876601h0m0s"}


@pytest.mark.parametrize("seed", seeds(8, 20))
def test_by_its_ttl_a_slot_stands_an_hour_longer_than_it_should(seed: int) -> None:
    """So that a clock which is wrong by less ends none early. Also one that was made long before its end
    moved, or that is over already.
    """
    random = Random(seed)
    created, expires = random.randrange(10**6), random.randrange(10**6)
    ttl = nanoseconds(str(slot_lifetime(created, expires)["ttl"])) / 10**9
    margin = created + ttl - max(created, expires)

    assert 3600 <= margin < 3660


def test_a_clock_that_is_wrong_by_minutes_ends_no_slot_early() -> None:
    """The server's clock begins a `ttl`; ours may be half an hour ahead of it."""
    created, expires = at("07:30"), at("10:00")
    lifetime = slot_lifetime(created + 30 * 60, expires)
    status = {"nodeName": "n1", "phase": "Available"}
    tree = reservation(created=created, ttl=lifetime["ttl"], expires=lifetime["expires"]) | {"status": status}

    assert [is_due(tree, expires), is_due(tree, expires + 1)] == [False, True]


# Demand


ROW: Row = ("course/1", "07:30", "08:00", "10:00", {"small": 25})
LATER: Row = ("course/2", "09:00", "09:30", "12:00", {"small": 10})


def numbers(
    timetable: Timetable, now: str, sessions: dict[str, int] | None, owners: int, settled: int
) -> tuple[int, int, int | None]:
    demand = slot_demand(desired_state(timetable, timetable.pools[0], at(now), sessions), owners, settled)
    return demand.wanted, demand.kept, demand.expires


MAINTAINED = {
    "nobody": (0, 0, 0, (25, 25)),
    "all-own-one": (3, 3, 0, (22, 22)),
    "two-have-just-come": (3, 1, 0, (22, 24)),
    "one-has-settled-elsewhere": (3, 1, 1, (22, 23)),
    "both-have": (3, 1, 2, (22, 22)),
    "two-are-told-to-be-gone-and-are-not-yet": (1, 3, 0, (22, 22)),
    "nobody-counts": (None, 3, 0, (22, 22)),
    "too-many": (30, 30, 0, (0, 0)),
}


@pytest.mark.parametrize(("sessions", "owners", "settled", "expected"), MAINTAINED.values(), ids=MAINTAINED)
def test_maintain(sessions: int | None, owners: int, settled: int, expected: tuple[int, int]) -> None:
    counts = None if sessions is None else {"course/1": sessions}

    assert numbers(parse_timetable(slot_text(ROW)), "08:30", counts, owners, settled) == (
        *expected,
        at("10:00"),
    )


def test_owners_that_nobody_told_of_fill_up_the_occurrence_that_ends_first() -> None:
    timetable = parse_timetable(slot_text(ROW, LATER))

    assert numbers(timetable, "09:45", {"course/1": 24, "course/2": 0}, 27, 0)[:2] == (8, 8)
    assert numbers(timetable, "09:45", {"course/1": 24, "course/2": 0}, 27, 0)[2] == at("12:00")


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
    counts = {name: random.randrange(30) for name in ("course/1", "course/2")}
    desired = desired_state(timetable, pool, now, counts)
    sessions, owners = sum(reported_sessions(desired).values()), random.randrange(40)
    settled = random.randrange(max(sessions - owners, 0) + 1)
    found = slot_demand(desired, owners, settled)

    assert found.wanted <= found.kept
    if owners <= sessions:
        assert found.wanted == pool_target(timetable, pool, now, counts).replicas  # the very formula
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


# Plans


HOME = PlaceholderOwner("berth", "course-small")
NEW, OLD = SlotSpec("x", "new", {}), SlotSpec("x", "old", {})
HANDING = NEW._replace(placeholders=True)
END, NOW = 9000, 5000
REFUSED = NOW - PENDING_SECONDS
PLACEHOLDER, SESSION = SlotOwner("berth", "course-small-5d5f7-a"), SlotOwner("students", "course-small-a")
KINDS: dict[str, tuple[str, tuple[SlotOwner, ...]]] = {
    "pending": ("Pending", ()),
    "free": ("Available", ()),
    "handed": ("Available", (PLACEHOLDER,)),
    "used": ("Available", (SESSION,)),
    "failed": ("Failed", ()),
    "succeeded": ("Succeeded", (SESSION,)),
}
MORE: dict[str, dict[str, object]] = {
    "refused": {"created": REFUSED},
    "refused-before": {"created": REFUSED - 1},
    "refused-first": {"created": REFUSED - 2},
    "tried": {"created": NOW - TRIAL_SECONDS},
    "waiting": {"created": NOW - HANDOVER_SECONDS},
    "coming": {"created": NOW - HANDOVER_SECONDS + 1},
    "open": {"closed": "[]"},  # still allows placeholders
    "going": {"is_terminating": True},
    "early": {"expires": END - 1},
    "late": {"expires": END + 1},
    "endless": {"expires": None},
}


def made(kind: str, ordinal: int, spec: SlotSpec = NEW, **more: object) -> Slot:
    phase, owners = KINDS[kind]
    name = slot_name(spec, ordinal)
    return Slot(name, f"uid-{name}", "1", NOW, END, phase, owners)._replace(**more)  # type: ignore[arg-type]


def slots(text: str) -> list[Slot]:
    """Return slots by their kind and ordinal, such as `free 0, pending 1 old refused`."""
    found = []
    for words in (part.split() for part in text.split(",") if part):
        more = [MORE[word] for word in words[2:] if word != "old"]
        merged = {key: value for each in more for key, value in each.items()}
        found.append(made(words[0], int(words[1]), OLD if "old" in words else NEW, **merged))
    return found


def wanted(free: int, kept: int | None = None, expires: int | None = END) -> SlotDemand:
    target = PoolTarget(TimetablePool("small", "course-small", "maintain"), free, ())
    return SlotDemand(target, free if kept is None else kept, expires)


def planned(present: list[Slot], demand: SlotDemand, spec: SlotSpec = NEW, ready: int = 0) -> SlotPlan:
    return plan_slots(count_slots(present, HOME), spec, demand, NOW, ready)


def writes(plan: SlotPlan) -> str:
    """Describe a plan, such as `make 0-new, remove 1-old`."""
    groups = [("renew", plan.renew), ("remove", plan.remove), ("drop", plan.drop)]
    names = [("make", plan.make), *((verb, tuple(slot.name for slot in group)) for verb, group in groups)]
    return ", ".join(f"{verb} {' '.join(group)}".replace(" x-", " ") for verb, group in names if group)


PLANS = {
    "opens": ("", wanted(2), "make 0-new 1-new"),
    "lowest-ordinals": ("free 1", wanted(2), "make 0-new"),
    "in-use-is-not-free": ("used 0", wanted(1), "make 1-new"),
    "these-will-be": ("pending 0, handed 1", wanted(2), ""),
    "pending-first-then-the-last": (
        "free 0, free 1, pending 2, pending 3, free 4",
        wanted(2),
        "remove 3-new 2-new 4-new",
    ),
    "still-kept": ("free 0, free 1", wanted(1, 2), ""),
    "none-in-use": ("handed 0, used 1", wanted(0), ""),
    "the-dead-count-for-nothing": (
        "failed 0, succeeded 1, free 2 going",
        wanted(1),
        "make 3-new, drop 0-new 1-new",
    ),
    "another-end": ("free 0 early, used 1 endless, pending 2 late", wanted(2), "renew 2-new 0-new 1-new"),
    "open-to-placeholders-once-they-hold": (
        "pending 0 open, free 1 open, handed 2 open, used 3 open",
        wanted(3),
        "renew 1-new 2-new 3-new",
    ),
    "not-one-that-goes": ("free 0 early, free 1 early", wanted(1), "renew 0-new, remove 1-new"),
    "none-that-a-placeholder-may-own-already": (
        "free 0 open, free 1 open",
        wanted(1),
        "renew 0-new 1-new",
    ),
    "closed": (
        "pending 0, free 1, handed 2, used 3, failed 4",
        wanted(0, 0, None),
        "drop 0-new 1-new 2-new 3-new 4-new",
    ),
    "another-shape-one-makes-room": ("free 0 old, free 1 old", wanted(2), "remove 1-old"),
    "and-then-one-new-is-made": ("free 0 old", wanted(2), "make 0-new"),
    "while-it-waits-no-other-goes": ("pending 0, free 0 old", wanted(2), ""),
    "but-not-for-ever": ("pending 0 refused, free 0 old", wanted(2), "remove 0-old"),
    "once-it-stands-the-next": ("free 0, free 0 old", wanted(2), "remove 0-old"),
    "a-handover-comes-first": ("handed 0, free 0 old", wanted(2), ""),
    "of-those-that-may-stay-too": ("free 0 old, free 1 old", wanted(1, 2), "remove 1-old"),
    "not-while-a-session-is-on-its-way": ("free 0 old", wanted(0, 2), ""),
    "too-many-go-at-once": (
        "pending 0, free 0 old, free 1 old, free 2",
        wanted(2),
        "remove 0-new 1-old",
    ),
    "what-holds-nothing-goes-at-once": (
        "pending 0 old, pending 1 old",
        wanted(2),
        "make 0-new 1-new, remove 0-old 1-old",
    ),
    "one-that-was-refused-is-tried-again": (
        "pending 0 refused, pending 1 refused-before, free 2 refused-first",
        wanted(3),
        "make 3-new, remove 1-new",
    ),
    "one-at-a-time": ("pending 0 refused, pending 1", wanted(2), ""),
    "and-all-if-there-was-room": (
        "pending 0 refused, pending 1 refused-before, pending 2 refused-first, free 3 refused",
        wanted(4),
        "make 4-new 5-new, remove 2-new 1-new",
    ),
    "of-another-shape-in-use": ("used 0 old", wanted(0), ""),
}


@pytest.mark.parametrize(("present", "demand", "expected"), PLANS.values(), ids=PLANS)
def test_what_is_done(present: str, demand: SlotDemand, expected: str) -> None:
    assert writes(planned(slots(present), demand)) == expected


FOR_READY = {
    "none-is-ready": ("", 3, 0, ""),
    "for-each-that-is": ("", 3, 2, "make 0-new 1-new"),
    "no-more-than-wanted": ("", 3, 9, "make 0-new 1-new 2-new"),
    "handed-ones-are-of-these": ("free 0, handed 1", 4, 2, "make 2-new"),
    "one-is-on-its-way": ("pending 0, used 1", 3, 1, ""),
    "the-free-one-has-handed-over": ("free 0", 3, 1, "make 1-new"),
    "placeholders-that-fail-take-none-away": ("handed 0, pending 1", 2, 0, ""),
}


@pytest.mark.parametrize(("present", "free", "ready", "expected"), FOR_READY.values(), ids=FOR_READY)
def test_where_placeholders_come_first_slots_are_made_for_those_that_are_ready(
    present: str, free: int, ready: int, expected: str
) -> None:
    assert writes(planned(slots(present), wanted(free), HANDING, ready)) == expected


BRIDGING = {
    "opens": ("", 3, 0, 3),
    "nothing-is-wanted": ("", 0, 3, 0),
    "one-is-free": ("free 0", 3, 0, 2),
    "one-is-in-use": ("used 0", 2, 0, 2),
    "in-the-middle": ("handed 0, pending 1", 3, 3, 3),
    "all-have-handed-over": ("handed 0, handed 1", 2, 2, 0),
    "on-their-way": ("handed 0, free 1", 2, 0, 0),
    "on-their-way-and-more-is-wanted": ("handed 0, free 1", 3, 0, 0),
    "of-another-shape": ("handed 0 old, free 1 old", 3, 2, 2),
    "more-may-come-yet": ("handed 0 coming", 3, 3, 3),
    "waited-for-long-enough": ("handed 0 waiting, handed 1", 3, 3, 0),
    "the-free-wait-for-nothing": ("free 0 waiting, handed 1", 3, 2, 2),
    "one-would-take-the-free-slot": ("free 0 open", 3, 0, 0),
    "or-that-of-another-shape": ("free 0 old open", 3, 1, 1),
}


@pytest.mark.parametrize(("present", "free", "replicas", "expected"), BRIDGING.values(), ids=BRIDGING)
def test_how_many_placeholders_come_first(present: str, free: int, replicas: int, expected: int) -> None:
    assert bridging_placeholders(count_slots(slots(present), HOME), free, replicas, NOW) == expected


@pytest.mark.parametrize("expires", [END, None], ids=["open", "closed"])
def test_all_that_are_too_many_go_at_once(expires: int | None) -> None:
    present = [made("free", n) for n in range(20)] + [made("failed", n) for n in range(20, 23)]
    plan = planned(present, wanted(0, 0, expires))

    assert {*plan.remove, *plan.drop} == set(present)
    assert not plan.is_busy


BUSY = {
    "one-goes": ("free 0 old, free 1 old", True),
    "one-is-made": ("free 0 old", True),
    "it-is-tried": ("free 0 old, pending 0", True),
    "there-is-no-room": ("free 0 old, pending 0 tried", False),
    "one-is-in-use": ("used 0 old, free 0, free 1", False),
    "opens": ("free 0, pending 1", False),
    "one-is-tried-again": ("free 0, pending 1 refused", True),
}


@pytest.mark.parametrize(("present", "is_busy"), BUSY.values(), ids=BUSY)
def test_while_slots_are_replaced_the_next_look_comes_soon(present: str, is_busy: bool) -> None:
    assert planned(slots(present), wanted(2)).is_busy is is_busy


def test_a_name_that_somebody_else_has_is_not_asked_for() -> None:
    counts = count_slots([], HOME)._replace(taken=frozenset({"x-0-new", "x-2-new"}))

    assert plan_slots(counts, NEW, wanted(2), NOW).make == ("x-1-new", "x-3-new")


@pytest.mark.parametrize(
    ("owners", "expected"),
    [
        ((), 0),
        ((PLACEHOLDER,), 0),
        ((SlotOwner("berth", "course-smaller-a"),), 1),
        ((SlotOwner("students", "course-small-5d5f7-a"),), 1),
        ((PLACEHOLDER, SlotOwner("s", "a"), SlotOwner("s", "b")), 2),
    ],
    ids=["nobody", "a-placeholder", "a-pod-beside-it", "of-another-namespace", "some-of-both"],
)
def test_who_of_its_owners_is_a_session(owners: tuple[SlotOwner, ...], expected: int) -> None:
    assert HOME.sessions(made("free", 0, owners=owners)) == expected


def anything(random: Random) -> list[Slot]:
    present = []
    for spec in (NEW, OLD, SlotSpec("y", "new", {})):
        for ordinal in random.sample(range(12), random.choice([0, 0, 3, 9])):
            kind = random.choice(("pending", "free", "free", "handed", "used", "failed", "succeeded"))
            created, expires = NOW - random.choice((0, 59, 61)), random.choice((END, END, END - 5, None))
            more = {"created": created, "expires": expires, "is_terminating": random.random() < 0.1}
            present.append(made(kind, ordinal, spec, **more))
    return present


def carried_out(present: list[Slot], plan: SlotPlan, random: Random) -> list[Slot]:
    """Some of those that are made find a place at once."""
    gone = {slot.name for slot in (*plan.remove, *plan.drop)}
    renewed = {slot.name for slot in plan.renew}
    left = [
        slot._replace(expires=plan.expires) if slot.name in renewed else slot
        for slot in present
        if slot.name not in gone
    ]
    phases = ("Pending", "Available")
    new = [Slot(name, name, "1", NOW, plan.expires, random.choice(phases), ()) for name in plan.make]
    return left + new


@pytest.mark.parametrize("seed", seeds(25, 300))
def test_whatever_there_is(seed: int) -> None:
    random = Random(seed)
    present, ready = anything(random), random.randrange(12)
    free = random.randrange(12)
    demand = wanted(free, free + random.choice((0, 0, 3)), random.choice((END, END, END, None)))
    before = count_slots(present, HOME)
    plan = plan_slots(before, random.choice((NEW, HANDING)), demand, NOW, ready)
    after = count_slots(carried_out(present, plan, random), HOME)

    if demand.expires is None:
        assert (plan.make, len(after.present), len(after.going)) == ((), 0, len(before.going))
        return
    lost = {slot.name for slot in plan.remove}
    assert not lost & {slot.name for slot in (*before.used, *before.handed, *before.going)}
    assert set(plan.drop) <= set(before.dead)
    assert len({*plan.make}) == len(plan.make)
    assert not {*plan.make} & before.names
    fewer = sum(slot.name in lost for slot in before.free)
    assert fewer <= max(1, before.spare - demand.kept)
    assert not (plan.make and fewer)
    assert {slot.expires for slot in after.living} <= {END}


@pytest.mark.parametrize("seed", seeds(25, 300))
def test_judged_again_and_again_there_is_nothing_left_to_do(seed: int) -> None:
    """As soon as all that were made have found their place, and the placeholders have left."""
    random = Random(seed)
    present, free = anything(random), random.randrange(12)
    demand = wanted(free, free + random.choice((0, 3)), random.choice((END, None)))
    handed = count_slots(present, HOME).handed
    present = [slot._replace(owners=()) if slot in handed else slot for slot in present]
    for _ in range(40):
        present = carried_out(present, planned(present, demand), random)
        present = [slot if slot.phase != "Pending" else slot._replace(phase="Available") for slot in present]
    counts = count_slots(present, HOME)

    assert planned(present, demand).writes == 0
    if demand.expires is not None:
        assert demand.wanted <= counts.spare <= demand.kept
        assert counts.spare < demand.kept or {slot.name[:1] + slot.hash for slot in counts.free} <= {"xnew"}
