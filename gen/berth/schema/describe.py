"""The models as JSON Schema (draft 7), for editors."""

import json
from typing import Any

from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from berth.schema.declared import KINDS, document_of

Schema = dict[str, Any]


def json_schema_text() -> str:
    """Return the schema as a file."""
    return json.dumps(json_schema(), indent=1) + "\n"


def json_schema() -> Schema:
    """Return the schema of one document of any kind."""
    kinds = [
        {
            "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
            "then": _document_schema(kind),
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


def _document_schema(kind: str) -> Schema:
    """Return the schema of the documents of one kind. Keys that begin with x- are the author's own."""
    generated = document_of(kind).model_json_schema(schema_generator=_Generator)
    definitions = generated.pop("$defs", {})
    schema: Schema = _inlined(generated, definitions)
    return {**schema, "title": kind, "patternProperties": {"^x-": {}}}


def _inlined(node: Any, definitions: Schema) -> Any:
    """Put definitions where they are used: editors show the description of a key, not of its type."""
    if isinstance(node, list):
        return [_inlined(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    own = {name: _inlined(value, definitions) for name, value in node.items() if name != "$ref"}
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
        return {"anyOf": [self.generate_inner(choice) for choice in choices[: len(choices) - hidden]]}

    def model_schema(self, schema: core_schema.ModelSchema) -> Schema:
        described = super().model_schema(schema)
        return {name: value for name, value in described.items() if name not in ("title", "description")}

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - as in the base class
        return False
