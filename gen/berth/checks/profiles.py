"""Compare classes with the profiles of the JupyterHub whose sessions they count.

A placeholder only helps a session that fits in its room and may run on its node.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from berth.checks.jobplacement import may_match_same_taint, names_a_taint, taint_text
from berth.findings import Path, Problem, severity
from berth.manifests.placed import cluster_of
from berth.manifests.timetable import recognition_of
from berth.quantity import parse
from berth.reading.source import Source
from berth.schema.declared import Declared
from berth.schema.pod import Placement
from berth.schema.values import ResourceClass, Site

if TYPE_CHECKING:
    from berth.schema.z2jh import Session

SMALLER, ELSEWHERE, UNREADABLE = "B085", "B086", "B087"


def of_classes(declared: Declared, site: Site, read: Callable[[str], Source]) -> Iterator[Problem]:
    """Compare the classes of each cluster that has a hub. `read` returns the file of its values."""
    for i, cluster in enumerate(site.clusters):
        if not cluster.z2jh:
            continue
        found = _sessions(cluster.z2jh, read)
        if isinstance(found, str):
            message = f"no class is compared with {cluster.z2jh}: {found}"
            path: Path = ("spec", "clusters", i, "z2jh")
            yield Problem(UNREADABLE, *site.origin[:2], path, message, "Correct the file, or its path.")
            continue
        for one in declared.classes.values():
            is_counted = one.sessions is not None and one.sessions.source == "jupyterhub"
            if is_counted and cluster_of(one, site) is cluster:
                counted = counted_sessions(one, found)
                yield from _too_small(one, counted)
                yield from _misplaced(one, counted)


def _sessions(path: str, read: Callable[[str], Source]) -> "list[Session] | str":
    """Return the sessions of a hub, or why they are not known."""
    from berth.schema.z2jh import MOST, read_values, sessions  # noqa: PLC0415 - few sites name such a file

    try:
        source = read(path)
    except OSError as error:
        return f"the file cannot be read: {error.strerror}."
    values, problems = read_values(source)
    if values is None:
        from berth.reading.place import locate  # noqa: PLC0415 - slow, and only needed with problems

        first = locate(problems, [source], severity)[0]
        return ": ".join(filter(None, (f"line {first.line}", first.path, first.message)))
    found = list(islice(sessions(values), MOST + 1))
    return found if len(found) <= MOST else f"its profiles have more than {MOST} combinations of choices."


def counted_sessions(one: ResourceClass, known: "Sequence[Session]") -> "list[Session]":
    """Return the sessions that a class counts, by their labels.

    Labels that no profile sets come from elsewhere, such as a hook. If the class selects by such labels
    alone, it is compared with the profile of its name.
    """
    recognition = recognition_of(one)
    selector = () if recognition is None else recognition.selector
    keys = {key for session in known for key in session.labels}
    told = [requirement for requirement in selector if requirement.key in keys]
    if selector and not told:
        return [session for session in known if session.name == one.name]
    return [session for session in known if all(requirement.holds(session.labels) for requirement in told)]


def _problem(code: str, one: ResourceClass, path: Path, message: str, fix: str) -> Problem:
    return Problem(code, *one.origin[:2], ("spec", *path), message, fix)


# Size


def _too_small(one: ResourceClass, counted: "Sequence[Session]") -> Iterator[Problem]:
    """Report each resource of which a session requests more than a placeholder, with the largest session."""
    own = dict(one.requests)
    for name in dict.fromkeys(name for session in counted for name in session.spawner.resources[0]):
        largest = max(counted, key=lambda session: _amount(session.spawner.resources[0], name))
        asked = largest.spawner.resources[0]
        if _amount(own, name) < _amount(asked, name):
            message = (
                f"{largest.phrase} request {name} {asked[name]}, but a placeholder of class {one.name} holds "
                f"{own.get(name, 'none')}."
            )
            fix = f"Write {name}: {asked[name]}, or narrow sessions.selector to smaller profiles."
            path: Path = ("requests", name) if name in own else ("requests",)
            yield _problem(SMALLER, one, path, message, fix)


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


def _misplaced(one: ResourceClass, counted: "Sequence[Session]") -> Iterator[Problem]:
    """Report the first profile whose sessions may run on other nodes, by labels and by taints."""
    said = one.pod.placement
    labels = next(((key,) for key in ("nodeSelector", "affinity") if key in said), ())
    taints = ("tolerations",) if "tolerations" in said else ()
    yield from _differing(one, counted, _label_difference, labels, "nodeSelector and affinity")
    yield from _differing(one, counted, _taint_difference, taints, "tolerations")


def _differing(
    one: ResourceClass,
    counted: "Sequence[Session]",
    difference: Callable[[Placement, Placement], str],
    path: Path,
    keys: str,
) -> Iterator[Problem]:
    for session in counted:
        why = difference(one.pod, Placement.model_validate(session.spawner.placement))
        if why:
            message = (
                f"placeholders of class {one.name} and {session.phrase} may run on different nodes: {why}."
            )
            yield _problem(ELSEWHERE, one, path, message, f"Write the {keys} of the profile.")
            return


def _label_difference(ours: Placement, theirs: Placement) -> str:
    """Return the node labels that only one of two pods requires; nothing if they require the same."""
    own, other = _terms(ours), _terms(theirs)
    for whose, wanted, terms in (
        ("only the sessions require", other, own),
        ("only the class requires", own, other),
    ):
        for term in terms:
            if not any(_is_implied(one, term) for one in wanted):
                lacking = [one for one in wanted[0] if not any(has.implies(one) for has in term)]
                return f"{whose} {', '.join(map(str, lacking))}"
    return ""


def _is_implied(wanted: _Term, by: _Term) -> bool:
    return all(any(has.implies(one) for has in by) for one in wanted)


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
        (*selected, *(_Requirement(one.key, one.operator, frozenset(one.values or ())) for one in listed))
        for listed in (term.match_expressions or () for term in required.node_selector_terms)
    ]


def _taint_difference(ours: Placement, theirs: Placement) -> str:
    """Return the taints that only one of two pods tolerates, or nothing."""
    for whose, have, other in (
        ("only the sessions tolerate", theirs, ours),
        ("only the class tolerates", ours, theirs),
    ):
        taints = [
            taint_text(one)
            for one in filter(names_a_taint, have.tolerations or ())
            if not any(may_match_same_taint(one, found) for found in other.tolerations or ())
        ]
        if taints:
            return f"{whose} {', '.join(taints)}"
    return ""
