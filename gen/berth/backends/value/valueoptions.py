"""The keys of `backend` that are for a number of somebody else's object."""

from typing import Annotated, Self

from berth.core.holders import Step
from berth.core.quantities import parse_quantity
from berth.findings import Path
from berth.notation.objectpath import object_path_text, parse_object_path
from berth.schema.basemodel import Model, Text, field
from berth.schema.documentproblems import MISSING, RANGE, DocumentProblems, Refusal, shown
from berth.schema.heldobjects import NOT_HELD, ApiVersion, Kind, known_kind, unit_of
from berth.schema.seatholders import Unit
from berth.schema.types import DnsLabel, DnsName


def _path_below(root: str, text: str) -> tuple[Step, ...]:
    steps = parse_object_path(text)
    if steps is None:
        fix = (
            'Write it as spec.minReplicas, spec.limits["nvidia.com/gpu"] or spec.flavors[name=default].quota.'
        )
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
    if text and parse_quantity(f"1{text}"):
        return text
    raise Refusal(
        f"{shown(text)} is not a unit of quantities.", "Write m, k, M, G, Ki, Mi, Gi or Ti.", NOT_HELD
    )


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

    def __str__(self) -> str:
        where = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{object_path_text(self.path)} of {self.kind} {where}"

    @property
    def identity(self) -> tuple[str, str, str, str, tuple[Step, ...]]:
        """Identify the number: two reservations that name it hold the same one."""
        return self.api_version, self.kind, self.namespace or "", self.name, self.path

    @property
    def ready_path(self) -> tuple[Step, ...]:
        known = known_kind(self.api_version, self.kind)
        return self.ready or (known.ready[1] if known and known.ready[0] == self.path else ())


class ValueOptions(Model):
    target: ValueTarget | None = field(None, "the number that is held", "none; required")
    otherwise: int | str | None = field(
        None,
        "what stands there outside of windows: a number or a quantity",
        "what stood there when the window opened",
    )
    unit: Annotated[str, Text("unit", _suffix)] | None = field(
        None, "unit of the quantity that is written, such as Gi", "none: a plain number"
    )

    def check(self, path: Path, report: DocumentProblems) -> None:
        if self.target is None:
            report(
                MISSING, path, "target is missing.", "Add target: {apiVersion, kind, namespace, name, path}."
            )
        if self.otherwise is not None:
            amount = parse_quantity(str(self.otherwise))
            if amount is None or amount < 0:
                message = f"{shown(self.otherwise)} is neither a whole number from 0 nor a quantity."
                report(RANGE, (*path, "otherwise"), message, "Write it as 3 or 64Gi.")

    @property
    def resolved(self) -> Self:
        return self

    @property
    def counted(self) -> Unit:
        """Return what the number counts."""
        return unit_of(self.target.path) if self.target else Unit.UNIT
