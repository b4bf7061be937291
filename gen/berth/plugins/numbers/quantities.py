"""Kubernetes quantities (`500m`, `1.5`, `4Gi`, `2e3`) as exact numbers.

The grammar and the rounding (up to a billionth) are those of resource.Quantity in apimachinery.
"""

import re

NANO = 10**9

QUANTITY = re.compile(
    r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:([eE][+-]?[0-9]{1,3})|([KMGTPE]i)|([numkMGTPE]?))", re.ASCII
)
BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_LARGEST = (2**63 - 1) * NANO


def parse_quantity(text: str) -> int | None:
    """Return the quantity in billionths, rounded up; None if Kubernetes would refuse the text."""
    match = QUANTITY.fullmatch(text)
    if match is None or len(text) > 40:
        return None
    sign, digits, exponent, binary, decimal = match.groups()
    whole, _, part = digits.partition(".")
    mantissa = int(whole + part or "0")
    if binary:
        scale, factor = 9 - len(part), BINARY[binary]
    else:
        scale = 9 - len(part) + (int(exponent[1:]) if exponent else DECIMAL[decimal])
        factor = 1
    amount = mantissa * factor
    value: int = amount * 10**scale if scale >= 0 else -(-amount // 10**-scale)
    return min(value, _LARGEST) * (-1 if sign == "-" else 1)
