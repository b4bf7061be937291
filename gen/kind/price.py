"""Money, exactly as it is written."""

from typing import Any, NamedTuple

from gen.finding import Path
from gen.kind.shape import RANGE, Report, shown, wrong_type

_MOST = 10**12


class Price(NamedTuple):
    """A number from 0 up; text with its digits is one too. Checked, it is a Decimal."""

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) not in (int, float, str):
            return wrong_type(value, self.words(), path, report)
        text = repr(value) if type(value) is float else str(value)
        if not text.isascii() or not text.replace(".", "", 1).isdigit() or len(text) > 30:
            return wrong_type(value, self.words(), path, report)
        from decimal import Decimal  # noqa: PLC0415 - dear to load, and few sites speak of money

        price = Decimal(text)
        if price > _MOST:
            return report(RANGE, path, f"{shown(value)} is above {_MOST}.", "Write what it costs.")
        return price

    def words(self) -> str:
        return "price: a number from 0 up"


PRICE = Price()
