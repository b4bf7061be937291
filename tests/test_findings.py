"""docs/findings.md holds for every code an input that gets it, as a change to a good project, and what is
told.

Here each is tried. To write a new one, give it an empty `text` block: the failure shows what belongs there.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from gen import report
from gen.pipeline import Pipeline
from gen.rules import RULES

MANUAL = Path(__file__).parents[1] / "docs" / "findings.md"
_SECTION = re.compile(
    r"^### (B\d{3}) (\w+)\n\n(.+?)\n(?:\n```diff\n(.*?)```\n\n```text\n(.*?)```\n)?", re.M | re.S
)
_GOOD = re.compile(r"^`(reservations/[^`]+)`:\n\n```\w+\n(.*?)```\n", re.M | re.S)


class Sample(NamedTuple):
    code: str
    severity: str
    meaning: str
    change: str
    told: str


def samples() -> Iterator[Sample]:
    for match in _SECTION.finditer(MANUAL.read_text("utf-8")):
        yield Sample(*(group or "" for group in match.groups()))


def good_files() -> dict[str, str]:
    return {match[1]: match[2] for match in _GOOD.finditer(MANUAL.read_text("utf-8"))}


def changed(files: dict[str, str], change: str) -> dict[str, str]:
    """The files after a change: `--- FILE` has lines replaced, each run of `-` by the `+` after it; `+++
    FILE` is new.
    """
    files = dict(files)
    name, cursor, before = "", "\0", ""
    for line in change.splitlines(keepends=True):
        if line.startswith(("--- ", "+++ ")):
            name = line[4:].strip()
            if line[0] == "+":
                files[name] = cursor
            before = ""
            continue
        if line[0] == "-":
            if before != "-":
                files[name] = files[name].replace(cursor, "")
            assert files[name].count(line[1:]) == 1, line
            files[name] = files[name].replace(line[1:], "" if before == "-" else cursor)
        else:
            files[name] = files[name].replace(cursor, line[1:] + cursor)
        before = line[0]
    return {name: text.replace(cursor, "") for name, text in files.items()}


def told(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    pipeline = Pipeline(str(folder))
    for _ in pipeline.items():
        pass
    return report.text(pipeline.findings(), color=False)


def test_the_project_that_the_samples_change_is_good(tmp_path: Path) -> None:
    assert told(tmp_path, good_files()) == ""


@pytest.mark.parametrize("sample", [s for s in samples() if s.change], ids=lambda sample: sample.code)
def test_each_sample_gets_what_the_manual_says(sample: Sample, tmp_path: Path) -> None:
    answer = told(tmp_path, changed(good_files(), sample.change))

    assert answer == sample.told
    assert f"[{sample.code}]" in answer


def test_the_manual_has_every_rule_in_order_as_the_program_has_it() -> None:
    listed = [(sample.code, sample.severity, sample.meaning) for sample in samples()]

    assert listed == [(code, rule.severity, rule.meaning) for code, rule in sorted(RULES.items())]
