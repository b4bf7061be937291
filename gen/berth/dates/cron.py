"""Find CronJob schedules that fire at every opening of a reservation."""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from functools import cache, lru_cache

from berth.cron import format_field
from berth.dates.zone import DAY, GAP, Zone, day_of, load, trait, walls

# CronJob schedules that fire at given openings, as few as do, in the grammar of robfig/cron. Pure. Each has
# one time of day, because Kubernetes loses missed runs of schedules with several. They may fire more often
# than asked (a run that finds nothing open ends at once), never less, even where clocks change.

_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ODD_CHANGES = frozenset({"Australia/LHI", "Australia/Lord_Howe", "NZ-CHAT", "Pacific/Chatham"})


def cron_zone(name: str) -> str:
    """For a CronJob's `timeZone`: the zone in which `lines` writes; the reservation's own, but for a few.

    robfig/cron walks through a day in whole hours. Where clocks change by half an hour, or not on the hour,
    it walks past its goal, or for ever; there the schedules are in UTC.
    """
    return "Etc/UTC" if name in _ODD_CHANGES else name


def lines(opens: Sequence[int], zone_name: str) -> tuple[str, ...]:
    """One for each time of day of `opens` (instants), on the clock of `cron_zone(zone_name)`."""
    return _lines(tuple(opens), zone_name)


@lru_cache(maxsize=256)
def _lines(opens: tuple[int, ...], zone_name: str) -> tuple[str, ...]:
    """Kept, because timetables have a grid: many courses of a term open at the very same times."""
    zone = load(cron_zone(zone_name))
    assert zone is not None
    days: dict[int, list[int]] = {}
    for wall in walls(zone, opens):
        days.setdefault(wall % DAY, []).append(wall // DAY)
    return tuple([f"{time % 60} {time // 60} {_days(days[time], zone)}" for time in sorted(days)])


def _days(days: Collection[int], zone: Zone) -> str:
    """Days of month, months and weekdays: narrowed by weekday or by date, whichever fires less often.

    Never by both: cron would fire on either. A day without a midnight is hidden from robfig/cron, unless it
    comes there from the day before.
    """
    dates = [_date(day) for day in days]
    changing = [day for day in days if zone.offsets[day] is None]
    dates += [_date(day - 1) for day in changing if _lacks_midnight(day, zone)]
    months, month_days, weekdays = (sorted(set(values)) for values in zip(*dates, strict=True))
    by_weekday = len(weekdays) * sum(_LENGTHS[month - 1] for month in months)
    by_date = 7 * sum(bisect_right(month_days, _LENGTHS[month - 1]) for month in months)
    if by_date < by_weekday:
        return f"{_field(month_days, 31)} {_field(months, 12)} *"
    return f"* {_field(months, 12)} {_field(weekdays, 7)}"


def _lacks_midnight(day: int, zone: Zone) -> bool:
    return trait(zone, day * DAY) == GAP


@cache
def _date(day: int) -> tuple[int, int, int]:
    """Month, day of month, weekday with 0 for Sunday. Kept, because reservations share their days."""
    date = day_of(day * DAY)
    return date.month, date.day, date.isoweekday() % 7


def _field(values: Sequence[int], all_of_them: int) -> str:
    return "*" if len(values) == all_of_them else format_field(values)
