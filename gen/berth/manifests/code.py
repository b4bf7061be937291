"""The in-cluster code: one immutable ConfigMap for each package, named by its content.

A later pod of an old Job mounts the ConfigMaps that its template names. So no pod mixes two releases.
"""

import os
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from berth.manifests import naming
from berth.schema.values import Cluster

# Importing pathlib would take longer than everything here.
# ruff: noqa: PTH118, PTH120, PTH123, PTH208

PACKAGES = ("core", "runtime")


class CodeMap(NamedTuple):
    """The ConfigMap of a package. `files` has the text of every module by file name, sorted."""

    name: str
    files: Mapping[str, str]


def of_cluster(cluster: Cluster) -> tuple[CodeMap, ...]:
    """Return the ConfigMaps of a cluster; none if its pods run an image that contains the code."""
    return () if cluster.runtime_image else code_maps()


@cache
def code_maps() -> tuple[CodeMap, ...]:
    """Return the ConfigMaps of this version, in the order of PACKAGES."""
    return tuple(_code_map(package) for package in PACKAGES)


def _code_map(package: str) -> CodeMap:
    from hashlib import sha256  # noqa: PLC0415 - expensive to load, and most commands need no code

    files = _files(package)
    content = "".join(f"{name}\0{text}\0" for name, text in files.items())
    return CodeMap(naming.code_map(package, sha256(content.encode()).hexdigest()), files)


def _files(package: str) -> dict[str, str]:
    folder = os.path.join(os.path.dirname(os.path.dirname(__file__)), package)
    found = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py"):
            with open(f"{folder}/{name}", encoding="utf-8", newline="") as file:
                found[name] = file.read()
    return found
