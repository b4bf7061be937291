"""`engine`: what applies `rendered/`, as one word or as a mapping with the options of that engine.

The second half is what options mean together, and beside the repository and the clusters of the site.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from berth.findings import Path
from berth.schema.basemodel import Json, Lazy, Model, Switch, field
from berth.schema.documentproblems import DocumentProblems, shown
from berth.schema.grammar import is_artifact
from berth.schema.types import AnyText, EngineWord

if TYPE_CHECKING:
    from berth.schema.engineoptions import ArgoCD, Flux

CALLED = {"argocd": "Argo CD", "flux": "Flux"}
ENGINES = (*CALLED, "none")
NAMESPACES = {"argocd": "argocd", "flux": "flux-system"}  # where their own objects are by default
_CALLED = {**CALLED, "none": "engine none"}


OWN_CLUSTER = "https://kubernetes.default.svc"  # of Argo CD


class Destination(Model):
    server: AnyText | None = field(None)
    name: AnyText | None = field(None)

    def check(self, report: DocumentProblems) -> None:
        report.exclude({"server": self.server, "name": self.name})
        if self.server is None and self.name is None:
            report("B011", (), "it has neither server nor name.", "Add one of the two.")


class NoEngine(Model):
    type: Literal["none"] = field(meaning="nothing: `kubectl apply`")


OPTIONS = {
    "argocd": Lazy("berth.schema.engineoptions", "ArgoCD"),
    "flux": Lazy("berth.schema.engineoptions", "Flux"),
    "none": Lazy(NoEngine),
}


def _by_type(value: Any) -> int:
    """Choose by the form and the type which keys there are."""
    if not isinstance(value, dict):
        return 0
    kind = value.get("type")
    return 1 + ENGINES.index(kind) if type(kind) is str and kind in ENGINES else 4


EngineSpec = Annotated[
    EngineWord
    | Annotated[Any, OPTIONS["argocd"]]
    | Annotated[Any, OPTIONS["flux"]]
    | Annotated[Any, OPTIONS["none"]]
    | Annotated[Any, Lazy("berth.schema.engineoptions", "AnyEngine")],
    Switch(_by_type, hidden=1),
]


def of_cluster(site: Any, own: Any) -> "ArgoCD | Flux | NoEngine":
    """Return the engine of a cluster with its options."""
    kind, options = merged(site, own)
    model: Any = OPTIONS[kind].model.model_construct(type=kind, **options)
    return model  # type: ignore[no-any-return] # one of the three


def merged(site: Any, own: Any) -> tuple[str, Json]:
    """Return type and options: a cluster's own over the site's, key by key if both are of one type."""
    chosen = own if own is not None else site
    if chosen is None:
        return "none", {}
    kind = chosen.type if isinstance(chosen, Model) else chosen  # type: ignore[attr-defined] # all have one
    options: Json = {}
    for layer in (site, own):
        if isinstance(layer, Model) and layer.type == kind:  # type: ignore[attr-defined] # all have one
            options.update(_given(layer))
    return kind, options


def _given(options: Any) -> Json:
    """Return what an engine's mapping says, but for its type."""
    given = options.dump() if isinstance(options, Model) else {}
    return {key: value for key, value in given.items() if key != "type" and value not in ({}, ())}


# By engine: options that have no effect, the other option, whether they have none where that is given or
# where it is not, and what to do.
_IDLE: dict[str, tuple[tuple[tuple[str, ...], str, bool, str], ...]] = {
    "argocd": (
        (("version", "serviceAccount"), "project", True, "Set it in that project."),
        (("prune", "selfHeal"), "automated", False, "Leave automated true, or remove this."),
    ),
    "flux": (
        (("sourceProvider", "sourceSecret", "sourceInterval"), "sourceName", True, "Set it in that source."),
        (("sourceKind",), "sourceName", False, "Add sourceName, or remove this."),
        (("kubeConfigMap",), "kubeConfigSecret", True, "Remove one of the two."),
    ),
}

# Of the sources that are rendered.
_PROVIDERS = {
    "a GitRepository": ("generic", "aws", "azure", "github"),
    "an OCIRepository": ("generic", "aws", "azure", "gcp"),
}


