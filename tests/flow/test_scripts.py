"""The shell of the workflows, run on real histories."""

import json
import shutil
from base64 import b64decode
from pathlib import Path

import pytest

from tests.answer import Answer
from tests.cli import clouds, project
from tests.flow.conftest import SCRIPTS, Repository, store
from tests.hostile import HIDDEN, LINES, acts_on_a_log, acts_on_a_terminal

WHO = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def outcome(folder: Path) -> tuple[str, str]:
    return (folder / "valid").read_text().strip(), (folder / "fresh").read_text().strip()


def preview(repository: Repository, out: Path, **environment: str) -> str:
    return run_preview(repository, out, **environment).out


def run_preview(repository: Repository, out: Path, **environment: str) -> Answer:
    script = str(SCRIPTS / "preview.sh")
    done = repository.run(
        "bash", script, **{"BASE": "origin/main", "MERGE": "true", "OUT": str(out), **environment}
    )
    assert done.code == 0, done.err
    assert (out / "sha").read_text().strip() == repository.git("rev-parse", "HEAD")
    return done


def test_a_change_that_was_not_rendered_is_valid_but_not_fresh(
    repository: Repository, tmp_path: Path
) -> None:
    repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    repository.commit("more seats")
    preview(repository, tmp_path / "out")
    assert outcome(tmp_path / "out") == ("true", "false")
    text = (tmp_path / "out/preview.md").read_text("utf-8")
    assert text.startswith("### Berth: 1 reservation changed; peak seats of small in prod 25 → 30")
    assert "not up to date: clusters/prod/reservations/course.yaml" in text.replace("\\", "")


def test_errors_are_annotations_at_their_line(repository: Repository, tmp_path: Path) -> None:
    repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 0")
    repository.commit("no seats")
    told = preview(repository, tmp_path / "out")
    assert told.startswith("::error file=reservations/course.yaml,line=16,col=36,title=B012::")
    assert outcome(tmp_path / "out") == ("false", "true")
    assert "is not valid" in (tmp_path / "out/preview.md").read_text("utf-8")


def test_a_month_above_the_budget_is_not_valid(repository: Repository, tmp_path: Path) -> None:
    """In a year that is not over when this runs."""
    course = project.COURSE.replace("startDate: 2026-02-02", "startDate: 2099-02-02")
    for line in ("    calendars: [holidays]\n", "    except: [2026-02-09]\n"):
        course = course.replace(line, "")
    course = course.replace("    moved: [{date: 2026-02-23, to: {date: 2026-02-24}}]\n", "")
    course = course.replace("endDate: 2026-03-01", "endDate: 2099-03-01")
    head, _, rest = clouds.CLOUD.partition("  reservations:\n")
    cloud = head + "  requirements:" + rest.partition("  requirements:")[2]
    site = clouds.SITE + "  diff: {budget: 20}\n"
    clouds.write(repository.folder, site=site, course=course, cloud=cloud)
    repository.run("berth", "render")
    repository.commit("a cloud")
    preview(repository, tmp_path / "out")
    text = (tmp_path / "out/preview.md").read_text("utf-8").replace("\\", "")

    assert "2099-02 costs 27.81 USD, above the budget of 20: course 27.81." in text
    assert outcome(tmp_path / "out") == ("false", "true")


def test_a_fresh_change_is_valid_and_fresh(repository: Repository, tmp_path: Path) -> None:
    repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    repository.run("berth", "render")
    repository.commit("more seats")
    preview(repository, tmp_path / "out")
    assert outcome(tmp_path / "out") == ("true", "true")


def test_a_stale_branch_gets_a_commit_of_ours(repository: Repository, tmp_path: Path) -> None:
    repository.git("checkout", "--quiet", "-b", "change")
    repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    theirs = repository.commit("more seats")
    repository.git("push", "--quiet", "origin", "change")
    preview(repository, tmp_path / "out", COMMIT="true", BRANCH="change")
    assert outcome(tmp_path / "out") == ("true", "true")
    ours = (tmp_path / "out/sha").read_text().strip()
    assert repository.git("ls-remote", "origin", "refs/heads/change").split()[0] == ours
    assert repository.git("rev-parse", f"{ours}~1") == theirs
    assert repository.git("log", "-1", "--format=%s") == "Render"
    text = (tmp_path / "out/preview.md").read_text("utf-8")
    assert "peak seats of small in prod 25 → 30" in text
    assert "not up to date" not in text
    preview(repository, tmp_path / "again", COMMIT="true", BRANCH="change")
    assert (tmp_path / "again/sha").read_text().strip() == ours


