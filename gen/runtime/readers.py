"""What the objects of a collection are to the scaler.

Readers are values, equal where they would say the same.
"""

from typing import NamedTuple, Protocol

from gen.runtime.kinds import Keys, is_active, session
from gen.runtime.recognition import Recognition
from gen.runtime.rivals import Reading, reading
from gen.runtime.session import Session
from gen.runtime.watching import Tree


class Sighting(NamedTuple):
    """An active session, and the classes that it is one of: as a rule, one."""

    session: Session
    classes: tuple[str, ...]


class SessionReader(NamedTuple):
    """Of one namespace."""

    namespace: str
    classes: tuple[tuple[str, Recognition], ...]
    keys: Keys

    def read(self, tree: Tree) -> Sighting | None:
        classes = tuple(name for name, recognition in self.classes if is_active(tree, recognition))
        return Sighting(session(tree, self.namespace, self.keys), classes) if classes else None


class RivalReader(NamedTuple):
    classes: frozenset[str]
    now: int  # when this reading of the timetables began

    def read(self, tree: Tree) -> Reading:
        return reading(tree, self.classes, self.now)


Item = Sighting | Reading


class Reader(Protocol):
    def read(self, tree: Tree) -> Item | None:
        """None: nothing to us."""
