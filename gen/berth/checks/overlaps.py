"""Check that no two classes of a cluster recognize the same sessions: a session counts for one class only."""

from collections.abc import Iterator, Sequence

from berth.checks.project import Project
from berth.core.sessions import LabelRequirement, Recognition, may_overlap
from berth.findings import Problem
from berth.manifests.placed import behaviors_by_class
from berth.manifests.timetabletext import recognition_of
from berth.schema.declared import Declared
from berth.schema.resourceclass import BY_LABEL
from berth.schema.values import Cluster


def check_classes_overlap(project: Project) -> Iterator[Problem]:
    """Check all classes. A class is reported if others may take its sessions; the first by rank is named.

    Windows of behavior `none` take sessions, too, but nothing follows from sessions that they lose.
    """
    declared, site = project.declared, project.site
    behaviors: dict[str, set[str]] = {}
    for reservation in declared.reservations:
        for name, of_class in behaviors_by_class(reservation).items():
            behaviors.setdefault(name, set()).update(of_class)
    for cluster in site.clusters:
        ranked = sorted(_recognitions(project, cluster).items(), key=lambda item: item[1].rank(item[0]))
        for place, (name, own) in enumerate(ranked):
            winners = [other for other, recognition in ranked[:place] if _is_shared(own, recognition)]
            if winners and behaviors.get(name) != {"none"}:
                yield _problem(declared, name, winners)


def _recognitions(project: Project, cluster: Cluster) -> dict[str, Recognition]:
    here = [resource_class for resource_class, home in project.homes if home is cluster]
    return {found.name: recognition for found in here if (recognition := recognition_of(found))}


def _is_shared(recognition: Recognition, other: Recognition) -> bool:
    """Tell whether a session may fit both. Two classes with one renkuId are an error of their own."""
    if recognition.source == other.source == "renku" or not may_overlap(recognition, other):
        return False
    requirements = (*recognition.required_labels, *other.required_labels)
    return all(
        _can_hold([requirement for requirement in requirements if requirement.key == key])
        for key, *_ in requirements
    )


def _can_hold(requirements: Sequence[LabelRequirement]) -> bool:
    """Tell whether any value of a label, or its absence, meets all requirements, which have one key."""
    (key,) = {requirement.key for requirement in requirements}
    named = [value for requirement in requirements for value in requirement.values]
    other = "-" * 64  # longer than any value of a label
    return any(
        all(requirement.holds(labels) for requirement in requirements)
        for labels in ({}, *({key: value} for value in (*named, other)))
    )


def _problem(declared: Declared, name: str, winners: Sequence[str]) -> Problem:
    resource_class = declared.classes[name]
    more = f" (and {len(winners) - 1} more)" if len(winners) > 1 else ""
    places = {one.sessions.where for one in (resource_class, declared.classes[winners[0]]) if one.sessions}
    is_certain = len(places) == 1 or not any(text.startswith(BY_LABEL) for text in places)
    verb = "recognizes" if is_certain else "may recognize"
    message = (
        f"class {winners[0]}{more} {verb} the same sessions. A session counts for one class only: "
        f"for {winners[0]} before {name}, where both have an open window for it."
    )
    fix = "Give them selectors that exclude each other, such as one label with different values."
    return resource_class.origin.problem("B075", ("spec", "sessions"), message, fix)
