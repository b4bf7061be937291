"""From files to occurrences, in memory: where every command begins.

One reservation after the other is expanded and checked, so that a run holds only one reservation's
occurrences at a time, however many there are. Nothing is written here, and no clock is read.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from berth.checks import autoscalers, cloudchecks, jobplacement, references, slotchecks
from berth.checks.ceilings import Ceilings, ClassSteps
from berth.checks.collisions import RenderedNames
from berth.dates.cron import schedules
from berth.dates.occurrence import Expansion, Occurrence
from berth.dates.recurrence import expand
from berth.findings import ERROR, Finding, Problem, severity
from berth.manifests.placed import Placed, class_names, placed
from berth.reading.document import Document, parse
from berth.reading.source import Source, read
from berth.reading.text import Syntax
from berth.schema.declared import Declared, declared
from berth.schema.model import Reservation, Site
from berth.schema.renkunames import their_path

if TYPE_CHECKING:
    from berth.karpenter.disruption import TooManyBudgets, WindowBudgets

UNREADABLE = ("B001", "B002", "B003", "B006")
UNKNOWN = ("B061", "B062", "B063", "B064", "B072")


class Part(NamedTuple):
    """What one reservation is in one cluster: its occurrences with seats there, and the schedules that open
    them.
    """

    placed: Placed
    occurrences: tuple[Occurrence, ...]
    schedules: tuple[str, ...]


class Item(NamedTuple):
    """One reservation with all its dates, and its parts by cluster, in the site's order."""

    reservation: Reservation
    expansion: Expansion
    parts: tuple[Part, ...]
    problems: tuple[Problem, ...]  # of this reservation alone
    texts: tuple[str | Problem, ...]  # of each part, if they were asked for and nothing is wrong
    loads: tuple[ClassSteps, ...]  # of each part


TextOf = Callable[[Part], str | Problem]


class Pipeline:
    """Reads all input at once; `items` then goes through the reservations, once; `findings` at the end."""

    def __init__(
        self, root: str = ".", folder: str = "reservations", sources: Sequence[Source] | None = None
    ) -> None:
        """`folder` is below `root`; findings name files by it. `sources`: instead of what stands there."""
        self._sources, problems = read(f"{root}/{folder}", folder) if sources is None else ([*sources], [])
        self._judged, self._failed = 0, False
        self.held: dict[
            str, WindowBudgets | TooManyBudgets
        ] = {}  # by CloudCapacity, once `items` are through
        self.problems: list[Problem | Syntax] = list(problems)
        self.declared: Declared = declared(self._documents(), folder, given=bool(self._sources))
        self.problems += self.declared.problems

    def has_errors(self) -> bool:
        """Whether an error was found so far. Cheap: each problem is looked at once."""
        while self._judged < len(self.problems):
            self._failed = self._failed or severity(self.problems[self._judged].code) == ERROR
            self._judged += 1
        return self._failed

    @property
    def sources(self) -> Sequence[Source]:
        """Every file as it was read, by path."""
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
        """By name; with the text of each part, if somebody makes it. Without a sound site there are none, but
        what each document does wrong by itself is told. `all_loads`: with the loads of classes, too, that no
        ceiling limits.
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
        """What `items` would tell of references, without a look at dates; instead of it."""
        self.problems += references.of_renku_ids(self.declared)
        for reservation in self.declared.reservations:
            self.problems += references.of_reservation(reservation, self.declared)
        if self.site is not None:
            self.problems += references.of_classes(self.declared, self.site)

    def findings(self) -> list[Finding]:
        """All that was found so far, with places, in order; what authors silenced is left out."""
        if not self.problems:
            return []
        # What may stand in a file that cannot be read is not unknown.
        doubtful = UNKNOWN if any(one.code in UNREADABLE for one in self.problems) else ()
        told = [one for one in self.problems if one.code not in doubtful and not self.is_silenced(one)]
        return self.located(told, severity)

    def located(
        self, problems: Sequence[Problem | Syntax], severity_of: Callable[[str], str]
    ) -> list[Finding]:
        """Whatever there is to say of documents, with places, in order."""
        from berth.reading.place import locate  # noqa: PLC0415 - dear, and needless where all is good

        return locate(problems, self._sources, severity_of)

    def may_declare(self, kind: str, name: str) -> bool:
        """Whether a document of this name may be among what is faulty or cannot even be read."""
        unreadable = any(one.code in UNREADABLE for one in self.problems)
        return unreadable or self.declared.may_exist(kind, name)

    def is_silenced(self, one: Problem | Syntax) -> bool:
        return isinstance(one, Problem) and self.declared.ignored.get((one.file, one.index)) == one.code


def _item(reservation: Reservation, known: Declared, site: Site, ceilings: Ceilings) -> Item:
    """Expand and check a reservation by itself. Pure."""
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
    """The problems of its dates, in Renku's words for a Renku payload."""
    if not reservation.renku:
        return expansion.problems
    prefix = reservation.origin.prefix
    return [one._replace(path=their_path(one.path, prefix)) for one in expansion.problems]


def _part(one: Placed, expansion: Expansion) -> Part:
    here = frozenset(found.name for found in one.classes)
    occurrences = expansion.occurrences
    if not here.issuperset(class_names(one.reservation)):  # it lies in several clusters
        occurrences = tuple(o for o in occurrences if any(name in here for name, _ in o.seats))
    found = schedules([o.open for o in occurrences], one.reservation.recurrence.zone)
    return Part(one, occurrences, tuple(found))
