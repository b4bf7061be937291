"""`-o json`, `-o yaml` and `-o csv`: one answer in several forms."""

import json
from collections.abc import Iterator
from csv import DictReader
from pathlib import Path

import pytest
import yaml
from berth.cli.group import COMMANDS, load
from berth.core.record import OccurrenceRecord, record_text

from tests.answer import Berth
from tests.cli import project

NOW = ("--now", "2026-02-01")
COMMON = [
    ("list",),
    ("occurrences",),
    ("plan",),
    ("simulate", "course"),
    ("validate",),
    ("diff", "."),
]

NEEDED = {"simulate": ("course",), "report": ("--records", "records.json")}


def forms(name: str) -> Iterator[str]:
    """The values of `-o` of a command."""
    for param in load(name).params:
        if param.name == "output":
            yield from getattr(param.type, "choices", ())


@pytest.mark.parametrize("words", COMMON, ids=lambda words: words[0])
def test_yaml_is_the_answer_of_json(berth: Berth, words: tuple[str, ...]) -> None:
    code, out, err = berth(*words, *NOW, "-o", "yaml")

    assert (code, err) == (0, "")
    assert yaml.safe_load(out) == json.loads(berth(*words, *NOW, "-o", "json").out)


def test_yaml_is_wherever_json_is() -> None:
    assert [name for name in COMMANDS if ("json" in forms(name)) != ("yaml" in forms(name))] == []


@pytest.mark.parametrize("name", [name for name in COMMANDS if "csv" in forms(name)])
def test_csv_has_the_items_of_json(berth: Berth, folder: Path, name: str) -> None:
    two = project.REST.replace("schedule: [", 'schedule: [{startTime: "10:05", endTime: "10:10"}, ')
    project.write(folder, rest=two)
    record = OccurrenceRecord("course/1", {"small": 1}, window=(0, 1, 2))
    (folder / "records.json").write_text(record_text([record]), "utf-8")
    words = (name, *NEEDED.get(name, ()), *NOW)
    code, out, _ = berth(*words, "-o", "csv")
    rows = [*DictReader(out.splitlines())]
    items = json.loads(berth(*words, "-o", "json").out)["items"]

    assert code == 0
    assert items
    first = next(iter(items[0]))
    assert [row[first] for row in rows] == [item[first] for item in items]


def test_findings_beside_csv_are_text(berth: Berth, folder: Path) -> None:
    project.write(folder, rest=project.REST.replace("2026-02-03", "2026-02-30"))

    code, out, err = berth("list", "-o", "csv", *NOW)

    assert (code, out) == (1, "")
    assert err.startswith("reservations/rest.yaml:8:13: error[B017]")
