"""What the working tree says should be in a cluster, in the very form that the cluster has it.

Pure but for the templates that the renderer reads.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gen.live.podtemplate import of_texts
from gen.manifest.naming import pool
from gen.manifest.slot import slots_of, standing
from gen.manifest.timetabletext import timetable_text
from gen.model import Site
from gen.output.templates import Renderer
from gen.pipeline import Item
from gen.placed import Placed, Stands, stands
from gen.render import pool_texts
from gen.runtime.timetable import Occurrence, Timetable, parse


class Standing(NamedTuple):
    """The slots of one class of a reservation that stand in git, by name, until an instant (None: always).
    `once`: each is over with its first session.
    """

    resource_class: str
    pool: str
    names: tuple[str, ...]
    until: int | None
    once: bool


class Expected(NamedTuple):
    """The timetables of one cluster, by reservation; and what stands there without one. `templates` are those
    of pools, by the name of the Deployment or NodePool, as JSON.
    """

    cluster: str
    timetables: dict[str, Timetable]
    standing: dict[str, tuple[Standing, ...]]
    templates: dict[str, str]


def expected(site: Site, items: Iterable[Item], renderer: Renderer) -> dict[str, Expected]:
    """By cluster, in the site's order. What is rendered and read back cannot differ for a reason of form.
    Raises TemplateError for a template that does not fit.
    """
    found = {one.name: Expected(one.name, {}, {}, {}) for one in site.clusters}
    for item in items:
        stand = stands(item.reservation)
        for part in item.parts:
            if stand is not None:
                known = found[part.placed.cluster.name].standing
                known[item.reservation.name] = tuple(_standing(site, part.placed, stand))
                continue
            text = timetable_text(site, part.placed, part.occurrences)
            here = found[part.placed.cluster.name]
            here.timetables[item.reservation.name] = parse(text)
            here.templates.update(of_texts(pool_texts(renderer, site, part)))
    return found


def _standing(site: Site, placed: Placed, stand: Stands) -> Iterator[Standing]:
    reservation = placed.reservation
    counts = {} if reservation.suspend else dict(reservation.seats)
    for one in placed.classes:
        made = standing(site, placed.cluster, reservation, one, counts.get(one.name, 0))
        names = tuple(name for name, _ in made)
        once = slots_of(reservation).allocate_once
        yield Standing(one.name, pool(reservation.name, one.name), names, stand.until, once)


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
