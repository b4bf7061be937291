"""Compare classes with the profiles of the JupyterHub whose sessions they count, and with Renku's classes.

A placeholder only helps a session that fits in its room and may run on its node.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from berth.checks import hubchecks
from berth.checks.hubchecks import ComparedHub, counts_sessions_of
from berth.core.sessions import LabelRequirement
from berth.findings import ERROR, Finding, Path, Problem
from berth.karpenter.taints import may_match_same_taint, names_a_taint, taint_text
from berth.manifests.placed import cluster_of
from berth.manifests.timetabletext import recognition_of
from berth.output.yamltext import flow
from berth.quantity import parse
from berth.reading.source import Source
from berth.schema.declared import Declared
from berth.schema.documentproblems import IDLE_KEY
from berth.schema.pod import Placement
from berth.schema.values import Cluster, HubFiles, ResourceClass, Site

if TYPE_CHECKING:
    from berth.schema.renkuclasses import RenkuClass
    from berth.schema.z2jh import Hub, ProfileSession

_OF_KUBESPAWNER = {"app", "component", "release", "chart", "heritage", "app.kubernetes.io/component"}
UNLIKE, UNREADABLE, UNKNOWN_ID = "B085", "B087", "B266"

ReadFile = Callable[[str], Source]
"""Reads a file of the project. Raises OSError."""


# Reading


class HubReadings(NamedTuple):
    """The hubs whose values are known, and the problems of their files."""

    hubs: tuple[ComparedHub, ...]
    problems: tuple[Problem | Finding, ...]


def read_hubs(site: Site, read: ReadFile) -> HubReadings:
    """Read the values of the hubs of each cluster."""
    hubs: list[ComparedHub] = []
    problems: list[Problem | Finding] = []
    for i, cluster in enumerate(site.clusters):
        for files in cluster.hubs:
            path: Path = ("spec", "clusters", i, "z2jh")
            path = path if files.position is None else (*path, files.position)
            hub = _read_hub(files, cluster, path, read, problems)
            if isinstance(hub, str):
                message = f"no class is compared with {', '.join(files.files)}: {hub}"
                fix = "Correct the file, or its path."
                problems.append(site.origin.problem(UNREADABLE, path, message, fix))
            else:
                hubs.append(hub)
    return HubReadings(tuple(hubs), tuple(problems))


def _read_hub(
    files: HubFiles, cluster: Cluster, path: Path, read: ReadFile, problems: list[Problem | Finding]
) -> ComparedHub | str:
    """Return a hub, or why its values are not known."""
    from berth.schema.z2jh import read_hub  # noqa: PLC0415 - few sites name such a file

    sources = []
    for file in files.files:
        try:
            sources.append(read(file))
        except OSError as error:
            which = f"{file}: " if len(files.files) > 1 else ""
            return f"{which}the file cannot be read: {error.strerror}."
    reading = read_hub(sources, files.prefix, files.release)
    if reading.hub is None:
        return _first_fault(reading.problems, sources)
    problems += reading.problems
    return ComparedHub(cluster, files, path, reading.hub)


def _first_fault(problems: Sequence[Problem | Finding], sources: Sequence[Source]) -> str:
    from berth.reading.place import locate  # noqa: PLC0415 - slow, and only needed with problems

    findings = locate(problems, sources)
    first = next((finding for finding in findings if finding.severity == ERROR), findings[0])
    which = f"{first.file} " if len({source.file for source in sources}) > 1 else ""
    return ": ".join(filter(None, (f"{which}line {first.line}", first.path, f"{first.message} {first.fix}")))


# Classes of a hub


def check_hub_profiles(declared: Declared, site: Site, hubs: Sequence[ComparedHub]) -> Iterator[Problem]:
    """Compare the classes of each cluster with the profiles of its hubs."""
    for hub in hubs:
        of_cluster = [
            resource_class
            for resource_class in declared.classes.values()
            if resource_class.sessions is not None
            and resource_class.sessions.source == "jupyterhub"
            and cluster_of(resource_class, site) is hub.cluster
        ]
        classes = [resource_class for resource_class in of_cluster if counts_sessions_of(resource_class, hub)]
        if of_cluster and not classes:
            path = (*hub.path, "namespace")
            message = f"no class counts sessions in namespace {hub.files.namespace}."
            fix = "Name the namespace of sessions.namespaces, or import classes of this hub."
            yield site.origin.problem(IDLE_KEY, path, message, fix)
        pairs = [
            (resource_class, counted_sessions(resource_class, hub.hub.sessions)) for resource_class in classes
        ]
        for resource_class, counted in pairs:
            yield from _too_small(resource_class, counted)
            yield from _without_devices(resource_class, counted)
            yield from _misplaced(resource_class, counted)
        yield from hubchecks.check_hub(hub, pairs)


def check_selectors(declared: Declared, site: Site, hubs: Sequence[ComparedHub]) -> Iterator[Problem]:
    """Check that the hubs whose sessions a class counts set the labels of its selector."""
    for resource_class in declared.classes.values():
        recognition = recognition_of(resource_class)
        own = [
            hub
            for hub in hubs
            if hub.cluster is cluster_of(resource_class, site) and counts_sessions_of(resource_class, hub)
        ]
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
            fix = (
                f"{_where_to_label(resource_class, own[0].hub)}: {flow(missing)}; if something else sets it, "
                f'annotate berth.dev/ignore: "{UNLIKE}: <reason>".'
            )
            yield resource_class.origin.problem(UNLIKE, ("spec", "sessions", "selector"), message, fix)


def _where_to_label(resource_class: ResourceClass, hub: "Hub") -> str:
    title = next((session.title for session in hub.sessions if session.name == resource_class.name), "")
    if not any(session.picked for session in hub.sessions):
        return "Add to singleuser: extraLabels"
    whose = f'profile "{title}"' if title else "its profile"
    return f"Add to kubespawner_override of {whose}: extra_labels"


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


def counted_sessions(
    resource_class: ResourceClass, known: "Sequence[ProfileSession]"
) -> "list[ProfileSession]":
    """Return the sessions that a class counts, by their labels.

    Labels that no profile sets come from elsewhere, such as a hook. If the class selects by such labels
    alone, it is compared with the profile of its name, which may begin with its namespace.
    """
    recognition = recognition_of(resource_class)
    selector = () if recognition is None else recognition.selector
    keys = {key for session in known for key in session.labels}
    requirements = [requirement for requirement in selector if requirement.key in keys]
    if selector and not requirements:
        namespaces = resource_class.sessions.namespace_names if resource_class.sessions is not None else ()
        return [
            session
            for session in known
            if resource_class.name
            in (session.name, *(f"{namespace}-{session.name}" for namespace in namespaces))
        ]
    return [
        session for session in known if all(requirement.holds(session.labels) for requirement in requirements)
    ]


# Classes of Renku


def check_renku_classes(declared: Declared, site: Site, read: ReadFile) -> Iterator[Problem | Finding]:
    """Compare the classes of each cluster that has a file of Renku's resource pools."""
    for i, cluster in enumerate(site.clusters):
        if not cluster.renku_classes:
            continue
        renku_classes = _read_pools(cluster.renku_classes, read)
        if isinstance(renku_classes, str):
            message = f"no class is compared with {cluster.renku_classes}: {renku_classes}"
            path: Path = ("spec", "clusters", i, "renkuClasses")
            fix = "Correct the file, or its path."
            yield site.origin.problem(UNREADABLE, path, message, fix)
            continue
        known = {renku_class.id: renku_class for renku_class in renku_classes}
        for resource_class in declared.classes.values():
            is_renku = resource_class.sessions is not None and resource_class.sessions.source == "renku"
            if (
                not is_renku
                or resource_class.renku_id is None
                or cluster_of(resource_class, site) is not cluster
            ):
                continue
            renku_class = known.get(resource_class.renku_id)
            if renku_class is None:
                message = f"no class in {cluster.renku_classes} has the id {resource_class.renku_id}."
                fix = "Write the id of the class in Renku, or save the resource pools again."
                yield resource_class.origin.problem(UNKNOWN_ID, ("spec", "renkuId"), message, fix)
            else:
                yield from _too_small(resource_class, [renku_class])
                yield from _misplaced(resource_class, [renku_class], theirs_only=True)


