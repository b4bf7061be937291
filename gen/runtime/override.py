"""A target that a person sets for a while, in an emergency, as an annotation of the timetable's ConfigMap:

berth.dev/override: '{"small": {"target": 60, "until": "2026-02-02T12:00:00Z"}}'
"""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from gen.runtime.jsonvalue import TimetableError, field, instant_of, mapping, whole

ANNOTATION = "berth.dev/override"
MOST = 10_000  # as a target: what is more is a slip of the finger


class Override(NamedTuple):
    """In force before `until`, whatever the timetable says."""

    target: int
    until: int


def parse_overrides(said: str) -> dict[str, Override]:
    """By resource class; an empty text says none. Raises TimetableError."""
    if not said:
        return {}
    try:
        tree: object = json.loads(said)
    except (ValueError, RecursionError) as error:
        raise TimetableError(f"{ANNOTATION} is not JSON: {error}") from None
    found = {}
    for resource_class, value in mapping(tree, ANNOTATION).items():
        at = f"{ANNOTATION}.{resource_class}"
        item = mapping(value, at)
        target = field(item, "target", whole, at)
        if target > MOST:
            raise TimetableError(f"{at}.target: {target} is more than {MOST}")
        found[resource_class] = Override(target, field(item, "until", instant_of, at))
    return found


def strays(overrides: Iterable[str], classes: Collection[str]) -> str:
    """What is wrong with overrides of these classes where a reservation has those; empty if nothing. The
    others hold.
    """
    names = sorted({*overrides} - {*classes})
    if not names:
        return ""
    has = ", ".join(sorted(classes)) or "none"
    return f"{ANNOTATION}: no class {', '.join(names)} in this reservation, which has {has}"


def in_force(overrides: Mapping[str, Override], resource_class: str, now: int) -> int | None:
    """The target of the class at this moment; None: nobody has set one."""
    found = overrides.get(resource_class)
    return found.target if found and now < found.until else None


def over_at(overrides: Mapping[str, Override], resource_class: str) -> int:
    """When that of the class ends; 0: there is none."""
    found = overrides.get(resource_class)
    return found.until if found else 0


def next_over(overrides: Iterable[Override], now: int) -> int | None:
    """When the next one is over."""
    return min((item.until for item in overrides if item.until > now), default=None)
