"""The values of a Helm chart as GitOps keeps them: in plain files, HelmReleases of Flux and Applications of
Argo CD.

Several files are layers, of which later ones win, as with `helm --values`: mappings are merged, everything
else is replaced, and null removes what a layer below or the chart itself sets.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from berth.findings import ERROR, Finding, Origin, Path, Problem, severity
from berth.reading.document import Document, parse
from berth.reading.source import Source
from berth.schema.basemodel import Json
from berth.schema.documentproblems import close, shown

NO_VALUES, UNSEEN = "B260", "B261"

_FLUX, _ARGO = ("helm.toolkit.fluxcd.io/", "helm.fluxcd.io/"), ("argoproj.io/",)
_SUBCHART = "jupyterhub"  # the name of the chart, by which a chart that depends on it gives it values
_DEEPEST = 3  # keys that may lead to the values of a subchart
_plain_name = re.compile(r"[^.,=\\\[\]{}]+(?:\.[^.,=\\\[\]{}]+)*").fullmatch
_SIGNS: Mapping[str, frozenset[str]] = {
    "singleuser": frozenset(),
    "hub": frozenset(),
    "prePuller": frozenset(),
    "cull": frozenset(),
    "scheduling": frozenset({"userScheduler", "podPriority", "userPlaceholder", "corePods", "userPods"}),
    "proxy": frozenset({"secretToken", "chp", "traefik", "secretSync", "https", "service"}),
}
"""Keys by which the values of the chart are known, and of those that other charts have too, what is below."""

ReadFile = Callable[[str], Source]
"""Reads a file of the project by its path. Raises OSError."""


class Layer(NamedTuple):
    """Values in one document. `embedded`: they are not written as YAML, so only their key has a place."""

    origin: Origin
    path: Path  # to the values
    value: Json
    embedded: bool = False

    def problem(self, code: str, message: str, fix: str) -> Problem:
        return self.origin.problem(code, self.path, message, fix)


class Release(NamedTuple):
    """A document with values: plain ones, or what installs a chart with them."""

    layers: tuple[Layer, ...]
    kind: str = ""  # HelmRelease or Application; empty: plain values
    name: str = ""  # of the Helm release; empty: not known
    namespace: str = ""  # of the Helm release; empty: not known
    problems: tuple[Problem | Finding, ...] = ()
    unseen: tuple[Problem, ...] = ()  # values that are elsewhere

    @property
    def value(self) -> Json:
        return merged({}, *(layer.value for layer in self.layers))


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
    """What was read: the values, unless there are errors, all problems, and every file with its text."""

    values: HelmValues | None
    problems: tuple[Problem | Finding, ...]
    sources: tuple[Source, ...]


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


def read_values(
    files: Sequence[Source], prefix: Path | None = None, release: str = "", other_file: ReadFile | None = None
) -> ValuesReading:
    """Read the values of the chart from files, which are layers.

    `prefix` are the keys that lead to them; None: look for them. `release` is the name of the one that is
    meant where a file has several. `other_file` reads the value files that an Application names.
    """
    reader = _Reader(release, prefix, other_file)
    for source in files:
        reader.take(source)
    return reader.reading()


class _Reader:
    """Collects the layers of one release."""

    def __init__(self, release: str, prefix: Path | None, other_file: ReadFile | None) -> None:
        self._release, self._prefix, self._other_file = release, prefix, other_file
        self._given: list[str] = []
        self._chosen: list[Release] = []
        self._problems: list[Problem | Finding] = []
        self._sources: list[Source] = []

    def take(self, source: Source) -> None:
        """Add the layers of a file: those of its document that has the values of the chart."""
        self._given.append(source.file)
        self._sources.append(source)
        documents, problems = parse(source)
        self._problems += problems
        releases = [release for document in documents for release in self._releases(document)]
        named = [release for release in releases if release.kind and release.name == self._release]
        if named and self._release:
            releases = named
        elif self._release and any(release.kind for release in releases):
            names = [release.name for release in releases if release.kind]
            nearest = " or ".join(close(self._release, names) or names)
            message = f"no Helm release is named {shown(self._release)}."
            self._problems.append(
                Origin(source.file).problem(NO_VALUES, (), message, f"Did you mean {nearest}?")
            )
            return
        with_values = [release for release in releases if self._has_chart(release.value)]
        if len(with_values) > 1:
            self._problems.append(_several(source.file, with_values))
        elif with_values or len(releases) == 1:
            self._chosen.append((with_values or releases)[0])
        elif documents and not any(severity(problem.code) == ERROR for problem in problems):
            self._problems.append(_no_chart(source.file, documents, releases))

    def _releases(self, document: Document) -> Iterator[Release]:
        """Yield what has values in a document; several sources of an Application may have some."""
        value = document.value
        if not isinstance(value, dict):
            return
        kind, version = value.get("kind"), str(value.get("apiVersion", ""))
        if kind == "HelmRelease" and version.startswith(_FLUX):
            yield _of_flux(document, value)
        elif kind == "Application" and version.startswith(_ARGO):
            yield from _Application(document, value, self._other, self._sources).releases()
        elif not (kind and version):
            yield Release((Layer(document.origin, (), value),))

    def _other(self, path: str) -> Source | None:
        if self._other_file is None:
            return None
        try:
            return self._other_file(path)
        except OSError:
            return None

    def _has_chart(self, value: Json) -> bool:
        if self._prefix is not None:
            return isinstance(below(value, self._prefix), dict)
        return bool(chart_places(value))

    def reading(self) -> ValuesReading:
        layers = tuple(layer for release in self._chosen for layer in release.layers)
        for i, release in enumerate(self._chosen):
            self._problems += release.problems
            self._problems += () if i else release.unseen  # files below it have what is elsewhere
        values = self._values(layers) if layers else None
        is_faulty = any(severity(problem.code) == ERROR for problem in self._problems)
        return ValuesReading(None if is_faulty else values, tuple(self._problems), tuple(self._sources))

    def _values(self, layers: tuple[Layer, ...]) -> HelmValues | None:
        whole = merged({}, *(layer.value for layer in layers))
        prefix = self._prefix
        if prefix is None:
            charts = chart_places(whole)
            if len(charts) != 1:
                self._problems.append(_not_one_chart(layers, charts))
                return None
            (prefix,) = charts
        if not is_chart(below(whole, prefix)):
            self._problems.append(_not_there(layers, prefix, chart_places(whole)))
            return None
        for chosen in self._chosen if len(self._given) > 1 else ():
            if not chosen.kind and not is_chart(below(chosen.value, prefix)):
                message = "no key of the JupyterHub chart is in this file, so it has no effect here."
                self._problems.append(chosen.layers[0].problem(UNSEEN, message, "Leave it out of the files."))
        named = [release for release in self._chosen if release.kind]
        release = next((release.name for release in reversed(named) if release.name), self._release)
        namespace = next((release.namespace for release in reversed(named) if release.namespace), "")
        return HelmValues(below(whole, prefix), layers, prefix, release, namespace)


# Where the values of the chart are


def is_chart(value: Any) -> bool:
    """Tell whether there is at least one key by which the values of the chart are known."""
    return isinstance(value, dict) and any(_is_sign(key, value[key]) for key in _SIGNS if key in value)


def _is_sign(key: str, value: Any) -> bool:
    if not isinstance(value, dict):
        return key == "singleuser"  # no other chart has it, so a faulty value is meant for this one
    return not _SIGNS[key] or bool(_SIGNS[key] & value.keys())


def chart_places(value: Json) -> list[Path]:
    """Return the keys that lead to values of the chart: none for those at the top.

    Values below `jupyterhub` are those of a chart that depends on it. A key of another name, which such a
    chart may give it, is taken only with `singleuser`.
    """
    named = [path for path, inner in _mappings(value, ()) if path[-1] == _SUBCHART and is_chart(inner)]
    if "singleuser" in value:
        return [(), *named]
    if named:
        return named
    if is_chart(value):
        return [()]
    return [path for path, inner in _mappings(value, ()) if "singleuser" in inner]


def _mappings(value: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    """Yield each mapping below a value, unless it is a part of the chart's own values."""
    if len(path) == _DEEPEST or (path and is_chart(value)):
        return
    for key, inner in value.items():
        if isinstance(inner, dict) and (path or key not in _SIGNS):
            yield (*path, key), inner
            yield from _mappings(inner, (*path, key))


