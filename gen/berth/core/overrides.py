"""Overrides: targets that a person sets for a limited time, in an annotation of the timetable's ConfigMap:

berth.dev/override: '{"small": {"target": 60, "until": "2026-02-02T12:00:00Z"}}'
"""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from berth.core.jsonvalues import TimetableError, field, instant_of, mapping, non_negative

OVERRIDE_ANNOTATION = "berth.dev/override"
MAX_TARGET = 10_000  # as a target: what is more is a slip of the finger


class Override(NamedTuple):
    """A target that replaces the timetable's until `until`."""

    target: int
    until: int


def parse_overrides(said: str) -> dict[str, Override]:
    """Parse the annotation, by resource class; empty text gives none. Raises TimetableError."""
    if not said:
        return {}
    try:
        tree: object = json.loads(said)
    except (ValueError, RecursionError) as error:
        raise TimetableError(f"{OVERRIDE_ANNOTATION} is not JSON: {error}") from None
    found = {}
    for resource_class, value in mapping(tree, OVERRIDE_ANNOTATION).items():
        at = f"{OVERRIDE_ANNOTATION}.{resource_class}"
        item = mapping(value, at)
        target = field(item, "target", non_negative, at)
        if target > MAX_TARGET:
            raise TimetableError(f"{at}.target: {target} is more than {MAX_TARGET}")
        found[resource_class] = Override(target, field(item, "until", instant_of, at))
    return found


def unknown_classes(overrides: Iterable[str], classes: Collection[str]) -> str:
    """Return a message about overrides of classes that the reservation does not have; empty if none.

    The other overrides stay in force.
    """
    names = sorted({*overrides} - {*classes})
    if not names:
        return ""
    has = ", ".join(sorted(classes)) or "none"
    return f"{OVERRIDE_ANNOTATION}: no class {', '.join(names)} in this reservation, which has {has}"


def override_target(overrides: Mapping[str, Override], resource_class: str, now: int) -> int | None:
    """Return the target of the class at `now`; None without an override."""
    found = overrides.get(resource_class)
    return found.target if found and now < found.until else None


def override_end(overrides: Mapping[str, Override], resource_class: str) -> int:
    """Return when the override of the class ends; 0 without one."""
    found = overrides.get(resource_class)
    return found.until if found else 0


def next_override_end(overrides: Iterable[Override], now: int) -> int | None:
    """Return when the next override ends after `now`."""
    return min((item.until for item in overrides if item.until > now), default=None)
