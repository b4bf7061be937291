"""Read base and head, reservation by reservation, so that neither is kept as a whole."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha1, sha256
from pathlib import Path
from typing import NamedTuple, Protocol

from berth.checks.ceilings import pool_loads, pool_steps
from berth.core.holders import slot_hash
from berth.dates.occurrence import Occurrence
from berth.dates.recurrence import expand
from berth.diff import machines, risks
from berth.diff.change import Change, PlanChange, ReservationChange, Side, Warned
from berth.diff.compare import Version, compared, likenesses, renamed, same
from berth.diff.manifests import FileChange, file_change
from berth.diff.peaks import Held, peaks
from berth.diff.risks import of_slots, standing_now
from berth.findings import ERROR, severity
from berth.git import Git
from berth.manifests.placed import Placed, placed
from berth.manifests.slots import slot_object
from berth.output.folder import OWNED
from berth.pipeline import Item, Pipeline, date_problems
from berth.reading.source import Source, is_input, read
from berth.schema.holders import Slots
from berth.schema.model import Reservation

# The base of a comparison: a commit, or a folder. Its reservations as sources, and its rendered files.

RESERVATIONS = "reservations"


class Commit:
    """`berth.diff.sides.Rendered` of a commit. Only what differs is fetched."""

    def __init__(self, git: Git, commit: str, output: str) -> None:
        """`output` is the output folder."""
        self._git = git
        folders = [RESERVATIONS, *(f"{output}/{name}" for name in OWNED)]
        blobs = git.blobs(commit, folders)
        self._inputs = {path: blob for path, blob in blobs.items() if path.startswith(f"{RESERVATIONS}/")}
        self._rendered = {
            path.removeprefix(f"{output}/"): blob
            for path, blob in blobs.items()
            if path.startswith(f"{output}/")
        }

    def sources(self) -> list[Source]:
        wanted = {path: blob for path, blob in sorted(self._inputs.items()) if is_input(path)}
        contents = self._git.contents(wanted.values())
        return [Source(path, contents[blob]) for path, blob in wanted.items()]

    def paths(self) -> Sequence[str]:
        return [path for path in self._rendered if not _is_hidden(path)]

    def has(self, path: str, text: str) -> bool:
        blob = self._rendered.get(path)
        return blob is not None and blob == _blob(text.encode(), len(blob))

    def texts(self, paths: Sequence[str]) -> dict[str, str]:
        blobs = {path: self._rendered[path] for path in paths if path in self._rendered}
        contents = self._git.contents(blobs.values()) if blobs else {}
        return {path: contents[blob].decode(errors="replace") for path, blob in blobs.items()}


class Folder:
    """`berth.diff.sides.Rendered` of a folder like ours."""

    def __init__(self, folder: str, output: str) -> None:
        self._folder = folder
        self._output = Path(folder, output)

    def sources(self) -> list[Source]:
        return read(f"{self._folder}/{RESERVATIONS}", RESERVATIONS)[0]

    def paths(self) -> Sequence[str]:
        files = (file for name in OWNED for file in (self._output / name).rglob("*") if file.is_file())
        paths = [file.relative_to(self._output).as_posix() for file in files]
        return [path for path in paths if not _is_hidden(path)]

    def has(self, path: str, text: str) -> bool:
        return self._text(path) == text

    def texts(self, paths: Sequence[str]) -> dict[str, str]:
        found = {path: self._text(path) for path in paths}
        return {path: text for path, text in found.items() if text is not None}

    def _text(self, path: str) -> str | None:
        try:
            return (self._output / path).read_bytes().decode(errors="replace")
        except OSError:
            return None


def _blob(data: bytes, length: int) -> str:
    """The id that git gives to these bytes; its length tells by which hash."""
    head = b"blob %d\0" % len(data)
    return (sha256 if length == 64 else sha1)(head + data).hexdigest()  # git's own, not for secrecy


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/"))


# The two sides of a change, gone through reservation by reservation, so that neither is held as a whole.
# The head is rendered afresh as it goes; of the base only what differs is expanded.

HOUR = 3600
_KIND = "CapacityReservation"


class Rendered(Protocol):
    """What stands in rendered/ of a side."""

    def paths(self) -> Sequence[str]: ...

    def has(self, path: str, text: str) -> bool:
        """Whether it stood there with just this text."""

    def texts(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Of those that there are, by path."""


