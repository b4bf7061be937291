"""The reservations, occurrences, classes, clusters and instants that a command line names.

An unknown name is a usage error. But in input with errors it may be declared in what cannot be read, so
there the errors are reported instead.
"""

import errno
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from berth.checks.project import Item, Part
from berth.cli.command import Settings, reason
from berth.cli.completion import complete_classes, complete_clusters, complete_reservations
from berth.dates.expansion import Occurrence
from berth.dates.moments import day_span, local_day, named
from berth.dates.zone import DAY, Zone, clock, day_of, local, resolve
from berth.findings import Problem
from berth.notation.days import DateSpan, day, span
from berth.notation.instants import instant, week_of
from berth.notation.refusal import CommandError, Refusal, read_at
from berth.pipeline import Pipeline
from berth.reading.source import Source, unreadable
from berth.schema.documentproblems import nearest, shown

if TYPE_CHECKING:
    from berth.edit.dateselect import OccurrenceSelector  # it loads ruamel.yaml, and every command comes here

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def class_option(text: str = "Only this resource class.") -> Decorator:
    return click.option(
        "--class", "resource_class", metavar="NAME", help=text, shell_complete=complete_classes
    )


cluster_option = click.option(
    "--cluster", metavar="NAME", help="Only this cluster.", shell_complete=complete_clusters
)


def since_option(text: str = "First date.") -> Decorator:
    return click.option("--from", "since", metavar="DATE", help=text)


week_option = click.option(
    "--week",
    metavar="[DATE]",
    is_flag=False,
    flag_value="today",
    help="Only what is open in the week of DATE; default: this week.",
)
until_option = click.option("--until", metavar="DATE", help="Last date.")
name_argument = click.argument("name", shell_complete=complete_reservations)
names_argument = click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=complete_reservations)


def require(
    pipeline: Pipeline,
    names: Iterable[str | None],
    resource_class: str | None = None,
    cluster: str | None = None,
) -> None:
    """Raise CommandError for a name of a reservation, class or cluster that is not declared."""
    declared, site = pipeline.declared, pipeline.site
    known = {
        "reservation": (names, [reservation.name for reservation in declared.reservations]),
        "class": ((resource_class,), sorted(declared.classes)),
        "cluster": ((cluster,), [one.name for one in site.clusters] if site else []),
    }
    for what, (given, there) in known.items():
        for name in given:
            if name is not None and name not in there and not pipeline.has_errors():
                hint = nearest(name, there) if there else f"There is no {what}."
                raise CommandError(f"No {what} is named {shown(name)}. {hint}")


def read_given(settings: Settings, file: str, limit: int) -> Source:
    """Return a file, or stdin for `-`. Raises OSError, also if it is larger than the limit."""
    if file == "-":
        source = Source("stdin", b"" if sys.stdin is None else sys.stdin.buffer.read(limit + 1))
    else:
        try:
            with Path(settings.given(file)).open("rb") as stream:
                source = Source(settings.given(file), stream.read(limit + 1))
        except ValueError as error:  # a name with a NUL
            raise OSError(errno.EINVAL, str(error)) from error
    if len(source.text) > limit:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return source


def read_option(settings: Settings, option: str, file: str, limit: int, fix: str = "") -> bytes:
    """Return the content of the file that an option names, or of stdin for `-`. Raises CommandError."""
    try:
        return read_given(settings, file, limit).text
    except OSError as error:
        raise CommandError(f"{option} {file}: {reason(error)}.{fix}") from error


def read_files(settings: Settings, files: Iterable[str], limit: int) -> tuple[list[Source], list[Problem]]:
    """Return files, or stdin for `-`, and what is wrong with those that cannot be read."""
    sources, problems = list[Source](), list[Problem]()
    for file in files:
        try:
            sources.append(read_given(settings, file, limit))
        except OSError as error:
            problems.append(unreadable("stdin" if file == "-" else settings.given(file), error))
    return sources, problems


class Clock(NamedTuple):
    """The current time, and the site's time zone: what the times of a command line are relative to."""

    now: int
    zone: Zone

    @property
    def today(self) -> int:
        return local_day(self.now, self.zone)

    @property
    def midnight(self) -> int:
        """The first instant of today."""
        return resolve(self.zone, self.today * DAY)

    def instant(self, option: str, text: str | None) -> int | None:
        """Return the seconds of an INSTANT, the value of an option."""
        return None if text is None else read_at(option, lambda: instant(text, self.zone, self.now))

    def dates(self, since: str | None, until: str | None) -> tuple[str | None, str | None]:
        """Return the dates of --from and --until."""
        first = None if since is None else self.date("--from", since)
        last = None if until is None else self.date("--until", until)
        if first and last and last < first:
            refusal = Refusal(f"{last} is before --from {first}.", "Write a later date.", "B024")
            raise CommandError.at("--until", refusal)
        return first, last

    def between(self, since: str | None, until: str | None) -> tuple[int | None, int | None]:
        """Return the first instant of --from, and the first one after --until."""
        first, last = self.dates(since, until)
        return (
            None if first is None else day_span(first, self.zone)[0],
            None if last is None else day_span(last, self.zone)[1],
        )

    def week(self, text: str) -> tuple[int, int]:
        """Return the first instant of the week of a DATE, and that of the next week."""
        at = self.instant("--week", text)
        assert at is not None
        return week_of(at, self.zone)

    def span(self, option: str, text: str) -> DateSpan:
        """Return the dates of a DATE or a range of them, the value of an option or argument."""
        return read_at(option, lambda: span(text, self.today))

    def date(self, option: str, text: str) -> str:
        """Return the date that a DATE means, the value of an option or argument."""
        return str(read_at(option, lambda: day(text, self.today)))


