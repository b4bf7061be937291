"""What may be written at each place, read from the annotations of the models.

Pydantic validates without it; messages, the second pass and the table of fields need to know what was meant
to be at a place.
"""

from collections.abc import Callable
from functools import cache, cached_property
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, TypeAdapter

from berth.schema.basemodel import Lazy, Model, Parsed, Switch, Whole
from berth.schema.documentproblems import article

MODEL, LIST, MAP, CHOICE, WHOLE, FLAG, TEXT, UNION, ANY = (
    "model",
    "list",
    "mapping",
    "choice",
    "whole number",
    "flag",
    "text",
    "union",
    "any",
)

_Class = type[Any]


class Node:
    """One place: its kind, and what is inside of it."""

    def __init__(self, hint: Any) -> None:
        self.hint: Final = hint
        self.metadata: tuple[Any, ...] = ()
        hint = _without_none(hint)
        while get_origin(hint) is Annotated:
            self.metadata = (*hint.__metadata__, *self.metadata)
            hint = _without_none(hint.__origin__)
        self._type: Final = hint

    @cached_property
    def type(self) -> Any:
        """The type without its annotations; asking for it imports a lazy model."""
        lazy = self.find(Lazy)
        return self._type if lazy is None else lazy.model

    @cached_property
    def kind(self) -> str:
        for annotation, kind in ((Lazy, MODEL), (Parsed, TEXT), (Whole, WHOLE), (Switch, UNION)):
            if self.find(annotation):
                return kind
        if isinstance(self.type, type) and issubclass(self.type, Model):
            return MODEL
        kinds: dict[Any, str] = {tuple: LIST, dict: MAP, Literal: CHOICE}
        return FLAG if self.type is bool else kinds.get(get_origin(self.type), ANY)

    def find(self, kind: "_Class") -> Any:
        """Return the annotation of this class, or None."""
        return next((annotation for annotation in self.metadata if isinstance(annotation, kind)), None)

    @cached_property
    def validate(self) -> Callable[[Any], Any]:
        if self.kind == MODEL and not self.metadata and self.hint is self.type:
            return self.type.model_validate  # type: ignore[no-any-return] # it is a model
        config = None if self.kind == MODEL else ConfigDict(strict=True)
        return TypeAdapter(self.hint, config=config).validate_python

    @cached_property
    def item(self) -> "Node":
        """Of a list: what its items are."""
        return Node(get_args(self.type)[0])

    @cached_property
    def value(self) -> "Node":
        """Of a mapping with open keys: what its values are."""
        return Node(get_args(self.type)[1])

    @cached_property
    def choices(self) -> tuple[str, ...]:
        return get_args(self.type)

    @cached_property
    def branches(self) -> tuple["Node", ...]:
        return tuple(map(Node, get_args(self.type)))

    def branch(self, value: Any) -> "Node":
        """Of a union: the one of its types that this value is held to."""
        chosen: Node = self.branches[self.find(Switch).choose(value)]
        return chosen

    @cached_property
    def words(self) -> str:
        """Describe for people what may be written: `whole number from 1 up`."""
        annotation = self.find(Parsed) or self.find(Whole)
        if annotation is not None:
            return str(annotation.words)
        if self.kind == CHOICE:
            choices = self.choices
            return f'"{choices[0]}"' if len(choices) == 1 else f"one of {', '.join(choices)}"
        if self.kind == UNION:
            return f"{self.branches[0].words}, or {article(self.branches[1].words)}"
        if self.kind == MODEL:
            return str(self.type.described)
        return {FLAG: "true or false", LIST: "list", MAP: "mapping"}.get(self.kind, "value")


def _without_none(hint: Any) -> Any:
    """Of `X | None`: X, which a key that is left out or null does not have."""
    if get_origin(hint) not in (Union, UnionType):
        return hint
    left = tuple(argument for argument in get_args(hint) if argument is not NoneType)
    return left[0] if len(left) == 1 else Union[left]  # noqa: UP007 - made at run time


class Known(NamedTuple):
    """A key of a model: the attribute, what may be written, and its default."""

    attribute: str
    node: Node
    is_required: bool
    default: Any


@cache
def fields(model: type[Model]) -> dict[str, Known]:
    """Return all keys of a model by their names in a file."""
    hints = get_type_hints(model, include_extras=True)
    known_fields = {}
    for attribute, field in model.model_fields.items():
        default = None if field.is_required() else field.get_default(call_default_factory=True)
        known = Known(attribute, Node(hints[attribute]), field.is_required(), default)
        known_fields[field.alias or attribute] = known
    return known_fields
