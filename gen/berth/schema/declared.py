"""All declarations of a project: read by the model of their kind, checked, and indexed by name."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from berth.findings import GUARDS, NOTE, RULES, WARNING, Origin, Path, Problem
from berth.reading.document import Document
from berth.schema.calendardocument import Calendar, Term
from berth.schema.cloudvalues import CloudCapacity, GenericCapacity
from berth.schema.documentproblems import DocumentProblems, close, nearest, shown
from berth.schema.grammar import accepts, dns_label
from berth.schema.metadata import IGNORE
from berth.schema.values import ResourceClass, Site

if TYPE_CHECKING:
    from berth.schema.metadata import KindDocument
    from berth.schema.reservation import Reservation

EMPTY, DUPLICATE, NOT_ONE_SITE, BAD_IGNORE = "B007", "B060", "B064", "B030"
GUARD_IGNORED = "B271"
KIND = "B069"  # of a document that is not a declaration
_next_code = re.compile(r";(?=\s*B\d+\s*(?:[:;]|$))", re.IGNORECASE)  # a reason may contain semicolons
TERM = "term"
RESERVATION = "CapacityReservation"
_DOCUMENTS = {
    "Site": ("berth.schema.values", "SiteDocument"),
    "ResourceClass": ("berth.schema.values", "ResourceClassDocument"),
    "Calendar": ("berth.schema.calendardocument", "CalendarDocument"),
    "CloudCapacity": ("berth.schema.cloudcapacity", "CloudDocument"),
    RESERVATION: ("berth.schema.reservation", "ReservationDocument"),
}
KINDS = (*_DOCUMENTS,)
SHARED = KINDS[:-1]
"""The kinds that all reservations share: those of the platform team."""


@cache
def document_of(kind: str) -> "type[KindDocument]":
    """Return the model of the documents of a kind, which is imported when such a document is read."""
    module, name = _DOCUMENTS[kind]
    document: type[KindDocument] = getattr(import_module(module), name)
    return document


class Declared(NamedTuple):
    """All valid declarations. Reservations have the dates of what they name, and the site's zone if none.

    `mentioned` has, by kind, every name that was declared, valid or not; `nameless`, the kinds of faulty
    documents without a name; `ignored`, by file and document, the codes that its author silenced.
    """

    site: Site | None
    classes: dict[str, ResourceClass]
    calendars: dict[str, Calendar]
    reservations: "tuple[Reservation, ...]"  # by name
    mentioned: dict[str, set[str]]
    nameless: set[str]
    ignored: dict[tuple[str, int], frozenset[str]]
    problems: list[Problem]
    clouds: dict[str, CloudCapacity]
    terms: dict[str, Term]
    faulty: tuple["Reference", ...]  # that faulty reservations make
    assumes_utc: bool  # neither the Site nor some reservation with dates names a time zone
    generic: dict[str, GenericCapacity]  # documents of kind CloudCapacity, too

    @property
    def knows_nodes(self) -> bool:
        """Tell whether anything says which nodes there may be, so that there is something to plan."""
        return bool(self.clouds or self.generic)

    def shared(self) -> Iterator[tuple[str, str, Origin]]:
        """Yield kind, name and place of each document that all reservations share."""
        if self.site is not None:
            yield "Site", self.site.name, self.site.origin
        yield from (
            ("ResourceClass", resource_class.name, resource_class.origin)
            for resource_class in self.classes.values()
        )
        yield from (("Calendar", calendar.name, calendar.origin) for calendar in self.calendars.values())
        yield from (("CloudCapacity", cloud.name, cloud.origin) for cloud in self.clouds.values())
        yield from (("CloudCapacity", capacity.name, capacity.origin) for capacity in self.generic.values())

    def terms_by_date(self) -> list[str]:
        """Return the names of the terms, by their first dates."""
        return sorted(self.terms, key=lambda name: (self.terms[name].first, name))

    def may_exist(self, kind: str, name: str) -> bool:
        """Tell whether a reference may be to a document, even a faulty one, which is reported already."""
        return name in self.mentioned[kind] or kind in self.nameless


class Reference(NamedTuple):
    """A name of another document, and where it is written."""

    kind: str
    name: str
    origin: Origin
    path: Path


class Reading:
    """What documents declare, each read by itself."""

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        self.made: dict[str, list[Any]] = {kind: [] for kind in KINDS}
        self.mentioned: dict[str, set[str]] = {kind: set() for kind in (*KINDS, TERM)}
        self.nameless: set[str] = set()
        self.named: dict[tuple[str, str], list[tuple[Origin, Path]]] = {}
        self.ignored: dict[tuple[str, int], frozenset[str]] = {}
        self.problems: list[Problem] = []
        self.sites: list[Origin] = []
        self.faulty: list[Reference] = []
        self.doubtful: set[str] = set()  # kinds that a faulty document may be of
        for document in documents:
            self._take(document)

    def add(self, other: "Reading") -> None:
        """Add what other documents declare."""
        for kind, declarations in other.made.items():
            self.made[kind] += declarations
        for kind, names in other.mentioned.items():
            self.mentioned[kind] |= names
        for name, places in other.named.items():
            self.named.setdefault(name, []).extend(places)
        self.nameless |= other.nameless
        self.ignored |= other.ignored
        self.problems += other.problems
        self.sites += other.sites
        self.faulty += other.faulty
        self.doubtful |= other.doubtful

    def _take(self, document: Document) -> None:
        value, origin = document.value, document.origin
        report = DocumentProblems(origin)
        if isinstance(value, dict):
            self._declaration(value, origin, report)
        elif value == []:
            report(EMPTY, (), "the list is empty.", "Write a declaration, or remove the file.")
        else:
            fix = "Write a mapping with apiVersion, kind, metadata and spec."
            if isinstance(value, list):
                fix = 'Write each declaration as a document of its own, with "---" between two of them.'
            report(KIND, (), f"{shown(value)} is not a declaration.", fix)
            self._doubt(None, KINDS)
        self.problems += report.closed()

    def _declaration(self, value: dict[str, Any], origin: Origin, report: DocumentProblems) -> None:
        kind = self._kind(value.get("kind"), report)
        kinds = KINDS if kind is None else (kind,)
        metadata = value.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        if isinstance(metadata, dict):
            self._ignore(metadata.get("annotations"), kind, origin, report)
        declaration = None if kind is None else document_of(kind).read({**value, "kind": kind}, report)
        if declaration is None:
            self._doubt(name, kinds)
            if kind == "CapacityReservation":
                self.faulty += _references(value.get("spec"), origin)
        else:
            self.made[str(kind)].append(declaration)
            if isinstance(declaration, Calendar):
                self._terms(declaration)
        if kind == "Site":
            self.sites.append(origin)
        if type(name) is str:
            for each_kind in kinds:
                self.mentioned[each_kind].add(name)
            if kind is not None and kind != "Site" and accepts(dns_label, name):
                self.named.setdefault((kind, name), []).append((origin, ("metadata", "name")))

    def _kind(self, written: Any, report: DocumentProblems) -> str | None:
        """Return the kind, or the one that is probably meant; None if unknown."""
        if type(written) is str and written in KINDS:
            return written
        advice = nearest(str(written or ""), KINDS, "Write kind: one of")
        if written:
            report(KIND, ("kind",), f"{shown(written)} is not a kind of Berth.", advice)
        else:
            report(KIND, (), "kind is missing.", advice)
        return next(iter(close(written, KINDS)), None) if type(written) is str else None

    def _terms(self, calendar: Calendar) -> None:
        for i, term in enumerate(calendar.terms):
            self.mentioned[TERM].add(term.name)
            place: Path = ("spec", "terms", i, "name")
            self.named.setdefault((TERM, term.name), []).append((calendar.origin, place))

    def _doubt(self, name: Any, kinds: tuple[str, ...]) -> None:
        """Remember which references may be to a faulty document."""
        self.doubtful.update(kinds)
        if type(name) is not str or not accepts(dns_label, name):
            self.nameless.update(kinds)
        if "Calendar" in kinds:
            self.nameless.add(TERM)

    def _ignore(self, annotations: Any, kind: str | None, origin: Origin, report: DocumentProblems) -> None:
        if not isinstance(annotations, dict) or type(annotations.get(IGNORE)) is not str:
            return
        parts = _next_code.split(annotations[IGNORE])
        codes = [_ignored_code(part.strip(), report, by_author=kind not in SHARED) for part in parts]
        self.ignored[origin.file, origin.index] = frozenset(filter(None, codes))

    def duplicates(self) -> Iterator[Problem]:
        """Yield each document whose name another one has, and name that one."""
        for (kind, name), places in self.named.items():
            for i, (origin, path) in enumerate(places if len(places) > 1 else ()):
                other, _ = places[not i]
                where = "this file" if other.file == origin.file else other.file
                message = f'duplicate name "{name}": another {kind} in {where} has it.'
                yield origin.problem(DUPLICATE, path, message, "Rename one of them.")


def _ignored_code(text: str, report: DocumentProblems, *, by_author: bool) -> str | None:
    """Return the code of `B031: two groups share the room`, or None after what is wrong was reported.

    `by_author`: in a reservation, which may not ignore what protects others.
    """
    code, _, reason = text.partition(":")
    rule = RULES.get(code.strip())
    at = ("metadata", "annotations", IGNORE)
    if rule is None or not reason.strip():
        fix = 'Write a code and why, several with semicolons: "B031: two groups, one room; B032: meant".'
        report(BAD_IGNORE, at, f"{shown(text)} is not a code and a reason.", fix)
        return None
    if rule.severity not in (WARNING, NOTE):
        fix = "Only warnings and notes can be ignored; correct the error."
        report(BAD_IGNORE, at, f"{code.strip()} is an error.", fix)
        return None
    if by_author and code.strip() in GUARDS:
        fix = "Correct what it is about. Only the platform team can allow it, in the Site."
        report(GUARD_IGNORED, at, f"{code.strip()} protects others, so a reservation cannot ignore it.", fix)
        return None
    return code.strip()


def _references(spec: Any, origin: Origin) -> Iterator[Reference]:
    """Yield what the values of a faulty reservation refer to, as far as they can be read."""
    spec = _mapping(spec)
    recurrence, provisioning = _mapping(spec.get("recurrence")), _mapping(spec.get("provisioning"))
    named: list[tuple[str, Path, Any]] = [("ResourceClass", ("resourceClass",), spec.get("resourceClass"))]
    for i, row in enumerate(_list(provisioning.get("seats"))):
        path: Path = ("provisioning", "seats", i, "resourceClass")
        named.append(("ResourceClass", path, _mapping(row).get("resourceClass")))
    for key, kind in (("calendars", "Calendar"), ("within", TERM)):
        for i, name in enumerate(_list(recurrence.get(key))):
            named.append((kind, ("recurrence", key, i), name))
    named.append(("CloudCapacity", ("recurrence", "cloudCapacity"), recurrence.get("cloudCapacity")))
    for kind, path, name in named:
        if type(name) is str and accepts(dns_label, name):
            yield Reference(kind, name, origin, ("spec", *path))


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def declared(readings: Iterable[Reading], folder: str, *, given: bool) -> Declared:
    """Check and index all documents. Their order decides only which of two with one name is kept.

    A missing Site is reported for the `folder`, unless nothing was `given`.
    """
    reader = Reading()
    for reading in readings:
        reader.add(reading)
    reader.problems += reader.duplicates()
    one_site = reader.made["Site"][0] if len(reader.sites) == 1 and reader.made["Site"] else None
    if len(reader.sites) > 1:
        for origin in reader.sites:
            message = f"{len(reader.sites)} Sites are declared; only one is allowed."
            reader.problems.append(origin.problem(NOT_ONE_SITE, ("kind",), message, "Keep one."))
    if not reader.sites and given and "Site" not in reader.doubtful:
        fix = "Add a document of kind Site with at least one cluster."
        reader.problems.append(Origin(folder).problem(NOT_ONE_SITE, (), "no Site is declared.", fix))
    by_name = _first_of_each_name(reader.made["CapacityReservation"])
    has_zone = one_site is None or bool(one_site.zone)
    if one_site is not None:
        one_site = one_site.model_copy(update={"zone": one_site.zone or "UTC"})
    zone, site_wide = (one_site.zone, one_site.calendars) if one_site else ("UTC", ())
    calendars = {
        name: calendar._replace(is_site_wide=name in site_wide)
        for name, calendar in _first_of_each_name(reader.made["Calendar"]).items()
    }
    terms = {term.name: term for calendar in calendars.values() for term in calendar.terms}
    capacities = _first_of_each_name(reader.made["CloudCapacity"])
    classes = _first_of_each_name(reader.made["ResourceClass"])
    return Declared(
        site=one_site,
        classes=classes,
        calendars=calendars,
        reservations=tuple(
            _with_classes(_completed(by_name[name], zone, terms, capacities), classes)
            for name in sorted(by_name)
        ),
        mentioned=reader.mentioned,
        nameless=reader.nameless,
        ignored=reader.ignored,
        problems=reader.problems,
        clouds={
            name: capacity for name, capacity in capacities.items() if isinstance(capacity, CloudCapacity)
        },
        terms=terms,
        faulty=tuple(reader.faulty),
        assumes_utc=not has_zone and any(_is_without_zone(reservation) for reservation in by_name.values()),
        generic={
            name: capacity for name, capacity in capacities.items() if isinstance(capacity, GenericCapacity)
        },
    )


def _first_of_each_name(things: list[Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for thing in things:
        kept.setdefault(thing.name, thing)
    return kept


def _is_without_zone(reservation: "Reservation") -> bool:
    return not reservation.recurrence.zone and reservation.recurrence.type not in ("standing", "capacity")


def _with_classes(reservation: "Reservation", classes: Mapping[str, ResourceClass]) -> "Reservation":
    """Return the reservation with what its classes say about how long its seats are held."""
    if reservation.holder.persistence is None:
        return reservation
    mappings = [classes[name].slot_patch for name, _ in reservation.seats if name in classes]
    return reservation._replace(holder=reservation.holder.with_mappings(mappings))


def _completed(
    reservation: "Reservation", zone: str, terms: Mapping[str, Term], capacities: Mapping[str, Any]
) -> "Reservation":
    """Return the reservation with the site's zone if it has none, and with the dates of what it names."""
    recurrence = reservation.recurrence
    if recurrence.zone and not recurrence.within and not recurrence.capacity:
        return reservation
    recurrence = recurrence._replace(zone=recurrence.zone or zone)
    ranges = sorted((terms[name].first, terms[name].last) for name in recurrence.within if name in terms)
    if ranges:
        last = max(end for _, end in ranges)
        recurrence = recurrence._replace(terms=tuple(ranges), first=ranges[0][0], last=last)
    capacity = capacities.get(recurrence.capacity)
    if isinstance(capacity, CloudCapacity):
        recurrence = recurrence._replace(usable=capacity.usable)
    return reservation._replace(recurrence=recurrence)
