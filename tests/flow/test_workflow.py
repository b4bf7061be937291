"""The workflow that `berth init` writes: bash runs its steps, with git and a stub of GitHub's API."""

import re
import shutil
from base64 import b64decode
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.cli import clouds, project
from tests.flow.conftest import REPOSITORY, ROOT, Repository, store
from tests.flow.github import Github, set_time
from tests.flow.runner import TOKEN
from tests.hostile import HIDDEN, LINES, acts_on_a_log, acts_on_a_terminal

WORKFLOWS = sorted((REPOSITORY / ".github/workflows").iterdir())
ACTIONS = sorted((REPOSITORY / ".github/berth").rglob("action.yml"))


@pytest.fixture
def github(repository: Repository, tmp_path: Path) -> Github:
    """A branch of a lecturer who changed a number in the browser, and rendered nothing."""
    repository.git("checkout", "--quiet", "-b", "change")
    repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    repository.push("more seats")
    return Github(repository, tmp_path)


def steps_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the steps of a workflow or an action."""
    loaded: Any = yaml.safe_load(path.read_text("utf-8"))
    for part in (loaded["runs"],) if "runs" in loaded else loaded["jobs"].values():
        yield from part["steps"]


def remote(repository: Repository, ref: str) -> str:
    """Return the commit of a ref of the remote; empty if there is none."""
    return repository.git("ls-remote", "origin", ref).split("\t")[0]


def test_workflows_use_only_actions_of_github_and_the_local_action() -> None:
    for path in (*WORKFLOWS, *ACTIONS):
        used = [step["uses"] for step in steps_of(path) if "uses" in step]
        assert [name for name in used if not name.startswith(("actions/", "./.github/berth"))] == []


def test_the_workflow_of_pull_requests_has_at_most_30_lines() -> None:
    text = (REPOSITORY / ".github/workflows/berth.yaml").read_text("utf-8")

    assert len([line for line in text.splitlines() if not line.startswith("#")]) <= 30


def test_no_step_has_an_expression_in_its_script() -> None:
    """What strangers may choose, as the name of a branch, reaches the shell in the environment alone."""
    for path in (*WORKFLOWS, *ACTIONS):
        assert [step["run"] for step in steps_of(path) if "${{" in step.get("run", "")] == []


def test_an_edit_in_the_browser_is_rendered_and_gets_the_status_success(github: Github) -> None:
    github.repository.start_anew()
    ran = github.pull_request()

    repository = github.repository
    head = remote(repository, "refs/heads/change")
    assert (ran.failed, ran.state) == (False, "success"), ran.log
    assert [path for _, path, _ in ran.calls if "/statuses/" in path] == [f"repos/uni/seats/statuses/{head}"]
    repository.git("fetch", "--quiet", "origin")
    assert repository.git("log", "-2", "--format=%s", head).splitlines() == ["Render", "more seats"]
    ((how, path, body),) = ran.comments
    assert (how, path) == ("POST", "repos/uni/seats/issues/7/comments")
    assert body.startswith("<!-- berth preview of . -->\n### Berth: 1 reservation changed")
    assert "not up to date" not in body
    assert body.endswith((github.folder / "summary.md").read_text("utf-8"))


def test_a_second_run_pushes_nothing_and_updates_the_comment(github: Github) -> None:
    repository = github.repository
    github.pull_request()
    first = remote(repository, "refs/heads/change")
    repository.git("fetch", "--quiet", "origin")
    repository.git("checkout", "--quiet", "--detach", first)
    bot = {"login": "github-actions[bot]"}
    github.comments([{"id": 3, "user": bot, "body": "<!-- berth preview of . -->\nbefore"}])
    ran = github.pull_request()

    assert (ran.failed, remote(repository, "refs/heads/change")) == (False, first)
    assert [(how, path) for how, path, _ in ran.comments] == [("PATCH", "repos/uni/seats/issues/comments/3")]


def test_a_push_that_changes_no_reservation_gets_the_status_success(github: Github) -> None:
    before = github.repository.git("rev-parse", "main")
    github.repository.git("checkout", "--quiet", "main")
    (github.folder / "clone/notes.md").write_text("notes\n")
    github.repository.commit("notes")
    ran = github.push(before)

    assert (ran.failed, ran.state, ran.comments) == (False, "success", [])
    assert ran.text.startswith("### Berth: Nothing changes")


def test_a_first_push_without_a_previous_commit_gets_the_status_success(github: Github) -> None:
    github.repository.git("checkout", "--quiet", "main")
    ran = github.push("0" * 40)

    assert (ran.failed, ran.state) == (False, "success")
    assert ran.text.startswith("### Berth: Nothing changes")


def test_a_stale_main_branch_fails_and_is_not_changed(github: Github) -> None:
    repository = github.repository
    before, head = (repository.git("rev-parse", name) for name in ("main", "change"))
    ran = github.push(before)

    assert (ran.failed, ran.state, ran.comments) == (True, "failure", [])
    assert remote(repository, "refs/heads/main") == head


@pytest.mark.parametrize("branch", ["change", "main"])
def test_a_fork_gets_the_commands_and_no_push_comment_or_status(github: Github, branch: str) -> None:
    """Also if its token may write, and its branch is called as one of the repository."""
    repository = github.repository
    before = remote(repository, "refs/heads/*")
    ran = github.pull_request(owner="eve", branch=branch)

    assert (ran.failed, ran.calls, remote(repository, "refs/heads/*")) == (True, [], before)
    assert "1 reservation changed" in (github.folder / "summary.md").read_text("utf-8")
    assert (ran.folder / "number").read_text() == "7\n"
    fix = re.search(r"::Run: (.+)", ran.log)
    assert fix
    repository.git("checkout", "--quiet", "change")
    repository.git("config", "user.name", "a")
    repository.git("config", "user.email", "a@example.org")
    repository.git("branch", "--quiet", "--set-upstream-to", "origin/change")
    assert repository.run("bash", "-ec", fix[1]).code == 0
    assert not github.pull_request(owner="eve", branch=branch).failed


def test_a_pull_request_of_a_deleted_fork_calls_no_api(github: Github) -> None:
    ran = github.pull_request(owner="")

    assert ran.calls == []


def test_a_push_in_between_is_not_overwritten(github: Github) -> None:
    repository = github.repository
    there = repository.git("rev-parse", "HEAD")
    repository.edit("course.yaml", "placeholderCount: 30", "placeholderCount: 31")
    newer = repository.push("even more")
    repository.git("checkout", "--quiet", there)
    ran = github.pull_request()

    assert (ran.failed, ran.state) == (True, "failure")
    assert "::error title=rendered/ is not up to date::" in ran.log
    assert remote(repository, "refs/heads/change") == newer


def test_a_rejected_push_gets_the_status_failure(github: Github) -> None:
    hook = github.repository.remote / "hooks/update"
    hook.write_text('#!/bin/sh\ncase "$1" in refs/heads/*) exit 1 ;; esac\n')
    hook.chmod(0o755)
    head = github.repository.git("rev-parse", "HEAD")
    ran = github.pull_request()

    assert (ran.failed, ran.state) == (True, "failure")
    assert [path for _, path, _ in ran.calls if "/statuses/" in path] == [f"repos/uni/seats/statuses/{head}"]


def test_an_error_gives_an_annotation_and_a_comment_and_no_push(github: Github) -> None:
    github.repository.edit("course.yaml", "placeholderCount: 30", "placeholderCount: 0")
    before = github.repository.push("none")
    ran = github.pull_request()

    assert (ran.failed, ran.state) == (True, "failure")
    assert "\n::error file=reservations/course.yaml,line=16,col=36,title=B012::" in ran.log
    assert "is not valid" in ran.comments[0][2]
    assert remote(github.repository, "refs/heads/change") == before


def test_a_failed_preview_is_reported_in_the_comment(github: Github) -> None:
    github.repository.program("berth", "exit 2")
    ran = github.pull_request()

    assert ran.state == "failure"
    assert ran.comments[0][2].endswith("-->\nBerth could not create the preview; see the log.\n")


def test_a_failed_installation_gets_the_status_failure(github: Github) -> None:
    github.repository.program("python", "exit 1")
    ran = github.pull_request()

    assert (ran.failed, ran.state, ran.comments) == (True, "failure", [])


def test_a_month_above_the_budget_gets_the_status_failure(github: Github) -> None:
    repository = github.repository
    course = project.COURSE
    for line in ("    calendars: [holidays]\n", "    except: [2026-02-09]\n"):
        course = course.replace(line, "")
    course = course.replace("    moved: [{date: 2026-02-23, to: {date: 2026-02-24}}]\n", "")
    head, _, rest = clouds.CLOUD.partition("  reservations:\n")
    cloud = head + "  requirements:" + rest.partition("  requirements:")[2]
    clouds.write(repository.folder, site=f"{clouds.SITE}  diff: {{budget: 20}}\n", course=course, cloud=cloud)
    repository.push("a cloud")
    set_time(repository, "2026-01-01T00:00:00Z")
    ran = github.pull_request()

    assert "above the budget of 20: " in ran.text
    assert ran.state == "failure"


def test_later_changes_of_the_main_branch_are_not_in_the_preview(github: Github) -> None:
    repository = github.repository
    with repository.on_main("another change"):
        repository.edit("night.yaml", "placeholderCount: 2}", "placeholderCount: 4}")
        repository.run("berth", "render")

    assert "night" not in github.pull_request().text


def test_git_gets_the_token_only_for_its_server_and_not_on_the_command_line(
    github: Github, tmp_path: Path
) -> None:
    real = shutil.which("git")
    note = f'case "$*" in *push*) {{ echo "$*"; env | grep ^GIT_CONFIG_; }} >>"{tmp_path}/pushes" ;; esac'
    github.repository.program("git", f'{note}\nexec "{real}" "$@"')
    assert not github.pull_request().failed

    pushed = [line for line in (tmp_path / "pushes").read_text().splitlines() if "GIT_CONFIG" in line]
    known = dict(line.split("=", 1) for line in pushed[-3:])
    assert known["GIT_CONFIG_KEY_0"] == "http.https://git.example.org/.extraheader"
    basic = known["GIT_CONFIG_VALUE_0"].removeprefix("Authorization: Basic ")
    assert b64decode(basic).decode() == f"x-access-token:{TOKEN}"
    assert TOKEN not in (tmp_path / "pushes").read_text()


def test_each_project_of_a_repository_has_its_own_preview(github: Github) -> None:
    repository = github.repository
    repository.git("checkout", "--quiet", "main")
    for name in ("north", "south"):
        project.write(repository.folder / name)
        repository.run("berth", "-C", name, "render")
    repository.push("two more", "main")
    repository.git("checkout", "--quiet", "-B", "change")
    course = repository.folder / "south/reservations/course.yaml"
    course.write_text(course.read_text("utf-8").replace("placeholderCount: 25", "placeholderCount: 30"))
    repository.push("more seats in the south")
    north = github.pull_request(directory="north")
    south = github.pull_request(directory="south")

    assert north.text.startswith("### Berth: Nothing changes")
    assert south.comments[0][2].startswith(
        "<!-- berth preview of south -->\n### Berth: 1 reservation changed"
    )
    assert repository.git("ls-remote", "origin", "refs/heads/change")
    repository.git("fetch", "--quiet", "origin")
    assert repository.git("show", "--name-only", "--format=", "refs/remotes/origin/change").splitlines() == [
        "south/rendered/clusters/prod/reservations/course.yaml"
    ]
    course.write_text(course.read_text("utf-8").replace("placeholderCount: 30", "placeholderCount: 0"))
    repository.commit("no seats")
    errors = github.pull_request(directory="south").log
    assert "\n::error file=south/reservations/course.yaml,line=16," in errors


# What a person who may only open a pull request tries

POLICY = "  policies: [{name: soon, when: {noticeBelow: 48h}, require: refuse}]\n"
LARGE = "  policies: [{name: large, when: {seatsAbove: 29}, require: refuse}]\n"


def with_policy_on_main(repository: Repository, policy: str) -> None:
    """Add a policy to the main branch, which the branch `change` left before."""
    repository.git("stash", "--quiet", "--include-untracked")
    with repository.on_main("a policy"):
        (repository.folder / "reservations/site.yaml").write_text(project.SITE + policy, "utf-8")
        assert repository.run("berth", "render").code == 0


def is_refused(github: Github, branch: str = "change") -> bool:
    """Run the workflow at a time before all dates, and tell whether the policy of LARGE refuses it."""
    set_time(github.repository, "2026-01-01T00:00:00Z")
    ran = github.pull_request(branch=branch)
    return (ran.failed, ran.state) == (True, "failure") and "refused by policy large" in ran.text


def add_base_of_own(repository: Repository, folder: str) -> None:
    """Commit a project in this folder, with which the change would be no change."""
    source = repository.folder / "reservations"
    shutil.copytree(source, repository.folder / folder / "reservations")
    shutil.copytree(repository.folder / "rendered", repository.folder / folder / "rendered")
    repository.commit("a folder")


@pytest.mark.parametrize(
    "folder", ["origin/main", "refs/remotes/origin/main", "refs/heads/main", "refs/berth/base", "main"]
)
def test_no_folder_replaces_the_base(github: Github, folder: str) -> None:
    repository = github.repository
    with_policy_on_main(repository, LARGE)
    repository.run("berth", "render")
    add_base_of_own(repository, folder)

    assert is_refused(github)


@pytest.mark.parametrize("base", ["queue", "push"])
def test_no_folder_named_like_a_commit_replaces_the_base(github: Github, base: str) -> None:
    """Who knows the last commit of the main branch may call a folder so."""
    repository = github.repository
    with_policy_on_main(repository, LARGE)
    before = repository.git("rev-parse", "main")
    repository.git("rebase", "--quiet", "main")
    repository.run("berth", "render")
    add_base_of_own(repository, before)
    set_time(repository, "2026-01-01T00:00:00Z")
    ran = github.merge_group(before) if base == "queue" else github.push(before)

    assert ran.state == "failure"
    assert "refused by policy large" in ran.text


@pytest.mark.parametrize(
    "tag", ["origin/main", "refs/remotes/origin/main", "refs/heads/main", "main", "HEAD"]
)
def test_no_tag_replaces_the_base(github: Github, tag: str) -> None:
    repository = github.repository
    with_policy_on_main(repository, LARGE)
    repository.git("update-ref", f"refs/tags/{tag}", "change")
    repository.git("push", "--quiet", "origin", f"refs/tags/{tag}")

    assert is_refused(github)
    assert github.repository.run("git", "-C", str(github.runner.workspace), "tag", "--list").out == ""


def test_the_check_runs_the_script_of_the_merge_commit(github: Github) -> None:
    """A branch from before a mend of the check does not choose the check as it was."""
    repository = github.repository
    with repository.on_main("a mend"):
        script = repository.folder / ".github/berth/preview.sh"
        script.write_text(
            script.read_text().replace("set -euo pipefail", "set -euo pipefail\necho mended", 1)
        )

    assert "mended" in github.pull_request().log


@pytest.mark.parametrize(
    ("now", "state"), [("2026-01-30T07:00:00Z", "success"), ("2026-01-31T09:00:00Z", "failure")]
)
@pytest.mark.parametrize("time", ["2000-01-01T00:00:00Z", "2099-01-01T00:00:00Z"], ids=["back", "ahead"])
def test_policies_use_the_time_of_the_run_and_not_of_the_commit(
    github: Github, time: str, now: str, state: str
) -> None:
    repository = github.repository
    with_policy_on_main(repository, POLICY)
    who = {"GIT_AUTHOR_DATE": time, "GIT_COMMITTER_DATE": time}
    who |= {f"GIT_{role}_{key}": "a@b" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    assert repository.run("git", "commit", "--quiet", "--amend", "--no-edit", **who).code == 0
    repository.git("push", "--quiet", "--force", "origin", "change")
    set_time(repository, now)
    ran = github.pull_request()

    assert ran.state == state
    assert now in ran.text


def test_a_branch_that_is_older_than_a_policy_is_checked_with_the_policy(github: Github) -> None:
    with_policy_on_main(github.repository, LARGE)

    assert is_refused(github)


def test_a_faulty_file_in_the_merge_base_does_not_hide_the_change(github: Github) -> None:
    repository = github.repository
    repository.git("checkout", "--quiet", "main")
    (repository.folder / "reservations/broken.yaml").write_text("a: [", "utf-8")
    repository.commit("broken")
    repository.git("checkout", "--quiet", "-b", "late")
    (repository.folder / "reservations/broken.yaml").unlink()
    repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    repository.run("berth", "render")
    repository.push("many seats", "late")
    repository.git("checkout", "--quiet", "main")
    (repository.folder / "reservations/broken.yaml").unlink()
    (repository.folder / "reservations/site.yaml").write_text(project.SITE + LARGE, "utf-8")
    repository.push("repaired", "main")
    repository.git("checkout", "--quiet", "late")

    assert is_refused(github, branch="late")


def test_a_merge_conflict_in_a_hostile_file_name_writes_no_log_command(github: Github) -> None:
    repository = github.repository
    for branch, text in (("main", "# of main\n"), ("change", "# of the branch\n")):
        repository.git("checkout", "--quiet", branch)
        (repository.folder / f"reservations/a{HIDDEN}{LINES}##[x]").write_text(text)
        repository.commit(branch)
        repository.git("push", "--quiet", "origin", branch)
    ran = github.pull_request(has_moved=True)
    annotations = [line for line in ran.log.splitlines() if line.startswith("::error title=This branch")]
    rest = re.sub("^::error (?:title|file)=.*$", "", ran.log, flags=re.MULTILINE)

    assert (ran.state, len(annotations)) == ("failure", 1)
    assert "BROKEN" in rest
    assert (acts_on_a_log(rest), acts_on_a_terminal(ran.log)) == ([], [])


@pytest.mark.parametrize("before", ["1" * 40, "nowhere"])
def test_an_unknown_base_gets_the_status_failure(github: Github, before: str) -> None:
    ran = github.push(before)

    assert (ran.failed, ran.state) == (True, "failure")


def test_files_that_are_stale_only_after_the_merge_get_the_status_failure(github: Github) -> None:
    repository = github.repository
    with repository.on_main("other machines"):
        repository.edit("classes.yaml", 'cpu: "1"', 'cpu: "2"')
        assert repository.run("berth", "render").code == 0
    repository.add("new")
    repository.push("a new course")
    ran = github.pull_request()

    assert ran.state == "failure"
    assert "\n::error title=rendered/ is not up to date after the merge::" in ran.log


def test_another_base_branch_has_a_status_of_its_own(github: Github) -> None:
    github.repository.git("push", "--quiet", "origin", "main:refs/heads/playground")

    status = github.pull_request(base="playground").status
    assert (status["context"], status["state"]) == ("berth (playground)", "success")
    github.repository.git("fetch", "--quiet", "origin")
    github.repository.git("checkout", "--quiet", "--detach", "origin/change")
    status = github.pull_request().status
    assert (status["context"], status["state"]) == ("berth", "success")


def test_comments_with_a_forged_mark_are_not_updated(github: Github) -> None:
    mark = "<!-- berth preview of . -->\n"
    github.comments(
        [
            {"id": 1, "user": {"login": "eve"}, "body": f"{mark}fake"},
            {"id": 2, "user": {"login": "github-actions[bot]"}, "body": f"of another tool: {mark}"},
        ]
    )

    assert [(how, path) for how, path, _ in github.pull_request().comments] == [
        ("POST", "repos/uni/seats/issues/7/comments")
    ]


@pytest.mark.parametrize(
    "path",
    ["rendered/clusters/prod/.argocd-source.yaml", "rendered/gitops/.d/x.yaml"],
)
def test_hidden_files_below_rendered_get_the_status_failure(github: Github, path: str) -> None:
    file = github.repository.folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("kind: ClusterRoleBinding\n", "utf-8")
    github.repository.push("nothing to see")
    ran = github.pull_request()

    assert ran.state == "failure"
    assert path.removeprefix("rendered/") in ran.text


def test_rendered_files_in_gitignore_are_committed(github: Github) -> None:
    repository = github.repository
    repository.git("rm", "--quiet", "rendered/clusters/prod/base.yaml")
    (repository.folder / ".gitignore").write_text("base.yaml\n", "utf-8")
    repository.push("no sweep, no permissions")

    assert not github.pull_request().failed
    repository.git("fetch", "--quiet", "origin")
    assert repository.git("ls-tree", "--name-only", "origin/change", "rendered/clusters/prod/base.yaml")


def test_berth_runs_without_a_token(github: Github) -> None:
    github.repository.program("berth", f'env >>"{github.folder}/environment"; exit 4')
    github.pull_request()

    assert TOKEN not in (github.folder / "environment").read_text("utf-8")
    for path in WORKFLOWS:
        checkouts = [step for step in steps_of(path) if step.get("uses", "").startswith("actions/checkout@")]
        assert [step["with"]["persist-credentials"] for step in checkouts] in ([False], [])


@pytest.mark.parametrize("where", [".gitattributes", "rendered/clusters/.gitattributes"])
@pytest.mark.parametrize("header", ["", "# Rendered by berth\n"])
@pytest.mark.parametrize("owner", ["uni", "eve"])
def test_the_check_reads_the_blobs_of_git_and_not_only_the_work_tree(
    github: Github, where: str, header: str, owner: str
) -> None:
    """The work tree has an s, and engines that read blobs get the long s that git stores."""
    repository = github.repository
    repository.git("checkout", "--quiet", "main")
    path = "rendered/clusters/prod/base.yaml"
    file = repository.folder / path
    text = file.read_text("utf-8")
    pattern = path.removeprefix(where.removesuffix(".gitattributes"))
    (repository.folder / where).write_text(f"{header}{pattern} working-tree-encoding=ASCII//TRANSLIT\n")
    repository.commit("attributes")
    store(repository, path, text.replace("restricted", "re\u017ftricted", 1))
    assert file.read_text("utf-8") == text
    repository.git("push", "--quiet", "origin", "fresh")
    ran = github.pull_request(branch="fresh", owner=owner)

    repository.git("fetch", "--quiet", "origin")
    is_mended = repository.git("show", f"origin/fresh:{path}") == text.strip()  # by a commit of ours
    assert ran.failed == (not is_mended)
    assert is_mended or path.removeprefix("rendered/") in ran.text
    assert not (is_mended and owner == "eve")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_grant_only_read_permission_and_no_env_outside_of_jobs(path: Path) -> None:
    written: Any = yaml.safe_load(path.read_text("utf-8"))

    assert written["permissions"] == {"contents": "read"}
    assert "env" not in written


def requirements() -> str:
    return (REPOSITORY / ".github/berth/requirements.txt").read_text("utf-8")


def test_packages_that_pip_installs_are_pinned_by_hash() -> None:
    names = re.findall(r"^([\w.-]+)==", requirements(), re.MULTILINE)
    locked = (ROOT / ".ci/requirements.txt").read_text("utf-8")

    assert {"pydantic", "click", "jinja2", "pyyaml"} <= {*names}
    for line in requirements().splitlines():
        assert line.startswith("#") or line.rstrip(" \\") in locked.replace(" \\", "")


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_dependencies_of_pinned_packages_are_pinned(python: str) -> None:
    """With a hash for one package, pip refuses each package without one."""
    pins = map(Requirement, re.findall(r"^\w[^\\\n]*", requirements(), re.MULTILINE))
    environment = {"python_version": python, "python_full_version": f"{python}.0", "extra": ""}
    pinned = {pin.name for pin in pins if pin.marker is None or pin.marker.evaluate(environment)}
    needed = {
        (name, canonicalize_name(need.name))
        for name in pinned
        for need in map(Requirement, metadata.requires(name) or [])
        if need.marker is None or need.marker.evaluate(environment)
    }

    assert ("jinja2", "markupsafe") in needed
    assert {(name, need) for name, need in needed if need not in pinned} == set()


def test_build_and_release_tools_are_pinned_by_hash() -> None:
    """What an index or a registry says today gets into no release."""
    paths = ("Makefile", ".ci/*", ".github/*/*", "templates/repository/.github/*/*")
    files = [path for pattern in paths for path in ROOT.glob(pattern) if path.is_file()]
    online = [path.read_text("utf-8").replace("\\\n", "").partition("PIP_NO_INDEX=1")[0] for path in files]
    install = re.compile(r"pip install|pip download|install\[@|-m build|uv build|uvx|pipx run")
    installs = [line for text in online for line in text.splitlines() if install.search(line)]
    images = [word for text in online for word in text.split() if "/buildkit" in word]

    assert len(installs) >= 5
    assert [line for line in installs if not re.search(r"--require-hashes|--no-deps|\binstall=", line)] == []
    assert len(images) == 2
    assert [image for image in images if not re.search(r":v?[\d.]+@sha256:[0-9a-f]{64}$", image)] == []


def test_each_action_is_pinned_to_one_commit() -> None:
    """A tag may be moved to other code."""
    folders = (".github", "docs", "templates")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.*")]
    texts = [path.read_text("utf-8") for path in files if path.suffix in (".yaml", ".yml", ".md")]
    used = [match for text in texts for match in re.findall(r"uses: (\S+?)@(.*)", text)]
    pins = {name: {pin for one, pin in used if one == name} for name, _ in used}

    assert pins["actions/checkout"]
    assert {name: pin for name, pin in pins.items() if len(pin) > 1} == {}
    assert [pin for (pin,) in pins.values() if not re.fullmatch(r"[0-9a-f]{40} # v[\d.]+", pin)] == []


def test_workflows_of_this_repository_have_at_most_read_permission_by_default() -> None:
    for path in (ROOT / ".github/workflows").glob("*.yaml"):
        written = yaml.safe_load(path.read_text("utf-8"))
        assert written["permissions"] in ({"contents": "read"}, {}), path
