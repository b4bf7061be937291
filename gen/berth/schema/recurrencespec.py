"""`recurrence` of a reservation: when it happens, by entries, exceptions, moves and extra occurrences."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, Protocol, TypeVar

from berth.findings import Path
from berth.notation.days import DateSpan as Span
from berth.schema.basemodel import (
    OR_MAPPING,
    ListOf,
    Model,
    NonEmpty,
    NonEmptyUnique,
    Switch,
    Use,
    Whole,
    field,
    lazy,
)
from berth.schema.calendardocument import check_order
from berth.schema.documentproblems import CONFLICT, IDLE_KEY, MISSING, DocumentProblems
from berth.schema.types import (
    Behavior,
    Date,
    DateSpan,
    DnsLabel,
    EndTime,
    LeadMinutes,
    NodeCount,
    NthWeek,
    SeatCount,
    StartTime,
    TimeZone,
    Weekdays,
    Weeks,
)
from berth.schema.values import EVERY_DATE, Entry, EntryDates, Except, Recurrence, Scaling, Seats

EQUAL_TIMES = "B024"
TIME = '"HH:MM" in the reservation\'s zone'
ONLY_NAME = 'only the occurrence of this name; "" is the one without a name'
dated = partial(field, use=Use("the occurrences, with their seats, lead and behavior"))
"""Declare a key from which occurrences are made."""

END = f"{TIME}; 24:00 is the midnight at the end of the day"
END_DAY = "number of days from the date of the start to that of the end"
NEXT_DAY = "next day if endTime is before startTime"
NAME = "tells occurrences apart that start together; part of their ids"
EndDay = Annotated[int, Whole(0, 366)]

LEAD = "minutes before the start at which capacity is requested"
BEHAVIOR = "what placeholders do as sessions arrive: maintain, reduce, none or buffer"


class ScalingKeys(Protocol):
    """A line that may say when seats open, and how they scale down."""

    lead_time_minutes: int | None
    scale_down_behavior: Behavior | None


def scaling(line: ScalingKeys, general: Scaling) -> Scaling:
    """Return what holds at a line: its own keys, and those of the more general line where it has none.

    From special to general: a line of `seats` in an entry, the entry, a line of `seats` in `provisioning`,
    `provisioning`, the default.
    """
    lead, behavior = line.lead_time_minutes, line.scale_down_behavior
    return Scaling(general.lead if lead is None else lead, behavior or general.behavior)


class ClassSeats(Model):
    """How many seats, or nodes, of one class."""

    resource_class: DnsLabel = dated(meaning="name of a ResourceClass")
    placeholder_count: SeatCount | None = dated(None, "seats of this class", "none: then write nodeCount")
    node_count: NodeCount | None = dated(None, "only backend nodePool: nodes of this class", "none")


class ScaledClassSeats(ClassSeats):
    """How many seats of one class, and how they scale."""

    lead_time_minutes: LeadMinutes | None = dated(None, LEAD, "that of the entry, or of provisioning")
    scale_down_behavior: Behavior | None = dated(None, BEHAVIOR, "that of the entry, or of provisioning")


def check_seats(seats: tuple[ClassSeats, ...] | None, path: Path, report: DocumentProblems) -> None:
    """Report a class that is listed twice."""
    report.repeated("class ", [line.resource_class for line in seats or ()], path, "resourceClass")


def listed(seats: tuple[ClassSeats, ...]) -> Seats:
    return tuple((seat.resource_class, seat.placeholder_count or seat.node_count or 0) for seat in seats)


class StandardSeats(NamedTuple):
    """The seats of a reservation, which hold for every line of its recurrence without own ones."""

    seats: Seats
    scaling: tuple[Scaling, ...]  # of each of `seats`
    usual: Scaling  # of the reservation, for classes that only an entry names

    def scaling_of(self, resource_class: str) -> Scaling:
        pairs = zip(self.seats, self.scaling, strict=True)
        return next((own for (name, _), own in pairs if name == resource_class), self.usual)

    def entry_of_machines(self) -> Entry:
        """Return the only line of a recurrence with the dates of machines; its times mean nothing."""
        scaling = () if {*self.scaling} == {self.usual} else self.scaling
        return Entry((), 0, 0, 1, self.seats, scaling)


class OwnSeats(Model):
    """A line of a recurrence that may have its own seats."""

    placeholder_count: SeatCount | None = dated(None, "seats, instead of provisioning's", "provisioning's")
    node_count: NodeCount | None = dated(
        None, "only backend nodePool: nodes, instead of provisioning's", "provisioning's"
    )
    seats: NonEmpty[ClassSeats] | None = field(
        None, "seats by class, instead of provisioning's", "provisioning's"
    )

    def check(self, path: Path, report: DocumentProblems) -> None:
        check_seats(self.seats, (*path, "seats"), report)

    def seats_or(self, standard: Seats) -> Seats:
        """Return the seats of the line, by default those of the reservation."""
        if self.seats is not None:
            return listed(self.seats)
        own = self.placeholder_count or self.node_count
        return ((standard[0][0], own),) if own else standard


class ScaledSeats(OwnSeats):
    """A line of a recurrence that may have its own seats, lead and behavior."""

    seats: NonEmpty[ScaledClassSeats] | None = field(
        None, "seats by class, instead of provisioning's", "provisioning's"
    )
    lead_time_minutes: LeadMinutes | None = dated(None, LEAD, "provisioning's")
    scale_down_behavior: Behavior | None = dated(None, BEHAVIOR, "provisioning's")

    def scaled_seats(self, standard: StandardSeats) -> tuple[Seats, tuple[Scaling, ...]]:
        """Return the seats of the line, and how they scale if not all as the reservation."""
        seats = self.seats_or(standard.seats)
        scalings = [scaling(self, standard.scaling_of(name)) for name, _ in seats]
        if self.seats is not None:
            scalings = [scaling(line, general) for line, general in zip(self.seats, scalings, strict=True)]
        return seats, () if {*scalings} == {standard.usual} else tuple(scalings)


_OR_LIST = Switch(lambda value: int(isinstance(value, list)))
WeekdaysOrList = Annotated[Weekdays | NonEmpty[Weekdays], _OR_LIST]
WeeksOrList = Annotated[Weeks | NonEmpty[Weeks], _OR_LIST]


def _numbers(value: tuple[int | tuple[int, ...], ...] | None) -> tuple[int, ...]:
    """Return the numbers of a value that may be a list of such values, each once and ascending."""
    parts = [(part,) if isinstance(part, int) else part for part in value or ()]
    return tuple(sorted({number for part in parts for number in part}))


class Monthly(Model):
    """One of a weekday's dates in each month."""

    week: NthWeek = dated(meaning="1 to 5 for the first to fifth in the month; -1 for the last")


