"""Where a workflow installs Berth from: what pip wrote about this installation."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from berth.edit.installation import RELEASED, InstallationSource, build_wheel, origin_of
from berth.notation.refusal import CommandError

GIT = "https://example.org/uni/berth.git"
COMMIT = {"vcs": "git", "commit_id": "abc123", "requested_revision": "main"}


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (None, InstallationSource(RELEASED)),
        ({"url": GIT, "vcs_info": COMMIT}, InstallationSource(f"git+{GIT}@abc123")),
        (
            {"url": GIT, "vcs_info": COMMIT, "subdirectory": "tools/berth"},
            InstallationSource(f"git+{GIT}@abc123#subdirectory=tools/berth"),
        ),
        (
            {"url": "https://example.org/b.whl", "archive_info": {"hashes": {"sha256": "12"}}},
            InstallationSource("https://example.org/b.whl#sha256=12"),
        ),
        (
            {"url": "https://example.org/b.zip", "archive_info": {}, "subdirectory": "b"},
            InstallationSource("https://example.org/b.zip#subdirectory=b"),
        ),
        (
            {"url": "file:///b.whl", "archive_info": {"hashes": {"sha256": "12"}}},
            InstallationSource("file:///b.whl#sha256=12", is_local=True),
        ),
        (
            {"url": "file:///src/berth", "dir_info": {"editable": True}},
            InstallationSource("file:///src/berth", is_local=True),
        ),
        ({"url": "file:///b", "vcs_info": COMMIT}, InstallationSource("git+file:///b@abc123", is_local=True)),
    ],
    ids=["index", "git", "git-folder", "wheel", "archive-folder", "local-wheel", "editable", "local-git"],
)
def test_the_origin_is_what_pip_says(told: dict[str, Any] | None, expected: InstallationSource) -> None:
    assert origin_of(None if told is None else json.dumps(told)) == expected


def _source(folder: Path) -> Path:
    """A wheel with one module and nothing to build it from."""
    file = folder / "one-1.0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("one.py", "")
        archive.writestr("one-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: one\nVersion: 1.0\n")
        archive.writestr(
            "one-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("one-1.0.dist-info/RECORD", "")
    return file


def test_pip_installs_from_the_origin_that_it_wrote(tmp_path: Path) -> None:
    """Round trip: install a wheel, read what pip noted, and get the same wheel again."""
    wheel = _source(tmp_path)
    quiet = ("--quiet", "--disable-pip-version-check", "--no-index", "--no-deps")
    target = tmp_path / "site"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *quiet, "--target", target, wheel.as_uri()], check=True
    )
    origin = origin_of((target / "one-1.0.dist-info/direct_url.json").read_text("utf-8"))
    assert origin.is_local
    built = build_wheel(origin.requirement)
    assert (built.name, built.content) == (wheel.name, wheel.read_bytes())


def test_what_pip_cannot_build_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError):
        build_wheel(f"{(tmp_path / 'missing-1.0-py3-none-any.whl').as_uri()}")
