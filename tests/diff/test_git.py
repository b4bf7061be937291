"""Against commits of a real git repository."""

import json
from pathlib import Path

import pytest
from berth.diff.comparedfiles import CommitFiles, FolderFiles
from berth.git import Git

from tests.cases import tabled
from tests.diff.conftest import History, Pair

ADVICE = "Name a commit, or a folder that begins with ./: berth diff BASE.\n"
MORE = "1 reservation changed; peak seats of small in prod 25 -> 30; 1 warning\n"


def more_seats(pair: Pair) -> None:
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")


def test_on_main_uncommitted_changes_are_compared(history: History) -> None:
    first = history.git("rev-parse", "--short=9", "HEAD")
    assert history.diff().out == f"Nothing changes.\nmain ({first}) -> working tree\n"
    more_seats(history.pair)
    assert history.diff().out.startswith(MORE)


def test_a_branch_is_compared_with_its_merge_base(history: History) -> None:
    history.git("checkout", "--quiet", "-b", "change")
    more_seats(history.pair)
    history.commit("more seats")
    history.git("checkout", "--quiet", "main")
    history.pair.edit("night.yaml", "placeholderCount: 2}", "placeholderCount: 4}")
    history.commit("another change, on main")
    history.git("checkout", "--quiet", "change")
    assert history.diff().out.startswith(MORE)
    assert history.diff("main").out.startswith("2 reservations changed; ")


def test_a_branch_that_is_pushed_is_compared_with_the_main_branch(history: History, tmp_path: Path) -> None:
    remote = tmp_path / "remote.git"
    history.git("init", "--quiet", "--bare", "--initial-branch=main", str(remote))
    history.git("remote", "add", "origin", str(remote))
    history.git("push", "--quiet", "--set-upstream", "origin", "main")
    history.git("checkout", "--quiet", "-b", "a/change")
    more_seats(history.pair)
    history.commit("more seats")
    history.git("push", "--quiet", "--set-upstream", "origin", "a/change")
    told = history.diff().out
    assert told.startswith(MORE)
    assert told.splitlines()[1].startswith("origin/main (")
    # A branch that is to be merged into another one says so by its upstream.
    history.git("checkout", "--quiet", "-b", "more", "--track", "origin/a/change")
    assert history.diff().out.splitlines()[1].startswith("origin/a/change (")


def test_any_commit_may_be_the_base(history: History) -> None:
    first = history.git("rev-parse", "HEAD")
    more_seats(history.pair)
    history.commit("more seats")
    assert history.diff(first).out.startswith(MORE)
    assert history.diff("HEAD~1").out.splitlines()[1] == f"HEAD~1 ({first[:9]}) -> working tree"
    assert history.diff("HEAD").out.startswith("dates and seats are the same; 1 rendered file changed\n")


def test_the_project_may_lie_below_the_root_of_the_repository(pair: Pair) -> None:
    history = History(pair, pair.now.parent)
    more_seats(pair)
    assert history.diff().out.startswith(MORE)


def test_diff_does_not_change_the_repository(history: History) -> None:
    more_seats(history.pair)
    before = history.git("status", "--porcelain=v2")
    assert "rendered/ is not up to date" in history.pair.diff(base="", stale=True).out
    assert history.git("status", "--porcelain=v2") == before


def test_an_unknown_commit_is_refused(history: History) -> None:
    assert history.diff("nowhere") == (2, "", f'berth: no commit named "nowhere". {ADVICE}')
    assert history.diff("--", "--help").code == 2


def test_outside_of_a_repository_the_base_must_be_named(pair: Pair) -> None:
    told = pair.diff(base="")
    assert told.code == 2
    assert told.err.startswith("berth: fatal: not a git repository")
    assert told.err.endswith(ADVICE)


def test_a_base_without_our_folders_is_empty(history: History) -> None:
    history.git("checkout", "--quiet", "--orphan", "empty")
    history.git("rm", "-r", "--cached", "--quiet", ".")
    history.git("commit", "--quiet", "--allow-empty", "--message", "nothing")
    told = history.diff("empty")
    assert told.code == 0
    assert told.out.startswith(
        "new permissions in seats, berth; 3 reservations added; 4 shared documents changed; "
        "peak seats of small in prod 0 -> 25; "
    )


HUB = """\
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: hub}
spec:
  cluster: prod
  requests: {memory: 4Gi}
  tolerations: [{operator: Exists}]
  sessions: {source: jupyterhub, namespaces: [hub]}
"""


def larger_sessions(root: Path) -> None:
    (root / "hub/values.yaml").write_text("singleuser: {memory: {guarantee: 8G}}\n", "utf-8")


@pytest.fixture
def hub(pair: Pair) -> Pair:
    """Give both sides a hub whose sessions are as large as the placeholders."""
    for root in (pair.was, pair.now):
        site = root / "reservations/site.yaml"
        site.write_text(
            site.read_text("utf-8").replace("name: prod", "name: prod\n      z2jh: hub/values.yaml"), "utf-8"
        )
        (root / "reservations/hub.yaml").write_text(HUB, "utf-8")
        (root / "hub").mkdir()
        (root / "hub/values.yaml").write_text("singleuser: {memory: {guarantee: 4G}}\n", "utf-8")
    return pair


