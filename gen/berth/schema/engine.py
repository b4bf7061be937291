"""`engine`: what applies `rendered/`, as one word or as a mapping with the options of that engine.

The second half is what options mean together, and beside the repository and the clusters of the site.
"""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Protocol

from berth.findings import Path
from berth.schema.basemodel import Json, Lazy, Model, Switch, field
from berth.schema.documentproblems import IDLE_KEY, DocumentProblems, shown
from berth.schema.grammar import UNFIT, is_artifact
from berth.schema.types import EngineWord

if TYPE_CHECKING:
    from berth.schema.argocdoptions import ArgoCD
    from berth.schema.fluxoptions import Flux

CALLED = {"argocd": "Argo CD", "flux": "Flux"}
ENGINES = (*CALLED, "none")
NAMESPACES = {"argocd": "argocd", "flux": "flux-system"}  # where their own objects are by default
NOT_TOLD, ONE_DESTINATION = "B037", "B039"
_CALLED = {**CALLED, "none": "engine none"}


class NoEngine(Model):
    type: Literal["none"] = field(meaning="nothing: `kubectl apply`")


OPTIONS = {
    "argocd": Lazy("berth.schema.argocdoptions", "ArgoCD"),
    "flux": Lazy("berth.schema.fluxoptions", "Flux"),
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
    | Annotated[Any, Lazy("berth.schema.fluxoptions", "AnyEngine")],
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


class _Cluster(Protocol):
    """What the checks look at of a cluster."""

    @property
    def name(self) -> str: ...

    @property
    def engine(self) -> Any: ...

    @property
    def destination(self) -> Any: ...


class _Idle(NamedTuple):
    """Options that do nothing where another one is, or where it is not."""

    keys: tuple[str, ...]
    because: str  # the other option
    given: bool  # whether they are idle where it is given, or where it is not
    fix: str


_IDLE = {
    "argocd": (
        _Idle(("version", "serviceAccount"), "project", True, "Set it in that project."),
        _Idle(("prune", "selfHeal"), "automated", False, "Leave automated true, or remove this."),
    ),
    "flux": (
        _Idle(
            ("sourceProvider", "sourceSecret", "sourceInterval"), "sourceName", True, "Set it in that source."
        ),
        _Idle(("sourceKind",), "sourceName", False, "Add sourceName, or remove this."),
        _Idle(("kubeConfigMap",), "kubeConfigSecret", True, "Remove one of the two."),
    ),
}

# Of the sources that are rendered.
_PROVIDERS = {
    "a GitRepository": ("generic", "aws", "azure", "github"),
    "an OCIRepository": ("generic", "aws", "azure", "gcp"),
}


def check_engines(
    site: Any,
    clusters: tuple[_Cluster, ...],
    repository: Any,
    path: Path,
    report: DocumentProblems,
) -> None:
    """Check the engines of a site's spec."""
    reported: set[Path] = set()
    chosen = {}
    for i, cluster in enumerate(clusters):
        at = (*path, "clusters", i)
        kind, options = merged(site, cluster.engine)
        chosen[i] = kind, options
        for code, key, message, fix in (*_idle(kind, options), *_provider(options, repository)):
            where = (*(at if key in _given(cluster.engine) else path), "engine", key)
            if where not in reported:
                reported.add(where)
                report(code, where, message, fix, at_key=code == IDLE_KEY)
        if kind != "argocd" and _place(cluster) is not None:
            fix = "To apply elsewhere, add engine.kubeConfigSecret." if kind == "flux" else "Remove it."
            message = f"{_CALLED[kind]} has no destinations: this key has no effect."
            report(IDLE_KEY, (*at, "destination"), message, fix, at_key=True)
    _check_repository(repository, list(chosen.values()), path, report)
    if repository is not None:
        _check_destinations(
            {i: (clusters[i], *destination) for i, destination in chosen.items()}, path, report
        )


def _place(cluster: _Cluster) -> tuple[str | None, str | None] | None:
    """Return server and name of the destination, if just one of them is said."""
    destination = cluster.destination
    if destination is None:
        return None
    pair = destination.server, destination.name
    return pair if [type(part) for part in pair].count(str) == 1 else None


def _idle(kind: str, options: Json) -> Iterator[tuple[str, str, str, str]]:
    """Yield code, option, what is wrong, and what to do."""
    for rule in _IDLE.get(kind, ()):
        value = options.get(rule.because)
        if rule.because == "automated":  # true unless it is said to be false
            value = None if value is False else True
        if (value is not None) == rule.given:
            state = "given" if rule.given else "false" if rule.because == "automated" else "not given"
            for key in rule.keys:
                if key in options:
                    yield IDLE_KEY, key, f"it has no effect if {rule.because} is {state}.", rule.fix


def _provider(options: Json, repository: Any) -> Iterator[tuple[str, str, str, str]]:
    """Report a provider that the kind of the rendered source does not have."""
    if "sourceProvider" not in options or _own(options) or repository is None:
        return
    kind, value = (
        "an OCIRepository" if is_artifact(repository.url) else "a GitRepository",
        options["sourceProvider"],
    )
    if value not in _PROVIDERS[kind]:
        fix = f"Write one of {', '.join(_PROVIDERS[kind])}."
        yield UNFIT, "sourceProvider", f"{kind} has no provider {value}.", fix


def _check_repository(
    repository: Any, chosen: list[tuple[str, Json]], path: Path, report: DocumentProblems
) -> None:
    """Check where the engine finds what it applies. A Flux whose source is the team's own needs none."""
    asking = [kind for kind, options in chosen if kind == "argocd" or (kind == "flux" and not _own(options))]
    if not asking:
        return
    if repository is None:
        names = " and ".join(_CALLED[kind] for kind in OPTIONS if kind in asking)
        message = f"repository is missing, so the objects that make {names} apply the rest are not rendered."
        report(NOT_TOLD, path, message, "Add repository.url, or create those objects yourself.")
        return
    at, url = (*path, "repository"), repository.url
    is_head = repository.revision == "HEAD"
    if is_artifact(url):
        if is_head:
            report(UNFIT, at, "a registry has no HEAD.", "Add revision: a tag, for instance latest.")
    elif "flux" in asking:
        _check_git_of_flux(url, is_head, at, report)


def _check_git_of_flux(url: Any, is_head: bool, at: Path, report: DocumentProblems) -> None:
    if is_head:
        report(UNFIT, at, "Flux cannot follow HEAD.", "Add revision: a branch, for instance main.")
    if not re.match(r"(https?|ssh)://", url):
        scp = re.fullmatch(r"([^\s/:]+):(?!/)(\S+)", url)
        fix = (
            f"Write ssh://{scp[1]}/{scp[2]}." if scp else "Write an address with https://, ssh:// or oci://."
        )
        report(UNFIT, (*at, "url"), f"Flux does not take {shown(url)}.", fix)


def _own(options: Mapping[str, Any]) -> bool:
    return "sourceName" in options


def _check_destinations(
    clusters: dict[int, tuple[_Cluster, str, Json]], path: Path, report: DocumentProblems
) -> None:
    """Report two clusters in one place: each would have its objects from the other."""
    seen: dict[Any, tuple[int, str]] = {}
    for i, (cluster, kind, options) in clusters.items():
        where = _where(cluster, kind, options)
        if where is None:
            continue
        if where in seen:
            first = seen[where][1]
            message = f"clusters {first} and {cluster.name} have the same destination."
            fix = "Give each its own, unless an engine runs in each of them."
            report(ONE_DESTINATION, (*path, "clusters", i, "name"), message, fix)
        else:
            seen[where] = i, cluster.name


def _where(cluster: _Cluster, kind: str, options: Json) -> Any:
    if kind == "argocd" and cluster.destination is None:
        return kind, options.get("namespace"), "https://kubernetes.default.svc", None
    if kind == "argocd" and (place := _place(cluster)) is not None:
        return kind, options.get("namespace"), *place
    for key in ("kubeConfigSecret", "kubeConfigMap"):
        if kind == "flux" and key in options:
            return kind, options.get("namespace"), key, options[key]
    return None