class ScheduleEntry(ScaledSeats):
    day_of_week: WeekdaysOrList | None = dated(None, "1 = Monday to 7 = Sunday, or a name", "none")
    days_of_week: WeekdaysOrList | None = dated(None, "several weekdays: [mon, wed] or mon-fri", "none")
    start_time: StartTime = dated(meaning=TIME)
    end_time: EndTime = dated(meaning=END)
    end_day: EndDay | None = dated(None, END_DAY, NEXT_DAY)
    name: DnsLabel | None = dated(None, NAME, "none")
    first: Date | None = dated(None, "its first date", "the recurrence's", alias="from")
    last: Date | None = dated(None, "its last date, inclusive", "the recurrence's", alias="until")
    weeks: WeeksOrList | None = dated(
        None, "only `weekly`: odd, even, or ISO week numbers: [6, 8] or 6-8", "every week"
    )
    monthly: Monthly | None = dated(None, "only `weekly`: once a month, as {week: 1}", "every week")

    def check(self, path: Path, report: DocumentProblems) -> None:
        super().check(path, report)
        if self.first is not None and self.last is not None:
            check_order(self.first, self.last, path, report, "until")
        if self.weeks is not None and self.monthly is not None:
            report(CONFLICT, path, "weeks and monthly are both given.", "Keep one of the two.")

    def entry(self, weekly: bool, standard: StandardSeats) -> Entry:
        days = _numbers(self.days_of_week or self.day_of_week) if weekly else ()
        times = (self.start_time, self.end_time, self.end_day)
        seats, scaling = self.scaled_seats(standard)
        return Entry(days, *times, seats, scaling, self.name or "", self._dates())

    def _dates(self) -> EntryDates:
        if (self.first, self.last, self.weeks, self.monthly) == (None, None, None, None):
            return EVERY_DATE
        nth = self.monthly.week if self.monthly else 0
        return EntryDates(self.first, self.last, _numbers(self.weeks), nth)


def check_length(times: tuple[int, int, int | None], path: Path, report: DocumentProblems) -> None:
    """Report a window that would have no length. `times`: start, end, and the days between them."""
    start, end, days = times
    if days is None and start == end:
        fix = "Write another time; for 24 hours add endDay: 1."
        report(EQUAL_TIMES, (*path, "endTime"), "the end equals the start.", fix)
    elif days == 0 and end <= start:
        fix = "Write a later time, or endDay: 1."
        report(EQUAL_TIMES, (*path, "endTime"), "with endDay 0 the end is not after the start.", fix)


