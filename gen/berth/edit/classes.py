"""Create resource classes from the profiles of a JupyterHub, and from the resource classes of Renku."""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

from berth.edit.create import MODELINE
from berth.findings import ERROR, Finding, Origin, Path, Problem, in_order, severity
from berth.output.yamltext import flow, quote
from berth.reading.document import parse
from berth.reading.place import locate
from berth.reading.source import SCHEMA, Source
from berth.schema import validate
from berth.schema.basemodel import Json
from berth.schema.classsessions import ClassSessions
from berth.schema.documentproblems import MISSING, RANGE, DocumentProblems, nearest
from berth.schema.pod import Amounts, check_resources
from berth.schema.renkuclasses import RenkuClass, read_pools
from berth.schema.renkunames import fitted
from berth.schema.resourceclass import ResourceClassDocument
from berth.schema.z2jh import Hub, ProfileSession, read_hub

DUPLICATE = "B060"
_HEAD = """\
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata:
  name: {name}
spec:
"""
_WIDTH = 110


class ImportedClass(NamedTuple):
    """A class for people: its name, what a seat requests, and whose sessions it counts.

    `origin` is what it was made of: document and path.
    """

    name: str
    requests: str
    sessions: str
    origin: tuple[Origin, Path]


class ImportedClasses(NamedTuple):
    """The file of classes, unless there are errors, and all findings.

    `unlabeled` are the labels that profiles must add, without which the classes count the same sessions.
    `default` is the class of people who choose nothing. `skipped` are classes of Renku that were left out,
    and why. `needs_release`: the hub has a scheduler whose name is not known without the release.
    """

    text: str
    classes: tuple[ImportedClass, ...]
    findings: tuple[Finding, ...]
    unlabeled: tuple[tuple[str, str], ...] = ()  # title of the sessions, and labels
    default: str = ""
    skipped: tuple[tuple[str, str], ...] = ()
    needs_release: bool = False
    sources: tuple[Source, ...] = ()  # what the classes were made of

    def at_origins(self, findings: Iterable[Finding], file: str) -> list[Finding]:
        """Return findings with those of the unwritten file of classes where the classes come from."""
        moved: list[Finding] = []
        for finding in findings:
            if finding.file != file:
                moved.append(finding)
                continue
            above = self.text.splitlines()[: finding.line]
            made = self.classes[min(above.count("---"), len(self.classes) - 1)]
            message = (
                f"{made.sessions}: {finding.path or 'class'} of their class {made.name}: {finding.message}"
            )
            origin, path = made.origin
            problem = origin.problem(finding.code, path, message, finding.fix)
            (located,) = locate([problem], self.sources)
            moved.append(located._replace(severity=finding.severity))
        return in_order(moved)


class HubRequest(NamedTuple):
    """What is to be imported of a hub, and for which cluster."""

    files: tuple[Source, ...]
    cluster: str | None = None
    namespace: str = ""  # empty: that of the release, or jupyterhub
    prefix: tuple[str, ...] = ()
    release: str = ""


# JupyterHub


def import_z2jh(request: HubRequest, taken: Collection[str] = ()) -> ImportedClasses:
    """Convert the profiles in values of the z2jh chart.

    `taken` are the names of other classes: if one of them would be used again, all names begin with the
    namespace.
    """
    reading = read_hub(request.files, request.prefix, request.release)
    hub = reading.hub
    problems = [*reading.problems, *(() if hub is None else _unfit(hub))]
    findings = tuple(locate(problems, request.files))
    if hub is None or any(finding.severity == ERROR for finding in findings):
        return ImportedClasses("", (), findings)
    namespace = request.namespace or hub.written.namespace or "jupyterhub"
    names = _free_names([session.name for session in hub.sessions], namespace, taken)
    own = _are_exclusive(hub.sessions)
    made, texts = [], []
    for session, name in zip(hub.sessions, names, strict=True):
        requests, limits = session.spawner.resources
        placement = {"schedulerName": hub.user_scheduler, **session.placement}
        sessions: Json = {"source": "jupyterhub", "namespaces": [namespace]}
        labels = session.added if own else dict(session.picked)
        if labels:
            sessions["selector"] = {"matchLabels": labels}
        title = session.title if session.images else f"{session.title}; their image is that of the chart"
        held = {"requests": requests, "limits": limits, "images": list(session.images)}
        texts.append(_text(name, title, request.cluster, {**held, **placement, "sessions": sessions}))
        made.append(ImportedClass(name, _amounts(requests), session.phrase, hub.written.place(session.path)))
    default = next((i for i, session in enumerate(hub.sessions) if session.is_default), 0)
    return ImportedClasses(
        text=_file(texts),
        classes=tuple(made),
        findings=findings,
        unlabeled=()
        if own
        else tuple((session.title, flow(dict(session.picked))) for session in hub.sessions),
        default=names[default],
        needs_release=hub.values.scheduling.user_scheduler.enabled and not hub.user_scheduler,
        sources=request.files,
    )


