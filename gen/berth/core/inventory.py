"""The inventory ConfigMap: the reservations, persistent slots and CronJobs in git, where nothing prunes."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

KEY, SLOTS_KEY, OBJECTS_KEY = "reservations.txt", "slots.txt", "objects.txt"

PersistentSlots = Mapping[str, frozenset[str]]
"""Names of slots, by reservation."""


class Inventory(NamedTuple):
    """The content of the inventory ConfigMap `name`."""

    name: str
    names: frozenset[str] | None  # of reservations; None: it is of no sense
    persistent: PersistentSlots | None = None  # None: it does not tell
    objects: frozenset[tuple[str, str]] | None = None  # kinds and names; None: it does not tell


def parse_inventory(name: str, data: Mapping[str, object]) -> Inventory:
    """Parse the data of the inventory ConfigMap."""
    said = data.get(SLOTS_KEY)
    objects = str(data.get(OBJECTS_KEY) or "")
    return Inventory(
        name,
        _names(str(data.get(KEY) or "")),
        _parse_slots(said) if said else None,
        _parse_objects(objects) if objects.strip() else None,
    )


def slots_line(reservation: str, slots: str, digest: str, count: int) -> str:
    """Return the line of a pool with persistent slots.

    Names of its slots begin with `slots` and end with `digest`.
    """
    return f"{reservation} {slots} {digest} {count}"


def _names(text: str) -> frozenset[str] | None:
    """Parse one name a line. Invalid or empty text gives None."""
    names = frozenset(_lines(text))
    good = all(name.isascii() and name.replace("-", "").isalnum() and name == name.lower() for name in names)
    return names if text.strip() and good else None


def _parse_slots(said: object) -> PersistentSlots | None:
    """Parse the lines of persistent slots. An invalid line gives None."""
    found: dict[str, frozenset[str]] = {}
    for line in _lines(str(said)):
        words = line.split()
        if len(words) != 4 or not (words[3].isascii() and words[3].isdigit()):
            return None
        reservation, slots, digest, count = words
        names = (f"{slots}-{ordinal}-{digest}" for ordinal in range(min(int(count), _MAX_SLOTS)))
        found[reservation] = found.get(reservation, frozenset()).union(names)
    return found


def object_line(kind: str, name: str) -> str:
    """Return the line of an object. Only CronJobs are listed, and of each reservation not the first.

    Timetables tell of all other objects what is expected.
    """
    return f"{kind} {name}"


def _parse_objects(said: str) -> frozenset[tuple[str, str]] | None:
    """Parse the lines of objects. An invalid line gives None."""
    lines = [line.split() for line in _lines(said)]
    return frozenset((words[0], words[1]) for words in lines) if all(len(one) == 2 for one in lines) else None


_MAX_SLOTS = 100_000  # slots of a pool, which no line of ours exceeds


def _lines(text: str) -> Iterator[str]:
    """Yield the lines that are neither empty nor comments (#)."""
    for line in text.splitlines():
        if line.strip() and not line.strip().startswith("#"):
            yield line.strip()
