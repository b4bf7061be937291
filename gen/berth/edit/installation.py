"""Find out where this installation of Berth came from, so that another machine can install the same."""

import json
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from berth.names import DISTRIBUTION
from berth.notation.refusal import CommandError
from berth.version import VERSION

RELEASED = f"{DISTRIBUTION}=={VERSION}"
_SECONDS = 300


class InstallationSource(NamedTuple):
    """What pip installs, and whether only this machine has it."""

    requirement: str
    is_local: bool = False


class Wheel(NamedTuple):
    name: str
    content: bytes


def installed_origin() -> InstallationSource:
    """Return where this installation came from; the package index if nothing says so."""
    try:
        return origin_of(metadata.distribution(DISTRIBUTION).read_text("direct_url.json"))
    except metadata.PackageNotFoundError:
        return InstallationSource(RELEASED)


def origin_of(direct_url: str | None) -> InstallationSource:
    """Return the origin that `direct_url.json` of an installation names.

    https://packaging.python.org/en/latest/specifications/direct-url/ has its fields.
    """
    if direct_url is None:
        return InstallationSource(RELEASED)
    data = json.loads(direct_url)
    url = data["url"]
    parts = [f"subdirectory={data['subdirectory']}"] if "subdirectory" in data else []
    if "vcs_info" in data:
        commit = data["vcs_info"]
        url = f"{commit['vcs']}+{url}@{commit['commit_id']}"
    elif checksum := data.get("archive_info", {}).get("hashes", {}).get("sha256"):
        parts.append(f"sha256={checksum}")
    return InstallationSource(
        "#".join(filter(None, (url, "&".join(parts)))), is_local=data["url"].startswith("file:")
    )


def build_wheel(requirement: str) -> Wheel:
    """Build the wheel of a requirement, or copy it if it is one. Raise CommandError if pip cannot."""
    with tempfile.TemporaryDirectory() as folder:
        quiet = ("--quiet", "--disable-pip-version-check")
        try:
            done = subprocess.run(
                [sys.executable, "-m", "pip", "wheel", *quiet, "--no-deps", "-w", folder, requirement],
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CommandError(f"pip cannot be run: {error}") from error
        if done.returncode:
            why = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise CommandError(f"pip cannot build a wheel of {requirement}: {why}")
        (built,) = Path(folder).iterdir()
        return Wheel(built.name, built.read_bytes())
