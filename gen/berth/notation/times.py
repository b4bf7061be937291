"""Times of day as people write them: `09:00`, `24:00`, and spans of them: `09:00-13:00`."""

import re
from functools import lru_cache
from typing import NamedTuple

from berth.dates.zone import DAY
from berth.notation.refusal import Refusal, reads_lookalikes, shown

TIME = "B018"
_TIME = re.compile(r"([0-9]{2}):([0-9]{2})", re.ASCII)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_NEARLY_A_TIME = (
    r"([01]?[0-9]|2[0-3])(?:[:.h]?([0-5][0-9]))?(?::[0-5][0-9])?"
    r"(?: ?(?:h|uhr|o'clock|(am|pm|a\.m\.|p\.m\.)))?"
)


_ABOUT_A_TIME = r"[0-9]{1,2}(?:[:.h]?[0-9]{2})?(?::[0-9]{2})?(?: ?(?:h|uhr|o'clock|[ap]m|[ap]\.m\.))?"
_NEARLY_A_SPAN = re.compile(
    rf"(?:([a-z][a-z0-9-]*) ?[=:] ?)?(?:(?:from|von) )?({_ABOUT_A_TIME})"
    rf" ?(?:\.\.|[-/\u2012-\u2015]|to|until|till|bis) ?({_ABOUT_A_TIME})(?: ?[,;&] ?| (?:and |und )?|$)",
    re.ASCII,
)


class TimeSpan(NamedTuple):
    """Minutes after midnight. `end` may be 1440; one at or before `start` is on the next day."""

    start: int
    end: int


@lru_cache(maxsize=4096)
@reads_lookalikes
def end_time(text: str) -> int:
    """Return the minutes after midnight; 24:00 is 1440, the midnight at the end of the day."""
    return DAY if text == "24:00" else _minutes(text, "24:00")


@lru_cache(maxsize=4096)
@reads_lookalikes
def start_time(text: str) -> int:
    """Return the minutes after midnight, 0 to 1439."""
    if text == "24:00":
        raise Refusal("24:00 can end a window, not start one.", "Write 00:00 of the next day.", TIME)
    return _minutes(text, "23:59")


@lru_cache(maxsize=4096)
@reads_lookalikes
def time_span(text: str) -> TimeSpan:
    """Return the minutes of `09:00-13:00`."""
    start, dash, end = text.partition("-")
    if dash and "-" not in end:
        try:
            return TimeSpan(start_time(start.strip()), end_time(end.strip()))
        except Refusal as refusal:
            if not (nearly_time(start) and nearly_time(end)):
                raise
            meant = nearly_spans(text)
            if meant:
                raise Refusal(refusal.message, f"Write {meant}.", TIME) from None
    meant = nearly_spans(text)
    fix = f"Write {meant}." if meant and not {*meant} & {*" ="} else "Write one such as 09:00-13:00."
    raise Refusal(f"{shown(text)} is not a span of time.", fix, TIME)


def split_spans(text: str) -> tuple[str, ...]:
    """Split a list of spans, each of which may have a name: `regular=09:00-11:00 late=14:00-16:00`.

    Refuse one with words or spaces as a whole. A list with one wrong span is returned: its reader refuses it.
    """
    if _is_span(text):
        return (text,)
    parts = tuple(text.replace(",", " ").split()) or ("",)
    wrong = sum(not _is_span(part) for part in parts)
    meant = nearly_spans(text) if wrong and len(parts) > 1 else ""
    if not meant and (wrong <= 1):
        return parts
    fix = f"Write {meant}." if meant else "Write hours and minutes, such as 09:00-11:00."
    raise Refusal(f"{shown(text)} does not list times.", fix, TIME)


def _is_span(text: str) -> bool:
    try:
        time_span(text.partition("=")[2] or text)
    except Refusal:
        return False
    return True


def nearly_spans(text: str) -> str:
    """Return the spans that the author of `from 9:30 until 11` meant; empty if that is not clear."""
    rest, spans = " ".join(text.lower().split()), []
    while rest:
        match = _NEARLY_A_SPAN.match(rest)
        if match is None:
            return ""
        start, end = nearly_time(match[2]), "24:00" if match[3] == "24:00" else nearly_time(match[3])
        if not (start and end) or ("m" in match[3] and "m" not in match[2]):  # 1-3pm is not from 01:00 on
            return ""
        spans.append(f"{match[1]}={start}-{end}" if match[1] else f"{start}-{end}")
        rest = rest[match.end() :]
    return " ".join(spans)


def _minutes(text: str, last: str) -> int:
    match = _TIME.fullmatch(text)
    if match is None:
        if _DATE.match(text):
            fix = "Write HH:MM; a range of dates has `from` and `to`."
            raise Refusal(f"{shown(text)} is not a time of day.", fix, TIME)
        nearly = nearly_time(text)
        fix = f'Write "{nearly}".' if nearly else 'Write HH:MM, for instance "09:00".'
        raise Refusal(f"{shown(text)} is not a time of day.", fix, TIME)
    hours, minutes = int(match[1]), int(match[2])
    if hours > 23 or minutes > 59:
        raise Refusal(f"{shown(text)} is not a time of day.", f"Write a time from 00:00 to {last}.", TIME)
    return hours * 60 + minutes


def nearly_time(text: str) -> str:
    """Return what the author of `900`, `9`, `9:00`, `9pm` or `09:00:00` meant; empty if that is not clear."""
    match = re.fullmatch(_NEARLY_A_TIME, text.strip().lower(), re.ASCII)
    if match is None:
        return ""
    hours = int(match[1])
    if match[3]:
        if not 1 <= hours <= 12:
            return ""
        hours = hours % 12 + (12 if match[3][0] == "p" else 0)
    return f"{hours:02}:{match[2] or '00'}"
