"""Against commits of a real git repository."""

import json
import subprocess
from pathlib import Path

import pytest
from berth import cli
from berth.diff.comparedfiles import CommitFiles, FolderFiles
from berth.git import Git

from tests.answer import Answer
from tests.diff.conftest import Pair


class History:
    """The pair's `now`, as a repository whose main branch is what was."""

    def __init__(self, pair: Pair, root: Path) -> None:
        self.pair, self.root = pair, root
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit("first")

    def git(self, *words: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        done = subprocess.run(
            ["git", *identity, *words], cwd=self.root, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self, message: str) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    def diff(self, *words: str) -> Answer:
        return self.pair.diff(*words, base="")


@pytest.fixture
def history(pair: Pair) -> History:
    return History(pair, pair.now)


MORE = "1 reservation changed; peak seats of small in prod 25 -> 30; 1 warning\n"


def more_seats(pair: Pair) -> None:
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")


def test_on_main_what_is_not_committed_is_compared(history: History) -> None:
    first = history.git("rev-parse", "--short=9", "HEAD")
    assert history.diff().out == f"Nothing changes.\nmain ({first}) -> working tree\n"
    more_seats(history.pair)
    assert history.diff().out.startswith(MORE)


def test_a_branch_is_compared_with_where_it_left_main(history: History) -> None:
    history.git("checkout", "--quiet", "-b", "change")
    more_seats(history.pair)
    history.commit("more seats")
    history.git("checkout", "--quiet", "main")
    history.pair.edit("night.yaml", "placeholderCount: 2}", "placeholderCount: 4}")
    history.commit("another change, on main")
    history.git("checkout", "--quiet", "change")
    assert history.diff().out.startswith(MORE)
    assert history.diff("main").out.startswith("2 reservations changed; ")


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


def test_nothing_in_the_repository_is_changed(history: History) -> None:
    more_seats(history.pair)
    before = history.git("status", "--porcelain=v2")
    assert "rendered/ is not up to date" in history.pair.diff(base="", stale=True).out
    assert history.git("status", "--porcelain=v2") == before


def test_what_git_does_not_know_is_a_slip(history: History) -> None:
    assert history.diff("nowhere") == (
        2,
        "",
        'berth: no commit named "nowhere". Name a commit or a folder: berth diff BASE.\n',
    )
    assert history.diff("--", "--help").code == 2


def test_without_a_repository_it_says_what_to_name(pair: Pair) -> None:
    told = pair.diff(base="")
    assert told.code == 2
    assert told.err.startswith("berth: fatal: not a git repository")
    assert told.err.endswith("Name a commit or a folder: berth diff BASE.\n")


def test_a_base_without_our_folders_has_nothing(history: History) -> None:
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
def test_values_of_a_hub_are_those_of_the_side(hub: Pair, is_commit: bool, is_old: bool) -> None:
    if is_old:
        larger_sessions(hub.was)
        larger_sessions(hub.now)
    compare = History(hub, hub.now).diff if is_commit else hub.diff
    larger_sessions(hub.now)

    assert ("B085" in compare("-o", "github").out) is not is_old
    assert "B087" not in compare("-o", "github").out


def test_values_that_are_missing_are_told_where_they_were_there(hub: Pair) -> None:
    history = History(hub, hub.now)
    (hub.now / "hub/values.yaml").unlink()
    removed = history.diff("-o", "github").out
    history.commit("removed")

    assert ("B087" in removed, "B087" in hub.diff("-o", "github", base="HEAD").out) == (True, False)


def test_a_link_within_the_repository_is_the_same_on_both_sides(history: History) -> None:
    shared = history.root / "shared"
    shared.mkdir()
    rest = history.root / "reservations/rest.yaml"
    (shared / "rest.yaml").write_bytes(rest.read_bytes())
    (shared / "folder").mkdir()
    night = history.root / "reservations/night.yaml"
    (shared / "folder/night.yaml").write_bytes(night.read_bytes())
    for file in (rest, night):
        file.unlink()
    rest.symlink_to("../shared/rest.yaml")
    (history.root / "reservations/more").symlink_to("../shared/folder")
    history.commit("links")
    told = history.diff("HEAD")

    assert (told.code, told.out.splitlines()[0]) == (0, "Nothing changes.")


@pytest.mark.parametrize("target", ["/etc/hostname", "../../..", "../.git/config", "../.git"])
def test_a_link_out_of_the_repository_is_refused_on_both_sides(history: History, target: str) -> None:
    name = "x.yaml" if target[-1] in "eg" and not target.endswith(".git") else "x"
    (history.root / f"reservations/{name}").symlink_to(target)
    history.commit("a link")
    change = json.loads(history.diff("HEAD", "-o", "json").out)

    assert (change["base"]["valid"], change["head"]["valid"]) == (False, False)
    told = history.diff("HEAD").out
    assert told.count(f"reservations/{name}:1:1: error[B001]") == 2
    assert "[core]" not in told


def both_sides(history: History, path: str) -> str:
    """Return what is said of a path that is in the commit and in the working tree, once for each."""
    history.commit("as it is")
    told = history.diff("HEAD").out
    assert told.count(f"{path}:1:1: error[B001]") == 2, told
    return told


@pytest.mark.parametrize("name", ["a.yaml.txt", ".a.yaml", ".old/a.yaml", "linked/.old/a.yaml", ".link.yaml"])
def test_a_commit_and_a_folder_overlook_the_same_files(history: History, name: str) -> None:
    path = history.root / "reservations" / name
    if name.startswith("linked/"):
        (history.root / "shared").mkdir()
        (history.root / "reservations/linked").symlink_to("../shared")
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

    assert [(input_.code, input_.file) for input_ in of_folder[1]] == [("B094", f"reservations/{name}")]
    assert of_commit == of_folder


@pytest.mark.parametrize("target", ["README.md", "clusters/prod/base.yaml", "clusters", "."])
def test_a_link_to_what_nobody_reviews_is_refused_on_both_sides(history: History, target: str) -> None:
    (history.root / "rendered/README.md").write_text((history.root / "reservations/rest.yaml").read_text())
    name = "x.yaml" if "." in target[1:] else "x"
    (history.root / f"reservations/{name}").symlink_to(f"../rendered/{target}")

    assert "the link leads into rendered/." in both_sides(history, f"reservations/{name}")


@pytest.mark.parametrize("folder", ["reservations", "reservations/deep/er", "linked"])
def test_attributes_of_git_among_reservations_are_refused_on_both_sides(
    history: History, folder: str
) -> None:
    (history.root / folder).mkdir(parents=True, exist_ok=True)
    (history.root / folder / ".gitattributes").write_text("*.yaml ident\n")
    if folder == "linked":
        (history.root / "reservations/linked").symlink_to("../linked")
        folder = "reservations/linked"

    assert "it may change what git checks out here." in both_sides(history, f"{folder}/.gitattributes")


@pytest.mark.parametrize("place", [".", ".."], ids=["project", "above"])
@pytest.mark.parametrize("change", ["added", "changed", "removed"])
def test_changed_attributes_of_git_are_named(pair: Pair, place: str, change: str) -> None:
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


def test_other_line_ends_of_attributes_change_nothing(history: History) -> None:
    attributes = history.root / ".gitattributes"
    attributes.write_bytes(b"* text\n")
    history.commit("attributes")
    attributes.write_bytes(b"* text\r\n")

    assert "gitattributes" not in history.diff("HEAD").out


def test_set_keeps_a_link_and_changes_its_file(history: History) -> None:
    course = history.root / "reservations/course.yaml"
    shared = history.root / "shared.yaml"
    course.rename(shared)
    course.symlink_to("../shared.yaml")
    assert cli.run(["-C", str(history.root), "set", "course", "--seats", "31"]) == 0

    assert course.is_symlink()
    assert "31" in shared.read_text("utf-8")
