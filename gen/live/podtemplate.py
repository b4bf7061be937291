"""Is the pod template of a pool's Deployment, or the template of its NodePool, the one of git? Pure.

The API server adds defaults to what it is given, so that what git says must be there, and more may be. To
placement and amounts it adds nothing: these must be git's alone. A list has the same elements in the same
order. Amounts are compared by value; what is left out is the same as false, zero or empty.
"""

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from gen import quantity
from gen.input.document import parse
from gen.input.source import Source

_AMOUNTS = frozenset(("requests", "limits"))
_ALONE = _AMOUNTS | {"affinity", "nodeSelector", "tolerations"}
_SHOWN, _LONGEST = 3, 80


def of_texts(texts: Iterable[str]) -> dict[str, str]:
    """By name, of objects as git has them. What a user's own template makes unreadable is left out."""
    found = {}
    for text in texts:
        for document in parse(Source("", text.encode()))[0]:
            match document.value:
                case {"metadata": {"name": str(name)}, "spec": {"template": dict()}}:
                    found[name] = kept(document.value)
    return found


def kept(item: Any) -> str:
    """Of an object, as JSON: that takes a tenth of the memory of its tree. Empty without one."""
    template = item["spec"].get("template")
    return json.dumps(template, separators=(",", ":"), ensure_ascii=False) if template else ""


@lru_cache(maxsize=4096)
def difference(git: str, cluster: str) -> str:
    """Paths below the template, each with both values; empty without one, or where one is not known.
    Remembered, for who watches asks for ever.
    """
    if not git or not cluster:
        return ""
    found = list(_unlike("", json.loads(git), json.loads(cluster), alone=False))
    more = [f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    return "; ".join([*found[:_SHOWN], *more])


def _unlike(path: str, git: Any, cluster: Any, *, alone: bool, amounts: bool = False) -> Iterator[str]:
    if isinstance(git, dict) and isinstance(cluster, dict):
        yield from _of_mappings(path, git, cluster, alone=alone, amounts=amounts)
    elif isinstance(git, list) and isinstance(cluster, list):
        for number, (ours, theirs) in enumerate(zip_longest(git, cluster)):
            yield from _unlike(f"{path}[{number}]", ours, theirs, alone=alone)
    elif (git or None) != (cluster or None) and not (amounts and _is_same_amount(git, cluster)):
        yield f"{path} is {_shown(cluster, 'missing')}, git has {_shown(git, 'none')}"


def _of_mappings(
    path: str, git: dict[str, Any], cluster: dict[str, Any], *, alone: bool, amounts: bool
) -> Iterator[str]:
    names = git.keys() | (cluster.keys() if alone else cluster.keys() & _ALONE)
    for name in sorted(names):
        below = f'{path}["{name}"]' if "." in name or "/" in name else f"{path}.{name}".removeprefix(".")
        has_amounts = amounts or name in _AMOUNTS
        yield from _unlike(
            below, git.get(name), cluster.get(name), alone=alone or name in _ALONE, amounts=has_amounts
        )


def _is_same_amount(git: Any, cluster: Any) -> bool:
    amount = quantity.parse(str(git))
    return amount is not None and amount == quantity.parse(str(cluster))


def _shown(value: Any, nothing: str) -> str:
    if value is None:
        return nothing
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
