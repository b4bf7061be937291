"""A slot: the Reservation of Koordinator that holds one seat. As values, and as the API server has it.

Reservations are of the whole cluster and are owned by nobody, so a slot is known by its labels. Its name says
its ordinal and the hash of its shape: a slot of another shape is another object.
"""

import json
from typing import NamedTuple

from gen.runtime.instant import instant, instant_text
from gen.runtime.labels import CLASS, RESERVATION, ROLE, SITE, STANDING
from gen.runtime.timetable import Slots
from gen.runtime.verbs import Tree

AVAILABLE, PENDING = "Available", "Pending"
OVER = ("Succeeded", "Failed")
# With `expires`, the earlier of the two ends a slot. These let `expires` decide, whatever clocks there are:
LONGEST = 876_600 * 3600  # seconds, a hundred years; what Go cannot read stops Koordinator for everybody
MARGIN = 3600  # seconds that a slot may stand longer by its `ttl`, which the server's clock begins


class Owner(NamedTuple):
    """A pod that has taken a slot."""

    namespace: str
    name: str


class Slot(NamedTuple):
    name: str
    uid: str
    version: str
    created: int
    expires: int | None  # None: it does not say, or says nothing that we would write
    phase: str
    owners: tuple[Owner, ...]
    is_going: bool = False  # it has been deleted, and is not away yet
    closed: str = ""  # its `owners` in JSON without our placeholders, where those may still take it

    @property
    def is_to_close(self) -> bool:
        """It holds its seat, and a placeholder that comes later could still take it."""
        return bool(self.closed) and self.phase == AVAILABLE

    @property
    def hash(self) -> str:
        return self.name.rpartition("-")[2]

    @property
    def ordinal(self) -> int:
        said = self.name.rpartition("-")[0].rpartition("-")[2]
        return int(said) if said.isascii() and said.isdigit() else -1


def slot(tree: Tree) -> Slot:
    """Raises KeyError, TypeError or ValueError for what no API server sends."""
    metadata, spec, status = (_part(tree, key) for key in ("metadata", "spec", "status"))
    owners = status.get("currentOwners")
    return Slot(
        str(metadata["name"]),
        str(metadata["uid"]),
        str(metadata["resourceVersion"]),
        instant(str(metadata["creationTimestamp"])),
        _instant(spec.get("expires")),
        str(status.get("phase") or PENDING),
        tuple(_owner(one) for one in owners) if isinstance(owners, list) else (),
        "deletionTimestamp" in metadata,
        _closed(_part(metadata, "labels"), spec.get("owners")),
    )


def name_of(slots: Slots, ordinal: int) -> str:
    return f"{slots.name}-{ordinal}-{slots.hash}"


def selector(slots: Slots) -> str:
    """Of all slots of the pool, of whatever shape, but for those that git holds."""
    labels = _part(_part(slots.shape, "metadata"), "labels")
    ours = [f"{key}={labels[key]}" for key in (SITE, RESERVATION, CLASS, ROLE)]
    return ",".join((*ours, f"!{STANDING}"))


def body(slots: Slots, name: str, now: int, expires: int) -> Tree:
    metadata, spec = _part(slots.shape, "metadata"), _part(slots.shape, "spec")
    return {"metadata": {**metadata, "name": name}, "spec": {**spec, **life(now, expires)}}


def life(created: int, expires: int) -> Tree:
    """How long the slot may stand if nobody removes it. Without a `ttl` of its own it would stand for a day
    at the most; so that is said too, counted from its creation, and long enough for clocks that differ.
    """
    minutes = max(0, -(-(expires - created) // 60))
    return {"expires": instant_text(expires), "ttl": duration(min(60 * minutes, LONGEST) + MARGIN)}


def duration(seconds: int) -> str:
    """As Go writes it: `2h5m0s`."""
    hours, minutes = seconds // 3600, seconds // 60 % 60
    said = f"{minutes}m{seconds % 60}s" if seconds >= 60 else f"{seconds}s"
    return f"{hours}h{said}" if hours else said


def _owner(tree: object) -> Owner:
    found = tree if isinstance(tree, dict) else {}
    return Owner(str(found.get("namespace", "")), str(found.get("name", "")))


def _closed(labels: Tree, owners: object) -> str:
    """Our placeholders are known by the labels of their pool, which the slot has too."""
    ours = {key: labels.get(key) for key in (SITE, RESERVATION, CLASS)}
    found = [one for one in owners if isinstance(one, dict)] if isinstance(owners, list) else []
    others = [one for one in found if _part(_part(one, "labelSelector"), "matchLabels") != ours]
    return json.dumps(others) if 0 < len(others) < len(found) else ""


def _instant(said: object) -> int | None:
    try:
        return instant(str(said))
    except ValueError:
        return None


def _part(tree: Tree, key: str) -> Tree:
    found = tree.get(key)
    return found if isinstance(found, dict) else {}
