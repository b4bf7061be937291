"""Labels and annotations of slots: which keys people may write on a Reservation, and in its template.

Koordinator copies both onto the pod that its scheduler sees, where many keys of its own mean something else.
"""

import json
from typing import Any

from gen.finding import Path
from gen.kind import resources
from gen.kind.metadata import RESERVED, refuse_much, refuse_our_label
from gen.kind.shape import INVALID, Field, Fields, Report, items, shown
from gen.kind.value import OneOf, Text

FOREIGN, QUOTA, UNREADABLE = "B112", "B113", "B114"
_SCHEDULING = "scheduling.koordinator.sh/"
OURS = {
    f"{_SCHEDULING}reservation-order": "order",
    f"{_SCHEDULING}pre-allocation-required": "preAllocationRequired",
    f"{_SCHEDULING}reservation-restricted-options": "restrictedResources",
    "koordinator.sh/priority": "priority",
}
# Written by Koordinator itself, or meant for the pods of sessions.
_OF_PODS = frozenset(
    _SCHEDULING + name
    for name in (
        "reserve-pod",
        "reservation-name",
        "reservation-node",
        "is-pre-allocation",
        "reservation-allocated",
        "reservation-affinity",
        "exact-match-reservation",
        "reservation-ignored",
        "operating-mode",
        "reservation-owners",
        "reservation-current-owner",
    )
)
_TRACKING = (
    "app.kubernetes.io/instance",
    "argocd.argoproj.io/tracking-id",
    "argocd.argoproj.io/instance",
    "kustomize.toolkit.fluxcd.io/",
    "helm.toolkit.fluxcd.io/",
)
CHARGED = "quota.scheduling.koordinator.sh/name"
HELD_BACK = "node.koordinator.sh/reservation"
_HELD_BACK = Fields(
    {
        "resources": Field(resources.RESOURCES, None),
        "reservedCPUs": Field(Text(), None),
        "applyPolicy": Field(OneOf(("Default", "ReservedCPUsOnly")), None),
    }
)


def agree(made: Any, path: Path, report: Report, *, on_object: bool) -> None:
    """Report the keys of `labels` and `annotations` of `made` that would break what a slot is for.

    `on_object`: they stand on the Reservation itself, which an engine may see, not in its template.
    """
    refuse_much(made["annotations"], (*path, "annotations"), report)
    for where in ("labels", "annotations"):
        for key, value in items(made[where] or ()):
            if key is INVALID:
                continue
            at = (*path, where, key)
            refuse_our_label(key, at, report)
            if key in OURS:
                message, fix = f"{key} is set by Berth itself.", f"Write backend.{OURS[key]} instead."
                report(RESERVED, at, message, fix, at_key=True)
            elif key in _OF_PODS:
                message = f"{key} belongs on pods or to Koordinator, and means something else on a slot."
                report(FOREIGN, at, message, "Remove it.", at_key=True)
            elif on_object and key.startswith(_TRACKING):
                message = f"by {key} an engine knows what is its own: it would remove the slots of a window."
                report(FOREIGN, at, message, "Remove it.", at_key=True)
            elif key == CHARGED:
                message = f"{key} charges a slot to a quota, and the session that takes it once more."
                fix = "Remove it, unless the quota has room for both."
                report(QUOTA, at, message, fix, at_key=True)
            elif key == HELD_BACK and type(value) is str:
                _held_back(value, at, report)


def is_foreign(key: str) -> bool:
    """Whether it makes something else of a slot, also where a class puts it on its pods."""
    return key in OURS or key in _OF_PODS


def _held_back(text: str, path: Path, report: Report) -> None:
    """What Koordinator cannot read of it, it takes for nothing."""
    inner = Report("", 0)
    try:
        _HELD_BACK.check(json.loads(text), (), inner)
    except (ValueError, RecursionError):
        inner(UNREADABLE, (), "", "")
    if inner.problems:
        message = f"{shown(text)} is not what Koordinator reads there."
        fix = """Write JSON such as '{"resources": {"cpu": "1"}}'."""
        report(UNREADABLE, path, message, fix)