def test_nothing_is_pushed_where_there_are_errors(repository: Repository, tmp_path: Path) -> None:
    repository.git("checkout", "--quiet", "-b", "change")
    repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 0")
    theirs = repository.commit("no seats")
    preview(repository, tmp_path / "out", COMMIT="true", BRANCH="change")
    assert outcome(tmp_path / "out") == ("false", "true")
    assert repository.git("rev-parse", "HEAD") == theirs


def test_a_push_that_is_not_allowed_leaves_the_branch_stale(repository: Repository, tmp_path: Path) -> None:
    repository.git("checkout", "--quiet", "-b", "change")
    repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    repository.commit("more seats")
    repository.git("push", "--quiet", "origin", "change")
    hook = repository.remote / "hooks/pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    preview(repository, tmp_path / "out", COMMIT="true", BRANCH="change")
    assert outcome(tmp_path / "out") == ("true", "false")
    assert repository.git("log", "-1", "--format=%s") == "more seats"


def test_what_main_got_meanwhile_is_not_part_of_the_change(repository: Repository, tmp_path: Path) -> None:
    repository.git("checkout", "--quiet", "-b", "change")
    repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    repository.run("berth", "render")
    repository.commit("more seats")
    repository.git("checkout", "--quiet", "main")
    repository.edit("night.yaml", "placeholderCount: 2}", "placeholderCount: 4}")
    repository.run("berth", "render")
    repository.commit("another change")
    repository.git("push", "--quiet", "origin", "main")
    repository.git("checkout", "--quiet", "change")
    preview(repository, tmp_path / "out")
    assert "night" not in (tmp_path / "out/preview.md").read_text("utf-8")


def test_a_first_push_has_no_commit_before_it(repository: Repository, tmp_path: Path) -> None:
    preview(repository, tmp_path / "out", BASE="0" * 40, MERGE="false")
    assert outcome(tmp_path / "out") == ("true", "true")
    assert (tmp_path / "out/preview.md").read_text("utf-8").startswith("### Berth: Nothing changes")


def test_a_repository_may_hold_several_projects(repository: Repository, tmp_path: Path) -> None:
    repository.git("checkout", "--quiet", "-b", "change")
    for name in ("north", "south"):
        project.write(repository.folder / name)
    repository.run("berth", "-C", "north", "render")
    repository.run("berth", "-C", "south", "render")
    repository.commit("two more")
    repository.git("push", "--quiet", "origin", "HEAD:main", "change")
    course = repository.folder / "south/reservations/course.yaml"
    course.write_text(course.read_text("utf-8").replace("placeholderCount: 25", "placeholderCount: 30"))
    repository.commit("more seats in the south")
    preview(repository, tmp_path / "north", DIRECTORY="north", COMMIT="true", BRANCH="change")
    preview(repository, tmp_path / "south", DIRECTORY="south", COMMIT="true", BRANCH="change")
    assert repository.git("show", "--name-only", "--format=", "HEAD").splitlines() == [
        "south/rendered/clusters/prod/reservations/course.yaml"
    ]
    told = {name: (tmp_path / name / "preview.md").read_text("utf-8")[:40] for name in ("north", "south")}
    assert told["north"].startswith("### Berth: Nothing changes")
    assert told["south"].startswith("### Berth: 1 reservation changed")
    course.write_text(course.read_text("utf-8").replace("placeholderCount: 30", "placeholderCount: 0"))
    repository.commit("no seats")
    errors = preview(repository, tmp_path / "faulty", DIRECTORY="south")
    assert errors.startswith("::error file=south/reservations/course.yaml,line=16,")


def test_a_push_in_between_is_not_overwritten(repository: Repository, tmp_path: Path) -> None:
    repository.git("checkout", "--quiet", "-b", "change")
    repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    repository.commit("more seats")
    repository.git("push", "--quiet", "origin", "change")
    other = tmp_path / "other"
    repository.git("clone", "--quiet", "--branch", "change", str(repository.remote), str(other))
    night = other / "reservations/night.yaml"
    night.write_text(night.read_text("utf-8").replace("placeholderCount: 2}", "placeholderCount: 4}"))
    repository.git("-C", str(other), "commit", "--quiet", "--all", "--message", "somebody else")
    repository.git("-C", str(other), "push", "--quiet", "origin", "change")
    done = repository.run("bash", str(SCRIPTS / "commit.sh"), BRANCH="change")
    assert done.code == 0
    assert repository.git("log", "--format=%s", "origin/change~0", "-3").splitlines() == [
        "Render",
        "somebody else",
        "more seats",
    ]
    assert repository.run("berth", "render", "--check").code == 0


