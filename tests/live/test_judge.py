"""What is told of a cluster in which this or that has happened: from the objects of its API server, through
the facts, to the last word.
"""

from typing import Any

import pytest
from berth.live.clusterfacts import parse_deployment

from tests.live import project
from tests.live.happenings import CASES, NOW, Case, in_order
from tests.live.judged import expectations, looked_before, status, told
from tests.live.turns import NO_IMAGE, NO_ROOM
from tests.live.world import World

TOLD = expectations("expected.txt")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_status_reports_the_expected_lines_for_each_case(case: Case) -> None:
    git = project.project()
    world = in_order(git, case.now)
    case.happen(world)

    assert told(status(world, git, case.now, looked_before(case, world, git))) == TOLD[case.name]


UNCOUNTED = project.CLASS.replace(
    "  sessions: {source: jupyterhub, namespaces: [hub], selector: {matchLabels: {size: small}}}\n", ""
)
STAYING = project.COURSE.replace("maintain", "none")


@pytest.mark.parametrize(
    ("resource_class", "why", "is_broken"),
    [
        (UNCOUNTED, NO_IMAGE, True),
        (UNCOUNTED, NO_ROOM, True),
        (project.CLASS, NO_IMAGE, True),
        (project.CLASS, NO_ROOM, False),
    ],
    ids=["uncounted-no-image", "uncounted-no-room", "unknown-no-image", "unknown-no-room"],
)
def test_only_unknown_sessions_excuse_a_placeholder_without_room(
    resource_class: str, why: dict[str, Any], is_broken: bool
) -> None:
    """`none` holds all seats beside the sessions; how many there are is not known here."""
    world = in_order(git := project.project(**{"class": resource_class, "course": STAYING}))
    world.refused["/api/v1/namespaces/hub/"] = "HTTP 403: pods is forbidden"
    world.wait("course", 25, "2026-02-02T07:30:05Z", **why)
    world.scale("course-small", 25, "berth-scaler", "2026-02-02T07:30:03Z", ready=0)
    (pool,) = status(world, git).pools

    assert ("S043" in {finding.code for finding in pool.findings}) == is_broken


def test_the_file_of_expected_lines_has_exactly_the_cases() -> None:
    assert list(TOLD) == [case.name for case in CASES]


@pytest.mark.parametrize(
    ("role", "data"),
    [
        pytest.param("session-affinity", {"small.yaml": "{}"}, id="text-for-people"),
        pytest.param("record", {"records.json": "[]"}, id="record-of-the-scaler"),
    ],
)
def test_other_config_maps_of_a_reservation_are_no_timetables(role: str, data: dict[str, str]) -> None:
    git = project.project()
    plain, world = in_order(git, NOW), in_order(git, NOW)
    labels = {**known_labels(plain), "berth.dev/role": role}
    metadata = {"name": f"course-{role}", "namespace": "berth", "labels": labels}
    world.apply_rendered({"kind": "ConfigMap", "metadata": metadata, "data": data})

    assert told(status(world, git)) == told(status(plain, git))


def known_labels(world: World) -> dict[str, str]:
    """Those of a timetable."""
    found = (
        object_
        for object_ in world.objects
        if object_["kind"] == "ConfigMap" and "berth.dev/reservation" in object_["metadata"]["labels"]
    )
    labels: dict[str, str] = next(found)["metadata"]["labels"]
    return labels


@pytest.mark.parametrize(
    ("spec", "by"),
    [
        pytest.param("{}", "", id="created-without-replicas"),
        pytest.param('{"replicas":5}', "kubectl-client-side-apply", id="applied-with-replicas"),
    ],
)
def test_kubectl_apply_counts_as_scaler_only_if_it_sets_replicas(spec: str, by: str) -> None:
    """The API server makes it the owner of the default, too."""
    found = in_order(project.project()).get("Deployment", "course-small")
    found["metadata"]["annotations"] = {
        "kubectl.kubernetes.io/last-applied-configuration": f'{{"spec":{spec}}}\n'
    }
    entry = {"manager": "kubectl-client-side-apply", "fieldsV1": {"f:spec": {"f:replicas": {}}}}
    found["metadata"]["managedFields"] = [entry]

    assert parse_deployment(found).scaled_by == by
