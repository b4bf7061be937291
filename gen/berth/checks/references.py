"""Check references: classes, calendars, terms, capacities and clusters that documents name, and sessions
they count.
"""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from berth.checks.project import Project
from berth.core.sessions import RENKU_PROJECT
from berth.dates.exceptions import DATES_OF_MACHINES, entry_path
from berth.findings import Origin, Path, Problem
from berth.manifests.placed import class_names, cluster_named, cluster_of, pool_behaviors
from berth.schema.declared import TERM, Declared, Reference
from berth.schema.documentproblems import choice, nearest, shown
from berth.schema.reservation import Reservation
from berth.schema.values import ResourceClass, Seats, Site

if TYPE_CHECKING:
    from berth.schema.policies import MatchSpec


def check_named_cluster(
    origin: Origin, name: str, site: Site, path: Path = ("spec", "cluster")
) -> Iterator[Problem]:
    """Check that a document's cluster exists. Without a name it is the site's only one."""
    clusters = tuple(cluster.name for cluster in site.clusters)
    if not name and len(clusters) > 1:
        message = f"cluster is missing, and the site has {len(clusters)}."
        yield origin.problem("B011", ("spec",), message, f"Add cluster: one of {', '.join(clusters)}.")
    elif name and name not in clusters:
        message = f"no cluster named {shown(name)} in the Site."
        yield origin.problem("B061", path, message, choice(name, clusters))


def check_names_in_classes(project: Project) -> Iterator[Problem]:
    """Check the calendars of the Site, and the clusters of all classes and of their capacities."""
    declared, site = project.declared, project.site
    yield from _calendars(site.origin, ("spec",), site.calendars, declared)
    for resource_class in declared.classes.values():
        yield from check_named_cluster(resource_class.origin, resource_class.cluster, site)
        yield from _clouds(resource_class, declared, site)
    for capacity in declared.generic.values():
        yield from check_named_cluster(capacity.origin, capacity.cluster, site)


def _clouds(resource_class: ResourceClass, declared: Declared, site: Site) -> Iterator[Problem]:
    home = cluster_of(resource_class, site)
    for i, name in enumerate(resource_class.cloud_capacity):
        cloud, path = declared.capacities.get(name), ("spec", "cloudCapacity", i)
        if cloud is not None and home is not None:
            there = cluster_named(cloud.cluster, site)
            if there is not None and there is not home:
                message = f"CloudCapacity {name} is in cluster {there.name}, but the class is in {home.name}."
                yield resource_class.origin.problem(
                    "B161", path, message, "Use a CloudCapacity of the class's cluster."
                )


def check_capacities_of_classes(declared: Declared) -> Iterator[Problem]:
    """Check that the capacities of classes exist, and that no class names those of Karpenter and others."""
    for resource_class in declared.classes.values():
        origin, path = resource_class.origin, ("spec", "cloudCapacity")
        for i, name in enumerate(resource_class.cloud_capacity):
            yield from _unknown(Reference("CloudCapacity", name, origin, (*path, i)), declared)
        bought = [name for name in resource_class.cloud_capacity if name in declared.clouds]
        generic = [name for name in resource_class.cloud_capacity if name in declared.generic]
        if bought and generic:
            message = (
                f"{bought[0]} is capacity of Karpenter and {generic[0]} is generic: placeholders of the "
                f"class are restricted to nodes of {bought[0]}."
            )
            yield origin.problem("B200", path, message, "Name one of the two.")


def check_renku_ids(declared: Declared) -> Iterator[Problem]:
    """Check for classes with the same Renku id. Each is reported with another one."""
    by_id: dict[int, list[ResourceClass]] = {}
    for resource_class in declared.classes.values():
        if resource_class.renku_id is not None:
            by_id.setdefault(resource_class.renku_id, []).append(resource_class)
    for number, same in by_id.items():
        for resource_class in same if len(same) > 1 else ():
            other = same[1] if resource_class is same[0] else same[0]
            message = f"duplicate renkuId {number}: class {other.name} has it too."
            yield resource_class.origin.problem(
                "B060", ("spec", "renkuId"), message, "Give each class another id."
            )


def check_names_in_ceilings(project: Project) -> Iterator[Problem]:
    """Check the classes of all ceilings."""
    declared, site = project.declared, project.site
    names = tuple(sorted(declared.classes))
    for i, cluster in enumerate(site.clusters):
        for j, ceiling in enumerate(cluster.ceilings):
            for name in ceiling.seats:
                path = ("spec", "clusters", i, "ceilings", j, "seats", name)
                resource_class = declared.classes.get(name)
                home = cluster_of(resource_class, site) if resource_class else None
                if not declared.may_exist("ResourceClass", name):
                    message, fix = f"no ResourceClass named {shown(name)}.", choice(name, names)
                    yield site.origin.problem("B061", path, message, fix, at_key=True)
                elif home is not None and home is not cluster:
                    message = f"class {name} is in cluster {home.name}, so this ceiling never applies."
                    fix = f"Move it to cluster {home.name}, or remove it."
                    yield site.origin.problem("B016", path, message, fix, at_key=True)


