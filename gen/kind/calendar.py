"""`Calendar`: a shared list of dates on which nothing happens."""

from gen.finding import Path
from gen.kind import grammar
from gen.kind.metadata import Document
from gen.kind.shape import INVALID, Either, Field, Fields, ListOf, Made, Report
from gen.kind.value import Text
from gen.model import Calendar, Origin

DATE = Text("date", grammar.day)
ORDER = "B024"


def in_order(made: Made, path: Path, report: Report) -> None:
    """A range of dates; both ends are inclusive."""
    if INVALID not in (made["from"], made["to"]) and made["to"] < made["from"]:
        message = f"the range ends on {made['to']}, before it begins on {made['from']}."
        report(ORDER, (*path, "to"), message, "Write the later date in `to`.")


_RANGE = Fields(
    {
        "from": Field(DATE, meaning="first date of a range"),
        "to": Field(DATE, meaning="last date of a range, inclusive"),
        "title": Field(Text(), "", "shown where a date is skipped", "none"),
    },
    agree=in_order,
)

SPEC = Fields(
    {"dates": Field(ListOf(Either(DATE, _RANGE)), meaning="dates, or ranges {from, to, title}")},
)


def _build(made: Made, origin: Origin) -> Calendar:
    dates = tuple(
        (item["from"], item["to"], item["title"]) if isinstance(item, dict) else (item, item, "")
        for item in made["spec"]["dates"]
    )
    return Calendar(origin, made["metadata"]["name"], dates)


DOCUMENT = Document("Calendar", SPEC, _build)
