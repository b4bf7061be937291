"""Answers for programs in JSON, YAML and CSV, and the values in them that many answers have."""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING

from berth.core.jsonvalues import instant_text
from berth.output import yamltext
from berth.output.columns import Column, Items, Row
from berth.output.escape import in_json, visible
from berth.schema.seatholders import Unit

if TYPE_CHECKING:  # every command has answers, and only some read the schema
    from berth.schema.reservationspec import OwnerSpec

Answer = Mapping[str, object]
"""What a command answers to programs, of the values that JSON has."""

DATA_FORMS = ("json", "yaml", "csv")


def document(kind: str, content: Answer) -> Answer:
    """Return an answer of Berth, as all its forms have it."""
    from berth.core.timetable import API_VERSION  # noqa: PLC0415 - a tenth of the time of `--help`

    return {"apiVersion": API_VERSION, "kind": kind, **content}


def serialize(answer: Answer, form: str) -> str:
    """Write an answer in one of DATA_FORMS. CSV has its `items` only."""
    if form == "yaml":
        return yamltext.block(answer, 0) + "\n"
    if form == "csv":
        return _csv(answer["items"])
    return in_json(json.dumps(answer, indent=2, ensure_ascii=False)) + "\n"


def _csv(items: object) -> str:
    """Write a line for each item, and below the same headings always."""
    assert isinstance(items, Items)
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(items.keys)
    writer.writerows([visible(_csv_cell(item.get(key))) for key in items.keys] for item in items)
    return file.getvalue()


def _csv_cell(value: object) -> str:
    """Return a value in one cell: `small=25 gpu=3` for a mapping."""
    if isinstance(value, Mapping):
        return " ".join(f"{key}={_csv_cell(inner)}" for key, inner in value.items())
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return " ".join(map(_csv_cell, value))
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@")):
        return f"'{value}"  # a spreadsheet would run it
    return "" if value is None else str(value)


def instant_column(heading: str, key: str, instant: Callable[[Row], int | None]) -> Column[Row]:
    """Return the column of an instant, which tables show in UTC: `2026-02-02 08:00`."""
    return Column(heading, key, instant, minute_text, instant_text)


def minute_text(instant: int) -> str:
    return instant_text(instant)[:16].replace("T", " ")


def instant_json(instant: int | None) -> str | None:
    return None if instant is None else instant_text(instant)


def hours_json(seconds: int) -> int | float:
    """Return hours, as a whole number where they are one."""
    whole, rest = divmod(seconds, 3600)
    return seconds / 3600 if rest else whole


def owner_column(owner: "Callable[[Row], OwnerSpec | None]") -> Column[Row]:
    """Return the column of who asks for a reservation."""
    return Column("owner", "owner", owner, str, owner_json)


def owner_json(owner: "OwnerSpec | None") -> dict[str, str | None] | None:
    return None if owner is None else {"name": owner.name, "contact": owner.contact or None}


Counts = Sequence[tuple[str, int]]
"""Seats or whole nodes by class."""


def counts_json(counts: Counts, unit: Unit) -> Answer:
    """Return `seats` by class; or `nodes`, `replicas`, `runners`, `cores` or `units` where these count."""
    if unit is Unit.SEAT:
        return {"seats": dict(counts)}
    return {"seats": {}, unit.key: dict(counts), **({"unit": unit.value} if unit.is_quantity else {})}


def count_columns(counts: Callable[[Row], tuple[Counts, Unit]]) -> Sequence[Column[Row]]:
    """Return the columns of seats, and of what else is counted, which is beside them in answers only."""
    return (
        Column("seats", "", lambda row: seats_text(*counts(row))),
        Column("", "seats", lambda row: counts_json(*counts(row))["seats"]),
        *(_others_column(counts, key) for key in dict.fromkeys(unit.key for unit in Unit) if key != "seats"),
        _others_column(counts, "unit"),
    )


def _others_column(counts: Callable[[Row], tuple[Counts, Unit]], key: str) -> Column[Row]:
    return Column("", key, lambda row: counts_json(*counts(row)).get(key), is_optional=True)


def seats_text(counts: Counts, unit: Unit = Unit.SEAT) -> str:
    """Return `25 small`, `3 nodes of small` or `64 Gi of small` where others count; several by commas."""
    single, several = ("", "") if unit is Unit.SEAT else (f" {unit.value} of", f" {unit.plural} of")
    return ", ".join(f"{count}{single if count == 1 else several} {name}" for name, count in counts)
