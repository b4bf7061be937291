"""Single dates of a recurrence: listed ones, exceptions, changes and extra occurrences."""

from datetime import date

from berth.schema.basemodel import Model, NonEmpty, field
from berth.schema.documentproblems import DocumentProblems
from berth.schema.entry import (
    END,
    END_DAY,
    NAME,
    NEXT_DAY,
    ONLY_NAME,
    TIME,
    ClassSeats,
    EndDay,
    OwnSeats,
    ScaledSeats,
    StandardSeats,
    Timed,
    check_length,
    dated,
)
from berth.schema.types import (
    Date,
    DnsLabel,
    DnsLabelOrNone,
    EndTime,
    NodeCount,
    SeatCount,
    StartTime,
    Title,
)
from berth.schema.values import Entry, EntryDates, Except, Extra, Move

SAME_SEATS = "those of its entry"


class ExtraEntry(ScaledSeats, Timed):
    day: Date = dated(meaning="date of one more occurrence", alias="date")

    def check(self, report: DocumentProblems) -> None:
        super().check(report)
        check_length(self.times, report)

    def extra(self, standard: StandardSeats) -> Extra:
        return Extra(self.day, *self.times, *self.scaled_seats(standard), self.name or "")


class DateOrSpan(Model):
    """A line for one date, or for a range of dates."""

    dates_in_order = ("from", "to")
    day: Date | None = dated(None, "one date", "none", alias="date")
    first: Date | None = dated(None, "first date of a range", "none", alias="from")
    last: Date | None = dated(None, "last date of a range, inclusive", "none", alias="to")

    def check(self, report: DocumentProblems) -> None:
        report.exclude({"date": self.day, "from": self.first or self.last})
        missing = [name for name, value in (("from", self.first), ("to", self.last)) if value is None]
        if self.day is None and missing:
            message = f"it has no date, and no {' and no '.join(missing)}."
            report("B011", (), message, "Add date, or from and to.")

    @property
    def span(self) -> tuple[date, date]:
        """Return the first and the last date."""
        if self.day is not None:
            return self.day, self.day
        assert self.first is not None
        assert self.last is not None
        return self.first, self.last


class DateException(DateOrSpan):
    """Dates that do not happen, or one occurrence of a date."""

    start_time: StartTime | None = dated(None, "only the occurrence that starts then", "all of the date")
    name: DnsLabelOrNone | None = dated(None, ONLY_NAME, "all of the date")
    title: Title = dated("", "shown where the date is skipped", "none")

    @property
    def excepted(self) -> Except:
        return Except(*self.span, self.start_time, self.name, self.title)


class ListedDates(DateOrSpan, ScaledSeats):
    """An item of `dates`, which may have its own hours."""

    start_time: StartTime | None = dated(None, TIME, "the schedule's")
    end_time: EndTime | None = dated(None, END, "the schedule's")
    end_day: EndDay | None = dated(None, END_DAY, NEXT_DAY)
    name: DnsLabel | None = dated(None, NAME, "none")

    def check(self, report: DocumentProblems) -> None:
        DateOrSpan.check(self, report)
        OwnSeats.check(self, report)
        if all(value is None for key, value in self if key not in DateOrSpan.model_fields):
            return  # the schedule says everything else
        for key, value in (("startTime", self.start_time), ("endTime", self.end_time)):
            if value is None:
                fix = f"Add {key}: a time of day, or write only the date, for the hours of the schedule."
                report("B011", (), f"{key} is missing.", fix)
        if self.start_time is not None and self.end_time is not None:
            check_length((self.start_time, self.end_time, self.end_day), report)

    def entry(self, index: int, standard: StandardSeats) -> Entry | None:
        """Return an entry with these hours for the item of this index; None if it has none of its own."""
        if self.start_time is None or self.end_time is None:
            return None
        times, dates = (self.start_time, self.end_time, self.end_day), EntryDates(listed=index)
        return Entry((), *times, *self.scaled_seats(standard), self.name or "", dates)


class MoveTarget(OwnSeats):
    day: Date | None = dated(None, "the new date", "the same date", alias="date")
    start_time: StartTime | None = dated(None, "the new start", "the same time")
    end_time: EndTime | None = dated(None, "the new end", "it keeps its length")
    end_day: EndDay | None = dated(None, "as in a schedule entry", "as in a schedule entry")
    placeholder_count: SeatCount | None = dated(None, "other seats", SAME_SEATS)
    node_count: NodeCount | None = dated(None, "only backend nodePool: other nodes", SAME_SEATS)
    seats: NonEmpty[ClassSeats] | None = field(None, "other seats by class", SAME_SEATS)

    def check(self, report: DocumentProblems) -> None:
        super().check(report)
        times = (self.day, self.start_time, self.end_time)
        if all(value is None for value in (*times, self.placeholder_count, self.node_count, self.seats)):
            report("B011", (), "it changes nothing.", "Add date, startTime, endTime or placeholderCount.")
        elif self.end_day is not None and self.end_time is None:
            message = "without endTime the occurrence keeps its length."
            report("B029", "endDay", message, "Add endTime, or remove endDay.", at_key=True)


class MovedEntry(Model):
    day: Date = dated(meaning="date of the occurrence that changes", alias="date")
    start_time: StartTime | None = dated(None, "its start", "the date's only occurrence")
    name: DnsLabelOrNone | None = dated(None, ONLY_NAME, "the only occurrence that starts then")
    to: MoveTarget = field(meaning="the new time, or other seats")

    def move(self, standard: StandardSeats) -> Move:
        to, seats = self.to, self.to.seats_or(standard.seats)
        times = (to.day, to.start_time, to.end_time, to.end_day)
        own = None if seats is standard.seats else seats
        return Move(self.day, self.start_time, *times, self.name, own)
