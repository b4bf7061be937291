"""Turn the events of a feed into reservations, and update those that it made before.

Of a reservation, its events give the title, the dates, and the seats if they say how many. All else belongs
to the file and stays.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from hashlib import sha256
from typing import Any, NamedTuple

from berth.backends.backendregistry import DEFAULT_HOLDER
from berth.dates.recurrence import expand
from berth.dates.zone import day_of, resolve
from berth.edit.calendarfeed import NOT_IMPORTED, PARTLY_IMPORTED, Event, Feed
from berth.edit.create import reservation_yaml
from berth.edit.datelists import set_keys
from berth.edit.datepattern import recurrence_of
from berth.edit.eventcounts import DescribedSeats, described_seats
from berth.edit.eventdates import Limits, NotImportedError, Series, Span, dates_of
from berth.edit.eventgroups import (
    ALONE,
    BY_TITLE,
    BY_UID,
    DatedEvent,
    EventGroup,
    ImportRecord,
    grouped,
    matched,
    series_of,
)
from berth.edit.eventimport import (
    NO_TITLE,
    EventOutcome,
    EventPlace,
    FeedIdentity,
    ImportedFile,
    ImportOptions,
    ImportResult,
    annotations_of,
    default_zone,
    idle_patterns,
    not_read,
)
from berth.edit.roundtrip import MakeNode, edit_document, insert_key, to_block
from berth.edit.seatcounts import ONLY_CLASS, Counts
from berth.findings import Origin, Problem, severity
from berth.pipeline import Pipeline
from berth.reading.document import parse
from berth.reading.source import Source
from berth.schema.documentproblems import Refusal, shown
from berth.schema.metadata import IMPORTED, IMPORTED_FEED, IMPORTED_TITLE, IMPORTED_UID
from berth.schema.renkunames import slug
from berth.schema.reservation import Reservation
from berth.schema.reservationspec import DEFAULT_LEAD, LONGEST_TITLE, ReservationSpec
from berth.schema.seatholders import Unit
from berth.schema.values import Move, Recurrence, Seats

GONE, TWICE, ADD_UP = "B208", "B209", "B207"
_LONGEST_NAME = 40  # characters; names of objects are longer
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
_IS_OVER = "over, or outside of --from and --until"
NEW, UPDATED, UNCHANGED, REFUSED, OVER = "new", "updated", "unchanged", "not imported", "over"
CANCELED, SKIPPED = "canceled", "skipped"


def import_reservations(feed: Feed, project: Pipeline, options: ImportOptions) -> ImportResult:
    """Return the files of new and changed reservations. Raise CommandError for an unknown time zone."""
    return _Import(feed, project, options).result()


class _Import:
    """One import of events to reservations: what it has made so far."""

    def __init__(self, feed: Feed, project: Pipeline, options: ImportOptions) -> None:
        self.feed, self.project, self.options = feed, project, options
        self.identity = FeedIdentity.of(feed, options)
        self.records = list(_records(project, self.identity))
        self.limits = Limits(
            default_zone(options.zone, feed, project), options.first, options.last, options.zone is not None
        )
        self.texts = {source.file: source.text.decode("utf-8", "replace") for source in project.sources}
        self.findings = [*feed.findings, *idle_patterns(feed, options)]
        self.outcomes: list[EventOutcome] = []
        self.files: dict[str, ImportedFile] = {}
        self.left_out: list[Event] = []  # still in the feed, and not imported
        self.refused_titles: set[str] = set()
        self.together: dict[tuple[str, int], int] = {}  # seats by title and start

    def result(self) -> ImportResult:
        series, older = series_of(self.feed)
        self.findings += older
        self.outcomes += not_read(self.feed, older)
        events = [dated for one in series if (dated := self._dated(one)) is not None]
        groups = grouped(events, self.options.group, self.records, self._in_one_zone)
        uids = frozenset(event.uid for event in self.feed.events)
        records = matched(groups, self.records, uids, self.options.now)
        names = self._new_names({at: group for at, group in enumerate(groups) if at not in records})
        for at, group in enumerate(groups):
            record = self.records[records[at]] if at in records else None
            try:
                self._take(group, record, names.get(at, ""))
            except NotImportedError as refused:
                self._refuse([event.event for event in group.events], refused)
        left = [record for number, record in enumerate(self.records) if number not in records.values()]
        used = [(groups[at], self.records[number]) for at, number in records.items()]
        self.findings += self.project.located(list(self._unmatched(left, used)), severity)
        findings, outcomes = tuple(sorted({*self.findings})), tuple(sorted(self.outcomes))
        return ImportResult(tuple(self.files.values()), outcomes, findings)

    def _dated(self, series: Series) -> DatedEvent | None:
        """Return an event with its dates and seats; None if it is left out."""
        event = series.first
        if series.is_canceled:
            self._tell_canceled(event)
            return None
        if reason := self.options.events.refusal(event):
            self.left_out.append(event)
            self._tell([event], SKIPPED, "", reason)
            return None
        try:
            self._require_key(event)
            if event.says_canceled and not self._ours(event):
                message = "its title says that it is canceled; it is not imported."
                fix = "If it takes place, correct its title."
                self.findings.append(self.feed.finding(event, NOT_IMPORTED, "SUMMARY", message, fix))
                self._tell_canceled(event)
                return None
            if event.says_canceled:
                message = "its title says that it is canceled, and it is not: it is imported."
                fix = "Delete it in the calendar, or correct its title."
                self.findings.append(self.feed.finding(event, PARTLY_IMPORTED, "SUMMARY", message, fix))
            dates, doubts = dates_of(series, self.feed, self.limits)
            seats = self._seats_of(event)
        except NotImportedError as refused:
            self._refuse([event], refused)
            return None
        if not dates.happening:
            self.left_out.append(event)
            self._tell([event], OVER, "", _IS_OVER)
            return None
        self.findings += doubts
        return self._with_changed_seats(DatedEvent(series, dates, seats, {}))

    def _ours(self, event: Event) -> list[ImportRecord]:
        return [record for record in self.records if record.is_ours and event.uid and record.uid == event.uid]

    def _tell_canceled(self, event: Event) -> None:
        """Tell of an event that is canceled, with its reservation, also where its UID is a new one."""
        records = self._ours(event) or [record for record in self.records if record.is_ours]
        title = event.canceled_title[:LONGEST_TITLE]
        reservations = [record.reservation for record in records if record.reservation]
        names = [
            reservation.name
            for reservation in reservations
            if self._ours(event) or reservation.title == title
        ]
        self._tell([event], CANCELED, next(iter(names), ""), "canceled in the calendar")

    def _with_changed_seats(self, one: DatedEvent) -> DatedEvent | None:
        """Return the event with the seats of its changed dates; None if one has a count that is not clear."""
        by_text: dict[str, DescribedSeats] = {"": DescribedSeats({})}
        try:
            for instance in one.series.instances:
                by_text[instance.description] = self._seats_of(instance)
        except NotImportedError as refused:
            self._refuse([one.event], refused)
            return None
        found = {span: by_text[changed.description] for span, changed in one.dates.changed.items()}
        return one._replace(changed_seats={span: seats for span, seats in found.items() if seats.counts})

    def _in_one_zone(self, one: DatedEvent) -> DatedEvent:
        """Return the event with its dates as wall times of the default zone."""
        dates, doubts = dates_of(one.series, self.feed, self.limits, in_zone=True)
        self.findings += doubts
        return self._with_changed_seats(one._replace(dates=dates)) or one

    def _require_key(self, event: Event) -> None:
        """Refuse an event by which the next import could not find its reservation."""
        by_title = self.options.group in ("", BY_TITLE) and event.title
        if not event.uid and not by_title:
            fix = "Export it from a program that gives one: by it, the next import finds the reservation."
            if event.title:
                fix = f"Give --group {BY_TITLE}: then events are recognized by their title."
            raise NotImportedError(self.feed.finding(event, NOT_IMPORTED, "", "the event has no UID.", fix))

    def _seats_of(self, event: Event) -> DescribedSeats:
        """Return the seats in a description. Raise NotImportedError for a count that cannot be read."""
        try:
            seats = described_seats(event.description, self.project.declared.classes)
        except Refusal as refusal:
            finding = self.feed.finding(event, NOT_IMPORTED, "DESCRIPTION", refusal.message, refusal.fix)
            raise NotImportedError(finding) from refusal
        for line in seats.ignored:
            message = f"the line {shown(line)} is like a count, but names no class; it is left out."
            fix = f"Classes are {', '.join(self.project.declared.classes)}; or write it in another way."
            self.findings.append(self.feed.finding(event, PARTLY_IMPORTED, "DESCRIPTION", message, fix))
        return seats

    def _refuse(self, events: Sequence[Event], refused: NotImportedError) -> None:
        self.left_out += events
        self.refused_titles.add(events[0].title)
        self.findings.append(refused.finding)
        self._tell(events, REFUSED, "", refused.finding.message.rstrip("."))

    def _tell(self, events: Sequence[Event], result: str, into: str, reason: str) -> None:
        title = events[0].title or NO_TITLE
        title = title if len(events) == 1 else f"{title} ({len(events)} events)"
        self.outcomes.append(EventOutcome(events[0].lines[""], title, result, into, reason))

    def _take(self, group: EventGroup, record: ImportRecord | None, name: str) -> None:
        """Add the file of a group, unless it is over, as it was, or another feed's."""
        events, happening = [event.event for event in group.events], group.dates.happening
        if record is not None and record.reservation is None:
            self._tell(events, REFUSED, "", f"{record.origin.file} has errors")
            return
        is_over = resolve(group.dates.zone, happening[-1].end) <= self.options.now
        if record is None and is_over and self.options.first is None:
            self._tell(events, OVER, "", _IS_OVER)
            return
        if record is None:
            self._refuse_of_another_feed(group)
        elif group.has_title_key and group.title in self.refused_titles:
            self._tell(events, REFUSED, "", "another event of this title is not imported")
            return
        if record is None or record.reservation is None:
            self._add(group, name)
        else:
            self._update(group, record, record.reservation)

    def _refuse_of_another_feed(self, group: EventGroup) -> None:
        """Refuse a UID that another feed has, unless `--feed` says that this is a feed of its own."""
        other = next(
            (record for record in self.records if not record.is_ours and record.uid in group.uids), None
        )
        if other is None or self.identity.is_given:
            return
        where = other.origin.file
        message = f"{where} was imported from an event with the same UID of another calendar."
        fix = f'Give --feed "{other.feed}" if it is the same calendar, and --feed with another name if not.'
        raise NotImportedError(self.feed.finding(group.first, NOT_IMPORTED, "UID", message, fix))

    def _warn_of_parallel_events(self, group: EventGroup) -> None:
        if group.parallel and not self.options.group:
            message = (
                f"several events of this title are at the same time on {group.parallel} dates; "
                "they are one course, with the largest of their counts."
            )
            fix = f"Give --group {ALONE} if each needs its own seats, or --group {BY_TITLE} if not."
            self.findings.append(self.feed.finding(group.first, PARTLY_IMPORTED, "", message, fix))

    def _warn_if_seats_add_up(self, group: EventGroup, seats: Seats) -> None:
        """Report another reservation with its title and times: probably one course in two rooms."""
        number = sum(count for _, count in seats)
        if self.options.group or not group.title:
            return
        times = sorted(group.starts())
        shared = [start for start in times if (group.title, start) in self.together]
        for start in times:
            self.together[group.title, start] = self.together.get((group.title, start), 0) + number
        if shared:
            total = max(self.together[group.title, start] for start in times)
            message = f"another event has its title and times on {len(shared)} dates: {total} seats together."
            fix = f"If it is one course in several rooms, give --group {BY_TITLE}; if not, --group {BY_UID}."
            self.findings.append(self.feed.finding(group.first, ADD_UP, "", message, fix))

    def _add(self, group: EventGroup, name: str) -> None:
        seats = self._new_seats(group)
        self._warn_of_parallel_events(group)
        own = {span: self._seats(counts) for span, counts in group.own_seats.items()}
        recurrence = _recurrence(group, seats, own)
        file = f"reservations/{name}.yaml"
        reservation = self._reservation(name, _title(group, name), recurrence, seats)
        reservation = reservation._replace(annotations=tuple(self._annotations(group).items()))
        self.files[file] = ImportedFile(
            file, reservation_yaml(reservation), None, (), len(group.dates.happening), self._place(group)
        )
        self._warn_if_seats_add_up(group, seats)
        self._tell([event.event for event in group.events], NEW, name, self._dates_text(group))

    def _dates_text(self, group: EventGroup) -> str:
        number = len(group.dates.happening)
        text = f"{number} date{'' if number == 1 else 's'}"
        return text if len(group.events) == 1 else f"{text} of {len(group.events)} events"

    def _new_seats(self, group: EventGroup) -> Seats:
        """Return the seats of a new reservation. Raise NotImportedError if nothing says how many."""
        if group.seats:
            return self._seats(group.seats)
        if self.options.seats is None:
            fix = 'Write "seats: 25" in its description, or give --seats.'
            finding = self.feed.finding(
                group.first, NOT_IMPORTED, "DESCRIPTION", "the event has no count.", fix
            )
            raise NotImportedError(finding)
        return ((self.options.resource_class, self.options.seats),)

    def _seats(self, counts: Counts) -> Seats:
        """Return counts by class: `--class` is that of events that name none."""
        return tuple((name or self.options.resource_class, count) for name, count in counts.items())

    def _place(self, group: EventGroup) -> EventPlace:
        return EventPlace.of(self.feed, group.first, day_of(group.dates.happening[0].start))

    def _annotations(self, group: EventGroup) -> dict[str, str]:
        key = {IMPORTED_TITLE: group.title} if group.has_title_key else {IMPORTED_UID: group.first.uid}
        return {**self.identity.annotations, **key}

    def _reservation(self, name: str, title: str, recurrence: Recurrence, seats: Seats) -> Reservation:
        """Return a reservation as the file declares it: the time zone is that of the site by default."""
        declared = [self.project.declared.classes.get(resource_class) for resource_class, _ in seats]
        counts = all(one is None or one.sessions is not None for one in declared)
        site = self.project.site
        zone = "" if site and site.zone == recurrence.zone else recurrence.zone
        return Reservation(
            origin=Origin("", 0),
            name=name,
            spec=ReservationSpec.model_validate({"title": title, "provisioning": {}}),
            labels=(),
            annotations=(),
            recurrence=recurrence._replace(zone=zone),
            seats=seats,
            seats_listed=len(seats) > 1,
            lead=DEFAULT_LEAD,
            behavior="maintain" if counts else "none",
            holder=DEFAULT_HOLDER,
        )

    def _update(self, group: EventGroup, record: ImportRecord, before: Reservation) -> None:
        """Change what the events say in the file of their reservation; all else stays.

        A person may have made it one of whole nodes, or of a number, or a standing one.
        """
        seats = self._updated_seats(group, group.seats, before, before.seats)
        own = {
            span: self._updated_seats(group, counts, before, seats)
            for span, counts in group.own_seats.items()
        }
        recurrence = _recurrence(group, seats, own)
        title = _title(group, before.name)
        is_standing = before.holder.persistence is not None
        parts = [] if is_standing else _changed_parts(before, recurrence, seats)
        changes = [
            *(["title"] if title != before.title else []),
            *(["dates"] if parts else []),
            *(["seats"] if seats != before.seats else []),
        ]
        annotations = self._annotations(group)
        self._warn_if_seats_add_up(group, seats)
        events = [event.event for event in group.events]
        if not changes and not self._has_new_identity(record, group):
            self._tell(events, UNCHANGED, before.name, self._dates_text(group))
            return
        wanted = _plain(reservation_yaml(self._reservation(before.name, title, recurrence, seats)))
        edit = _Update(wanted, title, annotations, changes, parts, before.seats_listed)
        file, index = record.origin[:2]
        source = next(one for one in self.project.sources if one.file == file)
        earlier = self.files.get(file)
        text = edit_document(earlier.text if earlier else source.text.decode(), index, edit)
        self._warn_of_parallel_events(group)
        changes = changes or ["annotations"]
        self._tell(events, UPDATED, before.name, ", ".join(changes))
        all_changes = tuple(dict.fromkeys([*(earlier.changes if earlier else ()), *changes]))
        number = len(group.dates.happening)
        self.files[file] = ImportedFile(file, text, source.text, all_changes, number, self._place(group))

    def _has_new_identity(self, record: ImportRecord, group: EventGroup) -> bool:
        """Tell whether the file must learn from which feed it is, or that its key is a title.

        Programs that give new UIDs at each export change nothing by them.
        """
        return not record.has_identity or record.title != (group.title if group.has_title_key else "")

    def _updated_seats(self, group: EventGroup, counts: Counts, before: Reservation, usual: Seats) -> Seats:
        """Return what counts of an event mean in a reservation that exists, with its classes."""
        if not counts:
            return usual
        named = {name: count for name, count in counts.items() if name != ONLY_CLASS}
        if before.holder.unit.field == Unit.SEAT.field:
            if not named and len(usual) == 1 and not before.seats_listed:
                return ((usual[0][0], counts[ONLY_CLASS]),)
            if ONLY_CLASS not in counts and named.keys() == dict(usual).keys():
                return tuple((name, named[name]) for name, _ in usual)
            if ONLY_CLASS not in counts and not _has_line_seats(before):
                return tuple(named.items())
        message = f"the seats of {before.name} have another form; they stay as they are."
        fix = f"Change {before.holder.unit.field} in {before.origin.file}: the calendar counts seats."
        if before.holder.unit.field == Unit.SEAT.field:
            fix = f"Change them in {before.origin.file}, or name the same classes in the calendar."
        self.findings.append(self.feed.finding(group.first, PARTLY_IMPORTED, "DESCRIPTION", message, fix))
        return usual

    def _new_names(self, groups: Mapping[int, EventGroup]) -> dict[int, str]:
        """Name each new reservation by its title, with a hash of what is its own where this is taken."""
        slugs = {
            at: slug(group.title or _UNTITLED)[:_LONGEST_NAME].strip("-") for at, group in groups.items()
        }
        numbers = Counter(slugs.values())
        taken = {reservation.name for reservation in self.project.declared.reservations} | {
            file.removeprefix("reservations/").partition(".")[0] for file in self.texts
        }
        uids = Counter(event.uid for event in self.feed.events if event.instance is None)
        found = {}
        for at, group in groups.items():
            name, key = slugs[at], group.title if group.has_title_key else group.first.uid
            if not group.has_title_key and uids[key] > 1:
                key = f"{key}\n{group.dates.happening[0].start}"
            is_free = numbers[name] == 1 and name not in taken
            found[at] = name if is_free else f"{name}-{sha256(key.encode()).hexdigest()[:6]}"
        return found

    def _unmatched(
        self, left: Sequence[ImportRecord], used: Sequence[tuple[EventGroup, ImportRecord]]
    ) -> Iterator[Problem]:
        """Report the reservations of this feed without an event, if they have dates to come, and copies."""
        uids = {event.uid for event in self.left_out if event.uid}
        titles = {event.title for event in self.left_out}
        for record in left:
            if record.uid in uids or (record.title and record.title in titles):
                continue
            copied = next((pair for pair in used if _is_copy(record, *pair)), None)
            if not record.is_ours or record.reservation is None:
                continue
            name = record.reservation.name
            path = ("metadata", "annotations", IMPORTED_TITLE if record.title else IMPORTED_UID)
            if copied is not None and not copied[0].has_title_key:
                message = f"{copied[1].origin.file} was imported from the same event."
                yield record.origin.problem(
                    TWICE, path, message, "Remove the annotations berth.dev/imported-* of the copy."
                )
                continue
            occurrences = expand(record.reservation, self.project.declared.calendars).occurrences
            if not occurrences or max(occurrence.end for occurrence in occurrences) <= self.options.now:
                continue
            fix = f"Run berth delete {name}, or remove its annotations berth.dev/imported-* to keep it."
            message = f'the event of {name} is gone from "{self.feed.name}", or canceled.'
            if copied is not None and copied[1].reservation is not None:
                message = f"its event is a part of {copied[1].reservation.name} now."
            yield record.origin.problem(GONE, path, message, fix)


