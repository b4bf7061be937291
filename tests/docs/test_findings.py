"""docs/reference/findings.md has a section for every code; each sample causes its finding as shown.

After a change of messages: python -m tests.refresh
"""

from pathlib import Path

import pytest
from berth.findings import RULES

from tests.findingspage import CLOUD, PAGE, Sample, lines_of, printed, sample_project, samples

TEXT = PAGE.read_text("utf-8")
SAMPLES = list(samples(TEXT))


@pytest.mark.parametrize("change", ["", f"--- {CLOUD}\n"], ids=["plain", "with-cloud-capacity"])
def test_the_project_that_the_samples_change_is_valid(change: str, tmp_path: Path) -> None:
    assert printed(tmp_path, sample_project(TEXT, change)) == ""


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.change], ids=lambda sample: sample.code)
def test_each_sample_prints_what_the_page_shows(sample: Sample, tmp_path: Path) -> None:
    output = printed(tmp_path, sample_project(TEXT, sample.change))

    assert lines_of(sample.code, output) == sample.output
    assert sample.output


def test_the_page_has_every_rule_in_order_as_the_program_has_it() -> None:
    listed = [(sample.code, sample.severity, sample.meaning) for sample in SAMPLES]

    assert listed == [(code, rule.severity, rule.meaning) for code, rule in sorted(RULES.items())]
