"""Decode the bytes of a file, and find the line and column of a character."""

import re
from bisect import bisect_right

from berth.findings import Fault

HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
"""A character that YAML does not allow, or that nobody can see."""


class Lines:
    """Finds lines and columns in a text. Lines end with LF, CR LF or CR, as in editors."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts: list[int] = []  # computed when first needed

    def place(self, at: int) -> tuple[int, int]:
        """Return line and column, both from 1, the column in characters."""
        if not self._starts:
            self._starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", self.text))]
        line = bisect_right(self._starts, at)
        return line, at - self._starts[line - 1] + 1


_WIDE_MARKS = {  # the longer ones first
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
_SAVE_AS_UTF8 = 'Save the file with the encoding "UTF-8".'


def decode(data: bytes) -> tuple[str, Fault[int] | None]:
    """Return the characters without a byte order mark, and a fault if they are not UTF-8."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return data.decode(), None
    except UnicodeDecodeError as error:
        return data.decode(errors="replace"), _undecodable(data, error.start)


def _undecodable(data: bytes, start: int) -> Fault[int]:
    for mark, name in _WIDE_MARKS.items():
        if data.startswith(mark):
            return Fault("B002", 0, f"the file is encoded as {name}, not as UTF-8.", _SAVE_AS_UTF8)
    at = len(data[:start].decode())
    return Fault("B002", at, f"the byte 0x{data[start]:02X} is not UTF-8.", _SAVE_AS_UTF8)


def visible(text: str, most: int = 60) -> str:
    """Return the text for a message: on one line, invisible characters escaped, at most `most` characters."""
    return legible(text if len(text) <= most else f"{text[: most - 1]}…")


def legible(text: str) -> str:
    """Return the text with all that people cannot tell from a space or from nothing as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def may_be_json(text: str) -> bool:
    """Tell whether the text begins as JSON does; YAML in brackets does too."""
    return text.lstrip()[:1] in ("{", "[")
