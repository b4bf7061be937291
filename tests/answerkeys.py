"""The keys of the answers of `-o json`, from answers of the commands to the examples."""

import json
import tempfile
import textwrap
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from berth.cli.preflightreport import CHECK_COLUMNS
from berth.cli.status import POOL_COLUMNS

from tests.console import ROOT, printed
from tests.pages import checkout

COMMANDS = (
    *("diff", "occurrences", "list", "plan", "-C held list", "-C held occurrences"),
    *("-C held simulate parallel-programming", "simulate machine-learning", "-C held diff ../none"),
    *(
        "-C tests/examples/cloud plan",
        "-C tests/examples/exam diff ../cloud",
        "-C tests/examples/faulty validate",
    ),
    "import ics tests/examples/calendars/courses.ics --class small --seats 25 --until 2026-07-31",
    "-C tests/examples/size size linear-algebra --students 300",
    "-C tests/examples/report report --records records.json --now 2026-06-01",
    "-C tests/examples/exam report --records records.json --now 2026-06-09",
)
KEYED = {"seats", "nodes", "cores", "opens", "machineHours", "cost"}  # mappings by class or capacity type
LIVE = {"Status": POOL_COLUMNS, "Preflight": CHECK_COLUMNS}
WIDTH = 104
Keys = dict[str, Any] | list[Any] | None
"""By key, what is inside of its value; of a list, what is in its items; None for a plain value."""


def text() -> str:
    """Return the keys of each kind as a block of a page."""
    return "```text\n" + "\n".join(_lines(kind, keys) for kind, keys in by_kind().items()) + "\n```"


@cache
def by_kind() -> Mapping[str, Keys]:
    """Return the keys of each kind of answer. Those of clusters are the columns of their tables."""
    found: dict[str, Keys] = {}
    with tempfile.TemporaryDirectory() as folder:
        checkout(Path(folder))
        (Path(folder) / "none/reservations").mkdir(parents=True)
        (Path(folder) / "held/reservations").mkdir(parents=True)
        example = yaml.safe_load_all((ROOT / "docs/examples/hold-kueue.yaml").read_text("utf-8"))
        ours = [document for document in example if document["apiVersion"].startswith("berth.dev/")]
        ours[0]["spec"]["policies"] = [{"name": "large", "when": {"seatsAbove": 9}, "require": "warn"}]
        (Path(folder) / "held/reservations/all.yaml").write_text(yaml.safe_dump_all(ours), "utf-8")
        (Path(folder) / "none/reservations/site.yaml").write_text(yaml.safe_dump(ours[0]), "utf-8")
        printed("berth set data-science-101 --on 2027-03-08 --seats 120", Path(folder))
        for command in COMMANDS:
            out = printed(f"berth {command} -o json", Path(folder))
            answer, _ = json.JSONDecoder().raw_decode(out)  # findings come after it
            kind = answer.pop("kind")
            answer.pop("apiVersion")
            found[kind] = _merged([found.get(kind), _keys(answer)])
    for kind, columns in LIVE.items():
        keys = [column.key for column in columns]  # type: ignore[attr-defined]
        found[kind] = {"items": [dict.fromkeys(filter(None, keys))]}
    return found


def _keys(value: Any, name: str = "") -> Keys:
    if isinstance(value, list):
        return [_merged(_keys(item, name) for item in value)]
    if not isinstance(value, dict):
        return None
    if name in KEYED:
        return {"...": _merged(_keys(item) for item in value.values())}
    return {key: _keys(item, key) for key, item in value.items()}


def _merged(several: Iterable[Keys]) -> Keys:
    whole: Keys = None
    for keys in several:
        if isinstance(keys, dict) and isinstance(whole, dict):
            whole = {key: _merged([whole.get(key), keys.get(key)]) for key in {**whole, **keys}}
        elif isinstance(keys, list) and isinstance(whole, list):
            whole = [_merged([whole[0], keys[0]])]
        else:
            whole = whole if keys is None else keys
    return whole


def _lines(kind: str, keys: Keys) -> str:
    """Return the plain keys of a kind on one line, and each other one on lines of its own."""
    assert isinstance(keys, dict)
    plain = ", ".join(name for name, inside in keys.items() if inside is None)
    lines = [*([plain] if plain else []), *(_shown({name: keys[name]})[1:-1] for name in keys if keys[name])]
    return f"{kind}\n" + "\n".join(
        textwrap.fill(line, WIDTH, initial_indent="  ", subsequent_indent="      ") for line in lines
    )


def _shown(keys: Keys) -> str:
    if isinstance(keys, list):
        return f"[{_shown(keys[0])}]"
    if keys is None:
        return ""
    pairs = (name if inside is None else f"{name}: {_shown(inside)}" for name, inside in keys.items())
    return f"{{{', '.join(pairs)}}}"
