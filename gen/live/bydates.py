"""What can be told of pools by the clock and by git alone. Pure."""

from gen.live.case import Look, occurrences_of
from gen.live.expected import Standing
from gen.live.rules import Live
from gen.live.status import ACTIVE, COMPLETED, PENDING, ClusterStatus, PoolStatus
from gen.runtime.target import open_now
from gen.runtime.timetable import Timetable as Read


def by_clock(timetable: Read | None, resource_class: str, now: int) -> tuple[str, int | None, int | None]:
    """State, open and end by the clock alone. A suspended reservation waits for somebody."""
    occurrences = occurrences_of(timetable, resource_class)
    current = open_now(occurrences, now)
    if current:
        return ACTIVE, min(one.open for one in current), max(one.end for one in current)
    coming = min((one for one in occurrences if one.open > now), key=lambda one: one.open, default=None)
    if coming is not None:
        return PENDING, coming.open, coming.end
    if timetable is not None and timetable.suspend:
        return PENDING, None, None
    last = max(occurrences, key=lambda one: one.end, default=None)
    return COMPLETED, last.open if last else None, last.end if last else None


def calendar_only(look: Look, finding: Live) -> ClusterStatus:
    """What git alone can say of a cluster that could not be read; each pool carries the `finding`."""
    pools = []
    for name, timetable in sorted(look.expected.items()):
        for pool in timetable.pools:
            state, opens, ends = by_clock(timetable, pool.resource_class, look.now)
            unknown = (None, None, None, None, None)
            suspended = "suspended" if timetable.suspend else ""
            pools.append(
                PoolStatus(
                    name,
                    pool.resource_class,
                    look.place.cluster,
                    state,
                    opens,
                    ends,
                    *unknown,
                    (finding,),
                    suspended,
                )
            )
    for name, found in sorted(look.standing.items()):
        pools += [_standing(look, name, one, finding) for one in found]
    return ClusterStatus(look.place.cluster, look.place, tuple(pools), (finding,))


def _standing(look: Look, name: str, found: Standing, finding: Live) -> PoolStatus:
    state = COMPLETED if found.until is not None and found.until <= look.now else ACTIVE
    unknown = (None, None, None, None, None)
    return PoolStatus(
        name,
        found.resource_class,
        look.place.cluster,
        state,
        None,
        found.until,
        *unknown,
        (finding,),
        stands=True,
    )
