"""`Calendar`: a shared list of dates on which nothing happens."""

from typing import Any

from gen.finding import Path
from gen.kind import grammar
from gen.kind.metadata import document
from gen.kind.shape import Either, Field, Fields, ListOf, Report, Text
from gen.model import Calendar, Origin

DATE = Text("date", grammar.day)
ORDER = "B024"


def in_order(made: dict[str, Any], path: Path, report: Report) -> Any:
    """A range of dates; both ends are inclusive."""
    if made["to"] < made["from"]:
        message = f"the range ends on {made['to']}, before it begins on {made['from']}."
        return report(ORDER, (*path, "to"), message, "Write the later date in `to`.")
    return made


_RANGE = Fields(
    {
        "from": Field(DATE, meaning="first date of a range"),
        "to": Field(DATE, meaning="last date of a range, inclusive"),
        "title": Field(Text(), "", "shown where a date is skipped", "none"),
    },
    in_order,
)

SPEC = Fields(
    {"dates": Field(ListOf(Either(DATE, _RANGE)), meaning="dates, or ranges {from, to, title}")},
)


def _make(made: dict[str, Any], path: Path, report: Report) -> Any:
    del path
    dates = tuple(
        (item["from"], item["to"], item["title"]) if isinstance(item, dict) else (item, item, "")
        for item in made["spec"]["dates"]
    )
    return Calendar(Origin(report.file, report.index), made["metadata"]["name"], dates)


DOCUMENT = document("Calendar", SPEC, _make)
