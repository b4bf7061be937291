"""Single dates of a recurrence that differ from its schedule: exceptions, moves and extra occurrences."""

from berth.findings import Path
from berth.schema.base import Model, field
from berth.schema.calendar import check_order
from berth.schema.entry import END, END_DAY, NEXT_DAY, TIME, EndDay, OwnSeats, check_length
from berth.schema.report import CONFLICT, IDLE_KEY, MISSING, Report
from berth.schema.types import AnyText, Date, EndTime, StartTime
from berth.schema.values import Except, Extra, Move, Seats


class ExtraEntry(OwnSeats):
    day: Date = field(meaning="date of one more occurrence", alias="date")
    start_time: StartTime = field(meaning=TIME)
    end_time: EndTime = field(meaning=END)
    end_day: EndDay | None = field(None, END_DAY, NEXT_DAY)

    def check(self, path: Path, report: Report) -> None:
        super().check(path, report)
        check_length((self.start_time, self.end_time, self.end_day), path, report)

    def extra(self, standard: Seats) -> Extra:
        times = (self.start_time, self.end_time, self.end_day)
        return Extra(self.day, *times, self.seats_or(standard))


class DateException(Model):
    """Dates that do not happen, or one occurrence of a date."""

    day: Date | None = field(None, "one date", "none", alias="date")
    first: Date | None = field(None, "first date of a range", "none", alias="from")
    last: Date | None = field(None, "last date of a range, inclusive", "none", alias="to")
    start_time: StartTime | None = field(None, "only the occurrence that starts then", "all of the date")
    title: AnyText = field("", "a remark", "none")

    def check(self, path: Path, report: Report) -> None:
        pairs = (("date", self.day), ("from", self.first), ("to", self.last))
        given = [name for name, value in pairs if value is not None]
        if given[:1] == ["date"] and given != ["date"]:
            message = f"date and {given[1]} are both given."
            report(CONFLICT, path, message, "Keep date, or from and to.")
        elif not given:
            report(MISSING, path, "it has no date.", "Add date, or from and to.")
        elif given in (["from"], ["to"]):
            other = "to" if given == ["from"] else "from"
            report(MISSING, path, f"{other} is missing.", f"Add {other}: a date.")
        elif self.first is not None and self.last is not None:
            check_order(self.first, self.last, path, report)

    @property
    def excepted(self) -> Except:
        if self.day is not None:
            return Except(self.day, self.day, self.start_time)
        assert self.first is not None
        assert self.last is not None
        return Except(self.first, self.last, self.start_time)


class MoveTarget(Model):
    day: Date | None = field(None, "the new date", "the same date", alias="date")
    start_time: StartTime | None = field(None, "the new start", "the same time")
    end_time: EndTime | None = field(None, "the new end", "it keeps its length")
    end_day: EndDay | None = field(None, "as in a schedule entry", "as in a schedule entry")

    def check(self, path: Path, report: Report) -> None:
        if self.day is None and self.start_time is None and self.end_time is None:
            report(MISSING, path, "it changes nothing.", "Add date, startTime or endTime.")
        elif self.end_day is not None and self.end_time is None:
            message = "without endTime the occurrence keeps its length."
            report(IDLE_KEY, (*path, "endDay"), message, "Add endTime, or remove endDay.", at_key=True)


class MovedEntry(Model):
    day: Date = field(meaning="date of the occurrence that moves", alias="date")
    start_time: StartTime | None = field(None, "its start", "the date's only occurrence")
    to: MoveTarget = field(meaning="when it happens instead")

    @property
    def move(self) -> Move:
        to = self.to
        times = (to.start_time, to.end_time, to.end_day)
        return Move(self.day, self.start_time, to.day or self.day, *times)


class UntitledRange(Model):
    """A range of dates on which a reservation happens."""

    first: Date = field(alias="from")
    last: Date = field(alias="to")

    def check(self, path: Path, report: Report) -> None:
        check_order(self.first, self.last, path, report)
