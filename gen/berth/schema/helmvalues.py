"""The values of a JupyterHub's Helm chart: plain files, a HelmRelease of Flux, or an Application of Argo CD.

Several files are layers, of which later ones win, as with `helm --values`: mappings are merged, everything
else is replaced, and null removes what a layer below or the chart itself sets.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from berth.findings import ERROR, Finding, Origin, Path, Problem, severity
from berth.reading.document import Document, parse
from berth.reading.source import Source
from berth.schema.basemodel import Json
from berth.schema.documentproblems import shown

_CHART = (
    "fullnameOverride nameOverride enabled custom imagePullSecret imagePullSecrets hub rbac proxy singleuser "
    "scheduling prePuller ingress httpRoute cull debug global"
)
_SINGLEUSER = (
    "podNameTemplate extraTolerations nodeSelector extraNodeAffinity extraPodAffinity extraPodAntiAffinity "
    "networkTools cloudMetadata networkPolicy events extraAnnotations extraLabels extraFiles extraEnv "
    "lifecycleHooks initContainers extraContainers allowPrivilegeEscalation uid fsGid serviceAccountName "
    "storage image startTimeout cpu memory extraResource cmd defaultUrl extraPodConfig profileList"
)
_SIZES = (
    "singleuser profileList profile_list kubespawner_override cpu_guarantee cpu_limit mem_guarantee mem_limit"
)
"""Keys of profiles and of sizes, which are nowhere else in the values of a chart."""
_FLUX_FILES: tuple[Path, ...] = (("spec", "valuesFrom"), ("spec", "chart", "spec", "valuesFiles"))


class Layer(NamedTuple):
    """Values in one document. The name and the namespace of the Helm release are empty if not known."""

    origin: Origin
    path: Path  # to the values
    value: Json
    name: str = ""
    namespace: str = ""
    embedded: bool = False  # the values are text in the document, so only their key has a place


class HelmValues(NamedTuple):
    """The values of one release of the chart, without the chart's own, and where they are written."""

    value: Json
    layers: tuple[Layer, ...]
    prefix: Path  # the keys that lead to them in each layer
    release: str  # its name; empty: not known
    namespace: str  # empty: not known
    unread: tuple[str, ...]  # keys that the chart does not have

    def place(self, path: Path) -> tuple[Origin, Path]:
        """Return the document and path of a value, or of its nearest parent that is written."""
        return _place(self.layers, (*self.prefix, *path))

    def problem(self, code: str, path: Path, message: str, fix: str) -> Problem:
        origin, at = self.place(path)
        return origin.problem(code, at, message, fix)


def merged(lower: Json, *upper: Json) -> Json:
    """Merge values as Helm does: mappings are merged, and everything else is replaced."""
    result = dict(lower)
    for layer in upper:
        for key, value in layer.items():
            is_merged = isinstance(value, dict) and isinstance(result.get(key), dict)
            result[key] = merged(result[key], value) if is_merged else value
    return result


