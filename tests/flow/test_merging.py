"""Many pull requests at once: each touches its own files, so they merge in any order."""

from random import Random

import pytest

from tests.flow.conftest import Repository

NOW = ("--now", "2026-02-01")


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


TERM = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: term}
spec:
  resourceClass: small
  recurrence:
    type: weekly
    startDate: 2026-02-02
    endDate: 2026-05-31
LISTS
    schedule:
      - {dayOfWeek: mon, startTime: "09:00", endTime: "13:00"}
  provisioning: {placeholderCount: 25, scaleDownBehavior: none}
"""
LISTS = """\
    except:
      - 2026-03-23
    moved:
      - {date: 2026-03-30, to: {date: 2026-03-31}}\
"""
SKIPS = (("skip", "term", "2026-03-02"), ("skip", "term", "2026-04-13"))
CHANGES = (
    ("set", "term", "--on", "2026-03-02", "--seats", "120"),
    ("move", "term", "2026-04-13", "--end", "14:00"),
)


@pytest.mark.parametrize(
    ("lists", "edits"),
    [(LISTS, SKIPS), (LISTS, CHANGES), ("    calendars: []", (SKIPS[0], CHANGES[1]))],
    ids=["around-an-exception", "around-a-move", "first-skip-and-first-change"],
)
def test_edits_of_two_dates_merge_in_either_order(
    repository: Repository, lists: str, edits: tuple[tuple[str, ...], ...]
) -> None:
    (repository.folder / "reservations/term.yaml").write_text(TERM.replace("LISTS", lists), "utf-8")
    assert repository.run("berth", "render").code == 0
    first = repository.commit("a term")
    for number, words in enumerate(edits):
        repository.git("checkout", "--quiet", "-b", f"branch-{number}", first)
        assert repository.run("berth", *words).code == 0
        assert repository.run("berth", "render").code == 0
        repository.commit(words[0])
    assert repository.run("berth", *edits[0]).code == 0  # the last branch with both, without a merge
    expected = repository.run("berth", "occurrences", *NOW, "term").out
    repository.git("checkout", "--quiet", "--force", "main")
    for order in ((0, 1), (1, 0)):
        repository.git("reset", "--quiet", "--hard", first)
        for number in order:
            repository.git("merge", "--quiet", "--no-edit", f"branch-{number}")
        assert repository.run("berth", "render", "--check").code == 0
        assert repository.run("berth", "occurrences", *NOW, "term").out == expected
