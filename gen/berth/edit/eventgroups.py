"""Decide which events of a feed are one reservation, and which reservation of an earlier import they are.

A UID is unique within one feed at best: some programs give one UID to two courses, others new UIDs at each
export. So events are also known by their title, and a reservation is recognized by the dates that it shares.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from berth.dates.zone import DAY, resolve
from berth.edit.calendarfeed import NOT_IMPORTED, Event, Feed
from berth.edit.calendarvalues import EventSpan
from berth.edit.datepattern import with_weekly_rules
from berth.edit.eventcounts import DescribedSeats
from berth.edit.eventdates import Changed, EventDates, Series, Span
from berth.edit.seatcounts import Counts
from berth.findings import Finding, Origin
from berth.schema.reservation import Reservation
from berth.schema.reservationspec import LONGEST_TITLE

BY_TITLE, BY_UID, ALONE = "title", "uid", "none"
GROUPINGS = (BY_TITLE, BY_UID, ALONE)


class DatedEvent(NamedTuple):
    """An event with its dates and seats. `changed_seats`: of changed dates that have their own."""

    series: Series
    dates: EventDates
    seats: DescribedSeats
    changed_seats: Mapping[Span, DescribedSeats]

    @property
    def event(self) -> Event:
        return self.series.first

    @property
    def is_single(self) -> bool:
        """Tell whether it is one date, and no series in the calendar."""
        main = self.series.main
        return main is not None and not (main.rules or main.added or self.series.instances)


class EventGroup(NamedTuple):
    """The events of one reservation. `own_seats`: of dates with other seats than `seats`.

    `parallel`: on how many dates several of the events are at the same time.
    """

    events: tuple[DatedEvent, ...]
    has_title_key: bool  # it is recognized by its title, not by a UID
    dates: EventDates
    seats: Counts
    own_seats: Mapping[Span, Counts]
    parallel: int

    @property
    def first(self) -> Event:
        return self.events[0].event

    @property
    def title(self) -> str:
        return self.first.title

    @property
    def uids(self) -> frozenset[str]:
        return frozenset(event.event.uid for event in self.events if event.event.uid)

    def starts(self) -> frozenset[int]:
        """Return the instants at which it begins."""
        return frozenset(resolve(self.dates.zone, span.start) for span in self.dates.happening)


class ImportRecord(NamedTuple):
    """A reservation that was imported before. `starts`: the instants at which it begins."""

    origin: Origin
    uid: str
    title: str  # of all its events; empty: it is known by its UID
    feed: str  # the name that was recorded
    is_ours: bool  # imported from this feed
    has_identity: bool  # what it records of its feed is what an import would record now
    reservation: Reservation | None  # None if it has errors
    starts: frozenset[int]


def series_of(feed: Feed) -> tuple[list[Series], list[Finding]]:
    """Return the events of a feed with their changed instances, in its order, and those that lose.

    Of several events with one UID, those of the highest SEQUENCE count; they may be several courses.
    """
    mains: dict[str, list[Event]] = {}
    instances: dict[str, list[Event]] = {}
    for at, event in enumerate(feed.events):
        key = event.uid or f"\n{at}"  # no UID has a line break
        mains.setdefault(key, [])
        (mains[key] if event.instance is None else instances.setdefault(key, [])).append(event)
    found: list[Series] = []
    older: list[Finding] = []
    for key, versions in mains.items():
        latest = max((event.sequence for event in versions), default=0)
        older += [_older(feed, event) for event in versions if event.sequence < latest]
        current = _different([event for event in versions if event.sequence == latest])
        found += _with_instances(current, instances.get(key, []))
    return found, older


def _older(feed: Feed, event: Event) -> Finding:
    message = "another event with its UID has a higher SEQUENCE, and counts instead."
    return feed.finding(event, NOT_IMPORTED, "SEQUENCE", message, "Give each course its own UID.")


def _different(events: Sequence[Event]) -> list[Event]:
    """Return the events without those that say the same as one before."""
    kept: dict[tuple[str, EventSpan], list[Event]] = {}
    for event in events:
        alike = kept.setdefault((event.title, event.span), [])
        if all(event._replace(lines={}) != other._replace(lines={}) for other in alike):
            alike.append(event)
    return [event for alike in kept.values() for event in alike]


def _with_instances(mains: Sequence[Event], instances: Sequence[Event]) -> list[Series]:
    """Give each changed instance to the event of whose dates it is, as far as weekday and time tell."""
    given: list[list[Event]] = [[] for _ in mains] or [[]]
    latest: dict[object, int] = {}
    for instance in instances:
        latest[instance.instance] = max(latest.get(instance.instance, 0), instance.sequence)
    for instance in instances:
        if instance.sequence < latest[instance.instance]:
            continue
        likeness = [_likeness(main, instance) for main in mains] or [0]
        given[likeness.index(max(likeness))].append(instance)
    if not mains:
        return [Series(None, tuple(given[0]))]
    return [Series(main, tuple(own)) for main, own in zip(mains, given, strict=True)]


def _likeness(main: Event, instance: Event) -> int:
    assert instance.instance is not None
    start, other = main.span.start.wall, instance.instance.wall
    return 2 * (start % DAY == other % DAY) + (start // DAY % 7 == other // DAY % 7)


def grouped(
    events: Sequence[DatedEvent],
    grouping: str,
    records: Iterable[ImportRecord],
    in_one_zone: Callable[[DatedEvent], DatedEvent],
) -> list[EventGroup]:
    """Return which events are one reservation. `in_one_zone` reads the dates of an event again."""
    known = [record for record in records if record.is_ours]
    titles = {record.title for record in known if record.title}
    uids = {record.uid for record in known if record.uid}
    singles = Counter(
        dated_event.event.title
        for dated_event in events
        if dated_event.is_single and dated_event.event.uid not in uids
    )
    groups: dict[tuple[str, str], list[DatedEvent]] = {}
    for number, dated_event in enumerate(events):
        event = dated_event.event
        repeats = dated_event.is_single and event.uid not in uids and singles[event.title] > 1
        is_shared = event.title in titles or repeats or not event.uid
        if event.title and (grouping == BY_TITLE or (not grouping and is_shared)):
            key = (BY_TITLE, event.title)
        else:
            key = (BY_UID, event.uid) if grouping == BY_UID else (ALONE, str(number))
        groups.setdefault(key, []).append(dated_event)
    return [_group(members, key[0] == BY_TITLE, in_one_zone) for key, members in groups.items()]


def _group(
    events: Sequence[DatedEvent], has_title_key: bool, in_one_zone: Callable[[DatedEvent], DatedEvent]
) -> EventGroup:
    if len(events) == 1 and (events[0].event.uid and not has_title_key):
        one = events[0]
        own = {span: seats.counts for span, seats in one.changed_seats.items()}
        own = {span: counts for span, counts in own.items() if counts != one.seats.counts}
        return EventGroup((one,), has_title_key, one.dates, one.seats.counts, own, 0)
    if len({event.dates.zone.name for event in events}) > 1:
        events = [in_one_zone(event) for event in events]
    by_span: dict[Span, list[Counts]] = {}
    for one in events:
        regular = [span for span in one.dates.regular if span not in one.dates.excluded]
        for span in {*regular, *one.dates.extra}:
            changed = one.changed_seats.get(span)
            by_span.setdefault(span, []).append(changed.counts if changed else one.seats.counts)
    merged = {span: _most(counts) for span, counts in by_span.items()}
    seats = _usual(merged.values())
    own = {span: counts for span, counts in sorted(merged.items()) if counts and counts != seats}
    dates = _joined([event.dates for event in events])
    regular_spans = {*dates.regular} - dates.excluded
    changed_dates = {**{span: Changed(span, "") for span in own if span in regular_spans}, **dates.changed}
    dates = dates._replace(changed=dict(sorted(changed_dates.items())))
    parallel = sum(len(counts) > 1 for counts in by_span.values())
    return EventGroup(tuple(events), has_title_key, dates, seats, own, parallel)


def _most(several: Sequence[Counts]) -> Counts:
    """Return the largest count of each class: events at the same time are one course in several rooms."""
    found: dict[str, int] = {}
    for counts in several:
        for name, count in counts.items():
            found[name] = max(found.get(name, 0), count)
    return found


def _usual(several: Iterable[Counts]) -> Counts:
    """Return the seats of most dates that have any; of as many, the larger ones."""
    numbers = Counter([tuple(counts.items()) for counts in several if counts])
    if not numbers:
        return {}
    order = [(number, sum(count for _, count in pairs), pairs) for pairs, number in numbers.items()]
    return dict(max(order)[2])


def _joined(parts: Sequence[EventDates]) -> EventDates:
    """Return the dates of several events as those of one, in weekly rules where they are rules."""
    if len(parts) == 1:
        return parts[0]
    regular = sorted({span for part in parts for span in part.regular})
    extra = {span for part in parts for span in part.extra}
    excluded: set[Span] = set()
    changed: dict[Span, Changed] = {}
    of_part = [frozenset(part.regular) for part in parts]
    for span in regular:
        holders = [part for part, own in zip(parts, of_part, strict=True) if span in own]
        held = [part for part in holders if span not in part.excluded]
        moved = [part.changed[span] for part in held if span in part.changed]
        if len(moved) == len(held):
            excluded |= {span} if not moved else set()
            changed |= {span: moved.pop(0)} if moved else {}
        extra |= {change.span for change in moved}
    for span in sorted(extra & {*regular}):
        excluded.discard(span)
        if span in changed and changed[span].span != span:
            extra.add(changed.pop(span).span)
    dates = EventDates(
        parts[0].zone, tuple(regular), frozenset(excluded), changed, tuple(sorted(extra - {*regular}))
    )
    return dates if changed else with_weekly_rules(dates)


def matched(
    groups: Sequence[EventGroup], records: Sequence[ImportRecord], uids: frozenset[str], now: int
) -> dict[int, int]:
    """Return the number of the record of each group that has one. `uids`: all of the feed.

    A group is recognized by its title, else by a UID, else by title and dates where no event has the UID any
    more: some programs give new UIDs at each export. One that moved then shares no date: its title is enough
    where it is that of one new event, and of one record with dates to come.
    """
    by_key: dict[tuple[str, str], list[int]] = {}
    for number, record in enumerate(records):
        for key in _keys(record, uids):
            by_key.setdefault(key, []).append(number)
    found: dict[int, int] = {}
    taken: set[int] = set()
    for keys_of in (_title_key, _uid_keys, _date_key):
        pairs = []
        for at, group in enumerate(groups):
            if at in found:
                continue
            numbers = {number for key in keys_of(group) for number in by_key.get(key, ())} - taken
            starts = group.starts() if numbers else frozenset()
            for number in numbers:
                shared = len(starts & records[number].starts)
                if shared or keys_of is not _date_key:
                    pairs.append((-shared, number, at))
        for _, number, at in sorted(pairs):
            if at not in found and number not in taken:
                found[at] = number
                taken.add(number)
    left = [
        number for number, import_record in enumerate(records) if max(import_record.starts, default=0) > now
    ]
    return found | _moved(groups, found, by_key, {*left} - taken)


def _moved(
    groups: Sequence[EventGroup],
    found: Mapping[int, int],
    by_key: Mapping[tuple[str, str], Sequence[int]],
    left: Collection[int],
) -> dict[int, int]:
    """Return the records of events that moved: the only one left of a title that one new event has."""
    new: dict[tuple[str, str], list[int]] = {}
    for at, group in enumerate(groups):
        if at not in found:
            new.setdefault(_date_key(group)[0], []).append(at)
    moved = {}
    for key, numbers in new.items():
        gone = [number for number in by_key.get(key, ()) if number in left]
        if len(gone) == len(numbers) == 1 and len(groups[numbers[0]].events) == 1:
            moved[numbers[0]] = gone[0]
    return moved


_ITS_TITLE, _ITS_UID, _ITS_DATES = "title", "uid", "dates"


def _keys(record: ImportRecord, uids: frozenset[str]) -> list[tuple[str, str]]:
    """Return by what a record may be recognized."""
    if not record.is_ours:
        return []
    keys = [(_ITS_UID, record.uid)] if record.uid else []
    if record.title:
        keys.append((_ITS_TITLE, record.title))
    if record.uid not in uids and record.reservation is not None:
        keys.append((_ITS_DATES, record.reservation.title))
    return keys


def _title_key(group: EventGroup) -> list[tuple[str, str]]:
    return [(_ITS_TITLE, group.title)] if group.has_title_key else []


def _uid_keys(group: EventGroup) -> list[tuple[str, str]]:
    return [(_ITS_UID, uid) for uid in sorted(group.uids)]


def _date_key(group: EventGroup) -> list[tuple[str, str]]:
    return [(_ITS_DATES, group.title[:LONGEST_TITLE])]
