"""The in-cluster code: one immutable ConfigMap for each package, named by its content.

Every pod mounts PACKAGES; what only some use are plugins, each rendered and mounted where it is used. A later
pod of an old Job mounts the ConfigMaps that its template names. So no pod mixes two releases.
"""

import os
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from berth.manifests import naming
from berth.manifests.placed import Placed, counts_sessions
from berth.schema.values import Cluster, Site

# Importing pathlib would take longer than everything here.
# ruff: noqa: PTH118, PTH120, PTH123, PTH208

PACKAGES = ("core", "runtime")


class CodeMap(NamedTuple):
    """The ConfigMap of a package. `files` has the text of every module by file name, sorted."""

    name: str
    files: Mapping[str, str]


def of_cluster(cluster: Cluster, plugins: Iterable[str] = ()) -> tuple[CodeMap, ...]:
    """Return the ConfigMaps of a cluster that uses these plugins, and those of its sweep.

    There are none if its pods run an image that contains the code.
    """
    if cluster.runtime.image:
        return ()
    return tuple(map(code_map, (*PACKAGES, *sorted({*plugins, *of_sweep(cluster)}))))


def of_sweep(cluster: Cluster) -> list[str]:
    """Return the plugins that the sweep of a cluster uses, sorted."""
    used = {
        "slots": cluster.koordinator is not None,
        "numbers": cluster.held,
        "pruning": cluster.sweep_prunes,
    }
    return sorted(name for name, is_used in used.items() if is_used)


def of_reservation(site: Site, placed: Placed, plugins: Iterable[str]) -> list[str]:
    """Return the plugins that the Jobs of a reservation use, sorted. `plugins`: those of its backend."""
    reads_projects = (
        site.renku
        and counts_sessions(placed)
        and any(found.sessions and found.sessions.source == "renku" for found in placed.classes)
    )
    used = [*plugins, *(["renku"] if reads_projects else [])]
    return sorted([*used, *(["rehearsals"] if placed.reservation.spec.rehearses else [])])


@cache
def code_map(package: str) -> CodeMap:
    """Return the ConfigMap of a package or plugin of this version."""
    from hashlib import sha256  # noqa: PLC0415 - expensive to load, and most commands need no code

    files = _files(package)
    content = "".join(f"{name}\0{text}\0" for name, text in files.items())
    return CodeMap(naming.code_map(package, sha256(content.encode()).hexdigest()), files)


def _files(package: str) -> dict[str, str]:
    home = os.path.dirname(os.path.dirname(__file__))
    folder = os.path.join(home, package) if package in PACKAGES else os.path.join(home, "plugins", package)
    found = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py"):
            with open(f"{folder}/{name}", encoding="utf-8", newline="") as file:
                found[name] = file.read()
    return found
