"""docs/policies.md shows what `berth diff` says with the policies of its first block."""

import shlex
import subprocess
import textwrap
from pathlib import Path

from tests import forking
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


def test_the_page_shows_the_output_of_diff(tmp_path: Path) -> None:
    policies = textwrap.indent(blocks(TEXT)[0][1], "  ")
    for name in ("was", "now"):
        project.write(tmp_path / name, site=project.SITE + policies)
    (tmp_path / "now/reservations/linear-algebra.yaml").write_text(COURSE, "utf-8")
    head, *parts = printed("berth diff ../was", tmp_path / "now").split("\n\n")
    (shown,) = [part for part in parts if part.startswith("Policies\n")]

    assert "needs approval by @example-university/platform" in head
    assert textwrap.indent(shown, "    ") in TEXT


def course(name: str, contact: str) -> str:
    return COURSE.replace("linear-algebra", name) + f'  owner: {{name: Somebody, contact: "{contact}"}}\n'


def test_the_filter_on_the_page_prints_a_line_for_each_file_with_owners(tmp_path: Path) -> None:
    """The project is a folder of the repository. What has no owner has no line."""
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    folder = project.write(
        tmp_path / "teaching",
        algebra=course("algebra", "@ada") + "---\n" + course("geometry", "@uni/maths"),
        **{
            "life science": course("cells", "ada@uni.example"),
            "room": COURSE.replace("linear-algebra", "room"),
        },
    )
    (script,) = [text for language, text in blocks(TEXT) if language == "sh"]
    berth = f'berth() {{ {shlex.join(forking.command())} "$@"; }}\n'
    lines = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", berth + script], cwd=folder, check=True, stdout=-1, text=True
    ).stdout.splitlines()

    assert lines == [
        "/teaching/reservations/algebra.yaml @ada @uni/maths",
        "/teaching/reservations/life\\ science.yaml ada@uni.example",
    ]
