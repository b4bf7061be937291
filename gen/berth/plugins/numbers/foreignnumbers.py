"""A number in an object of somebody else: where it is, what it is in units, and how a timetable says so."""

import re
from collections.abc import Sequence
from typing import ClassVar

from berth.core import objectnames
from berth.core.holders import HeldNumber, Step
from berth.core.jsonvalues import TimetableError, Tree, boolean, field, non_negative, sequence, text
from berth.core.objects import ObjectKind
from berth.plugins.numbers.quantities import parse_quantity

_PLAIN_KEY = re.compile(r"[A-Za-z_][-A-Za-z0-9_]*", re.ASCII)


def path_text(path: Sequence[Step]) -> str:
    """Return a path as people write it, such as `spec.limits["nvidia.com/gpu"]` or `spec.groups[0].quota`."""
    text = ""
    for step in path:
        if isinstance(step, str):
            text += f".{step}" if _PLAIN_KEY.fullmatch(step) else f'["{step}"]'
        else:
            text += f"[{step if isinstance(step, int) else '='.join(step)}]"
    return text.removeprefix(".")


def field_value(tree: object, path: Sequence[Step]) -> object:
    """Return the value at the path; None if it is missing."""
    for step in path:
        key, tree = step_below(tree, step)
        if key is None:
            return None
    return tree


def step_below(tree: object, step: Step) -> tuple[str | int | None, object]:
    """Return the key of a step in an object or list, None if it is missing, and the value there."""
    if isinstance(step, str):
        return (step, tree[step]) if isinstance(tree, dict) and step in tree else (None, None)
    items = tree if isinstance(tree, list) else []
    if isinstance(step, int):
        return (step, items[step]) if step < len(items) else (None, None)
    name, value = step
    for index, item in enumerate(items):
        if isinstance(item, dict) and item.get(name) == value:
            return index, item
    return None, None


class ForeignNumber(HeldNumber):
    """A number at a path of an object of somebody else."""

    __slots__ = ()

    plugin: ClassVar[str] = "numbers"

    @property
    def foreign(self) -> "ForeignNumber":
        return self

    def note_name(self, pool: str) -> str:
        """Name the ConfigMap that notes that the number is held.

        Reservations that hold the same number share it: what was there before is known once.
        """
        return objectnames.held(self.key(pool))

    @property
    def object_text(self) -> str:
        """The object, such as `HorizontalPodAutoscaler shop/api`."""
        where = f"{self.namespace}/" if self.namespace else ""
        return f"{self.object_kind.name} {where}{self.name}"

    @property
    def text(self) -> str:
        """Such as `spec.minReplicas of HorizontalPodAutoscaler shop/api`."""
        return f"{path_text(self.path)} of {self.object_text}"

    def value_at(self, tree: Tree, path: Sequence[Step]) -> object:
        return field_value(tree, path)

    def value(self, count: int) -> object:
        """Return the value of a number of units."""
        return f"{count}{self.suffix}" if self.suffix else count

    def units(self, value: object) -> float | None:
        """Return how many units a value is; None for what is neither a number nor a quantity."""
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return None
        amount, unit = parse_quantity(str(value)), parse_quantity(f"1{self.suffix}")
        if amount is None or not unit:
            return None
        return amount // unit if not amount % unit else amount / unit

    def is_amount(self, value: object) -> bool:
        """Return whether a value may stand at the path: a number or a quantity that is not negative."""
        units = self.units(value)
        return units is not None and units >= 0


def parse_number(tree: Tree, at: str) -> ForeignNumber:
    """Parse the number of a pool of a timetable. Raises TimetableError if it is malformed."""
    kind = ObjectKind(
        field(tree, "kind", text, at),
        field(tree, "apiVersion", text, at),
        field(tree, "plural", text, at),
        "namespace" not in tree,
        field(tree, "scale", boolean, at),
    )
    number = ForeignNumber(
        field(tree, "unit", text, at),
        kind,
        field(tree, "name", text, at),
        field(tree, "path", _path, at),
        field(tree, "ready", _path, at) if "ready" in tree else (),
        field(tree, "namespace", text, at) if "namespace" in tree else "",
        tree.get("otherwise"),
        field(tree, "suffix", text, at) if "suffix" in tree else "",
    )
    for key, value in (("otherwise", number.otherwise), ("suffix", number.value(1))):
        if value is not None and not number.is_amount(value):
            raise TimetableError(f"{at}.{key}: {value!r} is not a number")
    return number


def _path(value: object, at: str) -> tuple[Step, ...]:
    steps = tuple(_step(step, f"{at}[{n}]") for n, step in enumerate(sequence(value, at)))
    if not steps:
        raise TimetableError(f"{at}: [] is not a path")
    return steps


def _step(value: object, at: str) -> Step:
    if isinstance(value, list) and len(value) == 2:
        return text(value[0], at), text(value[1], at)
    return non_negative(value, at) if isinstance(value, int) else text(value, at)
