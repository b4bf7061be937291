"""The workflow that `berth init` writes: bash runs its steps, with git and a stub of GitHub's API."""

import re
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from berth.edit.workflow import CALENDAR, PREVIEW, REPORT, REQUESTS, requirements, workflow
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.cli import project
from tests.flow.conftest import ROOT, Repository
from tests.flow.github import STEPS, TOKEN, Github, set_time


@pytest.fixture
def github(repository: Repository, tmp_path: Path) -> Github:
    """A branch of a lecturer who changed a number in the browser, and rendered nothing."""
    repository.git("checkout", "--quiet", "-b", "change")
    repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    repository.commit("more seats")
    repository.git("push", "--quiet", "origin", "change")
    return Github(repository, tmp_path)


def test_it_uses_nothing_but_githubs_own_actions() -> None:
    used = [step["uses"] for step in STEPS if "uses" in step]

    assert used
    assert [one for one in used if not one.startswith("actions/")] == []


def test_the_calendar_is_built_by_the_command_and_published_by_githubs_own_actions() -> None:
    jobs = yaml.safe_load(workflow(CALENDAR, "kube-berth==1.0 "))["jobs"]
    steps = [*jobs["build"]["steps"], *jobs["publish"]["steps"]]
    install, calendar = [step["run"] for step in steps if "run" in step]

    assert [step["uses"] for step in steps if not step.get("uses", "actions/").startswith("actions/")] == []
    assert install.strip().endswith("'kube-berth==1.0 '")
    assert calendar == "berth calendar --output-dir site"
    (artifact,) = [step["with"]["path"] for step in steps if "upload" in step.get("uses", "")]
    assert artifact == "site"
    assert jobs["publish"]["permissions"] == {"pages": "write", "id-token": "write"}


def test_no_text_of_a_pull_request_is_code() -> None:
    """What strangers may choose, as the name of a branch, reaches the shell in the environment alone."""
    assert [step["name"] for step in STEPS if "${{" in step.get("run", "")] == []


@pytest.mark.parametrize(
    "requirement", ["kube-berth==1.0", "git+https://h/a.git@1#subdirectory=a b&c", "$(x)"]
)
def test_the_requirement_is_one_word_of_the_shell(requirement: str, repository: Repository) -> None:
    steps = yaml.safe_load(workflow(PREVIEW, requirement))["jobs"]["preview"]["steps"]
    (install,) = [step["run"] for step in steps if step.get("name") == "Install Berth"]
    repository.program("python", 'for word in "$@"; do echo "$word"; done')

    assert repository.run("bash", "-c", install).out.splitlines()[-1] == requirement


def test_an_edit_in_the_browser_is_rendered_and_green(github: Github) -> None:
    github.repository.start_anew()
    ran = github.run()

    repository = github.repository
    head = repository.git("ls-remote", "origin", "refs/heads/change").split()[0]
    assert (ran.failed, ran.state) == ([], "success")
    assert [path for _, path, _ in ran.calls if "/statuses/" in path] == [f"repos/uni/seats/statuses/{head}"]
    assert repository.git("log", "-2", "--format=%s", head).splitlines() == ["Render", "more seats"]
    ((how, path, body),) = ran.comments
    assert (how, path) == ("POST", "repos/uni/seats/issues/7/comments")
    assert body.startswith("<!-- berth -->\n### Berth: 1 reservation changed")
    assert "not up to date" not in body
    assert (github.folder / "summary.md").read_text("utf-8") == body


def test_a_second_run_pushes_nothing_and_updates_the_comment(github: Github) -> None:
    github.run()
    first = github.repository.git("rev-parse", "HEAD")
    bot, person = {"login": "github-actions[bot]"}, {"login": "ada"}
    github.comments(
        [
            {"id": 1, "user": person, "body": "<!-- berth --> quoted"},
            {"id": 2, "user": bot, "body": "another tool"},
            {"id": 3, "user": bot, "body": "<!-- berth -->\nbefore"},
        ]
    )
    ran = github.run()

    assert ran.failed == []
    assert github.repository.git("rev-parse", "origin/change") == first
    assert [(how, path) for how, path, _ in ran.comments] == [("PATCH", "repos/uni/seats/issues/comments/3")]


