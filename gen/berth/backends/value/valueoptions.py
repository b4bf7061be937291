"""The keys of `backend` that are for a number of somebody else's object."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Any, Literal

from berth.core.holders import Step
from berth.core.objects import group_of
from berth.notation.objectpath import object_path_text, parse_object_path
from berth.schema.basemodel import Model, Parsed, Text, field
from berth.schema.counts import LARGE_UNITS
from berth.schema.documentproblems import DocumentProblems, Refusal, shown
from berth.schema.heldobjects import (
    REPLICAS,
    ApiVersion,
    Kind,
    KnownKind,
    KnownNumber,
    is_never_held,
    is_of_bytes,
    is_resource,
    known_kind,
    known_number,
    resource_of,
)
from berth.schema.seatholders import Unit
from berth.schema.types import INT32, DnsLabel, DnsName

_OTHERWISE = "whole number from 0, or a quantity such as 64Gi"
_SUFFIXES = tuple(unit.value for unit in Unit if unit.is_quantity)
_WORDS = {unit.plural: unit for unit in Unit if unit.is_number and not unit.is_quantity}
OVERLAPS = {"largest": "max", "smallest": "min", "sum": "sum"}  # as timetables have them


def _path_below(root: str, text: str) -> tuple[Step, ...]:
    steps = parse_object_path(text)
    if steps is None:
        examples = """'spec.limits["nvidia.com/gpu"]' or 'spec.flavors[name=default].quota'"""
        fix = f"Write it as spec.minReplicas, {examples}."
        raise Refusal(f"{shown(text)} is not a path.", fix, "B300")
    if steps[0] != root or len(steps) < 2:
        raise Refusal(f"{shown(text)} is not below {root}.", f"Write a path that begins with {root}.", "B300")
    return steps


def _spec_path(text: str) -> tuple[Step, ...]:
    steps = _path_below("spec", text)
    if not isinstance(steps[-1], str):
        raise Refusal(f"{shown(text)} ends with an item of a list.", "Write the path of a number.", "B300")
    return steps


def _status_path(text: str) -> tuple[Step, ...]:
    return _path_below("status", text)


def _unit(text: str) -> str:
    if text in _WORDS or text in _SUFFIXES:
        return text
    fix = f"Write {', '.join((*_WORDS, *_SUFFIXES[:-1]))} or {_SUFFIXES[-1]}."
    if text in LARGE_UNITS:
        factor, unit = LARGE_UNITS[text]
        fix = f"Write {unit}, and {factor} times the counts and otherwise."
    raise Refusal(f"{shown(text)} is not a unit.", fix, "B300")


def _otherwise(value: Any) -> int | str:
    """Read a whole number, or a text that is checked together with the unit."""
    number, unit = value, ""
    if type(value) is str:
        match = re.fullmatch(r"(0|[1-9][0-9]{0,18})([A-Za-z]{0,2})", value, re.ASCII)
        if match is None:
            raise Refusal(f"{shown(value)} is not a {_OTHERWISE}.", "Write it as 3 or 64Gi.", "B300")
        number, unit = int(match[1]), match[2]
    if not 0 <= number <= INT32:
        fix = f"Write the number outside of windows, at most {INT32}{unit}."
        raise Refusal(f"{shown(value)} is not from 0{unit} to {INT32}{unit}.", fix, "B300")
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
        None, "path below status with how many are ready", "that of known kinds; else not known"
    )

    def check(self, report: DocumentProblems) -> None:
        if is_never_held(self.api_version, self.kind):
            message = (
                f"no number of {self.kind} {self.api_version} is ever held: a patch of one gives rights."
            )
            report("B300", "kind", message, "Name another object.")
        known = self.known
        if known is None:
            return
        if known.of_cluster and self.namespace is not None:
            message = f"{self.kind} has no namespace."
            report("B300", "namespace", message, "Remove namespace.", at_key=True)
        if not known.of_cluster and self.namespace is None:
            report("B300", (), "namespace is missing.", f"Add namespace: where the {self.kind} is.")
        if known.has_scale and self.path != REPLICAS:
            message = f"of {self.kind} only spec.replicas is held: who patches the rest can run any image."
            report("B300", "path", message, "Write spec.replicas.")
        for message, fix in self._resource_problems(known):
            report("B300", "path", message, fix)

    def _resource_problems(self, known: KnownKind) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with the resource of a number, and with keys by which the path names items."""
        resource = self.resource
        # A key that is missing is added; an item must exist.
        if resource and not isinstance(self.path[-2], tuple) and not is_resource(resource):
            message = f"{resource} is not a resource of Kubernetes."
            yield message, "Write cpu, memory, ephemeral-storage, pods, or a device such as nvidia.com/gpu."
        for of_list, item in pairwise(self.path):
            key = known.item_keys.get(of_list)
            if isinstance(item, tuple) and key is not None and item[0] != key:
                fix = f"Write {of_list}[{key}=NAME]." if key else f"Write {of_list}[0], or another index."
                yield f"items of {of_list} have no key {item[0]} to name them.", fix

    @property
    def known(self) -> KnownKind | None:
        return known_kind(self.api_version, self.kind)

    @property
    def number(self) -> KnownNumber | None:
        """Return what is known of the number; None: the reservation says it."""
        return known_number(self.api_version, self.kind, self.path)

    @property
    def resource(self) -> str:
        """Return the resource that a known number is of, if it is of one and names it."""
        return resource_of(self.path) if self.number is not None and self.number.unit is None else ""

    @property
    def takes_quantities(self) -> bool:
        """Return whether it is of bytes, and so has a unit such as Gi."""
        return is_of_bytes(self.resource)

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
        return self.ready or (self.number.ready if self.number else ())

    def refuses_zero_in(self, kubernetes: tuple[int, int] | None) -> bool:
        """Return whether this version of Kubernetes refuses 0; not if the Site says none."""
        since = self.number.zero_since if self.number else None
        return since is not None and kubernetes is not None and kubernetes < since

    @property
    def least(self) -> int:
        """Return the least that the API server takes."""
        return self.number.least if self.number else 0


