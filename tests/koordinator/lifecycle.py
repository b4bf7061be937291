"""What the controller of Reservations writes: owners, expiry, the end after one owner; and what it deletes.

A status is returned whole; the object that it is made from is left as it was.
"""

from collections.abc import Container, Iterable
from datetime import datetime
from typing import Any

from berth.core.jsonvalues import instant_text

from tests.koordinator import amounts, decoding
from tests.koordinator.amounts import Tree
from tests.koordinator.objects import (
    AVAILABLE,
    FAILED,
    PENDING,
    SUCCEEDED,
    allocated_to,
    annotations_of,
    is_allocated_once,
    metadata,
    node_of,
    phase_of,
    spec_of,
    status_of,
    template_of,
    uid_of,
)
from tests.koordinator.objects import PREFIX as KOORDINATOR

RESIZE = f"{KOORDINATOR}reservation-resize-allocatable"
KEPT = 24 * 3600  # seconds for which what is over stays
SCHEDULED, READY = "Scheduled", "Ready"


def synced(
    reservation: Tree, nodes: Container[str], pods: Iterable[Tree], now: float, lag: float = 0.0
) -> Tree | None:
    """The status that it should have, where it has another. What has no node yet never expires. That one is
    due is seen `lag` seconds late: no event tells of it, as one does of a node.
    """
    if phase_of(reservation) in (FAILED, SUCCEEDED) or not node_of(reservation):
        return None
    if is_due(reservation, now - lag) or node_of(reservation) not in nodes:
        return expired(reservation, now)
    return _with_owners(reservation, pods, now)


def is_due(reservation: Tree, now: float) -> bool:
    """The earlier of `expires` and `ttl` after its creation has passed; with a ttl of zero none counts."""
    ttl, expires = spec_of(reservation).get("ttl"), spec_of(reservation).get("expires")
    seconds = None if ttl is None else decoding.duration(ttl)
    if seconds == 0:
        return False
    if expires is not None and now > _instant(expires):
        return True
    return seconds is not None and now - _instant(metadata(reservation)["creationTimestamp"]) > seconds


def _instant(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def expired(reservation: Tree, now: float) -> Tree:
    status = {**status_of(reservation), "phase": FAILED}
    conditions = [dict(one) for one in status.get("conditions") or []]
    old = next((one for one in conditions if one["type"] == READY), None)
    if old is not None and old["status"] == "False":
        old |= {"reason": "Expired", "lastProbeTime": _stamp(now)}
    else:
        new = condition(READY, "False", "Expired", now)
        conditions = [new if one is old else one for one in conditions] + ([] if old else [new])
    return {**status, "conditions": conditions}


def _with_owners(reservation: Tree, pods: Iterable[Tree], now: float) -> Tree | None:
    """Those that run on its node and name it in their annotation; without any, both keys are absent."""
    mine = sorted((pod for pod in pods if _is_owner(pod, reservation)), key=uid_of)
    owners = [
        {"namespace": metadata(pod)["namespace"], "name": metadata(pod)["name"], "uid": uid_of(pod)}
        for pod in mine
    ]
    status = status_of(reservation)
    asked = amounts.add(*(amounts.requests_of(spec_of(pod)) for pod in mine))
    allocated = amounts.mask(asked, status.get("allocatable") or {})
    known = sorted(status.get("currentOwners") or [], key=lambda owner: str(owner["uid"]))
    if known == owners and amounts.read(status.get("allocated")) == allocated:
        return None
    found = {key: value for key, value in status.items() if key not in ("allocated", "currentOwners")}
    if owners:
        found |= {"allocated": amounts.texts(allocated), "currentOwners": owners}
    return succeeded(found, now) if is_allocated_once(reservation) else found


def _is_owner(pod: Tree, reservation: Tree) -> bool:
    here = spec_of(pod).get("nodeName") == node_of(reservation)
    ended = status_of(pod).get("phase") in ("Succeeded", "Failed")
    return here and not ended and allocated_to(pod) == uid_of(reservation)


def succeeded(status: Tree, now: float) -> Tree:
    """It has served the one owner that it is for."""
    conditions = [dict(one) for one in status.get("conditions") or []]
    for one in conditions:
        if one["type"] == READY:
            one |= {"status": "False", "reason": "Succeeded", "lastProbeTime": _stamp(now)}
    if not any(one["type"] == READY for one in conditions):
        conditions.append(condition(READY, "False", "Succeeded", now))
    return {**status, "phase": SUCCEEDED, "conditions": conditions}


def bound(reservation: Tree, node: str, now: float) -> Tree:
    """Its status once it has a node. Its size is fixed from here on."""
    resized = _resized(reservation)
    allocatable = {**amounts.requests_of(template_of(reservation)), **resized}
    return {
        **status_of(reservation),
        "allocatable": amounts.texts(allocatable),
        "nodeName": node,
        "phase": AVAILABLE,
        "conditions": [
            condition(SCHEDULED, "True", "Scheduled", now),
            condition(READY, "True", "Available", now),
        ],
    }


def _resized(reservation: Tree) -> amounts.Amounts:
    """Raises ValueError for an annotation that cannot be read."""
    said = decoding.json_object(annotations_of(reservation).get(RESIZE) or "{}")
    return amounts.read(said.get("resources"))


def unschedulable(reservation: Tree, message: str, now: float) -> Tree | None:
    """It stays Pending; None where it says so already, in these words."""
    status = status_of(reservation)
    conditions = [dict(one) for one in status.get("conditions") or []]
    old = next((one for one in conditions if one["type"] == SCHEDULED), None)
    if old and (old["status"], old.get("message")) == ("False", message):
        return None
    new = condition(SCHEDULED, "False", "Unschedulable", now, message)
    if old and old["status"] == "False":
        new["lastTransitionTime"] = old["lastTransitionTime"]
    others = [one for one in conditions if one["type"] != SCHEDULED]
    return {**status, "phase": PENDING, "conditions": [new, *others]}


def condition(type_: str, status: str, reason: str, now: float, message: str = "") -> Tree:
    stamp = _stamp(now)
    made = {"type": type_, "status": status, "reason": reason, "message": message}
    said: Tree = {key: value for key, value in made.items() if value}
    return {**said, "lastProbeTime": stamp, "lastTransitionTime": stamp}


def _stamp(now: float) -> str:
    return instant_text(int(now))


def is_garbage(reservation: Tree, nodes: Container[str], now: float, interval: float = 0.0) -> bool:
    """What is expired or has served goes after a day, or once its node is gone; if there is an `interval`, at
    the next multiple of it. What lost its node long after it was over goes at once even so.
    """
    said = _over_since(reservation)
    if said is None:
        return False
    since = _instant(said)
    if bool(node_of(reservation)) and node_of(reservation) not in nodes:
        return _has_ticked(since, now, interval)
    return now - since > KEPT and _has_ticked(since + KEPT, now, interval)


def _has_ticked(since: float, now: float, interval: float) -> bool:
    return not interval or now // interval > since // interval


def _over_since(reservation: Tree) -> str | None:
    conditions: list[Any] = status_of(reservation).get("conditions") or []
    ready = next((one for one in conditions if one["type"] == READY), None)
    if ready is None or ready["status"] != "False":
        return None
    if phase_of(reservation) == FAILED and ready["reason"] == "Expired":
        return str(ready["lastTransitionTime"])
    if phase_of(reservation) == SUCCEEDED and ready["reason"] == "Succeeded":
        return str(ready["lastProbeTime"])
    return None
