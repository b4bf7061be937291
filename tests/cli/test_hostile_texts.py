"""No command lets a text of a file, or the name of a file, act on a terminal, in a log or in Markdown."""

import json
import re
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from berth.cli.group import COMMANDS

from tests.answer import Answer, Berth
from tests.cli import clouds, project
from tests.hostile import (
    HIDDEN,
    LINES,
    PRINTABLE,
    WHATEVER,
    acts_in_markdown,
    acts_on_a_log,
    acts_on_a_terminal,
)

DATES = ("--dates", "2026-06-01", "--class", "small", "--seats", "2", "--behavior", "none")
WORDS: tuple[tuple[str, ...], ...] = (
    ("validate",),
    ("validate", "-o", "github"),
    ("render",),
    ("render", "--check"),
    ("diff", "./base"),
    ("diff", "./base", "-o", "wide"),
    ("list",),
    ("list", "-o", "wide"),
    ("occurrences",),
    ("occurrences", "-o", "wide"),
    ("calendar", "--output-dir", "site"),
    ("plan",),
    ("plan", "-o", "wide"),
    ("size", "course", "--students", "30"),
    ("simulate", "course", "--sessions", "08:55+3"),
    ("init", "--requests"),
    ("new", "more", "09:00-10:00", *DATES, "--title", "TEXT"),
    ("copy", "course", "again", "--from", "2027-02-01", "--until", "2027-03-01"),
    ("import", "renku", "TEXT"),
    ("set", "course", "--seats", "30"),
    ("set", "course", "title=TEXT"),
    ("skip", "course", "2026-02-24", "--title", "TEXT"),
    ("move", "course", "2026-02-02", "--to", "2026-02-03"),
    ("rehearse", "course", "2026-02-24", "--at", "2026-02-21T09:00"),
    ("add", "course", "2026-03-02", "09:00-10:00"),
    ("end", "course", "2026-02-20"),
    ("delete", "course"),
    ("report", "--records", "records.json"),
    ("report", "course", "--records", "records.json"),
    ("status", "--kubeconfig", "TEXT"),
    ("preflight", "--kubeconfig", "TEXT"),
    ("override", "TEXT", "--clear"),
    ("help", "TEXT"),
    ("completion", "names"),
    ("TEXT",),
)
MARKDOWN = (
    ("diff", "./base"),
    ("list",),
    ("occurrences",),
    ("plan",),
    ("report", "--records", "records.json"),
)
DATA = (
    ("validate",),
    ("list",),
    ("occurrences",),
    ("report", "--records", "records.json"),
    ("diff", "./base"),
)


def write(folder: Path, text: str) -> None:
    """Put the text wherever a person, a scaler or a file's name may have one."""
    quoted = json.dumps(text)
    clouds.write(folder)
    shutil.copytree(folder / "reservations", folder / "base/reservations")
    course = folder / "reservations/course.yaml"
    lines = course.read_text("utf-8").splitlines()
    lines[lines.index("  resourceClass: small") - 1] = f"  title: {quoted}\n  owner: {{name: {quoted}}}"
    lines.append(f"  notes: {quoted}")
    changed = "\n".join(lines).replace("{name: course}", f"{{name: course, annotations: {{a: {quoted}}}}}")
    course.write_text(changed.replace("  notes:", "x-notes:"), "utf-8")
    project.change(folder, "classes", "Carnival", quoted)
    (folder / "records.json").write_text(json.dumps({"items": records(text)}), "utf-8")


def records(text: str) -> list[dict[str, Any]]:
    """One that counts, and one that is somebody's."""
    date = {
        "occurrence": "course/2026-02-02T09:00",
        "open": "2026-02-02T07:30:00Z",
        "start": "2026-02-02T08:00:00Z",
        "end": "2026-02-02T12:00:00Z",
        "promised": {"small": 25, text: 3},
        "sessionsPeak": {"small": 7},
        "shortfalls": {"small": {text: 3}},
        "targets": {"small": [["2026-02-02T07:30:00Z", 25]], text: [["2026-02-02T07:30:00Z", 3]]},
        "faults": [text],
    }
    rehearsal = {**date, "occurrence": f"course/{text}", "rehearses": f"course/{text}", "nodes": {text: 1}}
    data = {"records.json": json.dumps([date, {**date, "occurrence": "course/1"}, rehearsal])}
    labels = {"berth.dev/site": "uni", "berth.dev/reservation": "course", "berth.dev/role": "record"}
    return [{"metadata": {"name": name, "labels": labels}, "data": data} for name in ("course-record", text)]


