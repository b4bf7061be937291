"""How money stands in JSON."""

from decimal import Decimal

import pytest
from berth.machines.formatting import money_json
from berth.machines.overtime import HOUR


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        (Decimal(0), "0.00"),
        (Decimal("0.5") * HOUR, "0.50"),
        (Decimal("0.096") * 14_460, "0.3856"),
        (Decimal("0.1") * 7, "0.000194444"),
        (Decimal("100000000") * HOUR, "100000000.00"),
        (None, None),
    ],
    ids=["nothing", "cents", "less-than-a-cent", "no-end", "much", "not-known"],
)
def test_money_is_formatted_for_json(amount: Decimal | None, expected: str | None) -> None:
    assert money_json(amount) == expected