def test_a_fork_gets_the_commands_and_no_call_that_it_may_not_make(github: Github) -> None:
    ran = github.run(fork=True)

    assert (ran.failed, ran.calls) == (["Render"], [])
    assert "1 reservation changed" in (github.folder / "summary.md").read_text("utf-8")
    fix = re.search(r"::Run: (.+)", ran.out)
    assert fix
    github.repository.git("checkout", "--quiet", "change")
    github.repository.git("config", "user.name", "a")
    github.repository.git("config", "user.email", "a@example.org")
    github.repository.git("branch", "--quiet", "--set-upstream-to", "origin/change")
    assert github.repository.run("bash", "-ec", fix[1]).code == 0
    assert github.run(fork=True).failed == []


def test_a_stale_main_fails_and_is_not_written(github: Github) -> None:
    ran = github.run(branch="", number="")

    assert (ran.failed, ran.state, ran.comments) == (["Render"], "failure", [])
    assert github.repository.git("log", "-1", "--format=%s") == "more seats"


def test_a_push_in_between_is_not_overwritten(github: Github) -> None:
    repository = github.repository
    there = repository.git("rev-parse", "HEAD")
    repository.edit("course.yaml", "placeholderCount: 30", "placeholderCount: 31")
    newer = repository.commit("even more")
    repository.git("push", "--quiet", "origin", "change")
    repository.git("checkout", "--quiet", there)
    ran = github.run()

    assert (ran.failed, ran.state) == (["Push"], "failure")
    assert "::error title=rendered/ is not up to date::The push was refused." in ran.out
    assert repository.git("ls-remote", "origin", "refs/heads/change").split()[0] == newer


def test_an_error_is_an_annotation_and_a_comment(github: Github) -> None:
    github.repository.edit("course.yaml", "placeholderCount: 30", "placeholderCount: 0")
    github.repository.commit("none")
    ran = github.run()

    assert (ran.failed, ran.state) == (["Render", "Preview"], "failure")
    assert ran.out.startswith("::error file=reservations/course.yaml,line=16,")
    assert "is not valid" in ran.comments[0][2]


def test_a_preview_that_cannot_be_made_says_so(github: Github) -> None:
    github.repository.program("berth", "exit 2")
    ran = github.run()

    assert ran.comments[0][2] == "<!-- berth -->\nBerth could not create the preview; see the log.\n"


# What a person who may only open a pull request tries


PAGES = (".yaml", ".yml", ".md")
POLICY = "  policies: [{name: soon, when: {noticeBelow: 48h}, require: refuse}]\n"


def with_policy_on_main(repository: Repository, policy: str) -> None:
    """Add a policy to the main branch, which the branch `change` left before."""
    repository.git("stash", "--quiet", "--include-untracked")
    repository.git("checkout", "--quiet", "main")
    (repository.folder / "reservations/site.yaml").write_text(project.SITE + policy, "utf-8")
    assert repository.run("berth", "render").code == 0
    repository.commit("a policy")
    repository.git("push", "--quiet", "origin", "main")
    repository.git("checkout", "--quiet", "change")


