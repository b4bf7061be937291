"""docs/plan.md does what it says. After a change: python -m tests.test_plan_document writes its output."""

import re
import shutil
from pathlib import Path

import pytest

from gen.rules import RULES
from tests.console import ROOT, commands, printed

FILE = ROOT / "docs/plan.md"
TEXT = FILE.read_text("utf-8")
CHART = re.compile(r"`berth ([^`]+ --chart (docs/\S+))`")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for folder in ("tests/examples", "reservations"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def test_its_command_prints_what_it_shows(checkout: Path) -> None:
    found = commands(TEXT)

    assert found
    assert [(command, printed(command, checkout)) for command, _ in found] == found


def test_its_picture_is_the_one_that_its_command_makes(checkout: Path) -> None:
    command, name = CHART.findall(TEXT)[0]
    where = checkout / "tests/examples/cloud" / name  # -C comes first
    where.parent.mkdir(parents=True)
    printed(f"berth {command}", checkout)

    assert where.read_bytes() == (ROOT / name).read_bytes()
    assert f"]({name.removeprefix('docs/')})" in TEXT


def test_its_table_has_the_severities_of_the_program() -> None:
    told = re.findall(r"^\| (B\d{3}) \| (\w+) \|", TEXT, re.M)

    assert told == [(code, RULES[code].severity) for code in sorted(RULES) if code >= "B195"]


def test_its_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", TEXT)

    assert links
    assert [link for link in links if not (FILE.parent / link).exists()] == []


def main() -> None:
    text = TEXT
    for command, before in commands(TEXT):
        text = text.replace(f"$ {command}\n{before}", f"$ {command}\n{printed(command, ROOT)}", 1)
    FILE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
