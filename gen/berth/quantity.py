"""Add, compare and format Kubernetes quantities; `berth.plugins.numbers.quantities` parses them."""

from berth.plugins.numbers.quantities import BINARY, DECIMAL, NANO, QUANTITY
from berth.plugins.numbers.quantities import parse_quantity as parse

__all__ = ["NANO", "add", "canonical", "parse", "readable", "text"]


def canonical(text: str) -> str:
    """Format a valid quantity as Kubernetes does: with the largest unit that needs no fraction."""
    nanos, match = parse(text), QUANTITY.fullmatch(text)
    assert nanos is not None
    assert match is not None
    if not nanos:
        return "0"
    _, _, exponent, binary, _ = match.groups()
    if binary and not nanos % NANO and abs(nanos) >= 1024 * NANO:
        units = [(factor * NANO, unit) for unit, factor in BINARY.items()]
        least, unit = max(((each, unit) for each, unit in units if not nanos % each), default=(NANO, ""))
        return f"{nanos // least}{unit}"
    power = max(power for power in range(-9, 19, 3) if not nanos % 10 ** (power + 9))
    number = nanos // 10 ** (power + 9)
    if exponent:
        return f"{number}e{power}" if power else str(number)
    return str(number) + next(unit for unit, each in DECIMAL.items() if each == power)


def add(first: str, second: str) -> str:
    """Add two valid quantities. Format the sum as Kubernetes does."""
    nanos = (parse(first) or 0) + (parse(second) or 0)
    in_binary = "i" in first + second and not nanos % (1024 * NANO)
    return canonical(f"{nanos // (1024 * NANO)}Ki" if in_binary else f"{nanos}n")


def text(nanos: int) -> str:
    """Format an amount for people: `12`, `1.5`, or `96Gi` for whole GiB."""
    if nanos and nanos % (2**30 * NANO) == 0:
        return f"{nanos // (2**30 * NANO)}Gi"
    whole, part = divmod(nanos, NANO)
    return f"{whole}.{part:09}".rstrip("0") if part else str(whole)


_GIB, _MIB = 2**30 * NANO, 2**20 * NANO


def readable(resource: str, text: str) -> str:
    """Return an amount in the units that people read: `4 GiB` of memory, `1.5 cores`; else the text."""
    nanos = parse(text)
    if nanos is None:
        return text
    if resource == "cpu":
        return f"{_decimal(nanos, NANO)} core{'' if nanos == NANO else 's'}"
    if resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-"):
        unit, name = (_GIB, "GiB") if nanos >= _GIB or not nanos else (_MIB, "MiB")
        return f"{_decimal(nanos, unit)} {name}"
    return text


def _decimal(nanos: int, unit: int) -> str:
    """Return a number with at most three decimals, and commas between thousands."""
    text = f"{nanos / unit:,.3f}".rstrip("0").rstrip(".")
    return text if text != "0" or not nanos else "< 0.001"
