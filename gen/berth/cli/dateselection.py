"""How a command line names dates, ranges of them, times and seats of a reservation."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import click

from berth.cli.selection import Clock
from berth.edit.dateselect import DateSelector, OccurrenceRange, OccurrenceSelector
from berth.edit.occurrences import NewTimes
from berth.edit.seatcounts import Counts, parse_counts
from berth.notation.days import parts, weekday
from berth.notation.refusal import CommandError, read_all, read_at
from berth.notation.times import end_time, start_time
from berth.schema.basemodel import Model
from berth.schema.datechanges import DateException
from berth.schema.validate import read_text

entry_option = click.option("--name", "entry", metavar="NAME", help="Its name, where several start together.")

_T = re.compile(r"(?<=\d)T")  # between a date and a time, not that of Tuesday
_TIME = r"[^\s-]*:[^\s-]*"
_END = rf"(?:-| +to +)(?:(?P<end_day>[^\s:]+)[ T]+)?(?P<end>{_TIME})"
_WHEN = re.compile(rf"(?P<day>[^\s:]+)?(?:(?:^|[ T]+)(?P<start>{_TIME})(?:{_END})?)?")


def occurrence_selector(  # noqa: PLR0913, PLR0917 - what may select one
    clock: Clock,
    reservation: str,
    date: str,
    start: str | None,
    entry: str | None,
    of_date: str = "DATE",
) -> OccurrenceSelector:
    """Parse DATE [TIME] as `berth occurrences` shows them, or the id of an occurrence, and --name."""
    place, is_id, of_id = "TIME", False, ""
    if start is None:
        other, _, of_reservation = date.rpartition("/")
        day, *rest = _T.split(of_reservation)
        is_id = bool(rest)
        if rest and other not in ("", reservation):
            raise CommandError(f"{of_date}: {date} is an occurrence of {other}, not of {reservation}.")
        if rest:
            start, _, of_id = rest[0].partition("~")
        else:
            day, separator, time = date.partition(" ")
            start = time if separator else None
        date, place = day, of_date
    local_date, time_of_day, name = read_all(
        lambda: clock.date(of_date, date),
        lambda: None if start is None else selected_time(place, start),
        lambda: _entry_name(entry),
    )
    return OccurrenceSelector(local_date, time_of_day, is_id=is_id, name=name or of_id if is_id else name)


def date_selectors(
    clock: Clock, reservation: str, words: Sequence[str], entry: str | None
) -> list[DateSelector]:
    """Parse dates, ranges and ids of occurrences, each perhaps with a time after it, and --name."""
    listed = read_at("DATE", lambda: parts(" ".join(words)))
    dates: list[tuple[str, str | None]] = []
    for word in listed:
        is_time = ":" in word and not _T.search(word)
        if not is_time:
            dates.append((word, None))
        elif dates and dates[-1][1] is None:
            dates[-1] = dates[-1][0], word
        else:
            raise CommandError(f"DATE: {word} has no date before it. Write DATE TIME.")
    return [*read_all(*(partial(_selector, clock, reservation, date, start, entry) for date, start in dates))]


def _selector(
    clock: Clock, reservation: str, date: str, start: str | None, entry: str | None
) -> DateSelector:
    if ".." not in date:
        return occurrence_selector(clock, reservation, date, start, entry)
    span, time, name = read_all(
        lambda: clock.span("DATE", date),
        lambda: None if start is None else selected_time("TIME", start),
        lambda: _entry_name(entry),
    )
    return OccurrenceRange(str(span[0]), str(span[1]), time, name)


def _entry_name(entry: str | None) -> str | None:
    return None if entry is None else field_value("--name", DateException, "name", entry)


def field_value(option: str, model: type[Model], key: str, text: str) -> Any:
    """Return what the text of an option means, by the grammar of a field."""
    return read_at(option, lambda: read_text(model, key, text))


def selected_time(place: str, text: str, grammar: Callable[[str], int] = start_time) -> str:
    """Return the text of a time, the value of an option or argument, as it is written."""
    read_at(place, lambda: grammar(text))
    return text


def given_counts(seats: str | None) -> Counts | None:
    """Parse the counts of --seats, if it is given."""
    return None if seats is None else parse_counts(seats)


def moved_to(clock: Clock, to: str | None, end: str | None) -> NewTimes:
    """Parse what --to and --end say."""
    both: tuple[NewTimes, NewTimes] = read_all(lambda: _new_times(clock, to), lambda: _new_end(clock, end))
    times, ends = both
    if times.end and ends.end:
        raise CommandError("--to has an end already. Give it once.")
    return times._replace(end=times.end or ends.end, end_day=times.end_day or ends.end_day)


def _new_end(clock: Clock, text: str | None) -> NewTimes:
    if text is None:
        return NewTimes()
    words = _T.sub(" ", text).split()
    if len(words) not in (1, 2):
        raise CommandError('--end is a time, or a date and a time: --end "2026-02-03 01:00".')
    day, time = read_all(
        lambda: _new_day(clock, "--end", words[0]) if len(words) == 2 else None,
        lambda: selected_time("--end", words[-1], end_time),
    )
    return NewTimes(end=time, end_day=day)


def _new_times(clock: Clock, text: str | None) -> NewTimes:
    if text is None:
        return NewTimes()
    match = _WHEN.fullmatch(text.strip())
    if match is None or not match[0]:
        raise CommandError(
            '--to is a date or a time: --to 2026-05-15, --to "2026-05-15 10:00-14:00", --to 10:00 or '
            '--to "2026-05-15 17:00 to 2026-05-17 12:00".'
        )
    day, start, end_day, end = match["day"], match["start"], match["end_day"], match["end"]
    return NewTimes(
        *read_all(
            lambda: day and _new_day(clock, "--to", day),
            lambda: start and selected_time("--to", start),
            lambda: end and selected_time("--to", end, end_time),
            lambda: end_day and _new_day(clock, "--to", end_day),
        )
    )


def _new_day(clock: Clock, option: str, text: str) -> str | int:
    """Return a date, or the number of a weekday, which is one near to the date that moves."""
    named = weekday(text)
    return clock.date(option, text) if named is None else named
