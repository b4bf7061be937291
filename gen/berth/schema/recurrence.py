"""`recurrence` of a reservation: when it happens, by entries, exceptions, moves and extra occurrences."""

from datetime import date
from typing import TYPE_CHECKING, Annotated, Literal

from berth.findings import Path
from berth.schema.base import OR_MAPPING, ListOf, Model, NonEmpty, Whole, field, lazy
from berth.schema.calendar import ORDER
from berth.schema.entry import ScheduleEntry, check_length
from berth.schema.report import CONFLICT, IDLE_KEY, INVALID, MISSING, Report
from berth.schema.types import (
    Date,
    DnsLabel,
    TimeZone,
)
from berth.schema.values import Except, Recurrence, Seats

STANDING = Recurrence(
    type="standing",
    zone="",
    first=None,
    last=None,
    dates=(),
    interval=1,
    schedule=(),
    calendars=(),
    excepts=(),
    moves=(),
    extras=(),
)


if TYPE_CHECKING:
    from berth.schema.datechanges import DateException, ExtraEntry, MovedEntry, UntitledRange
else:
    DateException = lazy("berth.schema.datechanges", "DateException")
    ExtraEntry = lazy("berth.schema.datechanges", "ExtraEntry")
    MovedEntry = lazy("berth.schema.datechanges", "MovedEntry")
    UntitledRange = lazy("berth.schema.datechanges", "UntitledRange")

DateOrException = Annotated[Date | DateException, OR_MAPPING]


class RecurrenceSpec(Model):
    type: Literal["once", "daily", "weekly", "dates"] = field(meaning="once, daily, weekly or dates")
    start_date: Date | None = field(None, "first date; needed but for `dates`", "none")
    end_date: Date | None = field(None, "last date, inclusive; needed but for `dates`", "none")
    dates: NonEmpty[Annotated[Date | UntitledRange, OR_MAPPING]] | None = field(
        None, "only `dates`: dates, or ranges {from, to}", "none"
    )
    time_zone: TimeZone | None = field(None, "zone of all its times", "the site's")
    interval: Annotated[int, Whole(1, 52)] = field(
        1, "only `weekly`: every n-th week, counted from startDate's ISO week"
    )
    schedule: NonEmpty[ScheduleEntry] = field(meaning="times of day, by weekday for `weekly`")
    calendars: ListOf[DnsLabel] = field((), "Calendars whose dates do not happen", "none")
    excepted: ListOf[DateOrException] = field(
        (), "dates, {from, to} or {date, startTime} left out", "none", alias="except"
    )
    moved: ListOf[MovedEntry] = field((), "single occurrences at another time", "none")
    extra: ListOf[ExtraEntry] = field((), "single occurrences besides the schedule", "none")

    def check(self, path: Path, report: Report) -> None:
        if self.type is INVALID:
            return  # what else there should be depends on it
        if self.type == "dates":
            self._check_without_span(path, report)
        else:
            self._check_span(path, report)
        if self.type != "weekly" and self.interval != 1:
            message, fix = f"type {self.type} takes no interval.", "Remove it, or write type: weekly."
            report(CONFLICT, (*path, "interval"), message, fix, at_key=True)
        for i, entry in enumerate(() if self.schedule is INVALID else self.schedule):
            if entry is not INVALID:
                at = (*path, "schedule", i)
                self._check_weekdays(entry, at, report)
                self._check_end(entry, at, report)

    def _check_without_span(self, path: Path, report: Report) -> None:
        for name, value in (("startDate", self.start_date), ("endDate", self.end_date)):
            if value is not None:
                fix = "Remove it, or change the type."
                report(CONFLICT, (*path, name), f"type dates takes no {name}.", fix, at_key=True)
        if self.dates is None:
            report(MISSING, path, "dates is missing.", "Add dates: a list of dates.")

    def _check_span(self, path: Path, report: Report) -> None:
        first, last = self.start_date, self.end_date
        for name, value in (("startDate", first), ("endDate", last)):
            if value is None:
                report(MISSING, path, f"{name} is missing.", f"Add {name}: a date.")
        if self.dates is not None:
            message, fix = f"type {self.type} takes no dates.", "Remove it, or write type: dates."
            report(CONFLICT, (*path, "dates"), message, fix, at_key=True)
        if first is None or last is None or INVALID in (first, last):
            return
        if last < first:
            message, fix = f"{last} is before startDate {first}.", "Write a date on or after startDate."
            report(ORDER, (*path, "endDate"), message, fix)

    def _check_weekdays(self, entry: ScheduleEntry, path: Path, report: Report) -> None:
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

    def _check_end(self, entry: ScheduleEntry, path: Path, report: Report) -> None:
        """Check the end: of `once` it is on endDate; of the others on or after the day of the start."""
        first, last = self.start_date, self.end_date
        if self.type == "once" and first != last:
            if INVALID not in (first, last) and entry.end_day is not None:
                message, fix = "endDate already sets the day of the end.", "Remove endDay."
                report(CONFLICT, (*path, "endDay"), message, fix, at_key=True)
        elif self.type != "once" or first not in (None, INVALID):
            check_length((entry.start_time, entry.end_time, entry.end_day), path, report)

    def check_form(self, meant: str, path: Path, report: Report) -> None:
        """Report entries and extras that have seats in another form than the reservation itself."""
        for name, lines in (("schedule", self.schedule), ("extra", self.extra)):
            for i, entry in enumerate(() if lines is INVALID else lines):
                if entry is INVALID:
                    continue
                pairs = (
                    ("placeholderCount", entry.placeholder_count),
                    ("nodeCount", entry.node_count),
                    ("seats", entry.seats),
                )
                for refused, value in pairs:
                    if refused != meant and value is not None:
                        message = f"provisioning has {meant}; {refused} cannot override it."
                        fix = f"Write {meant} here too."
                        report(CONFLICT, (*path, name, i, refused), message, fix, at_key=True)

    def recurrence(self, standard: Seats) -> Recurrence:
        """Return the recurrence as a value; its zone is empty if none is given."""
        weekly = self.type == "weekly"
        return Recurrence(
            type=self.type,
            zone=self.time_zone or "",
            first=self.start_date,
            last=self.end_date,
            dates=tuple(
                (one, one) if isinstance(one, date) else (one.first, one.last) for one in self.dates or ()
            ),
            interval=self.interval,
            schedule=tuple(one.entry(weekly, standard) for one in self.schedule),
            calendars=self.calendars,
            excepts=tuple(
                Except(one, one, None) if isinstance(one, date) else one.excepted for one in self.excepted
            ),
            moves=tuple(one.move for one in self.moved),
            extras=tuple(one.extra(standard) for one in self.extra),
        )
