"""`Calendar`: shared dates on which nothing happens, and the dates of terms."""

from datetime import date
from typing import Annotated, Literal, NamedTuple

from berth.findings import Origin
from berth.schema.basemodel import ListOf, Model, NonEmpty, Switch, field
from berth.schema.documentproblems import DocumentProblems
from berth.schema.metadata import KindDocument
from berth.schema.types import Date, DateSpan, DnsLabel, EndTime, StartTime, Title


class ClosedDates(NamedTuple):
    """Dates of a calendar, both inclusive. `since` and `until` are minutes, of one date only."""

    first: date
    last: date
    title: str = ""
    since: int = 0
    until: int = 1440


class DateRange(Model):
    """A range of dates; both ends are inclusive."""

    dates_in_order = ("from", "to")
    first: Date = field(meaning="first date of a range", alias="from")
    last: Date = field(meaning="last date of a range, inclusive", alias="to")
    title: Title = field("", "shown where a date is skipped", "none")

    @property
    def closed(self) -> ClosedDates:
        return ClosedDates(self.first, self.last, self.title)


class SingleDate(Model):
    """One date, or some hours of it."""

    day: Date = field(meaning="one date, instead of a range", alias="date")
    since: StartTime = field(0, "with `date`: only from this time", '`"00:00"`', alias="from")
    until: EndTime = field(1440, "with `date`: only until this time, exclusive", '`"24:00"`')
    title: Title = field("", "shown where a date is skipped", "none")

    def check(self, report: DocumentProblems) -> None:
        if self.until <= self.since:
            message, fix = "`until` is not after `from`.", "Write a later time in `until`."
            report("B024", "until", message, fix)

    @property
    def closed(self) -> ClosedDates:
        return ClosedDates(self.day, self.day, self.title, self.since, self.until)


class Term(Model):
    """A range of dates with a name."""

    dates_in_order = ("from", "to")
    name: DnsLabel = field(meaning="name of the term, unique in the site")
    first: Date = field(meaning="first date of the term", alias="from")
    last: Date = field(meaning="last date of the term, inclusive", alias="to")


def _form(value: object) -> int:
    """Tell which form of a date this is: the date alone, a range, or a mapping with `date`."""
    if not isinstance(value, dict):
        return 0
    return 2 if "date" in value else 1


CalendarDate = Annotated[DateSpan | DateRange | SingleDate, Switch(_form)]


class CalendarSpec(Model):
    dates: ListOf[CalendarDate] | None = field(
        None,
        "dates, {from, to, title} or {date, from, until, title}",
        "**required**, but with `terms`",
    )
    terms: NonEmpty[Term] | None = field(None, "named ranges of dates for `recurrence.within`", "none")
    closes: bool = field(
        False,
        "true: nothing happens in the whole site on these dates, not even what was moved there",
    )

    def check(self, report: DocumentProblems) -> None:
        if self.dates is None and self.terms is None:
            report("B011", (), "dates is missing.", "Add dates: a list of dates.")
        elif self.closes is True and not self.dates:
            message = "the calendar has no dates on which it could close anything."
            report("B029", "closes", message, "Add dates, or remove it.", at_key=True)


class Calendar(NamedTuple):
    origin: Origin
    name: str
    dates: tuple[ClosedDates, ...]
    terms: tuple[Term, ...] = ()
    closes: bool = False  # nothing happens on its dates, whoever names it
    is_site_wide: bool = False  # named by the Site, for all reservations


class CalendarDocument(KindDocument):
    kind: Literal["Calendar"]
    spec: CalendarSpec

    def declared(self, origin: Origin) -> Calendar:
        return Calendar(
            origin,
            self.metadata.name,
            tuple(
                item.closed if isinstance(item, Model) else ClosedDates(*item)
                for item in self.spec.dates or ()
            ),
            self.spec.terms or (),
            self.spec.closes,
        )
