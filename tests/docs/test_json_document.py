"""docs/reference/json.md names every key of the answers, and every exit code."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from berth.cli import console
from berth.cli.preflightreport import CHECK_COLUMNS
from berth.cli.status import POOL_COLUMNS
from berth.output.columns import Column

from tests.console import printed
from tests.pages import checkout, text_of

TEXT = text_of("docs/reference/json.md")
KEYED = {"seats", "nodes", "opens", "machineHours", "cost"}  # mappings by class or by capacity type
OPTIONAL = {"nodes", "number", "opens", "rehearsals", "rehearses", "slots", "unit"}


def listed(kind: str) -> str:
    (text,) = re.findall(rf"^    {kind} (.*?)\n(?:    \w|\n)", TEXT, re.M | re.S)
    return str(text)


def lists(kind: str) -> dict[str, list[str]]:
    """Return the keys of each list of objects of a kind, by the name of the list."""
    text = listed(kind)
    by_name: dict[str, list[str]] = {}
    for match in re.finditer(r"(\w+(?:, \w+)*): \[\{", text):
        by_name |= {name: [*top_keys(text[match.end() :])] for name in match[1].split(", ")}
    return by_name


def top_keys(text: str) -> Iterator[str]:
    """Yield the keys of an object whose text begins after its brace."""
    depth, word = 1, ""
    for character in text:
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(character, 0)
        if depth == 0 or (character == "," and depth == 1):
            yield word.partition(":")[0].strip()
            word = ""
        else:
            word += character
        if depth == 0:
            return


def keys(value: object) -> set[str]:
    """Return all keys of an answer, but not the names of classes and capacity types."""
    if isinstance(value, list):
        return {key for item in value for key in keys(item)}
    if not isinstance(value, dict):
        return set()
    return {*value, *(key for name, item in value.items() if name not in KEYED for key in keys(item))}


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        ("OccurrenceList", "occurrences"),
        ("ReservationList", "list"),
        ("Simulation", "simulate machine-learning"),
        ("Plan", "plan"),
        ("Size", "-C tests/examples/size size linear-algebra --students 300"),
        ("Report", "-C tests/examples/report report --records records.json --now 2026-06-01"),
    ],
)
def test_it_names_every_key(kind: str, command: str, tmp_path: Path) -> None:
    answer = json.loads(printed(f"berth {command} -o json", checkout(tmp_path)))
    named = {"apiVersion", "kind", *re.findall(r"\w+", listed(kind))}

    assert answer["kind"] == kind
    assert keys(answer) - named == set()
    for name in (name for name in lists(kind) if name in answer):
        for item in answer[name]:
            assert [*item] == [key for key in lists(kind)[name] if key in item or key not in OPTIONAL], name


@pytest.mark.parametrize(
    ("kind", "columns"), [("Status", POOL_COLUMNS), ("Preflight", CHECK_COLUMNS)], ids=["Status", "Preflight"]
)
def test_it_names_the_keys_of_what_is_live(kind: str, columns: tuple[Column[Any], ...]) -> None:
    assert lists(kind)["items"] == [column.key for column in columns if column.key]


def test_it_lists_every_exit_code() -> None:
    exit_codes = {int(code) for code in re.findall(r"^\| (\d+) \|", TEXT, re.M)}

    assert exit_codes == {value for name, value in vars(console).items() if name.startswith("EXIT_")}
