"""Read the samples of findings in tests/cases/findings.md, try them, and make the page of findings.

`python -m tests.refresh` calls `refreshed`, and tests/reference.py `made_page`.
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
SAMPLES = ROOT / "tests" / "cases" / "findings.md"
_SAMPLE = re.compile(
    r"^### (B\d{3})(, on the page)?\n\n```diff\n(.*?)```\n\n```text\n(.*?)```\n", re.M | re.S
)
_FILE = re.compile(r"^`(reservations/[^`]+)`:\n\n```\w+\n(.*?)```\n", re.M | re.S)


class Sample(NamedTuple):
    """A code, whether the page shows its output, a change that causes its finding, and the output."""

    code: str
    is_shown: bool
    change: str
    output: str


def samples(text: str) -> Iterator[Sample]:
    """Yield the samples."""
    for match in _SAMPLE.finditer(text):
        code, shown, change, output = match.groups()
        yield Sample(code, shown is not None, change, output)


def notes(page: str) -> dict[str, str]:
    """Return what the page in git says of single findings, by heading."""
    return dict(re.findall(r"^### (.+)\n\n((?:(?!^### ).*\n)+)", page, re.M))


def made_page() -> str:
    """Return the page with the meaning of every finding, a note and a line of its sample if it has them."""
    page = PAGE.read_text("utf-8")
    examples = {
        sample.code: f"```text\n{sample.output.partition(chr(10))[0]}\n```\n"
        for sample in samples(SAMPLES.read_text("utf-8"))
        if sample.is_shown
    }
    parts = [page.partition("<!-- findings -->")[0]]
    for code, rule in sorted(RULES.items()):
        heading = f"{code} {rule.severity}"
        parts.append(f"### {heading}\n\n{rule.meaning}\n")
        parts += [text for text in (notes(page).get(heading, ""), examples.get(code, "")) if text]
    return "\n".join(parts)


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
    pipeline.items(now=_NOW)
    return findinglist.text(pipeline.findings(), color=False)


def findings_of(output: str) -> str:
    """Return all findings of an output, without the line that counts them."""
    lines = output.splitlines(keepends=True)
    return "".join(lines[:-1])


def refreshed(text: str) -> str:
    """Return the samples with each output as the program has it now."""

    def sample(match: re.Match[str]) -> str:
        *_, change, output = match.groups()
        with tempfile.TemporaryDirectory() as folder:
            now = findings_of(printed(Path(folder), sample_project(text, change)))
        return match[0].replace(f"```text\n{output}```", f"```text\n{now}```")

    return _SAMPLE.sub(sample, text)
