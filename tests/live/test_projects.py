"""What is told of other projects than the usual one: behaviours and sources, rivals, what git has lost."""

import pytest

from tests.live import project
from tests.live.happenings import NOW, in_order
from tests.live.judged import rows, status, told
from tests.live.turns import NO_ROOM, pending
from tests.live.world import World

OTHER = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: other}
spec:
  resourceClass: small
  recurrence:
    type: dates
    dates: [2026-02-02]
    schedule: [{startTime: "09:00", endTime: "11:00"}]
  provisioning: {placeholderCount: 3, leadTimeMinutes: 0, scaleDownBehavior: none}
  sessions: {matchLabels: {course: other}}
"""
ANY_CLASS = """\
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: any}
spec:
  requests: {cpu: "1"}
  sessions: {source: pods, namespaces: [hub]}
"""
GONE = "warning[S023] other"


def changed(old: str, new: str, text: str = project.COURSE) -> str:
    assert old in text
    return text.replace(old, new)


def test_status_assigns_shared_sessions_as_the_scaler_does() -> None:
    """Two that fit both go to the one that asks for their label; its placeholders stay, whoever comes."""
    git = project.project(other=OTHER)
    world = in_order(git)
    world.session("other-1", course="other")
    world.session("other-2", course="other")
    world.run("other", name="other-1-abcde")
    world.scale("other-small", 3, "berth-scaler", "2026-02-02T08:00:05Z", ready=1)

    assert told(status(world, git)) == (
        "course/small active 2026-02-02T07:30:00Z 2026-02-02T12:00:00Z 20 20 0 5\n"
        "other/small active 2026-02-02T08:00:00Z 2026-02-02T10:00:00Z 3 1 0 2\n"
    )


def test_a_session_counts_for_the_most_specific_class() -> None:
    git = project.project(
        other=ANY_CLASS + "---\n" + changed("{course: other}", "{}", changed("small", "any", OTHER))
    )
    world = in_order(git)
    world.run("other", name="other-1-abcde")
    world.scale("other-any", 3, "berth-scaler", "2026-02-02T08:00:05Z", ready=3)
    world.pod("large-1", {"component": "singleuser-server", "size": "large"}, namespace="hub")

    assert [row[-1] for row in rows(status(world, git))] == [5, 1]


BY_LABEL = changed("[hub]", "{matchLabels: {home: yours}}", project.CLASS)


def labeled() -> tuple[project.Project, World]:
    """Five sessions in a namespace that has the label, and one in another."""
    git = project.project(**{"class": BY_LABEL})
    world = in_order(git)
    world.apply_rendered({"kind": "Namespace", "metadata": {"name": "hub", "labels": {"home": "yours"}}})
    world.apply_rendered({"kind": "Namespace", "metadata": {"name": "lab", "labels": {"home": "mine"}}})
    world.pod("elsewhere", {"component": "singleuser-server", "size": "small"}, namespace="lab")
    return git, world


def test_sessions_count_in_the_namespaces_that_have_the_label() -> None:
    git, world = labeled()

    assert [row[-1] for row in rows(status(world, git))] == [5]
    world.get("Namespace", "lab")["metadata"]["labels"] = {"home": "yours"}
    assert [row[-1] for row in rows(status(world, git))] == [6]


@pytest.mark.parametrize(
    ("kind", "name"),
    [("ClusterRole", "berth-sessions.uni"), ("ClusterRoleBinding", "berth-sessions.uni.course")],
)
def test_a_missing_cluster_wide_permission_gets_s085(kind: str, name: str) -> None:
    git, world = labeled()
    assert "S085" not in told(status(world, git))
    world.drop(world.get(kind, name))
    (finding,) = [one for pool in status(world, git).pools for one in pool.findings if one.code == "S085"]

    assert (f"{kind} {name}" in finding.message, "list pods" in finding.message) == (True, True)


@pytest.mark.parametrize("kind", ["clusterroles", "clusterrolebindings"])
def test_s085_is_not_reported_without_permission_to_list_cluster_roles(kind: str) -> None:
    git, world = labeled()
    world.refused[f"/apis/rbac.authorization.k8s.io/v1/{kind}?"] = "HTTP 403: no"
    world.drop(world.get("ClusterRole", "berth-sessions.uni"))

    assert "S085" not in told(status(world, git))


@pytest.mark.parametrize("path", ["/api/v1/namespaces", "/api/v1/pods"])
def test_sessions_are_unknown_without_cluster_wide_list_permission(path: str) -> None:
    git, world = labeled()
    world.refused[f"{path}?"] = "HTTP 403: no"

    assert [row[-1] for row in rows(status(world, git))] == [None]
    assert "S004" in told(status(world, git))


def test_a_class_with_a_named_namespace_precedes_one_with_a_namespace_label() -> None:
    git, world = labeled()
    git = project.project(
        **{"class": BY_LABEL},
        other=ANY_CLASS + "---\n" + changed("{course: other}", "{}", changed("small", "any", OTHER)),
    )
    world = in_order(git)
    world.apply_rendered({"kind": "Namespace", "metadata": {"name": "hub", "labels": {"home": "yours"}}})
    world.run("other", name="other-1-abcde")

    assert [row[-1] for row in rows(status(world, git))] == [0, 5]


def test_reduce_wants_fewer_seats_as_time_passes() -> None:
    """20 seats are free, and three quarters of the time are left."""
    git = project.project(course=changed("maintain", "reduce"))

    assert rows(status(in_order(git), git))[0][4] == 15


def test_none_wants_all_seats_even_if_sessions_are_unknown() -> None:
    git = project.project(course=changed("maintain", "none"))
    world = in_order(git)
    world.scale("course-small", 25, "berth-scaler", "2026-02-02T07:30:03Z", ready=20)
    world.refused["/api/v1/namespaces/hub/"] = "HTTP 403: no"

    assert rows(status(world, git))[0][4:] == (25, 20, 0, None)


def test_renku_sessions_count_by_class_if_project_templates_are_unknown() -> None:
    sessions = "  sessions: {source: renku, namespaces: [hub]}\n  renkuId: 5"
    one = changed(project.CLASS[project.CLASS.index("  sessions") :].rstrip(), sessions, project.CLASS)
    course = f"{project.COURSE}  sessions: {{projectTemplate: 01JC3CB5426KC7P5STS5X3KSS8}}\n"
    git = project.project(**{"class": one}, course=course)
    world = in_order(git)
    for n, (number, state) in enumerate(
        [("5", "Running"), ("5", "NotReady"), ("5", "Failed"), ("6", "Running")]
    ):
        annotations = {"renku.io/resource_class_id": number, "renku.io/project_id": "01JC"}
        metadata = {"name": f"s{n}", "namespace": "hub", "annotations": annotations}
        world.apply_rendered({"kind": "AmaltheaSession", "metadata": metadata, "status": {"state": state}})
    world.scale("course-small", 23, "berth-scaler", "2026-02-02T08:40:00Z")

    assert told(status(world, git)) == (
        "course/small active 2026-02-02T07:30:00Z 2026-02-02T12:00:00Z 23 23 0 2\nnote[S004] small\n"
    )


def test_a_class_without_session_recognition_gets_no_finding() -> None:
    one = project.CLASS[: project.CLASS.index("  sessions")]
    git = project.project(**{"class": one}, course=changed("maintain", "none"))
    world = in_order(git)
    world.scale("course-small", 25, "berth-scaler", "2026-02-02T07:30:03Z")

    assert told(status(world, git)) == (
        "course/small active 2026-02-02T07:30:00Z 2026-02-02T12:00:00Z 25 25 0 ?\n"
    )


def test_a_reservation_removed_from_git_is_still_shown_while_it_exists() -> None:
    before = project.project(other=OTHER)
    world = in_order(before)
    world.run("other", name="other-1-abcde")
    world.scale("other-small", 3, "berth-scaler", "2026-02-02T08:00:05Z")

    assert told(status(world, project.project())) == (
        "course/small active 2026-02-02T07:30:00Z 2026-02-02T12:00:00Z 20 20 0 5\n"
        "other/small active 2026-02-02T08:00:00Z 2026-02-02T10:00:00Z 3 3 0 0\n"
        f"{GONE}\n"
    )


def test_a_deployment_without_timetable_gets_s033_for_its_placeholders() -> None:
    before = project.project(other=OTHER)
    world = in_order(before)
    world.vanish("ConfigMap", "other")
    world.vanish("CronJob", "other")
    world.scale("other-small", 3, "berth-scaler", "2026-02-02T08:00:05Z")

    assert told(status(world, project.project())).splitlines()[1:] == [
        "other/small degraded ? ? 0 3 0 0",
        GONE,
        "error[S033] other/small 3 "
        "kubectl --context=admin@prod --namespace=berth scale deployment/other-small --replicas=0",
    ]


def test_findings_give_the_advice_of_the_engine_and_autoscaler() -> None:
    site = project.SITE.replace("engine: argocd", "engine: none").replace(
        "{name: prod}", "{name: prod, autoscaler: karpenter}"
    )
    git = project.project(site=site)
    world = in_order(project.project(site=site, other=OTHER))
    world.vanish("ConfigMap", "course")

    assert [line for line in told(status(world, git)).splitlines() if "[S02" in line] == [
        "warning[S022] course "
        "kubectl --context=admin@prod apply -f rendered/clusters/prod/reservations/course.yaml",
        "warning[S023] other 16",
    ]


def test_a_suspended_reservation_is_scheduled_and_an_ended_one_is_completed() -> None:
    git = project.project(course=f"{project.COURSE}  suspend: true\n")
    world = in_order(git)
    world.scale("course-small", 0, "berth-sweep", "2026-02-02T08:00:00Z")
    found = status(world, git)

    assert rows(found) == [("course/small", "scheduled", None, None, 0, 0, 0, 0)]
    assert (found.pools[0].remark, found.pools[0].findings) == ("suspended", ())
    git = project.project()
    world = in_order(git, "2026-03-01T00:00:00Z")
    world.scale("course-small", 0, "berth-scaler", "2026-02-09T12:00:00Z")
    assert rows(status(world, git, "2026-03-01T00:00:00Z"))[0][:4] == (
        "course/small",
        "completed",
        "2026-02-09T07:30:00Z",
        "2026-02-09T12:00:00Z",
    )


def test_one_look_makes_one_list_request_per_kind_and_session_source() -> None:
    """Of pods only those that wait, and ours that are not done; of sessions no more than metadata."""
    git = project.project(other=OTHER)
    world = in_order(git)
    status(world, git)

    ours = "berth.dev/site=uni"
    assert world.asked == [
        f"/api/v1/namespaces/berth/configmaps?{ours}",
        f"/api/v1/namespaces/berth/pods?{ours},berth.dev/resource-class?status.phase=Pending",
        f"/api/v1/namespaces/berth/pods?{ours},!berth.dev/resource-class?status.phase!=Succeeded",
        f"/apis/apps/v1/namespaces/berth/deployments?{ours}",
        "/apis/batch/v1/namespaces/berth/cronjobs?berth.dev/site",
        f"/apis/batch/v1/namespaces/berth/jobs?{ours}",
        f"/apis/coordination.k8s.io/v1/namespaces/berth/leases?{ours}",
        *(
            f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/{kind}?berth.dev/site"
            for namespace in ("berth", "hub")
            for kind in ("roles", "rolebindings")
        ),
        "/api/v1/namespaces/hub/pods?component=singleuser-server,size=small,!berth.dev/site"
        "?status.phase!=Succeeded,status.phase!=Failed",
        "/api/v1/namespaces/berth/events?reason=FailedCreate",
        f"/apis/batch/v1/cronjobs?{ours}",
        f"/apis/apps/v1/deployments?{ours}",
    ]


def test_at_rest_sessions_are_not_listed() -> None:
    git = project.project()
    world = in_order(git, "2026-02-01T00:00:00Z")
    world.scale("course-small", 0, "berth-scaler", "2026-01-26T12:00:00Z")

    assert rows(status(world, git, "2026-02-01T00:00:00Z"))[0][4:] == (0, 0, 0, 0)
    assert [path for path in world.asked if "hub/pods" in path] == []


def test_pages_of_a_list_are_combined() -> None:
    git = project.project()
    world = in_order(git)
    whole = told(status(world, git))
    world.page = 1

    assert told(status(world, git, NOW)) == whole


def test_advice_for_placeholders_without_room_names_the_autoscaler() -> None:
    site = project.SITE.replace("{name: prod}", "{name: prod, autoscaler: karpenter}")
    git = project.project(site=site)
    world = in_order(git)
    pending(world, 7, NO_ROOM)

    (pool,) = status(world, git).pools
    assert [finding.code for finding in pool.findings if "karpenter" in finding.fix] == ["S040"]


def test_a_malformed_session_makes_the_sessions_unknown() -> None:
    """No API server sends this; a proxy may send anything."""
    git = project.project()
    world = in_order(git)
    del world.session("odd")["metadata"]["uid"]

    assert told(status(world, git)).splitlines()[1].startswith("note[S004] small")
