"""The lines of a recurrence: their seats, and an entry of the schedule."""

from functools import partial
from typing import Annotated, NamedTuple

from berth.schema.basemodel import Model, NonEmpty, Switch, Use, Whole, field
from berth.schema.documentproblems import DocumentProblems
from berth.schema.types import (
    Behavior,
    Date,
    DnsLabel,
    EndTime,
    LeadMinutes,
    NodeCount,
    NthWeek,
    SeatCount,
    StartTime,
    Weekdays,
    Weeks,
)
from berth.schema.values import EVERY_DATE, Entry, EntryDates, Scaling, Seats

TIME = '"HH:MM" in the reservation\'s zone'
ONLY_NAME = 'only the occurrence of this name; "" is the one without a name'
dated = partial(field, use=Use(resolved="the occurrences, with their seats, lead and behavior"))
"""Declare a key from which occurrences are made."""

END = f"{TIME}; 24:00 is the midnight at the end of the day"
END_DAY = "number of days from the date of the start to that of the end"
NEXT_DAY = "next day if endTime is before startTime"
NAME = "tells occurrences apart that start together; part of their ids"
EndDay = Annotated[int, Whole(0, 366)]

LEAD = "minutes before the start at which capacity is requested"
BEHAVIOR = "what placeholders do as sessions arrive: maintain, reduce, none or buffer"


class ScalingKeys(Model):
    """A line that may say when seats open, and how they scale down."""

    lead_time_minutes: LeadMinutes | None = dated(None, LEAD, "that of the entry, else of provisioning")
    scale_down_behavior: Behavior | None = dated(None, BEHAVIOR, "that of the entry, else of provisioning")

    def scaling(self, general: Scaling) -> Scaling:
        """Return what holds here: its own keys, and those of the more general line where it has none.

        From special to general: a line of `seats` in an entry, the entry, a line of `seats` in
        `provisioning`, `provisioning`, the default.
        """
        lead, behavior = self.lead_time_minutes, self.scale_down_behavior
        return Scaling(general.lead if lead is None else lead, behavior or general.behavior)


class ClassSeats(Model):
    """How many seats, or nodes, of one class."""

    resource_class: DnsLabel = dated(meaning="name of a ResourceClass")
    placeholder_count: SeatCount | None = dated(None, "seats of this class", "none: then write nodeCount")
    node_count: NodeCount | None = dated(None, "only backend nodePool: nodes of this class", "none")


class ScaledClassSeats(ClassSeats, ScalingKeys):
    """How many seats of one class, and how they scale."""


def check_seats(seats: tuple[ClassSeats, ...] | None, report: DocumentProblems) -> None:
    """Report a class that is listed twice."""
    report.repeated("class ", [line.resource_class for line in seats or ()], "resourceClass")


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

    def check(self, report: DocumentProblems) -> None:
        check_seats(self.seats, report.below("seats"))

    def seats_or(self, standard: Seats) -> Seats:
        """Return the seats of the line, by default those of the reservation."""
        if self.seats is not None:
            return listed(self.seats)
        own = self.placeholder_count or self.node_count
        return ((standard[0][0], own),) if own else standard


class ScaledSeats(OwnSeats, ScalingKeys):
    """A line of a recurrence that may have its own seats, lead and behavior."""

    seats: NonEmpty[ScaledClassSeats] | None = field(
        None, "seats by class, instead of provisioning's", "provisioning's"
    )

    def scaled_seats(self, standard: StandardSeats) -> tuple[Seats, tuple[Scaling, ...]]:
        """Return the seats of the line, and how they scale if not all as the reservation."""
        seats = self.seats_or(standard.seats)
        scalings = [self.scaling(standard.scaling_of(name)) for name, _ in seats]
        if self.seats is not None:
            scalings = [line.scaling(own) for line, own in zip(self.seats, scalings, strict=True)]
        return seats, () if {*scalings} == {standard.usual} else tuple(scalings)


class Timed(Model):
    """A line of a recurrence with its hours."""

    start_time: StartTime = dated(meaning=TIME)
    end_time: EndTime = dated(meaning=END)
    end_day: EndDay | None = dated(None, END_DAY, NEXT_DAY)
    name: DnsLabel | None = dated(None, NAME, "none")

    @property
    def times(self) -> tuple[int, int, int | None]:
        return self.start_time, self.end_time, self.end_day


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


class ScheduleEntry(ScaledSeats, Timed):
    dates_in_order = ("from", "until")
    day_of_week: WeekdaysOrList | None = dated(None, "1 = Monday to 7 = Sunday, or a name", "none")
    days_of_week: WeekdaysOrList | None = dated(None, "several weekdays: [mon, wed] or mon-fri", "none")
    first: Date | None = dated(None, "its first date", "the recurrence's", alias="from")
    last: Date | None = dated(None, "its last date, inclusive", "the recurrence's", alias="until")
    weeks: WeeksOrList | None = dated(
        None, "only `weekly`: odd, even, or ISO week numbers: [6, 8] or 6-8", "every week"
    )
    monthly: Monthly | None = dated(None, "only `weekly`: once a month, as {week: 1}", "every week")

    def check(self, report: DocumentProblems) -> None:
        super().check(report)
        report.exclude({"weeks": self.weeks, "monthly": self.monthly})

    def entry(self, weekly: bool, standard: StandardSeats) -> Entry:
        days = _numbers(self.days_of_week or self.day_of_week) if weekly else ()
        return Entry(days, *self.times, *self.scaled_seats(standard), self.name or "", self._dates())

    def _dates(self) -> EntryDates:
        if (self.first, self.last, self.weeks, self.monthly) == (None, None, None, None):
            return EVERY_DATE
        nth = self.monthly.week if self.monthly else 0
        return EntryDates(self.first, self.last, _numbers(self.weeks), nth)


def check_length(times: tuple[int, int, int | None], report: DocumentProblems) -> None:
    """Report a window that would have no length. `times`: start, end, and the days between them."""
    start, end, days = times
    if days is None and start == end:
        fix = "Write another time; for 24 hours add endDay: 1."
        report("B024", "endTime", "the end equals the start.", fix)
    elif days == 0 and end <= start:
        fix = "Write a later time, or endDay: 1."
        report("B024", "endTime", "with endDay 0 the end is not after the start.", fix)