def answers(berth: Berth, words: tuple[str, ...], text: str) -> Answer:
    return berth(*(word.replace("TEXT", text) for word in words), "--now", "2026-02-20")


def without_annotations(log: str) -> str:
    """Return the log without our annotations: each is one command, on one line."""
    return re.sub(r"^::(?:error|warning|notice) file=[^\n\r]*\n", "", log, flags=re.MULTILINE)


def test_every_command_except_schema_is_tested_with_hostile_texts() -> None:
    tried = {words[0] for words in WORDS}

    assert {*COMMANDS} - tried == {"schema"}


@pytest.fixture(params=["lines", "hidden", "printable"])
def text(request: pytest.FixtureRequest, folder: Path) -> str:
    kind = {"lines": LINES, "hidden": f"x{HIDDEN}", "printable": PRINTABLE}
    chosen: str = kind[request.param]
    write(folder, chosen)
    return chosen


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_hostile_texts_have_no_effect_on_a_terminal_or_in_a_log(
    berth: Berth, text: str, words: tuple[str, ...]
) -> None:
    answer = answers(berth, words, text)
    shown = answer.out + answer.err

    assert answer.code == 0 or text is not PRINTABLE or "TEXT" in words or "--check" in words
    assert acts_on_a_terminal(shown) == []
    assert acts_on_a_log(without_annotations(shown)) == []


@pytest.mark.parametrize("words", MARKDOWN, ids=" ".join)
def test_hostile_texts_have_no_effect_in_markdown(berth: Berth, folder: Path, words: tuple[str, ...]) -> None:
    write(folder, PRINTABLE)
    (folder / "records.json").write_text(json.dumps({"items": records(WHATEVER)}), "utf-8")
    answer = answers(berth, (*words, "-o", "markdown"), PRINTABLE)

    assert answer.out, answer.err
    assert acts_in_markdown(answer.out) == []
    cells = [re.sub(r"\\.", "", line).count("|") for line in answer.out.splitlines()]
    assert [pair for pair in pairwise(cells) if 0 not in pair and len({*pair}) > 1] == []
    assert acts_on_a_log(answer.out + answer.err) == []
    assert acts_on_a_terminal(answer.out.replace("\u200b", "") + answer.err) == []


@pytest.mark.parametrize("form", ["json", "yaml", "csv"])
@pytest.mark.parametrize("words", DATA, ids=" ".join)
def test_hostile_texts_in_json_yaml_and_csv_have_no_effect_on_a_terminal(
    berth: Berth, folder: Path, words: tuple[str, ...], form: str
) -> None:
    write(folder, WHATEVER if words == ("validate",) else PRINTABLE)
    answer = answers(berth, (*words, "-o", form), WHATEVER)

    assert acts_on_a_terminal(answer.out + answer.err) == []


NAMING = (("validate",), ("validate", "-o", "github"), ("render",), ("render", "--check"))


@pytest.mark.parametrize("where", ["reservations", "rendered/clusters/prod"])
@pytest.mark.parametrize("words", NAMING, ids=" ".join)
def test_hostile_file_names_have_no_effect_on_a_terminal_or_in_a_log(
    berth: Berth, folder: Path, where: str, words: tuple[str, ...]
) -> None:
    name = f"a{HIDDEN}{LINES}##[add-mask]e@me.yaml".replace("/", "")
    assert berth("render").code == 0
    (folder / where / name).write_text("# Rendered by berth\n", "utf-8")
    answer = berth(*words)
    shown = answer.out + answer.err

    assert "add-mask" in shown or where != "reservations"
    assert acts_on_a_terminal(shown) == []
    assert acts_on_a_log(without_annotations(shown)) == []
