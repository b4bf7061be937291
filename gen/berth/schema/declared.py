"""All declarations of a project: read by the model of their kind, checked, and indexed by name."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from berth.findings import GUARDS, NOTE, RULES, WARNING, Origin, Path, Problem
from berth.reading.document import Document
from berth.schema.calendardocument import Calendar, Term
from berth.schema.cloudgrammar import GENERIC
from berth.schema.documentproblems import DocumentProblems, close, nearest, shown
from berth.schema.grammar import accepts, dns_label
from berth.schema.metadata import IGNORE
from berth.schema.values import Recurrence, ResourceClass, Site

if TYPE_CHECKING:
    from berth.schema.cloudcapacity import CloudCapacity, GenericCapacity
    from berth.schema.metadata import KindDocument
    from berth.schema.reservation import Reservation

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
    clouds: "dict[str, CloudCapacity]"
    terms: dict[str, Term]
    faulty: tuple["Reference", ...]  # that faulty documents make
    assumes_utc: bool  # neither the Site nor some reservation with dates names a time zone
    generic: "dict[str, GenericCapacity]"  # documents of kind CloudCapacity, too

    @property
    def capacities(self) -> "Mapping[str, CloudCapacity | GenericCapacity]":
        """The capacities of all providers; without any, nothing says which nodes there may be."""
        return {**self.clouds, **self.generic}

    def shared(self) -> Iterator[tuple[str, str, Origin]]:
        """Yield kind, name and place of each document that all reservations share."""
        if self.site is not None:
            yield "Site", self.site.name, self.site.origin
        by_kind: dict[str, Mapping[str, Any]] = {
            "ResourceClass": self.classes,
            "Calendar": self.calendars,
            "CloudCapacity": self.capacities,
        }
        for kind, documents in by_kind.items():
            yield from ((kind, name, document.origin) for name, document in documents.items())

    def terms_by_date(self) -> list[str]:
        """Return the names of the terms, by their first dates."""
        return sorted(self.terms, key=lambda name: (self.terms[name].first, name))

    def may_exist(self, kind: str, name: str) -> bool:
        """Tell whether a reference may be to a document, even a faulty one, which is reported already."""
        return name in self.mentioned[kind] or kind in self.nameless

    def knows_calendars(self, recurrence: Recurrence) -> bool:
        """Tell whether all calendars are known that take away dates: its own, and those of the Site."""
        site = self.site
        return site is not None and {*recurrence.calendars, *site.calendars} <= self.calendars.keys()


class Reference(NamedTuple):
    """A name of another document, and where it is written."""

    kind: str
    name: str
    origin: Origin
    path: Path


class ReadDocument(NamedTuple):
    """What one document declares, read by itself."""

    origin: Origin
    problems: list[Problem]
    kinds: tuple[str, ...] = ()  # its kind, or all that it may be of
    name: str | None = None
    declaration: Any = None  # None: it is faulty
    ignored: frozenset[str] | None = None
    references: tuple[Reference, ...] = ()  # of a faulty one

    @property
    def kind(self) -> str:
        return self.kinds[0] if len(self.kinds) == 1 else ""

    @property
    def has_valid_name(self) -> bool:
        return self.name is not None and accepts(dns_label, self.name)

    def names(self) -> Iterator[tuple[str, str, Path]]:
        """Yield kind, name and place of each name that no other document may have."""
        if self.name is not None and self.has_valid_name and self.kind not in ("", "Site"):
            yield self.kind, self.name, ("metadata", "name")
        for i, term in enumerate(_terms(self)):
            yield TERM, term.name, ("spec", "terms", i, "name")


def read_document(document: Document) -> ReadDocument:
    """Read a document. The result depends on nothing else."""
    value, report = document.value, DocumentProblems(document.origin)
    if not isinstance(value, dict):
        kinds = _not_a_mapping(value, report)
        return ReadDocument(document.origin, report.closed(), kinds)
    kind = _kind(value.get("kind"), report)
    metadata = _mapping(value.get("metadata"))
    name = metadata.get("name")
    ignored = _ignored_codes(_mapping(metadata.get("annotations")).get(IGNORE), kind, report)
    declaration = None if kind is None else document_of(kind).read({**value, "kind": kind}, report)
    return ReadDocument(
        document.origin,
        report.closed(),
        KINDS if kind is None else (kind,),
        name if type(name) is str else None,
        declaration,
        ignored,
        tuple(_references(value.get("spec"), document.origin)) if declaration is None else (),
    )


def _not_a_mapping(value: Any, report: DocumentProblems) -> tuple[str, ...]:
    """Report a document that is no declaration; return the kinds that it may be meant to be of."""
    if value == []:
        report("B007", (), "the list is empty.", "Write a declaration, or remove the file.")
        return ()
    fix = "Write a mapping with apiVersion, kind, metadata and spec."
    if isinstance(value, list):
        fix = 'Write each declaration as a document of its own, with "---" between two of them.'
    report("B069", (), f"{shown(value)} is not a declaration.", fix)
    return KINDS


def _kind(written: Any, report: DocumentProblems) -> str | None:
    """Return the kind, or the one that is probably meant; None if unknown."""
    if type(written) is str and written in KINDS:
        return written
    advice = nearest(str(written or ""), KINDS, "Write kind: one of")
    if written:
        report("B069", ("kind",), f"{shown(written)} is not a kind of Berth.", advice)
    else:
        report("B069", (), "kind is missing.", advice)
    return next(iter(close(written, KINDS)), None) if type(written) is str else None


def _terms(document: ReadDocument) -> tuple[Term, ...]:
    calendar = document.declaration if document.kind == "Calendar" else None
    return () if calendar is None else calendar.terms


def _ignored_codes(text: Any, kind: str | None, report: DocumentProblems) -> frozenset[str] | None:
    """Return the codes that an annotation ignores; None without one."""
    if type(text) is not str:
        return None
    parts = _next_code.split(text)
    codes = [_ignored_code(part.strip(), report, by_author=kind not in SHARED) for part in parts]
    return frozenset(filter(None, codes))


def _ignored_code(text: str, report: DocumentProblems, *, by_author: bool) -> str | None:
    """Return the code of `B031: two groups share the room`, or None after what is wrong was reported.

    `by_author`: in a reservation, which may not ignore what protects others.
    """
    code, _, reason = text.partition(":")
    rule = RULES.get(code.strip())
    at = ("metadata", "annotations", IGNORE)
    if rule is None or not reason.strip():
        fix = 'Write a code and why, several with semicolons: "B031: two groups, one room; B032: meant".'
        report("B030", at, f"{shown(text)} is not a code and a reason.", fix)
        return None
    if rule.severity not in (WARNING, NOTE):
        fix = "Only warnings and notes can be ignored; correct the error."
        report("B030", at, f"{code.strip()} is an error.", fix)
        return None
    if by_author and code.strip() in GUARDS:
        fix = "Correct what it is about. Only the platform team can allow it, in the Site."
        report("B271", at, f"{code.strip()} protects others, so a reservation cannot ignore it.", fix)
        return None
    return code.strip()


def _references(spec: Any, origin: Origin) -> Iterator[Reference]:
    """Yield what the values of a faulty document refer to, as far as they can be read."""
    spec = _mapping(spec)
    recurrence, provisioning = _mapping(spec.get("recurrence")), _mapping(spec.get("provisioning"))
    named: list[tuple[str, Path, Any]] = [("ResourceClass", ("resourceClass",), spec.get("resourceClass"))]
    for i, row in enumerate(_list(provisioning.get("seats"))):
        path: Path = ("provisioning", "seats", i, "resourceClass")
        named.append(("ResourceClass", path, _mapping(row).get("resourceClass")))
    lists: tuple[tuple[dict[str, Any], tuple[str, ...], str], ...] = (
        (recurrence, ("recurrence", "calendars"), "Calendar"),
        (recurrence, ("recurrence", "within"), TERM),
        (spec, ("calendars",), "Calendar"),  # of a Site
        (spec, ("cloudCapacity",), "CloudCapacity"),  # of a ResourceClass
    )
    for tree, place, kind in lists:
        named += [(kind, (*place, i), name) for i, name in enumerate(_list(tree.get(place[-1])))]
    named.append(("CloudCapacity", ("recurrence", "cloudCapacity"), recurrence.get("cloudCapacity")))
    for kind, path, name in named:
        if type(name) is str and accepts(dns_label, name):
            yield Reference(kind, name, origin, ("spec", *path))


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def declared(read: Iterable[ReadDocument], folder: str, *, given: bool) -> Declared:
    """Check and index all documents. Their order decides only which of two with one name is kept.

    A missing Site is reported for the `folder`, unless nothing was `given`.
    """
    documents = [*read]
    faulty = [document for document in documents if document.kinds and document.declaration is None]
    sites = [document for document in documents if document.kind == "Site"]
    site: Site | None = sites[0].declaration if len(sites) == 1 else None
    zone, site_wide = (site.zone or "UTC", site.calendars) if site else ("UTC", ())
    classes, capacities, calendars, by_name = (
        _first_of_each_name(documents, kind)
        for kind in ("ResourceClass", "CloudCapacity", "Calendar", RESERVATION)
    )
    calendars = {
        name: calendar._replace(is_site_wide=name in site_wide) for name, calendar in calendars.items()
    }
    terms = {term.name: term for calendar in calendars.values() for term in calendar.terms}
    nameless = {kind for document in faulty if not document.has_valid_name for kind in document.kinds}
    nameless |= {TERM for document in faulty if "Calendar" in document.kinds}
    return Declared(
        site=None if site is None else site.model_copy(update={"zone": zone}),
        classes=classes,
        calendars=calendars,
        reservations=tuple(
            _with_classes(_completed(by_name[name], zone, terms, capacities), classes)
            for name in sorted(by_name)
        ),
        mentioned=_mentioned(documents),
        nameless=nameless,
        ignored={
            (document.origin.file, document.origin.index): document.ignored
            for document in documents
            if document.ignored is not None
        },
        problems=[
            *chain.from_iterable(document.problems for document in documents),
            *_duplicates(documents),
            *(_not_one_site(sites, faulty, folder) if given or sites else ()),
        ],
        clouds={name: one for name, one in capacities.items() if one.provider != GENERIC},
        terms=terms,
        faulty=tuple(chain.from_iterable(document.references for document in faulty)),
        assumes_utc=site is not None
        and not site.zone
        and any(
            not one.recurrence.zone and one.recurrence.type not in ("standing", "capacity")
            for one in by_name.values()
        ),
        generic={name: one for name, one in capacities.items() if one.provider == GENERIC},
    )


def _mentioned(documents: Sequence[ReadDocument]) -> dict[str, set[str]]:
    """Return the names of all documents by kind, also of faulty ones, and of terms."""
    mentioned: dict[str, set[str]] = {kind: set() for kind in KINDS}
    for document in documents:
        for kind in document.kinds if document.name is not None else ():
            mentioned[kind].add(document.name or "")
    return {**mentioned, TERM: {term.name for document in documents for term in _terms(document)}}


def _duplicates(documents: Iterable[ReadDocument]) -> Iterator[Problem]:
    """Yield each document whose name another one has, and name that one."""
    places: dict[tuple[str, str], list[tuple[Origin, Path]]] = {}
    for document in documents:
        for kind, name, path in document.names():
            places.setdefault((kind, name), []).append((document.origin, path))
    for (kind, name), same in places.items():
        for i, (origin, path) in enumerate(same if len(same) > 1 else ()):
            other, _ = same[not i]
            where = "this file" if other.file == origin.file else other.file
            message = f'duplicate name "{name}": another {kind} in {where} has it.'
            yield origin.problem("B060", path, message, "Rename one of them.")


def _not_one_site(
    sites: Sequence[ReadDocument], faulty: Iterable[ReadDocument], folder: str
) -> Iterator[Problem]:
    for document in sites if len(sites) > 1 else ():
        message = f"{len(sites)} Sites are declared; only one is allowed."
        yield document.origin.problem("B064", ("kind",), message, "Keep one.")
    if not sites and not any("Site" in document.kinds for document in faulty):
        fix = "Add a document of kind Site with at least one cluster."
        yield Origin(folder).problem("B064", (), "no Site is declared.", fix)


def _first_of_each_name(documents: Sequence[ReadDocument], kind: str) -> dict[str, Any]:
    named = (one.declaration for one in documents if one.kind == kind and one.declaration is not None)
    kept: dict[str, Any] = {}
    for declaration in named:
        kept.setdefault(declaration.name, declaration)
    return kept


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
    if capacity is not None and capacity.provider != GENERIC:
        recurrence = recurrence._replace(usable=capacity.usable)
    return reservation._replace(recurrence=recurrence)