def _read_pools(path: str, read: ReadFile) -> "tuple[RenkuClass, ...] | str":
    """Return the classes of Renku, or why they are not known."""
    from berth.schema.renkuclasses import read_pools  # noqa: PLC0415 - few sites name such a file

    try:
        source = read(path)
    except OSError as error:
        return f"the file cannot be read: {error.strerror}."
    reading = read_pools(source)
    return _first_fault(reading.problems, [source]) if reading.classes is None else reading.classes


class _Sessions(Protocol):
    """What sessions of one kind request, and where they may run."""

    @property
    def phrase(self) -> str: ...

    @property
    def requests(self) -> Mapping[str, str]: ...

    @property
    def placement(self) -> Mapping[str, object]: ...


# Size


def _too_small(resource_class: ResourceClass, counted: Sequence[_Sessions]) -> Iterator[Problem]:
    """Report each resource of which a session requests more than a placeholder, with the largest session."""
    own, overhead = dict(resource_class.requests), dict(resource_class.overhead)
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
            yield resource_class.origin.problem(UNLIKE, ("spec", *path), message, fix)


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
        yield resource_class.origin.problem(UNLIKE, path, message, fix)


def _amount(amounts: Mapping[str, str], name: str) -> int:
    return parse(amounts.get(name, "0")) or 0


