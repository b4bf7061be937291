"""Without the extra `cluster`, all works but a look at clusters, and that says what to install."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from berth.names import CLUSTER_EXTRA

ROOT = Path(__file__).parents[2]
WITHOUT = """\
import sys
sys.modules["kubernetes"] = sys.modules["urllib3"] = None
from berth.cli import run
sys.exit(run(sys.argv[1:]))
"""


def berth(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("command", [["validate"], ["render", "--check"]], ids=" ".join)
def test_validate_and_render_need_no_kubernetes_client(command: list[str]) -> None:
    assert berth(*command).returncode == 0


def test_status_names_the_extra_to_install() -> None:
    done = berth("status", "-o", "json")
    findings = [one for item in json.loads(done.stdout)["items"] for one in item.get("findings", [])]

    assert done.returncode == 1
    assert done.stderr.count("S001") or [finding for finding in findings if finding["code"] == "S001"]
    assert CLUSTER_EXTRA in done.stdout + done.stderr


def test_override_names_the_extra_to_install() -> None:
    done = berth("override", "data-science-101", "--end", "+1h", "small=9")

    assert done.returncode == 1
    assert "S001" in done.stderr
    assert CLUSTER_EXTRA in done.stderr
