"""The page of findings that is made has a section for every code; each sample causes its finding.

After a change of messages: python -m tests.refresh
"""

import re
from pathlib import Path

import pytest
from berth.findings import RULES

from tests.findingspage import (
    PAGE,
    SAMPLES,
    Sample,
    base_changes,
    changed,
    findings_of,
    made_page,
    notes,
    printed,
    sample_project,
    samples,
    valid_project,
)

TEXT = SAMPLES.read_text("utf-8")


@pytest.mark.parametrize(
    "change", ["", *base_changes(TEXT)], ids=["plain", "cloud-capacity", "slots", "hub", "devices"]
)
def test_the_project_that_the_samples_change_is_valid(change: str, tmp_path: Path) -> None:
    assert printed(tmp_path, changed(valid_project(TEXT), change)) == ""


@pytest.mark.parametrize("sample", [*samples(TEXT)], ids=lambda sample: sample.code)
def test_each_sample_gives_its_findings_with_its_code(sample: Sample, tmp_path: Path) -> None:
    findings = findings_of(printed(tmp_path, sample_project(TEXT, sample.change)))

    assert findings == sample.output
    assert findings
    assert all(f"[{sample.code}]" in line for line in findings.splitlines())


def test_a_note_of_the_page_is_about_a_code_that_exists() -> None:
    headings = {f"{code} {rule.severity}" for code, rule in RULES.items()}

    assert notes(PAGE.read_text("utf-8")).keys() <= headings


def test_the_generated_page_has_every_rule_in_order() -> None:
    page = made_page()
    listed = re.findall(r"^### (B\d{3}) (\w+)\n\n(.+)\n", page, re.M)
    shown = [sample.output.partition("\n")[0] for sample in samples(TEXT) if sample.is_shown]

    assert listed == [(code, rule.severity, rule.meaning) for code, rule in sorted(RULES.items())]
    assert shown
    assert [line for line in shown if f"```text\n{line}\n```" not in page] == []
    assert [note for note in notes(PAGE.read_text("utf-8")).values() if note not in page] == []
