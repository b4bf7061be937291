"""Turn the events of a feed into reservations, and update those that it made before.

Of a reservation, its events give the dates, and the seats if they say how many. All else belongs to the file.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any

from berth.backends.backendregistry import DEFAULT_HOLDER
from berth.dates.expansion import Skipped, is_exception
from berth.dates.recurrence import MOST, expand
from berth.dates.zone import DAY, Zone, day_of, local, number, resolve
from berth.diff.wording import left_out_lines, number_of
from berth.edit.create import reservation_yaml
from berth.edit.datelists import set_keys
from berth.edit.daterule import RuleDates, recurrence_of
from berth.edit.eventcounts import described_seats
from berth.edit.feed import BY_TITLE, BY_UID, REFUSED, Event, Feed, NotImportedError, keys_of
from berth.edit.feeddates import DatedEvent, DateReader, Series, series_of
from berth.edit.feedgroups import (
    ALONE,
    EventGroup,
    GroupDates,
    ImportRecord,
    dates_of,
    groups_of,
    matched,
    records_of,
)
from berth.edit.feedimport import ImportedFile, ImportOptions
from berth.edit.listupdate import update_list
from berth.edit.roundtrip import MakeNode, edit_document, lost_comments
from berth.edit.seatcounts import ONLY_CLASS, Counts, set_seats
from berth.findings import Origin, Problem, severity
from berth.pipeline import Pipeline
from berth.reading.document import parse
from berth.reading.source import Source
from berth.schema.documentproblems import Refusal
from berth.schema.grammar import LONGEST_TITLE
from berth.schema.metadata import IMPORTED, IMPORTED_FEED, IMPORTED_TITLE, IMPORTED_UID
from berth.schema.renkunames import slug
from berth.schema.reservation import Reservation
from berth.schema.reservationspec import DEFAULT_LEAD, ReservationSpec
from berth.schema.seatholders import Unit
from berth.schema.values import EVERY_DATE, Entry, Extra, Recurrence, Seats

_LONGEST_NAME = 40  # characters; names of objects are longer
_YEAR = 365
_LONGEST = 366 * DAY
_SCALING = ("name", "leadTimeMinutes", "scaleDownBehavior")
_OF_THE_FILE = {  # keys of entries that an import leaves
    "dates": _SCALING,
    "except": ("name", "title"),
    "schedule": (*_SCALING, "placeholderCount", "nodeCount", "seats"),
    "moved": ("name",),
    "extra": _SCALING,
}
NEW, UPDATED, UNCHANGED = "new", "updated", "unchanged"


def import_reservations(
    feed: Feed, project: Pipeline, options: ImportOptions, zone: Zone
) -> list[ImportedFile]:
    """Return the files of new and changed reservations; the feed has what became of each event."""
    return _ReservationImport(feed, project, options, zone).files()


class _ReservationImport:
    """One import of events to reservations: what it has made so far."""

    def __init__(self, feed: Feed, project: Pipeline, options: ImportOptions, zone: Zone) -> None:
        self.feed, self.project, self.options, self.zone = feed, project, options, zone
        self.reader = DateReader(feed, options, zone)
        every = list(records_of(project))
        self.records = [record for record in every if record.feed == options.feed]
        self.others = [record for record in every if record.feed != options.feed]
        self.texts = {source.file: source.text.decode("utf-8", "replace") for source in project.sources}
        self.written: dict[str, ImportedFile] = {}
        self.present: set[tuple[str, str]] = set()  # UIDs and titles of events that are skipped or over
        self.together: dict[tuple[str, int], int] = {}  # seats by title and start

    def files(self) -> list[ImportedFile]:
        every = series_of(self.feed, joins_uids=self.options.group in (BY_UID, BY_TITLE))
        dated = [event for series in every if (event := self._dated(series)) is not None]
        groups = groups_of(dated, self.options.group, self.records)
        uids = frozenset(event.uid for event in self.feed.events if event.uid)
        matches = matched(groups, self.records, uids)
        names = self._new_names([group for group in groups if group not in matches])
        for group in groups:
            try:
                self._take(group, matches.get(group), names.get(group, ""))
            except NotImportedError as error:
                self.feed.refuse(group.events, error)
        used = {record.origin for record in matches.values()}
        left = [record for record in self.records if record.origin not in used]
        self.feed.findings += self.project.located(list(self._unmatched(left)), severity)
        return [*self.written.values()]

    def _dated(self, series: Series) -> DatedEvent | None:
        """Return an event with its dates; None if it is left out."""
        event = series.first
        if event.is_canceled or (event.says_canceled and event.is_free):
            self.feed.tell([event], "canceled", "canceled in the calendar")
            return None
        if reason := self.options.events.refusal(event):
            self.present |= keys_of(event.uid, event.title)
            self.feed.tell([event], "skipped", reason)
            return None
        try:
            if event.says_canceled:
                message = "its title says that it is canceled, and its time is not free."
                raise NotImportedError("SUMMARY", message, "Delete it, or correct its title.")
            if not event.uid and not (event.title and self.options.group in ("", BY_TITLE)):
                fix = f"Give --group {BY_TITLE}: then events are recognized by their title."
                raise NotImportedError("", "the event has no UID by which it is found again.", fix)
            self._counts(event, event.description)
            return self.reader.read(series)
        except NotImportedError as error:
            self.feed.refuse([event], error)
            return None

    def _take(self, group: EventGroup, record: ImportRecord | None, name: str) -> None:
        """Add or change the file of a group, unless it is over, as it was, or another feed's."""
        if record is None and not self.options.is_feed_given:
            self._refuse_other_feed(group)
        if record is not None and not group.uid and (BY_TITLE, group.title) in self.feed.refused:
            self.feed.tell(group.events, REFUSED, "another event of this title is not imported")
            return
        if record is not None and record.reservation is None:
            self.feed.tell(group.events, REFUSED, f"{record.origin.file} has errors")
            return
        found = dates_of(group, self.zone, self._limits(group, record), self._counts)
        if found is None:
            self.present |= {key for event in group.events for key in keys_of(event.uid, event.title)}
            spans = [span for member in group.members for span in member.spans]
            self.feed.tell(group.events, *self.options.left_out(spans))
            return
        if len(found.dates.happening) > MOST:
            raise NotImportedError("RRULE", f"it has more than {MOST:,} dates.", "Give --from and --until.")
        longest = max(span.end - span.start for span in found.dates.happening)
        if longest > _LONGEST:
            raise NotImportedError("DTEND", f"the event lasts {longest // DAY:,} days.")
        if found.parallel and not self.options.group:
            message = (
                f"several events of this title are at the same time on {found.parallel} dates: "
                "they are one course, with the largest of their counts."
            )
            fix = f"Give --group {ALONE} if each needs its own seats, or --group {BY_TITLE} if not."
            self.feed.warn(group.first, "", message, fix)
        if record is None or record.reservation is None:
            self._add(group, found, name)
        else:
            self._update(group, found, record, record.reservation)

    def _refuse_other_feed(self, group: EventGroup) -> None:
        """Raise NotImportedError if another feed has an event with its UID, or with its title.

        A title is enough unless both have UIDs by which they are recognized.
        """
        for other in self.others:
            has_uid = other.uid in group.uids
            if has_uid or (other.title == group.title and not (other.uid and group.uid)):
                what, name = ("UID", "UID") if has_uid else ("title", "SUMMARY")
                message = f"{other.origin.file} was imported with its {what} from another calendar or table."
                fix = f'Give --feed "{other.feed}" if it is the same calendar; else --feed with another name.'
                raise NotImportedError(name, message, fix)

    def _limits(self, group: EventGroup, record: ImportRecord | None) -> tuple[int, int]:
        """Return the first and the last day to import.

        By default, these are today and two years. Past dates of a reservation stay, and so does the last date
        of one without end, for a year.
        """
        today = number(self.options.today)
        first, last = number(self.options.first or self.options.today), number(self.options.last_day)
        if record is not None and record.windows:
            known_first, known_last = (local(self.zone, record.windows[at][0]) // DAY for at in (0, -1))
            if self.options.first is None:
                first = min(first, known_first)
            if self.options.last is None and group.is_cut and known_last >= today + _YEAR:
                last = known_last
        return first, last

    def _counts(self, event: Event, description: str) -> Counts:
        """Return the counts in a description. Raise NotImportedError for one that cannot be read."""
        try:
            return described_seats(description, self.project.declared.classes, is_berths=self.feed.is_berths)
        except Refusal as refusal:
            message = (
                f"{event.name}: {refusal.message}" if description != event.description else refusal.message
            )
            raise NotImportedError("DESCRIPTION", message, refusal.fix) from None

    def _seats(self, counts: Counts) -> Seats:
        """Return counts by class: `--class` is that of `seats`."""
        return tuple((name or self.options.resource_class, count) for name, count in counts.items())

    def _warn_if_seats_add_up(self, group: EventGroup, dates: RuleDates, seats: Seats) -> None:
        """Report another reservation with its title and times: probably one course in two rooms."""
        if self.options.group or not group.title:
            return
        keys = [(group.title, resolve(dates.zone, span.start)) for span in dates.happening]
        shared = [key for key in keys if key in self.together]
        for key in keys:
            self.together[key] = self.together.get(key, 0) + sum(count for _, count in seats)
        if shared:
            total = self.together[shared[0]]
            message = f"another event has its title and times on {len(shared)} dates: {total} seats together."
            fix = f"If it is one course in several rooms, give --group {BY_TITLE}; if not, --group {BY_UID}."
            self.feed.warn(group.first, "", message, fix)

    def _annotations(self, group: EventGroup) -> dict[str, str]:
        pairs = {IMPORTED_FEED: self.options.feed, IMPORTED_UID: group.uid, IMPORTED_TITLE: group.title}
        return {key: value for key, value in pairs.items() if value}

    def _add(self, group: EventGroup, found: GroupDates, name: str) -> None:
        if not found.usual and self.options.seats is None:
            fix = 'Write "seats: 25" on a line, or give --seats.'
            raise NotImportedError("DESCRIPTION", "its description has no count of seats.", fix)
        seats = self._seats(found.usual or {ONLY_CLASS: self.options.seats or 0})
        own = {span: self._seats(counts) for span, counts in found.own.items()}
        recurrence = recurrence_of(found.dates._replace(seats=own), seats)
        title = group.title[:LONGEST_TITLE] or name
        reservation = self._reservation(name, title, recurrence, seats)
        text = reservation_yaml(reservation._replace(annotations=(*self._annotations(group).items(),)))
        file = f"reservations/{name}.yaml"
        lost = self._lost(group, reservation, recurrence)
        self.written[file] = ImportedFile(file, text, None, group.first.name)
        self._warn_if_seats_add_up(group, found.dates, seats)
        number_of_seats = sum(count for _, count in seats)
        source = "" if found.usual else " of --seats"
        count = f"{self._number(group, found.dates, lost)}, {number_of(number_of_seats, 'seat')}{source}"
        self.feed.tell(group.events, NEW, _with_lost([count], lost), file)

    def _lost(self, group: EventGroup, reservation: Reservation, recurrence: Recurrence) -> list[Skipped]:
        """Return the dates that are on days off of the calendars that a reservation follows.

        Raise NotImportedError if two dates have one start: they would have one id.
        """
        followed = recurrence._replace(calendars=reservation.recurrence.calendars)
        every = expand(reservation._replace(recurrence=followed), self.project.declared.calendars)
        for name, total in Counter(one.id for one in every.occurrences).items():
            if total > 1:
                raise _same_start(group, name, total)
        return [one for one in every.skipped if not is_exception(one.reason)]

    def _number(self, group: EventGroup, dates: RuleDates, lost: Sequence[Skipped]) -> str:
        text = number_of(len(dates.happening) - len(lost), "date")
        if group.is_cut and self.options.last is None:
            last = day_of(dates.happening[-1].start)
            return f"{text} until {last}; for later ones, give --until"
        return text

    def _reservation(self, name: str, title: str, recurrence: Recurrence, seats: Seats) -> Reservation:
        """Return a reservation as the file declares it: the time zone is that of the site by default."""
        declared = [self.project.declared.classes.get(resource_class) for resource_class, _ in seats]
        counts_sessions = all(one is None or one.sessions is not None for one in declared)
        site = self.project.site
        zone = "" if recurrence.zone == (site.zone if site else "UTC") else recurrence.zone
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
            behavior="maintain" if counts_sessions else "none",
            holder=DEFAULT_HOLDER,
        )

    def _update(
        self, group: EventGroup, found: GroupDates, record: ImportRecord, before: Reservation
    ) -> None:
        """Change dates and seats in the file of a reservation; all else stays.

        A person may have made it one of whole nodes, or of a number, or a standing one.
        """
        counts = self._known_counts(group, found.usual, before)
        seats = tuple((name, counts.get(name, count)) for name, count in before.seats)
        own = {}
        for span, other in found.own.items():
            known = self._known_counts(group, other, before)
            own[span] = tuple((name, known.get(name, count)) for name, count in seats)
        own = {span: other for span, other in own.items() if other != seats}
        recurrence = recurrence_of(found.dates._replace(seats=own), seats)
        is_standing = before.holder.persistence is not None
        keys = [] if is_standing else _changed_keys(before, recurrence, seats)
        changes = [*(["dates"] if keys else []), *(["seats"] if seats != before.seats else [])]
        lost = [] if is_standing else self._lost(group, before, recurrence)
        self._warn_if_seats_add_up(group, found.dates, seats)
        file, index = record.origin[:2]
        if not changes and (record.uid, record.title) == (group.uid, group.title):
            count = self._number(group, found.dates, lost)
            self.feed.tell(group.events, UNCHANGED, _with_lost([count], lost), file)
            return
        text = reservation_yaml(self._reservation(before.name, before.title, recurrence, seats))
        document: Any = parse(Source("", text.encode()))[0][0].value
        wanted = document["spec"]["recurrence"]

        def edit(tree: Any, make: MakeNode) -> None:
            annotations = {**dict.fromkeys(IMPORTED), **self._annotations(group)}
            set_keys(tree["metadata"]["annotations"], annotations, make)
            written = tree["spec"].get("recurrence")
            for key in keys:
                if isinstance(wanted.get(key), list):
                    update_list(written, key, wanted[key], make, _OF_THE_FILE[key])
                elif key in wanted:
                    written[key] = make(wanted[key])
                else:
                    written.pop(key, None)
            if {"startDate", "endDate"} & {*keys}:
                written.pop("within", None)
            if seats != before.seats:
                set_seats(before, counts, tree, make)

        earlier = self.written.get(file)
        old = earlier.text if earlier else self.texts[file]
        edited = edit_document(old, index, edit)
        source = next(one for one in self.project.sources if one.file == file)
        self.written[file] = ImportedFile(file, edited, source.text, group.first.name)
        lost = lost if "dates" in changes else []
        reason = _with_lost(changes or ["annotations"], lost)
        self.feed.tell(group.events, UPDATED, "; ".join([reason, *lost_comments(old, edited)]), file)

    def _known_counts(self, group: EventGroup, counts: Counts, before: Reservation) -> Counts:
        """Return counts of events by the classes of a reservation; none where it has another form."""
        classes = [name for name, _ in before.seats]
        if ONLY_CLASS in counts and len(classes) == 1:
            counts = {classes[0]: counts[ONLY_CLASS]}
        if not counts or (before.holder.unit.field == Unit.SEAT.field and counts.keys() == {*classes}):
            return counts
        message = f"the seats of {before.name} have another form; they stay as they are."
        fix = f"Change them in {before.origin.file}, or name the same classes in the calendar."
        self.feed.warn(group.first, "DESCRIPTION", message, fix)
        return {}

    def _new_names(self, groups: Iterable[EventGroup]) -> dict[EventGroup, str]:
        """Name each new reservation by its title, with a hash of what is its own where this is taken."""
        slugs = {group: slug(group.title or "event")[:_LONGEST_NAME].strip("-") for group in groups}
        numbers = Counter(slugs.values())
        taken = {reservation.name for reservation in self.project.declared.reservations} | {
            file.removeprefix("reservations/").partition(".")[0] for file in self.texts
        }
        names = {}
        for group, name in slugs.items():
            key = group.uid or group.title
            if self.options.group == ALONE:
                key = f"{key}\n{group.first.span.start.wall}"
            is_free = numbers[name] == 1 and name not in taken
            names[group] = name if is_free else f"{name}-{sha256(key.encode()).hexdigest()[:6]}"
        return names

    def _unmatched(self, left: Sequence[ImportRecord]) -> Iterator[Problem]:
        """Report the reservations of this feed without an event, if they have dates to come, and copies."""
        numbers = Counter(record.key for record in self.records)
        known = self.present | self.feed.refused
        for record in left:
            path = ("metadata", "annotations", IMPORTED_UID if record.uid else IMPORTED_TITLE)
            is_over = not record.windows or record.windows[-1][1] <= self.options.now
            if numbers[record.key] > 1:
                message = "another reservation was imported from the same event."
                fix = "Remove the annotations berth.dev/imported-* of the copy."
                yield record.origin.problem("B209", path, message, fix)
            elif record.reservation is not None and not is_over and record.key not in known:
                name = record.reservation.name
                message = f'the event of {name} is gone from "{self.options.feed}", or canceled.'
                fix = f"Run berth delete {name}, or remove its annotations berth.dev/imported-* to keep it."
                yield record.origin.problem("B208", path, message, fix)


