"""What is told of a cluster in which a CapacityBuffer holds the seats of a course."""

from typing import Any

import pytest

from tests.live import happenings
from tests.live.judged import status, told
from tests.live.project import COURSE, SITE, Project, project
from tests.live.world import World

NAME = "course-small"
OPEN = "2026-02-02T08:30:00Z"
LEAD = "2026-02-02T07:57:00Z"
KARPENTER = "{name: prod, autoscaler: karpenter, karpenter: {gates: {CapacityBuffer: true}}}"
BUFFERED = COURSE.replace("spec:\n", "spec:\n  backend: {type: capacityBuffer}\n")
SEE = "kubectl --context=admin@prod --namespace=berth describe capacitybuffer/course-small"
ROW = "course/small active 2026-02-02T07:30:00Z 2026-02-02T12:00:00Z"
SCALED = "2026-02-02T07:30:05Z"


def condition(kind: str, status: str, reason: str, **more: Any) -> dict[str, Any]:
    known = {"type": kind, "status": status, "reason": reason, "message": f"it is {reason}"}
    return {**known, "lastTransitionTime": SCALED, **more}


ROOM = condition("Provisioning", "True", "FitsExistingCapacity", observedGeneration=2)
NO_ROOM = condition("Provisioning", "False", "RequiresNewCapacity", observedGeneration=2)
INJECTED = condition("Provisioning", "True", "FakePodsInjected")


def course(replicas: int, *conditions: dict[str, Any]) -> tuple[World, Project]:
    git = project(site=SITE.replace("{name: prod}", KARPENTER), course=BUFFERED)
    world = World(git.objects["prod"])
    world.run("course")
    world.get("CronJob", "berth-sweep")["status"] = {"lastSuccessfulTime": "2026-02-02T18:00:00Z"}
    found = world.get("CapacityBuffer", NAME)
    found["spec"]["replicas"] = replicas
    found["status"] = {"replicas": replicas, "conditions": list(conditions)}
    scaled = {"manager": "berth-scaler", "time": SCALED, "fieldsV1": {"f:spec": {"f:replicas": {}}}}
    found["metadata"] |= {"generation": 2, "managedFields": [scaled]}
    return world, git


def test_an_open_buffer_with_nodes_has_no_finding() -> None:
    assert told(status(*course(25, ROOM), OPEN)) == f"{ROW} 25 25 0 0\n"


def test_sessions_reduce_the_wanted_seats() -> None:
    world, git = course(24, ROOM)
    world.session("jupyter-ada")

    assert told(status(world, git, OPEN)) == f"{ROW} 24 24 0 1\n"


@pytest.mark.parametrize(
    ("now", "finding"),
    [
        pytest.param(LEAD, f"warning[S032] course/small 2026-02-02T08:00:00Z 25 {SEE}\n", id="lead"),
        pytest.param(OPEN, f"error[S043] course/small 2026-02-02T08:00:00Z 25 {SEE}\n", id="started"),
    ],
)
def test_a_buffer_that_still_needs_nodes_gets_a_finding(now: str, finding: str) -> None:
    state = "degraded" if finding.startswith("error") else "active"

    assert told(status(*course(25, NO_ROOM), now)) == f"{ROW} 25 0 0 0\n{finding}".replace("active", state)


def test_the_condition_provisioning_of_cluster_autoscaler_leaves_ready_unknown() -> None:
    assert told(status(*course(25, INJECTED), OPEN)) == f"{ROW} 25 ? 0 0\n"


@pytest.mark.parametrize("one", [ROOM, NO_ROOM], ids=["room", "no-room"])
def test_a_condition_of_an_older_generation_is_unknown_first_and_then_gets_s041(one: dict[str, Any]) -> None:
    old = course(25, {**one, "observedGeneration": 1})

    assert told(status(*old, "2026-02-02T07:31:00Z")) == f"{ROW} 25 ? 0 0\n"
    assert "S041" in told(status(*old, OPEN))


@pytest.mark.parametrize(
    "conditions",
    [
        pytest.param((), id="nobody-looks"),
        pytest.param((condition("ReadyForProvisioning", "False", "ResolutionFailed"),), id="not-resolved"),
        pytest.param((NO_ROOM, condition("LimitedByQuotas", "True", "Quota")), id="quota"),
    ],
)
def test_a_buffer_that_the_autoscaler_does_not_maintain_gets_s041(
    conditions: tuple[dict[str, Any], ...],
) -> None:
    found = told(status(*course(25, *conditions), LEAD))

    assert "warning[S041] course/small" in found
    assert SEE in found


def test_seats_left_after_the_window_get_s033_with_a_command() -> None:
    found = told(status(*course(25, ROOM), "2026-02-02T18:00:00Z"))

    assert "error[S033] course/small" in found
    assert (
        "kubectl --context=admin@prod --namespace=berth patch capacitybuffer/course-small --type=merge "
        """--patch='{"spec":{"replicas":0}}'""" in found
    )


def test_a_missing_buffer_gets_s030() -> None:
    world, git = course(25)
    world.vanish("CapacityBuffer", NAME)

    assert "error[S030] course/small CapacityBuffer" in told(status(world, git, OPEN))


def test_a_template_that_differs_from_git_gets_s022() -> None:
    world, git = course(25, ROOM)
    world.get("PodTemplate", NAME)["template"]["spec"]["nodeSelector"] = {"pool": "other"}

    assert "warning[S022] course/small" in told(status(world, git, OPEN))


def test_placeholders_of_the_previous_backend_are_shown_beside_the_buffer() -> None:
    """The course was of backend placeholder; its Deployment has the name of the buffer."""
    world, git = course(25, ROOM)
    before = project(course=COURSE)
    deployment = next(object_ for object_ in before.objects["prod"] if object_["kind"] == "Deployment")
    world.apply_rendered(deployment)
    world.get("Deployment", NAME)["spec"]["replicas"] = 25
    found = told(status(world, git, happenings.NOW))

    assert f"{ROW} 25 25 0 0\n{ROW} 0 0 0 0\nnote[S034] course/small 25" in found
