"""Columns: a fact of a row is declared once, and is in every form."""

from typing import NamedTuple

import pytest
from berth.output.columns import Column, Table, as_json


class Pool(NamedTuple):
    name: str
    seats: int | None
    owner: str | None


class Placed(NamedTuple):
    cluster: str
    pool: Pool


ROWS = (Pool("lab", 5, None), Pool("exam", None, "Ada"), Pool("seminar", 0, None))
COLUMNS: tuple[Column[Pool], ...] = (
    Column("name", "name", lambda pool: pool.name),
    Column(
        "seats", "seatHours", lambda pool: pool.seats, "{} seats".format, lambda seats: seats * 2, none="?"
    ),
    Column("", "owner", lambda pool: pool.owner, is_optional=True),
    Column("by", "", lambda pool: pool.owner, str.upper),
    Column("note", "", lambda _: ""),
)


def test_a_column_is_in_the_json_under_its_key() -> None:
    assert as_json(COLUMNS, ROWS) == [
        {"name": "lab", "seatHours": 10},
        {"name": "exam", "seatHours": None, "owner": "Ada"},
        {"name": "seminar", "seatHours": 0},
    ]


def test_a_column_is_in_the_table_under_its_heading() -> None:
    assert Table.of(COLUMNS, ROWS) == Table(
        ("name", "seats", "by", "note"),
        (("lab", "5 seats", "", ""), ("exam", "?", "ADA", ""), ("seminar", "0 seats", "", "")),
    )


def test_a_table_has_chosen_headings_in_their_order() -> None:
    assert Table.of(COLUMNS, ROWS[:1], ("seats", "name")) == Table(("seats", "name"), (("5 seats", "lab"),))
    with pytest.raises(KeyError, match="sets"):
        Table.of(COLUMNS, ROWS, ("sets",))


def test_columns_without_text_are_left_out() -> None:
    table = Table.of(COLUMNS, ROWS)

    assert table.without_empty().headings == ("name", "seats", "by")
    assert table.without_empty("name", "by") == table
    assert table.without("seats", "note").rows[0] == ("lab", "")


def test_a_column_of_a_nested_value_gives_the_same_table_and_json() -> None:
    columns: list[Column[Placed]] = [column.of(lambda placed: placed.pool) for column in COLUMNS]
    placed = [Placed("prod", pool) for pool in ROWS]

    assert as_json(columns, placed) == as_json(COLUMNS, ROWS)
    assert Table.of(columns, placed) == Table.of(COLUMNS, ROWS)
