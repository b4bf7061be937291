"""The documents as JSON Schema (draft 7), for editors: made from the models that validate them.

It has what an editor can help with: keys, words, ranges, meanings and defaults. What needs a look at other
values, `berth validate` reports.
"""

import json
from typing import Any

from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from berth.schema.kinds import KINDS, document_of
from berth.schema.metadata import Document

Schema = dict[str, Any]


def text() -> str:
    """Return the schema as a file."""
    return json.dumps(schema(), indent=1) + "\n"


def schema() -> Schema:
    """Return the schema of one document of any kind."""
    kinds = [
        {
            "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
            "then": of_document(document_of(kind)),
        }
        for kind in KINDS
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


def of_document(model: type[Document]) -> Schema:
    """Return the schema of the documents of one kind. Keys that begin with x- are the author's own."""
    made = model.model_json_schema(schema_generator=_Generator)
    definitions = made.pop("$defs", {})
    found: Schema = _inlined(made, definitions)
    return {**found, "title": model.kind_of, "patternProperties": {"^x-": {}}}


def _inlined(node: Any, definitions: Schema) -> Any:
    """Put definitions where they are used: editors show the description of a key, not of its type."""
    if isinstance(node, list):
        return [_inlined(one, definitions) for one in node]
    if not isinstance(node, dict):
        return node
    own = {name: _inlined(one, definitions) for name, one in node.items() if name != "$ref"}
    if type(node.get("$ref")) is not str:
        return own
    return {**_inlined(definitions[node["$ref"].rpartition("/")[2]], definitions), **own}


class _Generator(GenerateJsonSchema):
    """Writes defaults into descriptions, no titles, and no null: an editor should not suggest it."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> Schema:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> Schema:
        return self.generate_inner(schema["schema"])

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> Schema:
        choices = list(schema["choices"].values())
        hidden = schema.get("metadata", {}).get("hidden", 0)
        return {"anyOf": [self.generate_inner(one) for one in choices[: len(choices) - hidden]]}

    def model_schema(self, schema: core_schema.ModelSchema) -> Schema:
        found = super().model_schema(schema)
        return {name: one for name, one in found.items() if name not in ("title", "description")}

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - as in the base class
        return False
