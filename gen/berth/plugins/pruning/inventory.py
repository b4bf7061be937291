"""The inventory: a ConfigMap that says what is in git where nothing but the sweep prunes."""

from collections.abc import Iterable, Iterator, Mapping

from berth.core.objectreading import NAMES_KEY
from berth.core.state import Inventory

# The reservations, the persistent slots, and the CronJobs but the first of each reservation. Timetables tell
# of all other objects.
_SLOTS_KEY, _OBJECTS_KEY = "slots.txt", "objects.txt"
_MAX_SLOTS = 100_000  # slots of a pool, which no line of ours exceeds


def parse_inventory(name: str, data: Mapping[str, object]) -> Inventory:
    """Parse the data of the inventory ConfigMap. Empty or invalid text gives None."""
    texts = [str(data.get(key) or "").strip() for key in (NAMES_KEY, _SLOTS_KEY, _OBJECTS_KEY)]
    names, slots, objects = (list(_lines(text)) for text in texts)
    are_names = texts[0] and all(len(words) == 1 and _is_name(words[0]) for words in names)
    are_objects = texts[2] and all(len(words) == 2 for words in objects)
    return Inventory(
        name,
        frozenset(words[0] for words in names) if are_names else None,
        _parse_slots(slots) if texts[1] else None,
        frozenset((words[0], words[1]) for words in objects) if are_objects else None,
    )


def _lines(text: str) -> Iterator[list[str]]:
    """Yield the words of each line that is neither empty nor a comment (#)."""
    for line in text.splitlines():
        if line.strip() and not line.strip().startswith("#"):
            yield line.split()


def _is_name(word: str) -> bool:
    return word.isascii() and word.replace("-", "").isalnum() and word == word.lower()


def _parse_slots(lines: Iterable[list[str]]) -> dict[str, frozenset[str]] | None:
    """Parse lines of a reservation, the begin and the end of the names of its slots, and their number."""
    by_reservation: dict[str, frozenset[str]] = {}
    for words in lines:
        if len(words) != 4 or not (words[3].isascii() and words[3].isdigit()):
            return None
        reservation, slots, digest, count = words
        names = (f"{slots}-{ordinal}-{digest}" for ordinal in range(min(int(count), _MAX_SLOTS)))
        by_reservation[reservation] = by_reservation.get(reservation, frozenset()).union(names)
    return by_reservation
