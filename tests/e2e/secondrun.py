"""`python -m tests.e2e.secondrun ARG...`: run pytest, and run each module that failed once more, alone.

Stories that share a small machine sometimes fail although the product is right. So a module that failed gets
a second run at the end, in a new process and a new cluster, where nothing else happens. The whole run passes
if all second runs pass. It says which modules needed one: what made them fail is to be found and mended.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

VARIABLE = "BERTH_E2E_ALONE"  # in a second run, the name of its module
MOST = 3  # modules that fail by chance; where more fail, something is wrong with all of them


def alone() -> str:
    """Return the name of the module whose second run this is; empty in a first run."""
    return os.environ.get(VARIABLE, "")


class FirstRun:
    """A plugin of pytest that remembers which modules failed, and whether every test was run."""

    def __init__(self) -> None:
        self.failed: dict[Path, list[str]] = {}  # names of tests by module
        self.options: list[str] = []  # of pytest: what was given, without the files
        self.is_complete = False
        self._root = Path()
        self._ended = 0

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        config = session.config
        self._root = config.rootpath
        self.options = [word for word in config.invocation_params.args if word not in config.args]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._ended += report.when == "teardown"
        if report.failed:
            file, _, test = report.nodeid.partition("::")
            tests = self.failed.setdefault(self._root / file, [])
            if test not in tests:
                tests.append(test)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.is_complete = self._ended == session.testscollected


class Repeated(NamedTuple):
    module: Path
    failed: Sequence[str]  # tests, in the first run
    code: int  # with which the second run ended

    @property
    def passed(self) -> bool:
        return self.code == pytest.ExitCode.OK

    def describe(self) -> str:
        second = "passed" if self.passed else f"FAILED (exit code {self.code})"
        return f"{self.module.name}: first run FAILED ({', '.join(self.failed)}); second run, alone, {second}"


def main(arguments: Sequence[str]) -> int:
    first = FirstRun()
    code = int(pytest.main(list(arguments), plugins=[first]))
    if code != pytest.ExitCode.TESTS_FAILED or not first.failed:
        return code
    if not first.is_complete:
        _print("There is no second run: the first one was stopped before all tests had run.")
        return code
    if len(first.failed) > MOST:
        _print(f"There is no second run: {len(first.failed)} modules failed, which is not chance.")
        return code
    repeated = []
    for module, tests in first.failed.items():
        _print(f"== second run, alone: {module.name}")
        repeated.append(Repeated(module, tests, _run_alone(module, first.options)))
        if repeated[-1].code == pytest.ExitCode.INTERRUPTED:
            break
    _print("== modules that failed, and were run once more", *(one.describe() for one in repeated))
    if not all(one.passed for one in repeated):
        return next(one.code for one in repeated if not one.passed)
    for one in repeated:
        _print(f"NEEDED A SECOND RUN: {one.module.name}. This run passes; find out why the first one failed.")
    return int(pytest.ExitCode.OK)


def _run_alone(module: Path, options: Sequence[str]) -> int:
    """Return the exit code of pytest. A new process has nothing of the first run: no thread, no import."""
    child = subprocess.Popen(
        [sys.executable, "-m", "pytest", str(module), *options], env={**os.environ, VARIABLE: module.stem}
    )
    before = signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    try:
        while True:
            try:
                return child.wait()
            except KeyboardInterrupt:
                continue  # Ctrl-C reaches the child, too, which ends its cluster
    finally:
        signal.signal(signal.SIGTERM, before)


def _print(*lines: str) -> None:
    print(*lines, sep="\n", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
