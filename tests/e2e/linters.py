"""Linters of rendered files and of workflows."""

import subprocess
from pathlib import Path

from tests.e2e.binaries import binary
from tests.e2e.errors import E2EError


class LintError(E2EError):
    """A linter's complaints, one on each line."""


def actionlint(*paths: Path) -> str:
    # Without the two linters that it calls when a machine happens to have them: the same verdict everywhere.
    options = ("-no-color", "-oneline", "-shellcheck=", "-pyflakes=")
    return _run(str(binary("actionlint")), *options, *map(str, paths))


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LintError((done.stdout + done.stderr).strip())
    return done.stdout
