"""Instants: whole seconds since the epoch in UTC, and their text form, `2026-02-02T07:30:00Z`.

Written by hand for speed and memory: rendering writes sixty instants per reservation, and pods in the cluster
have little memory. This module knows no time zones and reads no clock.
"""

from functools import lru_cache

DAY = 86_400


@lru_cache(maxsize=4096)
def _date_text(day: int) -> str:
    """Return the date of a day counted from 1970-01-01, with a trailing `T`.

    Proleptic Gregorian calendar, in eras of 400 years that begin in March.
    """
    era, of_era = divmod(day + 719_468, 146_097)
    year = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    date = of_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    return f"{year + era * 400 + (month <= 2):04d}-{month:02d}-{date:02d}T"


@lru_cache(maxsize=4096)
def _time_text(second: int) -> str:
    return f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}Z"


@lru_cache(maxsize=4096)
def _day(date: str) -> int:
    """Return the day of a date. A date that does not exist gives some other day."""
    year, month = int(date[:4]), int(date[5:7])
    if month <= 2:
        year, month = year - 1, month + 12
    of_year = (153 * (month - 3) + 2) // 5 + int(date[8:10]) - 1
    era, of_era = divmod(year, 400)
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


@lru_cache(maxsize=4096)
def instant_text(seconds: int) -> str:
    """Return the text of an instant of the years 1 to 9999.

    Cached, because the timetables of a site repeat the same instants.
    """
    day, second = divmod(seconds, DAY)
    return _date_text(day) + _time_text(second)


def parse_instant(text: str) -> int:
    """Parse an instant. Raises ValueError for what `instant_text` does not write, such as 30 February."""
    try:
        seconds = _day(text[:11]) * DAY + int(text[11:13]) * 3600 + int(text[14:16]) * 60 + int(text[17:19])
        good = instant_text(seconds) == text
    except ValueError:
        good = False
    if not good:
        raise ValueError(f"{text!r} is not an instant such as 2026-02-02T07:30:00Z")
    return seconds
