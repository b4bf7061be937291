"""Our documents as JSON Schema (draft 7), for editors: made from the very shapes that check them.

It knows what an editor can help with: keys, words, ranges, meanings and defaults. What needs a look at
other values, `berth validate` says.
"""

import json
from collections.abc import Mapping
from typing import Any

from gen.declared import KINDS
from gen.kind.entry import WEEKDAY, WEEKDAYS
from gen.kind.metadata import Document
from gen.kind.price import Price
from gen.kind.resources import Amount
from gen.kind.shape import REQUIRED, Either, Field, Fields, ListOf, MapOf, Shape, shown
from gen.kind.value import Flag, OneOf, Text, Whole

Schema = dict[str, Any]


def text() -> str:
    """As a file."""
    return json.dumps(schema(), indent=1) + "\n"


def schema() -> Schema:
    """Of one document of any kind."""
    kinds = [
        {"if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]}, "then": _fields(shape)}
        for kind, shape in KINDS.items()
    ]
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Berth",
        "type": "object",
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "properties": {
            "apiVersion": {"const": "berth.dev/v1alpha1"},
            "kind": {"enum": list(KINDS), "description": "what is declared"},
        },
        "allOf": kinds,
    }


def _of(shape: Shape) -> Schema:
    if isinstance(shape, Fields):
        return _fields(shape)
    if isinstance(shape, Either):
        return {"anyOf": [_of(shape.plain), _of(shape.mapping)]}
    if isinstance(shape, ListOf):
        return {"type": "array", "items": _of(shape.item), "minItems": shape.minimum}
    if isinstance(shape, MapOf):
        return {"type": "object", "additionalProperties": _of(shape.item), "minProperties": shape.minimum}
    return _single(shape)


def _single(shape: Shape) -> Schema:
    if shape is WEEKDAY:
        return {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": 7},
                {"enum": list(WEEKDAYS)},
                {"type": "string"},
            ]
        }
    if isinstance(shape, OneOf):
        return {"enum": list(shape.choices)}
    if isinstance(shape, Flag):
        return {"type": "boolean"}
    if isinstance(shape, Amount | Price):
        return {"type": ["string", "number"]}
    if isinstance(shape, Text):
        return {"type": "string"}
    if isinstance(shape, Whole):
        most = {} if shape.maximum is None else {"maximum": shape.maximum}
        return {"type": "integer", "minimum": shape.minimum, **most}
    return {}  # one of several types: the check itself says which


def _fields(shape: Fields) -> Schema:
    required = [name for name, field in shape.fields.items() if field.default is REQUIRED]
    own: Schema = {"patternProperties": {"^x-": {}}} if isinstance(shape, Document) else {}
    return {
        "type": "object",
        "properties": {name: _field(field) for name, field in shape.fields.items()},
        **({"required": required} if required else {}),
        **own,
        "additionalProperties": False,
    }


def _field(field: Field) -> Schema:
    found = _of(field.shape)
    said = ". ".join(filter(None, (field.meaning or field.shape.words(), _default(field))))
    return {"description": said, **found} if said else found


def _default(field: Field) -> str:
    if field.default is REQUIRED:
        return ""
    value: object = field.default
    words = field.default_words or (
        "" if value in (None, (), "") or isinstance(value, Mapping) else shown(value)
    )
    if words.count("`") == 2 and words[0] == words[-1] == "`":
        words = words[1:-1]
    return f"Default: {words}" if words else ""
