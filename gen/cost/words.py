"""How machines and money are said, wherever they are."""

from gen.cost.ledger import CAPACITY_TYPES
from gen.cost.standing import Machines
from gen.cost.values import Money, dollars

UNKNOWN = "not known"


def machines_text(machines: Machines) -> str:
    """`4 reserved g5.12xlarge, 2 on-demand m5.large`; what is reserved first, then by type."""
    counts: dict[tuple[int, str], int] = {}
    for sort, number in machines:
        key = CAPACITY_TYPES.index(sort.capacity_type), sort.type
        counts[key] = counts.get(key, 0) + number
    return ", ".join(
        f"{number} {CAPACITY_TYPES[kind]} {name}" for (kind, name), number in sorted(counts.items())
    )


def band_text(number: int, least: int, most: int) -> str:
    """`5`; `4 to 6` where Karpenter's own order is open."""
    return str(number) if least == most else f"{least} to {most}"


def share(part: int, whole: int) -> int:
    """Per cent, rounded half up; of nothing it is 0."""
    return (200 * part + whole) // (2 * whole) if whole else 0


def known(money: Money | None) -> str:
    return UNKNOWN if money is None else money_text(money)


def minutes(seconds: int) -> int:
    return -(-seconds // 60)


def money_text(money: Money) -> str:
    """`1,234.50`"""
    return f"{dollars(money):,}"
