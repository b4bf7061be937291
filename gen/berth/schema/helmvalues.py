"""The values of a Helm chart: in plain files, in a HelmRelease of Flux, or in an Application of Argo CD.

Several files are layers, of which later ones win, as with `helm --values`: mappings are merged, everything
else is replaced, and null removes what a layer below or the chart itself sets.
"""

import posixpath
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from berth.findings import ERROR, Finding, Origin, Path, Problem, severity
from berth.reading.document import Document, parse
from berth.reading.source import Source
from berth.schema.basemodel import Json
from berth.schema.documentproblems import TYPE, shown

NO_VALUES, UNSEEN = "B260", "B261"

_FLUX, _ARGO = ("helm.toolkit.fluxcd.io/", "helm.fluxcd.io/"), ("argoproj.io/",)
_SIGNS: Mapping[str, frozenset[str]] = {
    "singleuser": frozenset(),
    "hub": frozenset(),
    "prePuller": frozenset(),
    "cull": frozenset(),
    "scheduling": frozenset({"userScheduler", "podPriority", "userPlaceholder", "corePods", "userPods"}),
    "proxy": frozenset({"secretToken", "chp", "traefik", "secretSync", "https", "service"}),
}
"""Keys by which the values of the chart are known, and of those that other charts have too, what is below."""


class Layer(NamedTuple):
    """Values in one document. `embedded`: they are not written as YAML, so only their key has a place."""

    origin: Origin
    path: Path  # to the values
    value: Json
    embedded: bool = False


class Release(NamedTuple):
    """A document with values. The name and the namespace of the Helm release are empty if not known."""

    layer: Layer
    name: str = ""
    namespace: str = ""


class HelmValues(NamedTuple):
    """The values of one release of the chart, without the chart's own, and where they are written."""

    value: Json
    layers: tuple[Layer, ...]
    prefix: Path  # the keys that lead to them in each layer
    release: str  # its name; empty: not known
    namespace: str  # empty: not known

    def place(self, path: Path) -> tuple[Origin, Path]:
        """Return the document and path of a value, or of its nearest parent that is written."""
        keys = [*self.prefix, *path]
        first = next((i for i, step in enumerate(keys) if isinstance(step, int)), len(keys))
        layer = max(reversed(self.layers), key=lambda candidate: _depth(candidate.value, keys[:first]))
        return layer.origin, layer.path if layer.embedded else (*layer.path, *keys)

    def problem(self, code: str, path: Path, message: str, fix: str) -> Problem:
        origin, at = self.place(path)
        return origin.problem(code, at, message, fix)


class ValuesReading(NamedTuple):
    """The values, unless there are errors, and all problems."""

    values: HelmValues | None
    problems: tuple[Problem | Finding, ...]


def merged(lower: Json, *upper: Json) -> Json:
    """Merge values as Helm does: mappings are merged, and everything else is replaced."""
    result = dict(lower)
    for layer in upper:
        for key, value in layer.items():
            below = result.get(key)
            if isinstance(value, dict) and isinstance(below, dict):
                result[key] = merged(below, value)
            else:
                result[key] = value
    return result


def _depth(value: Any, keys: Sequence[str | int]) -> int:
    """Return how many of the keys lead to a value."""
    for depth, key in enumerate(keys):
        if not isinstance(value, dict) or key not in value:
            return depth
        value = value[key]
    return len(keys)


