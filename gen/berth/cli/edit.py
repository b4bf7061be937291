"""The commands that edit a reservation, from `set` and `copy` to `end` and `delete`."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import click

from berth.cli.command import Settings, command
from berth.cli.dateselection import (
    date_selectors,
    entry_option,
    field_value,
    given_counts,
    moved_to,
    occurrence_selector,
)
from berth.cli.selection import Clock, name_argument, opened
from berth.cli.writing import finish_edit, finish_steps
from berth.dates.moments import local_day, named
from berth.dates.zone import date_text
from berth.diff.wording import date_texts
from berth.edit.create import flag_assignment
from berth.edit.dateselect import OccurrenceEdit, OccurrenceSelector
from berth.edit.edits import (
    Assignment,
    EditResult,
    apply_assignment,
    copy_reservation,
    delete_reservation,
    edit_occurrence,
    edit_reservation,
    parse_assignment,
)
from berth.edit.fieldpaths import FieldPath, full_path, text_of
from berth.edit.occurrences import add_occurrence, change_seats, move_occurrence
from berth.edit.rehearse import rehearse_dates
from berth.edit.roundtrip import MakeNode
from berth.edit.schedulechange import change_schedule
from berth.edit.seatcounts import ONLY_CLASS, set_seats
from berth.edit.seriesend import end_series
from berth.edit.skips import restore_date, skip_dates
from berth.notation.refusal import CommandError, read_all, read_at
from berth.notation.times import time_span
from berth.pipeline import Pipeline
from berth.schema.datechanges import DateException, ExtraEntry
from berth.schema.reservation import Reservation
from berth.schema.seatholders import Unit


def _seats_option(text: str) -> Callable[[Any], Any]:
    return click.option("--seats", metavar="COUNT", help=text)


def _edit_occurrence(
    settings: Settings,
    name: str,
    read: Callable[[Clock], OccurrenceEdit],
    places: dict[str, str] | None = None,
    note: Callable[[EditResult, Clock], Sequence[str]] = lambda *_: (),
) -> int:
    """Edit single dates of a reservation, as `read` reads them from the command line."""
    pipeline, clock = opened(settings)
    edited = edit_occurrence(pipeline, name, read(clock), clock.now)
    found = (places, "") if places else None
    return finish_edit(settings, pipeline, edited, found, note(edited, clock))


@command(
    name="set",
    examples=(
        "berth set my-course provisioning.placeholderCount=30",
        "berth set my-course metadata.labels.term=spring suspend=true",
        "berth set my-course seats=30 lead=45 class=large",
        "berth set my-course seats=45 --from monday",
        "berth set my-course times=10:00-12:00 --from 2026-03-09",
        "berth set my-course --on 2026-03-09 --seats 120",
    ),
)
@name_argument
@click.argument("assignments", metavar="[PATH=VALUE...]", nargs=-1)
@_seats_option("How many seats, or whole nodes: NUMBER, or by class or group: NAME=NUMBER,...")
@click.option("--from", "since", metavar="DATE", help="Change seats= and times= from this date on.")
@click.option(
    "--on", metavar="DATE", help='Change the seats of this date only; of several: "2026-03-09 14:00".'
)
@entry_option
def set_(  # noqa: PLR0913 - one for each option
    settings: Settings,
    *,
    name: str,
    assignments: tuple[str, ...],
    seats: str | None,
    since: str | None,
    on: str | None,
    entry: str | None,
) -> int:
    """Change fields of a reservation, or seats of one date.

    PATH is below spec, or begins with metadata or spec. In a mapping below spec, the name is enough where
    only one has it: startDate. VALUE is YAML; an empty one removes the field. Flags of berth new are names,
    too: class=, lead=, owner=. times= is the time of day.
    """
    words = [text for text in assignments if not text.startswith(("seats=", "times="))]
    counts = [text.removeprefix("seats=") for text in assignments if text.startswith("seats=")]
    times = [text.removeprefix("times=") for text in assignments if text.startswith("times=")]
    counts += [] if seats is None else [seats]
    if len(counts) > 1 or len(times) > 1:
        raise CommandError(f"{'seats' if len(counts) > 1 else 'times='}: two values for one place.")
    if on is None and entry is not None:
        raise CommandError("--name needs --on DATE.")
    if on is not None and (words or times or since or not counts):
        raise CommandError("--on takes --seats only: a single date has no other fields.")
    if not assignments and seats is None:
        raise CommandError("Give PATH=VALUE or --seats.")
    if (since or times) and (words or not (counts or times)):
        raise CommandError("--from takes seats= and times= only, and times= no other field.")
    number, span = (*counts, None)[0], (*times, None)[0]
    if on is not None:
        return _edit_occurrence(settings, name, lambda clock: _seats_on(clock, name, on, entry, number))
    if since or times:
        return _edit_occurrence(
            settings,
            name,
            lambda clock: _schedule(clock, number, span, since),
            note=lambda edited, clock: _other_seats(
                edited, number, clock.now, clock.date("--from", since) if since else ""
            ),
        )
    return _set_fields(settings, name, words, number)


def _seats_on(clock: Clock, name: str, on: str, entry: str | None, seats: str | None) -> OccurrenceEdit:
    counts, which = read_all(
        lambda: given_counts(seats), lambda: occurrence_selector(clock, name, on, None, entry, "--on")
    )
    return change_seats(which, counts)


def _schedule(clock: Clock, seats: str | None, times: str | None, since: str | None) -> OccurrenceEdit:
    counts, span, day = read_all(
        lambda: given_counts(seats),
        lambda: None if times is None else read_at("times=", lambda: time_span(times)),
        lambda: None if since is None else clock.date("--from", since),
    )
    return change_schedule(counts, span, day)


def _set_fields(settings: Settings, name: str, assignments: Sequence[str], seats: str | None) -> int:
    pipeline, clock = opened(settings)
    counts, *parsed = read_all(
        lambda: given_counts(seats), *(partial(_assignment, text, clock.today) for text in assignments)
    )

    def change(reservation: Reservation, tree: Any, make: MakeNode) -> None:
        _check_once([full_path(assignment.path) for assignment in parsed], has_seats=counts is not None)
        if counts is not None:
            set_seats(reservation, counts, tree, make)
        for assignment in parsed:
            apply_assignment(tree, assignment, make)

    edited = edit_reservation(pipeline, name, change, clock.now)
    return finish_edit(settings, pipeline, edited, notes=_other_seats(edited, seats, clock.now))


def _other_seats(edited: EditResult, seats: str | None, now: int, first: str = "") -> list[str]:
    """Say which dates to come, from the local date `first` on, keep other seats than the given ones."""
    counts, change = given_counts(seats) or {}, edited.change
    if not counts or change is None:
        return []
    dates = change.occurrences
    changed = {one.id for one in (*dates.added, *(after for _, after in dates.changed))}
    others = [
        one
        for one in edited.expansion.occurrences
        if one.id not in changed
        and one.end > now
        and date_text(local_day(one.start, named(one.zone))) >= first
        and any(count != counts.get(each, counts.get(ONLY_CLASS, count)) for each, count in one.seats)
    ]
    texts = [f"Keeps its own seats: {text}" for text in date_texts(others, change.units[1], {})]
    return [*texts, *([f"To change one: berth set {change.name} --on DATE --seats {seats}"] if texts else ())]


def _assignment(text: str, today: int) -> Assignment:
    name, _, value = text.partition("=")
    field = flag_assignment(name, value.strip(), today)
    return parse_assignment(text) if field is None else Assignment(*field)


def _check_once(paths: Sequence[FieldPath], *, has_seats: bool) -> None:
    """Raise CommandError if two values are for one place: one of them would be lost."""
    for i, path in enumerate(paths):
        if has_seats and path[:2] == ("spec", "provisioning") and (len(path) == 2 or path[2] in _COUNTS):
            raise CommandError(f"--seats and {text_of(path)} are one place. Give one of them")
        for other in paths[:i]:
            if path[: len(other)] == other or other[: len(path)] == path:
                both = text_of(path) if path == other else f"{text_of(other)} and {text_of(path)}"
                raise CommandError(f"{both}: two values for one place. Give one of them")


_COUNTS = ("seats", *(unit.field for unit in Unit))


@command(
    examples=(
        "berth skip my-course 2026-02-09 2026-02-16",
        "berth skip my-course 2026-02-15..2026-02-26 --title Excursion",
        "berth skip my-course 2026-02-09 14:00",
    )
)
@name_argument
@click.argument("dates", metavar="DATE [TIME]...", nargs=-1, required=True)
@entry_option
@click.option("--title", metavar="TEXT", help="Why, shown where the dates are skipped.")
def skip(
    settings: Settings, *, name: str, dates: tuple[str, ...], entry: str | None, title: str | None
) -> int:
    """Leave out dates of a reservation.

    DATE may be a range: 2026-02-15..2026-02-26. TIME is the start of the occurrence, where a date has
    several.
    """

    def read(clock: Clock) -> OccurrenceEdit:
        selectors, text = read_all(
            lambda: date_selectors(clock, name, dates, entry),
            lambda: "" if title is None else field_value("--title", DateException, "title", title),
        )
        return skip_dates(selectors, text)

    return _edit_occurrence(settings, name, read)


@command(
    examples=(
        "berth move my-course 2026-05-08 --to 2026-05-15",
        'berth move my-course 2026-05-08 --to "2026-05-15 10:00-14:00" --seats 80',
        'berth move my-course 2026-05-08 --to "2026-05-15 17:00 to 2026-05-17 12:00"',
        "berth move my-course 2026-05-08 --end 14:00",
    ),
)
@name_argument
@click.argument("date")
@click.argument("start", metavar="[TIME]", required=False)
@entry_option
@click.option(
    "--to", metavar="WHEN", help="Where it goes: DATE, TIME, DATE TIME-TIME or DATE TIME to DATE TIME."
)
@click.option("--end", metavar="WHEN", help="When it ends, sooner or later than before: TIME or DATE TIME.")
@_seats_option("How many seats it has then: NUMBER or CLASS=NUMBER,...")
def move(  # noqa: PLR0913 - one for each option
    settings: Settings,
    *,
    name: str,
    date: str,
    start: str | None,
    entry: str | None,
    to: str | None,
    end: str | None,
    seats: str | None,
) -> int:
    """Move one date of a reservation, or its end.

    Without a new end it keeps its length. A weekday in WHEN is the one nearest to the date. TIME is the start
    of the occurrence, where a date has several.
    """
    if to is None and end is None:
        raise click.UsageError("Give --to or --end.")

    def read(clock: Clock) -> OccurrenceEdit:
        which, target, counts = read_all(
            lambda: occurrence_selector(clock, name, date, start, entry),
            lambda: moved_to(clock, to, end),
            lambda: given_counts(seats),
        )
        return move_occurrence(which, target, counts)

    return _edit_occurrence(settings, name, read)


@command(
    examples=(
        "berth rehearse my-exam 2026-06-22",
        "berth rehearse my-exam 2026-06-22 --at 2026-06-15T07:00",
        "berth rehearse my-exam 2026-06-22 2026-06-29",
    ),
)
@name_argument
@click.argument("dates", metavar="DATE [TIME]...", nargs=-1, required=True)
@click.option("--at", metavar="INSTANT", help="When it begins; default: a week before DATE at 06:00.")
def rehearse(settings: Settings, *, name: str, dates: tuple[str, ...], at: str | None) -> int:
    """Try the opening of a date beforehand.

    It writes a reservation that holds the seats until all are ready, at most for the lead of the date. If
    a week before DATE is past, the default of --at is the day before. TIME is the start of the occurrence,
    where a date has several; groups that start together are rehearsed together. A rehearsal of the date that
    is not over yet is changed.
    """
    pipeline, clock = opened(settings)
    selectors, begin = read_all(
        lambda: date_selectors(clock, name, dates, None), lambda: clock.instant("--at", at)
    )
    single = [one for one in selectors if isinstance(one, OccurrenceSelector)]
    if len(single) < len(selectors):
        raise CommandError("DATE is a single date: each has a rehearsal of its own.")
    if at is not None and len(single) > 1:
        raise CommandError("--at takes one DATE.")
    return finish_steps(settings, rehearse_dates(pipeline, name, single, begin, clock.now))


@command(
    examples=(
        "berth add my-course 2026-05-20 14:00-16:00",
        "berth add my-exam 2026-06-22 09:00-11:40 --seats 8 --name extra-time",
        "berth add my-course 2026-02-09",
    )
)
@name_argument
@click.argument("date")
@click.argument("times", required=False)
@_seats_option("How many seats: NUMBER or CLASS=NUMBER,...; default: as usual.")
@click.option("--name", "entry", metavar="NAME", help="The name of its group, where several come together.")
def add(  # noqa: PLR0913 - one for each option
    settings: Settings, *, name: str, date: str, times: str | None, seats: str | None, entry: str | None
) -> int:
    """Add a date to a reservation, or a group to one of its dates.

    TIMES is a span such as 14:00-16:00. A group that starts with another one needs a name. Without TIMES,
    what the schedule has on the date takes place after all: it was skipped, moved, or falls on a holiday.
    """
    if times is None and (seats, entry) != (None, None):
        raise CommandError("--seats and --name need TIMES.")

    def read(clock: Clock) -> OccurrenceEdit:
        if times is None:
            return restore_date(clock.date("DATE", date))
        day, span, counts, label = read_all(
            lambda: clock.date("DATE", date),
            lambda: read_at("TIMES", lambda: time_span(times)),
            lambda: given_counts(seats),
            lambda: "" if entry is None else field_value("--name", ExtraEntry, "name", entry),
        )
        return add_occurrence(day, span, counts, label)

    return _edit_occurrence(settings, name, read, _ADDED)


_ADDED = {
    f"spec.recurrence.extra{key}": place
    for place, keys in {
        "DATE": ("",),
        "TIMES": (".startTime", ".endTime"),
        "--name": (".name",),
        "--seats": (".placeholderCount", ".nodeCount", ".seats"),
    }.items()
    for key in keys
}


@command(examples=("berth end my-course 2026-04-30",))
@name_argument
@click.argument("date")
def end(settings: Settings, name: str, date: str) -> int:
    """End a reservation early.

    DATE is the last day on which it may happen. Later dates go, and with them what was changed about them.
    """
    return _edit_occurrence(settings, name, lambda clock: end_series(clock.date("DATE", date)))


@command(examples=("berth copy my-course my-course-fall --from 2026-09-07 --until 2026-12-18",))
@name_argument
@click.argument("new")
@click.option("--from", "first", metavar="DATE", required=True, help="First date.")
@click.option("--until", "last", metavar="DATE", required=True, help="Last date.")
def copy(settings: Settings, name: str, new: str, first: str, last: str) -> int:
    """Copy a reservation to the dates of another term.

    The copy is NEW.yaml beside the file of NAME. Single dates (except, moved, extra) are left out,
    unless they are in the new term. A list of dates is moved by whole weeks, and its single dates
    with it; so are from and until of each line of the schedule.
    """
    pipeline, clock = opened(settings)
    begin, finish = read_all(lambda: clock.date("--from", first), lambda: clock.date("--until", last))
    copied = copy_reservation(pipeline, name, new, begin, finish, clock.now)
    files = {one.name: settings.shown(one.origin.file) for one in pipeline.declared.reservations}
    return finish_edit(settings, pipeline, copied, places=(_COPIED, files.get(name, name)))


_COPIED = {
    "metadata.name": "NEW",
    "spec.recurrence.startDate": "--from",
    "spec.recurrence.endDate": "--until",
    "spec.recurrence": "--until",
}


@command(examples=("berth delete my-course",))
@name_argument
def delete(settings: Settings, name: str) -> int:
    """Remove a reservation and its rehearsals.

    Their documents go, or the files if nothing else is in them.
    """
    pipeline = Pipeline()
    return finish_steps(settings, delete_reservation(pipeline, name))
