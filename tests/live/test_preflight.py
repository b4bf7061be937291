"""`berth preflight`: what it proves, what it tells, and that nothing of it stays."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from berth.cli import preflightreport as command
from berth.live.expected import expected_states
from berth.live.preflight import PreflightClock, job_of, trial_job
from berth.manifests.rbac import Access
from berth.pipeline import Pipeline

from tests.live import project
from tests.live.api_server import ApiServer
from tests.live.conftest import Live
from tests.live.happenings import NOW, in_order
from tests.live.judged import status, told, wordless
from tests.live.sites import two
from tests.live.slotproject import CLASS, COURSE, SITE
from tests.live.turns import NO_IMAGE, not_created, other_site
from tests.live.world import World

IN_ORDER = """\
CLUSTER  RESERVATION  CHECK        OBJECT            RESULT
prod                  sweep        berth-sweep       ok
prod                  permissions  berth-sweep       ok
prod     course       Job          course            ok
prod     course       placeholder  course-small      ok
prod     course       permissions  course            ok
prod     course       test Job     course-preflight  ok after 0 s
"""
FORBIDDEN = (
    'jobs.batch is forbidden: User "me" cannot create resource "jobs" in API group "batch" in the namespace'
)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Time passes only where somebody waits."""
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(command, "CLOCK", PreflightClock(lambda: now[0], sleep))
    return now


def preflight(live: Live, *words: str) -> tuple[int, list[str]]:
    """The exit code, and what is told below the table without sentences."""
    code, out, err = live("preflight", *words)
    assert err == ""
    return code, wordless(out).partition("\n\n")[2].splitlines()


def kinds(lines: list[str]) -> list[str]:
    """The findings as `error[S074]`."""
    return [found for line in lines for found in re.findall(r"\w+\[S\d{3}\]", line)]


def objects(world: World) -> list[str]:
    return sorted(json.dumps(object_, sort_keys=True) for object_ in world.objects)


def cronjob(world: World) -> dict[str, Any]:
    return world.get("CronJob", "course")


def test_preflight_proves_everything_and_leaves_nothing_behind(live: Live) -> None:
    before = objects(live.world)

    assert live("preflight") == (0, IN_ORDER, "")
    assert objects(live.world) == before
    assert [(one["kind"], one["dryRun"]) for one in live.world.created] == [
        *(("Job", "All"), ("Pod", "All")) * 2,
        ("Pod", "All"),
        ("Job", None),
    ]


def test_a_second_site_in_the_namespace_gets_s086_before_it_is_applied(live: Live) -> None:
    """Both would have a sweep, an inventory and code of the same names. The first is told, too."""
    live.world.objects = [object_ for object_ in live.world.objects if object_["kind"] == "Namespace"]
    other_site(live.world)
    code, lines = preflight(live)

    assert (code, kinds(lines)[0]) == (1, "error[S086]")


def test_preflight_creates_jobs_and_pods_with_their_real_specs(live: Live) -> None:
    live("preflight")
    job, pod, seat = live.world.created[2:5]
    template = cronjob(live.world)["spec"]["jobTemplate"]

    assert job["spec"] == template["spec"]
    assert pod["spec"] == template["spec"]["template"]["spec"]
    assert seat["spec"] == live.world.get("Deployment", "course-small")["spec"]["template"]["spec"]


def test_the_test_job_has_the_pod_of_the_job_without_its_commands() -> None:
    world = in_order(project.project())
    theirs, ours = job_of(cronjob(world)), trial_job(cronjob(world), 60)
    pods = [one["spec"]["template"]["spec"] for one in (theirs, ours)]
    containers = [[*pod.get("initContainers", ()), *pod["containers"]] for pod in pods]

    assert [{**container, "command": []} for container in containers[1]] == [
        {**container, "command": []} for container in containers[0]
    ]
    assert all(container["command"][:2] == ["python", "-c"] for container in containers[1])
    assert containers[1][-1]["command"][2] == "import sys"
    assert ours["metadata"]["name"] == "course-preflight"
    assert (ours["spec"]["backoffLimit"], ours["spec"]["activeDeadlineSeconds"]) == (0, 90)
    assert ours["spec"]["ttlSecondsAfterFinished"] == 60


