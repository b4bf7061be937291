"""What our ServiceAccounts may do: exactly what is configured, in the cluster where it is configured."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from berth import cli
from berth.backends.koordinator.koordinatorbackend import BACKEND
from berth.schema.reservationspec import Rehearses

from tests.cli import project
from tests.manifests.parts import Object, objects, of_cluster, of_kind, of_part, small
from tests.manifests.slotparts import SLOTS, altered, evening

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


def base(folder: Path, cluster: str, *sessions: str) -> list[Object]:
    """The base of a cluster in which classes have these sessions, beside those of the small project."""
    classes = [
        CLASS.format(name=f"class-{i}", cluster=cluster, number=i, sessions=text)
        for i, text in enumerate(sessions)
    ]
    return of_cluster(folder, cluster, classes=project.CLASSES + "".join(classes))


def roles(found: list[Object]) -> dict[tuple[str, str], Any]:
    """Rules by namespace and name."""
    return {
        (one["metadata"]["namespace"], one["metadata"]["name"]): one["rules"]
        for one in of_kind("Role", found)
    }


def of_sessions(found: list[Object]) -> dict[tuple[str, str], Any]:
    return {place: rules for place, rules in roles(found).items() if "-sessions" in place[1]}


def reads(group: str, *resources: str) -> Object:
    return {"apiGroups": [group], "resources": list(resources), "verbs": ["list", "watch"]}


PODS = "{source: pods, namespaces: [b, a]}"


def course(folder: Path, behaviour: str, sessions: str = PODS, other: str = PODS) -> list[Object]:
    """The objects of the course with seats of a class that has these sessions; another class has others."""
    text = project.COURSE.replace("resourceClass: small", "resourceClass: there")
    text = text.replace("Behavior: none", f"Behavior: {behaviour}")
    classes = project.CLASSES + CLASS.format(name="there", cluster="prod", number=1, sessions=sessions)
    classes += CLASS.format(name="other", cluster="prod", number=2, sessions=other)
    site, parts = small(folder, course=text, classes=classes)
    return of_part(site, parts["course/prod"])


def grants(found: list[Object], kind: str) -> dict[tuple[str, str], str]:
    """The roles of bindings, by namespace and name."""
    return {
        (one["metadata"].get("namespace", ""), one["metadata"]["name"]): one["roleRef"]["name"]
        for one in of_kind(kind, found)
    }


@pytest.mark.parametrize("behaviour", ["none", "maintain", "reduce"])
def test_a_reservation_reads_all_timetables_and_the_sessions_that_it_counts(
    tmp_path: Path, behaviour: str
) -> None:
    found, counts = course(tmp_path, behaviour), behaviour != "none"
    read = ["a", "b"] if counts else []

    assert (reads("", "configmaps") in roles(found)["berth", "course"]) == counts
    assert grants(found, "RoleBinding") == {
        ("berth", "course"): "course",
        **{(namespace, "berth-uni.course"): "berth-uni-sessions" for namespace in read},
    }
    account = {"kind": "ServiceAccount", "name": "course", "namespace": "berth"}
    assert all(one["subjects"] == [account] for one in of_kind("RoleBinding", found))


READS = {"apiGroups": [""], "resources": ["events", "pods"], "verbs": ["list"]}


def test_only_a_rehearsal_reads_pods_and_events(tmp_path: Path) -> None:
    """In our namespace alone: its Jobs find out why placeholders are missing."""
    site, parts = small(tmp_path, try_=project.REHEARSAL)
    found = {name: roles(of_part(site, parts[f"{name}/prod"])) for name in ("course", "try")}

    assert READS not in found["course"]["berth", "course"]
    assert READS in found["try"]["berth", "try"]


@pytest.mark.parametrize("comes_first", [False, True])
def test_a_rehearsal_with_slots_reads_pods_only_if_placeholders_come_first(
    tmp_path: Path, comes_first: bool
) -> None:
    slots = altered(SLOTS, with_placeholders=comes_first)
    rehearses = Rehearses.model_validate({"name": "course", "date": "2026-02-02"})
    _, part = evening(tmp_path, slots, rehearses=rehearses)

    assert (READS in [*BACKEND.scaling_rules(part.placed)]) == comes_first


# Slots and placeholders have names only once they are there.
UNNAMED = ["events"], ["reservations"], ["pods/status"]


def test_no_account_may_change_objects_of_another_reservation(tmp_path: Path) -> None:  # noqa: C901
    """In all that is rendered of this repository, and with each backend. Records are not rendered.

    Objects of others whose numbers are held are no reservation's.
    """
    shutil.copytree(Path(__file__).with_name("golden"), tmp_path / "reservations")
    assert cli.run(["-C", str(tmp_path), "render", "--quiet"]) == 0
    for folder in (*RENDERED.iterdir(), tmp_path / "rendered/clusters/prod"):
        found = [object_ for file in folder.rglob("*.yaml") for object_ in objects(file.read_text("utf-8"))]
        labels = {
            (one["kind"].lower() + "s", one["metadata"]["name"]): one["metadata"].get("labels", {})
            for one in found
        }
        rules = {
            (one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]): one["rules"]
            for one in found
            if one["kind"] in ("Role", "ClusterRole")
        }
        timetables = [one["data"] for one in of_kind("ConfigMap", found) if "timetable.json" in one["data"]]
        told = [json.loads(data["timetable.json"]) for data in timetables]
        pools = {
            pool["deployment"]: one["reservation"] for one in told for pool in one["pools"].values()
        }  # whose Leases have their names
        accounts = {one["metadata"]["name"]: one for one in of_kind("ServiceAccount", found)}
        bindings = [*of_kind("RoleBinding", found), *of_kind("ClusterRoleBinding", found)]
        for one in bindings:
            (subject,) = one["subjects"]
            ours = accounts[subject["name"]]["metadata"]
            if one["roleRef"]["name"].startswith("berth-occurrence-held."):
                continue
            place = (one["roleRef"]["kind"], one["metadata"].get("namespace"), one["roleRef"]["name"])
            assert subject["namespace"] == ours["namespace"]
            reservation = ours["labels"].get("berth.dev/reservation")
            if not reservation:
                assert subject["name"] == "berth-sweep"
                continue
            assert one["metadata"]["labels"]["berth.dev/reservation"] == reservation
            for rule in rules[place]:
                may_change = {*rule["verbs"]} - {"get", "list", "watch"}
                if rule["resources"] in UNNAMED or not may_change:
                    continue
                for name in rule["resourceNames"]:
                    kind = rule["resources"][0].removesuffix("/scale")
                    is_record = name == f"{subject['name']}-record" or name.endswith(".held")
                    if kind == "leases":
                        assert name.endswith(".held") or pools[name] == reservation
                    elif kind != "configmaps" or not is_record:
                        assert labels[kind, name]["berth.dev/reservation"] == reservation
        for job in of_kind("CronJob", found):
            name = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["serviceAccountName"]
            one, other = job["metadata"]["labels"], accounts[name]["metadata"]["labels"]
            assert one.get("berth.dev/reservation") == other.get("berth.dev/reservation")


@pytest.mark.parametrize(("cluster", "prunes"), [("prod", False), ("lab", True)])
def test_the_sweep_deletes_roles_only_if_no_engine_prunes(tmp_path: Path, cluster: str, prunes: bool) -> None:
    namespace = "berth" if cluster == "prod" else "seats"
    rules = roles(base(tmp_path, cluster))[namespace, "berth-sweep"]
    may = {
        verb: {name for rule in rules if verb in rule["verbs"] for name in rule["resources"]}
        for verb in ("patch", "delete")
    }

    assert ({"rolebindings", "roles", "serviceaccounts"} <= may["delete"]) == prunes
    assert may["patch"] - {"deployments/scale", "jobs"} == {"configmaps" if prunes else "deployments"}


def test_no_role_reads_secrets_or_everything(tmp_path: Path) -> None:
    for cluster in ("prod", "lab"):
        for rules in roles(base(tmp_path, cluster, *NOTEBOOKS)).values():
            for rule in rules:
                assert not {"*", "secrets"} & {*rule["apiGroups"], *rule["resources"], *rule["verbs"]}


def test_roles_create_only_events_records_slots_and_jobs_of_the_sweep() -> None:
    """In all that is rendered of this repository. Whoever may make a Job may read every Secret beside it."""
    found = [object_ for file in RENDERED.rglob("*.yaml") for object_ in objects(file.read_text("utf-8"))]
    made = {
        (one["metadata"]["name"].startswith("berth-sweep"), verb, resource)
        for one in (*of_kind("Role", found), *of_kind("ClusterRole", found))
        for rule in one["rules"]
        for verb in {*rule["verbs"]} - HARMLESS
        for resource in rule["resources"]
        if resource != "configmaps" or [one[-7:] for one in rule.get("resourceNames", ())] != ["-record"]
        if resource != "leases" or not rule.get("resourceNames")
    }

    assert made == {
        (False, "create", "events"),
        (False, "create", "reservations"),
        (True, "create", "events"),
        (True, "create", "jobs"),
        (True, "create", "reservations"),
    }


def test_each_session_kind_of_a_namespace_has_a_role_in_any_class_order(tmp_path: Path) -> None:
    """The first has a name without its kind, as nearly every namespace has one only."""
    sessions = (*NOTEBOOKS, "{source: renku, namespaces: [a]}", "{source: jupyterhub, namespaces: [b, b]}")
    found, turned = base(tmp_path, "prod", *sessions), base(tmp_path, "prod", *reversed(sessions))

    assert list(of_sessions(found).items()) == [
        (("a", "berth-uni-sessions"), [reads("", "services")]),
        (
            ("a", "berth-uni-sessions.amaltheasessions.amalthea.dev"),
            [reads("amalthea.dev", "amaltheasessions")],
        ),
        (("a", "berth-uni-sessions.experiments.kubeflow.org"), [reads("kubeflow.org", "experiments")]),
        (("a", "berth-uni-sessions.notebooks.kubeflow.org"), [reads("kubeflow.org", "notebooks")]),
        (("b", "berth-uni-sessions"), [reads("", "pods")]),
        (("b", "berth-uni-sessions.notebooks.kubeflow.org"), [reads("kubeflow.org", "notebooks")]),
    ]
    assert turned == found


EXPERIMENTS = "experiments.kubeflow.org"


@pytest.mark.parametrize(
    ("sessions", "other", "role"),
    [
        (PODS.replace("b, ", ""), NOTEBOOKS[1], {"berth-uni.course": "berth-uni-sessions"}),
        (
            NOTEBOOKS[1],
            PODS,
            {f"berth-uni.course.{EXPERIMENTS}": f"berth-uni-sessions.{EXPERIMENTS}"},
        ),
    ],
    ids=["pods", "experiments"],
)
def test_a_reservation_reads_only_the_kind_of_its_own_classes(
    tmp_path: Path, sessions: str, other: str, role: dict[str, str]
) -> None:
    """Another class of the cluster has sessions of other kinds in the same namespace."""
    found = grants(course(tmp_path, "maintain", sessions, other), "RoleBinding")

    assert {name: bound for (namespace, name), bound in found.items() if namespace == "a"} == role
    assert len(found) == 2


BY_LABEL = (
    "{source: pods, namespaces: {matchLabels: {home: a}}}",
    NOTEBOOKS[0].replace("[b, a]", "{matchLabels: {home: a}}"),
)


def test_namespace_labels_grant_access_by_a_cluster_role_in_the_base(tmp_path: Path) -> None:
    """One for each kind; and who looks for labels lists namespaces."""
    found = base(tmp_path, "prod", *BY_LABEL, NOTEBOOKS[1], "{source: jupyterhub, namespaces: [a]}")

    assert of_sessions(found) == {
        ("a", "berth-uni-sessions"): [reads("", "pods")],
        ("a", "berth-uni-sessions.experiments.kubeflow.org"): [reads("kubeflow.org", "experiments")],
    }
    assert {one["metadata"]["name"]: one["rules"] for one in of_kind("ClusterRole", found)} == {
        "berth-sessions.uni": [reads("", "pods"), reads("", "namespaces")],
        "berth-sessions.uni.notebooks.kubeflow.org": [
            reads("kubeflow.org", "notebooks"),
            reads("", "namespaces"),
        ],
    }
    assert of_kind("ClusterRoleBinding", found) == []


@pytest.mark.parametrize(
    ("behaviour", "sessions", "bound"),
    [
        ("none", BY_LABEL[0], {}),
        ("maintain", BY_LABEL[0], {"berth-sessions.uni.course": "berth-sessions.uni"}),
        (
            "maintain",
            BY_LABEL[1],
            {
                "berth-sessions.uni.course.notebooks.kubeflow.org": (
                    "berth-sessions.uni.notebooks.kubeflow.org"
                )
            },
        ),
    ],
    ids=["counts-none", "pods", "notebooks"],
)
def test_only_a_reservation_that_counts_by_namespace_label_reads_the_whole_cluster(
    tmp_path: Path, behaviour: str, sessions: str, bound: dict[str, str]
) -> None:
    """Another class of the cluster has pods in namespaces with a label, too."""
    found = course(tmp_path, behaviour, sessions, BY_LABEL[0])
    bindings = of_kind("ClusterRoleBinding", found)

    assert grants(found, "ClusterRoleBinding") == {("", name): role for name, role in bound.items()}
    assert all(one["metadata"]["labels"]["berth.dev/reservation"] == "course" for one in bindings)
    subject = {"kind": "ServiceAccount", "name": "course", "namespace": "berth"}
    assert all(one["subjects"] == [subject] for one in bindings)
    assert len(of_kind("RoleBinding", found)) == 1  # in our namespace


def test_sessions_of_another_cluster_grant_no_access(tmp_path: Path) -> None:
    classes = project.CLASSES + CLASS.format(
        name="there", cluster="lab", number=1, sessions="{source: pods, namespaces: [a]}"
    )

    assert of_sessions(of_cluster(tmp_path, "prod", classes=classes)) == {}
    assert of_sessions(of_cluster(tmp_path, "lab", classes=classes)) == {
        ("a", "berth-uni-sessions"): [reads("", "pods")]
    }


def test_slots_get_cluster_roles_only_in_koordinator_clusters(tmp_path: Path) -> None:
    site = project.SITE.replace("- name: prod", "- {name: prod, koordinator: {}, namespace: seats}")
    found = of_cluster(tmp_path, "prod", site=site)
    roles = {one["metadata"]["name"]: one["rules"] for one in of_kind("ClusterRole", found)}
    bindings = of_kind("ClusterRoleBinding", found)
    slots = {"apiGroups": ["scheduling.koordinator.sh"], "resources": ["reservations"]}

    assert roles == {
        "berth-occurrence.uni": [{**slots, "verbs": ["list", "create", "patch", "delete"]}],
        "berth-sweep.uni": [{**slots, "verbs": ["list", "create", "delete"]}],
    }
    assert [(binding["roleRef"], binding["subjects"]) for binding in bindings] == [
        (
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "berth-sweep.uni"},
            [{"kind": "ServiceAccount", "name": "berth-sweep", "namespace": "seats"}],
        )
    ]
    assert not [one for one in of_cluster(tmp_path, "lab", site=site) if "Cluster" in one["kind"]]
