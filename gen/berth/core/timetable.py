"""The timetable of a reservation as values: which seats are open from when to when, in UTC.

The cluster reads what the generator has written. Newer versions are rejected, and unknown keys are ignored.
Malformed text raises `TimetableError`, so that the caller keeps the timetable it already has.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from berth.core.holders import REPLICAS, PoolHolder, parse_holder
from berth.core.jsonvalues import (
    TimetableError,
    boolean,
    field,
    instant_of,
    mapping,
    non_negative,
    parse_mapping,
    sequence,
    text,
)
from berth.core.objects import DEPLOYMENT, ObjectKind
from berth.core.sessions import Match, Recognition, parse_recognition

API_VERSION = "berth.dev/v1alpha1"
KIND = "Timetable"
TIMETABLE_KEY = "timetable.json"  # of the ConfigMap's data
VERSION = 1
BEHAVIORS = ("maintain", "reduce", "none", "buffer")
OVERLAPS: dict[str, Callable[[Iterable[int]], int]] = {"sum": sum, "max": max, "min": min}


class Buffer(NamedTuple):
    """Spare seats that follow the sessions: `percent` of them, at least `minimum`."""

    percent: int
    minimum: int


class TimetablePool(NamedTuple):
    """A pool of a reservation: the seats of one resource class."""

    resource_class: str
    name: str  # of the pool: also that of the Deployment or buffer of Berth that holds it
    behavior: str
    sessions: Recognition | None = None  # how those of the class are recognized; None: nobody knows
    match: Match = Match()  # what narrows them to this reservation
    holder: PoolHolder = REPLICAS
    overlap: str = "sum"  # of occurrences that run at the same time: what OVERLAPS makes of their seats
    buffer: Buffer | None = None  # for behavior `buffer`
    peers: tuple[str, ...] = ()  # timetables of other reservations that hold the same number

    def shares(self, one: "TimetableOccurrence", other: "TimetableOccurrence") -> bool:
        """Return whether the sessions of each of two occurrences count for both."""
        if one.start < other.end and other.start < one.end:
            return one.id == other.id or self.overlap != "sum"
        return self.match.carries_over

    @property
    def key(self) -> str:
        """Identifies the pool together with its holder."""
        return self.holder.key(self.name)

    @property
    def scaled(self) -> str:
        """The name of the object that has the number."""
        number = self.holder.number
        return (number.name if number else "") or self.name

    @property
    def lease(self) -> str:
        """The name of its Lease. Pools that hold the same number of somebody else share one."""
        return note_name(self) or self.name

    @property
    def object_kind(self) -> ObjectKind:
        """The kind of that object, also where slots alone hold the seats."""
        return self.holder.number.object_kind if self.holder.number else DEPLOYMENT


def note_name(pool: TimetablePool) -> str:
    """Name the ConfigMap that notes that the number of somebody else is held; empty for other pools."""
    return pool.holder.foreign.note_name(pool.name) if pool.holder.foreign else ""


class TimetableSettings(NamedTuple):
    """Settings of the site for its windows, in seconds and minutes."""

    stabilization_seconds: int = 30  # how long a session that left still counts
    ready_minutes: int = 5  # before the start of an occurrence, at which all seats should be ready
    renku_url: str = ""  # of the API that knows the templates of projects; empty: none


class TimetableOccurrence(NamedTuple):
    """An occurrence, from `open` (inclusive) to `end` (exclusive). open <= start < end.

    Classes of one occurrence that open or scale in different ways are rows of the same id.
    """

    id: str
    open: int
    start: int
    end: int
    seats: tuple[tuple[str, int], ...]  # (resource class, count), in the order of the text
    behavior: str = ""  # empty: that of each pool
    rehearses: str = ""  # the id of the occurrence whose opening it tries; empty: it is no rehearsal

    def count(self, resource_class: str) -> int:
        """Return the seats of a class."""
        return sum(seats for name, seats in self.seats if name == resource_class)


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


def end_rehearsals(timetable: Timetable, ended: Mapping[str, int]) -> Timetable:
    """Return the timetable with the rehearsals that are over before their time.

    `ended` is when, by id. An instant outside of a rehearsal is about an earlier one of the same id.
    """
    if not ended:
        return timetable

    def with_end(item: TimetableOccurrence) -> TimetableOccurrence:
        at = ended.get(item.id, 0) if item.rehearses else 0
        return item._replace(end=max(at, item.start + 1)) if item.open <= at < item.end else item

    return timetable._replace(occurrences=tuple(with_end(item) for item in timetable.occurrences))


def parse_timetable(said: str) -> Timetable:
    """Parse a timetable. Raises TimetableError if any part is malformed."""
    top = parse_mapping(said, "the timetable")
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
    if version != VERSION:
        raise TimetableError(f"version: {version} is not supported; this version of Berth reads {VERSION}")
    for key, expected in (("apiVersion", API_VERSION), ("kind", KIND)):
        if (found := field(top, key, text)) != expected:
            raise TimetableError(f"{key}: {found!r} is not {expected!r}")


def _pool(resource_class: str, tree: object) -> TimetablePool:
    at = f"pools.{resource_class}"
    pool = mapping(tree, at)
    behavior = field(pool, "behaviour", _behavior, at)
    tree = field(pool, "sessions", lambda value, _: value, at)
    sessions, match = (
        (None, Match())
        if tree is None
        else parse_recognition(mapping(tree, f"{at}.sessions"), f"{at}.sessions")
    )
    overlap = field(pool, "overlap", text, at) if "overlap" in pool else "sum"
    if overlap not in OVERLAPS:
        raise TimetableError(f"{at}.overlap: {overlap!r} is not one of {', '.join(OVERLAPS)}")
    name, holder = field(pool, "deployment", text, at), parse_holder(pool, at)
    has_buffer = behavior == "buffer" or "buffer" in pool
    buffer = field(pool, "buffer", _buffer, at) if has_buffer else None
    peers = tuple(text(name, f"{at}.peers") for name in sequence(pool.get("peers", []), f"{at}.peers"))
    known = TimetablePool(resource_class, name, behavior, sessions, match, holder, overlap, buffer)
    return known._replace(peers=peers)


def _buffer(value: object, at: str) -> Buffer:
    tree = mapping(value, at)
    return Buffer(field(tree, "percent", non_negative, at), field(tree, "minimum", non_negative, at))


def _behavior(value: object, at: str) -> str:
    if value not in BEHAVIORS:
        raise TimetableError(f"{at}: {value!r} is not one of {', '.join(BEHAVIORS)}")
    return str(value)


def _settings(tree: dict[str, object]) -> TimetableSettings:
    return TimetableSettings(
        field(tree, "stabilizationSeconds", non_negative, "settings"),
        field(tree, "readyMinutes", non_negative, "settings"),
        field(tree, "renkuUrl", text, "settings") if "renkuUrl" in tree else "",
    )


def _occurrence(tree: object, at: str, classes: set[str]) -> TimetableOccurrence:
    item = mapping(tree, at)
    seats = field(item, "seats", mapping, at)
    occurrence = TimetableOccurrence(
        field(item, "id", text, at),
        field(item, "open", instant_of, at),
        field(item, "start", instant_of, at),
        field(item, "end", instant_of, at),
        tuple((name, non_negative(count, f"{at}.seats.{name}")) for name, count in seats.items()),
        field(item, "behaviour", _behavior, at) if "behaviour" in item else "",
        rehearses=field(item, "rehearses", text, at) if "rehearses" in item else "",
    )
    if not occurrence.open <= occurrence.start < occurrence.end:
        raise TimetableError(f"{at}: open, start and end of {occurrence.id!r} are not in this order")
    for name, _ in occurrence.seats:
        if name not in classes:
            raise TimetableError(f"{at}.seats.{name}: no pool of this class")
    return occurrence


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
    overrides = {}
    for resource_class, value in parse_mapping(said, OVERRIDE_ANNOTATION).items():
        at = f"{OVERRIDE_ANNOTATION}.{resource_class}"
        item = mapping(value, at)
        target = field(item, "target", non_negative, at)
        if target > MAX_TARGET:
            raise TimetableError(f"{at}.target: {target} is more than {MAX_TARGET}")
        overrides[resource_class] = Override(target, field(item, "until", instant_of, at))
    return overrides


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


def next_override_end(overrides: Iterable[Override], now: int) -> int | None:
    """Return when the next override ends after `now`."""
    return min((item.until for item in overrides if item.until > now), default=None)