def check_engines(spec: Any, report: DocumentProblems) -> None:
    """Check the engines of a site's spec."""
    reported: set[Path] = set()
    chosen = [(cluster, *merged(spec.engine, cluster.engine)) for cluster in spec.clusters]
    for i, (cluster, kind, options) in enumerate(chosen):
        at = ("clusters", i)
        for code, key, message, fix in (*_idle(kind, options), *_provider(options, spec.repository)):
            where = (*(at if key in _given(cluster.engine) else ()), "engine", key)
            if where not in reported:
                reported.add(where)
                report(code, where, message, fix, at_key=code == "B029")
        if kind != "argocd" and cluster.destination is not None:
            fix = "To apply elsewhere, add engine.kubeConfigSecret." if kind == "flux" else "Remove it."
            message = f"{_CALLED[kind]} has no destinations: this key has no effect."
            report("B029", (*at, "destination"), message, fix, at_key=True)
    _check_repository(spec.repository, [(kind, options) for _, kind, options in chosen], report)
    seen: dict[Any, int] = {}
    for i, (cluster, kind, options) in enumerate(chosen if spec.repository else ()):
        where_applied = _where(cluster, kind, options)
        first = i if where_applied is None else seen.setdefault(where_applied, i)
        if first != i:  # each would have its objects from the other
            message = f"clusters {chosen[first][0].name} and {cluster.name} have the same destination."
            fix = "Give each its own, unless an engine runs in each of them."
            report("B039", ("clusters", i, "name"), message, fix)


def _idle(kind: str, options: Json) -> Iterator[tuple[str, str, str, str]]:
    """Yield code, option, what is wrong, and what to do."""
    for keys, other, given, fix in _IDLE.get(kind, ()):
        value = options.get(other)
        if other == "automated":  # true unless it is set to false
            value = None if value is False else True
        if (value is not None) == given:
            state = "given" if given else "false" if other == "automated" else "not given"
            for key in keys:
                if key in options:
                    yield "B029", key, f"it has no effect if {other} is {state}.", fix


def _provider(options: Json, repository: Any) -> Iterator[tuple[str, str, str, str]]:
    """Report a provider that the kind of the rendered source does not have."""
    value = options.get("sourceProvider")
    if value is not None and "sourceName" not in options and repository is not None:
        kind = "an OCIRepository" if is_artifact(repository.url) else "a GitRepository"
        if value not in _PROVIDERS[kind]:
            fix = f"Write one of {', '.join(_PROVIDERS[kind])}."
            yield "B038", "sourceProvider", f"{kind} has no provider {value}.", fix


def _check_repository(repository: Any, chosen: list[tuple[str, Json]], report: DocumentProblems) -> None:
    """Check where the engine finds what it applies. A Flux whose source is the team's own needs none."""
    asking = [
        kind
        for kind, options in chosen
        if kind == "argocd" or (kind == "flux" and "sourceName" not in options)
    ]
    if not asking:
        return
    if repository is None:
        names = " and ".join(_CALLED[kind] for kind in OPTIONS if kind in asking)
        message = f"repository is missing, so the objects that make {names} apply the rest are not rendered."
        report("B037", (), message, "Add repository.url, or create those objects yourself.")
        return
    url = repository.url
    is_head = repository.revision == "HEAD"
    if is_artifact(url):
        if is_head:
            report("B038", "repository", "a registry has no HEAD.", "Add revision: a tag such as latest.")
        return
    if "flux" in asking and is_head:
        report("B038", "repository", "Flux cannot follow HEAD.", "Add revision: a branch, for instance main.")
    if "flux" in asking and not re.match(r"(https?|ssh)://", url):
        scp = re.fullmatch(r"([^\s/:]+):(?!/)(\S+)", url)
        fix = (
            f"Write ssh://{scp[1]}/{scp[2]}." if scp else "Write an address with https://, ssh:// or oci://."
        )
        report("B038", ("repository", "url"), f"Flux does not take {shown(url)}.", fix)


def _where(cluster: Any, kind: str, options: Json) -> Any:
    """Return what tells the place that an engine applies to; None if only the engine knows it."""
    if kind == "argocd":
        place = cluster.destination or Destination.model_construct(server=OWN_CLUSTER)
        return kind, options.get("namespace"), place.server, place.name
    for key in ("kubeConfigSecret", "kubeConfigMap"):
        if kind == "flux" and key in options:
            return kind, options.get("namespace"), key, options[key]
    return None
