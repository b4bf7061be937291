"""docs/machine-dates.md: its table has the dates of its sample."""

import json
import re
from pathlib import Path

from tests.console import ROOT, blocks, printed

TEXT = (ROOT / "docs/machine-dates.md").read_text("utf-8")
SITE = """\
apiVersion: berth.dev/v1alpha1
kind: Site
metadata: {name: uni}
spec:
  clusters: [{name: hub, autoscaler: karpenter}]
"""


def test_the_dates_of_its_course_are_those_that_it_tells(tmp_path: Path) -> None:
    samples = [text for _, text in blocks(TEXT) if "\nkind:" in text]
    for number, text in enumerate([SITE, *samples]):
        path = tmp_path / f"reservations/{number}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")

    (course,) = json.loads(printed("berth occurrences -o json --from 2026-01-01", tmp_path))["items"]
    told = re.findall(r"^\| (\w+) \| .* \| (\d+) March, (..:..) \|$", TEXT, re.M)

    assert [(key, f"2026-03-{int(day):02}T{hours}:00Z") for key, day, hours in told] == [
        (key, course[key]) for key in ("open", "start", "end")
    ]
    assert printed("berth validate --strict", tmp_path).startswith("1 reservation ")