def test_status_ignores_the_test_job_and_its_labels_name_no_reservation() -> None:
    git = project.project()
    world = in_order(git)
    before = told(status(world, git))
    job = trial_job(cronjob(world), 60)
    world.apply_rendered({**job, "status": {"active": 1}})
    metadata = job["spec"]["template"]["metadata"]
    pod = world.pod("course-preflight-x", metadata["labels"], "Pending", **NO_IMAGE)

    assert told(status(world, git)) == before
    for one in (job, pod):
        found = one["metadata"]["labels"]
        assert "berth.dev/reservation" not in found
        assert found["berth.dev/role"] == "preflight"


@pytest.mark.parametrize(
    ("refused", "codes"),
    [
        (
            ("Pod", 'pods "x" is forbidden: exceeded quota: team'),
            ["error[S052]", "error[S052]", "error[S052]"],
        ),
        (("Job", "admission webhook denied the request"), ["error[S052]", "error[S052]"]),
    ],
    ids=["quota", "webhook"],
)
def test_a_rejected_object_gets_s052_and_nothing_runs(
    live: Live, refused: tuple[str, str], codes: list[str]
) -> None:
    live.world.not_admitted = dict([refused])
    code, lines = preflight(live)

    assert (code, kinds(lines)) == (1, codes)
    assert all(one["dryRun"] for one in live.world.created)


def test_a_missing_permission_of_the_job_gets_s073(live: Live) -> None:
    live.world.not_allowed = {"patch deployments/scale", "list pods", "get configmaps"}
    code, lines = preflight(live)

    assert code == 1
    assert set(kinds(lines)) == {"error[S073]"}
    assert len([line for line in lines if " course " in line]) == 4


def reviews(server: ApiServer, account: str) -> set[tuple[str, ...]]:
    """What was asked about a ServiceAccount: verb, resource, namespace and name."""
    keys = ("verb", "resource", "subresource", "namespace", "name")
    return {
        tuple(one["resourceAttributes"].get(key, "") for key in keys)
        for one in server.world.reviewed
        if one["user"] == f"system:serviceaccount:berth:{account}"
    }


def test_all_permissions_in_git_are_checked(live: Live) -> None:
    live("preflight")

    assert reviews(live.server, "course") == {
        *((verb, "configmaps", "", "berth", "") for verb in ("list", "watch")),
        ("get", "configmaps", "", "berth", "course"),
        *((verb, "configmaps", "", "berth", "course-record") for verb in ("get", "create", "patch")),
        ("create", "events", "", "berth", ""),
        ("get", "deployments", "", "berth", "course-small"),
        *((verb, "deployments", "scale", "berth", "course-small") for verb in ("get", "patch")),
        *((verb, "leases", "", "berth", "course-small") for verb in ("get", "create", "patch")),
        *((verb, "pods", "", "hub", "") for verb in ("list", "watch")),
    }
    assert ("delete", "jobs", "", "berth", "") in reviews(live.server, "berth-sweep")


def test_permissions_of_the_whole_cluster_have_no_namespace(tmp_path: Path) -> None:
    pipeline = Pipeline(str(project.write(tmp_path, {"site": SITE, "class": CLASS, "course": COURSE})))
    assert pipeline.site is not None
    items, classes = pipeline.items(), pipeline.declared.classes.values()
    found = expected_states(pipeline.site, items, classes)["prod"].access
    slots = ("scheduling.koordinator.sh", "reservations")

    assert [one for one in found["course"] if not one.namespace] == [
        Access(verb, *slots) for verb in ("list", "create", "patch", "delete")
    ]
    assert Access("list", *slots) in found["berth-sweep"]


def test_a_check_that_the_user_may_not_make_gets_s001(live: Live) -> None:
    live.world.not_admitted = {"Job": FORBIDDEN}
    code, lines = preflight(live)

    assert (code, set(kinds(lines))) == (1, {"error[S001]"})


def pulls(world: World) -> Callable[[dict[str, Any]], None]:
    """The pod of the test Job waits for its image."""

    def end(job: dict[str, Any]) -> None:
        labels = job["spec"]["template"]["metadata"]["labels"]
        mine = {**labels, "batch.kubernetes.io/job-name": "course-preflight"}
        world.pod("course-preflight-x", mine, "Pending", **NO_IMAGE)

    return end


