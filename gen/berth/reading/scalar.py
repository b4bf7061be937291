"""Resolve plain scalars as YAML 1.2 does: `no` and `09:00` are text, `25` is a number, `~` is null.

This is the core schema of YAML 1.2.2, chapter 10.3. Quoted scalars are always text and not resolved here.
"""

import re


class ZeroPrefixedNumber(str):
    """A whole number without quotes that begins with a zero, as it is written: `0900`, `017`.

    YAML 1.1 and 1.2 read it as different numbers, and usually a time is meant. So it is neither text nor
    number: validation refuses this type.
    """

    __slots__ = ()


Scalar = str | int | float | bool | None
Value = Scalar | list["Value"] | dict[str, "Value"]

IN_QUOTES = "Write it in quotes"
"""The advice on a number or truth value that may be meant as text; its place shows how it is written."""

_MANY_DIGITS = 300  # parsing thousands of digits takes quadratic time

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **{sign + word: float("inf") for sign in ("", "+") for word in (".inf", ".Inf", ".INF")},
    **{"-" + word: float("-inf") for word in (".inf", ".Inf", ".INF")},
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_NUMBER = re.compile(
    r"(?P<whole>[-+]?(?:0|[1-9][0-9]*))"
    r"|(?P<zero>[-+]?0[0-9]+)"
    r"|0o(?P<octal>[0-7]+)"
    r"|0x(?P<hexadecimal>[0-9a-fA-F]+)"
    r"|(?P<real>[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)"
)
MAY_BE_MORE_THAN_TEXT = frozenset("0123456789+-.~tTfFnN")
"""The first characters of scalars without quotes that may be something else than text."""


def plain(text: str) -> Scalar:
    """Return the value of a scalar without quotes; most are text."""
    if text and text[0] not in MAY_BE_MORE_THAN_TEXT:
        return text
    if text in _WORDS:
        return _WORDS[text]
    match = _NUMBER.fullmatch(text)
    if match is None:
        return text
    kind = match.lastgroup
    if kind == "whole":
        return whole(text)
    if kind == "zero":
        return ZeroPrefixedNumber(text)
    if kind == "octal":
        return int(match["octal"], 8)
    if kind == "hexadecimal":
        return int(match["hexadecimal"], 16)
    return float(text)


def whole(digits: str) -> int | float:
    """Return the number that the digits write; one that is far too large becomes an infinite float."""
    return int(digits) if len(digits) <= _MANY_DIGITS else float(digits)


def no_constant(name: str) -> Value:
    """Refuse `NaN` and `Infinity`, which Python reads as JSON although they are not."""
    raise ValueError(name)
