"""CronJob schedules that fire at given openings: as few as can, in the grammar of robfig/cron, which Kubernetes uses.

Pure. A schedule has one time of day, because Kubernetes loses missed runs of schedules with several. It may fire
more often than asked: a run that finds nothing open ends at once.
"""

from collections.abc import Collection, Sequence

from gen.zone import DAY, load, local

_DAYS_OF_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def lines(opens: Sequence[int], zone_name: str) -> tuple[str, ...]:
    """One for each local time of day of `opens` (instants), by that time; read in the known zone `zone_name`."""
    zone = load(zone_name)
    assert zone is not None
    days: dict[int, set[int]] = {}
    for instant in opens:
        day, minute = divmod(local(zone, instant), DAY)
        days.setdefault(minute, set()).add(day)
    return tuple(f"{minute % 60} {minute // 60} {_narrowed(days[minute])}" for minute in sorted(days))
