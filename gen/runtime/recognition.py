"""How the sessions of a class are recognised in the cluster, and what narrows them to one reservation, as a
timetable says it.
"""

from typing import Any, NamedTuple

from gen.runtime.jsonvalue import TimetableError, field, mapping, sequence, text, whole
from gen.runtime.session import Match

SOURCES = ("renku", "jupyterhub", "pods", "custom")


class Inactive(NamedTuple):
    """Sessions that do not count: those in which the field at `path` (`spec.suspend`) is one of `values`."""

    path: str
    values: tuple[str, ...]


class Recognition(NamedTuple):
    """The same for all reservations of a class. `group` to `inactive` are said by `custom` only."""

    source: str
    namespaces: tuple[str, ...]
    selector: str  # of labels, as in a query to the API server; empty: all
    renku_id: int | None = None
    group: str = ""
    version: str = ""
    resource: str = ""
    annotations: tuple[tuple[str, str], ...] = ()
    inactive: tuple[Inactive, ...] = ()


def recognition(tree: dict[str, object], at: str) -> tuple[Recognition, Match]:
    source = field(tree, "source", text, at)
    if source not in SOURCES:
        raise TimetableError(f"{at}.source: {source!r} is none of {', '.join(SOURCES)}")
    course = _optional(tree, "course", mapping, {}, at)
    found = Recognition(
        source,
        _texts(field(tree, "namespaces", sequence, at), f"{at}.namespaces"),
        _selector(field(tree, "selector", mapping, at), f"{at}.selector"),
        _optional(tree, "renkuId", whole, None, at),
        _optional(tree, "group", text, "", at),
        _optional(tree, "version", text, "", at),
        _optional(tree, "resource", text, "", at),
        _pairs(_optional(tree, "matchAnnotations", mapping, {}, at), f"{at}.matchAnnotations"),
        tuple(
            _inactive(item, f"{at}.inactive[{n}]")
            for n, item in enumerate(_optional(tree, "inactive", sequence, [], at))
        ),
    )
    return found, _match(course, field(tree, "earlier", text, at), f"{at}.course")


def _match(course: dict[str, object], earlier: str, at: str) -> Match:
    return Match(
        _texts(_optional(course, "namespaces", sequence, [], at), f"{at}.namespaces"),
        _pairs(_optional(course, "matchLabels", mapping, {}, at), f"{at}.matchLabels"),
        _pairs(_optional(course, "matchAnnotations", mapping, {}, at), f"{at}.matchAnnotations"),
        _optional(course, "projectTemplate", text, "", at),
        earlier == "ignore",
    )


def _inactive(tree: object, at: str) -> Inactive:
    item = mapping(tree, at)
    return Inactive(
        field(item, "path", text, at), _texts(field(item, "values", sequence, at), f"{at}.values")
    )


def _selector(tree: dict[str, object], at: str) -> str:
    """As the API server wants it in a query: `app=jupyterhub,component in (a,b),!old`."""
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
        raise TimetableError(f"{at}.operator: {operator!r} is none of {', '.join(forms)}")
    return forms[operator]


def _labels(values: list[object], at: str) -> list[str]:
    return [_label(value, f"{at}[{n}]") for n, value in enumerate(values)]


def _texts(values: list[object], at: str) -> tuple[str, ...]:
    return tuple(text(value, f"{at}[{n}]") for n, value in enumerate(values))


def _pairs(tree: dict[str, object], at: str) -> tuple[tuple[str, str], ...]:
    return tuple((key, _label(value, f"{at}.{key}")) for key, value in sorted(tree.items()))


def _label(value: object, at: str) -> str:
    """A text that may be empty, as the value of a label may."""
    if not isinstance(value, str):
        raise TimetableError(f"{at}: {value!r} is not a text")
    return value


def _optional(tree: dict[str, object], key: str, read: Any, default: Any, at: str) -> Any:
    return field(tree, key, read, at) if key in tree else default
