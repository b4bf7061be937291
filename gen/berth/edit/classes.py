"""Resource classes of the profiles of a JupyterHub, or of the resource classes of Renku, as text of YAML.

A class that is in the file already keeps its other keys, and its comments.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from berth.core.timetable import API_VERSION
from berth.edit.create import MODELINE
from berth.edit.roundtrip import MakeNode, edit_document
from berth.findings import ERROR, Finding, Origin, Problem
from berth.notation.refusal import CommandError
from berth.output.yamltext import block, flow
from berth.reading.document import parse
from berth.reading.place import locate
from berth.reading.source import SCHEMA, Source
from berth.schema.basemodel import Json
from berth.schema.documentproblems import nearest
from berth.schema.renkuclasses import read_pools
from berth.schema.renkunames import fitted
from berth.schema.values import ResourceClass
from berth.schema.z2jh import Hub, read_hub

_REPLACED = ("requests", "limits", "nodeSelector", "tolerations", "affinity")  # also removed
_UPDATED = ("renkuId", "images", "schedulerName")  # stay if an import knows none


class ImportedClass(NamedTuple):
    """A class for people: its name, a title, whose sessions it counts, and its spec."""

    name: str
    title: str
    sessions: str
    spec: Json


class ImportedClasses(NamedTuple):
    """The classes, unless there are errors, and all findings.

    `unlabeled` are the labels that profiles must add, without which the classes count the same sessions.
    `left_out` is what was not read, or made no class, and why. `needs_release`: the hub has a scheduler
    whose name is not known without the release.
    """

    classes: tuple[ImportedClass, ...]
    findings: tuple[Finding, ...]
    unlabeled: tuple[tuple[str, str], ...] = ()  # title of the sessions, and labels
    left_out: tuple[str, ...] = ()
    needs_release: bool = False


class ClassRequest(NamedTuple):
    """What is to be imported, and for which cluster. `taken` are the names of classes in other files.

    `pools` are the resource pools of Renku that are meant; without them, all of Renku's own cluster.
    """

    files: tuple[Source, ...]
    cluster: str | None = None
    namespace: str = ""  # empty: that of the release, or jupyterhub, or renku
    release: str = ""
    pools: tuple[str, ...] = ()
    taken: Collection[str] = ()


# JupyterHub


def import_z2jh(request: ClassRequest) -> ImportedClasses:
    """Convert the profiles in values of the z2jh chart."""
    hub, problems = read_hub(request.files, request.release)
    problems += [] if hub is None else _without_requests(hub)
    findings = tuple(locate(problems, request.files))
    if hub is None or any(finding.severity == ERROR for finding in findings):
        return ImportedClasses((), findings)
    namespace = request.namespace or hub.written.namespace or "jupyterhub"
    names = _free_names([session.name for session in hub.sessions], namespace, request.taken)
    # Whether no pod has the labels that two profiles add.
    are_labeled = all(
        any(one.added[key] != other.added[key] for key in one.added.keys() & other.added.keys())
        for one, other in combinations(hub.sessions, 2)
    )
    classes = []
    for session, name in zip(hub.sessions, names, strict=True):
        requests, limits = session.spawner.resources
        sessions: Json = {"source": "jupyterhub", "namespaces": [namespace]}
        labels = session.added if are_labeled else dict(session.picked)
        if labels:
            sessions["selector"] = {"matchLabels": labels}
        spec = {"requests": requests, "limits": limits, "images": list(session.images)}
        spec |= {"schedulerName": hub.user_scheduler, **session.placement, "sessions": sessions}
        title = session.title if session.images else f"{session.title}; their image is that of the chart"
        classes.append(ImportedClass(name, title, session.phrase, _spec(request, spec)))
    unread = hub.written.unread
    return ImportedClasses(
        tuple(classes),
        findings,
        () if are_labeled else tuple((one.title, flow(dict(one.picked))) for one in hub.sessions),
        (f"Not read: {', '.join(unread)}",) if unread else (),
        hub.values.scheduling.user_scheduler.enabled and not hub.user_scheduler,
    )


def _without_requests(hub: Hub) -> Iterator[Problem]:
    """Report the sessions that request nothing: a class needs an amount."""
    for session in hub.sessions:
        if not session.requests:
            keys = "singleuser.memory.guarantee or singleuser.cpu.guarantee"
            if session.picked:
                keys = "mem_guarantee or cpu_guarantee into its kubespawner_override"
            message = f"{session.phrase} request nothing that a placeholder could hold."
            yield hub.written.problem("B011", session.path, message, f"Write {keys}.")


# Renku


def import_renku_classes(request: ClassRequest) -> ImportedClasses:
    """Convert the resource classes that Renku's API answers."""
    classes_of_renku, problems = read_pools(request.files)
    known, file = classes_of_renku or [], Origin(request.files[0].file)
    names = {found.pool for found in known}
    wanted = [
        found for found in known if (found.pool in request.pools if request.pools else not found.elsewhere)
    ]
    for pool in request.pools if known else ():
        if pool not in names:
            message = f'no resource pool is named "{pool}".'
            problems.append(file.problem("B011", (), message, nearest(pool, sorted(names))))
    if known and not wanted and not problems:
        fix = "Name the resource pools that you mean (--pool)."
        problems.append(file.problem("B011", (), f"no class is left: {known[0].elsewhere}.", fix))
    findings = tuple(locate(problems, request.files))
    if not wanted or any(finding.severity == ERROR for finding in findings):
        return ImportedClasses((), findings)
    namespace = request.namespace or "renku"
    classes = []
    free = _free_names([one.name for one in wanted], namespace, request.taken)
    for found, name in zip(wanted, free, strict=True):
        sessions = {"source": "renku", "namespaces": [namespace]}
        spec: Json = {"renkuId": found.id, "requests": found.requests, "limits": found.limits}
        spec = _spec(request, {**spec, **found.placement, "sessions": sessions})
        classes.append(ImportedClass(name, f"{found.title} ({found.pool})", found.phrase, spec))
    left_out = [
        f"Left out: {found.title} ({found.pool}): {found.elsewhere or 'another pool'}"
        for found in known
        if found not in wanted
    ]
    return ImportedClasses(tuple(classes), findings, left_out=tuple(left_out))


