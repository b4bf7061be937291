"""The keys of `backend` that are for a number of somebody else's object."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Any

from berth.core.holders import Step
from berth.core.objects import group_of
from berth.findings import Path
from berth.notation.objectpath import matches_pattern, object_path_text, parse_object_path
from berth.schema.basemodel import Model, Parsed, Text, field, wrong_type
from berth.schema.counts import LARGE_UNITS
from berth.schema.documentproblems import CONFLICT, MISSING, DocumentProblems, Refusal, close, shown
from berth.schema.heldobjects import (
    NOT_HELD,
    REPLICAS,
    ApiVersion,
    Kind,
    KnownKind,
    counts_bytes,
    is_never_held,
    known_kind,
    meant_resources,
    names_bytes,
    unit_of,
)
from berth.schema.seatholders import Unit
from berth.schema.types import INT32, DnsLabel, DnsName

_OTHERWISE = "whole number from 0, or a quantity such as 64Gi"
_SUFFIXES = tuple(unit.word for unit in Unit if unit.is_quantity)


def _path_below(root: str, text: str) -> tuple[Step, ...]:
    steps = parse_object_path(text)
    if steps is None:
        examples = """'spec.limits["nvidia.com/gpu"]' or 'spec.flavors[name=default].quota'"""
        fix = f"Write it as spec.minReplicas, {examples}."
        raise Refusal(f"{shown(text)} is not a path.", fix, NOT_HELD)
    if steps[0] != root or len(steps) < 2:
        raise Refusal(
            f"{shown(text)} is not below {root}.", f"Write a path that begins with {root}.", NOT_HELD
        )
    return steps


def _spec_path(text: str) -> tuple[Step, ...]:
    steps = _path_below("spec", text)
    if not isinstance(steps[-1], str):
        raise Refusal(f"{shown(text)} ends with an item of a list.", "Write the path of a number.", NOT_HELD)
    return steps


def _status_path(text: str) -> tuple[Step, ...]:
    return _path_below("status", text)


def _suffix(text: str) -> str:
    if text in _SUFFIXES:
        return text
    fix = f"Write {', '.join(_SUFFIXES[:-1])} or {_SUFFIXES[-1]}."
    if text in LARGE_UNITS:
        factor, unit = LARGE_UNITS[text]
        fix = f"Write {unit}, and {factor} times the counts and otherwise."
    raise Refusal(f"{shown(text)} is not a unit of quantities.", fix, NOT_HELD)


def _otherwise(value: Any) -> int | str:
    """Read a whole number, or a text that is checked together with the unit."""
    number, unit = value, ""
    if type(value) is str:
        match = re.fullmatch(r"(0|[1-9][0-9]{0,18})([A-Za-z]{0,2})", value, re.ASCII)
        if match is None:
            raise Refusal(f"{shown(value)} is not a {_OTHERWISE}.", "Write it as 3 or 64Gi.", NOT_HELD)
        number, unit = int(match[1]), match[2]
    elif type(value) is not int:
        raise wrong_type(value, _OTHERWISE)
    if not 0 <= number <= INT32:
        fix = f"Write what stands there otherwise, at most {INT32}{unit}."
        raise Refusal(f"{shown(value)} is not from 0{unit} to {INT32}{unit}.", fix, NOT_HELD)
    parsed: int | str = value
    return parsed


_OTHERWISE_SCHEMA = {
    "anyOf": [
        {"type": "integer", "minimum": 0, "maximum": INT32},
        {"type": "string", "pattern": "^[0-9]+[A-Za-z]+$"},
    ]
}


class ValueTarget(Model):
    """A number in an object of somebody else."""

    api_version: ApiVersion = field(meaning="apiVersion of the object")
    kind: Kind = field(meaning="its kind")
    namespace: DnsLabel | None = field(None, "its namespace", "none: the kind has no namespace")
    name: DnsName = field(meaning="its name")
    path: Annotated[tuple[Step, ...], Text("path", _spec_path)] = field(
        meaning="path of the number below spec, such as spec.minReplicas"
    )
    ready: Annotated[tuple[Step, ...], Text("path", _status_path)] | None = field(
        None, "path below status that counts what is ready of it", "that of known kinds; else nobody tells"
    )

    def check(self, path: Path, report: DocumentProblems) -> None:
        if is_never_held(self.api_version, self.kind):
            message = (
                f"no number of {self.kind} {self.api_version} is ever held: a patch of one gives rights."
            )
            report(NOT_HELD, (*path, "kind"), message, "Name another object.")
        known = self.known
        if known is None:
            return
        if known.of_cluster and self.namespace is not None:
            message = f"{self.kind} has no namespace."
            report(NOT_HELD, (*path, "namespace"), message, "Remove namespace.", at_key=True)
        if not known.of_cluster and self.namespace is None:
            report(NOT_HELD, path, "namespace is missing.", f"Add namespace: where the {self.kind} is.")
        if known.has_scale and self.path != REPLICAS:
            message = f"of {self.kind} only spec.replicas is held: who patches the rest can run any image."
            report(NOT_HELD, (*path, "path"), message, "Write spec.replicas.")
        if meant := self.meant_resources:
            message = f"{object_path_text(self.path)} names a resource that Kubernetes does not know."
            report(NOT_HELD, (*path, "path"), message, f"Did you mean {' or '.join(meant)}?")
        for message, fix in self._item_problems(known):
            report(NOT_HELD, (*path, "path"), message, fix)

    def _item_problems(self, known: KnownKind) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with steps that name an item by a key which items of that list do not have."""
        for of_list, item in pairwise(self.path):
            if isinstance(item, tuple) and of_list in known.item_keys:
                key = known.item_keys[of_list]
                if item[0] != key:
                    fix = f"Write {of_list}[0], or another index."
                    if key:
                        # What stands at another key, such as a quota, names nothing.
                        name = item[1] if close(item[0], [key]) else key.upper()
                        fix = f"Write {of_list}[{key}={name}]."
                    yield f"items of {of_list} have no key {item[0]} to name them.", fix

    @property
    def meant_resources(self) -> list[str]:
        """Return what is probably meant by a resource that the path of a known kind misspells."""
        known = self.known
        patterns = known.paths if known and known.has_quantities else ()
        is_of_resource = any(matches_pattern(self.path, pattern) for pattern in patterns)
        return meant_resources(self.path) if is_of_resource else []

    @property
    def known(self) -> KnownKind | None:
        return known_kind(self.api_version, self.kind)

    @property
    def object_text(self) -> str:
        """Return `HorizontalPodAutoscaler shop/api`."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"

    def __str__(self) -> str:
        return f"{object_path_text(self.path)} of {self.object_text}"

    @property
    def identity(self) -> tuple[str, str, str, str, tuple[Step, ...]]:
        """Identify the number: two reservations that name it hold the same one, in whatever version."""
        return group_of(self.api_version), self.kind, self.namespace or "", self.name, self.path

    @property
    def ready_path(self) -> tuple[Step, ...]:
        known = self.known
        return self.ready or (known.ready[1] if known and known.ready[0] == self.path else ())

    @property
    def least(self) -> int:
        """Return the least that the API server takes."""
        known = self.known
        return int(known is not None and self.path in known.above_zero)


class ValueOptions(Model):
    target: ValueTarget | None = field(None, "the number that is held", "none; required")
    otherwise: Annotated[int | str, Parsed(_OTHERWISE, _otherwise, _OTHERWISE_SCHEMA)] | None = field(
        None,
        "what stands there outside of windows: a number or a quantity",
        "what stood there when the window opened",
    )
    unit: Annotated[str, Text("unit", _suffix)] | None = field(
        None,
        "unit of the quantity that is written, such as Gi",
        "none: a plain number; **required** for memory and storage, which alone have one",
    )

    def check(self, path: Path, report: DocumentProblems) -> None:
        if self.target is None:
            report(
                MISSING, path, "target is missing.", "Add target: {apiVersion, kind, namespace, name, path}."
            )
        elif self.target.meant_resources:
            return  # whether that is counted in bytes is not known
        elif self.unit is not None and not _takes_quantities(self.target):
            message = f"{self.target} is a plain number, and only amounts of memory or storage have a unit."
            report(CONFLICT, (*path, "unit"), message, _without_unit(self.target), at_key=True)
        elif self.unit is None and names_bytes(self.target.path):
            message = f"{self.target} is an amount of bytes, and unit is missing."
            report(MISSING, path, message, "Add unit: Gi, if counts and otherwise are in Gi.")
            return
        for message, fix in self._amount_problems():
            report(NOT_HELD, (*path, "otherwise"), message, fix)

    def _amount_problems(self) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with `otherwise`, which is written as the numbers of windows are."""
        if self.otherwise is None:
            return
        if self.unit is None and isinstance(self.otherwise, str):
            takes_unit = self.target is not None and _takes_quantities(self.target)
            fix = "Add unit, or write a whole number." if takes_unit else "Write a whole number."
            if self.otherwise.isdigit():
                fix = "Write it without quotes."
            yield f"{shown(self.otherwise)} is a text, and windows write plain numbers.", fix
        elif self.unit is not None and not re.fullmatch(rf"[0-9]+{self.unit}", str(self.otherwise), re.ASCII):
            fix = f"Write a whole number of {self.unit}, such as 64{self.unit}."
            yield f"{shown(self.otherwise)} is not in {self.unit}, the unit of windows.", fix
        elif self.target is not None and self.otherwise_count == 0 and self.target.least:
            yield _zero_refused(self.target)

    @property
    def otherwise_count(self) -> int | None:
        """Return how many units stand there outside of windows; None if that is not known."""
        if self.otherwise is None:
            return None
        return int(str(self.otherwise).removesuffix(self.unit or ""))

    @property
    def otherwise_text(self) -> str:
        return "what it was" if self.otherwise is None else str(self.otherwise)

    @property
    def counted(self) -> Unit:
        """Return what the number counts."""
        if self.unit:
            return Unit.of_quantity(self.unit)
        return unit_of(self.target.path) if self.target else Unit.UNIT


def _without_unit(target: ValueTarget) -> str:
    """Advise on a unit that is refused: an item of a list may be of memory, and its index does not say so."""
    if target.known is not None and not target.known.has_quantities:
        return "Remove unit."
    if len(target.path) > 1 and isinstance(target.path[-2], int):
        return "Remove unit, or name the item if it is of memory or storage, as in resources[name=memory]."
    return "Remove unit."


def _zero_refused(target: ValueTarget) -> tuple[str, str]:
    return f"the API server refuses 0 as {target}.", "Write a number from 1."


def _takes_quantities(target: ValueTarget) -> bool:
    """Return whether a number is of bytes. A unit of others would multiply what ceilings count."""
    known = target.known
    return counts_bytes(target.path) and (known is None or known.has_quantities)