def _unfit(hub: Hub) -> Iterable[Problem | Finding]:
    """Yield the problems of profiles that cannot be classes."""
    by_name: dict[str, ProfileSession] = {}
    for session in hub.sessions:
        other = by_name.setdefault(session.name, session)
        if other is not session:
            message = (
                f'profile "{session.title}" would have the class {session.name}, '
                f'as profile "{other.title}" has: '
                f"{_keys(session)} is the second of the two."
            )
            yield hub.written.problem(DUPLICATE, session.path, message, "Give one of them another slug.")
        if not session.requests:
            message = f"{session.phrase} request nothing, so a placeholder would hold nothing."
            yield hub.written.problem(RANGE, session.path, message, "Write mem_guarantee or cpu_guarantee.")
        report = DocumentProblems(Origin(""))
        check_resources(*session.spawner.bounds, (), report)
        for problem in report.problems:
            if severity(problem.code) == ERROR:  # warnings are those of the class
                path = hub.amount_path(session, str(problem.path[1]))
                message = f"{session.phrase}: {problem.message}"
                yield hub.written.problem(problem.code, path, message, problem.fix)


def _keys(one: ProfileSession) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in one.path).lstrip(".")


def _are_exclusive(kinds: Sequence[ProfileSession]) -> bool:
    """Tell whether no pod has the labels that two of them add."""
    return all(
        any(one.added[key] != other.added[key] for key in one.added.keys() & other.added.keys())
        for one, other in combinations(kinds, 2)
    )


# Renku


def import_renku_classes(
    source: Source,
    cluster: str | None,
    namespace: str,
    pools: Sequence[str] = (),
    taken: Collection[str] = (),
) -> ImportedClasses:
    """Convert the resource classes that Renku's API answers.

    `pools` are the names of the resource pools that are meant; without them, all of Renku's own cluster.
    `taken` are the names of other classes, as in `import_z2jh`.
    """
    reading = read_pools(source)
    problems = list(reading.problems)
    known = {resource_class.pool for resource_class in reading.classes or ()}
    for name in pools if reading.classes is not None else ():
        if name not in known:
            there = sorted(filter(None, known)) or ["none with a name"]
            message = f'no resource pool is named "{name}".'
            problems.append(Origin(source.file).problem(MISSING, (), message, nearest(name, there)))
    found = [
        resource_class
        for resource_class in reading.classes or ()
        if (resource_class.pool in pools if pools else not resource_class.elsewhere)
    ]
    skipped = [resource_class for resource_class in reading.classes or () if resource_class not in found]
    if reading.classes is not None and not found and not problems:
        message = f"no class is left: {skipped[0].elsewhere}."
        fix = "Name the resource pools that you mean (--pool)."
        problems.append(Origin(source.file).problem(MISSING, (), message, fix))
    findings = tuple(locate(problems, [source]))
    if not found or any(finding.severity == ERROR for finding in findings):
        return ImportedClasses("", (), findings)
    names = _free_names([resource_class.name for resource_class in found], namespace, taken)
    texts = []
    for resource_class, name in zip(found, names, strict=True):
        sessions = {"source": "renku", "namespaces": [namespace]}
        held: Json = {
            "renkuId": resource_class.id,
            "requests": resource_class.requests,
            "limits": resource_class.limits,
        }
        texts.append(
            _text(
                name,
                _title(resource_class),
                cluster,
                {**held, **resource_class.placement, "sessions": sessions},
            )
        )
    return ImportedClasses(
        text=_file(texts),
        classes=tuple(
            ImportedClass(
                name,
                _amounts(resource_class.requests),
                resource_class.phrase,
                (Origin(source.file, reading.index), resource_class.path),
            )
            for resource_class, name in zip(found, names, strict=True)
        ),
        findings=findings,
        default=names[0],
        skipped=tuple(
            (_title(resource_class), resource_class.elsewhere or "another pool") for resource_class in skipped
        ),
        sources=(source,),
    )


