"""Parse and format Kubernetes quantities (`500m`, `1.5`, `4Gi`, `2e3`) as exact numbers.

The grammar and the rounding (up to a billionth) are those of resource.Quantity in apimachinery.
"""

import re

NANO = 10**9

_QUANTITY = re.compile(
    r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:([eE][+-]?[0-9]{1,3})|([KMGTPE]i)|([numkMGTPE]?))", re.ASCII
)
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_LARGEST = (2**63 - 1) * NANO


def parse(text: str) -> int | None:
    """Return the quantity in billionths, rounded up; None if Kubernetes would refuse the text."""
    match = _QUANTITY.fullmatch(text)
    if match is None or len(text) > 40:
        return None
    sign, digits, exponent, binary, decimal = match.groups()
    whole, _, part = digits.partition(".")
    mantissa = int(whole + part or "0")
    if binary:
        scale, factor = 9 - len(part), _BINARY[binary]
    else:
        scale = 9 - len(part) + (int(exponent[1:]) if exponent else _DECIMAL[decimal])
        factor = 1
    amount = mantissa * factor
    value: int = amount * 10**scale if scale >= 0 else -(-amount // 10**-scale)
    return min(value, _LARGEST) * (-1 if sign == "-" else 1)


def canonical(text: str) -> str:
    """Format a valid quantity as Kubernetes does: with the largest unit that needs no fraction."""
    nanos, match = parse(text), _QUANTITY.fullmatch(text)
    assert nanos is not None
    assert match is not None
    if not nanos:
        return "0"
    _, _, exponent, binary, _ = match.groups()
    if binary and not nanos % NANO and abs(nanos) >= 1024 * NANO:
        units = [(factor * NANO, unit) for unit, factor in _BINARY.items()]
        least, unit = max(((each, unit) for each, unit in units if not nanos % each), default=(NANO, ""))
        return f"{nanos // least}{unit}"
    power = max(power for power in range(-9, 19, 3) if not nanos % 10 ** (power + 9))
    number = nanos // 10 ** (power + 9)
    if exponent:
        return f"{number}e{power}" if power else str(number)
    return str(number) + next(unit for unit, each in _DECIMAL.items() if each == power)


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