def below(value: Any, path: Path) -> Any:
    """Return the value that the keys lead to, or None."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def read_values(files: Sequence[Source], prefix: Path = (), release: str = "") -> ValuesReading:
    """Read the values of the chart from files, which are layers, one document with values in each.

    `prefix` are the keys that lead to them, and `release` is the name of the Helm release.
    """
    problems: list[Problem | Finding] = []
    releases = []
    for source in files:
        found, faults = _of_file(source, prefix, is_first=source is files[0])
        problems += faults
        releases += found
    if len(releases) < len(files) or any(severity(problem.code) == ERROR for problem in problems):
        return ValuesReading(None, tuple(problems))
    layers = tuple(one.layer for one in releases)
    name = next((one.name for one in reversed(releases) if one.name), "")
    namespace = next((one.namespace for one in reversed(releases) if one.namespace), "")
    value = below(merged({}, *(layer.value for layer in layers)), prefix)
    return ValuesReading(HelmValues(value, layers, prefix, release or name, namespace), tuple(problems))


def _of_file(
    source: Source, prefix: Path, *, is_first: bool
) -> tuple[list[Release], list[Problem | Finding]]:
    """Return the release of a file, and all that is wrong with it."""
    documents, faults = parse(source)
    problems: list[Problem | Finding] = list(faults)
    found = [_release(document, problems, is_first=is_first) for document in documents]
    releases = [release for release in found if release is not None]
    if not documents or any(severity(problem.code) == ERROR for problem in problems):
        return [], problems
    if len(releases) > 1:
        message = f"{len(releases)} documents of this file have values."
        problems.append(releases[1].layer.origin.problem(NO_VALUES, (), message, "Split the file."))
    elif not releases or not is_chart(below(releases[0].layer.value, prefix)):
        layer = releases[0].layer if releases else Layer(Origin(source.file), (), {})
        problems.append(_no_chart(layer))
    return releases[:1], problems


def _release(document: Document, problems: list[Problem | Finding], *, is_first: bool) -> Release | None:
    """Return what has values in a document; None if nothing has."""
    value = document.value
    if not isinstance(value, dict):
        return None
    kind, version = value.get("kind"), str(value.get("apiVersion", ""))
    if kind == "HelmRelease" and version.startswith(_FLUX):
        return _of_flux(document.origin, value, problems, is_first=is_first)
    if kind == "Application" and version.startswith(_ARGO):
        return _of_argo(document.origin, value, problems, is_first=is_first)
    return None if kind and version else Release(Layer(document.origin, (), value))


# Where the values of the chart are


def is_chart(value: Any) -> bool:
    """Tell whether there is at least one key by which the values of the chart are known."""
    return isinstance(value, dict) and any(_is_sign(key, value[key]) for key in _SIGNS if key in value)


def _is_sign(key: str, value: Any) -> bool:
    if not isinstance(value, dict):
        return key == "singleuser"  # no other chart has it, so a faulty value is meant for this one
    return not _SIGNS[key] or bool(_SIGNS[key] & value.keys())


def _charts(value: Json, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the keys that lead to values of the chart, for advice."""
    for key, inner in value.items():
        if is_chart(inner):
            yield ".".join((*path, key))
        elif isinstance(inner, dict):
            yield from _charts(inner, (*path, key))


def _no_chart(layer: Layer) -> Problem:
    message = "no key of the JupyterHub chart is here, such as singleuser or hub."
    keys = " or ".join(_charts(layer.value))
    fix = (
        f"Say which keys lead to its values (import: --prefix; Site: prefix): {keys}."
        if keys
        else "Give its values, a HelmRelease or an Application with them, or leave this file out."
    )
    return layer.origin.problem(NO_VALUES, layer.path, message, fix)


# Flux


def _of_flux(
    origin: Origin, value: Json, problems: list[Problem | Finding], *, is_first: bool
) -> Release | None:
    spec, metadata = _mapping(value.get("spec")), _mapping(value.get("metadata"))
    target, own = _string(spec.get("targetNamespace")), _string(metadata.get("name"))
    name = _string(spec.get("releaseName")) or "-".join(filter(None, (target, own)))
    namespace = target or _string(metadata.get("namespace"))
    chart = _mapping(_mapping(spec.get("chart")).get("spec"))
    paths: list[Path] = [("spec", "valuesFrom")] if spec.get("valuesFrom") else []
    paths += [("spec", "chart", "spec", key) for key in ("valuesFile", "valuesFiles") if chart.get(key)]
    for path in paths if is_first else ():  # layers below it may be these values
        where = f" --namespace {shlex.quote(namespace)}" if namespace else ""
        message = "values of this release are elsewhere."
        fix = (
            f"Take all of them from the cluster: helm get values {shlex.quote(name)}{where} --all "
            "--output yaml > hub-values.yaml. Remove the secrets in it before you commit it."
        )
        problems.append(origin.problem(NO_VALUES, path, message, fix))
    values = spec.get("values", {})
    if isinstance(values, dict):
        return Release(Layer(origin, ("spec", "values"), values), name, namespace)
    problems.append(_not_values(origin, ("spec", "values"), values))
    return None


