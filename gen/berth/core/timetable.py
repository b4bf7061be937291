"""The timetable of a reservation as values: which seats are open from when to when, in UTC.

The cluster reads what the generator has written. Every released version is accepted, newer versions are
rejected, and unknown keys are ignored. Malformed text raises `TimetableError`, so that the caller keeps the
timetable it already has.
"""

import json
from typing import NamedTuple

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
from berth.core.labels import CLASS, RESERVATION, ROLE, SITE
from berth.core.sessions import Match, Recognition, parse_recognition

API_VERSION = "berth.dev/v1alpha1"
KIND = "Timetable"
VERSION = 3  # 1 knows no slots, 2 no pools of nodes
BEHAVIORS = ("maintain", "reduce", "none")


class SlotSpec(NamedTuple):
    """How the Reservations that hold the seats of a pool look, one for each seat."""

    name: str  # with which that of every slot begins
    hash: str  # of the shape
    shape: dict[str, object]  # metadata and spec of each, complete but for its name, `ttl` and `expires`
    placeholders: bool = False  # come first, and hand over
    allocate_once: bool = False


class TimetablePool(NamedTuple):
    """A pool of a reservation: the seats of one resource class."""

    resource_class: str
    deployment: str  # the name of the pool, also where it has no Deployment
    behavior: str
    sessions: Recognition | None = None  # how those of the class are recognized; None: nobody knows
    match: Match = Match()  # what narrows them to this reservation
    slots: SlotSpec | None = None  # None: placeholders alone hold its seats
    node_pool: str = ""  # that has its nodes, where its seats are whole nodes

    @property
    def key(self) -> str:
        """Identifies the pool together with its backend."""
        if self.node_pool:
            return f"{self.node_pool}/nodes"
        return f"{self.deployment}/slots" if self.slots else self.deployment

    @property
    def scaled(self) -> str:
        """The name of the object that has the replicas."""
        return self.node_pool or self.deployment

    @property
    def has_deployment(self) -> bool:
        return not self.node_pool and (self.slots is None or self.slots.placeholders)


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


def slot_hash(shape: dict[str, object]) -> str:
    """Return eight hex digits of the shape, for the name: an existing slot cannot change its shape."""
    from hashlib import sha256  # noqa: PLC0415 - most have no slots

    return sha256(json.dumps(shape, sort_keys=True).encode()).hexdigest()[:8]


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
    slots = _slots(mapping(pool["slots"], f"{at}.slots"), f"{at}.slots") if "slots" in pool else None
    nodes = field(pool, "nodePool", text, at) if "nodePool" in pool else ""
    return TimetablePool(
        resource_class, field(pool, "deployment", text, at), behavior, sessions, match, slots, nodes
    )


def _slots(tree: dict[str, object], at: str) -> SlotSpec:
    shape = field(tree, "object", mapping, at)
    labels = field(
        field(shape, "metadata", mapping, f"{at}.object"), "labels", mapping, f"{at}.object.metadata"
    )
    for key in (SITE, RESERVATION, CLASS, ROLE):
        field(labels, key, text, f"{at}.object.metadata.labels")
    field(shape, "spec", mapping, f"{at}.object")
    digest = field(tree, "hash", text, at)
    if (found := slot_hash(shape)) != digest:
        # What is made is what was reviewed: Koordinator checks next to nothing.
        raise TimetableError(f"{at}.hash: {digest!r} is not that of the object, which is {found!r}")
    return SlotSpec(
        field(tree, "name", text, at),
        digest,
        shape,
        field(tree, "placeholders", boolean, at),
        field(tree, "allocateOnce", boolean, at),
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