@pytest.mark.parametrize("is_commit", [True, False], ids=["commit", "folder"])
@pytest.mark.parametrize("is_old", [True, False], ids=["old", "new"])
def test_hub_values_are_those_of_their_side(hub: Pair, is_commit: bool, is_old: bool) -> None:
    if is_old:
        larger_sessions(hub.was)
        larger_sessions(hub.now)
    compare = History(hub, hub.now).diff if is_commit else hub.diff
    larger_sessions(hub.now)

    assert ("B085" in compare("-o", "github").out) is not is_old
    assert "B087" not in compare("-o", "github").out


def test_hub_values_removed_by_the_change_are_reported(hub: Pair) -> None:
    history = History(hub, hub.now)
    (hub.now / "hub/values.yaml").unlink()
    removed = history.diff("-o", "github").out
    history.commit("removed")

    assert ("B087" in removed, "B087" in hub.diff("-o", "github", base="HEAD").out) == (True, False)


def both_sides(history: History, path: str) -> str:
    """Return what is said of a path that is in the commit and in the working tree, once for each."""
    history.commit("as it is")
    told = history.diff("HEAD").out
    assert told.count(f"{path}:1:1: error[B001]") == 2, told
    return told


@tabled("diff")
def test_a_symlink_among_reservations_is_refused_on_both_sides(
    target: str, name: str, history: History
) -> None:
    (history.root / "shared").mkdir()
    for copy in ("shared/rest.yaml", "rendered/README.md"):
        (history.root / copy).write_bytes((history.root / "reservations/rest.yaml").read_bytes())
    (history.root / "reservations/deep").mkdir()
    (history.root / "reservations" / name).symlink_to(target)

    told = both_sides(history, f"reservations/{name}")
    assert "it is a symbolic link." in told
    assert "[core]" not in told


@pytest.mark.parametrize("name", ["a.yaml.txt", ".a.yaml", ".old/a.yaml", ".old/link.yaml", ".link.yaml"])
def test_a_commit_and_a_folder_ignore_the_same_files(history: History, name: str) -> None:
    path = history.root / "reservations" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if "link." in name:
        path.symlink_to("course.yaml")
    else:
        path.write_text("kind: Site\n")
    history.commit("as it is")
    folder, commit = (
        FolderFiles(str(history.root), "rendered"),
        CommitFiles(Git(str(history.root)), "HEAD", "rendered"),
    )

    of_folder, of_commit = folder.inputs(), commit.inputs()

    assert [(input_.code, input_.file) for input_ in of_folder[1]] == [("B007", f"reservations/{name}")]
    assert of_commit == of_folder


@pytest.mark.parametrize("folder", ["reservations", "reservations/deep/er"])
def test_gitattributes_among_reservations_are_refused_on_both_sides(history: History, folder: str) -> None:
    (history.root / folder).mkdir(parents=True, exist_ok=True)
    (history.root / folder / ".gitattributes").write_text("*.yaml ident\n")

    assert "it may change what git checks out here." in both_sides(history, f"{folder}/.gitattributes")


@pytest.mark.parametrize("place", [".", ".."], ids=["project", "above"])
@pytest.mark.parametrize("change", ["added", "changed", "removed"])
def test_changed_gitattributes_are_reported(pair: Pair, place: str, change: str) -> None:
    """They are not refused: the workflow judges what git stores."""
    top = pair.now if place == "." else pair.now.parent
    attributes = pair.now / place / ".gitattributes"
    if change != "added":
        attributes.write_text("* text eol=lf\n")
    history = History(pair, top)
    assert "gitattributes" not in history.diff("HEAD").out
    if change == "removed":
        attributes.unlink()
    else:
        attributes.write_text("reservations/*.yaml working-tree-encoding=UTF-16\n")

    name = ".gitattributes" if place == "." else "../.gitattributes"
    assert [
        (load["code"], load["message"].startswith(f"{name} changes:"))
        for load in json.loads(history.diff("HEAD", "-o", "json").out)["warnings"]
    ] == [("attributes", True)]
    assert f"{name} changes" in history.diff("HEAD").out
    assert "gitattributes changes" in history.diff("HEAD", "-o", "markdown").out.replace("\\", "")


def test_other_line_endings_of_gitattributes_are_no_change(history: History) -> None:
    attributes = history.root / ".gitattributes"
    attributes.write_bytes(b"* text\n")
    history.commit("attributes")
    attributes.write_bytes(b"* text\r\n")

    assert "gitattributes" not in history.diff("HEAD").out


def test_hub_values_behind_a_symlink_are_not_read(hub: Pair) -> None:
    (hub.now / "hub").rename(hub.now / "elsewhere")
    (hub.now / "hub").symlink_to("elsewhere")
    history = History(hub, hub.now)
    found = json.loads(history.diff("HEAD", "-o", "json").out)

    assert [[one["code"] for one in found[side]["findings"]] for side in ("base", "head")] == [["B087"]] * 2
