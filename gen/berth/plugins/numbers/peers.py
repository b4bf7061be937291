"""What other reservations ask of a number that several hold. Pure."""

from collections.abc import Iterable, Mapping

from berth.core.target import PoolTarget, pool_target
from berth.core.timetable import Override, Timetable, TimetablePool, override_target


def peer_targets(
    pool: TimetablePool, peers: Iterable[tuple[Timetable | None, Mapping[str, Override]]], now: int
) -> list[PoolTarget]:
    """Return what other reservations ask of the number of a pool, by their timetables and overrides."""
    return [
        target
        for timetable, overrides in peers
        if timetable
        for target in number_targets(timetable, overrides, now)
        if target.pool.key == pool.key
    ]


def number_targets(timetable: Timetable, overrides: Mapping[str, Override], now: int) -> list[PoolTarget]:
    """Return what a reservation asks of numbers of somebody else, whoever comes."""
    return [
        pool_target(timetable, pool, now, None, override_target(overrides, pool.resource_class, now))
        for pool in timetable.pools
        if pool.holder.foreign
    ]
