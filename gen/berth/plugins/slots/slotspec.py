"""How the slots of a pool look, as its timetable says."""

import json
from hashlib import sha256
from typing import NamedTuple

from berth.core.holders import REPLICAS, SLOTS, HeldNumber, PoolHolder
from berth.core.jsonvalues import TimetableError, boolean, field, mapping, text
from berth.core.labels import CLASS, RESERVATION, ROLE, SITE


class _SlotFields(NamedTuple):
    name: str  # with which that of every slot begins
    hash: str  # of the shape
    shape: dict[str, object]  # metadata and spec of each, complete but for its name, `ttl` and `expires`
    placeholders: bool = False  # come first, and hand over


class SlotSpec(_SlotFields, PoolHolder):
    """How the Reservations that hold the seats of a pool look, one for each seat."""

    __slots__ = ()

    kind = SLOTS
    plugin = "slots"
    is_stabilized = False  # a session that leaves its slot frees it at once

    @property
    def number(self) -> HeldNumber | None:
        return REPLICAS if self.placeholders else None

    @property
    def slots(self) -> "SlotSpec":
        return self

    def key(self, pool: str) -> str:
        return f"{pool}/slots"

    def leftovers(self) -> tuple[PoolHolder, ...]:
        """Return the slots, and replicas if there are placeholders."""
        slots = self._replace(placeholders=False)
        return (REPLICAS, slots) if self.placeholders else (slots,)


def slot_hash(shape: dict[str, object]) -> str:
    """Return eight hex digits of the shape, for the name: an existing slot cannot change its shape."""
    return sha256(json.dumps(shape, sort_keys=True).encode()).hexdigest()[:8]


def parse_slots(tree: dict[str, object], at: str) -> SlotSpec:
    """Parse the slots of a pool in a timetable. Raises TimetableError if they are malformed."""
    shape = field(tree, "object", mapping, at)
    metadata = field(shape, "metadata", mapping, f"{at}.object")
    labels = field(metadata, "labels", mapping, f"{at}.object.metadata")
    for key in (SITE, RESERVATION, CLASS, ROLE):
        field(labels, key, text, f"{at}.object.metadata.labels")
    field(shape, "spec", mapping, f"{at}.object")
    digest = field(tree, "hash", text, at)
    if (actual := slot_hash(shape)) != digest:
        # What is made is what was reviewed: Koordinator checks next to nothing.
        raise TimetableError(f"{at}.hash: {digest!r} is not that of the object, which is {actual!r}")
    return SlotSpec(
        field(tree, "name", text, at),
        digest,
        shape,
        field(tree, "placeholders", boolean, at),
    )
