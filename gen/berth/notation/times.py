"""Times of day as people write them: `09:00`, `24:00`, and spans of them: `09:00-13:00`."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from berth.dates.zone import DAY, clock_text
from berth.notation.refusal import Refusal, reads, shown

_TIME = re.compile(r"([0-9]{2}):([0-9]{2})", re.ASCII)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_NAMED_SPAN = re.compile(r"(?:[^=]+=)?[0-9]{2}:[0-9]{2}-[0-9]{2}:[0-9]{2}", re.ASCII)

# The other ways to write a time: 9, 9:00, 9.30, 0900, 9h30, 9 am, 5:45a. They stay text until needed.
_OTHER_TIME = (
    r"(?<![0-9a-z:.])([01]?[0-9]|2[0-4])(?:[:.h]([0-5][0-9])(?::00)?|([0-5][0-9]))?"
    r"(?: ?(?:h|o'clock|([ap])\.?(?:m\.?)?))?(?![0-9a-z:])"
)
_OTHER_SPAN = rf"(?ai)(?:from )?{_OTHER_TIME} ?(?:\.\.|[-/]|to|until|till|through|thru) ?{_OTHER_TIME}"
_OTHER_NAME = r"(?ai)(?<![0-9a-z.-])(?![ap]m?-)([a-z][a-z0-9-]*) ?(?:=|: |(?<![0-9]):) ?(?=[0-9])"
_LISTED = r"(?i) ?(?:,? and |&|,|;) ?"
_BETWEEN = "\n"  # parts of a list: it is within no time
_MORNING = 8  # the first hour that means the morning where nothing says which half of the day it is


class TimeSpan(NamedTuple):
    """Minutes after midnight. `end` may be 1440; one at or before `start` is on the next day."""

    start: int
    end: int


class _OtherTime:
    """A time of a text, on a clock of 12 or of 24 hours."""

    def __init__(self, hour: str, minute: str | None, digits: str | None, half: str | None) -> None:
        self.hour, self.minute = int(hour), int(minute or digits or 0)
        self.is_compact = digits is not None  # 930, 0900
        self.is_short = self.is_compact and len(hour) == 1  # 144 may be a slip of 14
        self.is_24 = not 1 <= self.hour <= 12
        self.has_zero = hour.startswith("0")  # on a clock of 24 hours, too, unless a half of the day is said
        half = (half or "").lower()
        self.half = "" if self.is_24 else half
        is_other_half = self.is_24 and half == ("a" if self.hour else "p")
        is_after_midnight = self.hour == 24 and self.minute > 0
        self.is_open = not (self.is_24 or self.has_zero or self.half)  # it may be in either half
        self.is_none = is_other_half or is_after_midnight or (self.is_compact and hour == "0")

    def at(self, half: str = "") -> int:
        """Return the minutes after midnight, in a half of the day: by default in its own, if it has one."""
        half = half or self.half
        return (self.hour % 12 + 12 * (half == "p") if half else self.hour) * 60 + self.minute


def written(text: str) -> Iterator[str]:
    """Yield a time as `09:00`, once for each half of the day that it may be in."""
    match = re.fullmatch(_OTHER_TIME, text, re.ASCII | re.IGNORECASE)
    time = _OtherTime(*match.groups()) if match else None
    if time and not (time.is_none or (time.is_short and not time.half)):
        yield clock_text(time.at())
        if time.is_open and time.hour < _MORNING:
            yield clock_text(time.at("p"))


def written_spans(text: str) -> Iterator[str]:
    """Yield a list of spans as `09:00-11:00 late=14:00-16:00`, once for each way to read it."""
    plain = re.sub(_OTHER_NAME, r"\1=", re.sub(r"(?i)\b(?:12 )?noon\b", "12pm", text))
    plain = re.sub(_LISTED, _BETWEEN, plain)
    ways = [_ways(match) for match in re.finditer(_OTHER_SPAN, plain)]
    for way in range(max(map(len, ways), default=0) if all(ways) and all(plain.split(_BETWEEN)) else 0):
        chosen = iter([spans[min(way, len(spans) - 1)] for spans in ways])
        listed = re.sub(_OTHER_SPAN, lambda _: next(chosen), plain)  # noqa: B023 - called at once
        yield listed.replace(_BETWEEN, " ")


def _ways(match: re.Match[str]) -> list[str]:
    """Return the spans that a text may mean.

    An end that says its half of the day says it for the start, too, unless that is after it then, and so does
    a start: 5:00-6:15pm, 9-1pm and 9am-5 have one reading each. Without a half, 9-11 is in the morning; 1-3,
    9-5 and 09:00-5:00 have two readings.
    """
    groups = match.groups()
    start, end = _OtherTime(*groups[:4]), _OtherTime(*groups[4:])
    ways = [(start.at(), end.at())]
    has_half, are_compact = bool(start.half or end.half), start.is_compact and end.is_compact
    is_slip = (start.is_short or end.is_short) and not (has_half or are_compact)
    if start.is_none or end.is_none or is_slip:
        ways = []
    elif start.half and end.half:
        pass
    elif has_half and not (start.is_24 or end.is_24):
        half = start.half or end.half
        ways = [(start.at(half), end.at(half))]
        if ways[0][0] >= ways[0][1]:
            other = "p" if half == "a" else "a"
            ways = [(start.at(start.half or other), end.at(end.half or other))]
    elif not (start.is_open and end.is_open):
        if end.is_open and end.at() <= start.at() < end.at("p"):
            ways.append((start.at(), end.at("p")))
        if start.is_open and start.hour < _MORNING and start.at("p") < end.at():
            ways.append((start.at("p"), end.at()))
    elif start.hour < _MORNING or end.at() <= start.at():
        near = start.at("p") if start.hour < _MORNING else start.at()
        ways += [(near, next((at for at in map(end.at, "ap") if at > near), end.at("a")))]
    return [f"{clock_text(first)}-{clock_text(last)}" for first, last in ways]


@lru_cache(maxsize=4096)
@reads("a time of day", written)
def end_time(text: str) -> int:
    """Return the minutes after midnight; 24:00 is 1440, the midnight at the end of the day."""
    return DAY if text == "24:00" else _minutes(text, "24:00")


@lru_cache(maxsize=4096)
@reads("a time of day", written)
def start_time(text: str) -> int:
    """Return the minutes after midnight, 0 to 1439."""
    if text == "24:00":
        raise Refusal("24:00 can end a window, not start one.", "Write 00:00 of the next day.", "B018")
    return _minutes(text, "23:59")


def _minutes(text: str, last: str) -> int:
    match = _TIME.fullmatch(text)
    if match is None:
        fix = "Write HH:MM, for instance 09:00."
        if _DATE.match(text):
            fix = "Write HH:MM; a range of dates has `from` and `to`."
        raise Refusal(f"{shown(text)} is not a time of day.", fix, "B018")
    hours, minutes = int(match[1]), int(match[2])
    if hours > 23 or minutes > 59:
        raise Refusal(f"{shown(text)} is not a time of day.", f"Write a time from 00:00 to {last}.", "B018")
    return hours * 60 + minutes


@lru_cache(maxsize=4096)
@reads("a span of time", written_spans)
def time_span(text: str) -> TimeSpan:
    """Return the minutes of `09:00-13:00`."""
    start, dash, end = text.partition("-")
    if not dash or "-" in end:
        fix = "Write a start and an end, such as 09:00-13:00."
        raise Refusal(f"{shown(text)} is not a span of time.", fix, "B018")
    return TimeSpan(start_time(start.strip()), end_time(end.strip()))


@reads("a list of times", written_spans)
def split_spans(text: str) -> tuple[str, ...]:
    """Split a list of spans, each of which may have a name: `regular=09:00-11:00 late=14:00-16:00`."""
    found = tuple(re.sub(r" ?- ?", "-", text.replace(",", " ")).split()) or ("",)
    wrong = [part for part in found if not _NAMED_SPAN.fullmatch(part)]
    if wrong:
        what = f"{shown(text if len(wrong) == len(found) else wrong[0])} does not list times."
        fix = "Write a start and an end, such as 09:00-13:00; with the name of a group late=09:00-13:00."
        raise Refusal(what, fix, "B018")
    for part in found:
        time_span(part.rpartition("=")[2])
    return found
