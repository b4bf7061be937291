"""The hook `berth-render` as git runs it: no commit has a reservation without what is rendered of it."""

import shlex
from pathlib import Path

import pytest
import yaml

from tests.cli import project
from tests.flow.conftest import ROOT, Repository

EVENING = "reservations/evening.yaml"
RENDERED = "rendered/clusters/prod/reservations/evening.yaml"
IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")


class Hooked:
    """A repository whose commits run the entry of the hook."""

    def __init__(self, repository: Repository) -> None:
        self.repository, self.folder = repository, repository.folder
        hooks = {one["id"]: one for one in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
        hook = self.folder / ".git/hooks/pre-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\nexec {shlex.join(shlex.split(hooks['berth-render']['entry']))}\n")
        hook.chmod(0o755)

    def commit(self, *words: str) -> tuple[bool, str]:
        """Return whether the commit was made, and what the hook printed."""
        done = self.repository.run("git", *IDENTITY, "commit", "--quiet", "--message", "more", *words)
        return done.code == 0, done.out + done.err

    def files(self) -> set[str]:
        """Return what the last commit changed."""
        return set(self.repository.git("show", "--name-only", "--format=", "HEAD").split())


@pytest.fixture
def hooked(repository: Repository) -> Hooked:
    return Hooked(repository)


def test_a_new_reservation_is_committed_only_with_its_rendered_files(hooked: Hooked) -> None:
    project.write(hooked.folder, evening=project.EVENING)
    hooked.repository.git("add", EVENING)

    made, said = hooked.commit()
    assert not made
    assert f"{RENDERED} is not staged\n" in said
    assert said.endswith("Run: git add rendered\n")
    assert not hooked.commit()[0], "the second time, nothing is written any more"
    hooked.repository.git("add", "rendered")
    assert hooked.commit()[0]
    assert {EVENING, RENDERED} <= hooked.files()


def test_a_deleted_reservation_is_committed_only_with_its_rendered_files(hooked: Hooked) -> None:
    hooked.repository.git("rm", "--quiet", "reservations/night.yaml")

    made, said = hooked.commit()
    assert not made
    assert "rendered/clusters/prod/reservations/night.yaml is not staged\n" in said
    hooked.repository.git("add", "rendered")
    assert hooked.commit()[0]


def test_the_hook_checks_only_the_files_of_the_commit(hooked: Hooked) -> None:
    """Git commits it from an index of its own; what is staged in the usual one is not in the commit."""
    project.write(hooked.folder, evening=project.EVENING)
    assert hooked.repository.run("berth", "render").code == 0
    hooked.repository.git("add", "--all")

    assert not hooked.commit(EVENING)[0]
    assert hooked.commit(EVENING, "rendered")[0]


def test_a_rendered_reservation_that_is_not_staged_is_reported(hooked: Hooked) -> None:
    project.write(hooked.folder, evening=project.EVENING)
    assert hooked.repository.run("berth", "render").code == 0
    hooked.repository.git("add", "rendered")

    made, said = hooked.commit()
    assert not made
    assert said.endswith(
        f"{EVENING} is not staged\n1 file is not staged as it is now. Run: git add reservations\n"
    )


def test_staged_works_below_the_top_and_does_not_require_ignored_files(
    repository: Repository,
) -> None:
    below = repository.folder / "seats"
    project.write(below)
    staged = ("berth", "-C", "seats", "render", "--staged")

    repository.git("add", "seats")
    answer = repository.run(*staged)
    assert (answer.code, answer.out.splitlines()[-1].partition(" Run: ")[2]) == (4, "git add seats/rendered")
    (repository.folder / ".gitignore").write_text("seats/rendered/\n")
    assert repository.run(*staged).code == 0


def test_staged_outside_of_a_repository_is_a_usage_error(tmp_path: Path, repository: Repository) -> None:
    project.write(tmp_path / "elsewhere")
    answer = repository.run("berth", "-C", str(tmp_path / "elsewhere"), "render", "--staged")

    assert answer.code == 2
    assert answer.err.startswith("berth: --staged: ")


def test_staged_beside_check_is_a_usage_error(repository: Repository) -> None:
    assert repository.run("berth", "render", "--staged", "--check").code == 2


@pytest.mark.parametrize("hook", yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text()))
def test_hooks_run_before_each_commit(hook: dict[str, object]) -> None:
    """Because pre-commit has no files for a commit that only deletes."""
    assert (hook["always_run"], hook["pass_filenames"]) == (True, False)
