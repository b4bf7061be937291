"""Turn the events of a feed into reservations, and update those that it made before.

Of a reservation, its event gives the title, the dates, and the seats if it has a count. All else belongs to
the file and stays.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from hashlib import sha256
from typing import Any, NamedTuple

from berth.dates.recurrence import expand
from berth.dates.zone import resolve
from berth.edit.calendarfeed import NOT_IMPORTED, Event, Feed
from berth.edit.create import reservation_yaml
from berth.edit.datelists import set_keys
from berth.edit.datepattern import recurrence_of
from berth.edit.eventdates import EventDates, Limits, NotImportedError, Series, Span, dates_of, series_of
from berth.edit.eventimport import ImportedFile, ImportOptions, ImportResult, annotations_of, default_zone
from berth.edit.roundtrip import MakeNode, edit_document, insert_key, to_block
from berth.findings import Problem, severity
from berth.pipeline import Pipeline
from berth.reading.document import parse
from berth.reading.source import Source
from berth.schema.holders import Replicas, Unit
from berth.schema.metadata import IMPORTED_FROM, IMPORTED_UID
from berth.schema.renkunames import slug
from berth.schema.report import Origin
from berth.schema.reservation import DEFAULT_LEAD, LONGEST_TITLE
from berth.schema.types import MOST_SEATS
from berth.schema.values import EVERY_SESSION, Move, Recurrence, Reservation, Seats

GONE, TWICE = "B208", "B209"
_LONGEST_NAME = 40  # characters; names of objects are longer
_TAG = re.compile("<[^<>]*>")  # some clients write HTML
_UNTITLED = "event"
_PARTS = (
    "type",
    "startDate",
    "endDate",
    "dates",
    "timeZone",
    "interval",
    "except",
    "schedule",
    "moved",
    "extra",
)


class _Known(NamedTuple):
    """A reservation that was imported before."""

    uid: str
    feed: str
    origin: Origin
    reservation: Reservation | None  # None if it has errors


def import_reservations(feed: Feed, project: Pipeline, options: ImportOptions) -> ImportResult:
    """Return the files of new and changed reservations. Raise EditError for an unknown time zone."""
    known = list(_imported(project))
    twice = list(_twice(known))
    if twice:
        return ImportResult((), 0, 0, tuple(project.located(twice, severity)))
    return _Import(feed, project, options, {one.uid: one for one in known}).result()


class _Import:
    """One import of events to reservations: what it has made so far."""

    def __init__(
        self, feed: Feed, project: Pipeline, options: ImportOptions, known: Mapping[str, _Known]
    ) -> None:
        self.feed, self.project, self.options, self.known = feed, project, options, known
        self.limits = Limits(
            default_zone(options.zone, feed, project), options.first, options.last, options.zone is not None
        )
        self.texts = {one.file: one.text.decode("utf-8", "replace") for one in project.sources}
        self.findings = list(feed.findings)
        self.files: dict[str, ImportedFile] = {}
        self.unchanged = self.over = 0
        self.seen: set[str] = set()
        self.names: Mapping[str, str] = {}

    def result(self) -> ImportResult:
        every = series_of(self.feed)
        self.names = self._new_names(every)
        for series in every:
            try:
                self._take(series)
            except NotImportedError as refused:
                self.seen.add(series.first.uid)
                self.findings.append(refused.finding)
        self.findings += self.project.located(list(self._gone()), severity)
        return ImportResult(
            tuple(self.files.values()), self.unchanged, self.over, tuple(sorted(self.findings))
        )

    def _take(self, series: Series) -> None:
        """Add the file of an event, unless it is canceled, over, or as it was."""
        event = series.first
        if series.is_canceled:
            return
        if not event.uid:
            fix = "Export it from a program that gives one: by it, the next import finds the reservation."
            raise NotImportedError(self.feed.finding(event, NOT_IMPORTED, "", "the event has no UID.", fix))
        self.seen.add(event.uid)
        known = self.known.get(event.uid)
        if known is not None and known.reservation is None:
            return
        dates, doubts = dates_of(series, self.feed, self.limits)
        happening = dates.happening
        is_over = not happening or resolve(dates.zone, happening[-1].end) <= self.options.now
        if (known is None and is_over and self.options.first is None) or not happening:
            self.over += 1
            return
        self.findings += doubts
        if known is None or known.reservation is None:
            self._add(series, dates)
        else:
            self._update(series, dates, known, known.reservation)

    def _add(self, series: Series, dates: EventDates) -> None:
        count = self._count(series.first.description)
        count = self.options.seats if count is None else count
        if count is None:
            fix = 'Write "seats: 25" in its description, or give --seats.'
            finding = self.feed.finding(
                series.first, NOT_IMPORTED, "DESCRIPTION", "the event has no count.", fix
            )
            raise NotImportedError(finding)
        seats: Seats = ((self.options.resource_class, count),)
        name = self.names[series.first.uid]
        file = f"reservations/{name}.yaml"
        recurrence = self._recurrence(dates, seats)
        reservation = self._reservation(name, _title(series.first, name), recurrence, seats)._replace(
            annotations=((IMPORTED_FROM, self.feed.name), (IMPORTED_UID, series.first.uid))
        )
        text = reservation_yaml(reservation)
        self.files[file] = ImportedFile(file, text, None, (), len(dates.happening))

    def _reservation(self, name: str, title: str, recurrence: Recurrence, seats: Seats) -> Reservation:
        """Return a reservation as the file declares it: the time zone is that of the site by default."""
        found = self.project.declared.classes.get(self.options.resource_class)
        counts = found is None or found.sessions is not None
        site = self.project.site
        zone = "" if site and site.zone == recurrence.zone else recurrence.zone
        return Reservation(
            origin=Origin("", 0),
            name=name,
            title=title,
            labels=(),
            annotations=(),
            recurrence=recurrence._replace(zone=zone),
            seats=seats,
            seats_listed=False,
            lead=DEFAULT_LEAD,
            behavior="maintain" if counts else "none",
            sessions=EVERY_SESSION,
            holder=Replicas(),
            suspend=False,
            renku=False,
        )

    def _recurrence(self, dates: EventDates, seats: Seats, *, counts: bool = True) -> Recurrence:
        """Return the recurrence of an event that has dates, with the seats of changed ones if it `counts`."""
        own: dict[Span, Seats] = {}
        for one, changed in dates.changed.items():
            count = self._count(changed.description)
            if counts and count is not None and count != seats[0][1]:
                own[one] = ((seats[0][0], count),)
        found = recurrence_of(dates, seats, own)
        assert found is not None
        return found

    def _update(self, series: Series, dates: EventDates, known: _Known, before: Reservation) -> None:
        """Change what the event says in the file of its reservation; all else stays.

        A person may have made it one of several classes, of whole nodes, or a standing one.
        """
        counts = before.holder.unit is Unit.SEAT and not before.seats_listed
        count = self._count(series.first.description) if counts else None
        seats = before.seats if count is None else ((before.seats[0][0], count),)
        recurrence = self._recurrence(dates, seats, counts=counts)
        title = _title(series.first, before.name)
        is_standing = before.holder.persistence is not None
        parts = [] if is_standing else _changed_parts(before.recurrence, recurrence)
        changes = [
            *(["title"] if title != before.title else []),
            *(["dates"] if parts else []),
            *(["seats"] if seats != before.seats else []),
        ]
        if not changes and known.feed == self.feed.name:
            self.unchanged += 1
            return
        wanted = _plain(reservation_yaml(self._reservation(before.name, title, recurrence, seats)))
        edit = _Update(wanted, title, self.feed.name, changes, parts)
        file, index = known.origin[:2]
        source = next(one for one in self.project.sources if one.file == file)
        earlier = self.files.get(file)
        text = edit_document(earlier.text if earlier else source.text.decode(), index, edit)
        changes = [*(earlier.changes if earlier else ()), *(changes or ["the name of the calendar"])]
        number = len(dates.happening)
        self.files[file] = ImportedFile(file, text, source.text, tuple(dict.fromkeys(changes)), number)

    def _count(self, description: str) -> int | None:
        """Return the count in a description: a line such as `seats: 25`, or with the name of the class."""
        name, text = re.escape(self.options.resource_class), _TAG.sub(" ", description)
        found = re.search(rf"(?<![\w-])(?:seats|{name})\s*[:=]\s*(\d{{1,7}})\b", text, re.IGNORECASE)
        return int(found[1]) if found and 0 < int(found[1]) <= MOST_SEATS else None

    def _new_names(self, every: Sequence[Series]) -> dict[str, str]:
        """Name each new reservation by the title of its event, with a part of its UID where this is taken."""
        events = [one.first for one in every if one.first.uid not in self.known]
        slugs = [slug(one.title or _UNTITLED)[:_LONGEST_NAME].strip("-") for one in events]
        taken = {one.name for one in self.project.declared.reservations} | {
            file.removeprefix("reservations/").partition(".")[0] for file in self.texts
        }
        return {
            event.uid: name
            if slugs.count(name) == 1 and name not in taken
            else f"{name}-{sha256(event.uid.encode()).hexdigest()[:6]}"
            for event, name in zip(events, slugs, strict=True)
        }

    def _gone(self) -> Iterator[Problem]:
        """Report the reservations whose event is gone and that have dates to come."""
        for uid, one in self.known.items():
            if one.feed != self.feed.name or uid in self.seen or one.reservation is None:
                continue
            occurrences = expand(one.reservation, self.project.declared.calendars).occurrences
            if occurrences and max(found.end for found in occurrences) > self.options.now:
                yield Problem(
                    GONE,
                    *one.origin[:2],
                    ("metadata", "annotations", IMPORTED_UID),
                    f'the event of {one.reservation.name} is gone from "{self.feed.name}", or canceled.',
                    f"Run berth delete {one.reservation.name}, or remove both annotations to keep it.",
                )


def _title(event: Event, name: str) -> str:
    return event.title[:LONGEST_TITLE] or name


def _imported(project: Pipeline) -> Iterator[_Known]:
    """Yield the reservations that were imported from events."""
    made = {one.origin[:2]: one for one in project.declared.reservations}
    for origin, annotations in annotations_of(project, "CapacityReservation"):
        if IMPORTED_UID in annotations:
            uid, feed = annotations[IMPORTED_UID], annotations.get(IMPORTED_FROM, "")
            yield _Known(str(uid), str(feed), origin, made.get(origin[:2]))


def _twice(known: Sequence[_Known]) -> Iterator[Problem]:
    first: dict[str, _Known] = {}
    for one in known:
        other = first.setdefault(one.uid, one)
        if other is not one:
            message = f"{other.origin.file} was imported from the same event."
            path = ("metadata", "annotations", IMPORTED_UID)
            yield Problem(TWICE, *one.origin[:2], path, message, "Remove both annotations of the copy.")


def _plain(text: str) -> Any:
    return parse(Source("", text.encode()))[0][0].value


def _changed_parts(before: Recurrence, after: Recurrence) -> list[str]:
    """Return the keys of a recurrence that differ, apart from seats and what people add to lines."""
    pairs = zip(_PARTS, _parts(before), _parts(after), strict=True)
    return [key for key, old, new in pairs if old != new]


def _parts(one: Recurrence) -> tuple[object, ...]:
    """Return what each of `_PARTS` says about dates; of moved dates also their seats."""
    schedule = [entry._replace(seats=(), scaling=(), name="") for entry in one.schedule]
    excepts = sorted(
        (item.first, item.last, -1 if item.start is None else item.start) for item in one.excepts
    )
    moves = sorted(one.moves, key=_order)
    extras = [item._replace(seats=(), scaling=(), name="") for item in one.extras]
    listed = [entry for entry in schedule if entry.dates.listed is not None]
    return (
        one.type,
        one.first,
        one.last,
        (one.dates, listed),
        one.zone,
        one.interval,
        excepts,
        [entry for entry in schedule if entry not in listed],
        [item._replace(name=None) for item in moves],
        sorted(extras),
    )


def _order(one: Move) -> tuple[date, int]:
    return one.day, -1 if one.start is None else one.start


class _Update(NamedTuple):
    """An edit of a reservation's file. `wanted` is the document of a new import; `keys` those of dates."""

    wanted: Any
    title: str
    feed: str
    changes: Sequence[str]
    keys: Sequence[str]

    def __call__(self, tree: Any, make: MakeNode) -> None:
        spec = tree["spec"]
        set_keys(tree["metadata"]["annotations"], {IMPORTED_FROM: self.feed}, make)
        if "title" in self.changes:
            _set_title(spec, make(self.title))
        if self.keys:
            _set_dates(spec["recurrence"], self.wanted["spec"]["recurrence"], self.keys, make)
        if "seats" in self.changes:
            count = self.wanted["spec"]["provisioning"]["placeholderCount"]
            set_keys(spec["provisioning"], {"placeholderCount": count}, make)


def _set_title(spec: Any, title: Any) -> None:
    """Replace the title, or add one above everything else."""
    if "title" in spec:
        spec["title"] = title
    else:
        insert_key(spec, "title", title, next(iter(spec)))


def _set_dates(recurrence: Any, wanted: Any, keys: Sequence[str], make: MakeNode) -> None:
    for key in keys:
        if key in wanted:
            recurrence[key] = make(wanted[key])
            to_block(recurrence[key])
        else:
            recurrence.pop(key, None)
    if {"startDate", "endDate"} & {*keys}:
        recurrence.pop("within", None)
