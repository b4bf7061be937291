"""Requirements on node labels, as sets of allowed values: for one label and for many.

The rules are Karpenter's, also where they surprise: a label that is not defined refuses every pod that
needs it, unless instance types set it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple, Protocol

from berth.karpenter.nodelabels import normalized

Labels = tuple[tuple[str, str], ...]

IN, NOT_IN, EXISTS, DOES_NOT_EXIST = "In", "NotIn", "Exists", "DoesNotExist"
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_NOTHING: frozenset[str] = frozenset()


class Requirement(NamedTuple):
    """The values that one label may have: `values`, or with `complement` all except those.

    `least` and `most` are inclusive bounds for whole numbers and are set only with `complement`.
    `min_values` is how many different values a NodeClaim must leave to choose from. Use `requirement` to
    make one.
    """

    key: str
    complement: bool
    values: frozenset[str]
    least: int | None = None
    most: int | None = None
    min_values: int | None = None

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
        min_values = _larger(self.min_values, other.min_values)
        if least is not None and most is not None and least > most:
            return Requirement(self.key, False, _NOTHING, min_values=min_values)
        values = _intersection(self, other)
        if least is not None or most is not None:
            values = frozenset(value for value in values if _within(value, least, most))
        if self.complement and other.complement:
            return Requirement(self.key, True, values, least, most, min_values)
        return Requirement(self.key, False, values, min_values=min_values)

    def intersects(self, other: "Requirement") -> bool:
        """Tell whether both allow a value."""
        least, most = _larger(self.least, other.least), _smaller(self.most, other.most)
        if least is not None and most is not None and least > most:
            return False
        if self.complement and other.complement:
            return True
        values = _intersection(self, other)
        if least is None and most is None:
            return bool(values)
        return any(_within(value, least, most) for value in values)

    def __str__(self) -> str:
        parts = [self.key, self.operator]
        if self.values:
            parts.append(f"[{' '.join(sorted(self.values))}]")
        parts += [f">={self.least}"] if self.least is not None else []
        parts += [f"<={self.most}"] if self.most is not None else []
        return " ".join(parts)


def requirement(
    key: str, operator: str, values: Iterable[str] = (), min_values: int | None = None
) -> Requirement:
    """Make a requirement from an operator: In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte.

    The last four take one whole number. Deprecated names of labels are replaced by the current ones.
    """
    key, listed = normalized(key), tuple(values)
    if operator == IN:
        return Requirement(key, False, frozenset(listed), min_values=min_values)
    if operator == NOT_IN:
        return Requirement(key, True, frozenset(listed), min_values=min_values)
    if operator == DOES_NOT_EXIST:
        return Requirement(key, False, _NOTHING, min_values=min_values)
    if operator == EXISTS:
        return Requirement(key, True, _NOTHING, min_values=min_values)
    bound = int(listed[0])
    least = {"Gt": bound + 1, "Gte": bound}.get(operator)
    most = {"Lt": bound - 1, "Lte": bound}.get(operator)
    if least is None and most is None:
        raise ValueError(f"no such operator: {operator}")
    return Requirement(key, True, _NOTHING, least, most, min_values)


RequirementTerm = tuple[Requirement, ...]
"""Requirements that must all hold."""


class DeclaredRequirement(Protocol):
    """A requirement of a pod's node affinity, a label selector or a NodePool, as declared."""

    @property
    def key(self) -> str: ...
    @property
    def operator(self) -> str: ...
    @property
    def values(self) -> tuple[str, ...] | None: ...


def parse_requirements(items: Iterable[DeclaredRequirement]) -> RequirementTerm:
    """Return declared requirements as a term. Only those of a NodePool have `min_values`."""
    return tuple(
        requirement(item.key, item.operator, item.values or (), getattr(item, "min_values", None))
        for item in items
    )


class Conflict(NamedTuple):
    """Why two requirements are not compatible. `unknown`: the label is not defined on these nodes."""

    key: str
    wanted: Requirement
    has: Requirement | None

    @property
    def unknown(self) -> bool:
        return self.has is None

    def __str__(self) -> str:
        if self.has is None:
            return f"nothing says that nodes have the label {self.key}"
        return f"{self.wanted} does not go with {self.has}"


class Requirements:
    """One requirement for each label; several for one label are intersected. Immutable and hashable."""

    __slots__ = ("_hash", "by_key", "min_values")

    def __init__(self, requirements: Iterable[Requirement] = ()) -> None:
        by_key: dict[str, Requirement] = {}
        for one in requirements:
            known = by_key.get(one.key)
            by_key[one.key] = one if known is None else one.intersection(known)
        self.by_key: Mapping[str, Requirement] = by_key
        self.min_values = {k: r.min_values for k, r in by_key.items() if r.min_values is not None}
        self._hash = hash(frozenset(by_key.items()))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Requirements) and self.by_key == other.by_key

    def __iter__(self) -> Iterator[Requirement]:
        return iter(self.by_key.values())

    def __contains__(self, key: str) -> bool:
        return key in self.by_key

    def __repr__(self) -> str:
        return f"Requirements({', '.join(sorted(map(str, self)))})"

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
            if has is None or has.intersects(wanted):
                continue
            if wanted.operator in (NOT_IN, DOES_NOT_EXIST) and has.operator in (NOT_IN, DOES_NOT_EXIST):
                continue
            return Conflict(key, wanted, has)
        return None


def requirements_of_labels(labels: Iterable[tuple[str, str]]) -> tuple[Requirement, ...]:
    """Return the requirements of a node's labels, or of a node selector."""
    return tuple(_requirement_of_label(key, value) for key, value in labels)


@lru_cache(maxsize=4096)
def _requirement_of_label(key: str, value: str) -> Requirement:
    return requirement(key, IN, (value,))


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
