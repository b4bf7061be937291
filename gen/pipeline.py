"""From files to occurrences, in memory: where every command begins.

One reservation after the other is expanded and checked, so that a run holds only one reservation's
occurrences at a time, however many there are. Nothing is written here, and no clock is read.
"""

from collections.abc import Iterator
from typing import NamedTuple

from gen.check import references
from gen.check.ceilings import Ceilings
from gen.check.names import Names
from gen.dates.cronline import lines
from gen.dates.occurrence import Expansion, Occurrence
from gen.dates.recurrence import expand
from gen.declared import Declared, declared
from gen.finding import ERROR, Finding, Problem
from gen.input.document import Document, parse
from gen.input.source import read
from gen.input.text import Syntax
from gen.kind.renku import their_path
from gen.model import Reservation, Site
from gen.placed import Placed, class_names, placed
from gen.rules import severity

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


class Pipeline:
    """Reads all input at once; `items` then goes through the reservations, once; `findings` at the end."""

    def __init__(self, root: str = ".", folder: str = "reservations") -> None:
        """`folder` is below `root`; findings name files by it."""
        self._sources, problems = read(f"{root}/{folder}", folder)
        self._judged, self._failed = 0, False
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
    def site(self) -> Site | None:
        return self.declared.site

    def _documents(self) -> Iterator[Document]:
        for source in self._sources:
            documents, problems = parse(source)
            self.problems += problems
            yield from documents

    def items(self) -> Iterator[Item]:
        """By name. Without a sound site there are none, but what each document does wrong by itself is
        told.
        """
        site, known = self.site, self.declared
        if site is None:
            for reservation in known.reservations:
                self._expand(reservation)
            return
        self.problems += references.of_classes(known, site)
        self.problems += references.of_renku_ids(known)
        self.problems += references.of_ceilings(known, site)
        names, ceilings = Names(), Ceilings(site, known.classes)
        for reservation in known.reservations:
            self.problems += references.of_reservation(reservation, known)
            expansion = self._expand(reservation)
            parts = tuple(_part(one, expansion) for one in placed(reservation, known, site))
            for part in parts:
                self.problems += names.take(part.placed, len(part.schedules))
                ceilings.take(part.placed, part.occurrences)
            yield Item(reservation, expansion, parts)
        self.problems += ceilings.problems({one.name: one for one in known.reservations})

    def _expand(self, reservation: Reservation) -> Expansion:
        expansion = expand(reservation, self.declared.calendars)
        for problem in expansion.problems:
            if reservation.renku:
                path = their_path(problem.path, reservation.origin.prefix)
                problem = problem._replace(path=path)  # noqa: PLW2901 - the same problem, told in Renku's words
            self.problems.append(problem)
        return expansion

    def findings(self) -> list[Finding]:
        """All that was found so far, with places, in order; what authors silenced is left out."""
        if not self.problems:
            return []
        from gen.input.place import locate  # noqa: PLC0415 - dear, and needless where all is good

        # What may stand in a file that cannot be read is not unknown.
        doubtful = UNKNOWN if any(one.code in UNREADABLE for one in self.problems) else ()
        told = [one for one in self.problems if one.code not in doubtful and not self._is_silenced(one)]
        return locate(told, self._sources, severity)

    def _is_silenced(self, one: Problem | Syntax) -> bool:
        return isinstance(one, Problem) and self.declared.ignored.get((one.file, one.index)) == one.code


def _part(one: Placed, expansion: Expansion) -> Part:
    here = frozenset(found.name for found in one.classes)
    occurrences = expansion.occurrences
    if not here.issuperset(class_names(one.reservation)):  # it lies in several clusters
        occurrences = tuple(o for o in occurrences if any(name in here for name, _ in o.seats))
    schedules = lines([o.open for o in occurrences], one.reservation.recurrence.zone)
    return Part(one, occurrences, tuple(schedules))
