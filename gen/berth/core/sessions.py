"""Sessions, how they are recognized in the cluster, and which occurrences may claim them.

Values and pure rules only; `berth.runtime.sessionobserver` reads sessions from objects of the API server.
"""

from collections.abc import Container, Iterable, Mapping
from typing import Any, NamedTuple

from berth.core.jsonvalues import TimetableError, boolean, field, mapping, non_negative, sequence, text

NO_TEMPLATE, UNKNOWN_TEMPLATE = "", "?"
RENKU_PROJECT, RENKU_CLASS = "renku.io/project_id", "renku.io/resource_class_id"  # annotations
SOURCES = ("renku", "jupyterhub", "pods", "custom")

Pairs = tuple[tuple[str, str], ...]


class Session(NamedTuple):
    """An active session of a resource class. It has only the labels and annotations that a match uses."""

    id: str  # for ever, of the whole cluster: its uid
    namespace: str
    created: int
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    template: str = NO_TEMPLATE  # of its project; UNKNOWN_TEMPLATE where nobody could tell
    classes: tuple[str, ...] = ()  # that recognize it


class Match(NamedTuple):
    """Narrows the sessions of a class to one course. If all fields are empty, it matches every session."""

    namespaces: tuple[str, ...] = ()
    labels: Pairs = ()
    annotations: Pairs = ()
    template: str = NO_TEMPLATE
    ignores_earlier: bool = False  # sessions that were created before the occurrence opened
    handover: int = 0  # seconds for which an occurrence that is over keeps its sessions from the next one
    carries_over: bool = False  # sessions of an occurrence count for those after it, too

    @property
    def requirements(self) -> int:
        return len(self.labels) + len(self.annotations)


class Claim(NamedTuple):
    """An occurrence that may take sessions of a class, whatever its behavior: open, or handing over."""

    id: str
    open: int
    start: int
    end: int
    count: int  # type: ignore[assignment] # not the method of a tuple
    match: Match
    is_over: bool = False


def project_of(session: Session) -> str:
    """Return the project by which the template is looked up; empty without one."""
    return session.annotations.get(RENKU_PROJECT, "")


def fits(session: Session, claim: Claim) -> bool:
    """Return whether the claim matches the session. If the template is unknown, the class decides."""
    match = claim.match
    # Loops, because generators would take most of the time of 40 courses that are open at once.
    for pairs, wanted in ((session.labels, match.labels), (session.annotations, match.annotations)):
        for key, value in wanted:
            if pairs.get(key) != value:
                return False
    return (
        (not match.namespaces or session.namespace in match.namespaces)
        and session.template in (match.template or session.template, UNKNOWN_TEMPLATE)
        and not (match.ignores_earlier and session.created < claim.open)
        and not (claim.is_over and session.created >= claim.end)
    )


