"""What is said of a reservation's slots, in words. Pure."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from gen.model import Reservation, Slots
from gen.placed import Stands, stands
from gen.report import seats_text
from gen.runtime.instant import instant_text
from gen.schema.slots import Owner


def facts(slots: Slots, shapes: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """`shapes` by class."""
    yield "standing", _said(slots.standing)
    yield "expires", slots.expires or ""
    yield "ttl", slots.ttl or ""
    yield "owners", "; ".join(map(_owner, slots.owners)) or "sessions of the class"
    yield "allocate once", _said(slots.allocate_once)
    yield "allocate policy", slots.allocate_policy or "the cluster's"
    yield "with placeholders", _said(slots.with_placeholders)
    yield "session affinity", _said(slots.session_affinity)
    yield "pre-allocation", _said(slots.pre_allocation)
    yield "pre-allocation required", _said(slots.pre_allocation_required)
    yield "pre-allocation policy", _tree(slots.pre_allocation_policy and slots.pre_allocation_policy.dump())
    yield "unschedulable", _said(slots.unschedulable)
    yield "taints", _tree([one.dump() for one in slots.taints])
    yield "order", _number(slots.order)
    yield "priority", _number(slots.priority)
    yield "restricted resources", ", ".join(slots.restricted_resources)
    for key, value in slots.labels:
        yield f"slot label {key}", value
    for key, value in slots.annotations:
        yield f"slot annotation {key}", value
    template = {"metadata": slots.template.named_metadata(), "spec": slots.template.spec()}
    if slots.template.ports:
        template["container"] = {"ports": slots.template.container_ports()}
    for part, said in template.items():
        for key, value in said.items():
            yield f"slot {part}.{key}", _tree(value)
    for name, shape in shapes:
        yield f"shape of the slots of {name}", shape


def standing_text(reservation: Reservation) -> str:
    """`5 gpu, always`; empty where it has windows."""
    found = stands(reservation)
    return "" if found is None else f"{seats_text(reservation.seats)}, {until_text(found)}"


def until_text(found: Stands) -> str:
    return "always" if found.until is None else f"until {instant_text(found.until)}"


def _said(flag: bool) -> str:
    return "yes" if flag else "no"


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


def _tree(value: Any) -> str:
    return json.dumps(value, sort_keys=True) if value else ""


def _owner(one: Owner) -> str:
    return " and ".join(f"{key} {_tree(value)}" for key, value in one.parts().items())
