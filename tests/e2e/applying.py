"""Objects applied one by one."""

import json
from typing import Any


def one_by_one(answer: str) -> list[Any]:
    """The objects that kubectl prints one after the other."""
    decoder, found, rest = json.JSONDecoder(), [], answer.strip()
    while rest:
        one, end = decoder.raw_decode(rest)
        found.append(one)
        rest = rest[end:].strip()
    return found
