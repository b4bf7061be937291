"""The target that a person sets for a pool in an emergency, until an instant; on the timetable."""

import json
from typing import NamedTuple

from gen.runtime.jsonvalue import TimetableError, field, instant_of, mapping, whole

ANNOTATION = "berth.dev/override"


class Override(NamedTuple):
    target: int
    until: int  # from then on it holds no more


def parse_overrides(said: str) -> dict[str, Override]:
    """By resource class. Raises TimetableError for what is malformed anywhere."""
    try:
        tree: object = json.loads(said)
    except (ValueError, RecursionError) as error:
        raise TimetableError(f"{ANNOTATION}: is not JSON: {error}") from None
    return {name: _override(name, value) for name, value in mapping(tree, ANNOTATION).items()}


def _override(name: str, value: object) -> Override:
    at = f"{ANNOTATION}.{name}"
    found = mapping(value, at)
    return Override(field(found, "target", whole, at), field(found, "until", instant_of, at))


def in_force(overrides: dict[str, Override], resource_class: str, now: int) -> int | None:
    """The target that is set for the pool of a class at this moment, if any."""
    found = overrides.get(resource_class)
    return found.target if found and now < found.until else None
