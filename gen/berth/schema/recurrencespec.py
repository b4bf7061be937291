"""`recurrence` of a reservation: when it happens, by entries, exceptions, moves and extra occurrences."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal

from berth.findings import Path
from berth.notation.days import DateSpan as Span
from berth.schema.basemodel import OR_MAPPING, ListOf, Model, NonEmpty, NonEmptyUnique, Whole, field, lazy
from berth.schema.documentproblems import DocumentProblems
from berth.schema.entry import OwnSeats, ScheduleEntry, StandardSeats, check_length, dated
from berth.schema.types import Date, DateSpan, DnsLabel, TimeZone
from berth.schema.values import Except, Recurrence

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
_TYPES_OF_ENTRY = {
    **dict.fromkeys(("weeks", "monthly"), ("weekly",)),
    **dict.fromkeys(("first", "last"), (*_REPEATED, "dates")),
}
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
    dates_in_order = ("startDate", "endDate")
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

    def check(self, report: DocumentProblems) -> None:
        self._refuse_keys(self, _TYPES_OF, report)
        if self.type == "capacity":
            if self.cloud_capacity is None:
                fix = "Add cloudCapacity: the name of a CloudCapacity."
                report("B011", (), "cloudCapacity is missing.", fix)
            return
        self._check_span(report)
        has_all_hours = bool(self.dates) and not any(
            isinstance(line, Span) or line.start_time is None for line in self.dates or ()
        )
        if self.schedule is None and not (self.type == "dates" and has_all_hours):
            report("B011", (), "schedule is missing.", "Add schedule: a list of times of day.")
        for i, entry in enumerate(self.schedule or ()):
            here = report.below("schedule", i)
            self._refuse_keys(entry, _TYPES_OF_ENTRY, here)
            self._check_weekdays(entry, here)
            self._check_dates(entry, here)
            self._check_end(entry, here)

    def _refuse_keys(
        self, line: Model, types_of: Mapping[str, tuple[str, ...]], report: DocumentProblems
    ) -> None:
        """Report keys of the recurrence, or of an entry, that its type does not take."""
        for name, known in type(line).model_fields.items():
            types = types_of.get(name, _TYPES_WITH_TIMES)
            if self.type not in types and getattr(line, name) != known.default:
                key, fix = known.alias or name, f"Remove it, or write type: {' or '.join(types)}."
                report("B016", key, f"type {self.type} takes no {key}.", fix, at_key=True)

    def _check_span(self, report: DocumentProblems) -> None:
        """Check that one of the ways to tell the dates is complete, and the only one."""
        first, last = self.start_date, self.end_date
        for name, value in (("startDate", first), ("endDate", last)):
            if self.type in _REPEATED and self.within is not None:
                if value is not None:
                    message = f"within and {name} are both given."
                    fix = "Keep within, or startDate and endDate."
                    report("B016", name, message, fix, at_key=True)
            elif self.type != "dates" and value is None:
                report("B011", (), f"{name} is missing.", f"Add {name}: a date.")
        if self.type == "dates" and self.dates is None:
            report("B011", (), "dates is missing.", "Add dates: a list of dates.")

    def _check_weekdays(self, entry: ScheduleEntry, report: DocumentProblems) -> None:
        weekdays = {"dayOfWeek": entry.day_of_week, "daysOfWeek": entry.days_of_week}
        given = [name for name, value in weekdays.items() if value is not None]
        if self.type == "weekly" and not given:
            message = "an entry of type weekly needs its weekday."
            report("B011", (), message, "Add dayOfWeek or daysOfWeek.")
        elif self.type == "weekly":
            report.exclude(weekdays)
        elif self.type in ("daily", "dates"):
            for name in given:
                message = f"type {self.type} ignores weekdays."
                report("B029", name, message, "Remove it, or write type: weekly.", at_key=True)

    def _check_dates(self, entry: ScheduleEntry, report: DocumentProblems) -> None:
        """Check that an entry's dates are among those of the recurrence, and one rule leaves out weeks."""
        first, last = self.start_date, self.end_date
        for name, value in (("from", entry.first), ("until", entry.last)):
            if self.type != "once" and value and first and last and not first <= value <= last:
                message = f"{value} is not between startDate {first} and endDate {last}."
                report("B016", name, message, "Write a date between them, or remove it.")
        for name in ("weeks", "monthly") if self.type == "weekly" and self.interval != 1 else ():
            if getattr(entry, name) is not None:
                message = f"{name} and interval {self.interval} are both given."
                report("B016", name, message, "Keep one of the two.", at_key=True)

    def _check_end(self, entry: ScheduleEntry, report: DocumentProblems) -> None:
        """Check the end: of `once` it is on endDate; of the others on or after the day of the start."""
        first, last = self.start_date, self.end_date
        if self.type == "once" and first != last:
            if entry.end_day is not None:
                message, fix = "endDate already sets the day of the end.", "Remove endDay."
                report("B016", "endDay", message, fix, at_key=True)
        elif self.type != "once" or first is not None:
            check_length(entry.times, report)

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
