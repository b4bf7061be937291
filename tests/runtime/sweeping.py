"""Slots that a sweep looks at."""

from tests.objectstore import Tree
from tests.runtime.slotworld import DIGEST
from tests.runtime.sweepworld import Swept, slot_of
from tests.runtime.world import Row

ROW: Row = ("course/1", "07:30", "08:00", "10:00", {"small": 4})


def numbered(count: int, phase: str = "Available", digest: str = DIGEST) -> list[Tree]:
    return [slot_of(f"example-course-small-{n}-{digest}", phase) for n in range(count)]


def twice(swept: Swept) -> list[str]:
    """What a run has written, after which a second one has nothing to write."""
    assert swept.run() == 0
    writes = [f"{verb} {name}" for verb, name in swept.koordinator.writes] + [
        said for said in swept.cluster.writes if "reservations" not in said and "events" not in said
    ]
    swept.koordinator.writes.clear()
    assert (swept.run(), swept.koordinator.writes, swept.cluster.writes) == (0, [], [])
    return writes