def _not_values(origin: Origin, path: Path, value: object) -> Problem:
    message = f"{shown(value)} is not a mapping of values."
    return origin.problem(TYPE, path, message, "Write a mapping.")


# Argo CD


def _of_argo(
    origin: Origin, value: Json, problems: list[Problem | Finding], *, is_first: bool
) -> Release | None:
    """Return the values that an Application gives to its chart: `valuesObject`, or else `values`."""
    spec, metadata = _mapping(value.get("spec")), _mapping(value.get("metadata"))
    sources: list[tuple[Path, Json]] = [(("spec", "source"), _mapping(spec.get("source")))]
    sources += [(("spec", "sources", i), _mapping(one)) for i, one in enumerate(_list(spec.get("sources")))]
    sources = [(path, source) for path, source in sources if source.get("helm")]
    if len(sources) != 1:
        message = f"{len(sources) or 'none'} of its sources have values of Helm."
        fix = "Give the values of the chart in a file of their own."
        problems.append(origin.problem(NO_VALUES, ("spec",), message, fix))
        return None
    path, source = sources[0]
    helm, at = _mapping(source["helm"]), (*path, "helm")
    name = _string(helm.get("releaseName")) or _string(metadata.get("name"))
    namespace = _string(_mapping(spec.get("destination")).get("namespace"))
    for key in ("parameters", "fileParameters"):
        if helm.get(key):
            problems.append(
                origin.problem(NO_VALUES, (*at, key), f"{key} are not read.", "Write them into valuesObject.")
            )
    layer = _inline(origin, at, helm, problems)
    files = _list(helm.get("valueFiles"))
    if files and is_first:  # layers below it may be these files
        words = [_project_path(_string(file), _string(source.get("path"))) for file in files]
        words += [origin.file] if layer.value else []
        words += ["--namespace", namespace] if namespace else []
        command = shlex.join(["berth", "import", "z2jh", *words, *(["--release", name] if name else [])])
        fix = f"Name these files in their order: {command} (in the Site, files)."
        problems.append(origin.problem(NO_VALUES, (*at, "valueFiles"), "its values are in other files.", fix))
    return Release(layer, name, namespace)


def _inline(origin: Origin, at: Path, helm: Json, problems: list[Problem | Finding]) -> Layer:
    """Return the values in an Application itself."""
    value, path = helm.get("valuesObject"), (*at, "valuesObject")
    is_text = value is None and bool(helm.get("values"))
    if is_text:
        path = (*at, "values")
        value = _embedded(origin, path, helm["values"], problems)
    if not isinstance(value, dict | None):
        problems.append(_not_values(origin, path, value))
    return Layer(origin, path, _mapping(value), embedded=is_text)


def _project_path(entry: str, folder: str) -> str:
    """Return the path of a value file from the top of its repository."""
    if entry.startswith("$"):
        return entry.partition("/")[2]
    return entry if "://" in entry else posixpath.normpath(posixpath.join(folder, entry)).lstrip("/")


def _embedded(origin: Origin, path: Path, text: object, problems: list[Problem | Finding]) -> Any:
    """Return the values that are text of YAML."""
    if not isinstance(text, str):
        return text
    documents, faults = parse(Source(origin.file, text.encode("utf-8", "surrogatepass")))
    for fault in faults:
        message = f"line {fault.line} of this text: {fault.message}"
        problems.append(origin.problem(fault.code, path, message, fault.fix))
    return documents[0].value if documents else {}


def _mapping(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _string(value: Any) -> str:
    return value if type(value) is str else ""
