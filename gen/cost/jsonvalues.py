"""How machines, hours and money stand in JSON answers, wherever they do."""

from decimal import Decimal

from gen.cost.ledger import Use
from gen.cost.standing import Machines
from gen.cost.values import HOUR, Money
from gen.report import hours_json

Answer = dict[str, object]
_NANO = Decimal("1e-9")


def money_json(amount: Money | None) -> str | None:
    """Dollars as text, so that no reader rounds them: nine decimals, so that parts add up to their sums, but
    without zeros behind the cents.
    """
    if amount is None:
        return None
    text = f"{(amount / HOUR).quantize(_NANO):f}"
    return text[:-7] + text[-7:].rstrip("0")


def machines_json(machines: Machines) -> list[Answer]:
    return [
        {
            "cloudCapacity": sort.capacity,
            "instanceType": sort.type,
            "capacityType": sort.capacity_type,
            "zone": sort.zone or None,
            "capacityReservation": sort.reserved or None,
            "count": number,
        }
        for sort, number in machines
    ]


def use_json(use: Use) -> Answer:
    return {
        "hours": hours_json(use.paid),
        "usedHours": hours_json(use.used),
        "idleHours": hours_json(use.idle),
        "cost": money_json(use.money),
        "idleCost": money_json(use.idle_money),
    }
