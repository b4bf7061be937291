"""The in-cluster code, shared out among ConfigMaps: none may be larger than 200 KiB, and a pod mounts what
its programs need.
"""
# pathlib would cost more than all that it could do here.
# ruff: noqa: PTH118, PTH120, PTH123, PTH208

import os

from gen.manifest import naming

Files = dict[str, str]
"""Text by file name, sorted by name."""

# Modules that only one program imports; a test holds them to that.
_OWN = {
    "attendance attribution collection contest kinds lookout observed": naming.SCALER_CODE,
    "presence readers renku rivals scaler scaling templates watcher": naming.SCALER_CODE,
    "slot slotdemand slothands slotkeeper slotplan slotsweep": naming.KOORDINATOR_CODE,
    "action facts holding imagetrouble inventory judgement": naming.SWEEP_CODE,
    "removal serving sweep sweephands": naming.SWEEP_CODE,
}
_HOME = {f"{module}.py": name for modules, name in _OWN.items() for module in modules.split()}


def parts(*, koordinator: bool = False) -> dict[str, Files]:
    """By the name of the ConfigMap: what runs is what is reviewed. `koordinator`: where a cluster has it."""
    folder = os.path.join(os.path.dirname(os.path.dirname(__file__)), "runtime")
    found: dict[str, Files] = {name: {} for name in naming.code(koordinator=koordinator)}
    for name in sorted(os.listdir(folder)):
        home = found.get(_HOME.get(name, naming.RUNTIME)) if name.endswith(".py") else None
        if home is not None:
            with open(f"{folder}/{name}", encoding="utf-8") as file:
                text = file.read()
            if text:
                home[name] = text
    return found


def together(*, koordinator: bool = False) -> Files:
    return {name: text for files in parts(koordinator=koordinator).values() for name, text in files.items()}


def sources(*names: str) -> list[dict[str, dict[str, str]]]:
    """Of a projected volume: these ConfigMaps in one folder."""
    return [{"configMap": {"name": name}} for name in names]
