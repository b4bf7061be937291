"""Linters of rendered files and of workflows."""

import shutil
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


def kube_linter(*paths: Path) -> str:
    """Its Go module is not on every module proxy, so this one is not built but must be on PATH."""
    program = shutil.which("kube-linter")
    if program is None:
        raise E2EError("kube-linter is missing: install it and put it on PATH")
    return _run(program, "lint", "--format=plain", *map(str, paths))


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LintError((done.stdout + done.stderr).strip())
    return done.stdout
