"""`Calendar`: a shared list of dates on which nothing happens."""

from typing import Annotated, ClassVar, Literal

from berth.findings import Path
from berth.schema.base import OR_MAPPING, ListOf, Model, field
from berth.schema.metadata import KindDocument
from berth.schema.report import INVALID, Origin, Report
from berth.schema.types import AnyText, Date
from berth.schema.values import Calendar

ORDER = "B024"


class DateRange(Model):
    """A range of dates; both ends are inclusive."""

    first: Date = field(meaning="first date of a range", alias="from")
    last: Date = field(meaning="last date of a range, inclusive", alias="to")
    title: AnyText = field("", "shown where a date is skipped", "none")

    def check(self, path: Path, report: Report) -> None:
        check_order(self.first, self.last, path, report)


def check_order(first: Date, last: Date, path: Path, report: Report) -> None:
    """Report a range that ends before it begins."""
    if INVALID not in (first, last) and last < first:
        message = f"the range ends on {last}, before it begins on {first}."
        report(ORDER, (*path, "to"), message, "Write the later date in `to`.")


DateOrRange = Annotated[Date | DateRange, OR_MAPPING]


class CalendarSpec(Model):
    dates: ListOf[DateOrRange] = field(meaning="dates, or ranges {from, to, title}")


class CalendarDocument(KindDocument):
    kind_of: ClassVar = "Calendar"
    kind: Literal["Calendar"]
    spec: CalendarSpec

    def declared(self, origin: Origin) -> Calendar:
        dates = tuple(
            (one.first, one.last, one.title) if isinstance(one, DateRange) else (one, one, "")
            for one in self.spec.dates
        )
        return Calendar(origin, self.metadata.name, dates)
