"""docs/karpenter.md: the table of dates of reserved machines has those of its example."""

import json
import re
from pathlib import Path

from tests.console import ROOT, printed

TEXT = (ROOT / "docs/karpenter.md").read_text("utf-8")
EXAMPLE = ROOT / "docs/examples/capacity-block.yaml"
SITE = """\
apiVersion: berth.dev/v1alpha1
kind: Site
metadata: {name: uni}
spec:
  clusters: [{name: hub, autoscaler: karpenter}]
"""


def test_the_table_has_the_dates_of_the_example(tmp_path: Path) -> None:
    folder = tmp_path / "reservations"
    folder.mkdir()
    (folder / "site.yaml").write_text(SITE, "utf-8")
    (folder / "workshop.yaml").write_text(EXAMPLE.read_text("utf-8"), "utf-8")

    (course,) = json.loads(printed("berth occurrences -o json --from 2026-01-01", tmp_path))["items"]
    shown = re.findall(r"^\| (\w+) \| .* \| (\d+) March, (..:..) \|$", TEXT, re.M)

    assert [(key, f"2026-03-{int(day):02}T{hours}:00Z") for key, day, hours in shown] == [
        (key, course[key]) for key in ("open", "start", "end")
    ]
    assert printed("berth validate --strict", tmp_path).startswith("1 reservation ")