class Question(NamedTuple):
    """`names`: what the sides are called; `now` in seconds; `notice` in hours."""

    names: tuple[str, str]
    now: int
    notice: int


class Comparison:
    """Goes through both sides once: every reservation, every file, and then `change`.

    The dates of the base are looked at where they may differ only, so what is wrong with others is not told.
    """

    def __init__(
        self, base: Pipeline, head: Pipeline, rendered: tuple[Rendered, Rendered], question: Question
    ) -> None:
        """`rendered`: what stood in rendered/ of the base, and what stands in that of the head."""
        self._base, self._head = base, head
        (self._rendered, self._committed), self._question = rendered, question
        self._held = Held(), Held()
        self._found: list[ReservationChange] = []
        self._warnings: list[Warned] = []
        self._changed: dict[str, str] = {}
        self._left: set[str] = set()
        self._stale: list[str] = []
        for held, side in zip(self._held, (base, head), strict=True):
            held.site, held.classes = side.site, side.declared.classes

    def reservations(self, items: Iterator[Item]) -> Iterator[Item]:
        """`items` are the head's, with texts and all loads; they pass through."""
        self._base.check_references()
        before = {one.name: one for one in self._base.declared.reservations}
        added: list[Version] = []
        for item in items:
            new = version_of(item, self._head)
            old = before.pop(item.reservation.name, None)
            if old is None:
                added.append(self._dated(new, self._head))
            else:
                self._pair(_of(old, self._base), new, item)
            yield item
        self._come_and_gone([self._dated(_of(one, self._base), self._base) for one in before.values()], added)

    def _come_and_gone(self, removed: list[Version], added: list[Version]) -> None:
        # What is faulty on the other side is neither gone nor new.
        removed = [one for one in removed if one.is_whole() and not _may_be_in(self._head, one)]
        added = [one for one in added if one.is_whole() and not _may_be_in(self._base, one)]
        pairs = renamed(removed, added)
        for old, new in pairs:
            self._take(old, new)
        was = {old.reservation.name for old, _ in pairs}
        now = {new.reservation.name for _, new in pairs}
        removed = [one for one in removed if one.reservation.name not in was]
        added = [one for one in added if one.reservation.name not in now]
        for new in added:
            self._take(None, new)
        for old in removed:
            self._take(old, None)
        self._warnings += risks.of_likenesses(likenesses(removed, added))

    def file(self, path: str, text: str) -> None:
        """One file as it is rendered now."""
        self._left.add(path)
        if not self._committed.has(path, text):
            self._stale.append(path)
        if not self._rendered.has(path, text):
            self._changed[path] = text

    def change(self) -> Change:
        head = self._side(self._question.names[1], self._head)
        files = self._file_changes(gone=head.is_sound)
        if head.is_sound:
            self._stale += {*self._committed.paths()} - self._left
            self._warnings += risks.of_manifests(files, self._left)
            self._warnings += risks.of_stale(sorted(self._stale))
        return Change(
            self._side(self._question.names[0], self._base),
            head,
            tuple(sorted(self._found, key=lambda one: one.name)),
            tuple(peaks(*self._held)),
            tuple(self._warnings),
            tuple(files),
            self._plan() if head.is_sound else None,
        )

    def _plan(self) -> PlanChange | None:
        """Where there is cloud capacity. Its problems stand at documents of the head."""
        before, after = (
            machines.Side(side.declared, side.site, held) if side.site else None
            for side, held in zip((self._base, self._head), self._held, strict=True)
        )
        found = machines.plan_changes(before, after, self._question.now) if after else None
        if found is None:
            return None
        told = [one for one in found.problems if not self._head.is_silenced(one)]
        return PlanChange(*found[:3], tuple(self._head.located(told, severity)))

    def _file_changes(self, *, gone: bool) -> list[FileChange]:
        """By path. `gone`: with those that are not rendered any more."""
        left = {*self._rendered.paths()} - self._left if gone else set()
        paths = sorted({*self._changed, *left})
        before = self._rendered.texts(paths)
        found = [file_change(path, before.get(path), self._changed.get(path)) for path in paths]
        return [one for one in found if one]

    def _side(self, name: str, pipeline: Pipeline) -> Side:
        findings = tuple(pipeline.findings())
        return Side(name, findings, all(one.severity != ERROR for one in findings))

    def _pair(self, old: Version, new: Version, item: Item) -> None:
        if not (old.is_whole() and new.is_whole()):
            return
        if not same(old, new):
            self._take(self._dated(old, self._base), self._dated(new, self._head))
            return
        for part, loads in zip(item.parts, item.loads, strict=True):
            pools = pool_loads(new.reservation, loads)
            for held in self._held:
                held.take(part.placed.cluster.name, pools)

    def _take(self, old: Version | None, new: Version | None) -> None:
        for side, version in enumerate((old, new)):
            if version:
                self._hold(side, version)
        found = compared(old, new)
        if found:
            self._found.append(found)
            sides, question = (_in_force(old), _in_force(new)), self._question
            now = question.now
            standing = standing_now(old, now), standing_now(new, now)
            self._warnings += risks.of_dates(found, sides, now, question.notice * HOUR, standing)
            is_open = all(any(one.open <= now < one.end for one in side) for side in sides)
            self._warnings += of_slots(old, new, now, is_open=is_open)

    def _dated(self, version: Version, pipeline: Pipeline) -> Version:
        found = expand(version.reservation, pipeline.declared.calendars)
        if pipeline is self._base:
            pipeline.problems += date_problems(version.reservation, found)
        return version._replace(occurrences=found.occurrences)

    def _hold(self, side: int, version: Version) -> None:
        for resource_class in () if version.reservation.suspend else version.classes:
            name = resource_class.name
            loads = [(name, pool_steps(version.reservation, name, version.occurrences))]
            self._held[side].take(version.cluster_of(name), pool_loads(version.reservation, loads))


