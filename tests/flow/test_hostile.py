"""One pull request that tries everything, and the workflow that `berth init` writes.

What is refused is named, and what is valid is shown in full: nothing passes by unseen.
"""

import shutil
from pathlib import Path

import pytest

from tests.cli import project
from tests.flow.conftest import Repository
from tests.flow.github import Github, set_time

POLICIES = """\
  policies:
    - {name: soon, when: {noticeBelow: 48h}, require: refuse}
    - {name: large, when: {seatsAbove: 60}, require: refuse}
    - {name: platform, match: {kinds: [ResourceClass, Calendar]}, require: {approvalBy: "@uni/platform"}}
"""
SHARED = """\
---
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: mine}
spec:
  cluster: prod
  requests: {cpu: "1"}
  tolerations: [{operator: Exists}]
  images: [registry.example.org/mine:1]
  imageWarmUp: initContainer
  sessions: {source: pods, namespaces: [kube-system], selector: {matchLabels: {app: x}}}
---
apiVersion: berth.dev/v1alpha1
kind: Calendar
metadata: {name: mine}
spec: {closes: true, dates: [2026-02-23]}
"""


@pytest.fixture
def github(repository: Repository, tmp_path: Path) -> Github:
    """A lecturer's course on a site with policies, which the branch left before they came."""
    repository.git("checkout", "--quiet", "-b", "change")
    with repository.on_main("policies"):
        (repository.folder / "reservations/site.yaml").write_text(project.SITE + POLICIES, "utf-8")
        owner = 'spec:\n  owner: {name: Eve, contact: "@eve"}\n'
        repository.edit("course.yaml", "spec:\n", owner)
        assert repository.run("berth", "render").code == 0
    set_time(repository, "2026-02-01T00:00:00Z")
    return Github(repository, tmp_path)


def write(repository: Repository, path: str, text: str) -> None:
    file = repository.folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


def published(repository: Repository, github: Github) -> tuple[str, str]:
    """Return the state of the status, and all that the run shows."""
    repository.git("add", "--all", "--force")
    repository.push("a small correction")
    ran = github.pull_request()
    return ran.state, ran.log.replace("\\", "") + ran.text


def test_each_forbidden_change_is_reported_by_name(repository: Repository, github: Github) -> None:
    write(repository, ".gitignore", "base.yaml\n.d/\n")
    write(repository, "rendered/clusters/.x.yaml", "kind: ClusterRoleBinding\n")
    write(repository, "rendered/gitops/.d/x.yaml", "kind: Application\n")
    write(repository, "rendered/clusters/prod/.argocd-source.yaml", "kustomize: {}\n")
    (repository.folder / "rendered/clusters/prod/more").symlink_to("/etc")
    (repository.folder / "reservations/passwords.yaml").symlink_to("/etc/passwd")
    (repository.folder / "reservations/token.yaml").symlink_to("../.git/config")
    write(repository, "reservations/a\n::stop-commands::x.yaml", "kind: Calendar\n")
    repository.edit("course.yaml", "spec:\n", 'spec:\n  owner: {name: Eve, contact: "@eve"}\n')
    shutil.copytree(
        repository.folder / "reservations", repository.folder / "origin/main/reservations", symlinks=True
    )
    labels = "labels: {rbac.authorization.k8s.io/aggregate-to-edit: on}"
    note = 'annotations: {berth.dev/ignore: "B076: no matter; B103: no matter"}'
    repository.edit("course.yaml", "{name: course}", f"{{name: course, {labels}, {note}}}")
    course = repository.folder / "reservations/course.yaml"
    course.write_text(course.read_text("utf-8") + SHARED, "utf-8")
    unknown = "".join(f"  unknown{number}: 1\n" for number in range(5_000))
    many = project.NIGHT.replace("night", "many").replace("spec:\n", f"spec:\n{unknown}")
    write(repository, "reservations/many.yaml", many)
    state, shown = published(repository, github)

    assert state == "failure"
    for evidence in (
        "reservations/passwords.yaml:1:1: error[B001] it is a symbolic link.",
        "reservations/token.yaml:1:1: error[B001] ",
        "n::stop-commands::x.yaml:1:1: error[B001] its name has invisible characters.",
        "error[B023] metadata.labels",
        "error[B271]",
        "error[B010] spec.unknown0",
        "4900 more problems",
    ):
        assert evidence in shown, evidence
    assert "root:" not in shown
    assert not [line for line in shown.splitlines() if line.startswith("::stop-commands::")]


@pytest.mark.parametrize("is_link", [True, False], ids=["link", "submodule"])
def test_a_reservations_folder_that_is_a_link_or_submodule_fails(
    repository: Repository, github: Github, is_link: bool
) -> None:
    folder = repository.folder / "reservations"
    folder.rename(repository.folder / "elsewhere")
    if is_link:
        folder.symlink_to("elsewhere")
    else:
        repository.git("rm", "--quiet", "-r", "--cached", "reservations")
        repository.git("clone", "--quiet", ".", "reservations")
    state, shown = published(repository, github)

    assert state == "failure"
    assert "reservations:1:1: error[B001] " in shown


def test_valid_changes_are_listed_and_checked_by_the_policies_of_the_base(
    repository: Repository, github: Github
) -> None:
    write(repository, "reservations/mine.yaml", SHARED.removeprefix("---\n"))
    monday = '      - {dayOfWeek: mon, startTime: "09:00", endTime: "13:00"}\n'
    split = "".join(monday.replace("09", hour) for hour in ("09", "10", "11"))
    repository.edit("course.yaml", monday, split)
    repository.edit("course.yaml", "    moved: [{date: 2026-02-23, to: {date: 2026-02-24}}]\n", "")
    state, shown = published(repository, github)

    assert state == "failure"
    first = shown.partition("### Berth: ")[2].splitlines()[0]
    refusal, approval, permissions, *_ = first.split("; ")
    assert (refusal, permissions) == ("refused by policy soon, large", "new permissions in kube-system")
    assert approval.startswith("needs approval by")
    for evidence in (
        "refused by policy soon, large",
        "needs approval by",
        "ResourceClass mine (reservations/mine.yaml)",
        "Calendar mine (reservations/mine.yaml)",
        "spec.tolerations",
        "spec.imageWarmUp",
        "spec.closes",
    ):
        assert evidence in shown.replace("\u200b", ""), evidence
