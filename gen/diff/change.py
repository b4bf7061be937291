"""What a change means: values that `gen.diff.compare` and its neighbours make, and that every form prints.

`before` is the base, `after` the working tree.
"""

from typing import NamedTuple

from gen.dates.occurrence import Occurrence
from gen.diff.manifests import FileChange
from gen.finding import Finding

ADDED, CHANGED, REMOVED, RENAMED = "added", "changed", "removed", "renamed"


class Field(NamedTuple):
    """One thing that is said of a reservation, before and after; empty where it was not said."""

    what: str
    before: str
    after: str


class Occurrences(NamedTuple):
    """By start. `changed`: those with one id that are not equal, before and after."""

    added: tuple[Occurrence, ...]
    removed: tuple[Occurrence, ...]
    changed: tuple[tuple[Occurrence, Occurrence], ...]
    kept: int


class ReservationChange(NamedTuple):
    """`was`: the old name of one that was renamed, else its own. Seat-seconds are count x (end - open).

    `standing`: what stands without windows, before and after: `5 gpu, always`; empty where nothing does.
    """

    name: str
    was: str
    kind: str
    title: str
    zone: str
    clusters: tuple[str, ...]
    fields: tuple[Field, ...]
    occurrences: Occurrences
    seat_seconds: tuple[int, int]
    standing: tuple[str, ...] = ("", "")


class Peak(NamedTuple):
    """The most of something that is open at once in a cluster, before and after, and when first.

    `during`: the dates of a ceiling that has dates; empty for all time. `holders`: what each reservation
    holds at the minute of `after`, the most first. An empty `ceiling` is none.
    """

    cluster: str
    what: str  # `seats of small`, `of cpu`
    during: str  # `2026-03-01 to 2026-03-31`
    before: str
    after: str
    at: int | None
    holders: tuple[tuple[str, str], ...]
    ceiling: str


class Warned(NamedTuple):
    """Something to think of before merging. `code` is one word for programs."""

    code: str
    subject: str  # a reservation, a file, or empty
    message: str


class Side(NamedTuple):
    """One of the two sides: what it is called, and its findings where it does not validate."""

    name: str
    findings: tuple[Finding, ...]
    is_sound: bool


class Change(NamedTuple):
    base: Side
    head: Side
    reservations: tuple[ReservationChange, ...]
    peaks: tuple[Peak, ...]
    warnings: tuple[Warned, ...]
    files: tuple[FileChange, ...]

    def is_empty(self) -> bool:
        return (
            not (self.reservations or self.peaks or self.files) and self.base.is_sound == self.head.is_sound
        )
