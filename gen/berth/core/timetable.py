"""The timetable of a reservation as values: which seats are open from when to when, in UTC.

The cluster reads what the generator has written. Every released version is accepted, newer versions are
rejected, and unknown keys are ignored. Malformed text raises `TimetableError`, so that the caller keeps the
timetable it already has.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from berth.core.holders import REPLICAS, PoolHolder, SlotSpec, parse_holder
from berth.core.jsonvalues import (
    TimetableError,
    boolean,
    field,
    instant_of,
    mapping,
    non_negative,
    sequence,
    text,
)
from berth.core.sessions import Match, Recognition, parse_recognition

API_VERSION = "berth.dev/v1alpha1"
KIND = "Timetable"
TIMETABLE_KEY = "timetable.json"  # of the ConfigMap's data
VERSION = 3  # 1 knows no slots, 2 no pools of nodes
BEHAVIORS = ("maintain", "reduce", "none")


class TimetablePool(NamedTuple):
    """A pool of a reservation: the seats of one resource class."""

    resource_class: str
    deployment: str  # the name of the pool, also where it has no Deployment
    behavior: str
    sessions: Recognition | None = None  # how those of the class are recognized; None: nobody knows
    match: Match = Match()  # what narrows them to this reservation
    holder: PoolHolder = REPLICAS

    @property
    def key(self) -> str:
        """Identifies the pool together with its holder."""
        return self.holder.key(self.deployment)

    @property
    def scaled(self) -> str:
        """The name of the object that has the replicas."""
        return self.holder.scaled_name(self.deployment)

    @property
    def slots(self) -> SlotSpec | None:
        """How its slots look; None if something else holds its seats."""
        return self.holder if isinstance(self.holder, SlotSpec) else None


class TimetableSettings(NamedTuple):
    """Settings of the site for its windows, in seconds and minutes."""

    stabilization_seconds: int = 30  # how long a session that left still counts
    ready_minutes: int = 5  # before the start of an occurrence, at which all seats should be ready
    renku_url: str = ""  # of the API that knows the templates of projects; empty: none


class TimetableOccurrence(NamedTuple):
    """An occurrence, from `open` (inclusive) to `end` (exclusive). open <= start < end."""

    id: str
    open: int
    start: int
    end: int
    seats: tuple[tuple[str, int], ...]  # (resource class, count), in the order of the text


class Timetable(NamedTuple):
    reservation: str
    suspend: bool
    pools: tuple[TimetablePool, ...]
    occurrences: tuple[TimetableOccurrence, ...]
    site: str = ""
    settings: TimetableSettings = TimetableSettings()


def active_occurrences(timetable: Timetable) -> tuple[TimetableOccurrence, ...]:
    """Return the occurrences that may open: none of a suspended reservation."""
    return () if timetable.suspend else timetable.occurrences


def parse_timetable(said: str) -> Timetable:
    """Parse a timetable. Raises TimetableError if any part is malformed."""
    try:
        tree: object = json.loads(said)
    except (ValueError, RecursionError) as error:
        raise TimetableError(f"the timetable is not JSON: {error}") from None
    top = mapping(tree, "the timetable")
    _check_header(top)
    pools = tuple(_pool(*item) for item in field(top, "pools", mapping).items())
    classes = {pool.resource_class for pool in pools}
    occurrences = field(top, "occurrences", sequence)
    return Timetable(
        field(top, "reservation", text),
        field(top, "suspend", boolean),
        pools,
        tuple(_occurrence(item, f"occurrences[{n}]", classes) for n, item in enumerate(occurrences)),
        field(top, "site", text),
        _settings(field(top, "settings", mapping)),
    )


def _check_header(top: dict[str, object]) -> None:
    """Check the version first: nothing else can be judged in a newer version."""
    version = field(top, "version", non_negative)
    if not 1 <= version <= VERSION:
        raise TimetableError(f"version: {version} is not supported; versions 1 to {VERSION} are")
    for key, expected in (("apiVersion", API_VERSION), ("kind", KIND)):
        if (found := field(top, key, text)) != expected:
            raise TimetableError(f"{key}: {found!r} is not {expected!r}")


def _pool(resource_class: str, tree: object) -> TimetablePool:
    at = f"pools.{resource_class}"
    pool = mapping(tree, at)
    behavior = field(pool, "behaviour", text, at)
    if behavior not in BEHAVIORS:
        raise TimetableError(f"{at}.behaviour: {behavior!r} is not one of {', '.join(BEHAVIORS)}")
    tree = field(pool, "sessions", lambda value, _: value, at)
    sessions, match = (
        (None, Match())
        if tree is None
        else parse_recognition(mapping(tree, f"{at}.sessions"), f"{at}.sessions")
    )
    holder = parse_holder(pool, at)
    return TimetablePool(
        resource_class, field(pool, "deployment", text, at), behavior, sessions, match, holder
    )


def _settings(tree: dict[str, object]) -> TimetableSettings:
    return TimetableSettings(
        field(tree, "stabilizationSeconds", non_negative, "settings"),
        field(tree, "readyMinutes", non_negative, "settings"),
        field(tree, "renkuUrl", text, "settings") if "renkuUrl" in tree else "",
    )


def _occurrence(tree: object, at: str, classes: set[str]) -> TimetableOccurrence:
    item = mapping(tree, at)
    seats = field(item, "seats", mapping, at)
    found = TimetableOccurrence(
        field(item, "id", text, at),
        field(item, "open", instant_of, at),
        field(item, "start", instant_of, at),
        field(item, "end", instant_of, at),
        tuple((name, non_negative(count, f"{at}.seats.{name}")) for name, count in seats.items()),
    )
    if not found.open <= found.start < found.end:
        raise TimetableError(f"{at}: open, start and end of {found.id!r} are not in this order")
    for name, _ in found.seats:
        if name not in classes:
            raise TimetableError(f"{at}.seats.{name}: no pool of this class")
    return found


# Overrides: targets that a person sets for a while, in an annotation of the timetable's ConfigMap:
# berth.dev/override: '{"small": {"target": 60, "until": "2026-02-02T12:00:00Z"}}'


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
