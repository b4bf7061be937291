"""Instants and dates as people write them: `2026-02-02 09:00`, `tomorrow`, `monday 09:00`, `+2h`. Pure."""

import re

from berth.dates.moments import local_day, read
from berth.dates.zone import DAY, Zone, date_text, day_of, resolve

_SPAN = re.compile(r"([+-][1-9]\d{0,4})([mhdw])", re.ASCII)
_TIME = re.compile(r"\d\d:\d\d", re.ASCII)
_SECONDS = {"m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEK = len(_WEEKDAYS)
_SHORT = 3  # letters of a weekday that are enough


def parse_instant(text: str, zone: Zone, now: int) -> int | None:
    """Return the seconds of an instant, or None for any other text.

    What has no offset is in `zone`. A day without a time means its first minute.
    """
    if text == "now":
        return now
    span = _SPAN.fullmatch(text)
    if span:
        return now + int(span[1]) * _SECONDS[span[2]]
    word, space, rest = text.partition(" ")
    return read(f"{parse_day(word, local_day(now, zone)) or word}{space}{rest}", zone)


def next_time(text: str, zone: Zone, now: int) -> int | None:
    """Return the next instant at a time of day, such as `14:30`; None for any other text."""
    if not _TIME.fullmatch(text):
        return None
    today = local_day(now, zone)
    found = (read(f"{date_text(day)} {text}", zone) for day in (today, today + 1))
    return next((at for at in found if at is not None and at > now), None)


def parse_day(text: str, today: int) -> str | None:
    """Return the date of a day's name; None for any other text. A weekday is the next one, or today."""
    word = text.lower()
    if word in _DAYS:
        return date_text(today + _DAYS[word])
    names = [n for n, name in enumerate(_WEEKDAYS) if word in (name, name[:_SHORT])]
    return date_text(today + (names[0] - _weekday(today)) % _WEEK) if names else None


def week_of(at: int, zone: Zone) -> tuple[int, int]:
    """Return the first instant of the week of an instant, which begins on Monday, and that of the next."""
    day = local_day(at, zone)
    monday = day - _weekday(day)
    return resolve(zone, monday * DAY), resolve(zone, (monday + _WEEK) * DAY)


def _weekday(day: int) -> int:
    return day_of(day * DAY).weekday()
