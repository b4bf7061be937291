"""The objects of a reservation that holds its seats by placeholders."""

from pathlib import Path

import pytest
from berth.manifests.window import UNREACHABLE

from tests.cli import project
from tests.manifests.parts import Object, of_kind, of_part, pod_specs, small, text_of

POD = """\
---
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: gpu}
spec:
  cluster: prod
  requests: {cpu: 500m, nvidia.com/gpu: 1}
  limits: {memory: 8Gi}
  podLabels: {team: "on", berth-free: "1e3"}
  nodeSelector: {pool: "y"}
  tolerations: [{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 5}]
  schedulerName: other
"""


def one(kind: str, found: list[Object]) -> Object:
    (single,) = of_kind(kind, found)
    return single


NOT_READY, GONE = (one["key"] for one in UNREACHABLE)


@pytest.mark.parametrize(
    ("own", "added"),
    [
        ("{key: a, operator: Exists}", [NOT_READY, GONE]),
        (f"{{key: {GONE}, operator: Exists, effect: NoExecute, tolerationSeconds: 600}}", [NOT_READY]),
        (f"{{key: {NOT_READY}, operator: Exists}}", [GONE]),
        (f"{{key: {NOT_READY}, operator: Exists, effect: NoSchedule}}", [NOT_READY, GONE]),
        ("{operator: Exists}", []),
        ("{operator: Exists, effect: NoExecute}", []),
        ("{operator: Exists, effect: NoSchedule}", [NOT_READY, GONE]),
    ],
    ids=["other", "own-seconds", "own", "other-effect", "everything", "every-eviction", "every-placing"],
)
def test_placeholders_leave_a_lost_node_after_30_seconds_unless_their_class_differs(
    tmp_path: Path, own: str, added: list[str]
) -> None:
    """As the API server adds its own five minutes: to whom does not decide by key and effect."""
    classes = project.CLASSES + POD.replace(
        "{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 5}", own
    )
    course = project.COURSE.replace("resourceClass: small", "resourceClass: gpu")
    found, parts = small(tmp_path, classes=classes, course=course)
    pod = one("Deployment", of_part(found, parts["course/prod"]))["spec"]["template"]["spec"]

    assert [(found["key"], found["tolerationSeconds"]) for found in pod["tolerations"][1:]] == [
        (key, 30) for key in added
    ]


def test_touching_windows_share_a_job_that_may_start_until_the_last_one_ends(tmp_path: Path) -> None:
    """The one at 13:30 opens before the second ends; the one at 17:00 opens after all is over."""
    times = (("09:00", "11:00"), ("11:00", "13:30"), ("13:30", "15:00"), ("17:00", "18:00"))
    days = "".join(
        f'      - {{dayOfWeek: fri, startTime: "{start}", endTime: "{end}"}}\n' for start, end in times
    )
    course = project.COURSE.replace("    schedule:\n", f"    schedule:\n{days}")
    site, parts = small(tmp_path, course=course)
    jobs = of_kind("CronJob", of_part(site, parts["course/prod"]))

    assert [job["spec"]["schedule"] for job in jobs] == ["30 8 2,6,13,20,24,27 2 *", "30 16 6,13,20,27 2 *"]
    assert {job["spec"]["startingDeadlineSeconds"] for job in jobs} == {6 * 3600 + 1800}


def test_only_a_suspended_reservation_has_a_suspended_cron_job(tmp_path: Path) -> None:
    site, parts = small(tmp_path)

    for name, part in parts.items():
        assert one("CronJob", of_part(site, part))["spec"]["suspend"] is (name == "rest/lab")


def test_a_reservation_without_dates_has_its_pool_and_no_cron_job(tmp_path: Path) -> None:
    """Renku accepts one, so it is a warning."""
    rest = project.REST.replace("dates: [2026-02-03]", "dates: [{from: 2026-02-03, to: 2026-02-04}]")
    rest = rest.replace("    schedule:", "    except: [{from: 2026-02-03, to: 2026-02-04}]\n    schedule:")
    site, parts = small(tmp_path, rest=rest)
    objects = of_part(site, parts["rest/lab"])

    kinds = ["ConfigMap", "Deployment", "ServiceAccount", "Role", "RoleBinding"]
    assert [each["kind"] for each in objects] == kinds
    assert parts["rest/lab"].occurrences == ()


@pytest.mark.parametrize("name", ["a", "n" * 63], ids=["short", "long"])
def test_names_within_a_file_refer_to_each_other(tmp_path: Path, name: str) -> None:
    rest = project.REST.replace("name: rest", f"name: {name}")
    site, parts = small(tmp_path, rest=rest)
    objects = of_part(site, parts[f"{name}/lab"])
    (pod,) = (spec for spec in pod_specs(objects) if "initContainers" in spec)
    variables = {each["name"]: each["value"] for each in pod["initContainers"][0]["env"]}
    timetable = one("ConfigMap", objects)["metadata"]["name"]
    deployment = one("Deployment", objects)["metadata"]["name"]

    (account,) = (each["metadata"]["name"] for each in of_kind("ServiceAccount", objects))
    named = [rule["resourceNames"] for rule in one("Role", objects)["rules"] if "resourceNames" in rule]

    assert named == [[timetable], [f"{timetable}-record"], *[[deployment]] * 3]
    assert pod["serviceAccountName"] == account
    assert all(len(name) <= 63 for names in named for name in names)
    assert variables["BERTH_TIMETABLE"] == timetable
    assert f'"deployment": "{deployment}"' in one("ConfigMap", objects)["data"]["timetable.json"]
    assert text_of(site, parts[f"{name}/lab"]).count(f"berth.dev/reservation: {name}\n") == 10