Otherwise = Annotated[int | str, Parsed(_OTHERWISE, _otherwise, _OTHERWISE_SCHEMA, int, str)]


class ValueOptions(Model):
    target: ValueTarget | None = field(None, "the number that is held", "none; required")
    otherwise: Otherwise | None = field(
        None, "the number or quantity outside of windows", "what it was when the window opened"
    )
    unit: Annotated[str, Text("unit", _unit)] | None = field(
        None,
        "what the number counts: replicas, runners, cores, units, or a suffix of quantities such as Gi",
        "that of known numbers; **required** for their memory and storage, and for other numbers",
    )
    combine: Literal["largest", "smallest", "sum"] | None = field(
        None,
        "which number counts while several windows are open: their largest, smallest or sum",
        "`largest` for known numbers; else **required**",
    )

    def check(self, report: DocumentProblems) -> None:
        if self.target is None:
            fix = "Add target: {apiVersion, kind, namespace, name, path}."
            report("B011", (), "target is missing.", fix)
        elif self.target.number is None and None in (self.unit, self.combine):
            report("B011", (), *self._missing(self.target))
        elif self.target.takes_quantities and not self.suffix:
            message = f"{self.target} is an amount of bytes, and unit is missing."
            report("B011", (), message, "Add unit: Gi, if counts and otherwise are in Gi.")
        elif self.target.number and self.unit and not self.target.takes_quantities:
            message = f"{self.target} counts {self.counted.plural}, and only memory and storage need a unit."
            fix = "Remove unit."
            if isinstance(self.target.path[-2], int):
                fix = "Remove unit, or name the item if it is of memory or storage: resources[name=memory]."
            report("B016", "unit", message, fix, at_key=True)
        else:
            for message, fix in self._amount_problems():
                report("B300", "otherwise", message, fix)

    def _missing(self, target: ValueTarget) -> tuple[str, str]:
        """Tell what a reservation says of a number that Berth does not know."""
        keys = " and ".join(key for key in ("unit", "combine") if getattr(self, key) is None)
        message = f"Berth does not know {target}, and what it counts: {keys} is missing."
        units = f"{', '.join((*_WORDS, *_SUFFIXES[:-1]))} or {_SUFFIXES[-1]}"
        fix = f"unit: {units}; combine: largest, smallest or sum."
        if target.known is None:
            return message, f"Add {fix}"
        paths = " or ".join(map(object_path_text, target.known.paths))
        return message, f"Write path: {paths}; for another number add {fix}"

    def _amount_problems(self) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with `otherwise`, which is written as the numbers of windows are."""
        if self.otherwise is None:
            return
        if not self.suffix and isinstance(self.otherwise, str):
            fix = "Write it without quotes." if self.otherwise.isdigit() else "Write a whole number."
            yield f"{shown(self.otherwise)} is a text, and windows write plain numbers.", fix
        elif self.suffix and not re.fullmatch(rf"[0-9]+{self.suffix}", str(self.otherwise), re.ASCII):
            fix = f"Write a whole number of {self.suffix}, such as 64{self.suffix}."
            yield f"{shown(self.otherwise)} is not in {self.suffix}, the unit of windows.", fix
        elif self.target is not None and self.otherwise_count == 0 and self.target.least:
            yield f"the API server refuses 0 as {self.target}.", "Write a number from 1."

    @property
    def otherwise_count(self) -> int | None:
        """Return how many units stand there outside of windows; None if that is not known."""
        if self.otherwise is None:
            return None
        return int(str(self.otherwise).removesuffix(self.suffix))

    @property
    def otherwise_text(self) -> str:
        return "what it was" if self.otherwise is None else str(self.otherwise)

    @property
    def suffix(self) -> str:
        """Return the suffix with which the number is written; empty for a plain number."""
        return self.unit if self.unit in _SUFFIXES else ""

    @property
    def counted(self) -> Unit:
        """Return what the number counts."""
        if self.suffix:
            return Unit(self.suffix)
        number = self.target.number if self.target else None
        if number is None:
            return _WORDS.get(self.unit or "", Unit.UNIT)
        return number.unit or (Unit.CORE if self.target and self.target.resource == "cpu" else Unit.UNIT)

    @property
    def is_cap(self) -> bool:
        """Return whether the number limits others, so that a window may take something from them."""
        number = self.target.number if self.target else None
        return number.is_cap if number else self.combine == "smallest"
