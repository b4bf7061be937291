"""The in-cluster code as ConfigMaps, at most 200 KiB each.

A pod mounts the package `core` from one ConfigMap, and the package `runtime` from those that its program
needs.
"""

import os

from berth.manifests import naming

# Importing pathlib would take longer than everything here.
# ruff: noqa: PTH118, PTH120, PTH123, PTH208

Files = dict[str, str]
"""Text by file name, sorted by name."""

# Modules of `runtime` that not all programs import; a test compares this with their imports.
_OWN: dict[str, str] = {}
_HOME = {f"{module}.py": name for modules, name in _OWN.items() for module in modules.split()}


def parts(*, koordinator: bool = False) -> dict[str, Files]:
    """Return the files of each ConfigMap by its name. `koordinator`: the cluster has Koordinator."""
    found: dict[str, Files] = {name: {} for name in naming.code(koordinator=koordinator)}
    found[naming.CORE] = _files("core")
    for name, text in _files("runtime").items():
        home = found.get(_HOME.get(name, naming.RUNTIME))
        if home is not None:
            home[name] = text
    return found


def _files(package: str) -> Files:
    folder = os.path.join(os.path.dirname(os.path.dirname(__file__)), package)
    found = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py") and name != "__init__.py":
            with open(f"{folder}/{name}", encoding="utf-8") as file:
                found[name] = file.read()
    return found


def together(*, koordinator: bool = False) -> Files:
    """Return all files by name. No two files of the packages have the same name."""
    return {name: text for files in parts(koordinator=koordinator).values() for name, text in files.items()}


def sources(*names: str) -> list[dict[str, dict[str, str]]]:
    """Return the sources of a projected volume that has the files of these ConfigMaps in one folder."""
    return [{"configMap": {"name": name}} for name in names]