def _text(path: Path) -> str:
    return ".".join(map(str, path)) or "the top"


def _not_one_chart(layers: Sequence[Layer], paths: Sequence[Path]) -> Problem:
    first = layers[0]
    if not paths:
        return _no_chart(first.origin.file, (), ()) if not first.path else _no_chart_at(first)
    message = f"the values of several charts could be meant: those of {' and of '.join(map(_text, paths))}."
    fix = "Say which with the keys that lead to them (import: --prefix; Site: prefix)."
    return first.problem(NO_VALUES, message, fix)


def _not_there(layers: Sequence[Layer], prefix: Path, paths: Sequence[Path]) -> Problem:
    message = f"no value of the JupyterHub chart is below the prefix {_text(prefix)}."
    others = [_text(path) for path in paths if path]
    fix = f"Did you mean {' or '.join(others)}?" if others else "Leave it out, or name another one."
    return layers[0].problem(NO_VALUES, message, fix)


_ADVICE = (
    "Give the values of the chart, a HelmRelease or an Application; if they are below another key, "
    "name it (import: --prefix; Site: prefix)."
)


def _no_chart_at(layer: Layer) -> Problem:
    message = "no key of the JupyterHub chart is in these values, such as singleuser or hub."
    return layer.problem(NO_VALUES, message, _ADVICE)