FAKE_GH = """\
echo "$@" >>"{calls}"
case "$*" in
  *--paginate*) jq -r "$5" "{folder}/comments" ;;
  *pulls/7*) cat "{folder}/sha" ;;
esac
"""
MARKER = "<!-- berth preview of . -->\n"


def comments(*texts: tuple[str, str]) -> str:
    """Return the comments of a pull request as GitHub answers them: logins and texts."""
    return json.dumps(
        [
            {"id": 12 + number, "user": {"login": who}, "body": text}
            for number, (who, text) in enumerate(texts)
        ]
    )


@pytest.fixture
def github(repository: Repository, tmp_path: Path) -> Repository:
    """Its `gh` notes in the file `calls` what it was asked."""
    repository.program("gh", FAKE_GH.format(calls=tmp_path / "calls", folder=tmp_path))
    return repository


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        ([], "--method POST repos/o/r/issues/7/comments"),
        ([("github-actions[bot]", MARKER)] * 2, "--method PATCH repos/o/r/issues/comments/12"),
        ([("eve", MARKER)], "--method POST repos/o/r/issues/7/comments"),
        ([("eve", MARKER), ("github-actions[bot]", MARKER)], "--method PATCH repos/o/r/issues/comments/13"),
    ],
    ids=["the-first", "again", "of-somebody-else", "of-both"],
)
def test_there_is_one_comment_and_those_of_others_stay(
    github: Repository, tmp_path: Path, there: list[tuple[str, str]], expected: str
) -> None:
    (tmp_path / "comments").write_text(comments(*there))
    body = tmp_path / "body"
    body.write_text("hello\n")
    done = github.run("bash", str(SCRIPTS / "comment.sh"), REPOSITORY="o/r", NUMBER="7", BODY=str(body))
    assert done.code == 0
    assert expected in (tmp_path / "calls").read_text().splitlines()[-1]
    assert Path(f"{body}.marked").read_text() == "<!-- berth preview of . -->\nhello\n"


def test_each_project_has_a_comment_of_its_own(github: Repository, tmp_path: Path) -> None:
    (tmp_path / "comments").write_text("[]")
    body = tmp_path / "body"
    body.write_text("hello\n")
    about = {"REPOSITORY": "o/r", "NUMBER": "7", "BODY": str(body), "DIRECTORY": 'a/b "-->'}
    assert github.run("bash", str(SCRIPTS / "comment.sh"), **about).code == 0
    assert Path(f"{body}.marked").read_text() == "<!-- berth preview of a/b_____ -->\nhello\n"


@pytest.mark.parametrize(
    ("good", "state"),
    [("true", "success"), ("false", "failure"), ("", "failure")],
    ids=["good", "bad", "unknown"],
)
def test_the_status_is_on_the_commit(github: Repository, tmp_path: Path, good: str, state: str) -> None:
    about = {"REPOSITORY": "o/r", "SHA": "abc", "CONTEXT": "berth", "GOOD": good}
    assert github.run("bash", str(SCRIPTS / "status.sh"), **about).code == 0
    assert (tmp_path / "calls").read_text() == (
        f"api --silent --method POST repos/o/r/statuses/abc -f context=berth -f state={state}\n"
    )


def test_the_status_has_the_headline_of_the_comment(github: Repository, tmp_path: Path) -> None:
    body = tmp_path / "body"
    body.write_text(
        "### Berth: 1 reservation changed; cost 6\\.96 → 18\\.33 USD; 2 warnings\n\n### Berth: no\n"
    )
    about = {"REPOSITORY": "o/r", "SHA": "abc", "CONTEXT": "berth", "GOOD": "true", "BODY": str(body)}
    assert github.run("bash", str(SCRIPTS / "status.sh"), **about).code == 0
    assert (
        (tmp_path / "calls")
        .read_text()
        .endswith(" -f description=1 reservation changed; cost 6.96 → 18.33 USD; 2 warnings\n")
    )


