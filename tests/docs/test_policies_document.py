"""docs/policies.md shows what `berth diff` says with the policies of its first block."""

import textwrap
from pathlib import Path

from tests.cli import project
from tests.console import blocks, printed
from tests.pages import text_of

TEXT = text_of("docs/policies.md")
COURSE = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: linear-algebra}
spec:
  resourceClass: small
  recurrence: {type: dates, dates: [2026-02-02], schedule: [{startTime: "09:00", endTime: "13:00"}]}
  provisioning: {placeholderCount: 120, scaleDownBehavior: none}
"""


def test_it_shows_what_diff_says(tmp_path: Path) -> None:
    policies = textwrap.indent(blocks(TEXT)[0][1], "  ")
    for name in ("was", "now"):
        project.write(tmp_path / name, site=project.SITE + policies)
    (tmp_path / "now/reservations/linear-algebra.yaml").write_text(COURSE, "utf-8")
    head, *parts = printed("berth diff ../was", tmp_path / "now").split("\n\n")
    (shown,) = [part for part in parts if part.startswith("Policies\n")]

    assert "needs approval by @example-university/platform" in head
    assert textwrap.indent(shown, "    ") in TEXT