def _no_chart(file: str, documents: Sequence[Document], releases: Sequence[Release]) -> Problem:
    message = "no key of the JupyterHub chart is in this file, such as singleuser or hub."
    kinds = [str(document.value.get("kind")) for document in documents if isinstance(document.value, dict)]
    kinds = [kind for kind in kinds if kind != "None"]
    if documents and not releases and kinds:
        message = f"this file has {', '.join(dict.fromkeys(kinds))}, and no values of the JupyterHub chart."
    return Origin(file).problem(NO_VALUES, (), message, _ADVICE)


def _several(file: str, releases: Sequence[Release]) -> Problem:
    listed = [
        f"{release.kind} {release.name}" if release.kind else f"document {release.layers[0].origin.index + 1}"
        for release in releases
    ]
    message = f"several documents have values of the JupyterHub chart: {', '.join(listed)}."
    fix = "Split the file."
    if all(release.kind for release in releases):
        fix = "Say which by the name of its Helm release (import: --release; Site: release)."
    origin = releases[1].layers[0].origin if releases[1].layers else Origin(file)
    return origin.problem(NO_VALUES, (), message, fix)


# Flux


def _of_flux(document: Document, value: Json) -> Release:
    spec, metadata = _mapping(value.get("spec")), _mapping(value.get("metadata"))
    origin = document.origin
    target, own = _string(spec.get("targetNamespace")), _string(metadata.get("namespace"))
    name = _string(spec.get("releaseName"))
    if not name:
        name = "-".join(filter(None, (target, _string(metadata.get("name")))))
    unseen = []
    for i, item in enumerate(_list(spec.get("valuesFrom"))):
        source = _mapping(item)
        where = f"{source.get('kind', 'ConfigMap')} {source.get('name', '')}".strip()
        unseen.append(_unseen(origin, ("spec", "valuesFrom", i), f"the values in {where}"))
    chart = _mapping(_mapping(spec.get("chart")).get("spec"))
    for key in ("valuesFile", "valuesFiles"):
        if chart.get(key):
            path: Path = ("spec", "chart", "spec", key)
            unseen.append(_unseen(origin, path, "value files inside of the chart"))
    layers: list[Layer] = []
    problems: list[Problem] = []
    values = spec.get("values")
    if isinstance(values, dict):
        layers.append(Layer(origin, ("spec", "values"), values))
    elif values is not None:
        problems.append(_not_values(origin, ("spec", "values"), values))
    else:
        layers.append(Layer(origin, ("spec",), {}, embedded=True))
    return Release(tuple(layers), "HelmRelease", name, target or own, tuple(problems), tuple(unseen))


def _unseen(origin: Origin, path: Path, what: str) -> Problem:
    message = f"{what} cannot be seen here, and may change what sessions request."
    fix = (
        "Name the files that they come from before this one, as layers below it. If they say nothing of "
        f'sessions, annotate the Site with berth.dev/ignore: "{UNSEEN}: <reason>".'
    )
    return origin.problem(UNSEEN, path, message, fix)


def _not_values(origin: Origin, path: Path, value: object) -> Problem:
    message = f"{shown(value)} is not a mapping of values."
    return origin.problem("B013", path, message, "Write a mapping.")


# Argo CD