def ranked(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """Return the claims in the order in which they get a session that fits several.

    The more specific match comes first, then the earlier end, the earlier start, and the id.
    """
    return tuple(sorted(claims, key=_specificity))


def _specificity(claim: Claim) -> tuple[bool, int, bool, int, int, str]:
    match = claim.match
    return not match.template, -match.requirements, not match.namespaces, claim.end, claim.start, claim.id


class LabelRequirement(NamedTuple):
    """A requirement of a label selector. `Exists` and `DoesNotExist` have no values."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    @property
    def query(self) -> str:
        """The requirement in a query to the API server."""
        if self.operator == "In" and len(self.values) == 1:
            return f"{self.key}={self.values[0]}"
        return _QUERIES[self.operator].format(self.key, ",".join(self.values))

    def holds(self, labels: Mapping[str, object]) -> bool:
        value = labels.get(self.key)
        if self.operator in ("In", "NotIn"):
            return (value in self.values) is (self.operator == "In")
        return (value is None) is (self.operator == "DoesNotExist")


_QUERIES = {"In": "{} in ({})", "NotIn": "{} notin ({})", "Exists": "{}", "DoesNotExist": "!{}"}
_OF_THE_HUB = LabelRequirement("component", "In", ("singleuser-server",))


class Inactive(NamedTuple):
    """Excludes sessions whose field at `path` (such as `spec.suspend`) is one of `values`."""

    path: str
    values: tuple[str, ...]


class Recognition(NamedTuple):
    """How sessions of a class are recognized. Only `custom` uses `group` to `inactive`."""

    source: str
    namespaces: tuple[str, ...]  # by name; none where `namespace_labels` tell them
    selector: tuple[LabelRequirement, ...] = ()
    renku_id: int | None = None
    group: str = ""
    version: str = ""
    resource: str = ""
    annotations: Pairs = ()
    inactive: tuple[Inactive, ...] = ()
    namespace_labels: Pairs = ()

    def covers(self, namespace: str, labeled: Mapping[Pairs, Container[str]]) -> bool:
        """Return whether it looks for sessions there. `labeled`: namespaces by their labels, where known."""
        labels = self.namespace_labels
        return namespace in (labeled.get(labels, (namespace,)) if labels else self.namespaces)

    @property
    def resource_kind(self) -> tuple[str, str]:
        """The API group and plural name of the kind of its sessions."""
        if self.source == "renku":
            return "amalthea.dev", "amaltheasessions"
        return (self.group, self.resource) if self.source == "custom" else ("", "pods")

    @property
    def required_labels(self) -> tuple[LabelRequirement, ...]:
        """All requirements on the labels of a session."""
        return (_OF_THE_HUB, *self.selector) if self.source == "jupyterhub" else self.selector

    @property
    def required_annotations(self) -> Pairs:
        """All annotations that a session must have."""
        return ((RENKU_CLASS, str(self.renku_id)),) if self.source == "renku" else self.annotations

    @property
    def requirements(self) -> int:
        return len({*self.required_labels}) + len(self.required_annotations)

    def rank(self, resource_class: str, more: int = 0) -> tuple[bool, int, int, str]:
        """Return the rank of a class among those that recognize a session; the lowest has it.

        `more`: the requirements of the course. Classes that name their namespaces come first, as these cannot
        know who has which labels; then the most requirements, the fewest namespaces, and the name.
        """
        namespaces = len(self.namespaces) or -len(self.namespace_labels)
        return bool(self.namespace_labels), -self.requirements - more, namespaces, resource_class


def may_overlap(recognition: Recognition, other: Recognition) -> bool:
    """Return whether both may recognize the same session. Its labels are not compared.

    A namespace that one names may have the labels of the other.
    """
    is_by_label = recognition.namespace_labels or other.namespace_labels
    return (
        recognition.resource_kind == other.resource_kind
        and bool(is_by_label or not set(recognition.namespaces).isdisjoint(other.namespaces))
        and _agree(recognition.namespace_labels, other.namespace_labels)
        and _agree(recognition.required_annotations, other.required_annotations)
    )


def _agree(pairs: Pairs, others: Pairs) -> bool:
    """Return whether one object can have both."""
    known = dict(others)
    return all(known.get(key, value) == value for key, value in pairs)


class Contest(NamedTuple):
    """Decides for a class which sessions count for it, of those that other classes recognize too.

    `claims` are the open ones, by class; `labeled` the namespaces that have certain labels.
    """

    resource_class: str = ""
    recognitions: Mapping[str, Recognition] = {}
    claims: Mapping[str, tuple[Claim, ...]] = {}
    labeled: Mapping[Pairs, Container[str]] = {}

    def is_won(self, session: Session) -> bool:
        classes = session.classes
        if self.labeled:
            classes = tuple(name for name in classes if self._covers(name, session.namespace))
        if len(classes) < 2:  # nobody contests it
            return classes == session.classes or self.resource_class in classes
        session = session._replace(classes=classes)
        return winning_class(session, self.recognitions, self.claims) == self.resource_class

    def _covers(self, name: str, namespace: str) -> bool:
        recognition = self.recognitions.get(name)
        return recognition is None or recognition.covers(namespace, self.labeled)


NO_CONTEST = Contest()


def winning_class(
    session: Session, recognitions: Mapping[str, Recognition], claims: Mapping[str, tuple[Claim, ...]]
) -> str | None:
    """Return the class that the session counts for, of those that recognize it and have a fitting claim.

    Every scaler decides the same.
    """
    ranking = [
        recognitions[name].rank(name, claim.match.requirements)
        for name in session.classes
        for claim in claims.get(name, ())
        if not claim.is_over and fits(session, claim)
    ]
    return min(ranking)[-1] if ranking else None


def parse_recognition(tree: dict[str, object], at: str) -> tuple[Recognition, Match]:
    """Parse the `sessions` of a pool in a timetable."""
    source = field(tree, "source", text, at)
    if source not in SOURCES:
        raise TimetableError(f"{at}.source: {source!r} is not one of {', '.join(SOURCES)}")
    course, course_at = _optional(tree, "course", mapping, {}, at), f"{at}.course"
    namespaces, labels = field(tree, "namespaces", _namespaces, at)
    recognition = Recognition(
        source,
        namespaces,
        field(tree, "selector", _selector, at),
        _optional(tree, "renkuId", non_negative, None, at),
        _optional(tree, "group", text, "", at),
        _optional(tree, "version", text, "", at),
        _optional(tree, "resource", text, "", at),
        _optional(tree, "matchAnnotations", _pairs, (), at),
        _optional(tree, "inactive", _inactive, (), at),
        labels,
    )
    match = Match(
        _optional(course, "namespaces", _texts, (), course_at),
        _optional(course, "matchLabels", _pairs, (), course_at),
        _optional(course, "matchAnnotations", _pairs, (), course_at),
        _optional(course, "projectTemplate", text, "", course_at),
        field(tree, "earlier", text, at) == "ignore",
        _optional(tree, "handoverSeconds", non_negative, 0, at),
        _optional(tree, "carryOver", boolean, False, at),
    )
    return recognition, match


def _namespaces(value: object, at: str) -> tuple[tuple[str, ...], Pairs]:
    """Parse a list of names, or `{"matchLabels": {...}}`."""
    if not isinstance(value, dict):
        return _texts(value, at), ()
    labels = field(value, "matchLabels", _pairs, at)
    if not labels:
        raise TimetableError(f"{at}.matchLabels: is empty")
    return (), labels


def _selector(value: object, at: str) -> tuple[LabelRequirement, ...]:
    tree = mapping(value, at)
    labels = _optional(tree, "matchLabels", _pairs, (), at)
    expressions = _optional(tree, "matchExpressions", sequence, [], at)
    return (
        *(LabelRequirement(key, "In", (value,)) for key, value in labels),
        *(_expression(item, f"{at}.matchExpressions[{n}]") for n, item in enumerate(expressions)),
    )


def _expression(value: object, at: str) -> LabelRequirement:
    tree = mapping(value, at)
    operator = field(tree, "operator", text, at)
    if operator not in _QUERIES:
        raise TimetableError(f"{at}.operator: {operator!r} is not one of {', '.join(_QUERIES)}")
    values = _optional(tree, "values", sequence, [], at)
    labels = tuple(_label(item, f"{at}.values[{n}]") for n, item in enumerate(values))
    return LabelRequirement(field(tree, "key", text, at), operator, labels)


def _inactive(value: object, at: str) -> tuple[Inactive, ...]:
    items = [(mapping(item, f"{at}[{n}]"), f"{at}[{n}]") for n, item in enumerate(sequence(value, at))]
    return tuple(
        Inactive(field(item, "path", text, place), field(item, "values", _texts, place))
        for item, place in items
    )


def _texts(value: object, at: str) -> tuple[str, ...]:
    return tuple(text(item, f"{at}[{n}]") for n, item in enumerate(sequence(value, at)))


def _pairs(value: object, at: str) -> Pairs:
    return tuple((key, _label(item, f"{at}.{key}")) for key, item in sorted(mapping(value, at).items()))


def _label(value: object, at: str) -> str:
    """Read a string that may be empty, as label values may."""
    if not isinstance(value, str):
        raise TimetableError(f"{at}: {value!r} is not a string")
    return value


def _optional(tree: dict[str, object], key: str, read: Any, default: Any, at: str) -> Any:
    return field(tree, key, read, at) if key in tree else default
