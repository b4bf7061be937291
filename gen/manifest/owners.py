"""Who owns the slots of a class where a reservation does not say it: the pods of its sessions. Pure.

Koordinator knows owners by the labels of pods. So this works where sessions are pods, and where labels and
namespaces alone narrow them.
"""

from collections.abc import Mapping
from typing import Any

from gen.model import Reservation, ResourceClass
from gen.schema.pod import LabelRequirement, LabelSelector
from gen.schema.slots import Owner, OwnerObject

_POSITIVE = ("In", "Exists")
_SERVER = {"component": "singleuser-server"}  # on every pod of a user of JupyterHub, and on no other


def of_sessions(reservation: Reservation, found: ResourceClass) -> tuple[Owner, ...]:
    """One for each namespace in which the reservation has sessions of the class. Empty where `hindrance` says
    why.
    """
    if hindrance(reservation, found):
        return ()
    assert found.sessions is not None  # that would be a hindrance
    selector = _selector(reservation, found)
    return tuple(_owner(name, selector) for name in _namespaces(reservation, found))


def _owner(namespace: str, selector: Mapping[str, Any]) -> Owner:
    """All pods of a namespace that a selector selects."""
    terms = tuple(LabelRequirement.model_construct(**one) for one in selector.get("matchExpressions", ()))
    chosen = LabelSelector.model_construct(
        matchLabels=selector.get("matchLabels"), matchExpressions=terms or None
    )
    place = OwnerObject.model_construct(namespace=namespace)
    return Owner.model_construct(object=place, labelSelector=chosen)


def hindrance(reservation: Reservation, found: ResourceClass) -> str:
    """Why nobody can tell by a pod that it is a session of this reservation; empty if by its labels."""
    sessions, course = found.sessions, reservation.sessions
    if sessions is None:
        return "it has no `sessions`"
    if sessions.source == "renku":
        return "a pod does not say of which class its Renku session is"
    if sessions.source == "custom" and (sessions.group or sessions.resource != "pods"):
        return f"its sessions are {sessions.resource}, and their pods may have other labels"
    if sessions.match_annotations or sessions.inactive:
        return "it tells its sessions by more than labels"
    if course.match_annotations or course.project_template:
        return "this reservation narrows its sessions by more than labels"
    if not _namespaces(reservation, found):
        return "it has no sessions in the namespaces of this reservation"
    return "" if is_positive(_selector(reservation, found)) else "its sessions have no labels of their own"


def _namespaces(reservation: Reservation, found: ResourceClass) -> tuple[str, ...]:
    here = found.sessions.namespaces if found.sessions else ()
    narrowed_to = reservation.sessions.namespaces
    return tuple(name for name in here if not narrowed_to or name in narrowed_to)


def _selector(reservation: Reservation, found: ResourceClass) -> dict[str, Any]:
    assert found.sessions is not None
    selector = {} if found.sessions.selector is None else found.sessions.selector.dump()
    if found.sessions.source == "jupyterhub":
        selector = narrowed(selector, _SERVER)
    return narrowed(selector, dict(reservation.sessions.match_labels))


def is_positive(selector: Mapping[str, Any]) -> bool:
    """Whether it names a label that pods have; what they have not, nearly all pods have not."""
    terms = selector.get("matchExpressions", ())
    return bool(selector.get("matchLabels")) or any(term["operator"] in _POSITIVE for term in terms)


def narrowed(selector: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    """A selector of what both select, also where they contradict each other."""
    own = selector.get("matchLabels", {})
    both = {**own, **{key: value for key, value in labels.items() if key not in own}}
    against = [
        {"key": key, "operator": "In", "values": [value]}
        for key, value in labels.items()
        if both[key] != value
    ]
    terms = [*selector.get("matchExpressions", ()), *against]
    return {**({"matchLabels": both} if both else {}), **({"matchExpressions": terms} if terms else {})}
