"""One answer in several forms: text, Markdown, JSON, YAML and CSV; or what is wrong, instead of an answer."""

import json
import re
from collections.abc import Iterator
from csv import DictReader
from pathlib import Path

import pytest
import yaml
from berth.cli.group import COMMANDS, load
from berth.core.record import OccurrenceRecord, record_text

from tests.answer import Berth
from tests.cli import clouds, project

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
def test_yaml_output_equals_json_output(berth: Berth, words: tuple[str, ...]) -> None:
    code, out, err = berth(*words, *NOW, "-o", "yaml")

    assert (code, err) == (0, "")
    assert yaml.safe_load(out) == json.loads(berth(*words, *NOW, "-o", "json").out)


def test_every_command_with_json_output_has_yaml_output() -> None:
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


@pytest.mark.parametrize(("name", "form"), [("list", "text"), ("occurrences", "wide"), ("plan", "text")])
def test_markdown_has_the_cells_of_text(berth: Berth, folder: Path, name: str, form: str) -> None:
    clouds.write(folder)
    text, markdown = (berth(name, *NOW, "-o", one).out for one in (form, "markdown"))
    cells = re.sub(r"^(\| --- .*|#### |- )|\|", "", markdown, flags=re.MULTILINE).replace("\\", "")

    assert cells.upper().split() == text.upper().split()
    headings = re.findall(r"^[A-Z]{3}.* {2}[A-Z]", text, re.MULTILINE)
    assert len(re.findall(r"^\| --- ", markdown, re.MULTILINE)) == len(headings)


ASKED = (
    *("list --class small --cluster prod", "list -o csv", "occurrences", "occurrences -o ics", "calendar"),
    *("plan", "simulate course", "size course --students 30", "report --records records.json"),
)


@pytest.mark.parametrize("command", ASKED)
def test_errors_are_told_instead_of_an_answer_that_would_be_wrong(
    berth: Berth, folder: Path, command: str
) -> None:
    """A class that is asked for may be in the very file that cannot be read."""
    project.write(folder, classes="kind: [\n")
    (folder / "records.json").write_text('{"items": []}', "utf-8")
    code, out, err = berth(*command.split(), *NOW)

    assert (code, out) == (1, "")
    assert err.startswith("reservations/classes.yaml:1:7: error[B003] ")
    assert not (folder / "site").exists()
