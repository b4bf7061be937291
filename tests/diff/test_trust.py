"""What a change does to others: permissions, shared documents, ignored findings."""

import json
import shutil
from typing import Any

import pytest
from berth import cli

from tests.diff.conftest import Pair


def change(pair: Pair, *words: str) -> tuple[int, dict[str, Any]]:
    told = pair.diff("-o", "json", *words)
    return told.code, json.loads(told.out)


def test_a_role_in_another_namespace_is_reported_first(pair: Pair) -> None:
    """The Role has the name that it has in the namespace which the class had before."""
    sessions = "cpu: 250m}\n  sessions: {source: pods, namespaces: [hub], selector: {matchLabels: {app: x}}}"
    pair.edit("classes.yaml", "cpu: 250m}", sessions)
    shutil.copytree(pair.now, pair.was, dirs_exist_ok=True)
    assert cli.run(["-C", str(pair.was), "render"]) == 0
    pair.edit("classes.yaml", "namespaces: [hub]", "namespaces: [hub, kube-system]")
    told = pair.diff()
    found = change(pair)[1]["permissions"]

    assert told.out.startswith("new permissions in kube-system; ")
    assert told.out.split("\n\n")[1].startswith("New permissions\n+ kube-system in lab: Role ")
    roles = [one for one in found if one["kind"] == "Role"]
    assert [(role["namespace"], role["grants"]) for role in roles] == [
        ("kube-system", ["list pods", "watch pods"])
    ]


RENKU = "cpu: 250m}\n  renkuId: 7\n  sessions: {source: renku, namespaces: [renku]}"
TOKEN = "  renku: {url: https://renku.example.org, tokenSecret: {name: renku-token, key: token}}\n"
ANOTHER = 'schedule: [{startTime: "10:00", endTime: "10:20"}, {startTime: "15:00", endTime: "15:20"}]'
TEMPLATE = "suspend: true\n  sessions: {projectTemplate: 01JC3CB5426KC7P5STS5X3KSS8}"


def test_a_secret_that_a_pod_mounts_is_reported_once_as_a_permission(pair: Pair) -> None:
    """The token of the site, which a lecturer's project template lets a pod read."""
    pair.edit("classes.yaml", "cpu: 250m}", RENKU)
    pair.edit("rest.yaml", "scaleDownBehavior: none", "scaleDownBehavior: maintain")
    pair.edit("rest.yaml", 'schedule: [{startTime: "10:00", endTime: "10:20"}]', ANOTHER)
    pair.edit("site.yaml", "  engine: argocd\n", f"  engine: argocd\n{TOKEN}")
    shutil.copytree(pair.now, pair.was, dirs_exist_ok=True)
    assert cli.run(["-C", str(pair.was), "render"]) == 0
    pair.edit("rest.yaml", "suspend: true", TEMPLATE)
    told = pair.diff()
    begins = "New permissions\n+ seats in lab: CronJob rest grants mount secrets renku-token. A pod of Berth"

    assert told.out.startswith("new permissions in seats; ")
    assert f"\n\n{begins} that is taken over can read it\n\n" in told.out
    assert [(one["kind"], one["grants"]) for one in change(pair)[1]["permissions"]] == [
        ("CronJob", ["mount secrets renku-token"])
    ]


def test_a_permission_to_read_the_whole_cluster_is_explained(pair: Pair) -> None:
    sessions = "memory: 4Gi}\n  sessions: {source: pods, namespaces: {matchLabels: {home: a}}}"
    pair.edit("classes.yaml", "memory: 4Gi}", sessions)
    pair.edit("course.yaml", "scaleDownBehavior: none", "scaleDownBehavior: maintain")
    told = pair.diff()
    (section,) = [part for part in told.out.split("\n\n") if part.startswith("New permissions\n")]
    found = [one for one in change(pair)[1]["permissions"] if one["namespace"] is None]

    assert told.out.startswith("new permissions in the whole cluster")
    assert {(one["kind"], *one["grants"]) for one in found} == {
        ("ClusterRole", "list pods", "watch pods", "list namespaces", "watch namespaces"),
        ("ClusterRoleBinding", "ClusterRole berth-sessions.uni to ServiceAccount berth/course"),
    }
    assert section.count("in every namespace, with their whole content") == 2


