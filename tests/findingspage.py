"""Read the samples of docs/reference/findings.md, try them, and rewrite what the page shows of each.

`python -m tests.refresh` calls `refreshed`; tests/test_findings.py compares.
"""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from berth.findings import RULES
from berth.output import findinglist
from berth.pipeline import Pipeline

from tests.console import ROOT

_NOW = 1_767_225_600  # 2026-01-01T00:00:00Z
PAGE = ROOT / "docs" / "reference" / "findings.md"
_SECTION = re.compile(
    r"^### (B\d{3}) (\w+)\n\n(.+?)\n(?:\n```diff\n(.*?)```\n\n```text\n(.*?)```\n)?", re.M | re.S
)
_FILE = re.compile(r"^`(reservations/[^`]+)`:\n\n```\w+\n(.*?)```\n", re.M | re.S)


class Sample(NamedTuple):
    """One section of the page: the meaning of a code, a change that causes it, and the output."""

    code: str
    severity: str
    meaning: str
    change: str
    output: str


def samples(page: str) -> Iterator[Sample]:
    """Yield one sample for each section of the page."""
    for match in _SECTION.finditer(page):
        yield Sample(*(group or "" for group in match.groups()))


def valid_project(page: str) -> dict[str, str]:
    """Return the files of the project that the samples change, by path."""
    return {match[1]: match[2] for match in _FILE.finditer(page)}


def sample_project(page: str, change: str) -> dict[str, str]:
    """Return the files of a sample: the project, changed by what the sample builds on, then by the sample."""
    files = valid_project(page)
    for base in base_changes(page):
        if _lines(change, "- ") & _lines(base, "+"):
            files = changed(files, base)
    return changed(files, change)


def base_changes(page: str) -> list[str]:
    """Return the changes of the project on which samples build."""
    return re.findall(r"^```diff\n(.*?)^```", page.partition("\n### ")[0], re.M | re.S)


def _lines(change: str, signs: str) -> set[tuple[str, str]]:
    """Return the file and the text of each line of a change that begins with one of the signs."""
    name, found = "", set()
    for line in change.splitlines():
        if line.startswith(("--- ", "+++ ")):
            name = line[4:].strip()
        elif line[0] in signs:
            found.add((name, line[1:]))
    return found


def changed(files: dict[str, str], change: str) -> dict[str, str]:
    """Apply a change. `--- FILE` replaces each run of `-` lines by the `+` lines after it, and adds `+` lines
    after a line that stays; the file is gone when no line is left. `+++ FILE` adds a file.
    """
    files, added = dict(files), set()
    name, cursor, before = "", "\0", ""
    for line in change.splitlines(keepends=True):
        if line.startswith(("--- ", "+++ ")):
            name = line[4:].strip()
            if line[0] == "+":
                files[name] = cursor
                added.add(name)
            before = ""
            continue
        if line[0] == "+":
            files[name] = files[name].replace(cursor, line[1:] + cursor)
        else:
            assert files[name].count(line[1:]) == 1, line
            stays = line[1:] if line[0] == " " else ""
            if stays or before != "-":  # the first line of a run
                files[name] = files[name].replace(cursor, "").replace(line[1:], stays + cursor)
            else:
                files[name] = files[name].replace(line[1:], "")
        before = line[0]
    whole = {name: text.replace(cursor, "") for name, text in files.items()}
    return {name: text for name, text in whole.items() if text or name in added}


def printed(folder: Path, files: dict[str, str]) -> str:
    """Return the findings for a project of these files, as text."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    pipeline = Pipeline(str(folder))
    for _ in pipeline.items(now=_NOW):
        pass
    return findinglist.text(pipeline.findings(), color=False)


def findings_of(output: str) -> str:
    """Return all findings of an output, without the line that counts them."""
    lines = output.splitlines(keepends=True)
    return "".join(lines[:-1])


def refreshed(page: str) -> str:
    """Return the page with each meaning and each output as the program has them now."""

    def section(match: re.Match[str]) -> str:
        code, severity, meaning, change, output = match.groups()
        text = match[0]
        if code in RULES:
            rule = RULES[code]
            text = text.replace(
                f"### {code} {severity}\n\n{meaning}\n", f"### {code} {rule.severity}\n\n{rule.meaning}\n"
            )
        if change:
            with tempfile.TemporaryDirectory() as folder:
                now = findings_of(printed(Path(folder), sample_project(page, change)))
            text = text.replace(f"```text\n{output}```", f"```text\n{now}```")
        return text

    return _SECTION.sub(section, page)
