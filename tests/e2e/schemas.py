"""JSON schemas for `kubeconform -strict`, made from the OpenAPI document of the API server that runs."""

import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.e2e.binaries import KUBERNETES_VERSION, binary
from tests.e2e.cluster import Cluster
from tests.e2e.errors import E2EError

Schema = dict[str, Any]
_REFERENCE = "#/definitions/"

# The API server accepts more for these than their published type says.
_INT_OR_STRING: Schema = {"oneOf": [{"type": "string"}, {"type": "integer"}]}
_LENIENT: dict[str, Schema] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": _INT_OR_STRING,
}


class KubeconformError(E2EError):
    """What kubeconform found."""


def kubeconform(cluster: Cluster, *paths: Path) -> str:
    """Its summary when every file is valid; KubeconformError with its output otherwise."""
    with tempfile.TemporaryDirectory(prefix="berth-e2e-schemas-") as folder:
        write_schemas(cluster, Path(folder))
        template = f"{folder}/{{{{ .ResourceKind }}}}{{{{ .KindSuffix }}}}.json"
        command = [str(binary("kubeconform")), "-strict", "-summary", "-output", "text"]
        command += ["-kubernetes-version", KUBERNETES_VERSION.removeprefix("v"), "-schema-location", template]
        done = subprocess.run([*command, *map(str, paths)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise KubeconformError((done.stdout + done.stderr).strip())
    return done.stdout


def write_schemas(cluster: Cluster, folder: Path) -> list[str]:
    """One file for each kind that the server knows, custom resources too; the names of the files."""
    document = json.loads(cluster.kubectl("get", "--raw", "/openapi/v2"))
    published: dict[str, Schema] = document["definitions"]
    strict = {name: _LENIENT.get(name) or _strict(schema) for name, schema in published.items()}
    written = []
    for name, schema in published.items():
        for identity in schema.get("x-kubernetes-group-version-kind", []):
            used = {other: strict[other] for other in _closure(name, strict)}
            content = {"$ref": _REFERENCE + name, "definitions": used}
            written.append(_file_name(**identity))
            (folder / written[-1]).write_text(json.dumps(content))
    return written


def _file_name(group: str, version: str, kind: str) -> str:
    """As kubeconform asks for it: of the group only the first word, and none for the core group."""
    words = [kind, group.partition(".")[0], version] if group else [kind, version]
    return "-".join(words).lower() + ".json"


def _strict(schema: Schema) -> Schema:
    """Unknown fields are errors; optional fields may be null, which the API server takes for absent."""
    if schema.get("format") == "int-or-string" or schema.get("x-kubernetes-int-or-string"):
        return _INT_OR_STRING
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    result: Schema = {key: schema[key] for key in ("type", "enum", "required") if key in schema}
    if "items" in schema:
        result["items"] = _strict(schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        result["additionalProperties"] = _strict(schema["additionalProperties"])
    if "properties" in schema:
        required = schema.get("required", [])
        result["properties"] = {
            name: _strict(field) if name in required else {"anyOf": [_strict(field), {"type": "null"}]}
            for name, field in schema["properties"].items()
        }
        if not schema.get("x-kubernetes-preserve-unknown-fields"):
            result.setdefault("additionalProperties", False)
    return result


def _closure(name: str, schemas: dict[str, Schema]) -> set[str]:
    """The definitions that one needs, itself included."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting.extend(_references(schemas[current]))
    return found


def _references(part: object) -> Iterator[str]:
    if isinstance(part, dict):
        for key, value in part.items():
            if key == "$ref" and isinstance(value, str):
                yield value.removeprefix(_REFERENCE)
            else:
                yield from _references(value)
    elif isinstance(part, list):
        for value in part:
            yield from _references(value)