def items_of(
    settings: Settings, pipeline: Pipeline, *, all_loads: bool = False, now: int | None = None
) -> Iterator[Item]:
    """Return the items of a pipeline, and report how far they are. The options are those of the pipeline."""
    items = pipeline.items(all_loads=all_loads, now=now)
    return settings.progress(items, len(pipeline.declared.reservations))


def clock_of(settings: Settings, pipeline: Pipeline | None) -> Clock:
    """Return the clock, or `--now` instead."""
    site = pipeline.site if pipeline else None
    clock = Clock(int(time.time()), named(site.zone if site else "UTC"))
    now = clock.instant("--now", settings.now)
    return clock if now is None else clock._replace(now=now)


def opened(
    settings: Settings,
    names: Iterable[str | None] = (),
    resource_class: str | None = None,
    cluster: str | None = None,
) -> tuple[Pipeline, Clock]:
    """Read the project, in which these names must be declared, and the clock."""
    pipeline = Pipeline()
    require(pipeline, names, resource_class, cluster)
    return pipeline, clock_of(settings, pipeline)


class Selection(NamedTuple):
    """What the options of a command select; None and no names stand for all."""

    names: frozenset[str]  # of reservations
    at: int | None
    since: int | None
    until: int | None
    resource_class: str | None
    cluster: str | None

    def has_time(self, first: int, end: int) -> bool:
        """Whether [first, end) contains the instant and overlaps [since, until)."""
        return (
            (self.at is None or first <= self.at < end)
            and (self.since is None or end > self.since)
            and (self.until is None or first < self.until)
        )

    def classes(self, part: Part) -> frozenset[str]:
        """Return the selected classes of this part."""
        if self.cluster not in (None, part.placed.cluster.name):
            return frozenset()
        names = [placed.name for placed in part.placed.classes]
        return frozenset(name for name in names if self.resource_class in (None, name))


def selected(  # noqa: PLR0913 - one for each option
    clock: Clock,
    pipeline: Pipeline,
    *,
    names: Sequence[str] = (),
    at: str | None = None,
    since: str | None = None,
    until: str | None = None,
    week: str | None = None,
    resource_class: str | None = None,
    cluster: str | None = None,
) -> Selection:
    """Read the options that select."""
    if week is not None and (at, since, until) != (None, None, None):
        raise CommandError("Give --week, or --at, --from and --until.")
    first, end = clock.between(since, until)
    if week is not None:
        first, end = clock.week(week)
    require(pipeline, names, resource_class, cluster)
    return Selection(frozenset(names), clock.instant("--at", at), first, end, resource_class, cluster)


def published(settings: Settings, pipeline: Pipeline) -> int:
    """Return the instant of which feeds are: --now, or that of the commit; without git, the clock's."""
    from berth.git import commit_time  # noqa: PLC0415 - slow, and few commands need it

    stamp = None if settings.now is not None else commit_time(".")
    return clock_of(settings, pipeline).now if stamp is None else stamp


def occurrence(
    item: Item, which: "OccurrenceSelector | None", resource_class: str | None, now: int
) -> Occurrence:
    """Return the occurrence that is meant; by default the next to open from `now` on, or the first.

    Of groups that open together, it is the largest. With a class, only occurrences with seats of it count.
    """
    name = item.reservation.name
    known = [
        one
        for one in item.expansion.occurrences
        if resource_class in (None, *(seat for seat, _ in one.seats))
    ]
    if not known:
        of_class = f" with seats of class {resource_class}" if resource_class else ""
        raise CommandError(f"{name} has no occurrence{of_class}.")
    if which is None:
        coming = (one for one in known if one.open >= now)
        return min(
            coming, key=lambda one: (one.open, -sum(dict(one.seats).values()), one.id), default=known[0]
        )
    found = [one for one in item.expansion.occurrences if _is_meant(one, which)]
    matches = [one for one in found if one in known]
    if len(matches) == 1:
        return matches[0]
    if matches:
        ids = ", ".join(one.id for one in matches)
        raise CommandError(
            f"{name} has {len(matches)} occurrences on {which.day}: {ids}. Name one by its id."
        )
    if found:
        others = ", ".join(name for name, _ in found[0].seats)
        raise CommandError(f"{found[0].id} has no seats of class {resource_class}; it has {others}.")
    raise CommandError(
        f"{name} has no occurrence on {which.day}{which.words}{_alternative(item, which.day, known)}"
    )


def _is_meant(one: Occurrence, which: "OccurrenceSelector") -> bool:
    if which.is_id:
        own = one.id.partition("/")[2]
        return own == f"{which.day}T{which.start}" + (f"~{which.name}" if which.name else "")
    shown = local(named(one.zone), one.start)
    return which.day in (one.date, str(day_of(shown))) and which.start in (None, clock(shown))


def _alternative(item: Item, day: str, known: list[Occurrence]) -> str:
    """Say why there is no such occurrence, and which comes next."""
    reasons = (one.reason for one in item.expansion.skipped if one.date == day)
    because = next((f" (skipped: {reason})" for reason in reasons), "")
    after = [one for one in known if one.id.partition("/")[2] > day]
    near = f"The next is {after[0].id}" if after else f"The first is {known[0].id}"
    return f"{because}. {near}."
