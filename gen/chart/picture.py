"""Texts and numbers in a picture."""

from html import escape
from itertools import accumulate

from gen.table import visible, width


def written(x: float, y: float, said: str, style: str) -> str:
    return f'<text class="{style}" x="{rounded(x)}" y="{rounded(y)}">{escaped(said)}</text>'


def escaped(value: str) -> str:
    return escape(visible(value), quote=False)


def shortened(said: str, longest: int) -> str:
    if width(said) <= longest:
        return said
    kept = list(accumulate(said))
    return next(part for part in reversed(kept) if width(part) < longest) + "…"


def rounded(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
