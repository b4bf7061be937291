"""Columns: what is said of a row, once for tables of people and answers for programs."""

from collections.abc import Callable, Iterable, Sequence
from itertools import compress
from typing import Generic, NamedTuple, TypeVar

from berth.output import table
from berth.output.table import Fit

Row = TypeVar("Row")
Whole = TypeVar("Whole")
Value = TypeVar("Value")


def _unchanged(value: object) -> object:
    return value


class Column(Generic[Row]):
    """One fact of a row: tables have it under a heading, answers have it as a key.

    Without a heading or a key, they have it not.
    """

    def __init__(  # noqa: PLR0913 - what a fact needs to be shown everywhere
        self,
        heading: str,
        key: str,
        value: Callable[[Row], Value | None],
        text: Callable[[Value], str] = str,
        json: Callable[[Value], object] = _unchanged,
        *,
        none: str = "",
        is_optional: bool = False,
    ) -> None:
        """`text` and `json` show the value. None is null in answers, and the text `none` in tables.

        `is_optional`: answers leave out the key instead.
        """
        self.heading, self.key, self.is_optional = heading, key, is_optional
        self._value, self._text, self._json, self._none = value, text, json, none

    def cell(self, row: Row) -> str:
        """Return what a table shows."""
        value = self._value(row)
        return self._none if value is None else self._text(value)

    def json(self, row: Row) -> object:
        """Return what an answer has."""
        value = self._value(row)
        return None if value is None else self._json(value)

    def of(self, part: Callable[[Whole], Row]) -> "Column[Whole]":
        """Return the column for rows that have such a row as a part."""
        return Column(self.heading, self.key, part, self.cell, self.json, is_optional=self.is_optional)


def as_object(columns: Iterable[Column[Row]], row: Row) -> dict[str, object]:
    """Return the row as a JSON object, with its keys in the order of the columns."""
    pairs = ((column, column.json(row)) for column in columns if column.key)
    return {column.key: value for column, value in pairs if value is not None or not column.is_optional}


class Items(list[dict[str, object]]):
    """The rows of an answer as JSON objects. `keys`: all that any of them may have, in order."""

    def __init__(self, keys: Iterable[str], objects: Iterable[dict[str, object]]) -> None:
        super().__init__(objects)
        self.keys = [*keys]


def as_json(columns: Sequence[Column[Row]], rows: Iterable[Row]) -> Items:
    """Return each row as a JSON object."""
    return Items((column.key for column in columns if column.key), (as_object(columns, row) for row in rows))


class Table(NamedTuple):
    """Headings, and a cell for each of them in each row."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, columns: Sequence[Column[Row]], rows: Iterable[Row], headings: Sequence[str] = ()) -> "Table":
        """Return the table of some headings, in their order; default: of all that the columns have."""
        by_heading = {column.heading: column for column in columns if column.heading}
        shown = [by_heading[heading] for heading in headings or by_heading]
        names = tuple(column.heading for column in shown)
        return cls(names, tuple(tuple(column.cell(row) for column in shown) for row in rows))

    def values(self, heading: str) -> set[str]:
        """Return the different cells below a heading."""
        place = self.headings.index(heading)
        return {row[place] for row in self.rows}

    def without(self, *headings: str) -> "Table":
        """Return the table without these columns."""
        kept = [heading not in headings for heading in self.headings]
        rows = tuple(tuple(compress(row, kept)) for row in self.rows)
        return Table(tuple(compress(self.headings, kept)), rows)

    def without_empty(self, *headings: str) -> "Table":
        """Return the table without those of these columns that have no text; default: of all columns."""
        return self.without(*(name for name in headings or self.headings if self.values(name) <= {""}))

    def written(self, form: str, fit: Fit | None = None) -> str:
        """Return the table as Markdown if that is the form, else as text that fits."""
        if form == "markdown":
            return table.markdown(self.headings, self.rows)
        return table.text(self.headings, self.rows, fit)
