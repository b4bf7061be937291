"""Read, expand and check all reservations: the first step of every command.

All dates of all reservations are in memory: of 1,000 courses with 34,000 windows they need some 10 MiB.
Nothing is written here, and the clock is not read.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from berth.backends.backendinterface import backend_of
from berth.checks import (
    autoscalers,
    calendars,
    cloudchecks,
    collisions,
    hubchecks,
    koordinatordevices,
    overlaps,
    ownership,
    platforms,
    references,
    rehearsalchecks,
    seatplacement,
    typos,
)
from berth.checks.ceilings import Ceilings, PoolLoad, PoolLoads
from berth.checks.project import CheckedReservation, ComparedHub, Item, Part, Project
from berth.dates.cronschedules import open_spans, schedules
from berth.dates.expansion import Expansion
from berth.dates.recurrence import expand
from berth.findings import ERROR, GUARDS, Finding, Problem, severity
from berth.manifests.placed import Placed, class_names, placed
from berth.reading.document import parse
from berth.reading.source import RESERVATIONS, Source, read, read_within
from berth.schema.declared import Declared, ReadDocument, declared, read_document
from berth.schema.reservation import Reservation
from berth.schema.values import Site

if TYPE_CHECKING:
    from berth.machines.windowbudgets import TooManyBudgets, WindowBudgets

UNREADABLE = ("B001", "B002", "B003", "B006")
UNKNOWN = ("B061", "B064", "B130")
SOLVED_BY_DAYS_OFF = ("B031", "B044", "B049")


def read_file(source: Source) -> tuple[Sequence[ReadDocument], Sequence[Finding]]:
    """Return what one file declares, and where it is not YAML: by nothing but its path and its text."""
    documents, problems = parse(source)
    return [*map(read_document, documents)], problems


ReadFile = Callable[[str], Source]
ReadSource = Callable[[Source], tuple[Sequence[ReadDocument], Sequence[Finding]]]


class Pipeline:
    """All input of a command. Call `items` once, then ask for `findings`."""

    def __init__(
        self,
        root: str = ".",
        sources: Sequence[Source] | None = None,
        other_file: ReadFile | None = None,
        problems: Sequence[Problem] = (),
        file_reader: ReadSource = read_file,
    ) -> None:
        """Read `reservations/` in `root`. `sources` replaces the files in the folder.

        `problems` are those of reading the sources. `file_reader` reads each file.

        `other_file` reads a file in the project that the Site names. It raises OSError. With `sources` and
        without it, these files are not looked at.
        """
        self._sources = [*sources] if sources is not None else []
        if sources is None:
            self._sources, problems = read(f"{root}/{RESERVATIONS}", RESERVATIONS)
        if other_file is None and sources is None:
            other_file = lambda path: read_within(root, path)  # noqa: E731
        self._other_file = other_file
        self._others: dict[str, Source] = {}  # the files outside of the folder that were read, by path
        self._examined, self._has_errors = 0, False
        # Complete after `items`.
        self.pools: dict[str, list[PoolLoad]] = {}  # by cluster
        self.held: Mapping[str, WindowBudgets | TooManyBudgets] = {}  # by CloudCapacity
        self.problems: list[Problem | Finding] = list(problems)
        readings: list[ReadDocument] = []
        for source in self._sources:
            documents, unreadable = file_reader(source)
            self.problems += unreadable
            readings += documents
        self.declared: Declared = declared(readings, RESERVATIONS, given=bool(self._sources))
        self.problems += self.declared.problems

    def has_errors(self) -> bool:
        """Tell whether there is an error so far. Each problem is examined once."""
        while self._examined < len(self.problems):
            self._has_errors = self._has_errors or severity(self.problems[self._examined].code) == ERROR
            self._examined += 1
        return self._has_errors

    @property
    def sources(self) -> Sequence[Source]:
        """The files, by path."""
        return self._sources

    def with_files(self, texts: Mapping[str, str | None]) -> "Pipeline":
        """Return the project with new texts of files, or without a file if its text is None."""
        changed = [Source(file, text.encode()) for file, text in texts.items() if text is not None]
        kept = [source for source in self._sources if source.file not in texts]
        return Pipeline(sources=sorted([*kept, *changed]))

    def _read_other(self, path: str) -> Source:
        """Read a file that the Site names. Raises OSError."""
        assert self._other_file is not None
        self._others[path] = source = self._other_file(path)
        return source

    @property
    def site(self) -> Site | None:
        return self.declared.site

    def items(
        self, *, all_loads: bool = False, now: int | None = None, alike: Iterable[Item] = ()
    ) -> list[Item]:
        """Expand and check the reservations, by name.

        `all_loads`: include the loads of classes that have no ceiling. `now`: also check for dates that are
        too far away. `alike`: items that were made with these options, of a project that shares the same
        documents. Without a valid site, there are no items; each document is then checked by itself.
        """
        site, known = self.site, self.declared
        self.problems += references.check_renku_ids(known)
        self.problems += references.check_names_in_faulty(known)
        self.problems += references.check_capacities_of_classes(known)
        if site is None:
            for reservation in known.reservations:
                self.problems += references.check_names_in_reservation(reservation, known)
                self.problems += _problems_of_dates(reservation, expand(reservation, known.calendars), known)
            return []
        ceilings = Ceilings(site, known.classes, also=cloudchecks.limited(known), all_loads=all_loads)
        project = Project(known, site, ceilings, now, cloudchecks.class_fits(known))
        by_name = {item.reservation.name: item for item in alike if item.depends_on_itself}
        items = list[Item]()
        for reservation in known.reservations:
            item = by_name.get(reservation.name)
            if item is None or item.reservation != reservation:
                places, expansion = placed(reservation, known, site), expand(reservation, known.calendars)
                item = _item(CheckedReservation(project, reservation, places, expansion))
            self.problems += item.problems
            items.append(item)
        loads = PoolLoads(
            (part.placed, part.pools, part.occurrences) for item in items for part in item.parts
        )
        project = project._replace(items=items, loads=loads, hubs=self._compare_classes(site))
        project = project._replace(budgets=cloudchecks.cloud_budgets(project))
        for check in _OF_PROJECT:
            self.problems += check(project)
        for backend in {backend_of(reservation.holder): None for reservation in known.reservations}:
            self.problems += backend.problems_of_all(project)
        self.pools, self.held = loads.by_cluster, project.budgets
        return items

    def _compare_classes(self, site: Site) -> Sequence[ComparedHub]:
        """Compare classes with files that the Site names; return the hubs whose values are known."""
        if self._other_file is None:
            return ()
        hubs, problems = hubchecks.compare_classes(self.declared, site, self._read_other)
        self.problems += problems
        return hubs

    def findings(self) -> list[Finding]:
        """Return all findings so far, with places, in order, except those that authors ignore."""
        if not self.problems:
            return []
        # A name that seems unknown may be declared in a file that cannot be read.
        uncertain = UNKNOWN if any(problem.code in UNREADABLE for problem in self.problems) else ()
        shown = [
            problem
            for problem in self.problems
            if problem.code not in uncertain and not self.is_silenced(problem)
        ]
        return self.located(shown)

    def silenced(self) -> list[Finding]:
        """Return the findings that authors ignore, with places, in order."""
        return self.located([problem for problem in self.problems if self.is_silenced(problem)])

    def located(
        self, problems: Sequence[Problem | Finding], severity_of: Callable[[str], str] = severity
    ) -> list[Finding]:
        """Return problems as findings with places, in order."""
        from berth.reading.place import locate  # noqa: PLC0415 - slow, and only needed with problems

        return locate(problems, [*self._sources, *self._others.values()], severity_of)

    def may_declare(self, kind: str, name: str) -> bool:
        """Tell whether a document of this name may be in a faulty or unreadable file."""
        unreadable = any(problem.code in UNREADABLE for problem in self.problems)
        return unreadable or self.declared.may_exist(kind, name)

    def is_silenced(self, one: Problem | Finding) -> bool:
        """Tell whether its document silences it; or the Site, a guard or what is in a file that it names."""
        if not isinstance(one, Problem):
            return False
        origins = [] if one.file in self._others else [(one.file, one.index)]
        if self.site is not None and (one.file in self._others or one.code in GUARDS):
            origins.append(self.site.origin[:2])
        return any(one.code in self.declared.ignored.get(origin, ()) for origin in origins)


_OF_PROJECT: tuple[Callable[[Project], Iterable[Problem]], ...] = (
    calendars.check_zone_is_named,
    calendars.check_site_calendars,
    references.check_names_in_classes,
    references.check_names_in_ceilings,
    references.check_names_in_policies,
    overlaps.check_classes_overlap,
    seatplacement.check_job_placement,
    platforms.check_namespace_per_cluster,
    platforms.check_platforms,
    platforms.check_selected_node_labels,
    koordinatordevices.check_device_requests,
    seatplacement.check_device_claims,
    seatplacement.check_volume_capacities,
    ownership.check_shared_documents,
    platforms.check_image_volumes,
    seatplacement.check_seats_fit_on_nodes,
    seatplacement.check_seats_request_something,
    autoscalers.check_autoscalers,
    autoscalers.check_pods_for_autoscaler,
    cloudchecks.check_clouds,
    collisions.check_rendered_names,
    calendars.check_same_courses,
    calendars.check_site_zone,
    rehearsalchecks.check_rehearsed_dates,
    hubchecks.check_arrivals,
    lambda project: project.ceilings.problems(project.loads),
    cloudchecks.check_cloud_windows,
)
_OF_RESERVATION: tuple[Callable[[CheckedReservation], Iterable[Problem]], ...] = (
    calendars.check_calendar_dates,
    koordinatordevices.check_reserved_devices,
    seatplacement.check_claims_are_held,
    calendars.check_zone_of_reservation,
    typos.check_hours_and_dates,
    typos.check_large_counts,
    cloudchecks.check_reserved_clouds,
)


def _problems_of_dates(
    reservation: Reservation, expansion: Expansion, known: Declared
) -> tuple[Problem, ...]:
    """Return the problems of dates, without those that a calendar may solve that is not known."""
    is_known = known.knows_calendars(reservation.recurrence)
    return tuple(one for one in expansion.problems if is_known or one.code not in SOLVED_BY_DAYS_OFF)


def _item(checked: CheckedReservation) -> Item:
    project, reservation, places, expansion = checked
    parts = tuple([_part(place, expansion, project.ceilings) for place in places])
    problems = (
        *references.check_names_in_reservation(reservation, project.declared),
        *backend_of(reservation.holder).problems(checked),
        *_problems_of_dates(reservation, expansion, project.declared),
        *(problem for check in _OF_RESERVATION for problem in check(checked)),
    )
    return Item(reservation, expansion, parts, problems)


def _part(one: Placed, expansion: Expansion, ceilings: Ceilings) -> Part:
    here = frozenset(resource_class.name for resource_class in one.classes)
    occurrences = expansion.occurrences
    if not here.issuperset(class_names(one.reservation)):  # it is in several clusters
        in_cluster = (occurrence.of_classes(here) for occurrence in occurrences)
        occurrences = tuple([occurrence for occurrence in in_cluster if occurrence.seats])
    opens = [opens for opens, _ in open_spans(occurrences)]
    found = schedules(opens, one.reservation.recurrence.zone)
    return Part(one, occurrences, tuple(found), ceilings.loads(one, occurrences))
