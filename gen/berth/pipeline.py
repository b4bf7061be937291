"""Read, expand and check all reservations: the first step of every command.

Reservations are expanded one after the other, so that only the occurrences of one are in memory at a time.
Nothing is written here, and the clock is not read.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from berth.checks import autoscalers, cloudchecks, jobplacement, overlaps, references, slotchecks
from berth.checks.ceilings import Ceilings, ClassSteps
from berth.checks.collisions import RenderedNames
from berth.dates.cron import schedules
from berth.dates.occurrence import Expansion, Occurrence
from berth.dates.recurrence import expand
from berth.findings import ERROR, Finding, Problem, severity
from berth.manifests.placed import Placed, class_names, placed
from berth.reading.document import Document, parse
from berth.reading.source import Source, read
from berth.reading.text import SyntaxProblem
from berth.schema.declared import Declared, declared
from berth.schema.renkunames import their_path
from berth.schema.values import Reservation, Site

if TYPE_CHECKING:
    from berth.karpenter.disruption import TooManyBudgets, WindowBudgets

UNREADABLE = ("B001", "B002", "B003", "B006")
UNKNOWN = ("B061", "B062", "B063", "B064", "B072")


class Part(NamedTuple):
    """A reservation in one cluster: its occurrences with seats there, and the schedules that open them."""

    placed: Placed
    occurrences: tuple[Occurrence, ...]
    schedules: tuple[str, ...]


class Item(NamedTuple):
    """A reservation with all its dates, and its parts by cluster, in the order of the site."""

    reservation: Reservation
    expansion: Expansion
    parts: tuple[Part, ...]
    problems: tuple[Problem, ...]  # of this reservation alone
    texts: tuple[str | Problem, ...]  # of each part, if requested and free of errors
    loads: tuple[ClassSteps, ...]  # of each part


TextOf = Callable[[Part], str | Problem]


class Pipeline:
    """All input of a command. Iterate `items` once, then ask for `findings`."""

    def __init__(
        self, root: str = ".", folder: str = "reservations", sources: Sequence[Source] | None = None
    ) -> None:
        """Read `folder` in `root`; findings name files by it. `sources` replaces the files in the folder."""
        self._sources, problems = read(f"{root}/{folder}", folder) if sources is None else ([*sources], [])
        self._examined, self._has_errors = 0, False
        # By CloudCapacity; complete after `items`.
        self.held: dict[str, WindowBudgets | TooManyBudgets] = {}
        self.problems: list[Problem | SyntaxProblem] = list(problems)
        self.declared: Declared = declared(self._documents(), folder, given=bool(self._sources))
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

    @property
    def site(self) -> Site | None:
        return self.declared.site

    def _documents(self) -> Iterator[Document]:
        for source in self._sources:
            documents, problems = parse(source)
            self.problems += problems
            yield from documents

    def items(self, text_of: TextOf | None = None, *, all_loads: bool = False) -> Iterator[Item]:
        """Expand and check the reservations, by name.

        `text_of` renders each part that has no errors. `all_loads`: include the loads of classes that have no
        ceiling. Without a valid site, there are no items; each document is then checked by itself.
        """
        site, known = self.site, self.declared
        self.problems += references.of_renku_ids(known)
        if site is None:
            for reservation in known.reservations:
                self.problems += references.of_reservation(reservation, known)
                self.problems += date_problems(reservation, expand(reservation, known.calendars))
            return
        self.problems += references.of_classes(known, site)
        self.problems += references.of_ceilings(known, site)
        self.problems += overlaps.of_classes(known, site)
        self.problems += jobplacement.of_classes(known, site)
        self.problems += slotchecks.of_classes(known, site)
        self.problems += slotchecks.of_profiles(known, site)
        self.problems += slotchecks.of_sizes(known, site)
        self.problems += autoscalers.of_site(site)
        self.problems += autoscalers.of_classes(known, site)
        self.problems += cloudchecks.of_documents(known, site)
        names, ceilings = (
            RenderedNames(site, known.classes.values()),
            Ceilings(site, known.classes, also=cloudchecks.limited(known), all_loads=all_loads),
        )

        for reservation in known.reservations:
            item = _item(reservation, known, site, ceilings)
            self.problems += item.problems
            if text_of is not None and not any(severity(one.code) == ERROR for one in item.problems):
                item = item._replace(texts=tuple([text_of(part) for part in item.parts]))
            for part, loads in zip(item.parts, item.loads, strict=True):
                self.problems += names.take(part.placed, len(part.schedules))
                ceilings.take(part.placed, loads)
            yield item
        self.problems += names.problems()
        self.problems += ceilings.problems({one.name: one for one in known.reservations})
        self.problems += cloudchecks.of_limits(known, site, ceilings.pools)
        self.held = cloudchecks.window_budgets(known, site, ceilings.pools)
        self.problems += cloudchecks.of_windows(known, self.held)

    def check_references(self) -> None:
        """Check references only, without dates. Use it instead of `items`."""
        self.problems += references.of_renku_ids(self.declared)
        for reservation in self.declared.reservations:
            self.problems += references.of_reservation(reservation, self.declared)
        if self.site is not None:
            self.problems += references.of_classes(self.declared, self.site)

    def findings(self) -> list[Finding]:
        """Return all findings so far, with places, in order, except those that authors ignore."""
        if not self.problems:
            return []
        # A name that seems unknown may be declared in a file that cannot be read.
        uncertain = UNKNOWN if any(one.code in UNREADABLE for one in self.problems) else ()
        shown = [one for one in self.problems if one.code not in uncertain and not self.is_silenced(one)]
        return self.located(shown, severity)

    def located(
        self, problems: Sequence[Problem | SyntaxProblem], severity_of: Callable[[str], str]
    ) -> list[Finding]:
        """Return problems as findings with places, in order."""
        from berth.reading.place import locate  # noqa: PLC0415 - slow, and only needed with problems

        return locate(problems, self._sources, severity_of)

    def may_declare(self, kind: str, name: str) -> bool:
        """Tell whether a document of this name may be in a faulty or unreadable file."""
        unreadable = any(one.code in UNREADABLE for one in self.problems)
        return unreadable or self.declared.may_exist(kind, name)

    def is_silenced(self, one: Problem | SyntaxProblem) -> bool:
        return isinstance(one, Problem) and self.declared.ignored.get((one.file, one.index)) == one.code


def _item(reservation: Reservation, known: Declared, site: Site, ceilings: Ceilings) -> Item:
    expansion = expand(reservation, known.calendars)
    problems = (
        *references.of_reservation(reservation, known),
        *slotchecks.of_reservation(reservation, known, site),
        *slotchecks.limits_of_reservation(reservation, known, site),
        *cloudchecks.of_reservation(reservation, known, site, expansion.occurrences),
        *date_problems(reservation, expansion),
    )
    parts = tuple([_part(one, expansion) for one in placed(reservation, known, site)])
    loads = tuple([ceilings.loads(part.placed, part.occurrences) for part in parts])
    return Item(reservation, expansion, parts, problems, (), loads)


def date_problems(reservation: Reservation, expansion: Expansion) -> Sequence[Problem]:
    """Return the problems of its dates, with Renku's paths for a Renku payload."""
    if not reservation.renku:
        return expansion.problems
    prefix = reservation.origin.prefix
    return [one._replace(path=their_path(one.path, prefix)) for one in expansion.problems]


def _part(one: Placed, expansion: Expansion) -> Part:
    here = frozenset(found.name for found in one.classes)
    occurrences = expansion.occurrences
    if not here.issuperset(class_names(one.reservation)):  # it is in several clusters
        occurrences = tuple(o for o in occurrences if any(name in here for name, _ in o.seats))
    found = schedules([o.open for o in occurrences], one.reservation.recurrence.zone)
    return Part(one, occurrences, tuple(found))