def _title(group: EventGroup, name: str) -> str:
    return group.title[:LONGEST_TITLE] or name


def _recurrence(group: EventGroup, seats: Seats, own: Mapping[Span, Seats]) -> Recurrence:
    """Return the recurrence of a group, which has dates, with the seats of dates that have other ones."""
    other = {span: own_seats for span, own_seats in own.items() if own_seats != seats}
    recurrence = recurrence_of(group.dates, seats, other)
    assert recurrence is not None
    return recurrence


def _has_line_seats(reservation: Reservation) -> bool:
    """Tell whether lines of its recurrence have their own seats."""
    return any(seats != reservation.seats for seats in reservation.recurrence.all_seats())


def _is_copy(record: ImportRecord, group: EventGroup, used: ImportRecord) -> bool:
    """Tell whether it has a UID and a date of a group whose reservation is another one."""
    return (
        bool(record.uid) and record.uid in (group.uids | {used.uid}) and bool(record.starts & group.starts())
    )


def _records(project: Pipeline, identity: FeedIdentity) -> Iterator[ImportRecord]:
    """Yield the reservations that were imported from events."""
    made = {one.origin[:2]: one for one in project.declared.reservations}
    for origin, annotations in annotations_of(project, "CapacityReservation"):
        if IMPORTED_FEED not in annotations or not annotations.keys() & {IMPORTED_UID, IMPORTED_TITLE}:
            continue
        reservation = made.get(origin[:2])
        occurrences = (
            () if reservation is None else expand(reservation, project.declared.calendars).occurrences
        )
        yield ImportRecord(
            origin=origin,
            uid=str(annotations.get(IMPORTED_UID, "")),
            title=str(annotations.get(IMPORTED_TITLE, "")),
            feed=str(annotations[IMPORTED_FEED]),
            is_ours=identity.has_made(annotations),
            has_identity=identity.is_recorded(annotations),
            reservation=reservation,
            starts=frozenset(occurrence.start for occurrence in occurrences),
        )


