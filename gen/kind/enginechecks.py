"""What the options of engines mean together, and beside the repository and the clusters of the site."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from gen.finding import Path
from gen.kind.engine import CALLED, OPTIONS, merged
from gen.kind.grammar import UNFIT, is_artifact
from gen.kind.shape import IDLE_KEY, INVALID, Made, Report, shown

NOT_TOLD, ONE_DESTINATION = "B037", "B039"
_CALLED = {**CALLED, "none": "engine none"}


class _Idle(NamedTuple):
    """Options that do nothing where another one is, or where it is not."""

    keys: tuple[str, ...]
    because: str  # the other option
    given: bool  # whether they are idle where it is given, or where it is not
    fix: str


_IDLE = {
    "argocd": (
        _Idle(("version", "serviceAccount"), "project", True, "Say it in that project."),
        _Idle(("prune", "selfHeal"), "automated", False, "Leave automated true, or remove this."),
    ),
    "flux": (
        _Idle(
            ("sourceProvider", "sourceSecret", "sourceInterval"), "sourceName", True, "Say it at that source."
        ),
        _Idle(("sourceKind",), "sourceName", False, "Add sourceName, or remove this."),
        _Idle(("kubeConfigMap",), "kubeConfigSecret", True, "Remove one of the two."),
    ),
}


# Of the sources that we render.
_PROVIDERS = {
    "a GitRepository": ("generic", "aws", "azure", "github"),
    "an OCIRepository": ("generic", "aws", "azure", "gcp"),
}


def agree(made: Made, path: Path, report: Report) -> None:
    """Of a site's spec. Whatever is not sound is told already, and nothing is concluded from it."""
    clusters = made["clusters"] if isinstance(made["clusters"], tuple) else ()
    repository = made["repository"]
    if made["engine"] is INVALID or not _is_sound(made["engine"]):
        return
    told: set[Path] = set()
    chosen = {}
    for i, one in enumerate(clusters):
        if one is INVALID or not _is_sound(one["engine"]):
            continue
        at = (*path, "clusters", i)
        kind, options = merged(made["engine"], one["engine"])
        chosen[i] = kind, options
        for code, key, message, fix in (*_idle(kind, options), *_provider(options, repository)):
            own = isinstance(one["engine"], dict) and one["engine"].get(key) not in (None, ())
            where = (*(at if own else path), "engine", key)
            if where not in told:
                told.add(where)
                report(code, where, message, fix, at_key=code == IDLE_KEY)
        if kind != "argocd" and _is_one_place(one["destination"]):
            fix = "To apply elsewhere, add engine.kubeConfigSecret." if kind == "flux" else "Remove it."
            message = f"{_CALLED[kind]} knows no destinations: this has no effect."
            report(IDLE_KEY, (*at, "destination"), message, fix, at_key=True)
    _repository(repository, list(chosen.values()), path, report)
    if repository is not None:
        _destinations({i: (clusters[i], *found) for i, found in chosen.items()}, path, report)


def _is_one_place(destination: Any) -> bool:
    if not isinstance(destination, dict):
        return False
    return [type(destination[key]) for key in ("server", "name")].count(str) == 1


def _is_sound(engine: Any) -> bool:
    """Options that are faulty are not looked at together."""
    return engine is not INVALID and not (
        isinstance(engine, dict) and (INVALID in engine.values() or engine["type"] not in OPTIONS)
    )


def _idle(kind: str, options: Made) -> Iterator[tuple[str, str, str, str]]:
    """Code, option, what is wrong, and what to do."""
    for rule in _IDLE.get(kind, ()):
        value = options.get(rule.because)
        if rule.because == "automated":  # true unless it is said to be false
            value = None if value is False else True
        if (value is not None) == rule.given:
            state = "given" if rule.given else "false" if rule.because == "automated" else "not given"
            for key in rule.keys:
                if key in options:
                    yield IDLE_KEY, key, f"it has no effect where {rule.because} is {state}.", rule.fix


def _provider(options: Made, repository: Any) -> Iterator[tuple[str, str, str, str]]:
    """The kinds of the rendered sources have not all the same ones."""
    if "sourceProvider" not in options or _own(options) or not isinstance(repository, dict):
        return
    url, value = repository["url"], options["sourceProvider"]
    if isinstance(url, str):
        kind = "an OCIRepository" if is_artifact(url) else "a GitRepository"
        if value not in _PROVIDERS[kind]:
            fix = f"Write one of {', '.join(_PROVIDERS[kind])}."
            yield UNFIT, "sourceProvider", f"{kind} knows no {value}.", fix


def _repository(repository: Any, chosen: list[tuple[str, Made]], path: Path, report: Report) -> None:
    """Where the engine finds what it applies. A Flux whose source is the team's own needs none."""
    asking = [kind for kind, options in chosen if kind == "argocd" or (kind == "flux" and not _own(options))]
    if not asking or repository is INVALID:
        return
    if repository is None:
        names = " and ".join(_CALLED[kind] for kind in OPTIONS if kind in asking)
        message = f"there is no repository, so nothing is rendered that makes {names} apply the rest."
        report(NOT_TOLD, path, message, "Add repository.url, or make those objects yourself.")
        return
    at, url = (*path, "repository"), repository["url"]
    is_head = repository["revision"] == "HEAD"
    if isinstance(url, str) and is_artifact(url):
        if is_head:
            report(UNFIT, at, "a registry has no HEAD.", "Add revision: a tag, for instance latest.")
    elif "flux" in asking:
        _git_by_flux(url, is_head, at, report)


def _git_by_flux(url: Any, is_head: bool, at: Path, report: Report) -> None:
    if is_head:
        report(UNFIT, at, "Flux follows no HEAD.", "Add revision: a branch, for instance main.")
    if isinstance(url, str) and not re.match(r"(https?|ssh)://", url):
        scp = re.fullmatch(r"([^\s/:]+):(?!/)(\S+)", url)
        fix = (
            f"Write ssh://{scp[1]}/{scp[2]}." if scp else "Write an address with https://, ssh:// or oci://."
        )
        report(UNFIT, (*at, "url"), f"Flux does not take {shown(url)}.", fix)


def _own(options: Made) -> bool:
    return "sourceName" in options


def _destinations(clusters: dict[int, tuple[Made, str, Made]], path: Path, report: Report) -> None:
    """Two clusters in one place would have their objects from each other."""
    seen: dict[Any, tuple[int, str]] = {}
    for i, (cluster, kind, options) in clusters.items():
        where = _where(cluster, kind, options)
        if where is None:
            continue
        if where in seen:
            first = seen[where][1]
            message = f"clusters {first} and {cluster['name']} have one destination."
            fix = "Give each its own, unless each has an engine of its own that runs in it."
            report(ONE_DESTINATION, (*path, "clusters", i, "name"), message, fix)
        else:
            seen[where] = i, cluster["name"]


def _where(cluster: Made, kind: str, options: Made) -> Any:
    if kind == "argocd" and cluster["destination"] is None:
        return kind, options.get("namespace"), "https://kubernetes.default.svc", None
    if kind == "argocd" and _is_one_place(cluster["destination"]):
        return kind, options.get("namespace"), *cluster["destination"].values()
    for key in ("kubeConfigSecret", "kubeConfigMap"):
        if kind == "flux" and key in options:
            return kind, options.get("namespace"), key, options[key]
    return None
