"""The node labels that Karpenter v1.14 and its AWS provider know."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
ARCH = "kubernetes.io/arch"
OS = "kubernetes.io/os"
NODEPOOL = "karpenter.sh/nodepool"
CAPACITY_TYPE = "karpenter.sh/capacity-type"
REGISTERED = "karpenter.sh/registered"
INITIALIZED = "karpenter.sh/initialized"
AWS = "karpenter.k8s.aws/"
"""The domain of the labels of its AWS provider, with the slash."""
NODE_CLASS = f"{AWS}ec2nodeclass"
RESERVATION_ID = f"{AWS}capacity-reservation-id"
RESERVATION_TYPE = f"{AWS}capacity-reservation-type"
RESERVATION_INTERRUPTIBLE = f"{AWS}capacity-reservation-interruptible"

RESERVED, ON_DEMAND, SPOT = "reserved", "on-demand", "spot"
RESERVATION_LABELS = (RESERVATION_ID, RESERVATION_TYPE, RESERVATION_INTERRUPTIBLE)

_OF_INSTANCES = (
    "capacity-reservation-id capacity-reservation-type capacity-reservation-interruptible "
    "instance-hypervisor instance-encryption-in-transit-supported instance-category "
    "instance-capability-flex instance-family instance-generation instance-size instance-local-nvme "
    "instance-cpu instance-cpu-manufacturer instance-cpu-sustained-clock-speed-mhz instance-memory "
    "instance-ebs-bandwidth instance-network-bandwidth instance-gpu-name instance-gpu-manufacturer "
    "instance-gpu-count instance-gpu-memory instance-accelerator-name instance-accelerator-manufacturer "
    "instance-accelerator-count instance-tenancy placement-group-id placement-group-partition"
)
_CORE = (NODEPOOL, ZONE, REGION, INSTANCE_TYPE, ARCH, OS, CAPACITY_TYPE)

WELL_KNOWN = frozenset(
    (
        *_CORE,
        "node.kubernetes.io/windows-build",
        "topology.k8s.aws/zone-id",
        *(f"{AWS}{name}" for name in _OF_INSTANCES.split()),
    )
)
"""Labels that a node may get from its instance type. A pool that does not mention one allows every value."""

_RESTRICTED_DOMAINS = ("karpenter.sh", AWS.rstrip("/"))
_NORMALIZED = {
    "failure-domain.beta.kubernetes.io/zone": ZONE,
    "failure-domain.beta.kubernetes.io/region": REGION,
    "beta.kubernetes.io/arch": ARCH,
    "beta.kubernetes.io/os": OS,
    "beta.kubernetes.io/instance-type": INSTANCE_TYPE,
    "topology.ebs.csi.aws.com/zone": ZONE,
}


def normalized(key: str) -> str:
    """Return the label that a deprecated or foreign name stands for."""
    return _NORMALIZED.get(key, key)


def restricted(key: str) -> bool:
    """Tell whether Karpenter ignores a pod that selects nodes by this label."""
    key = normalized(key)
    if key in WELL_KNOWN:
        return False
    domain = key.partition("/")[0] if "/" in key else ""
    return key == HOSTNAME or any(domain == own or domain.endswith(f".{own}") for own in _RESTRICTED_DOMAINS)


Labels = tuple[tuple[str, str], ...]

IN, NOT_IN, EXISTS, DOES_NOT_EXIST = "In", "NotIn", "Exists", "DoesNotExist"
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_NOTHING: frozenset[str] = frozenset()


class Requirement(NamedTuple):
    """The values that one label may have: `values`, or with `complement` all except those.

    `least` and `most` are inclusive bounds for whole numbers and are set only with `complement`.
    Use `requirement` to make one.
    """

    key: str
    complement: bool
    values: frozenset[str]
    least: int | None = None
    most: int | None = None

    @property
    def operator(self) -> str:
        if self.complement:
            return NOT_IN if self.values else EXISTS
        return IN if self.values else DOES_NOT_EXIST

    def allows(self, value: str) -> bool:
        """Tell whether the label may have this value."""
        return (value in self.values) != self.complement and _within(value, self.least, self.most)

    def intersection(self, other: "Requirement") -> "Requirement":
        """Return the values that both allow; if there are none, the operator is DoesNotExist."""
        least, most = _larger(self.least, other.least), _smaller(self.most, other.most)
        if least is not None and most is not None and least > most:
            return Requirement(self.key, False, _NOTHING)
        values = _intersection(self, other)
        if least is not None or most is not None:
            values = frozenset(value for value in values if _within(value, least, most))
        if self.complement and other.complement:
            return Requirement(self.key, True, values, least, most)
        return Requirement(self.key, False, values)

    def __str__(self) -> str:
        parts = [self.key, self.operator]
        if self.values:
            parts.append(f"[{' '.join(sorted(self.values))}]")
        parts += [f">={self.least}"] if self.least is not None else []
        parts += [f"<={self.most}"] if self.most is not None else []
        return " ".join(parts)


def requirement(key: str, operator: str, values: Iterable[str] = ()) -> Requirement:
    """Make a requirement from an operator: In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte.

    The last four take one whole number. Deprecated names of labels are replaced by the current ones.
    """
    key, listed = normalized(key), tuple(values)
    if operator == IN:
        return Requirement(key, False, frozenset(listed))
    if operator == NOT_IN:
        return Requirement(key, True, frozenset(listed))
    if operator == DOES_NOT_EXIST:
        return Requirement(key, False, _NOTHING)
    if operator == EXISTS:
        return Requirement(key, True, _NOTHING)
    bound = int(listed[0])
    least = {"Gt": bound + 1, "Gte": bound}.get(operator)
    most = {"Lt": bound - 1, "Lte": bound}.get(operator)
    if least is None and most is None:
        raise ValueError(f"no such operator: {operator}")
    return Requirement(key, True, _NOTHING, least, most)


class Conflict(NamedTuple):
    """Why two requirements are not compatible. Without `has`, nothing defines the label on these nodes."""

    key: str
    wanted: Requirement
    has: Requirement | None

    def __str__(self) -> str:
        if self.has is None:
            return f"nothing says that nodes have the label {self.key}"
        return f"{self.wanted} does not go with {self.has}"


class Requirements:
    """One requirement for each label; several for one label are intersected. Immutable."""

    __slots__ = ("by_key",)

    def __init__(self, requirements: Iterable[Requirement] = ()) -> None:
        by_key: dict[str, Requirement] = {}
        for one in requirements:
            known = by_key.get(one.key)
            by_key[one.key] = one if known is None else one.intersection(known)
        self.by_key: Mapping[str, Requirement] = by_key

    def __iter__(self) -> Iterator[Requirement]:
        return iter(self.by_key.values())

    def get(self, key: str) -> Requirement:
        """Return the requirement for a label; without one, the label must exist with any value."""
        return self.by_key.get(key) or Requirement(key, True, _NOTHING)

    def plus(self, more: Iterable[Requirement]) -> "Requirements":
        """Return these requirements intersected with more."""
        return Requirements((*self, *more))

    def without(self, key: str) -> "Requirements":
        return Requirements(one for one in self if one.key != key)

    def conflict(self, incoming: "Requirements", known: frozenset[str] = _NOTHING) -> Conflict | None:
        """Return why `incoming` is not compatible, or None. Labels in `known` may be undefined here."""
        by_key = self.by_key
        for key, wanted in incoming.by_key.items():
            if key in known or key in by_key or wanted.operator in (NOT_IN, DOES_NOT_EXIST):
                continue
            return Conflict(key, wanted, None)
        return self.value_conflict(incoming)

    def value_conflict(self, incoming: "Requirements") -> Conflict | None:
        """Return the first label for which no value satisfies both, or None."""
        for key, wanted in incoming.by_key.items():
            has = self.by_key.get(key)
            if has is None or has.intersection(wanted).operator != DOES_NOT_EXIST:
                continue
            if wanted.operator in (NOT_IN, DOES_NOT_EXIST) and has.operator in (NOT_IN, DOES_NOT_EXIST):
                continue
            return Conflict(key, wanted, has)
        return None


def requirements_of_labels(labels: Iterable[tuple[str, str]]) -> tuple[Requirement, ...]:
    """Return the requirements of a node's labels, or of a node selector."""
    return tuple(requirement(key, IN, (value,)) for key, value in labels)


def _intersection(one: Requirement, other: Requirement) -> frozenset[str]:
    if one.complement:
        return one.values | other.values if other.complement else other.values - one.values
    return one.values - other.values if other.complement else one.values & other.values


def _within(value: str, least: int | None, most: int | None) -> bool:
    if least is None and most is None:
        return True
    if not _INTEGER.fullmatch(value):
        return False
    number = int(value)
    return (least is None or number >= least) and (most is None or number <= most)


def _larger(one: int | None, other: int | None) -> int | None:
    return max(one, other) if one is not None and other is not None else one if other is None else other


def _smaller(one: int | None, other: int | None) -> int | None:
    return min(one, other) if one is not None and other is not None else one if other is None else other


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
