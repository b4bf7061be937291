"""Find CronJob schedules that fire whenever a reservation opens."""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from functools import cache, lru_cache

from berth.dates.expansion import Occurrence
from berth.dates.zone import DAY, GAP, Zone, day_of, load, trait, walls
from berth.durations import cron_field

# As few schedules as possible, in the grammar of robfig/cron. Each has one time of day, because Kubernetes
# loses missed runs of schedules with several. They may fire too often (a Job that finds nothing open ends at
# once), but never too seldom, even where clocks change.

_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ODD_CHANGES = frozenset({"Australia/LHI", "Australia/Lord_Howe", "NZ-CHAT", "Pacific/Chatham"})


def cron_zone(name: str) -> str:
    """Return the zone of the schedules, for a CronJob's `timeZone`: that of the reservation, or UTC.

    robfig/cron steps through a day in whole hours. Where clocks change by half an hour, or not on the hour,
    it misses the time or never ends; for these zones the schedules are in UTC.
    """
    return "Etc/UTC" if name in _ODD_CHANGES else name


def open_spans(occurrences: Iterable[Occurrence]) -> list[tuple[int, int]]:
    """Return from when to when anything is open, in order. Occurrences that touch are one span: one Job."""
    spans: list[tuple[int, int]] = []
    for opens, end in sorted([(occurrence.open, occurrence.end) for occurrence in occurrences]):
        if spans and opens <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(spans[-1][1], end)
        else:
            spans.append((opens, end))
    return spans


def schedules(opens: Sequence[int], zone_name: str) -> tuple[str, ...]:
    """Return a schedule for each time of day of the instants `opens`, in `cron_zone(zone_name)`."""
    return _schedules(tuple(opens), zone_name)


@lru_cache(maxsize=256)
def _schedules(opens: tuple[int, ...], zone_name: str) -> tuple[str, ...]:
    """Cached, because many courses of a term open at the same times."""
    zone = load(cron_zone(zone_name))
    assert zone is not None
    days: dict[int, list[int]] = {}
    for wall in walls(zone, opens):
        days.setdefault(wall % DAY, []).append(wall // DAY)
    return tuple([f"{time % 60} {time // 60} {_days(days[time], zone)}" for time in sorted(days)])


def _days(days: Collection[int], zone: Zone) -> str:
    """Return the fields day of month, month and weekday, limited by weekday or by date: by what fires less.

    With both limits, cron would fire on either. robfig/cron does not find a day without a midnight unless it
    starts from the day before, which is added.
    """
    dates = [_date(day) for day in days]
    changing = [day for day in days if zone.offsets[day] is None]
    dates += [_date(day - 1) for day in changing if trait(zone, day * DAY) == GAP]
    months, month_days, weekdays = (sorted(set(values)) for values in zip(*dates, strict=True))
    by_weekday = len(weekdays) * sum(_LENGTHS[month - 1] for month in months)
    by_date = 7 * sum(bisect_right(month_days, _LENGTHS[month - 1]) for month in months)
    if by_date < by_weekday:
        return f"{_field(month_days, 31)} {_field(months, 12)} *"
    return f"* {_field(months, 12)} {_field(weekdays, 7)}"


@cache
def _date(day: int) -> tuple[int, int, int]:
    """Return month, day of month and weekday (0 = Sunday). Cached, because reservations share days."""
    date = day_of(day * DAY)
    return date.month, date.day, date.isoweekday() % 7


def _field(values: Sequence[int], all_of_them: int) -> str:
    return "*" if len(values) == all_of_them else cron_field(values)