def check_names_in_policies(project: Project) -> Iterator[Problem]:
    """Check what all policies name: a misspelled class, cluster or target would match nothing."""
    declared, site = project.declared, project.site
    for i, policy in enumerate(site.policies):
        for key, match in (("match", policy.match), ("unless", policy.unless)):
            path: Path = ("spec", "policies", i, key)
            for j, name in enumerate(match.classes if match else ()):
                yield from _unknown(
                    Reference("ResourceClass", name, site.origin, (*path, "classes", j)), declared
                )
            for j, name in enumerate(match.clusters if match else ()):
                yield from check_named_cluster(site.origin, name, site, (*path, "clusters", j))
            yield from _check_targets(match, site, (*path, "targets")) if match else ()


def _check_targets(match: "MatchSpec", site: Site, path: Path) -> Iterator[Problem]:
    """Check that the clusters of a policy list what its targets name."""
    clusters = [cluster for cluster in site.clusters if cluster.name in match.clusters or not match.clusters]
    if not clusters:
        return  # they are unknown
    targets = sorted(
        {begin for cluster in clusters for held in cluster.held for begin in held.target_beginnings}
    )
    where = f"cluster {' or '.join(match.clusters)}" if match.clusters else "a cluster"
    for i, pattern in enumerate(match.targets):
        if not any(_may_begin(begin, pattern) for begin in targets):
            message = f"{shown(pattern)} fits nothing that {where} lists in held."
            fix = choice(pattern, tuple(f"{begin}*" for begin in targets)) if targets else "Remove it."
            yield site.origin.problem("B061", (*path, i), message, fix)


def _may_begin(beginning: str, pattern: str) -> bool:
    """Return whether a pattern fits this beginning and some name after it, which has no slash."""
    parts = ((pattern[:length], pattern[length:]) for length in range(len(pattern) + 1))
    return any(
        fnmatchcase(beginning, begin) and "/" not in rest and (rest or begin.endswith("*"))
        for begin, rest in parts
    )


def check_names_in_reservation(reservation: Reservation, declared: Declared) -> Iterator[Problem]:
    """Check everything that a reservation names."""
    at, recurrence = reservation.origin, reservation.recurrence
    yield from _calendars(at, ("spec", "recurrence"), recurrence.calendars, declared)
    for i, name in enumerate(recurrence.within):
        yield from _unknown(Reference(TERM, name, at, ("spec", "recurrence", "within", i)), declared)
    if recurrence.capacity:
        yield from _unknown(Reference("CloudCapacity", recurrence.capacity, at, DATES_OF_MACHINES), declared)
    unknown = [
        problem
        for path, name in _named_classes(reservation)
        for problem in _unknown(Reference("ResourceClass", name, at, path), declared)
    ]
    if unknown:
        yield from unknown
        return
    classes = [declared.classes[name] for name in class_names(reservation) if name in declared.classes]
    yield from _places(reservation, classes)
    if reservation.sessions.project_template:
        yield from _templates(reservation, classes, declared.site)
    if reservation.spec.sessions is not None and not any(each.sessions for each in classes):
        names = ", ".join(resource_class.name for resource_class in classes)
        message = f"sessions has no effect: class {names} does not say what its sessions are."
        fix = "Add sessions to the class, or remove it here."
        yield reservation.problem("B029", ("spec", "sessions"), message, fix)
    behaviors = pool_behaviors(reservation)
    counted = [resource_class for resource_class in classes if behaviors[resource_class.name] != "none"]
    if counted:
        yield from _counted(reservation, counted)


def check_names_in_faulty(declared: Declared) -> Iterator[Problem]:
    """Check what faulty documents name."""
    for reference in declared.faulty:
        yield from _unknown(reference, declared)


def _calendars(origin: Origin, above: Path, names: tuple[str, ...], declared: Declared) -> Iterator[Problem]:
    for i, name in enumerate(names):
        yield from _unknown(Reference("Calendar", name, origin, (*above, "calendars", i)), declared)


def _unknown(reference: Reference, declared: Declared) -> Iterator[Problem]:
    """Report a reference to what nobody declares."""
    if declared.may_exist(reference.kind, reference.name):
        return
    kind, name, origin, path = reference
    if kind == "ResourceClass":
        fix = choice(name, tuple(sorted(declared.classes)))
    elif kind == TERM:
        fix = nearest(name, sorted(declared.terms), "Add it to `terms` of a Calendar; known:")
    else:
        known = declared.calendars if kind == "Calendar" else declared.capacities
        fix = nearest(name, sorted(known), f"Add a {kind} with this name; known:")
    yield origin.problem("B061", path, f"no {kind} named {shown(name)}.", fix)