def _plain(text: str) -> Any:
    return parse(Source("", text.encode()))[0][0].value


def _changed_parts(before: Reservation, after: Recurrence, seats: Seats) -> list[str]:
    """Return the keys of a recurrence that differ, apart from seats and what people add to lines."""
    pairs = zip(_PARTS, _parts(before.recurrence, before.seats), _parts(after, seats), strict=True)
    return [key for key, old, new in pairs if old != new]


def _parts(one: Recurrence, usual: Seats) -> tuple[object, ...]:
    """Return what each of `_PARTS` says; of moved and extra dates also seats that are not the usual ones."""
    schedule = [entry._replace(seats=(), scaling=(), name="") for entry in one.schedule]
    excepts = sorted(
        (item.first, item.last, -1 if item.start is None else item.start) for item in one.excepts
    )
    moves = sorted(one.moves, key=_order)
    extras = [
        item._replace(seats=() if item.seats == usual else item.seats, scaling=(), name="")
        for item in one.extras
    ]
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
    annotations: Mapping[str, str]
    changes: Sequence[str]
    keys: Sequence[str]
    is_listed: bool

    def __call__(self, tree: Any, make: MakeNode) -> None:
        spec = tree["spec"]
        set_keys(tree["metadata"]["annotations"], {**dict.fromkeys(IMPORTED), **self.annotations}, make)
        if "title" in self.changes:
            _set_title(spec, make(self.title))
        if self.keys:
            _set_dates(spec["recurrence"], self.wanted["spec"]["recurrence"], self.keys, make)
        if "seats" in self.changes:
            self._set_seats(spec, make)

    def _set_seats(self, spec: Any, make: MakeNode) -> None:
        wanted = self.wanted["spec"]["provisioning"]
        rows = wanted.get("seats")
        counts = {row["resourceClass"]: row["placeholderCount"] for row in rows or ()}
        if self.is_listed:
            old = spec["provisioning"]["seats"]
            counts = counts or {self.wanted["spec"]["resourceClass"]: wanted["placeholderCount"]}
            if [row["resourceClass"] for row in old] == [*counts]:
                for row in old:
                    set_keys(row, {"placeholderCount": counts[row["resourceClass"]]}, make)
                return
            rows = [{"resourceClass": name, "placeholderCount": count} for name, count in counts.items()]
        if rows:
            spec.pop("resourceClass", None)
            spec["provisioning"].pop("placeholderCount", None)
            spec["provisioning"]["seats"] = make(rows)
        else:
            set_keys(spec, {"resourceClass": self.wanted["spec"]["resourceClass"]}, make)
            set_keys(spec["provisioning"], {"placeholderCount": wanted["placeholderCount"]}, make)


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
