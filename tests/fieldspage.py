"""Make the page of fields: the models as tables of keys, with defaults and meanings."""

from collections.abc import Iterator
from inspect import get_annotations

from berth.schema import outline
from berth.schema.basemodel import Meaning, Model, Switch
from berth.schema.declared import KINDS, document_of
from berth.schema.documentproblems import shown
from berth.schema.engine import OPTIONS
from berth.schema.nodeclass import NodeClass
from berth.schema.nodepoolparts import Budget, NodeTaint, PoolRequirement
from berth.schema.outline import Node, fields
from berth.schema.scheduling import Affinity, LabelSelector, PodToleration, TopologySpread
from berth.schema.site import ClusterSpec, Overridable

AS_IN_KUBERNETES = (
    Affinity,
    Budget,
    LabelSelector,
    NodeClass,
    PoolRequirement,
    NodeTaint,
    PodToleration,
    TopologySpread,
)
HEAD = """# Fields

A field that is written as in Kubernetes or Karpenter, such as `affinity`, `tolerations` or `nodeClass`, has
one line here.

Every document has `apiVersion: berth.dev/v1alpha1`, `kind`, `metadata` and `spec`. `metadata` has a `name`,
and `labels` and `annotations` for every object that is rendered for it. You may add keys that begin with
`x-` at the top. A field whose value is null counts as left out. `berth schema` prints the same as JSON
Schema, for editors.
"""


def kinds() -> str:
    """Return the page of all kinds."""
    parts = [HEAD]
    for kind in KINDS:
        models, _ = _within(fields(document_of(kind))["spec"].node)
        parts.append("\n".join([f"## {kind}\n", *(_table("spec.", model) for model in models)]))
    return "\n".join(parts)


def options_table(engine: str) -> str:
    """Return the table of an engine's options."""
    return _table("engine.", OPTIONS[engine].model)


def _table(prefix: str, model: type[Model]) -> str:
    lines = [f"| `{path}` | {default} | {meaning} |" for path, default, meaning in _rows(model)]
    return "\n".join([f"| `{prefix}` | default | meaning |", "|---|---|---|", *lines, ""])


def _rows(
    model: type[Model], prefix: str = "", known_paths: dict[type[Model], str] | None = None
) -> Iterator[tuple[str, str, str]]:
    """Yield path, default and meaning of each field; those of a mapping that is on the page already, once."""
    paths = {} if known_paths is None else known_paths
    own = get_annotations(model)  # before the keys that it shares with others
    for name, known in sorted(fields(model).items(), key=lambda pair: pair[1].attribute not in own):
        if model is ClusterSpec and known.attribute in Overridable.model_fields:
            continue
        path = f"{prefix}{name}"
        meaning = model.model_fields[known.attribute].json_schema_extra
        words = meaning if isinstance(meaning, Meaning) else Meaning("", ..., "")
        yield path, _default(words, known), words.text or known.node.words
        models, suffix = _within(known.node)
        inside = f"{path}{suffix}."
        if models and all(paths.get(inner, inside) != inside for inner in models):
            others = " or ".join(dict.fromkeys(f"`{paths[inner]}…`" for inner in models))
            yield f"{inside}…", "", f"as {others}"
            continue
        paths |= {inner: paths.get(inner, inside) for inner in models}
        yield from dict.fromkeys(row for inner in models for row in _rows(inner, inside, paths))


def _within(node: Node) -> tuple[list[type[Model]], str]:
    """Return the mappings with known keys of ours inside of a value, and how a path says it is in a list.

    Those of a union with hidden types, an engine, have pages of their own.
    """
    if node.kind == outline.LIST:
        models, suffix = _within(node.item)
        return models, f"[]{suffix}"
    if node.kind == outline.UNION and not node.find(Switch).hidden:
        return [model for branch in node.branches for model in _within(branch)[0]], ""
    is_ours = node.kind == outline.MODEL and node.type not in AS_IN_KUBERNETES
    return ([node.type], "") if is_ours else ([], "")


def _default(meaning: Meaning, known: outline.Known) -> str:
    if known.is_required:
        return "**required**"
    if meaning.words:
        return meaning.words
    value = known.default
    return "none" if value in (None, (), "", {}) else f"`{shown(value).strip(chr(34))}`"