def _same_start(group: EventGroup, occurrence: str, total: int) -> NotImportedError:
    """Return why dates with one id are not imported: of several events, they are extra time or a mistake."""
    day, _, start = occurrence.partition("/")[2].partition("T")
    message = f"{total} of its dates start on {day} at {start}"
    if len(group.events) == 1:
        return NotImportedError("DTEND", f"{message}.")
    give = (
        "Give" if len(group.uids) == len(group.events) else "Write a UID for each in the calendar, and give"
    )
    fix = f"{give} --group {ALONE} if each needs its own seats; if not, correct the ends in the calendar."
    return NotImportedError("DTEND", f"{message}, and end at different times.", fix)


def _with_lost(parts: Sequence[str], lost: Sequence[Skipped]) -> str:
    return "; ".join([", ".join(parts), *(line.text for line in left_out_lines(lost))])


def _changed_keys(before: Reservation, after: Recurrence, seats: Seats) -> list[str]:
    """Return the keys of a recurrence that differ, apart from seats and what people add to lines."""
    old, new = _keys(before.recurrence, before.seats), _keys(after, seats)
    return [key for key, value in new.items() if old[key] != value]


def _keys(one: Recurrence, usual: Seats) -> dict[str, object]:
    """Return what each key of a recurrence says; of single dates also seats that are not the usual ones."""
    shared = [entry for entry in one.schedule if entry.dates.listed is None]
    own = {entry.dates.listed: entry._replace(dates=EVERY_DATE) for entry in one.schedule}

    def plain(item: Entry | Extra) -> Entry | Extra:
        return item._replace(seats=() if item.seats == usual else item.seats, scaling=(), name="")

    return {
        "type": one.type,
        "startDate": one.first,
        "endDate": one.last,
        "dates": sorted((*span, str(at in own and plain(own[at]))) for at, span in enumerate(one.dates)),
        "timeZone": one.zone,
        "interval": one.interval,
        "except": sorted((item.first, item.last, item.start or 0) for item in one.excepts),
        "schedule": [entry._replace(seats=(), scaling=(), name="") for entry in shared],
        "moved": sorted((item.day, str(item._replace(name=None))) for item in one.moves),
        "extra": sorted(map(plain, one.extras)),
    }
