"""The lines of a recurrence: their seats, and an entry of the schedule."""

from typing import Annotated, Any

from berth.findings import Path
from berth.schema.base import Model, NonEmpty, Whole, field
from berth.schema.report import CONFLICT, INVALID, Report
from berth.schema.types import DnsLabel, EndTime, NodeCount, SeatCount, StartTime, Weekday
from berth.schema.values import Entry, Seats

EQUAL_TIMES = "B028"
TIME = '"HH:MM" in the reservation\'s zone'
END = f"{TIME}; 24:00 is the midnight at the end of the day"
END_DAY = "days from the start's date to the end's"
NEXT_DAY = "next day if endTime is before startTime"
EndDay = Annotated[int, Whole(0, 366)]


class ClassSeats(Model):
    """How many seats, or nodes, of one class."""

    resource_class: DnsLabel = field(meaning="name of a ResourceClass")
    placeholder_count: SeatCount | None = field(None, "seats of this class", "none: then write nodeCount")
    node_count: NodeCount | None = field(None, "only backend nodePool: nodes of this class", "none")

    @property
    def count(self) -> int | None:
        return self.node_count if self.placeholder_count is None else self.placeholder_count


def check_seats(seats: tuple[ClassSeats, ...] | None, path: Path, report: Report) -> None:
    """Report a class that is listed twice."""
    names: list[str] = []
    for i, one in enumerate(() if not seats or seats is INVALID else seats):
        name = one if one is INVALID else one.resource_class
        if name is not INVALID and name in names:
            message = f'duplicate class "{name}".'
            report(CONFLICT, (*path, i, "resourceClass"), message, "Write one line for each class.")
        names.append(name)


def listed(seats: tuple[ClassSeats, ...]) -> Seats:
    return tuple((one.resource_class, one.count or 0) for one in seats)


class OwnSeats(Model):
    """A line of a recurrence that may have its own seats."""

    placeholder_count: SeatCount | None = field(None, "seats, instead of provisioning's", "provisioning's")
    node_count: NodeCount | None = field(
        None, "only backend nodePool: nodes, instead of provisioning's", "provisioning's"
    )
    seats: NonEmpty[ClassSeats] | None = field(
        None, "seats by class, instead of provisioning's", "provisioning's"
    )

    def check(self, path: Path, report: Report) -> None:
        check_seats(self.seats, (*path, "seats"), report)

    def seats_or(self, standard: Seats) -> Seats:
        """Return the seats of the line, by default those of the reservation."""
        if self.seats is not None:
            return listed(self.seats)
        own = self.node_count if self.placeholder_count is None else self.placeholder_count
        return standard if own is None else ((standard[0][0], own),)


class ScheduleEntry(OwnSeats):
    day_of_week: Weekday | None = field(None, "1 = Monday to 7 = Sunday, or a name", "none")
    days_of_week: NonEmpty[Weekday] | None = field(None, "several weekdays: [mon, wed]", "none")
    start_time: StartTime = field(meaning=TIME)
    end_time: EndTime = field(meaning=END)
    end_day: EndDay | None = field(None, END_DAY, NEXT_DAY)

    def entry(self, weekly: bool, standard: Seats) -> Entry:
        days = (self.days_of_week or (self.day_of_week,)) if weekly else ()
        times = (self.start_time, self.end_time, self.end_day)
        return Entry(tuple(sorted({*days})), *times, self.seats_or(standard))


def check_length(times: tuple[Any, Any, Any], path: Path, report: Report) -> None:
    """Report a window that would have no length. `times`: start, end, and the days between them."""
    start, end, days = times
    if INVALID in times:
        return
    if days is None and start == end:
        fix = "Write another time; for 24 hours add endDay: 1."
        report(EQUAL_TIMES, (*path, "endTime"), "the end equals the start.", fix)
    elif days == 0 and end <= start:
        fix = "Write a later time, or endDay: 1."
        report(EQUAL_TIMES, (*path, "endTime"), "with endDay 0 the end is not after the start.", fix)
