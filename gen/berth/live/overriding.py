"""Overrides in a cluster: which are in force, and how they are written to the timetable's ConfigMap."""

import json
from collections.abc import Mapping

from berth.core.jsonvalues import TimetableError, instant_text
from berth.core.labels import RESERVATION
from berth.core.objects import CONFIG_MAP
from berth.core.timetable import OVERRIDE_ANNOTATION, Override, parse_overrides
from berth.live.client import ClusterClient
from berth.live.kubeobject import ClusterError, KubeObject, list_all
from berth.manifests import naming

OVERRIDE_FIELD_MANAGER = "berth-override"
CONFLICT = 409
ATTEMPTS = 5

Overrides = dict[str, Override]
"""By resource class."""


def overrides_in_force(text: str, now: int) -> Overrides:
    """Parse the annotation; malformed or ended overrides are dropped."""
    try:
        overrides = parse_overrides(text)
    except TimetableError:
        return {}
    return {name: override for name, override in overrides.items() if now < override.until}


def with_changes(orders: Overrides, changes: Mapping[str, Override | None]) -> Overrides:
    """Return the overrides after changes; None ends one."""
    after = {**orders, **changes}
    return {name: override for name, override in sorted(after.items()) if override is not None}


def annotation_text(orders: Overrides) -> str | None:
    """Return the annotation; None removes it."""
    tree = {
        name: {"target": order.target, "until": instant_text(order.until)} for name, order in orders.items()
    }
    return json.dumps(tree) if tree else None


def write_overrides(
    client: ClusterClient,
    namespace: str,
    ours: Mapping[str, str],
    changes: Mapping[str, Override | None],
    now: int,
) -> tuple[Overrides, Overrides] | None:
    """Write overrides; return those before and after, None without a timetable with these labels.

    Raises what `client` raises, but retries at once after a conflict.
    """
    for attempt in range(1, ATTEMPTS + 1):
        timetable = _timetable(client, namespace, ours)
        if timetable is None:
            return None
        metadata = timetable["metadata"]
        annotation = (metadata.get("annotations") or {}).get(OVERRIDE_ANNOTATION)
        before = overrides_in_force(annotation or "", now)
        after = with_changes(before, changes)
        if annotation_text(after) == annotation:
            return before, after
        patch = {
            "resourceVersion": metadata["resourceVersion"],
            "annotations": {OVERRIDE_ANNOTATION: annotation_text(after)},
        }
        path = CONFIG_MAP.path(namespace, metadata["name"])
        try:
            client.merge(path, {"metadata": patch}, {"fieldManager": OVERRIDE_FIELD_MANAGER})
        except ClusterError as error:
            if error.status != CONFLICT or attempt == ATTEMPTS:
                raise
        else:
            return before, after
    raise AssertionError


def _timetable(client: ClusterClient, namespace: str, ours: Mapping[str, str]) -> KubeObject | None:
    """Find the timetable by name and labels, so that no foreign ConfigMap is changed."""
    selector = ",".join(f"{key}={value}" for key, value in ours.items())
    fields = f"metadata.name={naming.single(ours[RESERVATION])}"
    return next(iter(list_all(client.get, CONFIG_MAP.path(namespace), selector, fields)), None)
