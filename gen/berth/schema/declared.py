"""All declarations of a project: read by the model of their kind, checked, and indexed by name."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from berth.findings import NOTE, RULES, WARNING, Path, Problem
from berth.reading.document import Document
from berth.schema.cloudvalues import CloudCapacity
from berth.schema.grammar import dns_label
from berth.schema.metadata import IGNORE
from berth.schema.renkunames import is_payload
from berth.schema.report import INVALID, Origin, Refusal, Report, close, nearest, shown
from berth.schema.values import Calendar, Reservation, ResourceClass, Site

if TYPE_CHECKING:
    from berth.schema.metadata import KindDocument

EMPTY, DUPLICATE, NO_SITE, SITES, KIND, BAD_IGNORE = "B007", "B060", "B064", "B065", "B069", "B030"
KINDS = ("Site", "ResourceClass", "Calendar", "CloudCapacity", "CapacityReservation")


@cache
def document_of(kind: str) -> "type[KindDocument]":
    """Return the model of the documents of a kind, which is imported when such a document is read."""
    if kind == "Site":
        from berth.schema.site import SiteDocument  # noqa: PLC0415

        return SiteDocument
    if kind == "ResourceClass":
        from berth.schema.resourceclass import ResourceClassDocument  # noqa: PLC0415

        return ResourceClassDocument
    if kind == "Calendar":
        from berth.schema.calendar import CalendarDocument  # noqa: PLC0415

        return CalendarDocument
    if kind == "CloudCapacity":
        from berth.schema.cloudcapacity import CloudDocument  # noqa: PLC0415

        return CloudDocument
    from berth.schema.reservation import ReservationDocument  # noqa: PLC0415

    return ReservationDocument


class Declared(NamedTuple):
    """All valid declarations.

    `mentioned` has, by kind, every name that was declared, valid or not; `nameless`, the kinds of faulty
    documents without a name; `ignored`, by file and document, the code that its author silenced.
    """

    site: Site | None
    classes: dict[str, ResourceClass]
    calendars: dict[str, Calendar]
    reservations: tuple[Reservation, ...]  # by name
    mentioned: dict[str, set[str]]
    nameless: set[str]
    ignored: dict[tuple[str, int], str]
    problems: list[Problem]
    clouds: dict[str, CloudCapacity]

    def may_exist(self, kind: str, name: str) -> bool:
        """Tell whether a reference may be to a document, even a faulty one, which is reported already."""
        return name in self.mentioned[kind] or kind in self.nameless


class _Place(NamedTuple):
    """Where a name is written."""

    origin: Origin
    path: Path


class _Reader:
    """Reads one document after the other; payloads of Renku wait until all classes are known."""

    def __init__(self) -> None:
        self.made: dict[str, list[Any]] = {kind: [] for kind in KINDS}
        self.mentioned: dict[str, set[str]] = {kind: set() for kind in KINDS}
        self.nameless: set[str] = set()
        self.named: dict[tuple[str, str], list[_Place]] = {}
        self.ignored: dict[tuple[str, int], str] = {}
        self.problems: list[Problem] = []
        self.payloads: list[tuple[Origin, Any]] = []
        self.sites: list[Origin] = []
        self.doubtful: set[str] = set()  # kinds that a faulty document may be of
        self.faulty_ids: set[int | None] = set()  # renkuIds of classes with faults; None: one does not say it

    def take(self, document: Document) -> None:
        value, report = document.value, Report(document.file, document.index)
        origin = Origin(document.file, document.index)
        if isinstance(value, list) and any(map(is_payload, value)):
            self.payloads += [(origin._replace(prefix=(i,)), item) for i, item in enumerate(value)]
        elif is_payload(value):
            self.payloads.append((origin, value))
        elif isinstance(value, dict):
            self._declaration(value, origin, report)
        elif value == []:
            report(EMPTY, (), "the list is empty.", "Write a declaration, or remove the file.")
        else:
            fix = "Write a mapping with apiVersion, kind, metadata and spec."
            if isinstance(value, list):
                fix = 'Write each declaration as a document of its own, with "---" between two of them.'
            report(KIND, (), f"{shown(value)} is not a declaration.", fix)
            self._doubt({}, None, KINDS)
        self.problems += report.problems

    def _declaration(self, value: dict[str, Any], origin: Origin, report: Report) -> None:
        kind = self._kind(value.get("kind"), report)
        kinds = KINDS if kind is None else (kind,)
        metadata = value.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        if isinstance(metadata, dict):
            self._ignore(metadata.get("annotations"), origin, report)
        made = INVALID if kind is None else document_of(kind).read({**value, "kind": kind}, report)
        if made is INVALID:
            self._doubt(value, name, kinds)
        else:
            self.made[str(kind)].append(made)
        if kind == "Site":
            self.sites.append(origin)
        if type(name) is str:
            for one in kinds:
                self.mentioned[one].add(name)
            if kind is not None and kind != "Site" and _is_name(name):
                self.named.setdefault((kind, name), []).append(_Place(origin, ("metadata", "name")))

    def _kind(self, said: Any, report: Report) -> str | None:
        """Return the kind, or the one that is probably meant; None if unknown."""
        if type(said) is str and said in KINDS:
            return said
        advice = nearest(str(said or ""), KINDS, "Write kind: one of")
        if said:
            report(KIND, ("kind",), f"{shown(said)} is not a kind of Berth.", advice)
        else:
            report(KIND, (), "kind is missing.", advice)
        return next(iter(close(said, KINDS)), None) if type(said) is str else None

    def _doubt(self, value: dict[str, Any], name: Any, kinds: tuple[str, ...]) -> None:
        """Remember which references may be to a faulty document."""
        self.doubtful.update(kinds)
        if type(name) is not str or not _is_name(name):
            self.nameless.update(kinds)
        if "ResourceClass" in kinds:
            spec = value.get("spec")
            number = spec.get("renkuId") if isinstance(spec, dict) else None
            self.faulty_ids.add(number if type(number) is int and number >= 0 else None)

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
            fix = "Only warnings and notes can be ignored; correct the error."
            report(BAD_IGNORE, at, f"{code.strip()} is an error.", fix)
        else:
            self.ignored[origin.file, origin.index] = code.strip()

    def take_payloads(self) -> None:
        if not self.payloads:
            return
        from berth.schema import renku  # noqa: PLC0415 - few projects have payloads

        names = {c.renku_id: c.name for c in reversed(self.made["ResourceClass"]) if c.renku_id is not None}
        for origin, value in self.payloads:
            report = Report(origin.file, origin.index, origin.prefix)
            made = renku.read(value, names, self.faulty_ids, report)
            self.problems += report.problems
            if made is not INVALID:
                self.made["CapacityReservation"].append(made)
                place = _Place(origin, (*origin.prefix, "name"))
                self.named.setdefault(("CapacityReservation", made.name), []).append(place)

    def duplicates(self) -> Iterator[Problem]:
        """Yield each document whose name another one has, and name that one."""
        for (kind, name), places in self.named.items():
            for place in places if len(places) > 1 else ():
                other = places[1] if place is places[0] else places[0]
                where = "this file" if other.origin.file == place.origin.file else other.origin.file
                message = f'duplicate name "{name}": another {kind} in {where} has it.'
                yield Problem(DUPLICATE, *place.origin[:2], place.path, message, "Rename one of them.")


def _is_name(text: str) -> bool:
    try:
        dns_label(text)
    except Refusal:
        return False
    return True


def declared(documents: Iterable[Document], folder: str, *, given: bool) -> Declared:
    """Read, check and index all documents. Their order decides only which of two with one name is kept.

    A missing Site is reported for the `folder`, unless nothing was `given`.
    """
    reader = _Reader()
    for document in documents:
        reader.take(document)
    reader.take_payloads()
    reader.problems += reader.duplicates()
    one_site = reader.made["Site"][0] if len(reader.sites) == 1 and reader.made["Site"] else None
    if len(reader.sites) > 1:
        for origin in reader.sites:
            message = f"{len(reader.sites)} Sites are declared; only one is allowed."
            reader.problems.append(Problem(SITES, origin.file, origin.index, ("kind",), message, "Keep one."))
    if not reader.sites and given and "Site" not in reader.doubtful:
        fix = "Add a document of kind Site with at least one cluster."
        reader.problems.append(Problem(NO_SITE, folder, 0, (), "no Site is declared.", fix))
    zone = one_site.zone if one_site else "UTC"
    by_name = _first_of_each_name(reader.made["CapacityReservation"])
    return Declared(
        site=one_site,
        classes=_first_of_each_name(reader.made["ResourceClass"]),
        calendars=_first_of_each_name(reader.made["Calendar"]),
        reservations=tuple(_in_zone(by_name[name], zone) for name in sorted(by_name)),
        mentioned=reader.mentioned,
        nameless=reader.nameless,
        ignored=reader.ignored,
        problems=reader.problems,
        clouds=_first_of_each_name(reader.made["CloudCapacity"]),
    )


def _first_of_each_name(things: list[Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for thing in things:
        kept.setdefault(thing.name, thing)
    return kept


def _in_zone(one: Reservation, zone: str) -> Reservation:
    """Return the reservation with the site's zone if it has none."""
    return one if one.recurrence.zone else one._replace(recurrence=one.recurrence._replace(zone=zone))
