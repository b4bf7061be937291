"""How a command line names dates, ranges of them, times and seats of a reservation."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import click

from berth.cli.selection import Clock
from berth.dates.zone import clock_text
from berth.edit.dateselect import DateSelector, OccurrenceRange, OccurrenceSelector
from berth.edit.occurrences import NewTimes
from berth.edit.seatcounts import Counts, parse_counts
from berth.notation import days, instants, times
from berth.notation.refusal import CommandError, Refusal, read_all, read_at, reads, shown
from berth.notation.times import end_time, start_time
from berth.schema.basemodel import Model
from berth.schema.datechanges import DateException
from berth.schema.validate import read_text

entry_option = click.option(
    "--name", "entry", metavar="NAME", help="Its group, where several start together."
)

_T = re.compile(r"(?<=-\d\d)T(?=\d)")  # between a date and a time
_TIME = r"[^\s-]*:[^\s-]*"
_END = rf"(?:-| +to +)(?:(?P<end_day>[^\s:]+)[ T]+)?(?P<end>{_TIME})"
_WHEN = re.compile(rf"(?P<day>[^\s:]+)?(?:(?:^|[ T]+)(?P<start>{_TIME})(?:{_END})?)?")
_WHEN_ADVICE = 'Write 2026-05-15, "2026-05-15 10:00-14:00", 10:00 or "2026-05-15 17:00 to 2026-05-17 12:00".'


def occurrence_selector(  # noqa: PLR0913, PLR0917 - what may select one
    clock: Clock, reservation: str, date: str, start: str | None, entry: str | None, of_date: str = "DATE"
) -> OccurrenceSelector:
    """Parse DATE [TIME] as `berth occurrences` shows them, or the id of an occurrence, and --name."""
    place, is_id, of_id = "TIME", False, ""
    if start is None:
        other, _, of_reservation = date.rpartition("/")
        day, *rest = _T.split(of_reservation)
        is_id, place = bool(rest), of_date
        if rest and other not in ("", reservation):
            raise CommandError(f"{of_date}: {date} is an occurrence of {other}, not of {reservation}.")
        if rest:
            date, (start, _, of_id) = day, rest[0].partition("~")
        else:
            date, start = read_at(of_date, lambda: _date_and_time(date, clock.today))
    local_date, time_of_day, name = read_all(
        lambda: clock.date(of_date, date),
        lambda: None if start is None else selected_time(place, start),
        lambda: _entry_name(entry),
    )
    return OccurrenceSelector(local_date, time_of_day, is_id=is_id, name=name or of_id if is_id else name)


@reads("a date with a time", instants.written)
def _date_and_time(text: str, today: int) -> tuple[str, str | None]:
    """Split `2026-03-09 14:00`; the time may be left out."""
    date, space, time = text.partition(" ")
    return str(days.day(date, today)), clock_text(start_time(time)) if space else None


def date_selectors(
    clock: Clock, reservation: str, words: Sequence[str], entry: str | None
) -> list[DateSelector]:
    """Parse dates, ranges and ids of occurrences, each perhaps with a time after it, and --name."""
    listed, _ = read_all(
        lambda: read_at("DATE", lambda: _dates_and_times(" ".join(words), clock.today)),
        lambda: _entry_name(entry),
    )
    return [
        *read_all(*(partial(_selector, clock, reservation, date, start, entry) for date, start in listed))
    ]


@reads("a list of dates", lambda text, today: days.written(text, today))  # noqa: PLW0108 - of two arguments
def _dates_and_times(text: str, today: int) -> tuple[tuple[str, str | None], ...]:
    dates: list[tuple[str, str | None]] = []
    for word in days.parts(text):
        if ":" not in word or _T.search(word):
            if not _T.search(word):
                days.span(word, today)
            dates.append((word, None))
        elif dates and dates[-1][1] is None:
            dates[-1] = dates[-1][0], word
        else:
            raise Refusal(f"{word} has no date before it.", "Write DATE TIME.", "B017")
    return tuple(dates)


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
    """Return the text of a time, the value of an option or argument, as a file has it."""
    return clock_text(read_at(place, lambda: grammar(text)))


def given_counts(seats: str | None) -> Counts | None:
    """Parse the counts of --seats, if it is given."""
    return None if seats is None else read_at("--seats", lambda: parse_counts(seats))


def moved_to(clock: Clock, to: str | None, end: str | None) -> NewTimes:
    """Parse what --to and --end say."""
    both: tuple[NewTimes, NewTimes] = read_all(
        lambda: NewTimes() if to is None else read_at("--to", lambda: _when(to, clock.today)),
        lambda: NewTimes() if end is None else read_at("--end", lambda: _new_end(end, clock.today)),
    )
    new, ends = both
    if new.end and ends.end:
        raise CommandError("--to has an end already. Give it once.")
    return new._replace(end=new.end or ends.end, end_day=new.end_day or ends.end_day)


def _written_date(text: str, today: int) -> Iterable[str]:
    """Return a text with its date as year-month-day. A mere weekday stays: it is not the next from today."""
    first, _, rest = text.partition(" ")
    found = days.written(text, today)
    return found if days.weekday(first) is None else [one for one in found if not one.endswith(f" {rest}")]


@reads("the end of a date", lambda text, today: instants.with_times(text, _written_date(text, today)))
def _new_end(text: str, today: int) -> NewTimes:
    words = _T.sub(" ", text).split()
    if len(words) not in (1, 2):
        fix = 'Write a time, or a date and a time: "2026-02-03 01:00".'
        raise Refusal(f"{shown(text)} is not the end of a date.", fix, "B018")
    day = _new_day(words[0], today) if len(words) == 2 else None
    return NewTimes(end=clock_text(end_time(words[-1])), end_day=day)


def _written_when(text: str, today: int) -> Iterator[str]:
    """Yield WHEN with its dates as year-month-day, and its times as `10:00-14:00`."""
    for dated in (text, *_written_date(text, today)):
        date, _, rest = dated.partition(" ")
        yield from (dated, *times.written_spans(dated), *times.written(dated))
        yield from (f"{date} {time}" for time in (*times.written_spans(rest), *times.written(rest)))


@reads("a date or a time", _written_when)
def _when(text: str, today: int) -> NewTimes:
    match = _WHEN.fullmatch(text.strip())
    if match is None or not match[0]:
        raise Refusal(f"{shown(text)} is not a date or a time.", _WHEN_ADVICE, "B017")
    day, start, end_day, end = match["day"], match["start"], match["end_day"], match["end"]
    return NewTimes(
        day and _new_day(day, today),
        start and clock_text(start_time(start)),
        end and clock_text(end_time(end)),
        end_day and _new_day(end_day, today),
    )


def _new_day(text: str, today: int) -> str | int:
    """Return a date, or the number of a weekday, which is one near to the date that moves."""
    named = days.weekday(text)
    return str(days.day(text, today)) if named is None else named
