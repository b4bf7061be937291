"""Many pull requests at once: each touches its own files, so they merge in any order."""

from random import Random

import pytest

from tests.flow.conftest import Repository


@pytest.mark.parametrize("many", [4, pytest.param(20, marks=pytest.mark.long)])
def test_branches_merge_in_any_order_without_a_conflict(repository: Repository, many: int) -> None:
    repository.edit("site.yaml", "engine: none", "engine: flux")  # with none, all of them edit one inventory
    repository.run("berth", "render")
    repository.commit("an engine")
    for number in range(many // 2):
        repository.add(f"old-{number}")
    repository.run("berth", "render")
    first = repository.commit("courses")
    branches = []
    for number in range(many):
        branch = f"branch-{number}"
        repository.git("checkout", "--quiet", "-b", branch, first)
        if number < many // 2:
            repository.edit(f"old-{number}.yaml", "placeholderCount: 25", f"placeholderCount: {26 + number}")
        else:
            repository.add(f"new-{number}")
        assert repository.run("berth", "render").code == 0
        repository.commit(branch)
        branches.append(branch)
    Random(4).shuffle(branches)
    repository.git("checkout", "--quiet", "main")
    for branch in branches:
        repository.git("merge", "--quiet", "--no-edit", branch)
    assert repository.run("berth", "render", "--check").code == 0
