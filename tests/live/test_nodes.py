"""What is told of a cluster in which the seats of a course are whole nodes."""

import json

from berth.core.jsonvalues import instant_text, parse_instant

from tests.live import slotproject
from tests.live.judged import looked, status, told
from tests.live.project import CLASS, COURSE, SITE, Project, project
from tests.live.world import World

NAME = "uni.course-small"
OPEN = "2026-02-02T08:30:00Z"
CLOUD = """\
apiVersion: berth.dev/v1alpha1
kind: CloudCapacity
metadata: {name: odcr}
spec:
  nodeClass:
    role: nodes
    subnetSelectorTerms: [{id: subnet-0a}]
    securityGroupSelectorTerms: [{id: sg-0a}]
    amiSelectorTerms: [{alias: al2023@v20260107}]
"""
KARPENTER = "{name: prod, autoscaler: karpenter, karpenter: {gates: {StaticCapacity: true}}}"


BOTH = "name: prod, koordinator: {},"


def nodes(cluster: str = "name: prod,") -> Project:
    files: dict[str, str | None] = {
        "site": SITE.replace("{name: prod}", KARPENTER.replace("name: prod,", cluster)),
        "class": CLASS.replace("spec:\n", "spec:\n  cloudCapacity: [odcr]\n"),
        "cloud": CLOUD,
        "course": COURSE.replace("placeholderCount: 25", "nodeCount: 3")
        .replace(", scaleDownBehavior: maintain", "")
        .replace("spec:\n", "spec:\n  backend: {type: nodePool}\n"),
    }
    return project(**files)


def course(replicas: int, ready: int | None = None, by: str = "berth-scaler") -> tuple[World, Project]:
    git = nodes()
    world = World(git.objects["prod"])
    world.run("course")
    world.get("CronJob", "berth-sweep")["status"] = {"lastSuccessfulTime": "2026-02-02T18:00:00Z"}
    world.scale(NAME, replicas, by, "2026-02-02T07:30:05Z", ready)
    return world, git


def test_an_open_node_pool_with_all_nodes_has_no_finding() -> None:
    assert told(status(*course(3), OPEN)) == (
        "course/small active 2026-02-02T07:30:00Z 2026-02-02T12:00:00Z 3 3 0 0\n"
    )


def test_sessions_do_not_reduce_the_wanted_nodes() -> None:
    world, git = course(3, 2)
    world.session("jupyter-ada")

    assert told(status(world, git, "2026-02-02T07:57:00Z")) == (
        "course/small active 2026-02-02T07:30:00Z 2026-02-02T12:00:00Z 3 2 0 1\n"
        "warning[S032] course/small 1 2026-02-02T08:00:00Z 3 "
        "kubectl --context=admin@prod describe nodepool/uni.course-small\n"
    )


def test_nodes_left_after_the_window_get_s033_with_a_command() -> None:
    assert told(status(*course(3), "2026-02-02T18:00:00Z")) == (
        "course/small degraded 2026-02-09T07:30:00Z 2026-02-09T12:00:00Z 0 3 0 0\n"
        "error[S033] course/small 2026-02-02T12:00:00Z 3 "
        "kubectl --context=admin@prod scale nodepool/uni.course-small --replicas=0\n"
    )


def test_a_missing_node_pool_gets_s030() -> None:
    world, git = course(3)
    world.vanish("NodePool", NAME)

    assert told(status(world, git, OPEN)) == (
        "course/small degraded 2026-02-02T07:30:00Z 2026-02-02T12:00:00Z 3 ? 0 0\n"
        "error[S030] course/small NodePool rendered/clusters/prod/reservations/course.yaml\n"
    )


def test_a_template_that_differs_from_git_gets_s022_with_both_values() -> None:
    world, git = course(3)
    world.get("NodePool", NAME)["spec"]["template"]["spec"] |= {"expireAfter": "24h"}
    world.get("NodePool", NAME)["spec"]["template"]["spec"]["nodeClassRef"]["name"] = "old"

    assert told(status(world, git, OPEN)) == (
        "course/small active 2026-02-02T07:30:00Z 2026-02-02T12:00:00Z 3 3 0 0\n"
        'warning[S022] course/small "old" "uni.cloud.odcr" rendered/clusters/prod/reservations/course.yaml\n'
    )


def test_missing_nodes_get_s030_with_a_command_for_the_logs() -> None:
    world, git = course(1)
    earlier = looked(world, git, instant_text(parse_instant(OPEN) - 60))

    assert [
        splitline for splitline in told(status(world, git, OPEN, earlier)).splitlines() if "S030" in splitline
    ] == [
        "error[S030] course/small 1 2 3 "
        "kubectl --context=admin@prod --namespace=berth logs "
        "--selector=berth.dev/reservation=course,berth.dev/role=occurrence --all-containers --tail=20"
    ]


def test_nodes_that_only_git_opens_get_s020() -> None:
    world, git = course(0)
    timetable = json.loads(world.get("ConfigMap", "course")["data"]["timetable.json"])
    world.get("ConfigMap", "course")["data"]["timetable.json"] = json.dumps({**timetable, "occurrences": []})

    assert [
        splitline for splitline in told(status(world, git, OPEN)).splitlines() if "S020" in splitline
    ] == ["error[S020] course/small 2026-02-02T07:30:00Z 3 rendered/clusters/prod/reservations/course.yaml"]


def test_slots_of_the_previous_backend_get_s033_beside_the_nodes() -> None:
    """The course was of backend koordinator until a minute ago."""
    before = slotproject.slots(site=SITE.replace("{name: prod}", KARPENTER.replace("name: prod,", BOTH)))
    world, git = slotproject.in_order(before), nodes(BOTH)
    world.objects = [object_ for object_ in world.objects if object_["metadata"]["name"] != "course"]
    for object_ in git.objects["prod"]:
        if object_["kind"] == "NodePool" or (object_["kind"], object_["metadata"]["name"]) == (
            "ConfigMap",
            "course",
        ):
            world.apply_rendered(object_)
    world.scale(NAME, 3, "berth-scaler", "2026-02-02T07:30:05Z")

    assert [
        splitline
        for splitline in told(status(world, git, "2026-02-02T09:00:00Z")).splitlines()
        if "S033" in splitline
    ] == [
        "error[S033] course/small 25 "
        "kubectl --context=admin@prod delete reservations.scheduling.koordinator.sh "
        "--selector='berth.dev/site=uni,berth.dev/reservation=course,berth.dev/resource-class=small,berth.dev/role=slot,!berth.dev/standing'"
    ]


def test_a_node_pool_without_replicas_is_ignored() -> None:
    world, git = course(3)
    other = {"kind": "NodePool", "metadata": {"name": "x", "labels": {"berth.dev/site": "uni"}}, "spec": {}}
    world.apply_rendered(other)

    assert told(status(world, git, OPEN)).count("\n") == 1