@pytest.mark.parametrize("kind", ["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "CronJob"])
def test_a_stale_folder_causes_no_new_permission_that_the_base_implies(pair: Pair, kind: str) -> None:
    """The rendered files of both sides lack all objects of a kind, as if an older version had made them."""
    everywhere = "memory: 4Gi}\n  sessions: {source: pods, namespaces: {matchLabels: {home: a}}}"
    pair.edit("classes.yaml", "memory: 4Gi}", everywhere)
    pair.edit("course.yaml", "scaleDownBehavior: none", "scaleDownBehavior: maintain")
    pair.edit("classes.yaml", "cpu: 250m}", RENKU)
    pair.edit("rest.yaml", "scaleDownBehavior: none", "scaleDownBehavior: maintain")
    pair.edit("rest.yaml", "suspend: true", TEMPLATE)
    pair.edit("site.yaml", "  engine: argocd\n", f"  engine: argocd\n{TOKEN}")
    assert pair.diff().code == 0  # it renders first
    for file in (pair.now / "rendered").rglob("*.yaml"):
        objects = file.read_text("utf-8").split("---\n")
        file.write_text("---\n".join(one for one in objects if f"kind: {kind}\n" not in one), "utf-8")
    shutil.copytree(pair.now, pair.was, dirs_exist_ok=True)
    found = json.loads(pair.diff("-o", "json", stale=True).out)
    assert found["permissions"] == []
    assert "stale" in [one["code"] for one in found["warnings"]]

    pair.edit("classes.yaml", "namespaces: [renku]", "namespaces: [renku, kube-system]")
    found = json.loads(pair.diff("-o", "json", stale=True).out)
    assert {one["namespace"] for one in found["permissions"]} == {"kube-system"}


def test_permissions_in_the_berth_namespace_are_reported(pair: Pair) -> None:
    pair.edit("course.yaml", "metadata: {name: course}", "metadata: {name: kurs}")
    found = change(pair)[1]["permissions"]

    assert {one["namespace"] for one in found} == {"berth"}
    assert pair.diff().out.startswith("new permissions in berth; ")


def test_ignored_findings_are_listed(pair: Pair) -> None:
    overlap = '{dayOfWeek: tue, startTime: "09:00", endTime: "13:00"}'
    again = overlap.replace("09", "10")
    pair.edit("course.yaml", "    schedule:\n", f"    schedule:\n      - {overlap}\n      - {again}\n")
    pair.edit(
        "course.yaml", "{name: course}", '{name: course, annotations: {berth.dev/ignore: "B031: two groups"}}'
    )
    code, found = change(pair)

    assert code == 0
    assert ("B031", "reservations/course.yaml") in [(one["code"], one["file"]) for one in found["ignored"]]
    assert "Ignored findings\n! reservations/course.yaml:" in pair.diff().out
    assert "#### Ignored findings" in pair.diff("-o", "markdown").out


CLASS = """\
---
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: mine}
spec:
  cluster: prod
  requests: {cpu: "1"}
  sessions: {source: pods, namespaces: [kube-system], selector: {matchLabels: {app: x}}}
"""


def own(pair: Pair, folder: str = "") -> None:
    """Let the course belong to a lecturer, on both sides."""
    for side in (pair.was, pair.now):
        course = side / "reservations/course.yaml"
        owner = '  owner: {name: Eve, contact: "@eve"}\n'
        text = course.read_text("utf-8").replace("spec:\n", f"spec:\n{owner}", 1)
        course.unlink()
        course = side / "reservations" / folder / "course.yaml"
        course.parent.mkdir(exist_ok=True)
        course.write_text(text, "utf-8")


def test_a_class_in_the_file_of_an_owner_is_refused(pair: Pair) -> None:
    own(pair)
    course = pair.now / "reservations/course.yaml"
    course.write_text(course.read_text("utf-8") + CLASS, "utf-8")
    told = pair.diff(stale=True)

    assert told.code == 1
    assert "error[B270] kind: ResourceClass mine " in told.out


def test_a_class_in_the_folder_of_an_owner_is_refused_even_if_the_owner_is_removed(pair: Pair) -> None:
    own(pair, "physics")
    course = pair.now / "reservations/physics/course.yaml"
    course.write_text(
        course.read_text("utf-8").replace('  owner: {name: Eve, contact: "@eve"}\n', ""), "utf-8"
    )
    (pair.now / "reservations/physics/mine.yaml").write_text(CLASS, "utf-8")
    told = pair.diff(stale=True)

    assert told.code == 1
    assert "error[B270] kind: ResourceClass mine " in told.out


def test_a_policy_about_a_shared_document_names_it_in_every_output_format(pair: Pair) -> None:
    for side in (pair.was, pair.now):
        site = side / "reservations/site.yaml"
        policy = (
            "  policies: [{name: platform, match: {kinds: [ResourceClass]}, require: {approvalBy: ada}}]\n"
        )
        site.write_text(site.read_text("utf-8") + policy, "utf-8")
    (pair.now / "reservations/mine.yaml").write_text(CLASS, "utf-8")
    code, found = change(pair)
    (result,) = found["policies"]

    assert code == 0
    assert (result["reservation"], result["document"]) == (None, "ResourceClass mine")
    assert "! ResourceClass mine: needs approval by ada, policy platform" in pair.diff().out
    lines = pair.diff("-o", "github").out.splitlines()
    assert [line for line in lines if "/mine.yaml,line=" in line and "title=B232::needs approval" in line]