def _named_classes(reservation: Reservation) -> Iterator[tuple[Path, str]]:
    """Yield each place that names a class: the reservation, and entries with seats of their own."""
    if not reservation.seats_listed:
        yield ("spec", "resourceClass"), reservation.seats[0][0]
        return
    for path, seats in written_seats(reservation):
        yield from (((*path, "seats", i, "resourceClass"), name) for i, (name, _) in enumerate(seats))


def written_seats(reservation: Reservation) -> Iterator[tuple[Path, Seats]]:
    """Yield the seats of the reservation, and of each line and move with seats of its own, with its path."""
    recurrence = reservation.recurrence
    yield ("spec", "provisioning"), reservation.seats
    for i, line in enumerate(recurrence.lines):
        if line.seats is not reservation.seats:
            yield entry_path(i, recurrence), line.seats
    for i, move in enumerate(recurrence.moves):
        yield ("spec", "recurrence", "moved", i, "to"), move.seats or ()


def _counting_line(reservation: Reservation, resource_class: str) -> tuple[Path, str]:
    """Return which behavior counts the sessions of a class, and the line that it comes from."""
    for i, name, scaling in reservation.scalings() if reservation.behavior == "none" else ():
        if name == resource_class and scaling.behavior != "none":
            return entry_path(i, reservation.recurrence), scaling.behavior
    return ("spec", "provisioning"), reservation.behavior


def _counted(reservation: Reservation, classes: list[ResourceClass]) -> Iterator[Problem]:
    """Check that sessions can be counted, and warn if all sessions of a class are."""
    for resource_class in classes:
        if resource_class.sessions is None:
            at, behavior = _counting_line(reservation, resource_class.name)
            message = (
                f"behavior {behavior} counts sessions, but class {resource_class.name} has no `sessions`."
            )
            fix = "Add sessions to the class, or write scaleDownBehavior: none."
            yield reservation.problem("B068", (*at, "scaleDownBehavior"), message, fix)
    if (
        reservation.sessions.course
        or not classes
        or not all(resource_class.sessions for resource_class in classes)
    ):
        return
    names = ", ".join(resource_class.name for resource_class in classes)
    message = f"every session of class {names} counts for this reservation, as in Renku."
    keys = "sessions.namespaces, matchLabels, matchAnnotations or projectTemplate"
    fix = f"To count only the sessions of this course, add {keys}."
    yield reservation.problem("B032", ("spec", "sessions"), message, fix)


def _places(reservation: Reservation, classes: list[ResourceClass]) -> Iterator[Problem]:
    """Check that each namespace of the course is one in which its classes have sessions.

    Which namespaces have a label, only the cluster knows.
    """
    if not all(one.sessions and one.sessions.namespace_names for one in classes):
        return
    known = {
        name
        for resource_class in classes
        if resource_class.sessions
        for name in resource_class.sessions.namespace_names
    }
    for i, name in enumerate(reservation.sessions.namespaces):
        if known and name not in known:
            class_names_text = ", ".join(resource_class.name for resource_class in classes)
            message = f"sessions of class {class_names_text} are not counted in namespace {shown(name)}."
            fix = choice(name, tuple(sorted(known)))
            path = ("spec", "sessions", "namespaces", i)
            yield reservation.origin.problem("B035", path, message, fix)


def _templates(
    reservation: Reservation, classes: list[ResourceClass], site: Site | None
) -> Iterator[Problem]:
    """Check that the sessions of each class have a project, and that its template can be looked up."""
    path = ("spec", "sessions", "projectTemplate")
    counted = [resource_class for resource_class in classes if resource_class.sessions]
    for resource_class in counted:
        if _has_projects(resource_class) is False:
            message = (
                f"sessions of class {resource_class.name} do not belong to a Renku project: none would count."
            )
            yield reservation.problem("B035", path, message, "Remove it, or use a class with source renku.")
        elif _has_projects(resource_class) is None:
            message = (
                f"sessions of class {resource_class.name} belong to a project only if they have the "
                f"annotation {RENKU_PROJECT}; those without it do not count."
            )
            fix = 'Remove it; if they have it, annotate berth.dev/ignore: "B074: <reason>".'
            yield reservation.problem("B074", path, message, fix)
    names = ", ".join(
        resource_class.name for resource_class in counted if _has_projects(resource_class) is not False
    )
    if names and site is not None and site.renku is None:
        message = (
            "the Site has no renku.url, so the template of a project cannot be looked up: "
            f"all sessions of class {names} count, whatever their template."
        )
        yield reservation.problem("B074", path, message, "Add renku.url to the Site.")


def _has_projects(resource_class: ResourceClass) -> bool | None:
    """Tell whether sessions of the class have projects; None if that depends on their annotations."""
    sessions = resource_class.sessions
    if sessions is None or sessions.source == "jupyterhub":
        return False
    return True if sessions.source == "renku" or sessions.group == "amalthea.dev" else None