# Place


class _Requirement(NamedTuple):
    """A requirement of one node label."""

    key: str
    operator: str
    values: frozenset[str]

    def implies(self, other: "_Requirement") -> bool:
        """Tell whether each node that meets this requirement meets the other one, too."""
        if self == other:
            return True
        if self.key != other.key or self.operator != "In":
            return False
        if other.operator == "In":
            return self.values <= other.values
        return other.operator == "Exists" or (other.operator == "NotIn" and not self.values & other.values)

    def __str__(self) -> str:
        values = "|".join(sorted(self.values))
        if self.operator == "In":
            return f"{self.key}={values}"
        return f"{self.key} {self.operator} {values}".rstrip()


_Term = tuple[_Requirement, ...]


def _misplaced(
    resource_class: ResourceClass, counted: Sequence[_Sessions], *, theirs_only: bool = False
) -> Iterator[Problem]:
    """Report the first profile whose sessions may run on other nodes, by labels and by taints.

    `theirs_only`: the sessions may have more than is known, so that only what the class lacks is reported.
    """
    placed = resource_class.pod.placement
    labels = next(((key,) for key in ("nodeSelector", "affinity") if key in placed), ())
    taints = ("tolerations",) if "tolerations" in placed else ()
    for difference, path, keys in (
        (_label_difference, labels, "nodeSelector and affinity"),
        (_taint_difference, taints, "tolerations"),
    ):
        for session in counted:
            placement = Placement.model_validate(session.placement)
            why = difference(resource_class.pod, placement, theirs_only)
            if why:
                whose = f"placeholders of class {resource_class.name} and {session.phrase}"
                message = f"{whose} may run on different nodes: {why}."
                there = "profile" if resource_class.renku_id is None else "class in Renku"
                yield resource_class.origin.problem(
                    UNLIKE, ("spec", *path), message, f"Write the {keys} of the {there}."
                )
                break


def _label_difference(ours: Placement, of_hub: Placement, theirs_only: bool) -> str:
    """Return the node labels that only one of two pods requires; nothing if they require the same."""
    own, other = _terms(ours), _terms(of_hub)
    sides = (("only the sessions require", other, own), ("only the class requires", own, other))
    for whose, wanted, terms in sides[: 1 if theirs_only else 2]:
        for term in terms:
            if not any(_is_implied(requirement, term) for requirement in wanted):
                lacking = [
                    requirement
                    for requirement in wanted[0]
                    if not any(has.implies(requirement) for has in term)
                ]
                return f"{whose} {', '.join(map(str, lacking))}"
    return ""


def _is_implied(wanted: _Term, by: _Term) -> bool:
    return all(any(has.implies(requirement) for has in by) for requirement in wanted)


def _terms(pod: Placement) -> list[_Term]:
    """Return the node labels that a pod requires, as terms of which one must hold."""
    selected = [
        _Requirement(key, "In", frozenset([value])) for key, value in (pod.node_selector or {}).items()
    ]
    affinity = pod.affinity and pod.affinity.node_affinity
    required = affinity and affinity.required
    if not required:
        return [tuple(selected)]
    return [
        (
            *selected,
            *(
                _Requirement(expression.key, expression.operator, frozenset(expression.values or ()))
                for expression in listed
            ),
        )
        for listed in (term.match_expressions or () for term in required.node_selector_terms)
    ]


def _taint_difference(ours: Placement, of_hub: Placement, theirs_only: bool) -> str:
    """Return the taints that only one of two pods tolerates, or nothing."""
    sides = (("only the sessions tolerate", of_hub, ours), ("only the class tolerates", ours, of_hub))
    for whose, have, other in sides[: 1 if theirs_only else 2]:
        taints = [
            taint_text(toleration)
            for toleration in filter(names_a_taint, have.tolerations or ())
            if not any(may_match_same_taint(toleration, tolerated) for tolerated in other.tolerations or ())
        ]
        if taints:
            return f"{whose} {', '.join(taints)}"
    return ""
