"""Models made of plain values without validation: tests also try what no file could hold."""

from typing import Any, TypeVar

from berth.backends.koordinator.slotoptions import Owner
from berth.schema import outline
from berth.schema.basemodel import Model
from berth.schema.outline import Node, fields
from berth.schema.reservation import Reservation
from berth.schema.reservationspec import SessionMatch
from berth.schema.resourceclass import ClassSessions

M = TypeVar("M", bound=Model)


def built(model: type[M], value: Any) -> M:
    """The model of a mapping with the keys of a file."""
    m: M = _built(Node(model), value)
    return m


def _built(node: Node, value: Any) -> Any:
    if value is None or isinstance(value, Model):
        return value
    if node.kind == outline.UNION:
        return _built(node.branch(value), value)
    if node.kind == outline.LIST:
        return tuple([_built(node.item, one) for one in value])
    if node.kind == outline.MODEL:
        known = fields(node.type)
        return node.type.model_construct(
            **{name: _built(known[name].node, one) if name in known else one for name, one in value.items()}
        )
    return value


def class_sessions(source: str, namespaces: Any, selector: Any = None, custom: Any = ()) -> ClassSessions:
    """`sessions` of a class."""
    chosen = {"selector": selector} if selector else {}
    return built(ClassSessions, {"source": source, "namespaces": namespaces, **chosen, **dict(custom)})


def with_match(reservation: Reservation, **match: Any) -> Reservation:
    """The reservation with other `sessions`, by the names of their attributes."""
    sessions = SessionMatch.model_construct(**match)
    return reservation._replace(spec=reservation.spec.model_copy(update={"sessions": sessions}))


def owner(pod: Any, controller: Any, selector: Any) -> Owner:
    """An entry of `owners`; empty parts are not said. `pod` are pairs of its `object`."""
    parts = {"object": dict(pod), "controller": controller, "labelSelector": selector}
    return built(Owner, {key: value for key, value in parts.items() if value})
