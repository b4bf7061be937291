"""docs/reference/json.md names every key of the answers, and every exit code."""

import json
import re
from pathlib import Path

import pytest
from berth.cli import console

from tests.console import printed
from tests.pages import checkout, text_of

TEXT = text_of("docs/reference/json.md")
KEYED = {"seats", "nodes", "machineHours", "cost"}  # mappings by class or by capacity type


def keys(value: object) -> set[str]:
    """Return all keys of an answer, but not the names of classes and capacity types."""
    if isinstance(value, list):
        return {key for one in value for key in keys(one)}
    if not isinstance(value, dict):
        return set()
    return {*value, *(key for name, one in value.items() if name not in KEYED for key in keys(one))}


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
    (listed,) = re.findall(rf"^    {kind} (.*?)\n(?:    \w|\n)", TEXT, re.M | re.S)
    found = keys(answer)

    assert answer["kind"] == kind
    assert found - {"apiVersion", "kind", *re.findall(r"\w+", listed)} == set()


def test_it_lists_every_exit_code() -> None:
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", TEXT, re.M)}

    assert listed == {value for name, value in vars(console).items() if name.startswith("EXIT_")}
