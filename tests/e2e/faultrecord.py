"""What the record of the fault tests says of each case."""

from berth.output import table

from tests.e2e import binaries
from tests.e2e.faultcases import CASES, COUNT, Case, case
from tests.e2e.faultworld import World
from tests.e2e.seats import Promise, Seats, clean_after, longest_shortage
from tests.e2e.windows import MINUTE

CHANGED = {"raised": 7, "lowered": 2}  # seats
CUT_SHORT = ("withdrawn", "other-day", "suspended")


def looks(world: World, name: str) -> list[Seats]:
    return world.record.looks[case(name).pool]


def at(world: World, minute: float) -> float:
    return world.opens + minute * MINUTE


def ends_at(world: World, one: Case) -> float:
    """What is withdrawn, moved to another day or suspended ends when that is done."""
    ends = at(world, one.ends)
    return world.faults.happened.get(one.name, ends) if one.name in CUT_SHORT else ends


def promises(world: World, one: Case) -> list[Promise]:
    """What is promised, as the fault changes it."""
    first, last = at(world, one.opens), at(world, one.ends)
    changed = world.faults.happened.get(one.name, last)
    if one.name in ("raised", "lowered"):
        return [Promise(first, changed, COUNT), Promise(changed, last, CHANGED[one.name])]
    if one.name in CUT_SHORT:
        return [Promise(first, changed, COUNT)]
    if one.name == "deployment-deleted":
        return [Promise(first, at(world, 4.69), COUNT), Promise(changed, last, COUNT)]
    return [Promise(first, last, one.seats)]


def write_down(world: World) -> None:
    """In the cache, until the next run: what docs/reliability.md tells as measured, and all histories."""
    cells = []
    for one in CASES:
        short = longest_shortage(looks(world, one.name), promises(world, one))
        after = clean_after(looks(world, one.name), ends_at(world, one))
        left = "for ever" if after is None else f"{after:.0f}"
        bounds = (f"{one.short:.0f}", f"{one.clean:.0f}")
        cells.append((str(one.fault), one.name, f"{short:.0f}", bounds[0], left, bounds[1]))
    head = ("fault", "case", "seats missing, s", "at most", "left after the end, s", "at most")
    text = table.text(head, cells) + "\n" + world.record.histories(world.opens)
    (binaries.cache_dir() / "faults.txt").write_text(text)
