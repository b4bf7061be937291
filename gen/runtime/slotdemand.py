"""How many free slots a pool should have at a moment, by what is wished of it and who owns its slots.

The formula is that of placeholders. What differs is who is seen: a session that owns a slot of ours counts
even where nobody told of it, and one that has just come may be about to take a slot. So there are two
numbers: fewer free slots than `wanted` are too few, more than `kept` are too many, and in between nothing
happens.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gen.runtime.plan import Aim, Wish, wish
from gen.runtime.target import full_count, open_now
from gen.runtime.timetable import Occurrence, Pool, in_force

GAP = 15.0  # seconds without a look, after which nothing is known of the time between


class Demand(NamedTuple):
    wish: Wish  # whose replicas are the free slots that are wanted
    kept: int  # the most free slots that stay; not less than wanted
    expires: int | None  # when the last of the open occurrences ends; None: nothing is open

    @property
    def wanted(self) -> int:
        return self.wish.replicas


def demand(aim: Aim, owners: int, settled: int) -> Demand:
    """`owners` are the sessions that own slots of ours; `settled` those that own none, and have had their
    time to take one.
    """
    pool, now = aim.wish.pool, aim.now
    if all(pool.key != known.key for known in aim.timetable.pools):
        return Demand(aim.wish, 0, None)
    asking, told = open_of(aim), told_of(aim)
    counted = _with(told, asking, max(sum(told.values()), owners), pool)
    had = _with(told, asking, min(sum(counted.values()), owners + settled), pool)
    override = aim.wish.override
    ends = [item.end for item in asking] + ([] if override is None else [aim.until])
    return Demand(
        wish(aim.timetable, pool, now, counted, override),
        wish(aim.timetable, pool, now, had, override).replicas,
        max(ends, default=None),
    )


def open_of(aim: Aim) -> list[Occurrence]:
    """The open occurrences of the pool, those that end first first. Also one that asks for no seat: what is
    in use then stays until its end.
    """
    found = open_now(in_force(aim.timetable), aim.now)
    named = [item for item in found if any(name == aim.wish.pool.resource_class for name, _ in item.seats)]
    return sorted(named, key=lambda item: (item.end, item.start, item.id))


def told_of(aim: Aim) -> dict[str, int]:
    """The sessions that we were told of, by occurrence; of what nobody can tell, none."""
    return {item.id: (aim.sessions or {}).get(item.id, 0) for item in open_of(aim)}


def _with(told: Mapping[str, int], asking: Sequence[Occurrence], total: int, pool: Pool) -> dict[str, int]:
    """So many sessions in all. More fill up the occurrences in their order, and the rest goes to the first;
    fewer leave the last ones first.
    """
    found, full = dict(told), full_count(pool.resource_class)
    more = total - sum(found.values())
    for item in asking:
        room = min(max(full(item) - found[item.id], 0), max(more, 0))
        found[item.id] += room
        more -= room
    for item in reversed(asking):
        fewer = min(found[item.id], max(-more, 0))
        found[item.id] -= fewer
        more += fewer
    if asking:
        found[asking[0].id] += max(more, 0)
    return found


class Settling:
    """How many sessions that own no slot of ours have had `seconds` to take one, for as long as this looks.

    Who comes while others take their slots cannot be told from these, so it rather knows too few.
    """

    def __init__(self) -> None:
        # Since when there have been so many at least that own none, all that took one until then added.
        self._lows: list[tuple[float, int]] = []
        self._since = self._last = 0.0
        self._owners: Mapping[str, int] = {}
        self._came = 0

    def look(self, now: float, sessions: int, owners: Mapping[str, int], seconds: float) -> int:
        """`owners` says how many sessions own each slot, by its uid."""
        if not (self._lows and 0 <= now - self._last <= GAP):
            self._lows, self._came, self._since = [], 0, now
            self._owners = owners
        self._came += sum(max(0, n - self._owners.get(uid, 0)) for uid, n in owners.items())
        self._owners, self._last = owners, now
        level = max(0, sessions - sum(owners.values())) + self._came
        while self._lows and self._lows[-1][1] > level:
            self._lows.pop()
        if not self._lows or self._lows[-1][1] < level:
            self._lows.append((now, level))
        while len(self._lows) > 1 and self._lows[1][0] <= now - seconds:
            del self._lows[0]
        return max(0, self._lows[0][1] - self._came) if now - self._since >= seconds else 0
