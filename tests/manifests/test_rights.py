"""What our ServiceAccounts may do: exactly what is configured, in the cluster where it is configured."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli import project
from tests.manifests.parts import Object, objects, of_cluster, of_kind

RENDERED = Path(__file__).parents[2] / "rendered" / "clusters"
HARMLESS = {"get", "list", "watch", "patch", "delete"}  # they need something that is there
CLASS = """\
---
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {{name: {name}}}
spec:
  cluster: {cluster}
  renkuId: {number}
  requests: {{cpu: "1"}}
  sessions: {sessions}
"""
NOTEBOOKS = (
    "{source: custom, namespaces: [b, a], group: kubeflow.org, version: v1, resource: notebooks}",
    "{source: custom, namespaces: [a], group: kubeflow.org, version: v1, resource: experiments}",
    "{source: custom, namespaces: [a], version: v1, resource: services}",
)


def base(folder: Path, cluster: str, *sessions: str, site: str = project.SITE) -> list[Object]:
    """The base of a cluster in which classes have these sessions, beside those of the small project."""
    classes = [
        CLASS.format(name=f"class-{i}", cluster=cluster, number=i, sessions=text)
        for i, text in enumerate(sessions)
    ]
    return of_cluster(folder, cluster, classes=project.CLASSES + "".join(classes), site=site)


def roles(found: list[Object]) -> dict[tuple[str, str], Any]:
    """Rules by namespace and name. Each has a binding of its name, and no other."""
    made = {
        (one["metadata"]["namespace"], one["metadata"]["name"]): one["rules"]
        for one in of_kind("Role", found)
    }
    bindings = {
        (one["metadata"]["namespace"], one["metadata"]["name"]): one["roleRef"]
        for one in of_kind("RoleBinding", found)
    }
    assert bindings == {
        place: {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": place[1]} for place in made
    }
    return made


def of_sessions(found: list[Object]) -> dict[tuple[str, str], Any]:
    return {place: rules for place, rules in roles(found).items() if place[1].endswith("-sessions")}


def reads(group: str, *resources: str) -> Object:
    return {"apiGroups": [group], "resources": list(resources), "verbs": ["list", "watch"]}


def test_the_occurrence_reads_timetables_writes_its_record_and_tells_events(tmp_path: Path) -> None:
    assert roles(base(tmp_path, "prod"))["berth", "berth-occurrence"] == [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": [""], "resources": ["events"], "verbs": ["create"]},
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get", "patch"]},
    ]


@pytest.mark.parametrize(("cluster", "prunes"), [("prod", True), ("lab", False)])
def test_the_sweep_marks_what_is_gone_and_removes_roles_only_where_nothing_else_does(
    tmp_path: Path, cluster: str, prunes: bool
) -> None:
    namespace = "berth" if cluster == "prod" else "seats"
    names = {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["rolebindings", "roles"]}
    marks, kept = (["patch"], []) if not prunes else ([], ["patch"])

    assert roles(base(tmp_path, cluster))[namespace, "berth-sweep"] == [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", *marks, "delete"]},
        {"apiGroups": [""], "resources": ["events"], "verbs": ["create"]},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
        {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["list", *kept, "delete"]},
        {"apiGroups": ["apps"], "resources": ["deployments/scale"], "verbs": ["get", "patch"]},
        {"apiGroups": ["batch"], "resources": ["cronjobs"], "verbs": ["list", "delete"]},
        {
            "apiGroups": ["batch"],
            "resources": ["jobs"],
            "verbs": ["get", "list", "create", "patch", "delete"],
        },
        *([] if prunes else [{**names, "verbs": ["list", "delete"]}]),
    ]


def test_nobody_may_read_a_secret_or_everything(tmp_path: Path) -> None:
    for cluster in ("prod", "lab"):
        for rules in roles(base(tmp_path, cluster, *NOTEBOOKS)).values():
            for rule in rules:
                assert not {"*", "secrets"} & {*rule["apiGroups"], *rule["resources"], *rule["verbs"]}


def test_nobody_makes_anything_but_events_and_slots_and_the_sweep_its_jobs() -> None:
    """In all that is rendered of this repository. Whoever may make a Job may read every Secret beside it."""
    found = [one for file in RENDERED.rglob("*.yaml") for one in objects(file.read_text("utf-8"))]
    made = {
        (one["metadata"]["name"].startswith("berth-sweep"), verb, resource)
        for one in (*of_kind("Role", found), *of_kind("ClusterRole", found))
        for rule in one["rules"]
        for verb in {*rule["verbs"]} - HARMLESS
        for resource in rule["resources"]
    }

    assert made == {
        (False, "create", "events"),
        (False, "create", "reservations"),
        (True, "create", "events"),
        (True, "create", "jobs"),
        (True, "create", "reservations"),
    }


def test_a_binding_names_the_account_of_its_cluster(tmp_path: Path) -> None:
    """A Role may be in a namespace of sessions; the account is in ours."""
    found = of_kind("RoleBinding", base(tmp_path, "lab", "{source: pods, namespaces: [hub]}"))

    assert {one["metadata"]["name"]: one["subjects"] for one in found} == {
        name: [{"kind": "ServiceAccount", "name": account, "namespace": "seats"}]
        for name, account in (
            ("berth-occurrence", "berth-occurrence"),
            ("berth-sweep", "berth-sweep"),
            ("berth-uni-sessions", "berth-occurrence"),
        )
    }


@pytest.mark.parametrize(
    ("sessions", "rule"),
    [
        ("{source: renku, namespaces: [a]}", reads("amalthea.dev", "amaltheasessions")),
        ("{source: jupyterhub, namespaces: [a]}", reads("", "pods")),
        ("{source: pods, namespaces: [a]}", reads("", "pods")),
        (NOTEBOOKS[2], reads("", "services")),
        (NOTEBOOKS[1], reads("kubeflow.org", "experiments")),
    ],
    ids=["renku", "jupyterhub", "pods", "custom-of-the-core", "custom"],
)
def test_a_source_opens_its_kind_in_its_namespace(tmp_path: Path, sessions: str, rule: Object) -> None:
    assert of_sessions(base(tmp_path, "prod", sessions)) == {("a", "berth-uni-sessions"): [rule]}


def test_a_class_without_sessions_opens_nothing(tmp_path: Path) -> None:
    assert of_sessions(base(tmp_path, "prod")) == {}


def test_classes_share_one_role_in_each_namespace_whatever_their_order(tmp_path: Path) -> None:
    sessions = (*NOTEBOOKS, "{source: renku, namespaces: [a]}", "{source: pods, namespaces: [b, b]}")
    found, turned = base(tmp_path, "prod", *sessions), base(tmp_path, "prod", *reversed(sessions))

    assert list(of_sessions(found).items()) == [
        (
            ("a", "berth-uni-sessions"),
            [
                reads("", "services"),
                reads("amalthea.dev", "amaltheasessions"),
                reads("kubeflow.org", "experiments", "notebooks"),
            ],
        ),
        (("b", "berth-uni-sessions"), [reads("", "pods"), reads("kubeflow.org", "notebooks")]),
    ]
    assert turned == found


def test_sessions_of_another_cluster_open_nothing_here(tmp_path: Path) -> None:
    classes = project.CLASSES + CLASS.format(
        name="there", cluster="lab", number=1, sessions="{source: pods, namespaces: [a]}"
    )

    assert of_sessions(of_cluster(tmp_path, "prod", classes=classes)) == {}
    assert of_sessions(of_cluster(tmp_path, "lab", classes=classes)) == {
        ("a", "berth-uni-sessions"): [reads("", "pods")]
    }


def test_a_class_that_names_no_cluster_is_in_the_only_one(tmp_path: Path) -> None:
    site = project.SITE.replace("    - {name: lab, engine: none, namespace: seats}\n", "")
    text = CLASS.format(name="a", cluster="prod", number=1, sessions="{source: pods, namespaces: [a]}")
    found = of_cluster(
        tmp_path,
        "prod",
        site=site,
        classes=text.replace("  cluster: prod\n", ""),
        course=None,
        night=None,
        rest=None,
    )

    assert of_sessions(found) == {("a", "berth-uni-sessions"): [reads("", "pods")]}


def test_slots_are_for_all_of_a_cluster_with_koordinator_and_for_none_without(tmp_path: Path) -> None:
    site = project.SITE.replace("- name: prod", "- {name: prod, koordinator: {}, namespace: seats}")
    found = of_cluster(tmp_path, "prod", site=site)
    roles = {one["metadata"]["name"]: one["rules"] for one in of_kind("ClusterRole", found)}
    bindings = of_kind("ClusterRoleBinding", found)
    slots = {"apiGroups": ["scheduling.koordinator.sh"], "resources": ["reservations"]}

    assert roles == {
        "berth-occurrence.uni": [{**slots, "verbs": ["list", "create", "patch", "delete"]}],
        "berth-sweep.uni": [{**slots, "verbs": ["list", "create", "delete"]}],
    }
    assert [(one["roleRef"], one["subjects"]) for one in bindings] == [
        (
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": f"{account}.uni"},
            [{"kind": "ServiceAccount", "name": account, "namespace": "seats"}],
        )
        for account in ("berth-occurrence", "berth-sweep")
    ]
    assert not [one for one in of_cluster(tmp_path, "lab", site=site) if "Cluster" in one["kind"]]
