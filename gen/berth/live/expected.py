"""What git expects in each cluster: timetables, persistent slots, templates, permissions; and differences."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import Any, NamedTuple

from berth import quantity
from berth.backends.backendinterface import backend_of
from berth.checks.project import Item
from berth.core.timetable import Timetable, TimetableOccurrence, parse_timetable
from berth.manifests import rbac
from berth.manifests.naming import pool
from berth.manifests.rbac import Access, Grant
from berth.manifests.timetabletext import timetable_text
from berth.reading.document import parse
from berth.reading.source import Source
from berth.rendering import base_manifests, part_manifests, pool_texts
from berth.schema.values import ResourceClass, Site

_QUANTITIES = frozenset(("requests", "limits"))
_EXACT = _QUANTITIES | {"affinity", "nodeSelector", "tolerations"}
_MAX_DIFFERENCES, _MAX_VALUE = 3, 80


def templates_of_texts(texts: Iterable[str]) -> dict[str, str]:
    """Return the templates in rendered files, by name. Unreadable objects are left out."""
    templates = {}
    for text in texts:
        for document in parse(Source("", text.encode()))[0]:
            match document.value:
                case {"metadata": {"name": str(name)}, "spec": {"template": dict()}} | {
                    "metadata": {"name": str(name)},
                    "template": dict(),
                }:
                    templates[name] = template_json(document.value)
    return templates


def template_json(item: Any) -> str:
    """Return the template of an object as JSON, which needs a tenth of the memory. Empty without one."""
    template = item.get("template") or item["spec"].get("template")
    return json.dumps(template, separators=(",", ":"), ensure_ascii=False) if template else ""


@lru_cache(maxsize=4096)
def template_difference(git: str, cluster: str) -> str:
    """Return the paths that differ, with both values; empty if none or if a template is unknown.

    The API server adds defaults, so the cluster may have more than git, except in placement and resources.
    Lists must have the same elements in the same order. Quantities are compared by value; a missing value
    equals false, zero or empty. Cached for `--watch`.
    """
    if not git or not cluster:
        return ""
    differences = list(_differences("", json.loads(git), json.loads(cluster), alone=False))
    more = [f"and {len(differences) - _MAX_DIFFERENCES} more"] if len(differences) > _MAX_DIFFERENCES else []
    return "; ".join([*differences[:_MAX_DIFFERENCES], *more])


def _differences(path: str, git: Any, cluster: Any, *, alone: bool, amounts: bool = False) -> Iterator[str]:
    if isinstance(git, dict) and isinstance(cluster, dict):
        for name in sorted(git.keys() | (cluster.keys() if alone else cluster.keys() & _EXACT)):
            below = f'{path}["{name}"]' if "." in name or "/" in name else f"{path}.{name}".removeprefix(".")
            exact, quantities = alone or name in _EXACT, amounts or name in _QUANTITIES
            yield from _differences(below, git.get(name), cluster.get(name), alone=exact, amounts=quantities)
    elif isinstance(git, list) and isinstance(cluster, list):
        for number, (ours, in_cluster) in enumerate(zip_longest(git, cluster)):
            yield from _differences(f"{path}[{number}]", ours, in_cluster, alone=alone)
    elif (git or None) != (cluster or None) and not (amounts and _is_same_quantity(git, cluster)):
        yield f"{path} is {_value_text(cluster, 'missing')}, git has {_value_text(git, 'none')}"


def _is_same_quantity(git: Any, cluster: Any) -> bool:
    amount = quantity.parse(str(git))
    return amount is not None and amount == quantity.parse(str(cluster))


def _value_text(value: Any, nothing: str) -> str:
    if value is None:
        return nothing
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_VALUE else f"{text[:_MAX_VALUE]}..."


class PersistentSeats(NamedTuple):
    """The persistent slots of a class of a reservation, by name, until an instant (None: always).

    `once`: each ends with its first session.
    """

    resource_class: str
    pool: str
    names: tuple[str, ...]
    until: int | None
    once: bool


class ExpectedState(NamedTuple):
    """What git expects in a cluster, by reservation.

    `templates` are those of pools as JSON, by the name of the object that is scaled.
    """

    cluster: str
    timetables: dict[str, Timetable]
    persistent: dict[str, tuple[PersistentSeats, ...]]
    templates: dict[str, str]
    grants: tuple[Grant, ...] = ()  # of reservations and of the sweep

    @property
    def access(self) -> dict[str, list[Access]]:
        """What each ServiceAccount may do."""
        return rbac.access_by_account(self.grants)


def expected_states(
    site: Site, items: Sequence[Item], classes: Collection[ResourceClass]
) -> dict[str, ExpectedState]:
    """Return the expected state of each cluster, in the site's order. `classes` are all declared ones.

    Timetables are rendered and parsed again, so that their form is the same.
    """
    objects = {cluster.name: base_manifests(site, cluster, classes) for cluster in site.clusters}
    for part in (part for item in items for part in item.parts):
        objects[part.placed.cluster.name] += part_manifests(site, part)
    states = {
        name: ExpectedState(name, {}, {}, {}, tuple(rbac.grants(manifests)))
        for name, manifests in objects.items()
    }
    for item in items:
        persistence = item.reservation.holder.persistence
        for part in item.parts:
            if persistence is not None:
                known = states[part.placed.cluster.name].persistent
                named = backend_of(item.reservation.holder).persistent_pools(site, part.placed)
                known[item.reservation.name] = tuple(
                    PersistentSeats(name, pool(item.reservation.name, name), names, persistence.until, once)
                    for name, names, once in named
                )
                continue
            text = timetable_text(site, part.placed, part.occurrences)
            here = states[part.placed.cluster.name]
            here.timetables[item.reservation.name] = parse_timetable(text)
            here.templates.update(templates_of_texts(pool_texts(site, part)))
    return states


def timetable_difference(git: Timetable, cluster: Timetable) -> str:
    """Describe the difference of two timetables in a few words; empty without one."""
    words = []
    mine, yours = _by_id(git.occurrences), _by_id(cluster.occurrences)
    number = sum(mine.get(name) != yours.get(name) for name in mine.keys() | yours.keys())
    if number:
        words.append(f"{number} occurrence{'s differ' if number > 1 else ' differs'}")
    if git.suspend != cluster.suspend:
        words.append(f"git {'suspends' if git.suspend else 'does not suspend'} it")
    ours, in_cluster = (
        {pool.resource_class: pool for pool in timetable.pools} for timetable in (git, cluster)
    )
    changed = sorted(
        name for name in ours.keys() | in_cluster.keys() if ours.get(name) != in_cluster.get(name)
    )
    if changed:
        words.append(f"pool{'s' if len(changed) > 1 else ''} {', '.join(changed)}")
    if git.settings != cluster.settings:
        words.append("the site's settings")
    return ", ".join(words)


def _by_id(occurrences: Iterable[TimetableOccurrence]) -> dict[str, set[TimetableOccurrence]]:
    """Return the rows of occurrences by id, with sorted seats."""
    by_id: dict[str, set[TimetableOccurrence]] = {}
    for occurrence in occurrences:
        by_id.setdefault(occurrence.id, set()).add(occurrence._replace(seats=tuple(sorted(occurrence.seats))))
    return by_id
