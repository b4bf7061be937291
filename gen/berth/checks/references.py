"""Check references: classes, calendars, capacities and clusters that documents name, and sessions they
count.
"""

from collections.abc import Iterator

from berth.core.sessions import RENKU_PROJECT
from berth.findings import Path, Problem
from berth.manifests.placed import class_names, cluster_named, cluster_of
from berth.schema.declared import Declared
from berth.schema.renkunames import their_path
from berth.schema.report import Origin, choice, nearest, shown
from berth.schema.values import Reservation, ResourceClass, Site

UNKNOWN_CLASS, UNKNOWN_CALENDAR, UNKNOWN_CLUSTER, UNCOUNTABLE, NARROWS_NOTHING, ELSEWHERE = (
    "B061",
    "B062",
    "B063",
    "B068",
    "B032",
    "B035",
)
DOUBTFUL_TEMPLATE = "B074"
UNKNOWN_CLOUD, OTHER_CLUSTER = "B160", "B161"


def _problem(code: str, origin: Origin, path: Path, message: str, fix: str) -> Problem:
    return Problem(code, *origin[:2], (*origin.prefix, *path), message, fix)


def of_cluster(origin: Origin, name: str, site: Site) -> Iterator[Problem]:
    """Check that a document's cluster exists. Without a name it is the site's only one."""
    clusters = tuple(cluster.name for cluster in site.clusters)
    if not name and len(clusters) > 1:
        message = f"cluster is missing, and the site has {len(clusters)}."
        yield _problem("B011", origin, ("spec",), message, f"Add cluster: one of {', '.join(clusters)}.")
    elif name and name not in clusters:
        message = f"no cluster named {shown(name)} in the Site."
        yield _problem(UNKNOWN_CLUSTER, origin, ("spec", "cluster"), message, choice(name, clusters))


def of_classes(declared: Declared, site: Site) -> Iterator[Problem]:
    """Check the clusters and capacities of all classes."""
    for found in declared.classes.values():
        yield from of_cluster(found.origin, found.cluster, site)
        yield from _clouds(found, declared, site)


def _clouds(found: ResourceClass, declared: Declared, site: Site) -> Iterator[Problem]:
    home = cluster_of(found, site)
    for i, name in enumerate(found.cloud_capacity):
        cloud, path = declared.clouds.get(name), ("spec", "cloudCapacity", i)
        if not declared.may_exist("CloudCapacity", name):
            known = tuple(sorted(declared.clouds))
            fix = nearest(name, known, "Add a CloudCapacity with this name; known:")
            yield _problem(UNKNOWN_CLOUD, found.origin, path, f"no CloudCapacity named {shown(name)}.", fix)
        elif cloud is not None and home is not None:
            there = cluster_named(cloud.cluster, site)
            if there is not None and there is not home:
                message = f"CloudCapacity {name} is in cluster {there.name}, but the class is in {home.name}."
                yield _problem(
                    OTHER_CLUSTER, found.origin, path, message, "Use a CloudCapacity of the class's cluster."
                )


def of_renku_ids(declared: Declared) -> Iterator[Problem]:
    """Check for classes with the same Renku id. Each is reported with another one."""
    by_id: dict[int, list[ResourceClass]] = {}
    for found in declared.classes.values():
        if found.renku_id is not None:
            by_id.setdefault(found.renku_id, []).append(found)
    for number, same in by_id.items():
        for found in same if len(same) > 1 else ():
            other = same[1] if found is same[0] else same[0]
            message = f"duplicate renkuId {number}: class {other.name} has it too."
            yield _problem("B060", found.origin, ("spec", "renkuId"), message, "Give each class another id.")


def of_ceilings(declared: Declared, site: Site) -> Iterator[Problem]:
    """Check the classes of all ceilings."""
    names = tuple(sorted(declared.classes))
    for i, cluster in enumerate(site.clusters):
        for j, ceiling in enumerate(cluster.ceilings):
            for name, _ in ceiling.seats:
                path = ("spec", "clusters", i, "ceilings", j, "seats", name)
                found = declared.classes.get(name)
                home = cluster_of(found, site) if found else None
                if not declared.may_exist("ResourceClass", name):
                    message, fix = f"no ResourceClass named {shown(name)}.", choice(name, names)
                    yield _problem(UNKNOWN_CLASS, site.origin, path, message, fix)._replace(at_key=True)
                elif home is not None and home is not cluster:
                    message = f"class {name} is in cluster {home.name}, so this ceiling never applies."
                    fix = f"Move it to cluster {home.name}, or remove it."
                    yield _problem("B016", site.origin, path, message, fix)._replace(at_key=True)


def of_reservation(reservation: Reservation, declared: Declared) -> Iterator[Problem]:
    """Check everything that a reservation names."""
    yield from _calendars(reservation, declared)
    known = True
    for path, name in _named_classes(reservation):
        if not declared.may_exist("ResourceClass", name):
            known = False
            fix = choice(name, tuple(sorted(declared.classes)))
            message = f"no ResourceClass named {shown(name)}."
            yield _problem(UNKNOWN_CLASS, reservation.origin, path, message, fix)
    if not known:
        return
    classes = [declared.classes[name] for name in class_names(reservation) if name in declared.classes]
    yield from _places(reservation, classes)
    if reservation.sessions.project_template:
        yield from _templates(reservation, classes, declared.site)
    if reservation.behavior != "none":
        yield from _counted(reservation, classes)