def below(value: Any, path: Path) -> Any:
    """Return the value that the keys lead to, or None."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _place(layers: Sequence[Layer], path: Path) -> tuple[Origin, Path]:
    keys = path[: next((i for i, step in enumerate(path) if isinstance(step, int)), len(path))]

    def depth(layer: Layer) -> int:
        return sum(below(layer.value, keys[:end]) is not None for end in range(1, len(keys) + 1))

    layer = max(reversed(layers), key=depth)
    return layer.origin, layer.path if layer.embedded else (*layer.path, *path)


def read_values(
    files: Sequence[Source], release: str = ""
) -> tuple[HelmValues | None, list[Problem | Finding]]:
    """Read the values of the chart from files, which are layers, one document with values in each.

    `release` is the name of the Helm release. The values are at the top, or below `jupyterhub` in those of
    a chart that depends on it, or below one more key.
    """
    problems: list[Problem | Finding] = []
    layers: list[Layer] = []
    for source in files:
        documents, faults = parse(source)
        problems += faults
        found = [_layer(document, problems, is_first=source is files[0]) for document in documents]
        of_file = [layer for layer in found if layer is not None]
        if documents and len(of_file) != 1:
            message = (
                f"{len(of_file) or 'none'} of its documents are values, a HelmRelease or an Application."
            )
            problems.append(documents[-1].origin.problem("B260", (), message, "Give files with one each."))
        layers += of_file
    if len(layers) < len(files) or any(severity(problem.code) == ERROR for problem in problems):
        return None, problems
    name = release or next((layer.name for layer in reversed(layers) if layer.name), "")
    namespace = next((layer.namespace for layer in reversed(layers) if layer.namespace), "")
    whole = merged({}, *(layer.value for layer in layers))
    prefix, unread = _chart(whole)
    value = below(whole, prefix)
    advice = _advice(name, namespace)
    sized = [path for path in unread if has_size(below(whole, path))]
    hub = value.get("hub")
    has_sessions = "singleuser" in value or (isinstance(hub, dict) and isinstance(hub.get("config"), dict))
    if sized:
        names = ", ".join(".".join(map(str, path)) for path in sized)
        message = f"the chart does not have {names}, and profiles or sizes are there."
        origin, at = _place(layers, sized[0])
        problems.append(origin.problem("B260", at, message, advice))
    elif not has_sessions:
        message = "no singleuser is here, by which the values of the JupyterHub chart are known."
        fix = f"{advice} Write singleuser: {{}} if the chart's own values hold for all sessions."
        problems.append(layers[-1].origin.problem("B260", layers[-1].path, message, fix))
    if any(severity(problem.code) == ERROR for problem in problems):
        return None, problems
    unread += [(*prefix, "custom")] if has_size(value.get("custom")) else []  # anything may be there
    keys = tuple(".".join(map(str, path)) for path in unread)
    return HelmValues(value, tuple(layers), prefix, name, namespace, keys), problems


def _advice(name: str, namespace: str) -> str:
    return (
        f"Give the values of the chart alone. Helm prints them: helm get values {name or 'RELEASE'} "
        f"--namespace {namespace or 'NAMESPACE'} --output yaml; of a chart that depends on it, add "
        "| yq .KEY. Remove the secrets before you commit them."
    )


def _chart(whole: Json) -> tuple[Path, list[Path]]:
    """Return the keys that lead to the values of the chart, and the paths that are not read."""
    places: list[Path] = [()]
    if "singleuser" not in whole:
        places = [(key, "jupyterhub") for key in whole if isinstance(below(whole, (key, "jupyterhub")), dict)]
        places = [("jupyterhub",)] if isinstance(whole.get("jupyterhub"), dict) else places
    prefix: Path = places[0] if len(places) == 1 else ()
    unread: list[Path] = []
    for depth in range(len(prefix) + 1):
        at = prefix[:depth]
        known = prefix[depth : depth + 1] or _CHART.split()
        unread += [
            (*at, key) for key, inner in below(whole, at).items() if key not in known and inner is not None
        ]
    own = below(whole, (*prefix, "singleuser"))
    if isinstance(own, dict):
        unread += [(*prefix, "singleuser", key) for key in own if key not in _SINGLEUSER.split()]
    return prefix, unread


def has_size(value: Any) -> bool:
    """Tell whether a profile or the size of a session may be somewhere in a value."""
    if isinstance(value, dict):
        return bool(value.keys() & set(_SIZES.split())) or any(map(has_size, value.values()))
    return isinstance(value, list) and any(map(has_size, value))


def _layer(document: Document, problems: list[Problem | Finding], *, is_first: bool) -> Layer | None:
    """Return the values in a document; None if it is another object. What is elsewhere is a problem.

    Files with values below its own may be given before it.
    """
    value, origin = document.value, document.origin
    if not isinstance(value, dict):
        return None
    kind, version = value.get("kind"), str(value.get("apiVersion", ""))
    if kind == "HelmRelease" and version.startswith("helm.toolkit.fluxcd.io/"):
        layer = _flux_layer(origin, value)
        files, above = [path for path in _FLUX_FILES if below(value, path)], list[Path]()
    elif kind == "Application" and version.startswith("argoproj.io/"):
        layer, files, above = _argocd_layer(origin, value)
    elif kind and version:
        return None
    else:
        return Layer(origin, (), value)
    for path in (*(files if is_first else ()), *above):
        fix = _advice(layer.name, layer.namespace)
        if path in files:
            fix = f"Give the files with these values before this one, in their order, or all in one. {fix}"
        problems.append(origin.problem("B260", path, "these values are not read.", fix))
    values: Any = _embedded(layer, problems) if layer.embedded else layer.value
    if not isinstance(values, dict | None):
        message = f"{shown(values)} is not a mapping of values."
        problems.append(origin.problem("B013", layer.path, message, "Write a mapping."))
    return layer._replace(value=values if isinstance(values, dict) else {})


def _flux_layer(origin: Origin, value: Json) -> Layer:
    target, release, own, namespace = (
        _text(value, path)
        for path in (
            ("spec", "targetNamespace"),
            ("spec", "releaseName"),
            ("metadata", "name"),
            ("metadata", "namespace"),
        )
    )
    name = release or "-".join(filter(None, (target, own)))
    path: Path = ("spec", "values")
    return Layer(origin, path, below(value, path), name, target or namespace)


def _argocd_layer(origin: Origin, value: Json) -> tuple[Layer, list[Path], list[Path]]:
    """Return the values, and where those are that are not read: files below them, and what is above them."""
    listed = below(value, ("spec", "sources"))
    sources: list[tuple[Path, Any]] = [(("spec", "source"), below(value, ("spec", "source")))]
    if isinstance(listed, list):
        sources += [(("spec", "sources", i), source) for i, source in enumerate(listed)]
    charts = [((*path, "helm"), helm) for path, source in sources if (helm := below(source, ("helm",)))]
    at, helm = charts[0] if len(charts) == 1 else (("spec",), {})
    is_text = below(helm, ("valuesObject",)) is None
    key = "values" if is_text else "valuesObject"
    name = _text(helm, ("releaseName",)) or _text(value, ("metadata", "name"))
    namespace = _text(value, ("spec", "destination", "namespace"))
    layer = Layer(origin, (*at, key), below(helm, (key,)), name, namespace, is_text)
    unread = [(*at, one) for one in ("parameters", "fileParameters") if below(helm, (one,))]
    files = [(*at, "valueFiles")] if below(helm, ("valueFiles",)) else []
    return layer, files, [*unread, *([at] if len(charts) > 1 else [])]


def _embedded(layer: Layer, problems: list[Problem | Finding]) -> Any:
    """Return the values that are text of YAML."""
    text: Any = layer.value
    if not (isinstance(text, str) and text):
        return text or None
    documents, faults = parse(Source(layer.origin.file, text.encode("utf-8", "surrogatepass")))
    for fault in faults:
        message = f"line {fault.line} of this text: {fault.message}"
        problems.append(layer.origin.problem(fault.code, layer.path, message, fault.fix))
    return documents[0].value if documents else {}


def _text(value: Any, path: Path) -> str:
    found = below(value, path)
    return found if type(found) is str else ""
