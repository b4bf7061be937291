"""Sessions, how they are recognized in the cluster, and which occurrences may claim them.

Values and pure rules only; `berth.runtime.sessionobjects` reads sessions from objects of the API server.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from berth.core.jsonvalues import TimetableError, field, mapping, non_negative, sequence, text

NO_TEMPLATE, UNKNOWN_TEMPLATE = "", "?"
RENKU_PROJECT = "renku.io/project_id"  # an annotation


class Session(NamedTuple):
    """An active session of a resource class. It has only the labels and annotations that a match uses."""

    id: str  # for ever, of the whole cluster: its uid
    namespace: str
    created: int
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    template: str = NO_TEMPLATE  # of its project; UNKNOWN_TEMPLATE where nobody could tell


class Match(NamedTuple):
    """Narrows the sessions of a class to one course. If all fields are empty, it matches every session."""

    namespaces: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    template: str = NO_TEMPLATE
    ignores_earlier: bool = False  # sessions that were created before the occurrence opened


class Claim(NamedTuple):
    """An open occurrence that may take sessions of a class, whatever its behavior."""

    id: str
    open: int
    start: int
    end: int
    count: int  # type: ignore[assignment] # not the method of a tuple
    match: Match


def project_of(session: Session) -> str:
    """Return the project by which the template is looked up; empty without one."""
    return session.annotations.get(RENKU_PROJECT, "")


def fits(session: Session, claim: Claim) -> bool:
    """Return whether the claim matches the session. If the template is unknown, the class decides."""
    match = claim.match
    return (
        (not match.namespaces or session.namespace in match.namespaces)
        and all(session.labels.get(key) == value for key, value in match.labels)
        and all(session.annotations.get(key) == value for key, value in match.annotations)
        and session.template in (match.template or session.template, UNKNOWN_TEMPLATE)
        and not (match.ignores_earlier and session.created < claim.open)
    )


def ranked(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """Return the claims in the order in which they get a session that fits several.

    The more specific match comes first, then the earlier end, the earlier start, and the id.
    """
    return tuple(sorted(claims, key=_specificity))


def _specificity(claim: Claim) -> tuple[bool, int, bool, int, int, str]:
    match = claim.match
    pairs = len(match.labels) + len(match.annotations)
    return not match.template, -pairs, not match.namespaces, claim.end, claim.start, claim.id


SOURCES = ("renku", "jupyterhub", "pods", "custom")


class Inactive(NamedTuple):
    """Excludes sessions whose field at `path` (such as `spec.suspend`) is one of `values`."""

    path: str
    values: tuple[str, ...]


class Recognition(NamedTuple):
    """How sessions of a class are recognized. Only `custom` uses `group` to `inactive`."""

    source: str
    namespaces: tuple[str, ...]
    selector: str  # of labels, as in a query to the API server; empty: all
    renku_id: int | None = None
    group: str = ""
    version: str = ""
    resource: str = ""
    annotations: tuple[tuple[str, str], ...] = ()
    inactive: tuple[Inactive, ...] = ()


def parse_recognition(tree: dict[str, object], at: str) -> tuple[Recognition, Match]:
    """Parse the `sessions` of a pool in a timetable."""
    source = field(tree, "source", text, at)
    if source not in SOURCES:
        raise TimetableError(f"{at}.source: {source!r} is not one of {', '.join(SOURCES)}")
    course = _optional(tree, "course", mapping, {}, at)
    found = Recognition(
        source,
        _texts(field(tree, "namespaces", sequence, at), f"{at}.namespaces"),
        _selector(field(tree, "selector", mapping, at), f"{at}.selector"),
        _optional(tree, "renkuId", non_negative, None, at),
        _optional(tree, "group", text, "", at),
        _optional(tree, "version", text, "", at),
        _optional(tree, "resource", text, "", at),
        _pairs(_optional(tree, "matchAnnotations", mapping, {}, at), f"{at}.matchAnnotations"),
        tuple(
            _parse_inactive(item, f"{at}.inactive[{n}]")
            for n, item in enumerate(_optional(tree, "inactive", sequence, [], at))
        ),
    )
    return found, _parse_match(course, field(tree, "earlier", text, at), f"{at}.course")


def _parse_match(course: dict[str, object], earlier: str, at: str) -> Match:
    return Match(
        _texts(_optional(course, "namespaces", sequence, [], at), f"{at}.namespaces"),
        _pairs(_optional(course, "matchLabels", mapping, {}, at), f"{at}.matchLabels"),
        _pairs(_optional(course, "matchAnnotations", mapping, {}, at), f"{at}.matchAnnotations"),
        _optional(course, "projectTemplate", text, "", at),
        earlier == "ignore",
    )


def _parse_inactive(tree: object, at: str) -> Inactive:
    item = mapping(tree, at)
    return Inactive(
        field(item, "path", text, at), _texts(field(item, "values", sequence, at), f"{at}.values")
    )


def _selector(tree: dict[str, object], at: str) -> str:
    """Return a label selector for a query, such as `app=jupyterhub,component in (a,b),!old`."""
    labels = _pairs(_optional(tree, "matchLabels", mapping, {}, at), f"{at}.matchLabels")
    said = [f"{key}={value}" for key, value in labels]
    for n, item in enumerate(_optional(tree, "matchExpressions", sequence, [], at)):
        said.append(_expression(mapping(item, f"{at}.matchExpressions[{n}]"), f"{at}.matchExpressions[{n}]"))
    return ",".join(said)


def _expression(tree: dict[str, object], at: str) -> str:
    key, operator = field(tree, "key", text, at), field(tree, "operator", text, at)
    values = ",".join(_labels(_optional(tree, "values", sequence, [], at), f"{at}.values"))
    forms = {
        "In": f"{key} in ({values})",
        "NotIn": f"{key} notin ({values})",
        "Exists": key,
        "DoesNotExist": f"!{key}",
    }
    if operator not in forms:
        raise TimetableError(f"{at}.operator: {operator!r} is not one of {', '.join(forms)}")
    return forms[operator]


def _labels(values: list[object], at: str) -> list[str]:
    return [_label(value, f"{at}[{n}]") for n, value in enumerate(values)]


def _texts(values: list[object], at: str) -> tuple[str, ...]:
    return tuple(text(value, f"{at}[{n}]") for n, value in enumerate(values))


def _pairs(tree: dict[str, object], at: str) -> tuple[tuple[str, str], ...]:
    return tuple((key, _label(value, f"{at}.{key}")) for key, value in sorted(tree.items()))


def _label(value: object, at: str) -> str:
    """Read a string that may be empty, as label values may."""
    if not isinstance(value, str):
        raise TimetableError(f"{at}: {value!r} is not a string")
    return value


def _optional(tree: dict[str, object], key: str, read: Any, default: Any, at: str) -> Any:
    return field(tree, key, read, at) if key in tree else default