@pytest.mark.parametrize(
    ("now", "failed"), [("2026-01-30T07:00:00Z", []), ("2026-01-31T09:00:00Z", ["Preview"])]
)
@pytest.mark.parametrize("time", ["2000-01-01T00:00:00Z", "2099-01-01T00:00:00Z"], ids=["back", "ahead"])
def test_policies_look_at_the_clock_of_the_run_and_not_at_the_time_of_a_commit(
    github: Github, time: str, now: str, failed: list[str]
) -> None:
    repository = github.repository
    with_policy_on_main(repository, POLICY)
    who = {"GIT_AUTHOR_DATE": time, "GIT_COMMITTER_DATE": time}
    who |= {f"GIT_{role}_{key}": "a@b" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
    assert repository.run("git", "commit", "--quiet", "--amend", "--no-edit", **who).code == 0
    repository.git("push", "--quiet", "--force", "origin", "change")
    set_time(repository, now)
    ran = github.run()

    assert ran.failed == failed
    assert now in ran.comments[0][2].replace("\\", "")


def test_a_branch_from_before_a_policy_is_judged_with_it(github: Github) -> None:
    with_policy_on_main(
        github.repository, "  policies: [{name: large, when: {seatsAbove: 29}, require: refuse}]\n"
    )
    set_time(github.repository, "2026-01-01T00:00:00Z")
    ran = github.run()

    assert (ran.failed, ran.state) == (["Preview"], "failure")
    assert "refused by policy large" in ran.comments[0][2]


def test_a_faulty_file_where_a_branch_began_hides_nothing(github: Github) -> None:
    repository = github.repository
    repository.git("checkout", "--quiet", "main")
    (repository.folder / "reservations/broken.yaml").write_text("a: [", "utf-8")
    repository.commit("broken")
    repository.git("checkout", "--quiet", "-b", "late")
    (repository.folder / "reservations/broken.yaml").unlink()
    repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    repository.run("berth", "render")
    repository.commit("many seats")
    repository.git("push", "--quiet", "origin", "late")
    repository.git("checkout", "--quiet", "main")
    (repository.folder / "reservations/broken.yaml").unlink()
    site = project.SITE + "  policies: [{name: large, when: {seatsAbove: 29}, require: refuse}]\n"
    (repository.folder / "reservations/site.yaml").write_text(site, "utf-8")
    repository.commit("repaired")
    repository.git("push", "--quiet", "origin", "main")
    repository.git("checkout", "--quiet", "late")
    set_time(repository, "2026-01-01T00:00:00Z")
    ran = github.run(branch="late")

    assert (ran.failed, ran.state) == (["Preview"], "failure")
    assert "refused by policy large" in ran.comments[0][2]


def test_a_branch_that_cannot_be_merged_is_not_valid(github: Github) -> None:
    repository = github.repository
    repository.git("checkout", "--quiet", "main")
    repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 26")
    repository.run("berth", "render")
    repository.commit("other seats")
    repository.git("push", "--quiet", "origin", "main")
    repository.git("checkout", "--quiet", "change")
    ran = github.run()

    assert (ran.failed, ran.state) == (["Preview"], "failure")
    assert "::error title=This branch cannot be merged::" in ran.out


def test_a_base_that_is_not_known_is_not_valid(github: Github) -> None:
    ran = github.run(base="origin/nowhere")

    assert ran.failed == ["Preview"]


def test_what_is_stale_only_after_the_merge_is_not_fresh(github: Github) -> None:
    repository = github.repository
    repository.git("checkout", "--quiet", "main")
    repository.edit("classes.yaml", 'cpu: "1"', 'cpu: "2"')
    assert repository.run("berth", "render").code == 0
    repository.commit("other machines")
    repository.git("push", "--quiet", "origin", "main")
    repository.git("checkout", "--quiet", "change")
    repository.add("new")
    repository.commit("a new course")
    repository.git("push", "--quiet", "origin", "change")
    ran = github.run()

    assert (ran.failed, ran.state) == (["Preview"], "failure")
    assert "::error title=rendered/ is not up to date after the merge::" in ran.out


def test_another_base_branch_has_a_status_of_its_own(github: Github) -> None:
    github.repository.git("push", "--quiet", "origin", "main:refs/heads/playground")
    github.repository.git("fetch", "--quiet", "origin")

    status = github.run(base="origin/playground").status
    assert (status["context"], status["state"]) == ("berth (playground)", "success")
    status = github.run().status
    assert (status["context"], status["state"]) == ("berth", "success")


def test_the_status_says_what_the_comment_says_first(github: Github) -> None:
    ran = github.run()
    ((_, _, comment),) = ran.comments
    headline = comment.split("### Berth: ")[1].splitlines()[0]
    assert ran.status["description"] == headline.replace("\\", "")


def test_only_our_comment_is_written_whatever_others_write_into_theirs(github: Github) -> None:
    github.comments([{"id": 1, "user": {"login": "eve"}, "body": "<!-- berth -->\nfake"}])

    assert [(how, path) for how, path, _ in github.run().comments] == [
        ("POST", "repos/uni/seats/issues/7/comments")
    ]


@pytest.mark.parametrize(
    "path",
    ["rendered/clusters/.x.yaml", "rendered/clusters/prod/.argocd-source.yaml", "rendered/gitops/.d/x.yaml"],
)
def test_hidden_files_that_engines_apply_fail(github: Github, path: str) -> None:
    file = github.repository.folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("kind: ClusterRoleBinding\n", "utf-8")
    github.repository.commit("nothing to see")
    github.repository.git("push", "--quiet", "origin", "change")
    ran = github.run()

    assert "Render" in ran.failed
    assert ran.state == "failure"
    assert path.removeprefix("rendered/") in ran.comments[0][2].replace("\\", "")


def test_what_an_author_lets_git_ignore_is_committed_all_the_same(github: Github) -> None:
    repository = github.repository
    repository.git("rm", "--quiet", "rendered/clusters/prod/base.yaml")
    (repository.folder / ".gitignore").write_text("base.yaml\n", "utf-8")
    repository.commit("no sweep, no permissions")
    repository.git("push", "--quiet", "origin", "change")

    assert github.run().failed == []
    assert repository.git("ls-tree", "--name-only", "HEAD", "rendered/clusters/prod/base.yaml")


def test_berth_runs_without_a_token(github: Github) -> None:
    github.repository.program("berth", f'env >>"{github.folder}/environment"; exit 1')
    github.run()

    assert TOKEN not in (github.folder / "environment").read_text("utf-8")
    assert [step["name"] for step in STEPS if "GH_TOKEN" in step.get("env", {})] == [
        "Push",
        "Comment",
        "Status",
    ]
    (checkout,) = [step for step in STEPS if step.get("uses", "").startswith("actions/checkout@")]
    assert checkout["with"]["persist-credentials"] is False


@pytest.mark.parametrize("path", [PREVIEW, CALENDAR, REPORT, REQUESTS])
def test_permissions_are_those_of_a_job(path: str) -> None:
    written = yaml.safe_load(workflow(path, "kube-berth"))

    assert written["permissions"] == {"contents": "read"}
    assert "env" not in written


def test_what_pip_installs_is_pinned_by_hash() -> None:
    names = re.findall(r"^([\w.-]+)==", requirements(), re.MULTILINE)
    locked = (ROOT / ".ci/requirements.txt").read_text("utf-8")

    assert {"pydantic", "click", "jinja2", "pyyaml", "hatchling"} <= {*names}
    for line in requirements().splitlines():
        assert line.startswith("#") or line.rstrip(" \\") in locked.replace(" \\", "")


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_what_those_packages_need_is_pinned_too(python: str) -> None:
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

    assert ("hatchling", "packaging") in needed
    assert {(name, need) for name, need in needed if need not in pinned} == set()


def test_what_builds_and_releases_comes_by_hash() -> None:
    """What an index or a registry says today gets into no release."""
    paths = ("Makefile", "action.yml", ".ci/*", ".github/*/*")
    files = [path for pattern in paths for path in ROOT.glob(pattern) if path.is_file()]
    online = [path.read_text("utf-8").replace("\\\n", "").partition("PIP_NO_INDEX=1")[0] for path in files]
    installs = re.findall(
        r".*(?:pip install|pip download|install\[@|-m build|uv build|uvx|pipx run).*", "\n".join(online)
    )
    images = re.findall(r"\S*/buildkit\S*", "\n".join(online))

    assert len(installs) >= 5
    assert [line for line in installs if not re.search(r"--require-hashes|--no-deps|\binstall=", line)] == []
    assert len(images) == 2
    assert [image for image in images if not re.search(r":v?[\d.]+@sha256:[0-9a-f]{64}$", image)] == []


def test_actions_are_pinned_by_commit_each_to_one() -> None:
    """A tag may be moved to other code."""
    folders = (".github", "docs", "preview-of-forks")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.*") if path.suffix in PAGES]
    texts = [path.read_text("utf-8") for path in (*files, ROOT / "action.yml")]
    texts += [workflow(path, "kube-berth") for path in (PREVIEW, CALENDAR, REPORT, REQUESTS)]
    used = [
        match
        for text in texts
        for match in re.findall(r"uses: (\S+?)@(.*)", text)
        if "<owner>" not in match[0]
    ]
    pins = {name: {pin for one, pin in used if one == name} for name, _ in used}

    assert pins["actions/checkout"]
    assert {name: pin for name, pin in pins.items() if len(pin) > 1} == {}
    assert [pin for (pin,) in pins.values() if not re.fullmatch(r"[0-9a-f]{40} # v[\d.]+", pin)] == []


def test_jobs_of_this_repository_have_the_permissions_that_they_need_alone() -> None:
    for path in (ROOT / ".github/workflows").glob("*.yaml"):
        written = yaml.safe_load(path.read_text("utf-8"))
        assert written["permissions"] in ({"contents": "read"}, {}), path