_REPEATED = ("daily", "weekly")
_TYPES_WITH_TIMES = ("once", *_REPEATED, "dates")
_TYPES_OF = {  # which types take a key; all others are for those with times
    "type": (*_TYPES_WITH_TIMES, "capacity"),
    "time_zone": (*_TYPES_WITH_TIMES, "capacity"),
    "start_date": ("once", *_REPEATED),
    "end_date": ("once", *_REPEATED),
    "within": _REPEATED,
    "dates": ("dates",),
    "cloud_capacity": ("capacity",),
    "interval": ("weekly",),
}
T = TypeVar("T")
STANDING = Recurrence(type="standing", zone="")


if TYPE_CHECKING:
    from berth.schema.datechanges import DateException, ExtraEntry, ListedDates, MovedEntry
else:
    DateException = lazy("berth.schema.datechanges", "DateException")
    ExtraEntry = lazy("berth.schema.datechanges", "ExtraEntry")
    ListedDates = lazy("berth.schema.datechanges", "ListedDates")
    MovedEntry = lazy("berth.schema.datechanges", "MovedEntry")

DateOrException = Annotated[DateSpan | DateException, OR_MAPPING]


class RecurrenceSpec(Model):
    type: Literal["once", "daily", "weekly", "dates", "capacity"] = dated(
        meaning="once, daily, weekly, dates or capacity"
    )
    start_date: Date | None = dated(None, "first date; required except for `dates` and `capacity`", "none")
    end_date: Date | None = dated(
        None, "last date, inclusive; required except for `dates` and `capacity`", "none"
    )
    within: NonEmptyUnique[DnsLabel] | None = dated(
        None, "only `daily` and `weekly`: names of terms, instead of startDate and endDate", "none"
    )
    dates: NonEmpty[Annotated[DateSpan | ListedDates, OR_MAPPING]] | None = field(
        None, "only `dates`: dates, ranges {from, to}, or {date, startTime, endTime}", "none"
    )
    cloud_capacity: DnsLabel | None = dated(
        None, "only `capacity`: name of the CloudCapacity whose reserved machines say when", "none"
    )
    time_zone: TimeZone | None = dated(None, "time zone of all times of the reservation", "the site's")
    interval: Annotated[int, Whole(1, 52)] = dated(
        1, "only `weekly`: every n-th week, counted from startDate's ISO week"
    )
    schedule: NonEmpty[ScheduleEntry] | None = field(
        None,
        "times of day, by weekday for `weekly`; required except for `capacity`, and `dates` that have hours",
        "none",
    )
    calendars: ListOf[DnsLabel] = dated((), "Calendars whose dates do not happen", "none")
    excepted: ListOf[DateOrException] = field(
        (), "dates, {from, to} or {date, startTime, name} left out", "none", alias="except"
    )
    moved: ListOf[MovedEntry] = field((), "single occurrences at another time, or with other seats", "none")
    extra: ListOf[ExtraEntry] = field((), "single occurrences besides the schedule", "none")

    def check(self, path: Path, report: DocumentProblems) -> None:
        for name, known in type(self).model_fields.items():
            types = _TYPES_OF.get(name, _TYPES_WITH_TIMES)
            if self.type not in types and getattr(self, name) != known.default:
                key, fix = known.alias or name, f"Remove it, or write type: {' or '.join(types)}."
                report(CONFLICT, (*path, key), f"type {self.type} takes no {key}.", fix, at_key=True)
        if self.type == "capacity":
            if self.cloud_capacity is None:
                fix = "Add cloudCapacity: the name of a CloudCapacity."
                report(MISSING, path, "cloudCapacity is missing.", fix)
            return
        self._check_span(path, report)
        has_all_hours = bool(self.dates) and not any(
            isinstance(line, Span) or line.start_time is None for line in self.dates or ()
        )
        if self.schedule is None and not (self.type == "dates" and has_all_hours):
            report(MISSING, path, "schedule is missing.", "Add schedule: a list of times of day.")
        for i, entry in enumerate(self.schedule or ()):
            at = (*path, "schedule", i)
            self._check_weekdays(entry, at, report)
            self._check_weeks(entry, at, report)
            self._check_dates(entry, at, report)
            self._check_end(entry, at, report)

    def _check_span(self, path: Path, report: DocumentProblems) -> None:
        """Check that one of the ways to tell the dates is complete, and the only one."""
        first, last = self.start_date, self.end_date
        for name, value in (("startDate", first), ("endDate", last)):
            if self.type in _REPEATED and self.within is not None:
                if value is not None:
                    message = f"within and {name} are both given."
                    fix = "Keep within, or startDate and endDate."
                    report(CONFLICT, (*path, name), message, fix, at_key=True)
            elif self.type != "dates" and value is None:
                report(MISSING, path, f"{name} is missing.", f"Add {name}: a date.")
        if self.type == "dates" and self.dates is None:
            report(MISSING, path, "dates is missing.", "Add dates: a list of dates.")
        is_range = self.type == "once" or (self.type in _REPEATED and self.within is None)
        if is_range and first is not None and last is not None:
            check_order(first, last, path, report, "endDate")

    def _check_weekdays(self, entry: ScheduleEntry, path: Path, report: DocumentProblems) -> None:
        pairs = (("dayOfWeek", entry.day_of_week), ("daysOfWeek", entry.days_of_week))
        given = [name for name, value in pairs if value is not None]
        if self.type == "weekly" and not given:
            message = "an entry of type weekly needs its weekday."
            report(MISSING, path, message, "Add dayOfWeek or daysOfWeek.")
        elif self.type == "weekly" and len(given) == 2:
            report(CONFLICT, path, "dayOfWeek and daysOfWeek are both given.", "Keep one of the two.")
        elif self.type in ("daily", "dates"):
            for name in given:
                message = f"type {self.type} ignores weekdays."
                report(IDLE_KEY, (*path, name), message, "Remove it, or write type: weekly.", at_key=True)

    def _check_weeks(self, entry: ScheduleEntry, path: Path, report: DocumentProblems) -> None:
        """Check that `weeks` and `monthly` are the only rule that leaves out weeks."""
        for name, value in (("weeks", entry.weeks), ("monthly", entry.monthly)):
            if value is None:
                continue
            if self.type != "weekly":
                message, fix = f"type {self.type} takes no {name}.", "Remove it, or write type: weekly."
                report(CONFLICT, (*path, name), message, fix, at_key=True)
            elif self.interval != 1:
                message = f"{name} and interval {self.interval} are both given."
                report(CONFLICT, (*path, name), message, "Keep one of the two.", at_key=True)

    def _check_dates(self, entry: ScheduleEntry, path: Path, report: DocumentProblems) -> None:
        """Check that an entry's own dates are among those of the recurrence."""
        first, last = self.start_date, self.end_date
        for name, value in (("from", entry.first), ("until", entry.last)):
            if value is None:
                continue
            if self.type == "once":
                message, fix = f"an entry of type once takes no {name}.", "Remove it, or change the type."
                report(CONFLICT, (*path, name), message, fix, at_key=True)
            elif first is not None and last is not None and not first <= value <= last:
                message = f"{value} is not between startDate {first} and endDate {last}."
                report(CONFLICT, (*path, name), message, "Write a date between them, or remove it.")

    def _check_end(self, entry: ScheduleEntry, path: Path, report: DocumentProblems) -> None:
        """Check the end: of `once` it is on endDate; of the others on or after the day of the start."""
        first, last = self.start_date, self.end_date
        if self.type == "once" and first != last:
            if entry.end_day is not None:
                message, fix = "endDate already sets the day of the end.", "Remove endDay."
                report(CONFLICT, (*path, "endDay"), message, fix, at_key=True)
        elif self.type != "once" or first is not None:
            check_length((entry.start_time, entry.end_time, entry.end_day), path, report)

    def lines(self) -> list[tuple[Path, OwnSeats]]:
        """Return each line that may have its own seats, with its path."""
        parts = (("dates", self.dates), ("schedule", self.schedule), ("extra", self.extra))
        places: list[tuple[Path, OwnSeats]] = [
            ((name, i), line)
            for name, lines in parts
            for i, line in enumerate(lines or ())
            if isinstance(line, OwnSeats)
        ]
        return places + [(("moved", i, "to"), line.to) for i, line in enumerate(self.moved)]

    def recurrence(self, standard: StandardSeats) -> Recurrence:
        """Return the recurrence as a value; its zone is empty if none is given."""
        weekly = self.type == "weekly"
        schedule = [entry.entry(weekly, standard) for entry in self.schedule or ()]
        if self.type == "capacity":
            schedule = [standard.entry_of_machines()]
        listed = [(i, item) for i, item in enumerate(self.dates or ()) if not isinstance(item, Span)]
        schedule += filter(None, [item.entry(i, standard) for i, item in listed])
        return Recurrence(
            type=self.type,
            zone=self.time_zone or "",
            first=self.start_date,
            last=self.end_date,
            dates=tuple(item if isinstance(item, Span) else item.span for item in self.dates or ()),
            interval=self.interval,
            schedule=tuple(schedule),
            calendars=self.calendars,
            excepts=tuple(
                Except(*item, None) if isinstance(item, Span) else item.excepted for item in self.excepted
            ),
            moves=tuple(move.move(standard) for move in self.moved),
            extras=tuple(extra.extra(standard) for extra in self.extra),
            within=self.within or (),
            capacity=self.cloud_capacity or "",
        )