class _Application:
    """Reads the values that an Application gives to its charts.

    As in Argo CD, parameters win over valuesObject, which replaces values, which win over value files.
    """

    def __init__(
        self,
        document: Document,
        value: Json,
        other: Callable[[str], Source | None],
        sources: list[Source],
    ) -> None:
        self._origin = document.origin
        self._spec, self._metadata = _mapping(value.get("spec")), _mapping(value.get("metadata"))
        self._other, self._sources = other, sources

    def releases(self) -> Iterator[Release]:
        listed = _list(self._spec.get("sources"))
        single = _mapping(self._spec.get("source"))
        if not listed and single.get("helm"):
            yield self._release(single, ("spec", "source"))
        for i, source in enumerate(listed):
            if _mapping(source).get("helm"):
                yield self._release(_mapping(source), ("spec", "sources", i))

    def _release(self, source: Json, path: Path) -> Release:
        helm, at = _mapping(source.get("helm")), (*path, "helm")
        problems: list[Problem | Finding] = []
        unseen: list[Problem] = []
        layers = list(self._value_files(helm, source, at, problems, unseen))
        own = helm.get("valuesObject")
        if own is not None:
            if isinstance(own, dict):
                layers.append(Layer(self._origin, (*at, "valuesObject"), own))
            else:
                problems.append(_not_values(self._origin, (*at, "valuesObject"), own))
            if helm.get("values"):
                message = "values has no effect: Argo CD takes valuesObject instead."
                problems.append(self._problem((*at, "values"), message, "Remove one of the two."))
        elif helm.get("values"):
            layers += self._embedded(helm["values"], (*at, "values"), problems)
        layers += self._parameters(_list(helm.get("parameters")), (*at, "parameters"), unseen)
        if helm.get("fileParameters"):
            unseen.append(_unseen(self._origin, (*at, "fileParameters"), "the content of these files"))
        if not layers:
            layers.append(Layer(self._origin, at, {}, embedded=True))
        name = _string(helm.get("releaseName")) or _string(self._metadata.get("name"))
        namespace = _string(_mapping(self._spec.get("destination")).get("namespace"))
        return Release(tuple(layers), "Application", name, namespace, tuple(problems), tuple(unseen))

    def _problem(self, path: Path, message: str, fix: str) -> Problem:
        return self._origin.problem(UNSEEN, path, message, fix)

    def _value_files(
        self,
        helm: Json,
        source: Json,
        at: Path,
        problems: list[Problem | Finding],
        unseen: list[Problem],
    ) -> Iterator[Layer]:
        for i, entry in enumerate(_list(helm.get("valueFiles"))):
            value_file = self._value_file(_string(entry), _string(source.get("path")))
            if value_file is None:
                unseen.append(_unseen(self._origin, (*at, "valueFiles", i), f"the value file {shown(entry)}"))
                continue
            self._sources.append(value_file)
            documents, faults = parse(value_file)
            problems += faults
            for document in documents[:1]:  # Helm reads the first document of a file
                if isinstance(document.value, dict):
                    yield Layer(document.origin, (), document.value)
                else:
                    problems.append(_not_values(document.origin, (), document.value))

    def _value_file(self, entry: str, folder: str) -> Source | None:
        """Return a file by a path in the project: of a `$ref`, beside the Application, or of its source."""
        if not entry or "://" in entry:
            return None
        beside = posixpath.dirname(self._origin.file)
        if entry.startswith("$"):
            entry = entry.partition("/")[2]
            folders = ["", beside]
        else:
            folders = [beside, folder, ""]
        paths = [posixpath.normpath(posixpath.join(folder, entry.lstrip("/"))) for folder in folders]
        inside = [path for path in dict.fromkeys(paths) if not path.startswith(("..", "/"))]
        return next((value_file for path in inside if (value_file := self._other(path)) is not None), None)

    def _embedded(self, text: object, path: Path, problems: list[Problem | Finding]) -> Iterator[Layer]:
        """Read values that are text of YAML."""
        if not isinstance(text, str):
            fix = "Write text (values: |), or valuesObject."
            message = f"{shown(text)} is not text of YAML."
            problems.append(self._origin.problem("B013", path, message, fix))
            return
        documents, faults = parse(Source(self._origin.file, text.encode("utf-8", "surrogatepass")))
        for fault in faults:
            message = f"line {fault.line} of this text: {fault.message}"
            problems.append(self._origin.problem(fault.code, path, message, fault.fix))
        for document in documents[:1]:
            if isinstance(document.value, dict):
                yield Layer(self._origin, path, document.value, embedded=True)
            else:
                problems.append(_not_values(self._origin, path, document.value))

    def _parameters(self, listed: Sequence[Any], path: Path, unseen: list[Problem]) -> Iterator[Layer]:
        """Apply parameters as `helm --set` does, but for those that name a part of a list."""
        value: Json = {}
        for i, item in enumerate(listed):
            parameter = _mapping(item)
            name, text = _string(parameter.get("name")), parameter.get("value")
            if _plain_name(name) is None or not isinstance(text, str):
                unseen.append(_unseen(self._origin, (*path, i), f"the effect of the parameter {shown(name)}"))
                continue
            nested: Any = text if parameter.get("forceString") else _typed(text)
            for key in reversed(name.split(".")):
                nested = {key: nested}
            value = merged(value, nested)
        if value:
            yield Layer(self._origin, path, value, embedded=True)


def _typed(text: str) -> Any:
    """Return what `helm --set` makes of a text."""
    words = {"true": True, "false": False, "null": None}
    if text in words:
        return words[text]
    return int(text) if re.fullmatch(r"0|-?[1-9][0-9]{0,17}", text, re.ASCII) else text


def _mapping(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _string(value: Any) -> str:
    return value if type(value) is str else ""
