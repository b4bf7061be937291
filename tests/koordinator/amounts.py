"""Amounts of resources, and what a pod asks for."""

from collections.abc import Iterable, Mapping
from typing import Any

from berth import quantity

Tree = dict[str, Any]
Amounts = dict[str, int]
"""By resource, in billionths of its unit."""


def read(tree: Mapping[str, Any] | None) -> Amounts:
    """A ResourceList. Whoever has not been decoded first gets a ValueError for what is no quantity."""
    found: Amounts = {}
    for name, said in (tree or {}).items():
        amount = 0 if said is None else quantity.parse(str(said))
        if amount is None:
            raise ValueError(f"{name}: {said!r} is no quantity")
        found[name] = amount
    return found


def texts(amounts: Amounts) -> dict[str, str]:
    """As the server prints them: CPU and counts in tens, bytes in whole units of two."""
    return {name: _text(name, amount) for name, amount in sorted(amounts.items())}


def _text(name: str, amount: int) -> str:
    whole, part = divmod(amount, quantity.NANO)
    if part:
        return f"{-(-amount // 10**6)}m" if amount % 10**6 == 0 else f"{amount}n"
    if name in {"memory", "ephemeral-storage"} or name.startswith("hugepages-"):
        for suffix, unit in (("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
            if whole and whole % unit == 0:
                return f"{whole // unit}{suffix}"
    return str(whole)


def add(*several: Amounts) -> Amounts:
    total: Amounts = {}
    for one in several:
        for name, amount in one.items():
            total[name] = total.get(name, 0) + amount
    return total


def subtract(left: Amounts, right: Amounts) -> Amounts:
    """May fall below zero."""
    return {name: left.get(name, 0) - right.get(name, 0) for name in {**left, **right}}


def mask(amounts: Amounts, names: Iterable[str]) -> Amounts:
    kept = set(names)
    return {name: amount for name, amount in amounts.items() if name in kept}


def larger(left: Amounts, right: Amounts) -> Amounts:
    return {name: max(left.get(name, 0), right.get(name, 0)) for name in {**left, **right}}


def smaller(left: Amounts, right: Amounts) -> Amounts:
    """Of what both have."""
    return {name: min(amount, right[name]) for name, amount in left.items() if name in right}


def short_of(asked: Amounts, room: Amounts) -> list[str]:
    """The resources of which there is too little, in order. What is asked zero times is never short."""
    return sorted(name for name, amount in asked.items() if amount > 0 and amount > room.get(name, 0))


def requests_of(spec: Mapping[str, Any]) -> Amounts:
    """What a pod of this spec counts for: requests and overhead, and never limits.

    Containers and init containers that keep running add up; other init containers count where one needs more
    than all the rest at its time. What is said of the pod as a whole replaces the sum.
    """
    running: Amounts = {}
    largest: Amounts = {}
    for one in spec.get("initContainers") or []:
        if one.get("restartPolicy") == "Always":
            running = add(running, _requests(one))
            largest = larger(largest, running)
        else:
            largest = larger(largest, add(running, _requests(one)))
    together = add(running, *(_requests(one) for one in spec.get("containers") or []))
    asked = {**larger(largest, together), **_requests(spec)}
    return add(asked, read(spec.get("overhead"))) if spec.get("overhead") else asked


def _requests(part: Mapping[str, Any]) -> Amounts:
    return read((part.get("resources") or {}).get("requests"))


Port = tuple[str, str, int]


def ports_of(spec: Mapping[str, Any]) -> frozenset[Port]:
    """Ports of the node that its containers take: address, protocol, number."""
    return frozenset(
        (port.get("hostIP") or "0.0.0.0", port.get("protocol") or "TCP", port["hostPort"])
        for one in spec.get("containers") or []
        for port in one.get("ports") or []
        if port.get("hostPort")
    )


def clash(left: Iterable[Port], right: Iterable[Port]) -> bool:
    everywhere = "0.0.0.0"
    return any(
        one[1:] == other[1:] and (one[0] == other[0] or everywhere in (one[0], other[0]))
        for one in left
        for other in right
    )
