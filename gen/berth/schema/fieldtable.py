"""The tables of all keys, their defaults and meanings, for the documentation; made from the models."""

from collections.abc import Iterator
from inspect import get_annotations

from berth.schema import outline
from berth.schema.base import Meaning, Model
from berth.schema.engine import OPTIONS
from berth.schema.kinds import KINDS, document_of
from berth.schema.nodeclass import NodeClass
from berth.schema.nodepool import Budget, Requirement, Taint
from berth.schema.outline import Node, fields
from berth.schema.pod import Affinity, LabelSelector, Toleration, TopologySpread
from berth.schema.site import ClusterSpec, Overridable
from berth.schema.suggest import shown

AS_IN_KUBERNETES = (
    Affinity,
    Budget,
    LabelSelector,
    NodeClass,
    Requirement,
    Taint,
    Toleration,
    TopologySpread,
)
HEAD = """# All keys

Made from the models by `python -m tests.fieldtable`; a test holds this page to them. What is written as in
Kubernetes or Karpenter (`affinity`, `tolerations`, `nodeClass` and their like) is one line here.

Every document has `apiVersion: berth.dev/v1alpha1`, `kind`, `metadata` (`name`; `labels` and `annotations` of
every object that is rendered for it) and `spec`. Top-level keys that begin with `x-` are yours. A key whose
value is null is a key that is left out. `berth schema` prints the same for editors, as JSON Schema.
"""


def page() -> str:
    """Return the page of all kinds."""
    parts = [HEAD]
    for kind in KINDS:
        spec = fields(document_of(kind))["spec"].node.type
        parts.append(f"## {kind}\n\n{_table('spec.', spec)}")
    return "\n".join(parts)


def options(engine: str) -> str:
    """Return the table of an engine's options."""
    return _table("engine.", OPTIONS[engine])


def _table(prefix: str, model: type[Model]) -> str:
    lines = [f"| `{path}` | {default} | {meaning} |" for path, default, meaning in _rows(model)]
    return "\n".join([f"| `{prefix}` | default | meaning |", "|---|---|---|", *lines, ""])


def _rows(model: type[Model], prefix: str = "") -> Iterator[tuple[str, str, str]]:
    for name, known in _own_first(model):
        if model is ClusterSpec and known.attribute in Overridable.model_fields:
            continue
        path = f"{prefix}{name}"
        meaning = model.model_fields[known.attribute].json_schema_extra
        said = meaning if isinstance(meaning, Meaning) else Meaning("", ..., "")
        yield path, _default(said, known), said.text or known.node.words
        inner, suffix = _within(known.node)
        if inner is not None:
            yield from _rows(inner, f"{path}{suffix}.")


def _own_first(model: type[Model]) -> list[tuple[str, outline.Known]]:
    """Return the keys of a model: its own before those that it shares with others."""
    own = get_annotations(model)
    return sorted(fields(model).items(), key=lambda pair: pair[1].attribute not in own)


def _within(node: Node) -> tuple[type[Model] | None, str]:
    """Return the mapping with known keys of ours inside of a value, and how a path says it is in a list."""
    if node.kind == outline.LIST:
        inner, suffix = _within(node.item)
        return inner, f"[]{suffix}"
    if node.kind == outline.UNION and len(node.branches) == 2:
        return _within(node.branches[1])
    is_ours = node.kind == outline.MODEL and node.type not in AS_IN_KUBERNETES
    return (node.type, "") if is_ours else (None, "")


def _default(said: Meaning, known: outline.Known) -> str:
    if known.is_required:
        return "**required**"
    if said.words:
        return said.words
    value = known.default
    return "none" if value in (None, (), "", {}) else f"`{shown(value).strip(chr(34))}`"
