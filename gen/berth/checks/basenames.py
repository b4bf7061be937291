"""What the base of a change knows: limits of the base judge all else as if they named it."""

from collections.abc import Mapping
from itertools import chain
from typing import NamedTuple

from berth.schema.declared import Declared
from berth.schema.values import ResourceClass, Site


class BaseNames(NamedTuple):
    """`classes`: the resources that one seat requests, by class."""

    classes: Mapping[str, frozenset[str]]
    clusters: frozenset[str]
    namespaces: frozenset[str]

    def knows_class(self, found: ResourceClass) -> bool:
        """Tell whether a class of this name is in the base, and requests each of these resources."""
        known = self.classes.get(found.name)
        return known is not None and known.issuperset(found.requests)


def base_names(declared: Declared, site: Site) -> BaseNames:
    """Return what limits of a base can name: also namespaces of owners of slots."""
    sessions = [class_namespaces(found) or () for found in declared.classes.values()]
    owners = [filter(None, one.holder.owner_namespaces) for one in declared.reservations]
    return BaseNames(
        {name: frozenset(found.requests) for name, found in declared.classes.items()},
        frozenset(cluster.name for cluster in site.clusters),
        frozenset(chain(*sessions, *owners)),
    )


def class_namespaces(found: ResourceClass | None) -> tuple[str, ...] | None:
    """Return the namespaces of the sessions of a class; None: any, because labels tell which."""
    sessions = found.sessions if found else None
    if sessions is None:
        return ()
    return None if sessions.namespace_labels else sessions.namespace_names
