"""Money as it is written, to the last digit."""

from decimal import Decimal

import pytest
from berth.schema.types import Price

from tests.saying import ask

GOOD = {0: "0", 12: "12", 0.1: "0.1", 98.32: "98.32", "31.460": "31.460"}
NONE = {"-1": -1, "exponent": "1e3", "word": "free", "dots": "1.2.3", "empty": "", "digits": "1" * 31}


@pytest.mark.parametrize(("written", "price"), GOOD.items())
def test_a_price_is_read_exactly(written: object, price: str) -> None:
    assert ask(Price, written) == (Decimal(price), [])


@pytest.mark.parametrize("written", NONE.values(), ids=NONE)
def test_an_invalid_price_is_refused(written: object) -> None:
    assert ask(Price, written)[1] == ["B013"]


def test_a_price_above_the_maximum_is_refused() -> None:
    assert ask(Price, 10**12 + 1)[1] == ["B012"]