def _may_be_in(side: Pipeline, version: Version) -> bool:
    return side.may_declare(_KIND, version.reservation.name)


def _in_force(version: Version | None) -> tuple[Occurrence, ...]:
    return () if version is None or version.reservation.suspend else version.occurrences


def version_of(item: Item, pipeline: Pipeline) -> Version:
    places = [part.placed for part in item.parts]
    return _version(item.reservation, places, pipeline, item.expansion.occurrences)


def _of(reservation: Reservation, pipeline: Pipeline) -> Version:
    """Not dated yet."""
    site = pipeline.site
    places = placed(reservation, pipeline.declared, site) if site else ()
    return _version(reservation, places, pipeline, ())


def _version(
    reservation: Reservation,
    places: Sequence[Placed],
    pipeline: Pipeline,
    occurrences: tuple[Occurrence, ...],
) -> Version:
    calendars = pipeline.declared.calendars
    return Version(
        reservation,
        tuple(one for place in places for one in place.classes),
        tuple(place.cluster.name for place in places for _ in place.classes),
        tuple(calendars[name] for name in reservation.recurrence.calendars if name in calendars),
        occurrences,
        _shapes(reservation, places, pipeline),
    )


def _shapes(
    reservation: Reservation, places: Sequence[Placed], pipeline: Pipeline
) -> tuple[tuple[str, str], ...]:
    if not isinstance(reservation.holder, Slots) or pipeline.site is None:
        return ()
    site = pipeline.site
    return tuple(
        (one.name, slot_hash(slot_object(site, place.cluster, reservation, one)))
        for place in places
        for one in place.classes
    )
