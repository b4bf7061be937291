"""How slots look, how many a pool needs, and what is done about them."""

from random import Random

import pytest
from berth.core.target import PoolTarget, desired_state, pool_target
from berth.core.timetable import TimetablePool, parse_timetable
from berth.durations import nanoseconds
from berth.plugins.slots.slots import (
    HANDOVER_SECONDS,
    PENDING_SECONDS,
    PlaceholderOwner,
    SessionDebounce,
    Slot,
    SlotDemand,
    SlotOwner,
    SlotPlan,
    bridging_placeholders,
    count_slots,
    plan_slots,
    reported_sessions,
    slot_demand,
    slot_lifetime,
    slot_name,
)
from berth.plugins.slots.slotspec import SlotSpec

from tests.runtime.slotworld import slot_text
from tests.runtime.timetables import Row, at
from tests.seeds import seeds

# Values


def test_the_ttl_of_a_very_long_window_fits_a_duration_of_go() -> None:
    assert slot_lifetime(0, at("07:30") * 100) == {"expires": "7578-12-18T06:00:00Z", "ttl": "876601h0m0s"}


@pytest.mark.parametrize("seed", seeds(8, 20))
def test_the_ttl_of_a_slot_ends_an_hour_after_its_end(seed: int) -> None:
    """So that a clock which is wrong by less ends none early. Also one that was made long before its end
    moved, or that is over already.
    """
    random = Random(seed)
    created, expires = random.randrange(10**6), random.randrange(10**6)
    ttl = nanoseconds(str(slot_lifetime(created, expires)["ttl"])) / 10**9
    margin = created + ttl - max(created, expires)

    assert 3600 <= margin < 3660


# Demand


ROW: Row = ("course/1", "07:30", "08:00", "10:00", {"small": 25})
LATER: Row = ("course/2", "09:00", "09:30", "12:00", {"small": 10})


@pytest.mark.parametrize("behaviour", ["maintain", "reduce", "none"])
@pytest.mark.parametrize("seed", seeds(8, 60))
def test_slot_demand_matches_the_target_and_never_grows_with_owners(seed: int, behaviour: str) -> None:
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


@pytest.mark.parametrize("step", [40, -10])
def test_the_debounce_starts_again_after_a_gap_or_a_clock_change(step: int) -> None:
    settling = SessionDebounce()
    for now in range(100, 150, 5):
        settling.look(now, 3, {}, 30)

    assert settling.look(145 + 5, 3, {}, 30) == 3
    assert settling.look(150 + step, 3, {}, 30) == 0


@pytest.mark.parametrize("seed", seeds(8, 40))
def test_no_session_has_settled_while_all_sessions_take_a_slot_in_time(seed: int) -> None:
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
    "older": {"created": REFUSED - 1},
    "oldest": {"created": REFUSED - 2},
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


def planned(present: list[Slot], demand: SlotDemand) -> SlotPlan:
    return plan_slots(count_slots(present, HOME), NEW, demand, NOW)


def writes(plan: SlotPlan) -> str:
    """Describe a plan, such as `make 0, remove 1-old`."""
    groups = [("renew", plan.renew), ("remove", plan.remove), ("drop", plan.drop)]
    names = [("make", plan.make), *((verb, tuple(slot.name for slot in group)) for verb, group in groups)]
    return ", ".join(
        f"{verb} {' '.join(group)}".replace(" x-", " ").replace("-new", "") for verb, group in names if group
    )


def test_an_owner_that_is_no_placeholder_counts_as_a_session() -> None:
    owners = PLACEHOLDER, SlotOwner("berth", "course-smaller-a"), SESSION

    assert HOME.sessions(made("free", 0, owners=owners)) == 2


# What for; the slots; how many are wanted free, and kept if those are more; what is done.
PLANS = """
opens                            |  | 2 | make 0 1
lowest ordinals                  | free 1 | 2 | make 0
in use is not free               | used 0 | 1 | make 1
these will be                    | pending 0, handed 1 | 2 |
pending first, then the last     | free 0, free 1, pending 2, pending 3, free 4 | 2 | remove 3 2 4
still kept                       | free 0, free 1 | 1 2 |
none in use                      | handed 0, used 1 | 0 |
the dead count for nothing       | failed 0, succeeded 1, free 2 going | 1 | make 3, drop 0 1
another end                      | free 0 early, used 1 endless, pending 2 late | 2 | renew 2 0 1
placeholders once they hold      | pending 0 open, free 1 open, handed 2 open, used 3 open | 3 | renew 1 2 3
not one that goes                | free 0 early, free 1 early | 1 | renew 0, remove 1
none a placeholder may own       | free 0 open, free 1 open | 1 | renew 0 1
another shape: one makes room    | free 0 old, free 1 old | 2 | remove 1-old
and then one new is made         | free 0 old | 2 | make 0
while it waits no other goes     | pending 0, free 0 old | 2 |
but not for ever                 | pending 0 refused, free 0 old | 2 | remove 0-old
once it stands the next          | free 0, free 0 old | 2 | remove 0-old
a handover comes first           | handed 0, free 0 old | 2 |
of those that may stay too       | free 0 old, free 1 old | 1 2 | remove 1-old
not while a session is coming    | free 0 old | 0 2 |
too many go at once              | pending 0, free 0 old, free 1 old, free 2 | 2 | remove 0 1-old
what holds nothing goes at once  | pending 0 old, pending 1 old | 2 | make 0 1, remove 0-old 1-old
one that was refused             | pending 0 refused, pending 1 older, free 2 oldest | 3 | make 3, remove 1
one at a time                    | pending 0 refused, pending 1 | 2 |
all if there was room            | pending 0 refused, pending 1 older, free 2 | 3 | make 3 4, remove 1 0
of another shape in use          | used 0 old | 0 |
"""


@pytest.mark.parametrize("line", PLANS.strip().splitlines())
def test_a_plan_has_the_listed_writes(line: str) -> None:
    _, present, demand, expected = (part.strip() for part in line.split("|"))

    assert writes(planned(slots(present), wanted(*map(int, demand.split())))) == expected


# What for; the slots; how many are wanted free; the placeholders before and after.
BRIDGING = """
opens                           |                            | 3 | 0 3
nothing is wanted               |                            | 0 | 3 0
one is free                     | free 0                     | 3 | 0 2
one is in use                   | used 0                     | 2 | 0 2
in the middle                   | handed 0, pending 1        | 3 | 3 3
all have handed over            | handed 0, handed 1         | 2 | 2 0
on their way                    | handed 0, free 1           | 3 | 0 0
of another shape                | handed 0 old, free 1 old   | 3 | 2 2
more may come yet               | handed 0 coming            | 3 | 3 3
waited for long enough          | handed 0 waiting, handed 1 | 3 | 3 0
the free wait for nothing       | free 0 waiting, handed 1   | 3 | 2 2
one would take the free slot    | free 0 open                | 3 | 0 0
or that of another shape        | free 0 old open            | 3 | 1 1
"""


@pytest.mark.parametrize("line", BRIDGING.strip().splitlines())
def test_the_number_of_bridging_placeholders_is_as_listed(line: str) -> None:
    _, present, free, replicas = (part.strip() for part in line.split("|"))
    before, after = map(int, replicas.split())

    assert bridging_placeholders(count_slots(slots(present), HOME), int(free), before, NOW) == after


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
def test_a_plan_in_an_open_window_removes_no_used_slot(seed: int) -> None:
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
def test_repeated_plans_reach_a_state_without_writes(seed: int) -> None:
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