# Text


def _free_names(names: list[str], namespace: str, taken: Collection[str]) -> list[str]:
    """Return the names, all with the namespace in front if another class has one of them."""
    if not set(names) & set(taken):
        return names
    return [fitted(f"{namespace}-{name}", f"{namespace}-{name}") for name in names]


def _spec(request: ClassRequest, keys: Json) -> Json:
    spec = {"cluster": request.cluster or "", **keys}
    kept = {key: value for key, value in spec.items() if value not in ({}, [], "")}
    plain: Json = json.loads(json.dumps(kept))  # lists, as in the file
    return plain


def classes_text(
    before: Source | None, there: Iterable[ResourceClass], classes: Sequence[ImportedClass]
) -> tuple[str, list[str]]:
    """Return the text of a file with the classes, and the names of those in it that are not imported.

    `there` are the classes of the file. One is known by its `renkuId` or its name. Raise CommandError if it
    is that of another hub.
    """
    text, values = MODELINE.format(SCHEMA), dict[int, Any]()
    if before is not None:
        documents, faults = parse(before)
        if faults:
            raise CommandError(
                f"{before.file} cannot be read. Correct it, or import into another file (--file)"
            )
        text, values = before.text.decode(), {one.index: one.value for one in documents}
    new, kept = list(classes), []
    for old in there:
        same = [
            one
            for one in new
            if one.spec.get("renkuId") == old.renku_id and (one.name == old.name or old.renku_id is not None)
        ]
        if not same:
            kept.append(old.name)
            continue
        new.remove(same[0])
        own, spec = values[old.origin.index]["spec"], same[0].spec
        (namespace,) = spec["sessions"]["namespaces"]
        namespaces = () if old.sessions is None else old.sessions.namespace_names
        if (namespaces and namespace not in namespaces) or spec.get("cluster", old.cluster) != old.cluster:
            raise CommandError(
                f"class {old.name} in {old.origin.file} counts the sessions of another hub. "
                "Import into another file (--file)"
            )
        wanted = {key: value for key, value in own.items() if key not in _REPLACED}
        wanted |= {key: spec[key] for key in (*_REPLACED, *_UPDATED) if key in spec}
        if wanted != own:

            def edit(tree: Any, make: MakeNode, wanted: Json = wanted) -> None:
                _update(tree["spec"], wanted, make)

            text = edit_document(text, old.origin.index, edit)
    text += "" if text.endswith("\n") or not new else "\n"
    for number, one in enumerate(new):
        comment = "".join(character for character in one.title if character.isprintable())
        start = "" if before is None and number == 0 else "---\n"
        document = {"apiVersion": API_VERSION, "kind": "ResourceClass", "metadata": {"name": one.name}}
        text += f"{start}# {comment}\n{block({**document, 'spec': one.spec}, 0)}\n"
    return text, kept


def _update(tree: Any, wanted: Json, make: MakeNode) -> None:
    """Change a mapping to what is wanted; what is equal keeps its form."""
    for key in [key for key in tree if key not in wanted]:
        del tree[key]
    for key, value in wanted.items():
        if isinstance(tree.get(key), dict) and isinstance(value, dict):
            _update(tree[key], value, make)
        elif tree.get(key) != value:
            tree[key] = make(value)
