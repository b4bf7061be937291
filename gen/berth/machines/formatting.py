"""Format machines, hours and money, as text and as JSON."""

from collections.abc import Callable
from decimal import Decimal

from berth.dates.moments import hours_text
from berth.machines.capacitycatalog import document_name
from berth.machines.costplan import CAPACITY_TYPES, ReservedUsage
from berth.machines.overtime import HOUR, CountedKinds, Money, dollars
from berth.output.answers import hours_json
from berth.output.columns import Column, Row

UNKNOWN = "not known"


def machines_text(machines: CountedKinds) -> str:
    """Format machines: `4 reserved g5.12xlarge, 2 on-demand m5.large`; reserved first, then by type."""
    counts: dict[tuple[int, str], int] = {}
    for kind, number in machines:
        key = CAPACITY_TYPES.index(kind.capacity_type), kind.type
        counts[key] = counts.get(key, 0) + number
    return ", ".join(
        f"{number} {CAPACITY_TYPES[kind]} {name}" for (kind, name), number in sorted(counts.items())
    )


def percent(part: int, whole: int) -> int:
    """Return a share in percent, rounded half up; of nothing it is 0."""
    return (200 * part + whole) // (2 * whole) if whole else 0


def money_or_unknown(money: Money | None) -> str:
    """Format money, or say that it is not known."""
    return UNKNOWN if money is None else money_text(money)


def minutes(seconds: int) -> int:
    """Round seconds up to minutes."""
    return -(-seconds // 60)


def money_text(money: Money) -> str:
    """Format money: `1,234.50`."""
    return f"{dollars(money):,}"


_NANO = Decimal("1e-9")


def money_json(amount: Money | None) -> str | None:
    """Format dollars as text, so that no reader rounds them.

    Nine decimals let parts add up to their sums; zeros after the cents are left out.
    """
    if amount is None:
        return None
    text = f"{(amount / HOUR).quantize(_NANO):f}"
    return text[:-7] + text[-7:].rstrip("0")


def money_column(heading: str, key: str, money: Callable[[Row], Money | None]) -> Column[Row]:
    return Column(heading, key, money, money_text, money_json, none=UNKNOWN)


USAGE: tuple[Column[ReservedUsage], ...] = (
    Column("hours", "hours", lambda use: use.paid, hours_text, hours_json),
    Column("used h", "usedHours", lambda use: use.used, hours_text, hours_json),
    Column("idle h", "idleHours", lambda use: use.idle, hours_text, hours_json),
    Column("idle share", "", lambda use: f"{percent(use.idle, use.paid)}%"),
    money_column("cost USD", "cost", lambda use: use.money),
    money_column("idle USD", "idleCost", lambda use: use.idle_money),
)
"""The use of a capacity reservation."""


def machines_json(machines: CountedKinds) -> list[dict[str, object]]:
    """Return machines as JSON."""
    return [
        {
            "cloudCapacity": document_name(kind.capacity),
            "instanceType": kind.type,
            "capacityType": kind.capacity_type,
            "zone": kind.zone or None,
            "capacityReservation": kind.reserved or None,
            "count": number,
        }
        for kind, number in machines
    ]
