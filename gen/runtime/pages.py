"""A page of a list, object by object: as values, all of it would take several times the room of its text."""

import json
from collections.abc import Callable
from typing import NamedTuple

from gen.runtime.watching import Tree, mapping, nonsense

_DECODER = json.JSONDecoder()


class Page(NamedTuple):
    version: str
    token: str  # asks for the next page; empty: this is the last


def page(text: str, take: Callable[[Tree], None]) -> Page:
    """`take` gets each item as soon as it is read, also where the rest proves to be nonsense. Of an empty
    collection the server may say `items: null`.
    """
    rest: Tree = {}
    try:
        at = _opened(text, 0, "{")
        while text[at] != "}":
            key, at = _DECODER.raw_decode(text, at)
            at = _opened(text, at, ":")
            if not isinstance(key, str):
                raise ValueError("a key is no text")
            if key == "items" and text[at] == "[":
                rest[key], at = None, _items(text, at, take)
            else:
                rest[key], at = _DECODER.raw_decode(text, at)
            at = _next(text, at, "}")
    except (ValueError, IndexError, RecursionError):
        raise nonsense("the answer is no list", {"text": text[:100]}) from None
    metadata = mapping(rest, "metadata")
    version, token = metadata.get("resourceVersion"), metadata.get("continue", "")
    if not str(rest.get("kind")).endswith("List") or rest.get("items", "") is not None:
        raise nonsense("the answer is no list", {"kind": rest.get("kind")})
    if not (isinstance(version, str) and version and isinstance(token, str)):
        raise nonsense("the list has no version", metadata)
    return Page(version, token)


def _items(text: str, at: int, take: Callable[[Tree], None]) -> int:
    """Where the text goes on after the list that begins at `at`."""
    at = _opened(text, at, "[")
    while text[at] != "]":
        item, at = _DECODER.raw_decode(text, at)
        if not isinstance(item, dict):
            raise ValueError("an item is no object")
        take(item)
        at = _next(text, at, "]")
    return at + 1


def _opened(text: str, at: int, sign: str) -> int:
    """The place of what follows `sign`."""
    at = _skip(text, at)
    if text[at] != sign:
        raise ValueError(f"no {sign}")
    return _skip(text, at + 1)


def _next(text: str, at: int, end: str) -> int:
    """The place of the next member, or of the sign that ends them."""
    at = _skip(text, at)
    if text[at] == end:
        return at
    at = _opened(text, at, ",")
    if text[at] == end:
        raise ValueError("nothing after a comma")
    return at


def _skip(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at
