"""Targets that a person orders for a while: what becomes of those that stand, and how they are written."""

import json
from collections.abc import Mapping
from typing import Any, Protocol

from gen.live.objects import Object
from gen.manifest import naming
from gen.runtime.instant import instant_text
from gen.runtime.jsonvalue import TimetableError
from gen.runtime.labels import RESERVATION
from gen.runtime.override import ANNOTATION, Override, parse_overrides

MANAGER = "berth-override"
CONFLICT = 409
ATTEMPTS = 5

Orders = dict[str, Override]
"""By resource class."""


class Hand(Protocol):
    """What reads and writes in a cluster, as `gen.live.client.Remote` does."""

    def get(self, path: str, query: Mapping[str, str]) -> Any: ...

    def merge(self, path: str, patch: Mapping[str, object], query: Mapping[str, str]) -> Any: ...


def standing(said: str, now: int) -> Orders:
    """In the annotation as it is; what is malformed or over is forgotten."""
    try:
        found = parse_overrides(said)
    except TimetableError:
        return {}
    return {name: one for name, one in found.items() if now < one.until}


def changed(orders: Orders, changes: Mapping[str, Override | None]) -> Orders:
    """None ends an order."""
    after = {**orders, **changes}
    return {name: one for name, one in sorted(after.items()) if one is not None}


def written(orders: Orders) -> str | None:
    """The annotation; None removes it."""
    tree = {name: {"target": one.target, "until": instant_text(one.until)} for name, one in orders.items()}
    return json.dumps(tree) if tree else None


def place(
    hand: Hand, namespace: str, ours: Mapping[str, str], changes: Mapping[str, Override | None], now: int
) -> tuple[Orders, Orders] | None:
    """What stood on the timetable with these labels, and what stands there now; None where there is none.

    Raises what `hand` raises; but if somebody else wrote in between, it looks again at once.
    """
    for attempt in range(1, ATTEMPTS + 1):
        found = _timetable(hand, namespace, ours)
        if found is None:
            return None
        metadata = found["metadata"]
        said = (metadata.get("annotations") or {}).get(ANNOTATION)
        before = standing(said or "", now)
        after = changed(before, changes)
        if written(after) == said:
            return before, after
        patch = {"resourceVersion": metadata["resourceVersion"], "annotations": {ANNOTATION: written(after)}}
        path = f"/api/v1/namespaces/{namespace}/configmaps/{metadata['name']}"
        try:
            hand.merge(path, {"metadata": patch}, {"fieldManager": MANAGER})
        except Exception as error:
            if getattr(error, "status", 0) != CONFLICT or attempt == ATTEMPTS:
                raise
        else:
            return before, after
    raise AssertionError


def _timetable(hand: Hand, namespace: str, ours: Mapping[str, str]) -> Object | None:
    """Found by its labels too, so that nobody else's ConfigMap of that name is touched."""
    selector = ",".join(f"{key}={value}" for key, value in ours.items())
    name = naming.single(ours[RESERVATION])
    query = {"labelSelector": selector, "fieldSelector": f"metadata.name={name}"}
    items = hand.get(f"/api/v1/namespaces/{namespace}/configmaps", query).get("items") or []
    found: Object | None = next(iter(items), None)
    return found
