"""Do names lead somewhere? Classes, calendars and clusters that documents speak of, and what they must say there."""

from collections.abc import Iterator

from gen.declared import Declared
from gen.finding import Path, Problem
from gen.kind.renku import their_path
from gen.kind.shape import nearest, shown
from gen.model import Origin, Reservation, ResourceClass, Site
from gen.placed import class_names

UNKNOWN_CLASS, UNKNOWN_CALENDAR, UNKNOWN_CLUSTER, UNCOUNTABLE, NARROWS_NOTHING = (
    "B061",
    "B062",
    "B063",
    "B068",
    "B032",
)


def _problem(code: str, origin: Origin, path: Path, message: str, fix: str) -> Problem:
    return Problem(code, origin.file, origin.index, (*origin.prefix, *path), message, fix)


def of_classes(declared: Declared, site: Site) -> Iterator[Problem]:
    clusters = tuple(cluster.name for cluster in site.clusters)
    for found in declared.classes.values():
        if not found.cluster and len(clusters) > 1:
            message = f"cluster is missing: the site has {len(clusters)}."
            yield _problem(
                "B011", found.origin, ("spec",), message, f"Add cluster: one of {', '.join(clusters)}."
            )
        elif found.cluster and found.cluster not in clusters:
            message, fix = (
                f"{shown(found.cluster)} is no cluster of the site.",
                nearest(found.cluster, clusters, "Write"),
            )
            yield _problem(UNKNOWN_CLUSTER, found.origin, ("spec", "cluster"), message, fix)


def of_renku_ids(declared: Declared) -> Iterator[Problem]:
    seen: dict[int, ResourceClass] = {}
    for found in declared.classes.values():
        if found.renku_id is None:
            continue
        first = seen.setdefault(found.renku_id, found)
        if first is not found:
            message = f"class {first.name} has renkuId {found.renku_id} too."
            yield _problem("B060", found.origin, ("spec", "renkuId"), message, "Give each id to one class.")


def of_ceilings(declared: Declared, site: Site) -> Iterator[Problem]:
    for i, cluster in enumerate(site.clusters):
        for j, ceiling in enumerate(cluster.ceilings):
            for name, _ in ceiling.seats:
                if name in declared.mentioned["ResourceClass"]:
                    continue
                path = ("spec", "clusters", i, "ceilings", j, "seats", name)
                fix = nearest(name, tuple(sorted(declared.classes)), "Write")
                yield _problem(UNKNOWN_CLASS, site.origin, path, f"{shown(name)} is no ResourceClass.", fix)


def of_reservation(reservation: Reservation, declared: Declared) -> Iterator[Problem]:
    yield from _calendars(reservation, declared)
    known = True
    for path, name in _named_classes(reservation):
        if name in declared.mentioned["ResourceClass"]:
            continue
        known = False
        fix = nearest(name, tuple(sorted(declared.classes)), "Write")
        yield _problem(UNKNOWN_CLASS, reservation.origin, path, f"{shown(name)} is no ResourceClass.", fix)
    if known and reservation.behaviour != "none":
        yield from _counted(reservation, declared)


def _calendars(reservation: Reservation, declared: Declared) -> Iterator[Problem]:
    for i, name in enumerate(reservation.recurrence.calendars):
        if name not in declared.mentioned["Calendar"]:
            path: Path = ("spec", "recurrence", "calendars", i)
            fix = nearest(name, tuple(sorted(declared.calendars)), "Add a Calendar of that name; known:")
            yield _problem(UNKNOWN_CALENDAR, reservation.origin, path, f"{shown(name)} is no Calendar.", fix)


def _named_classes(reservation: Reservation) -> Iterator[tuple[Path, str]]:
    """Where each class is named: at the reservation, and at entries with seats of their own."""
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


def _counted(reservation: Reservation, declared: Declared) -> Iterator[Problem]:
    classes = [declared.classes[name] for name in class_names(reservation) if name in declared.classes]
    for found in classes:
        if found.sessions is None:
            path = _own_path(reservation, ("spec", "provisioning", "scaleDownBehavior"))
            message = f"behaviour {reservation.behaviour} counts sessions, but class {found.name} has no `sessions`."
            fix = "Add sessions to the class, or write scaleDownBehavior: none."
            yield Problem(UNCOUNTABLE, reservation.origin.file, reservation.origin.index, path, message, fix)
    if not all(found.sessions for found in classes):
        return
    match = reservation.sessions
    if match.namespaces or match.match_labels or match.match_annotations or match.project_template:
        return
    path = _own_path(reservation, ("spec", "sessions"))
    names = ", ".join(found.name for found in classes)
    message = f"every session of class {names} counts for this reservation, as in Renku."
    fix = "To count only this course's, add sessions.namespaces, matchLabels, matchAnnotations or projectTemplate."
    yield Problem(NARROWS_NOTHING, reservation.origin.file, reservation.origin.index, path, message, fix)


def _own_path(reservation: Reservation, path: Path) -> Path:
    return their_path(path, reservation.origin.prefix) if reservation.renku else path
