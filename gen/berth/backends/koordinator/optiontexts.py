"""The options of slots as texts, for people who compare two versions of a reservation."""

import json
from collections.abc import Iterator
from typing import Any

from berth.backends.koordinator.slotoptions import SlotOptions
from berth.backends.koordinator.slotparts import Owner


def option_texts(slots: SlotOptions) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each option of slots."""
    yield "standing", _flag(slots.standing)
    yield "expires", slots.expires or ""
    yield "ttl", slots.ttl or ""
    yield "owners", "; ".join(map(_owner, slots.owners)) or "sessions of the class"
    yield "allocate once", _flag(slots.allocate_once)
    yield "allocate policy", slots.allocate_policy or "the cluster's"
    yield "with placeholders", _flag(slots.with_placeholders)
    yield "session affinity", _flag(slots.session_affinity)
    yield "pre-allocation", _flag(slots.pre_allocation)
    yield "pre-allocation required", _flag(slots.pre_allocation_required)
    yield "pre-allocation policy", _json(slots.pre_allocation_policy and slots.pre_allocation_policy.dump())
    yield "unschedulable", _flag(slots.unschedulable)
    yield "taints", _json([one.dump() for one in slots.taints])
    yield "order", _number(slots.order)
    yield "priority", _number(slots.priority)
    yield "restricted resources", ", ".join(slots.restricted_resources)
    for key, value in slots.labels.items():
        yield f"slot label {key}", value
    for key, value in slots.annotations.items():
        yield f"slot annotation {key}", value
    template = {"metadata": slots.template.named_metadata(), "spec": slots.template.spec()}
    if slots.template.ports:
        template["container"] = {"ports": slots.template.container_ports()}
    for part, values in template.items():
        for key, value in values.items():
            yield f"slot {part}.{key}", _json(value)


def _owner(one: Owner) -> str:
    return " and ".join(f"{key} {_json(value)}" for key, value in one.parts().items())


def _flag(flag: bool | None) -> str:
    return "yes" if flag else "no"


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True) if value else ""
