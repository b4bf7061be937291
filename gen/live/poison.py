"""Which Reservations could Koordinator's scheduler not read? Pure.

The API server stores more than Go's types take, and a list is read as a whole or not at all: one such object,
of whomever, stops the scheduler for everybody.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

_DURATION = re.compile(r"[-+]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)", re.ASCII)
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[-+]\d\d:\d\d)", re.ASCII)
_QUANTITY = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+|[numkMGTPE]|[KMGTPE]i)?", re.ASCII)
_TEXTS = ("nodeName", "schedulerName", "priorityClassName")
_SHOWN = 40  # characters


def why_unread(tree: Mapping[str, Any]) -> str:
    """What of it no scheduler can read; empty where it can."""
    return next(_faults(tree.get("spec") or {}), "")


def _faults(spec: Mapping[str, Any]) -> Iterator[str]:
    ttl, expires = spec.get("ttl"), spec.get("expires")
    if ttl is not None and not (isinstance(ttl, str) and _DURATION.fullmatch(ttl)):
        yield f"ttl {_shown(ttl)} is no duration"
    if expires is not None and not _is_instant(expires):
        yield f"expires {_shown(expires)} is no instant"
    template = spec.get("template")
    if template is not None and not isinstance(template, Mapping):
        yield f"template {_shown(template)} is no mapping"
        return
    yield from _of_template(template or {})


def _of_template(template: Mapping[str, Any]) -> Iterator[str]:
    for part in ("metadata", "spec"):
        if template.get(part) is not None and not isinstance(template[part], Mapping):
            yield f"template.{part} {_shown(template[part])} is no mapping"
            return
    metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
    for at, texts in (
        ("metadata.labels", metadata.get("labels")),
        ("metadata.annotations", metadata.get("annotations")),
        ("spec.nodeSelector", spec.get("nodeSelector")),
    ):
        if texts is not None and not _are_texts(texts):
            yield f"template.{at} has what is no text"
    for key in _TEXTS:
        if spec.get(key) is not None and not isinstance(spec[key], str):
            yield f"template.spec.{key} {_shown(spec[key])} is no text"
    if spec.get("priority") is not None and type(spec["priority"]) is not int:
        yield f"template.spec.priority {_shown(spec['priority'])} is no whole number"
    yield from _of_containers(spec)


def _of_containers(spec: Mapping[str, Any]) -> Iterator[str]:
    amounts = [("spec.overhead", spec.get("overhead"))]
    for key in ("containers", "initContainers"):
        found = spec.get(key)
        if found is not None and not (
            isinstance(found, list) and all(isinstance(one, Mapping) for one in found)
        ):
            yield f"template.spec.{key} is no list of containers"
            return
        for one in found or ():
            resources = one.get("resources")
            if resources is not None and not isinstance(resources, Mapping):
                yield f"template.spec.{key} has resources that are no mapping"
                return
            amounts += [(f"spec.{key}", (resources or {}).get(kind)) for kind in ("requests", "limits")]
    for at, some in amounts:
        for name, amount in some.items() if isinstance(some, Mapping) else ():
            if not _is_quantity(amount):
                yield f"template.{at} asks for {_shown(amount)} of {name}, which is no quantity"


def _is_quantity(value: object) -> bool:
    if type(value) in (int, float):
        return True
    return isinstance(value, str) and _QUANTITY.fullmatch(value) is not None


def _is_instant(value: object) -> bool:
    if not (isinstance(value, str) and _INSTANT.fullmatch(value)):
        return False
    try:
        datetime.fromisoformat(f"{value[:19]}+00:00")
    except ValueError:
        return False
    return True


def _are_texts(found: object) -> bool:
    return isinstance(found, Mapping) and all(isinstance(value, str) for value in found.values())


def _shown(value: object) -> str:
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
