"""Compare classes with the JupyterHub whose sessions they count, and with Renku's classes.

A placeholder only helps a session that fits in its room and may run on its node. Findings about priorities,
schedulers and people at once are in the files of the hub's values; docs/jupyterhub.md explains them.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from berth.checks.project import ComparedHub, Project
from berth.checks.seatplacement import may_match_same_taint, names_a_taint, taint_text
from berth.core.sessions import LabelRequirement
from berth.dates.moments import local_text, named
from berth.findings import ERROR, Finding, Path, Problem
from berth.manifests.placed import cluster_of
from berth.manifests.timetabletext import recognition_of
from berth.output.yamltext import flow
from berth.quantity import parse
from berth.reading.source import Source
from berth.schema.declared import Declared
from berth.schema.pod import Placement
from berth.schema.values import ResourceClass, Site

if TYPE_CHECKING:
    from berth.schema.renkuclasses import RenkuClass
    from berth.schema.z2jh import Hub, ProfileSession

_STOCK = "default-scheduler"
_IGNORED_BELOW = -10  # the priority below which cluster-autoscaler adds no nodes for a pod
_OF_KUBESPAWNER = {"app", "component", "release", "chart", "heritage", "app.kubernetes.io/component"}

ReadFile = Callable[[str], Source]
"""Reads a file of the project. Raises OSError."""


def compare_classes(
    declared: Declared, site: Site, read: ReadFile
) -> tuple[list[ComparedHub], list[Problem | Finding]]:
    """Compare the classes of each cluster with the files that it names; return its hubs, and the problems."""
    hubs: list[ComparedHub] = []
    problems: list[Problem | Finding] = []
    for i, cluster in enumerate(site.clusters):
        classes = [one for one in declared.classes.values() if cluster_of(one, site) is cluster]
        path: Path = ("spec", "clusters", i)
        of_cluster: list[ComparedHub] = []
        for below, files in cluster.hubs:
            from berth.schema.z2jh import read_hub  # noqa: PLC0415 - few sites name such a file

            at: Path = (*path, *below)
            parse = partial(read_hub, release=files.release or "")
            hub = _read(site, at, files.files, read, parse, problems)
            of_cluster += [] if hub is None else [ComparedHub(cluster, files, at, hub)]
        for compared in of_cluster:
            problems += _check_hub(classes, site, compared)
        problems += _check_selectors(classes, of_cluster)
        hubs += of_cluster
        if cluster.renku_classes:
            from berth.schema.renkuclasses import read_pools  # noqa: PLC0415 - few sites name such a file

            at = (*path, "renkuClasses")
            known = _read(site, at, [cluster.renku_classes], read, read_pools, problems)
            problems += () if known is None else _check_renku(classes, known, cluster.renku_classes)
    return hubs, problems


_Value = TypeVar("_Value")


def _read(  # noqa: PLR0913, PLR0917 - what a file is read for
    site: Site,
    path: Path,
    files: Sequence[str],
    read: ReadFile,
    parse: Callable[[list[Source]], tuple[_Value | None, list[Problem | Finding]]],
    problems: list[Problem | Finding],
) -> _Value | None:
    """Return what is in files; None after it was reported why that is not known."""
    from berth.reading.place import locate  # noqa: PLC0415 - slow, and only needed with problems

    try:
        sources = [read(file) for file in files]
    except OSError as error:
        why = f"the file cannot be read: {error.strerror}."
    else:
        value, found = parse(sources)
        if value is not None:
            problems += found
            return value
        findings = locate(found, sources)
        first = next((finding for finding in findings if finding.severity == ERROR), findings[0])
        at = ": ".join(filter(None, (f"{first.file} line {first.line}", first.path)))
        why = f"{at}: {first.message} {first.fix}"
    message = f"no class is compared with {', '.join(files)}: {why}"
    problems.append(site.origin.problem("B087", path, message, "Correct the file, or its path."))
    return None


# Classes of a hub


def _check_hub(classes: Sequence[ResourceClass], site: Site, hub: ComparedHub) -> Iterator[Problem]:
    """Compare classes with the profiles of a hub."""
    own = [one for one in classes if counts_sessions_of(one, hub)]
    if not own and any(one.sessions is not None and one.sessions.source == "jupyterhub" for one in classes):
        message = f"no class counts sessions in namespace {hub.files.namespace}."
        fix = "Name the namespace of sessions.namespaces, or import classes of this hub."
        yield site.origin.problem("B029", (*hub.path, "namespace"), message, fix)
    pairs = [(one, _counted(one, hub.hub.sessions)) for one in own]
    for resource_class, counted in pairs:
        yield from _too_small(resource_class, counted)
        yield from _without_devices(resource_class, counted)
        yield from _misplaced(resource_class, counted)
    yield from check_priorities(hub)
    yield from check_schedulers(hub, pairs)


def _check_selectors(classes: Sequence[ResourceClass], hubs: Sequence[ComparedHub]) -> Iterator[Problem]:
    """Check that the hubs whose sessions a class counts set the labels of its selector."""
    for resource_class in classes:
        recognition = recognition_of(resource_class)
        own = [hub for hub in hubs if counts_sessions_of(resource_class, hub)]
        missing = {
            requirement.key: next(iter(requirement.values), "true")
            for requirement in (() if recognition is None else recognition.selector)
            if own and not any(_may_hold(requirement, hub.hub) for hub in own)
        }
        if missing:
            files = ", ".join(file for hub in own for file in hub.files.files)
            message = (
                f"no profile in {files} sets {flow(missing)}, so no session counts for class "
                f"{resource_class.name}."
            )
            has_profiles = any(session.picked for session in own[0].hub.sessions)
            where = "extra_labels in kubespawner_override of its profile" if has_profiles else "extraLabels"
            fix = (
                f"Add to {where}: {flow(missing)}; if something else sets it, "
                'annotate berth.dev/ignore: "B085: <reason>".'
            )
            yield resource_class.origin.problem("B085", ("spec", "sessions", "selector"), message, fix)


def _may_hold(requirement: LabelRequirement, hub: "Hub") -> bool:
    """Tell whether pods of a hub may meet a requirement, by labels of KubeSpawner's own or of the values.

    Code that names the label may set it to anything, and so may a value that the hub fills in.
    """
    key = requirement.key
    if key in _OF_KUBESPAWNER or key.startswith("hub.jupyter.org/"):
        return True
    texts = [text for name, text in _labels(hub.written.value) if name == key]
    code = json.dumps(hub.written.value.get("hub"))
    is_free = any("{" in text for text in texts) or f"'{key}'" in code or f'\\"{key}\\"' in code
    return is_free or any(requirement.holds({key: text}) for text in texts) or requirement.holds({})


def _labels(value: object) -> Iterator[tuple[str, str]]:
    """Yield the labels of pods in values: of all, of profiles and their choices, and of groups."""
    if isinstance(value, dict):
        for key, inner in value.items():
            is_labels = key in ("extra_labels", "extraLabels") and isinstance(inner, dict)
            yield from ((name, str(text)) for name, text in inner.items()) if is_labels else _labels(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _labels(inner)


def _counted(resource_class: ResourceClass, known: "Sequence[ProfileSession]") -> "list[ProfileSession]":
    """Return the sessions that a class counts by the labels of profiles; other labels come from elsewhere."""
    recognition = recognition_of(resource_class)
    selector = () if recognition is None else recognition.selector
    keys = {key for session in known for key in session.labels}
    requirements = [requirement for requirement in selector if requirement.key in keys]
    if selector and not requirements:
        return []
    return [session for session in known if all(one.holds(session.labels) for one in requirements)]


def counts_sessions_of(resource_class: ResourceClass, hub: ComparedHub) -> bool:
    """Tell whether the sessions of a class may be those of a hub of its cluster."""
    sessions, namespace = resource_class.sessions, hub.files.namespace
    if sessions is None or sessions.source != "jupyterhub":
        return False
    return not namespace or bool(sessions.namespace_labels) or namespace in sessions.namespace_names


def check_priorities(hub: ComparedHub) -> Iterator[Problem]:
    """Check that sessions and image pullers preempt the placeholders, and user placeholders do not."""
    scheduling, ours = hub.hub.values.scheduling, hub.cluster.priority
    own, users = scheduling.pod_priority, scheduling.user_placeholder
    priorities: Path = ("scheduling", "podPriority")
    low = _IGNORED_BELOW - 1 if hub.cluster.autoscaler != "karpenter" else ours
    if own.enabled and own.default_priority <= max(ours, low):
        whose = "sessions and all pods without a priority class" if own.global_default else "sessions"
        message = (
            f"{whose} have priority {own.default_priority}: they must preempt the placeholders of Berth, "
            f"which have {ours}, and cluster-autoscaler adds no node for pods below {_IGNORED_BELOW}."
        )
        fix = f"Write a defaultPriority above {max(ours, _IGNORED_BELOW)}, such as 0."
        yield hub.hub.written.problem("B262", (*priorities, "defaultPriority"), message, fix)
    if own.enabled and own.image_puller_priority <= ours:
        message = (
            f"image pullers have priority {own.image_puller_priority}, and the placeholders of Berth {ours}: "
            "on a node without room for one more pod, they cannot preempt a placeholder."
        )
        fix = f"Write an imagePullerPriority above {ours}, such as -5."
        yield hub.hub.written.problem("B262", (*priorities, "imagePullerPriority"), message, fix)
    theirs, sessions = (own.user_placeholder_priority, own.default_priority) if own.enabled else (0, 0)
    if users.enabled and users.replicas and (theirs >= sessions or theirs > ours):
        message = (
            f"the {users.replicas} user placeholders of the chart have priority {theirs}, sessions "
            f"{sessions}, and the placeholders of Berth {ours}: user placeholders must be "
            "below sessions, and not above the placeholders."
        )
        path = (*priorities, "userPlaceholderPriority")
        path = path if own.enabled else ("scheduling", "userPlaceholder", "replicas")
        enable = "" if own.enabled else "podPriority.enabled: true and "
        fix = f"Write {enable}userPlaceholderPriority: {ours}, or scheduling.userPlaceholder.replicas: 0."
        yield hub.hub.written.problem("B262", path, message, fix)


def check_schedulers(
    hub: ComparedHub, pairs: "Sequence[tuple[ResourceClass, Sequence[ProfileSession]]]"
) -> Iterator[Problem]:
    """Report classes whose placeholders are placed by another scheduler than their sessions."""
    from berth.schema.z2jh import SCHEDULER as ENDING  # noqa: PLC0415 - few sites have a hub

    usual = hub.hub.user_scheduler or _STOCK
    is_unknown = hub.hub.values.scheduling.user_scheduler.enabled and usual == _STOCK
    for resource_class, counted in pairs:
        ours = resource_class.pod.scheduler_name or _STOCK
        for session in counted:
            own = session.placement.get("schedulerName")
            if ours == (own or usual) and (own or not is_unknown):
                continue
            if not own and is_unknown and ours.endswith(ENDING):
                continue
            theirs = own or (f"RELEASE{ENDING}" if is_unknown else usual)
            path = session.path if own else ("scheduling", "userScheduler", "enabled")
            message = (
                f"{session.phrase} are scheduled by {theirs}, and placeholders of class "
                f"{resource_class.name} by {ours}: neither of the two sees the room that the other is "
                "about to use."
            )
            fix = f"Write schedulerName: {theirs} in the class."
            if theirs == _STOCK:
                fix = "Remove schedulerName from the class."
            yield hub.hub.written.problem("B262", path, message, fix)
            break


def check_arrivals(project: Project) -> Iterator[Problem]:
    """Compare how many people each hub may expect at one start with its spawn limit.

    Nobody comes to a rehearsal.
    """
    for hub in project.hubs:
        limit, path = hub.hub.values.spawn_limit
        counts: Counter[int] = Counter()
        by_start: dict[int, dict[str, str]] = {}  # the time zone of each reservation
        for placed, occurrences, *_ in project.parts:
            reservation = placed.reservation
            is_idle = reservation.suspend or reservation.recurrence.type == "standing"
            if is_idle or reservation.spec.rehearses or hub.cluster is not placed.cluster:
                continue
            names = {one.name for one in placed.classes if counts_sessions_of(one, hub)}
            for occurrence in occurrences if names else ():
                counts[occurrence.start] += sum(n for name, n in occurrence.seats if name in names)
                by_start.setdefault(occurrence.start, {})[reservation.name] = occurrence.zone
        start, most = max(counts.items(), key=lambda item: (item[1], -item[0]), default=(0, 0))
        if not limit or most <= limit:
            continue
        zones = by_start[start]
        when = local_text(start, named(next(iter(zones.values()))))
        message = (
            f"{most} people may come at the same time, at the start of {', '.join(sorted(zones))} on "
            f"{when}, and the hub starts at most {limit} servers at a time: it turns the others away "
            "until these run."
        )
        fix = f"Write hub.concurrentSpawnLimit: {most}, if your API server can take it; 0 is no limit."
        yield hub.hub.written.problem("B265", path, message, fix)


# Classes of Renku


def _check_renku(
    classes: Sequence[ResourceClass], known: "Sequence[RenkuClass]", file: str
) -> Iterator[Problem]:
    by_id = {renku_class.id: renku_class for renku_class in known}
    for resource_class in classes:
        number, sessions = resource_class.renku_id, resource_class.sessions
        if number is None or sessions is None or sessions.source != "renku":
            continue
        if number in by_id:
            yield from _too_small(resource_class, [by_id[number]])
            yield from _misplaced(resource_class, [by_id[number]])
        else:
            message = f"no class in {file} has the id {number}."
            fix = "Write the id of the class in Renku, or save the resource pools again."
            yield resource_class.origin.problem("B266", ("spec", "renkuId"), message, fix)


# Size


def _too_small(
    resource_class: ResourceClass, counted: "Sequence[ProfileSession | RenkuClass]"
) -> Iterator[Problem]:
    """Report each resource of which a session requests more than a placeholder, with the largest session."""
    own, overhead = resource_class.requests, resource_class.overhead
    for name in dict.fromkeys(name for session in counted for name in session.requests):
        largest = max(counted, key=lambda session: _amount(session.requests, name))
        asked = largest.requests
        if _amount(own, name) < _amount(asked, name) + _amount(overhead, name):
            besides = f" and have an overhead of {overhead[name]}" if name in overhead else ""
            message = (
                f"{largest.phrase} request {name} {asked[name]}{besides}, but a placeholder of class "
                f"{resource_class.name} holds {own.get(name, 'none')}."
            )
            narrow = (
                ", or narrow sessions.selector to smaller profiles" if resource_class.renku_id is None else ""
            )
            fix = f"Write {name}: {asked[name]}{narrow}."
            path: Path = ("requests", name) if name in own else ("requests",)
            yield resource_class.origin.problem("B085", ("spec", *path), message, fix)


def _without_devices(resource_class: ResourceClass, counted: "Sequence[ProfileSession]") -> Iterator[Problem]:
    """Report sessions that have more device claims than a placeholder. Templates may have any names."""
    largest = max(counted, key=lambda session: len(session.claims), default=None)
    own = [claim.name for claim in resource_class.resource_claims]
    if largest is not None and len(largest.claims) > len(own):
        message = (
            f"{largest.phrase} claim devices ({', '.join(largest.claims)}), but a placeholder of class "
            f"{resource_class.name} claims {', '.join(own) or 'none'}."
        )
        fix = "Write resourceClaims with the DeviceClass of each, or narrow sessions.selector."
        path: Path = ("spec", "resourceClaims") if own else ("spec",)
        yield resource_class.origin.problem("B085", path, message, fix)


def _amount(amounts: Mapping[str, str], name: str) -> int:
    return parse(amounts.get(name, "0")) or 0


# Place


def _misplaced(
    resource_class: ResourceClass, counted: "Sequence[ProfileSession | RenkuClass]"
) -> Iterator[Problem]:
    """Report the first profile whose sessions may run on other nodes, by labels and by taints.

    Of Renku, not all that a session has is known, so that only what the class lacks is reported.
    """
    placed = resource_class.pod.placement
    labels = next(((key,) for key in ("nodeSelector", "affinity") if key in placed), ())
    taints = ("tolerations",) if "tolerations" in placed else ()
    there = "profile" if resource_class.renku_id is None else "class in Renku"
    for lacking, path, keys in (
        (_lacking_labels, labels, "nodeSelector and affinity"),
        (_lacking_taints, taints, "tolerations"),
    ):
        for session in counted:
            theirs = Placement.model_validate(session.placement)
            lacks = lacking(theirs, resource_class.pod)
            more = lacking(resource_class.pod, theirs) if resource_class.renku_id is None else ""
            if lacks or more:
                why = f"only the sessions have {lacks}" if lacks else f"only the class has {more}"
                message = (
                    f"placeholders of class {resource_class.name} and {session.phrase} may run on different "
                    f"nodes: {why}."
                )
                fix = f"Write the {keys} of the {there}."
                yield resource_class.origin.problem("B085", ("spec", *path), message, fix)
                break


_Requirements = set[tuple[str, str]]  # of node labels, and what each must be: "=a|b", " Exists"


def _lacking_labels(of: Placement, other: Placement) -> str:
    """Return requirements of one pod that another has not: each of its terms must hold a whole one."""
    terms, others = _terms(of), _terms(other)
    for term in others:
        named = {key for key, how in term if how[0] == "="}
        missing = [
            {(key, how) for key, how in wanted - term if how != " Exists" or key not in named}
            for wanted in terms
        ]
        if all(missing):
            return ", ".join(sorted(f"{key}{how}" for key, how in missing[0]))
    return ""


def _terms(pod: Placement) -> list[_Requirements]:
    """Return the node labels that a pod requires, as terms of which one must hold."""
    selected = {(key, f"={value}") for key, value in (pod.node_selector or {}).items()}
    required = pod.affinity and pod.affinity.node_affinity and pod.affinity.node_affinity.required
    if not required:
        return [selected]
    terms = []
    for term in required.node_selector_terms:
        found = set(selected)
        for one in term.match_expressions or ():
            values = "|".join(sorted(one.values or ()))
            found.add(
                (one.key, f"={values}" if one.operator == "In" else f" {one.operator} {values}".rstrip())
            )
        terms.append(found)
    return terms


def _lacking_taints(of: Placement, other: Placement) -> str:
    """Return the taints that one pod tolerates and another does not."""
    taints = [
        taint_text(toleration)
        for toleration in filter(names_a_taint, of.tolerations or ())
        if not any(may_match_same_taint(toleration, tolerated) for tolerated in other.tolerations or ())
    ]
    return f"tolerations of {', '.join(taints)}" if taints else ""