def test_a_test_job_that_times_out_gets_s074_with_its_waiting_reason(live: Live, clock: list[float]) -> None:
    live.world.job_ends = pulls(live.world)
    code, lines = preflight(live, "--timeout", "30")

    assert code == 1
    assert kinds(lines) == ["error[S074]"]
    assert "ImagePullBackOff" in lines[0]
    assert clock == [30.0]
    assert [object_ for object_ in live.world.objects if object_["kind"] == "Job"] == []


@pytest.mark.parametrize("how", ["failed", "refused", "deleted"])
def test_a_test_job_that_cannot_succeed_gets_s074_at_once(live: Live, clock: list[float], how: str) -> None:
    def end(job: dict[str, Any]) -> None:
        failed = {
            "type": "Failed",
            "status": "True",
            "reason": "BackoffLimitExceeded",
            "message": "It failed",
        }
        if how == "failed":
            job["status"] = {"conditions": [failed]}
        elif how == "refused":
            not_created(live.world, "Job", job["metadata"]["name"], NOW)
        else:
            live.world.drop(job)

    live.world.job_ends = end
    code, lines = preflight(live)

    assert (code, kinds(lines), clock) == (1, ["error[S074]"], [0.0])


def test_a_second_preflight_leaves_the_running_test_job_alone(live: Live) -> None:
    running = live.world.apply_rendered({**trial_job(cronjob(live.world), 60), "status": {"active": 1}})
    code, lines = preflight(live)

    assert (code, kinds(lines[:1])) == (1, ["error[S074]"])
    assert running in live.world.objects


def test_a_test_job_that_cannot_be_deleted_gets_s074(live: Live) -> None:
    live.world.not_admitted["DELETE"] = "no"
    code, lines = preflight(live)

    assert (code, kinds(lines)) == (1, ["error[S074]"])


def test_missing_cron_jobs_get_s020(live: Live) -> None:
    for kind, name in (("CronJob", "course"), ("CronJob", "berth-sweep")):
        live.world.vanish(kind, name)
    code, lines = preflight(live)

    assert (code, kinds(lines)) == (1, ["error[S020]", "error[S020]"])


def test_a_missing_resource_claim_template_gets_s020(live: Live) -> None:
    """The API server admits the pod: nothing says it before placeholders wait for their claims."""
    names = ("berth-1.gpu.example.com", "fast")
    pod = live.world.get("Deployment", "course-small")["spec"]["template"]["spec"]
    pod["resourceClaims"] = [{"name": name[:4], "resourceClaimTemplateName": name} for name in names]
    code, lines = preflight(live)
    for name in names:
        metadata = {"name": name, "namespace": "berth"}
        live.world.apply_rendered({"kind": "ResourceClaimTemplate", "metadata": metadata})

    assert (code, kinds(lines)) == (1, ["error[S020]", "error[S020]"])
    assert preflight(live)[0] == 0


def test_an_unreachable_cluster_does_not_hide_the_others(live: Live) -> None:
    code, out, _ = live.berth(*two(live.server, live.folder, "preflight"))

    assert (code, out.startswith(IN_ORDER)) == (1, True)
    assert "lab: error[S001]" in out
    assert live.berth(*two(live.server, live.folder, "preflight"), "course") == (0, IN_ORDER, "")


def test_json_output_is_a_preflight(live: Live) -> None:
    live.world.not_allowed = {"patch deployments/scale"}
    code, out, _ = live("preflight", "-o", "json")
    answer = json.loads(out)

    assert (code, answer["kind"], answer["clusters"]) == (1, "Preflight", [])
    assert answer["items"][2] == {
        "cluster": "prod",
        "reservation": "course",
        "check": "Job",
        "object": "course",
        "passed": True,
        "seconds": None,
        "room": [],
        "findings": [],
    }
    (found,) = answer["items"][4]["findings"]
    assert (found["code"], answer["items"][4]["passed"]) == ("S073", False)


def test_each_named_reservation_runs_its_own_test_job_in_turn(live: Live, clock: list[float]) -> None:
    git = {**project.FILES, "other": project.COURSE.replace("name: course", "name: other")}
    project.write(live.folder, git)
    for object_ in project.project(**git).objects["prod"]:
        if (object_["metadata"].get("labels") or {}).get("berth.dev/reservation") == "other":
            live.world.apply_rendered(object_)
    live.world.job_ends = lambda _: None
    code, lines = preflight(live, "course", "other", "--timeout", "20")

    assert (code, kinds(lines), clock) == (1, ["error[S074]", "error[S074]"], [40.0])
