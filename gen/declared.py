"""All that was declared, from all files: documents told apart by kind, checked, and indexed by name."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from gen.finding import NOTE, WARNING, Problem
from gen.input.document import Document
from gen.input.scalar import Value
from gen.kind import calendar, renku, reservation, resourceclass, site
from gen.kind.metadata import IGNORE
from gen.kind.shape import INVALID, Fields, Report, nearest, shown
from gen.model import Calendar, Origin, Reservation, ResourceClass, Site
from gen.rules import RULES

DUPLICATE, NO_SITE, SITES, KIND, BAD_IGNORE = "B060", "B064", "B065", "B069", "B030"

KINDS: dict[str, Fields] = {
    "Site": site.DOCUMENT,
    "ResourceClass": resourceclass.DOCUMENT,
    "Calendar": calendar.DOCUMENT,
    "CapacityReservation": reservation.DOCUMENT,
}


class Declared(NamedTuple):
    """What is sound among the declarations.

    `mentioned` holds, by kind, every name that was declared, sound or not: a reference to a faulty document is no
    second fault. `ignored` are (file, document) -> the code that its author silenced.
    """

    site: Site | None
    classes: dict[str, ResourceClass]
    calendars: dict[str, Calendar]
    reservations: tuple[Reservation, ...]  # by name
    mentioned: dict[str, set[str]]
    ignored: dict[tuple[str, int], str]
    problems: list[Problem]


class _Reader:
    """Takes one document after the other; Renku's wait until all classes are known."""

    def __init__(self) -> None:
        self.made: dict[str, list[Any]] = {kind: [] for kind in KINDS}
        self.mentioned: dict[str, set[str]] = {kind: set() for kind in KINDS}
        self.ignored: dict[tuple[str, int], str] = {}
        self.problems: list[Problem] = []
        self.payloads: list[tuple[Origin, dict[str, Any]]] = []
        self.sites: list[Origin] = []
        self.faulty_ids: set[str] = set()  # renkuIds as written

    def take(self, document: Document) -> None:
        value, report = document.value, Report(document.file, document.index)
        origin = Origin(document.file, document.index)
        payloads = _payloads(value)
        if payloads:
            self.payloads += [(origin._replace(prefix=(i,)), item) for i, item in enumerate(payloads)]
        elif isinstance(value, dict) and renku.is_payload(value):
            self.payloads.append((origin, value))
        elif isinstance(value, dict):
            self._declaration(value, origin, report)
        else:
            fix = "Write a mapping with apiVersion, kind, metadata and spec."
            report(KIND, (), f"{shown(value)} is not a declaration.", fix)
        self.problems += report.problems

    def _declaration(self, value: dict[str, Any], origin: Origin, report: Report) -> None:
        kind = value.get("kind")
        shape = KINDS.get(kind) if type(kind) is str else None
        if shape is None:
            at, said = (("kind",), f"{shown(kind)} is no kind of ours.") if kind else ((), "kind is missing.")
            report(KIND, at, said, nearest(str(kind or ""), tuple(KINDS), "Write kind: one of"))
            return
        metadata = value.get("metadata")
        if isinstance(metadata, dict):
            if type(metadata.get("name")) is str:
                self.mentioned[str(kind)].add(metadata["name"])
            self._ignore(metadata.get("annotations"), origin, report)
        if kind == "Site":
            self.sites.append(origin)
        made = shape.check(value, (), report)
        if made is not INVALID:
            self.made[str(kind)].append(made)
        elif kind == "ResourceClass" and isinstance(value.get("spec"), dict):
            self.faulty_ids.add(str(value["spec"].get("renkuId")))

    def _ignore(self, annotations: Any, origin: Origin, report: Report) -> None:
        if not isinstance(annotations, dict) or type(annotations.get(IGNORE)) is not str:
            return
        code, _, reason = annotations[IGNORE].partition(":")
        rule = RULES.get(code.strip())
        at = ("metadata", "annotations", IGNORE)
        if rule is None or not reason.strip():
            fix = 'Write one code and why: "B031: two groups share the room".'
            report(BAD_IGNORE, at, f"{shown(annotations[IGNORE])} is not a code and a reason.", fix)
        elif rule.severity not in (WARNING, NOTE):
            fix = "Only warnings and notes can be ignored; mend the error."
            report(BAD_IGNORE, at, f"{code.strip()} is an error.", fix)
        else:
            self.ignored[origin.file, origin.index] = code.strip()

    def payload_reservations(self) -> list[Reservation]:
        classes = {c.renku_id: c.name for c in self.made["ResourceClass"] if c.renku_id is not None}
        found = []
        for origin, value in self.payloads:
            report = Report(origin.file, origin.index, origin.prefix)
            made = renku.read(value, classes, self.faulty_ids, report)
            self.problems += report.problems
            if made is not INVALID:
                found.append(made)
        return found

    def unique(self, kind: str, things: list[Any]) -> dict[str, Any]:
        """By name; of two with one name, both are told and the first is kept."""
        kept: dict[str, Any] = {}
        told: set[Origin] = set()
        for thing in things:
            first = kept.setdefault(thing.name, thing)
            if first is thing:
                continue
            for one, other in ((first, thing), (thing, first)):
                if one.origin not in told:
                    told.add(one.origin)
                    self.problems.append(_same_name(kind, one, other))
        return kept


def _payloads(value: Value) -> list[dict[str, Any]]:
    """The items of a list that Renku answered; none where it is something else."""
    items = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
    ours = isinstance(value, list) and len(items) == len(value) and all(map(renku.is_payload, items))
    return items if ours else []


def _same_name(kind: str, one: Any, other: Any) -> Problem:
    origin: Origin = one.origin
    path = (*origin.prefix, "name") if getattr(one, "renku", False) else ("metadata", "name")
    message = f"another {kind} is named {one.name} too, in {other.origin.file}."
    return Problem(DUPLICATE, origin.file, origin.index, path, message, "Rename one of them.")


def declared(documents: Iterable[Document], folder: str, *, given: bool) -> Declared:
    """Sort, check and index. The order of the documents changes nothing but which of two like names is kept.

    A missing Site is told of the `folder`, unless nothing at all was `given`.
    """
    reader = _Reader()
    for document in documents:
        reader.take(document)
    reservations = reader.made["CapacityReservation"] + reader.payload_reservations()
    one_site = reader.made["Site"][0] if len(reader.sites) == 1 and reader.made["Site"] else None
    if len(reader.sites) > 1:
        for origin in reader.sites:
            message = f"{len(reader.sites)} Sites are declared; there can be one."
            reader.problems.append(Problem(SITES, origin.file, origin.index, ("kind",), message, "Keep one."))
    if not reader.sites and given:
        fix = "Add a document of kind Site with at least one cluster."
        reader.problems.append(Problem(NO_SITE, folder, 0, (), "no Site is declared.", fix))
    zone = one_site.zone if one_site else "UTC"
    reservations = [_in_zone(one, zone) for one in reservations]
    by_name = reader.unique("CapacityReservation", reservations)
    return Declared(
        site=one_site,
        classes=reader.unique("ResourceClass", reader.made["ResourceClass"]),
        calendars=reader.unique("Calendar", reader.made["Calendar"]),
        reservations=tuple(by_name[name] for name in sorted(by_name)),
        mentioned=reader.mentioned,
        ignored=reader.ignored,
        problems=reader.problems,
    )


def _in_zone(one: Reservation, zone: str) -> Reservation:
    """With the site's zone where it names none."""
    return one if one.recurrence.zone else one._replace(recurrence=one.recurrence._replace(zone=zone))
