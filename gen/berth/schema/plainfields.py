"""The plain fields of a reservation: what `diff`, policies, `list` and written files have from its model.

A field that is resolved into something else, such as the dates, says so where it is declared. All others are
plain: they are compared by name, looked at by policies, listed and written without further code.
"""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from berth.schema import outline
from berth.schema.basemodel import Meaning, Model, Use
from berth.schema.outline import Known, Node
from berth.schema.reservation import Reservation


class PlainField(NamedTuple):
    """A field in a document, with the mapping that has it."""

    path: str  # below spec: `provisioning.overlap`
    model: Model
    known: Known
    use: Use

    @property
    def name(self) -> str:
        """Return how `diff` names it."""
        return self.use.name or self.path

    @property
    def key(self) -> str:
        """Return its key in the answers of `berth list`."""
        return self.path.rpartition(".")[2]

    @property
    def value(self) -> Any:
        return getattr(self.model, self.known.attribute, self.known.default)

    @property
    def is_default(self) -> bool:
        return bool(self.value == self.known.default)

    @property
    def written(self) -> Any:
        """Return the value with the keys of the file and plain mappings and lists."""
        attribute = self.known.attribute
        (value,) = self.model.model_dump(
            mode="json", by_alias=True, include={attribute}, exclude_none=self.value is not None
        ).values()
        return value

    @property
    def text(self) -> str:
        """Return the value for people; empty if there is none."""
        return _text(self.value)


def plain_settings(reservation: Reservation) -> list[tuple[str, Any]]:
    """Return the plain fields that are more than text for people, by path."""
    return [
        (plain_field.path, plain_field.value)
        for plain_field in plain_fields(reservation.spec)
        if not plain_field.use.is_text
    ]


def _text(value: Any) -> str:
    if value in (None, (), {}):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(map(_text, value))
    return json.dumps(value, sort_keys=True) if isinstance(value, dict) else str(value)


def plain_fields(model: Model, path: str = "") -> Iterator[PlainField]:
    """Yield the plain fields of a mapping and those of the mappings in it.

    A mapping that is left out has the defaults. Of items of lists, only what is not the default.
    """
    for key, known, use in _fields(type(model)):
        value = getattr(model, known.attribute, known.default)
        if not _has_resolved(known.node):
            yield PlainField(f"{path}{key}", model, known, use)
        elif known.node.kind == outline.MODEL:
            part = known.node.type.model_construct() if value is None else value
            yield from plain_fields(part, f"{path}{key}.")
        else:
            for i, item in enumerate(value or ()):
                inner = plain_fields(item, f"{path}{key}[{i}].") if isinstance(item, Model) else ()
                yield from (plain_field for plain_field in inner if not plain_field.is_default)


@cache
def _fields(model: type[Model]) -> tuple[tuple[str, Known, Use], ...]:
    """Return the fields of a mapping that are plain, or have plain ones inside."""
    pairs = ((key, known, use_of(model, known)) for key, known in outline.fields(model).items())
    return tuple((key, known, use) for key, known, use in pairs if not use.resolved)


def use_of(model: type[Model], known: Known) -> Use:
    meaning = model.model_fields[known.attribute].json_schema_extra
    return meaning.use if isinstance(meaning, Meaning) else Use()


def _has_resolved(node: Node) -> bool:
    """Tell whether a value is a mapping, or a list of mappings, of which a part is resolved."""
    if node.kind == outline.LIST:
        return _has_resolved(node.item)
    if node.kind == outline.UNION:
        return any(map(_has_resolved, node.branches))
    return node.kind == outline.MODEL and any(
        use_of(node.type, known).resolved or _has_resolved(known.node)
        for known in outline.fields(node.type).values()
    )
