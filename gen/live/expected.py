"""What the working tree says should be in a cluster, in the very form that the cluster has it. Pure."""

from collections.abc import Iterable
from typing import NamedTuple

from gen.manifest.timetabletext import timetable_text
from gen.model import Site
from gen.pipeline import Item
from gen.runtime.timetable import Occurrence, Timetable, parse


class Expected(NamedTuple):
    """The timetables of one cluster, by reservation."""

    cluster: str
    timetables: dict[str, Timetable]


def expected(site: Site, items: Iterable[Item]) -> dict[str, Expected]:
    """By cluster, in the site's order. What is rendered and read back cannot differ for a reason of form."""
    found = {one.name: Expected(one.name, {}) for one in site.clusters}
    for item in items:
        for part in item.parts:
            text = timetable_text(site, part.placed, part.occurrences)
            found[part.placed.cluster.name].timetables[item.reservation.name] = parse(text)
    return found


def difference(git: Timetable, cluster: Timetable) -> str:
    """In a few words; empty without one."""
    words = []
    number = _unlike(git.occurrences, cluster.occurrences)
    if number:
        words.append(f"{number} occurrence{'s differ' if number > 1 else ' differs'}")
    if git.suspend != cluster.suspend:
        words.append(f"git {'suspends' if git.suspend else 'does not suspend'} it")
    ours, theirs = ({pool.resource_class: pool for pool in one.pools} for one in (git, cluster))
    changed = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
    if changed:
        words.append(f"pool{'s' if len(changed) > 1 else ''} {', '.join(changed)}")
    if git.settings != cluster.settings:
        words.append("the site's settings")
    return ", ".join(words)


def _unlike(ours: Iterable[Occurrence], theirs: Iterable[Occurrence]) -> int:
    mine, yours = _by_id(ours), _by_id(theirs)
    return sum(mine.get(name) != yours.get(name) for name in mine.keys() | yours.keys())


def _by_id(occurrences: Iterable[Occurrence]) -> dict[str, Occurrence]:
    """The order of seats means nothing."""
    return {one.id: one._replace(seats=tuple(sorted(one.seats))) for one in occurrences}
