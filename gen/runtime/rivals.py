"""The other reservations of the site, as far as they lay claim to sessions of the classes that we count.

Of a timetable is kept only what may open before it is read again.
"""

from collections.abc import Iterable
from typing import NamedTuple

from gen.runtime.api import TIMETABLE_KEY
from gen.runtime.collection import Collection
from gen.runtime.jsonvalue import TimetableError
from gen.runtime.labels import ROLE, SITE, TIMETABLE
from gen.runtime.objectkind import CONFIG_MAP
from gen.runtime.session import Claim, Match
from gen.runtime.timetable import Occurrence, Timetable, in_force, parse
from gen.runtime.watching import Tree, mapping

HORIZON = 26 * 3600  # seconds for which a reading of the timetables is good
REREAD = 12 * 3600  # seconds after which they are read again
_PAGE = 8  # timetables may be large


class Rival(NamedTuple):
    """What one reservation claims: `matches` by class, of those that we count."""

    reservation: str
    matches: tuple[tuple[str, Match], ...]
    occurrences: tuple[Occurrence, ...]


class Reading(NamedTuple):
    """Of the ConfigMap of this name. A text says why it is no timetable."""

    name: str
    found: Rival | str


def timetables(namespace: str, site: str) -> Collection:
    return Collection(CONFIG_MAP.path(namespace), f"{SITE}={site},{ROLE}={TIMETABLE}", page=_PAGE)


def reading(tree: Tree, classes: frozenset[str], now: int) -> Reading:
    name = str(mapping(tree, "metadata").get("name"))
    text = mapping(tree, "data").get(TIMETABLE_KEY)
    try:
        if not isinstance(text, str):
            raise TimetableError(f"{TIMETABLE_KEY}: is missing")
        return Reading(name, rival(parse(text), classes, now))
    except TimetableError as error:
        return Reading(name, str(error))


def rival(timetable: Timetable, classes: frozenset[str], now: int) -> Rival:
    matches = tuple(
        (pool.resource_class, pool.match) for pool in timetable.pools if pool.resource_class in classes
    )
    wanted = frozenset(name for name, _ in matches)
    return Rival(
        timetable.reservation,
        matches,
        tuple(
            item
            for item in in_force(timetable)
            if item.open <= now + HORIZON and item.end > now and wanted & {name for name, _ in item.seats}
        ),
    )


def claims(rivals: Iterable[Rival], resource_class: str, now: int) -> dict[str, Claim]:
    """The claims to sessions of the class that are open, by id. Of two with one id, as when somebody copied a
    timetable, the first holds.
    """
    found: dict[str, Claim] = {}
    for one in rivals:
        match = dict(one.matches).get(resource_class)
        if match is None:
            continue
        for item in one.occurrences:
            count = dict(item.seats).get(resource_class)
            if count is not None and item.open <= now < item.end:
                found.setdefault(item.id, Claim(item.id, item.open, item.start, item.end, count, match))
    return found


def next_claim(rivals: Iterable[Rival], now: int) -> int | None:
    """When the next occurrence after `now` opens or ends."""
    instants = (at for one in rivals for item in one.occurrences for at in (item.open, item.end))
    return min((at for at in instants if at > now), default=None)