@pytest.mark.parametrize(
    ("base", "context"),
    [("main", "berth"), ("", "berth"), ("playground", "berth (playground)"), ("a b;c", "berth (a b;c)")],
)
def test_the_status_names_every_base_branch_but_the_default(
    github: Repository, tmp_path: Path, base: str, context: str
) -> None:
    about = {"REPOSITORY": "o/r", "SHA": "abc", "CONTEXT": "berth", "GOOD": "true"}
    about |= {"BASE_BRANCH": base, "DEFAULT_BRANCH": "main"}
    assert github.run("bash", str(SCRIPTS / "status.sh"), **about).code == 0
    assert f"-f context={context} -f state=success" in (tmp_path / "calls").read_text()


@pytest.mark.parametrize(
    ("said", "sha", "told"),
    [("7", "abc", "7\n"), ("7", "other", ""), ("7; rm -rf /", "abc", ""), ("", "abc", "")],
    ids=["its-own", "of-another", "no-number", "nothing"],
)
def test_a_fork_speaks_only_of_its_own_pull_request(
    github: Repository, tmp_path: Path, said: str, sha: str, told: str
) -> None:
    (tmp_path / "sha").write_text(f"{sha}\n")
    (tmp_path / "number").write_text(f"{said}\n")
    script = str(SCRIPTS / "number.sh")
    done = github.run("bash", script, str(tmp_path / "number"), REPOSITORY="o/r", SHA="abc")
    assert (done.code == 0, done.out) == (bool(told), told)


SOON = "  policies: [{name: soon, when: {noticeBelow: 48h}, require: refuse}]\n"


def policy_on_main(repository: Repository, policy: str) -> None:
    """Let the main branch get a policy after the branch `change` left it."""
    repository.git("checkout", "--quiet", "main")
    (repository.folder / "reservations/site.yaml").write_text(project.SITE + policy, "utf-8")
    repository.commit("a policy")
    repository.git("push", "--quiet", "origin", "main")
    repository.git("checkout", "--quiet", "change")


def more_seats(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "-b", "change")
    repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    repository.run("berth", "render")
    repository.commit("more seats")


def test_policies_of_the_base_count_at_the_clock_of_the_run(repository: Repository, tmp_path: Path) -> None:
    """The branch left before the policy, and its author chose the times of the commit."""
    more_seats(repository)
    policy_on_main(repository, SOON)
    found = []
    for time in ("2000-01-01T00:00:00Z", "2099-01-01T00:00:00Z"):
        dates = {"GIT_COMMITTER_DATE": time, "GIT_AUTHOR_DATE": time}
        repository.run("git", "commit", "--quiet", "--amend", "--no-edit", **dates, **WHO)
        for now in ("2026-01-31T07:00:00Z", "2026-01-31T09:00:00Z"):
            repository.program("date", f"echo {now}")
            preview(repository, tmp_path / "out")
            found.append(outcome(tmp_path / "out"))
            assert now in (tmp_path / "out/preview.md").read_text("utf-8").replace("\\", "")

    assert found == [("true", "true"), ("false", "true")] * 2


@pytest.mark.parametrize("base", ["origin/nowhere", "1" * 40])
def test_a_base_that_is_not_known_is_not_valid(repository: Repository, tmp_path: Path, base: str) -> None:
    preview(repository, tmp_path / "out", BASE=base)

    assert outcome(tmp_path / "out") == ("false", "true")


def test_a_branch_that_cannot_be_merged_is_not_valid(repository: Repository, tmp_path: Path) -> None:
    more_seats(repository)
    repository.git("checkout", "--quiet", "main")
    repository.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 26")
    repository.commit("other seats")
    repository.git("push", "--quiet", "origin", "main")
    repository.git("checkout", "--quiet", "change")
    told = preview(repository, tmp_path / "out")

    assert told.startswith("::error title=This branch cannot be merged::")
    assert outcome(tmp_path / "out")[0] == "false"
    assert repository.git("status", "--porcelain") == ""


