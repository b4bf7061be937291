"""Create resource classes from the profiles of a JupyterHub."""

import re
from itertools import combinations, islice
from typing import NamedTuple

from berth.edit.create import MODELINE, SCHEMA
from berth.edit.roundtrip import EditError
from berth.findings import Finding, severity
from berth.output.yamltext import quote
from berth.reading.place import locate
from berth.reading.source import Source
from berth.schema.base import Json
from berth.schema.z2jh import MOST, Session, read_values, sessions

_HEAD = """\
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata:
  name: {name}
spec:
"""
_WIDTH = 110
_is_plain = re.compile("[a-z]{3}[A-Za-z0-9./_-]*", re.ASCII).fullmatch


class ImportedClasses(NamedTuple):
    """The file of classes, or the errors in the values.

    `unlabeled` are the labels that profiles must add, without which the classes count the same sessions.
    """

    text: str
    unlabeled: tuple[tuple[str, str], ...]  # title of the sessions, and labels
    findings: tuple[Finding, ...]


def import_z2jh(source: Source, cluster: str | None, namespace: str) -> ImportedClasses:
    """Convert the profiles in values of the z2jh chart. Raise EditError for one that cannot be a class."""
    values, problems = read_values(source)
    if values is None:
        return ImportedClasses("", (), tuple(locate(problems, [source], severity)))
    kinds = list(islice(sessions(values), MOST + 1))
    if len(kinds) > MOST:
        raise EditError(f"the profiles have more than {MOST} combinations of choices")
    names = [one.name for one in kinds]
    for one in kinds:
        if names.count(one.name) > 1:
            raise EditError(f'two profiles would have the class "{one.name}"; give one of them another slug')
        if not one.spawner.resources[0]:
            raise EditError(f'sessions of "{one.title}" request nothing, so a placeholder would hold nothing')
    own = _are_exclusive(kinds)
    selectors = [one.added if own else dict(one.picked) for one in kinds]
    texts = [_text(one, labels, cluster, namespace) for one, labels in zip(kinds, selectors, strict=True)]
    unlabeled = () if own else tuple((one.title, _flow(dict(one.picked))) for one in kinds)
    return ImportedClasses(MODELINE.format(SCHEMA) + "---\n".join(texts), unlabeled, ())


def _are_exclusive(kinds: list[Session]) -> bool:
    """Tell whether no pod has the labels that two of them add."""
    return all(
        any(one.added[key] != other.added[key] for key in one.added.keys() & other.added.keys())
        for one, other in combinations(kinds, 2)
    )


def _text(one: Session, labels: dict[str, str], cluster: str | None, namespace: str) -> str:
    requests, limits = one.spawner.resources
    found: Json = {"source": "jupyterhub", "namespaces": [namespace]}
    if labels:
        found["selector"] = {"matchLabels": labels}
    spec: Json = {} if cluster is None else {"cluster": cluster}
    held = {"requests": requests, "limits": limits, "images": list(one.images)}
    spec |= {**held, **one.spawner.placement, "sessions": found}
    lines = _lines({key: value for key, value in spec.items() if value}, "  ")
    title = one.title if one.images else f"{one.title}; their image is that of the chart"
    comment = "".join(c for c in title if c.isprintable())
    return f"# {comment}\n{_HEAD.format(name=one.name)}{lines}"


def _lines(value: Json, indent: str) -> str:
    """Return a mapping in YAML: one line for each key, or more where one would be long."""
    found = []
    for key, inner in value.items():
        flow = f"{indent}{_flow_key(key)}: {_flow(inner)}\n"
        if len(flow) <= _WIDTH or not isinstance(inner, dict | list):
            found.append(flow)
        elif isinstance(inner, dict):
            found.append(f"{indent}{_flow_key(key)}:\n{_lines(inner, indent + '  ')}")
        else:
            items = "".join(f"{indent}  - {_flow(item)}\n" for item in inner)
            found.append(f"{indent}{_flow_key(key)}:\n{items}")
    return "".join(found)


def _flow_key(key: str) -> str:
    return key if _is_plain(key) else quote(key)


def _flow(value: object) -> str:
    """Return a value of YAML on one line, with quotes around texts but not around usual keys."""
    if isinstance(value, dict):
        pairs = (f"{_flow_key(key)}: {_flow(inner)}" for key, inner in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return quote(value) if isinstance(value, str) else str(value)
