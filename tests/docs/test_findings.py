"""docs/reference/findings.md has a section for every code; each sample causes its finding.

After a change of messages: python -m tests.refresh
"""

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
    printed,
    sample_project,
    samples,
    sections,
    valid_project,
)

TEXT = SAMPLES.read_text("utf-8")
SECTIONS = sections(PAGE.read_text("utf-8"))


@pytest.mark.parametrize(
    "change", ["", *base_changes(TEXT)], ids=["plain", "cloud-capacity", "slots", "hub", "devices"]
)
def test_the_project_that_the_samples_change_is_valid(change: str, tmp_path: Path) -> None:
    assert printed(tmp_path, changed(valid_project(TEXT), change)) == ""


@pytest.mark.parametrize("sample", [*samples(TEXT)], ids=lambda sample: sample.code)
def test_each_sample_has_its_findings_and_all_have_its_code(sample: Sample, tmp_path: Path) -> None:
    findings = findings_of(printed(tmp_path, sample_project(TEXT, sample.change)))

    assert findings == sample.output
    assert findings
    assert all(f"[{sample.code}]" in line for line in findings.splitlines())


def test_the_page_has_every_rule_in_order_as_the_program_has_it() -> None:
    listed = [section[:3] for section in SECTIONS]

    assert listed == [(code, rule.severity, rule.meaning) for code, rule in sorted(RULES.items())]


def test_its_examples_are_those_of_the_samples() -> None:
    outputs = {sample.code: sample.output for sample in samples(TEXT)}
    shown = {section.code: section.example for section in SECTIONS if section.code in outputs}

    assert any(shown.values())
    assert [code for code, example in shown.items() if example not in outputs[code]] == []