def test_a_conflict_in_a_file_of_any_name_writes_no_command(repository: Repository, tmp_path: Path) -> None:
    file = repository.folder / f"reservations/a{HIDDEN}{LINES}##[x]"
    repository.git("checkout", "--quiet", "-b", "change")
    file.write_text("one\n", "utf-8")
    repository.commit("one")
    repository.git("checkout", "--quiet", "main")
    file.write_text("two\n", "utf-8")
    repository.commit("two")
    repository.git("push", "--quiet", "origin", "main")
    repository.git("checkout", "--quiet", "change")
    ran = run_preview(repository, tmp_path / "out")
    annotations = [line for line in ran.out.splitlines() if line.startswith("::error title=This branch")]

    assert len(annotations) == 1
    assert "BROKEN" in ran.err
    assert acts_on_a_log(ran.out.replace(annotations[0], "") + ran.err) == []
    assert acts_on_a_terminal(ran.out + ran.err) == []


def test_a_missing_file_that_the_author_lets_git_ignore_is_pushed(
    repository: Repository, tmp_path: Path
) -> None:
    repository.git("checkout", "--quiet", "-b", "change")
    repository.git("rm", "--quiet", "rendered/clusters/prod/base.yaml")
    (repository.folder / ".gitignore").write_text("base.yaml\n", "utf-8")
    repository.commit("no permissions")
    repository.git("push", "--quiet", "origin", "change")
    preview(repository, tmp_path / "out", COMMIT="true", BRANCH="change")

    assert outcome(tmp_path / "out") == ("true", "true")
    head = (tmp_path / "out/sha").read_text().strip()
    assert repository.git("ls-tree", "--name-only", head, "rendered/clusters/prod/base.yaml")


def test_git_gets_the_token_to_push(repository: Repository, tmp_path: Path) -> None:
    """For the server of the repository alone, and not on its command line."""
    more_seats(repository)
    repository.edit("course.yaml", "placeholderCount: 30", "placeholderCount: 31")
    repository.commit("even more")
    repository.git("push", "--quiet", "origin", "change")
    real = shutil.which("git")
    pushing = f'case "$*" in push*) env | grep ^GIT_CONFIG_ >"{tmp_path}/environment" ;; esac'
    repository.program("git", f'{pushing}\nexec "{real}" "$@"')
    about = {"BRANCH": "change", "GH_TOKEN": "a-token", "GITHUB_SERVER_URL": "https://git.example.org"}
    assert repository.run("bash", str(SCRIPTS / "commit.sh"), **about).code == 0

    known = dict(line.split("=", 1) for line in (tmp_path / "environment").read_text().splitlines())
    assert known["GIT_CONFIG_KEY_0"] == "http.https://git.example.org/.extraheader"
    basic = known["GIT_CONFIG_VALUE_0"].removeprefix("Authorization: Basic ")
    assert b64decode(basic).decode() == "x-access-token:a-token"


def test_berth_runs_without_the_token(repository: Repository, tmp_path: Path) -> None:
    repository.program("berth", f'env >>"{tmp_path}/environment"; exit 4')
    preview(repository, tmp_path / "out", COMMIT="true", BRANCH="main", GH_TOKEN="a-token")

    assert "a-token" not in (tmp_path / "environment").read_text("utf-8")


@pytest.mark.parametrize("where", [".gitattributes", "rendered/clusters/.gitattributes"])
@pytest.mark.parametrize("header", ["", "# Rendered by berth\n"])
def test_what_git_stores_is_judged_and_not_only_what_it_checks_out(
    repository: Repository, tmp_path: Path, where: str, header: str
) -> None:
    """The work tree has an s, and engines that read blobs get the long s that git stores."""
    path = "rendered/clusters/prod/base.yaml"
    file = repository.folder / path
    text = file.read_text("utf-8")
    pattern = path.removeprefix(where.removesuffix(".gitattributes"))
    (repository.folder / where).write_text(f"{header}{pattern} working-tree-encoding=ASCII//TRANSLIT\n")
    repository.commit("attributes")
    store(repository, path, text.replace("restricted", "re\u017ftricted", 1))
    assert file.read_text("utf-8") == text
    if where == ".gitattributes":
        assert repository.run("berth", "render", "--check").code == 0
    repository.git("push", "--quiet", "origin", "fresh")
    preview(repository, tmp_path / "out", COMMIT="true", BRANCH="fresh")

    is_as_judged = repository.git("show", f"HEAD:{path}") == text.strip()  # a commit of ours may repair it
    assert (outcome(tmp_path / "out") == ("true", "true")) == is_as_judged
    shown = (tmp_path / "out/preview.md").read_text("utf-8").replace("\\", "")
    assert is_as_judged or "clusters/prod/base.yaml" in shown
    assert not (is_as_judged and where == ".gitattributes")
    assert not (repository.folder / ".git/info/attributes").exists()
