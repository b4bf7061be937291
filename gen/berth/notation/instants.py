"""Instants as people write them: `2026-02-02T08:00:00Z`, `monday 09:00`, `+2h`, `now`. Pure."""

import re
from collections.abc import Iterable, Iterator
from datetime import date

from berth.dates.moments import local_day, read
from berth.dates.zone import DAY, Zone, day_of, number, resolve
from berth.notation import days, times
from berth.notation.days import FIRST_YEAR, LAST_YEAR, day
from berth.notation.refusal import Refusal, reads, shown, taken
from berth.notation.times import start_time

_SPAN = re.compile(r"([+-][1-9]\d{0,4})([mhdw])", re.ASCII)
_SECONDS = {"m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_LAST_TIME = re.compile(r"(?:^|[ T])(\d\d?:\d\d)(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?$", re.ASCII)
_WEEK = 7
_FIRST, _END = (number(date(year, 1, 1)) * DAY for year in (FIRST_YEAR, LAST_YEAR + 1))


def written(text: str, today: int) -> Iterator[str]:
    """Yield a date and a time with the date as year-month-day, and the time as `09:00`."""
    return with_times(text, days.written(text, today))


def with_times(text: str, dates: Iterable[str]) -> Iterator[str]:
    """Yield a date and a time, also with other texts of the date, and with the time as `09:00`."""
    for dated in (text, *dates):
        date, space, time = dated.partition(" ")
        yield dated
        yield from (f"{date} {one}" for one in times.written(time) if space)


@reads("an instant", lambda text, zone, now: written(text, local_day(now, zone)))
def instant(text: str, zone: Zone, now: int) -> int:
    """Return the seconds of an instant.

    What has no offset is in `zone`. A day without a time means its first minute.
    """
    seconds = _seconds(text, zone, now)
    if not resolve(zone, _FIRST) <= seconds < resolve(zone, _END):
        message = f"{shown(text)} is outside of the years {FIRST_YEAR} to {LAST_YEAR}."
        raise Refusal(message, "Write an instant within them.", "B017")
    return seconds


def _seconds(text: str, zone: Zone, now: int) -> int:
    if text == "now":
        return now
    distance = _SPAN.fullmatch(text)
    if distance:
        return now + int(distance[1]) * _SECONDS[distance[2]]
    word, space, rest = text.partition(" ")
    today = local_day(now, zone)
    try:
        word = str(day(word, today))
    except Refusal as refusal:
        seconds = read(text, zone)
        if seconds is None:
            raise _refusal(text, refusal, is_alone=not space) from None
        return seconds
    seconds = read(f"{word}{space}{rest}", zone)
    if seconds is None:
        raise _refusal(text, None, is_alone=False)
    return seconds


def is_span(text: str) -> bool:
    """Return whether a text is a distance from now, such as `+2h`."""
    return _SPAN.fullmatch(text) is not None


def next_time(text: str, zone: Zone, now: int) -> int | None:
    """Return the next instant at a time of day, such as `14:30` or `8am`; None for any other text.

    Raise Refusal for one that may be in both halves of the day.
    """
    try:
        minutes = taken(lambda: start_time(text))
    except Refusal as refusal:
        if refusal.readings:
            raise
        return None
    today = local_day(now, zone)
    return next(at for day in (0, 1, 2) if (at := resolve(zone, (today + day) * DAY + minutes)) > now)


def _refusal(text: str, of_day: Refusal | None, *, is_alone: bool) -> Refusal:
    """Say what is wrong with an instant: its time, its date, or all of it."""
    time = _LAST_TIME.search(text)
    if time:
        try:
            start_time(time[1])
        except Refusal as refusal:
            return refusal
    if of_day is not None and (not is_alone or of_day.fix.startswith("Write 2")) and text[:1].isdigit():
        return of_day
    if is_span(f"+{text}"):
        return Refusal(f"{shown(text)} is not an instant.", f"Write +{text}.", "B018")
    fix = "Write 2026-02-02T08:00:00Z, 2026-02-02 09:00, monday or +2h."
    return Refusal(f"{shown(text)} is not an instant.", fix, "B017")


def week_of(at: int, zone: Zone) -> tuple[int, int]:
    """Return the first instant of the week of an instant, which begins on Monday, and that of the next."""
    today = local_day(at, zone)
    monday = today - day_of(today * DAY).weekday()
    return resolve(zone, monday * DAY), resolve(zone, (monday + _WEEK) * DAY)
