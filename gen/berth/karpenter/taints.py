"""Taints and tolerations."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol


class Taint(NamedTuple):
    key: str
    value: str = ""
    effect: str = "NoSchedule"  # NoSchedule | NoExecute | PreferNoSchedule


class Toleration(NamedTuple):
    key: str = ""  # empty: of every key
    operator: str = "Equal"  # Equal | Exists | Gt | Lt
    value: str = ""
    effect: str = ""  # empty: of every effect


TOLERATE_PREFER_NO_SCHEDULE = Toleration(operator="Exists", effect="PreferNoSchedule")


def untolerated(taints: Iterable[Taint], tolerations: Sequence[Toleration]) -> Taint | None:
    """Return the first taint that no toleration matches, or None.

    PreferNoSchedule counts like the other effects: Karpenter avoids such pools until it has relaxed all
    other preferences of a pod.
    """
    return next((t for t in taints if not any(_tolerates(toleration, t) for toleration in tolerations)), None)


def toleration_by_plugin(taint: Taint, requested: Iterable[str]) -> str:
    """Return what to add to a message about a taint with the name of a resource that the pod requests.

    The API server's admission plugin ExtendedResourceToleration, which is off by default, adds a toleration
    of that name to such pods. Otherwise return nothing.
    """
    if taint.key not in requested:
        return ""
    return " (unless the API server's plugin ExtendedResourceToleration is on: then add the toleration here)"


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    if toleration.operator == "Exists":
        return True
    has, bound = _number(taint.value), _number(toleration.value)
    if has is None or bound is None:
        return False
    return has > bound if toleration.operator == "Gt" else has < bound


def _number(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


_CONDITIONS = "node.kubernetes.io/"  # taints that come and go with the state of a node


class DeclaredTaint(Protocol):
    """A taint of a NodePool, as declared."""

    @property
    def key(self) -> str: ...
    @property
    def value(self) -> str | None: ...
    @property
    def effect(self) -> str: ...


class DeclaredToleration(Protocol):
    """A toleration of a pod, as declared."""

    @property
    def key(self) -> str | None: ...
    @property
    def operator(self) -> str | None: ...
    @property
    def value(self) -> str | None: ...
    @property
    def effect(self) -> str | None: ...
    @property
    def toleration_seconds(self) -> int | None: ...


def parse_taints(items: Iterable[DeclaredTaint]) -> tuple[Taint, ...]:
    """Return the taints of a NodePool."""
    return tuple(Taint(item.key, item.value or "", item.effect) for item in items)


def parse_toleration(item: DeclaredToleration) -> Toleration:
    """Return a toleration of a pod, with the defaults of the API."""
    return Toleration(item.key or "", item.operator or "Equal", item.value or "", item.effect or "")


def names_a_taint(one: DeclaredToleration) -> bool:
    """Tell whether a toleration implies a permanent taint that keeps pods away.

    One that tolerates every taint implies none.
    """
    key = one.key or ""
    lasts = one.toleration_seconds is None and not key.startswith(_CONDITIONS)
    return key != "" and lasts and one.effect != "PreferNoSchedule"


def may_match_same_taint(one: DeclaredToleration, other: DeclaredToleration) -> bool:
    """Tell whether both may tolerate the same taint. As the nodes are not known, assume so if in doubt."""
    if other.key is None:
        same_key = same_value = True
    else:
        same_key = one.key == other.key
        values = {toleration.value or "" for toleration in (one, other) if toleration.operator != "Exists"}
        same_value = len(values) < 2
    effects = {toleration.effect for toleration in (one, other) if toleration.effect}
    return same_key and same_value and len(effects) < 2


def taint_text(one: DeclaredToleration) -> str:
    """Format a taint as `kubectl taint` does."""
    value = f"={one.value}" if one.value else ""
    effect = f":{one.effect}" if one.effect else ""
    return f"{one.key}{value}{effect}"