def _calendars(reservation: Reservation, declared: Declared) -> Iterator[Problem]:
    for i, name in enumerate(reservation.recurrence.calendars):
        if not declared.may_exist("Calendar", name):
            path: Path = ("spec", "recurrence", "calendars", i)
            fix = nearest(name, tuple(sorted(declared.calendars)), "Add a Calendar with this name; known:")
            yield _problem(
                UNKNOWN_CALENDAR, reservation.origin, path, f"no Calendar named {shown(name)}.", fix
            )


def _named_classes(reservation: Reservation) -> Iterator[tuple[Path, str]]:
    """Yield each place that names a class: the reservation, and entries with seats of their own."""
    if reservation.renku:
        return
    if not reservation.seats_listed:
        yield ("spec", "resourceClass"), reservation.seats[0][0]
        return
    for i, (name, _) in enumerate(reservation.seats):
        yield ("spec", "provisioning", "seats", i, "resourceClass"), name
    for kind, held in (
        ("schedule", [entry.seats for entry in reservation.recurrence.schedule]),
        ("extra", [extra.seats for extra in reservation.recurrence.extras]),
    ):
        for i, seats in enumerate(held):
            if seats is not reservation.seats:
                for j, (name, _) in enumerate(seats):
                    yield ("spec", "recurrence", kind, i, "seats", j, "resourceClass"), name


def _counted(reservation: Reservation, classes: list[ResourceClass]) -> Iterator[Problem]:
    """Check that sessions can be counted, and warn if all sessions of a class are."""
    key = "scale_down_behavior" if reservation.renku else "scaleDownBehavior"
    for found in classes:
        if found.sessions is None:
            path = _own_path(reservation, ("spec", "provisioning", "scaleDownBehavior"))
            behavior = reservation.behavior
            message = f"behavior {behavior} counts sessions, but class {found.name} has no `sessions`."
            fix = f"Add sessions to the class, or write {key}: none."
            yield Problem(UNCOUNTABLE, *reservation.origin[:2], path, message, fix)
    match = reservation.sessions
    narrowed = match.namespaces or match.match_labels or match.match_annotations or match.project_template
    if narrowed or not classes or not all(found.sessions for found in classes):
        return
    names = ", ".join(found.name for found in classes)
    message = f"every session of class {names} counts for this reservation, as in Renku."
    keys = "sessions.namespaces, matchLabels, matchAnnotations or projectTemplate"
    key = "project_template_id" if reservation.renku else keys
    fix = f"To count only the sessions of this course, add {key}."
    path = _own_path(reservation, ("spec", "sessions"))
    yield Problem(NARROWS_NOTHING, *reservation.origin[:2], path, message, fix)


def _places(reservation: Reservation, classes: list[ResourceClass]) -> Iterator[Problem]:
    """Check that each namespace of the course is one in which its classes have sessions."""
    if not all(found.sessions for found in classes):
        return
    known = {name for found in classes if found.sessions for name in found.sessions.namespaces}
    for i, name in enumerate(reservation.sessions.namespaces):
        if known and name not in known:
            class_names_text = ", ".join(found.name for found in classes)
            message = f"sessions of class {class_names_text} are not counted in namespace {shown(name)}."
            fix = choice(name, tuple(sorted(known)))
            path = ("spec", "sessions", "namespaces", i)
            yield _problem(ELSEWHERE, reservation.origin, path, message, fix)


def _templates(
    reservation: Reservation, classes: list[ResourceClass], site: Site | None
) -> Iterator[Problem]:
    """Check that the sessions of each class have a project, and that its template can be looked up."""
    path = _own_path(reservation, ("spec", "sessions", *(() if reservation.renku else ("projectTemplate",))))
    at, counted = (*reservation.origin[:2], path), [found for found in classes if found.sessions]
    for found in counted:
        if _has_projects(found) is False:
            message = f"sessions of class {found.name} do not belong to a Renku project: none would count."
            yield Problem(ELSEWHERE, *at, message, "Remove it, or use a class with source renku.")
        elif _has_projects(found) is None:
            message = (
                f"sessions of class {found.name} belong to a project only if they have the annotation "
                f"{RENKU_PROJECT}; those without it do not count."
            )
            fix = f'Remove it; if they have it, annotate berth.dev/ignore: "{DOUBTFUL_TEMPLATE}: <reason>".'
            yield Problem(DOUBTFUL_TEMPLATE, *at, message, fix)
    names = ", ".join(found.name for found in counted if _has_projects(found) is not False)
    if names and site is not None and site.renku is None:
        message = (
            "the Site has no renku.url, so the template of a project cannot be looked up: "
            f"all sessions of class {names} count, whatever their template."
        )
        yield Problem(DOUBTFUL_TEMPLATE, *at, message, "Add renku.url to the Site.")


def _has_projects(found: ResourceClass) -> bool | None:
    """Tell whether sessions of the class have projects; None if that depends on their annotations."""
    sessions = found.sessions
    if sessions is None or sessions.source == "jupyterhub":
        return False
    return True if sessions.source == "renku" or sessions.group == "amalthea.dev" else None


def _own_path(reservation: Reservation, path: Path) -> Path:
    return their_path(path, reservation.origin.prefix) if reservation.renku else path
