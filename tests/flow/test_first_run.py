"""The first runs of the workflows that `berth init` writes, with the packages of the tests."""

import shutil
import sys
from pathlib import Path

import pytest

from tests.flow.firstrun import FirstRun


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> FirstRun:
    berth = shutil.which("berth", path=f"{Path(sys.executable).parent}")
    assert berth
    packages = [path for path in sys.path if Path(path).name == "site-packages"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_NO_INDEX", "1")
        return FirstRun(berth, tmp_path_factory.mktemp("first"), packages)


def test_the_first_push_gets_the_status_success(first: FirstRun) -> None:
    ran = first.push()

    assert (ran.failed, ran.state) == (False, "success"), ran.log


def test_the_calendar_workflow_writes_the_page(first: FirstRun) -> None:
    ran = first.calendar()

    assert ran.failed == [], ran.log
    assert (first.github.runner.workspace / "site/index.html").exists()


def test_the_first_pull_request_is_rendered_and_gets_the_status_success(first: FirstRun) -> None:
    ran = first.pull_request()

    assert (ran.failed, ran.state) == (False, "success"), ran.log
    assert "1 reservation changed" in ran.comments[0][2]
    (head,) = {path.rpartition("/")[2] for _, path, _ in ran.calls if "/statuses/" in path}
    first.repository.git("fetch", "--quiet", "origin")
    assert first.repository.git("log", "-1", "--format=%s", head) == "Render"


def test_the_workflows_install_the_wheel_of_the_repository(first: FirstRun) -> None:
    runner = first.github.runner
    (site,) = (first.repository.folder.parent / "environment").glob("lib/python*/site-packages")

    assert (site / "berth/templates/repository/.github/berth/install.sh").is_file()
    assert runner.path.count(":") == 3