def _title(one: RenkuClass) -> str:
    return f"{one.title} ({one.pool})" if one.pool else one.title


# Text


def _free_names(names: list[str], namespace: str, taken: Collection[str]) -> list[str]:
    """Return the names, all with the namespace in front if another class has one of them."""
    if not set(names) & set(taken):
        return names
    return [fitted(f"{namespace}-{name}", f"{namespace}-{name}") for name in names]


def _amounts(amounts: Amounts) -> str:
    return ", ".join(f"{name} {amount}" for name, amount in amounts.items())


def _file(texts: Iterable[str]) -> str:
    return MODELINE.format(SCHEMA) + "---\n".join(texts)


def why_not_replaced(old: Source, new: Source) -> str:
    """Return why an import may not replace a file; empty: an import of the same hub or pools wrote it."""
    before, after = _specs(old), _specs(new)
    if before is None or after is None:
        return "it is not as an import writes it"
    for key in ("cluster", "sessions"):
        other = {_owner(spec, key) for spec in before.values()} - {
            _owner(spec, key) for spec in after.values()
        }
        if other:
            return f"its classes are of {', '.join(sorted(other))}"
    return "" if before.keys() & after.keys() else "no class of it is imported"


def _owner(spec: Json, key: str) -> str:
    """Return whose classes a file has: their cluster, or where their sessions are."""
    if key == "cluster":
        return f"cluster {spec['cluster']}" if "cluster" in spec else "no cluster"
    sessions = spec["sessions"]
    return f"source {sessions['source']} in {ClassSessions.model_validate(sessions).where}"


def _specs(source: Source) -> dict[str, Json] | None:
    """Return what the classes of a file say, by name; None if an import would not write them exactly so."""
    documents, problems = parse(source)
    text = source.text.decode(errors="replace").replace("\r\n", "\n")
    titles = [part.partition("\n")[0] for part in _separator(text.removeprefix(MODELINE.format(SCHEMA)))]
    if problems or len(titles) != len(documents):
        return None
    specs: dict[str, Json] = {}
    texts = []
    for document, title in zip(documents, titles, strict=True):
        report = DocumentProblems(document.origin)
        read = validate.read(ResourceClassDocument, document.value, report)
        if read is None or read.spec.sessions is None:
            return None
        spec: Json = document.value["spec"]  # type: ignore[index,call-overload,assignment] # it was validated
        if not spec.keys() <= _KEYS:
            return None
        specs[read.metadata.name] = spec
        texts.append(_text(read.metadata.name, title.removeprefix("# "), None, spec))
    return specs if _file(texts) == text else None


_separator = re.compile("^---\n", re.MULTILINE).split
_KEYS = frozenset(
    (
        *("cluster", "renkuId", "requests", "limits", "images", "sessions"),
        *("nodeSelector", "tolerations", "affinity", "schedulerName"),
    )
)


def _text(name: str, title: str, cluster: str | None, keys: Json) -> str:
    spec: Json = {} if cluster is None else {"cluster": cluster}
    spec |= keys
    lines = _lines({key: value for key, value in spec.items() if value not in ({}, [], "")}, "  ")
    comment = "".join(c for c in title if c.isprintable())
    return f"# {comment}\n{_HEAD.format(name=quote(name))}{lines}"


def _lines(value: Json, indent: str) -> str:
    """Return a mapping in YAML: one line for each key, or more where one would be long."""
    found = []
    for key, inner in value.items():
        line = f"{indent}{quote(key)}: {flow(inner)}\n"
        if len(line) <= _WIDTH or not isinstance(inner, dict | list):
            found.append(line)
        elif isinstance(inner, dict):
            found.append(f"{indent}{quote(key)}:\n{_lines(inner, indent + '  ')}")
        else:
            items = "".join(f"{indent}  - {flow(item)}\n" for item in inner)
            found.append(f"{indent}{quote(key)}:\n{items}")
    return "".join(found)
