"""Decide which events of a feed are one reservation, when it is, and which one of an earlier import it is."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from berth.dates.recurrence import expand
from berth.dates.zone import DAY, Zone, local, resolve
from berth.edit.daterule import RuleDates
from berth.edit.edits import annotations_of
from berth.edit.feed import BY_TITLE, BY_UID, Event
from berth.edit.feedclocks import UTC, place_of
from berth.edit.feeddates import DatedEvent, Span
from berth.edit.seatcounts import Counts
from berth.findings import Origin
from berth.pipeline import Pipeline
from berth.schema.metadata import IMPORTED_FEED, IMPORTED_TITLE, IMPORTED_UID
from berth.schema.reservation import Reservation

ALONE = "none"
GROUPINGS = (BY_TITLE, BY_UID, ALONE)


class ImportRecord(NamedTuple):
    """A reservation that was imported before; None if it has errors. `uid`: empty if it has a title alone."""

    origin: Origin
    feed: str
    uid: str
    title: str
    reservation: Reservation | None
    windows: tuple[tuple[int, int], ...]  # instants, also those that calendars leave out

    @property
    def key(self) -> tuple[str, str]:
        return (BY_UID, self.uid) if self.uid else (BY_TITLE, self.title)


class EventGroup:
    """The events of one reservation. `is_titled`: they are recognized by their title, not by a UID."""

    def __init__(self, members: Sequence[DatedEvent], *, is_titled: bool) -> None:
        self.members = members
        self.events = [member.event for member in members]
        self.first = self.events[0]
        self.title = self.first.title
        self.uid = "" if is_titled else self.first.uid
        self.uids = sorted({event.uid for event in self.events if event.uid})
        self.is_cut = any(member.is_cut for member in members)

    def zone(self, default: Zone) -> Zone:
        """Return the zone of its dates: that of its events, or the default for several and for single dates
        in UTC, which are local times that a program converted.
        """
        clock, repeats = self.members[0].clock, any(event.rules for event in self.events)
        walls = [(member.clock, wall) for member in self.members for span in member.spans for wall in span]
        if len({member.clock for member in self.members}) == 1:
            if clock.zone is not None and (repeats or clock is not UTC):
                return clock.zone
            if clock.zone is None and repeats and walls:
                return place_of(clock, [wall for _, wall in walls], default) or default
        instants = [clock.instant(wall) for clock, wall in walls]
        # Of two hours with the same name at a change of clocks, a wall time is the first one.
        is_exact = all(resolve(default, local(default, instant)) == instant for instant in instants)
        return default if is_exact or UTC.zone is None else UTC.zone


class GroupDates(NamedTuple):
    """When a group is. `own`: counts of dates that have other ones; `parallel`: dates of several events."""

    dates: RuleDates
    usual: Counts
    own: dict[Span, Counts]
    parallel: int


def records_of(project: Pipeline) -> Iterator[ImportRecord]:
    """Yield the reservations that were imported from events."""
    declared = {one.origin[:2]: one for one in project.declared.reservations}
    for origin, annotations in annotations_of(project, "CapacityReservation"):
        feed, uid, title = (
            str(annotations.get(key, "")) for key in (IMPORTED_FEED, IMPORTED_UID, IMPORTED_TITLE)
        )
        if feed and (uid or title):
            reservation = declared.get(origin[:2])
            windows: list[tuple[int, int]] = []
            if reservation is not None:
                recurrence = reservation.recurrence._replace(calendars=())
                dates = expand(reservation._replace(recurrence=recurrence), {}).occurrences
                windows = sorted((occurrence.start, occurrence.end) for occurrence in dates)
            yield ImportRecord(origin, feed, uid, title, reservation, tuple(windows))


def groups_of(
    dated: Sequence[DatedEvent], grouping: str, records: Sequence[ImportRecord]
) -> list[EventGroup]:
    """Return which events are one reservation: single dates with one title, and others by their UID."""
    singles = Counter(member.event.title for member in dated if member.is_single)
    titles = {record.title for record in records if not record.uid}
    members: dict[tuple[str, str], list[DatedEvent]] = {}
    for at, member in enumerate(dated):
        event = member.event
        is_one_of_many = member.is_single and (singles[event.title] > 1 or event.title in titles)
        if event.title and (grouping == BY_TITLE or (not grouping and (is_one_of_many or not event.uid))):
            key = BY_TITLE, event.title
        else:
            key = (ALONE, str(at)) if grouping == ALONE else (BY_UID, event.uid)
        members.setdefault(key, []).append(member)
    return [EventGroup(own, is_titled=key == BY_TITLE) for (key, _), own in members.items()]


def matched(
    groups: Sequence[EventGroup], records: Sequence[ImportRecord], uids: frozenset[str]
) -> dict[EventGroup, ImportRecord]:
    """Return the record of each group that has one: by its UID, or by its title. `uids`: all of the feed.

    Some programs give new UIDs at each export. So a title is enough where no event has the old UID.
    """
    by_uid = {record.uid: record for record in records if record.uid}
    by_title: dict[str, list[ImportRecord]] = {}
    for record in records:
        if record.uid not in uids:
            by_title.setdefault(record.title, []).append(record)
    titles = Counter(group.title for group in groups)
    found: dict[EventGroup, ImportRecord] = {}
    used: set[Origin] = set()
    for group in groups:
        of_title = by_title.get(group.title, [])
        candidates = [by_uid[uid] for uid in group.uids if uid in by_uid]
        if not group.uid:
            candidates = [record for record in of_title if not record.uid] + candidates
        if len(of_title) == titles[group.title] == 1:
            candidates += of_title
        for record in candidates:
            if record.origin not in used and group not in found:
                found[group] = record
                used.add(record.origin)
    return found


def dates_of(
    group: EventGroup, default: Zone, limits: tuple[int, int], counts_of: Callable[[Event, str], Counts]
) -> GroupDates | None:
    """Return the dates of a group within the limits, which are days; None if there are none.

    `counts_of`: the counts in a description of an event.
    """
    zone = group.zone(default)
    by_span: dict[Span, list[Counts]] = {}
    regular: list[Span] = []
    left_out, moved = set[Span](), dict[Span, Span]()
    for member in group.members:
        counts = counts_of(member.event, member.event.description)
        for date in member.dates:
            both = (one and _converted(member, one, zone) for one in (date.original, date.span))
            original, span = (
                one if one and limits[0] <= one.start // DAY <= limits[1] else None for one in both
            )
            if original is not None:
                regular.append(original)
                if span is None:
                    left_out.add(original)
                elif span != original:
                    moved[original] = span
            if span is not None:
                by_span.setdefault(span, []).append(counts_of(member.event, date.description) or counts)
    if not by_span:
        return None
    merged = {span: _largest(several) for span, several in by_span.items()}
    dates = RuleDates(zone, tuple(sorted(regular)), frozenset(left_out), moved, (), {})
    dates = dates._replace(extra=tuple(sorted(by_span.keys() - {*dates.happening})))
    if len(group.members) > 1:
        dates = RuleDates(zone, tuple(sorted(by_span)), frozenset(), {}, (), {})
        numbers = Counter([tuple(counts.items()) for counts in merged.values() if counts])
        counts = dict(max((total, pairs) for pairs, total in numbers.items())[1]) if numbers else {}
    own = {span: one for span, one in merged.items() if one and one != counts}
    return GroupDates(dates, counts, own, sum(len(several) > 1 for several in by_span.values()))


def _converted(member: DatedEvent, span: Span, zone: Zone) -> Span:
    if member.clock.zone is zone:
        return span
    start, end = (local(zone, member.clock.instant(wall)) for wall in span)
    return Span(start, end if end > start else start + span.end - span.start)


def _largest(several: Sequence[Counts]) -> Counts:
    """Return the largest count of each class: events at the same time are one course in several rooms."""
    found: dict[str, int] = {}
    for counts in several:
        for name, count in counts.items():
            found[name] = max(found.get(name, 0), count)
    return found
