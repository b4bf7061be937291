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


def gpu(folder: Path, site: str = project.SITE) -> list[Object]:
    """The course, on class gpu."""
    course = project.COURSE.replace("resourceClass: small", "resourceClass: gpu")
    found, parts = small(folder, classes=project.CLASSES + POD, course=course, site=site)
    return of_part(found, parts["course/prod"])


def test_each_time_of_opening_has_a_cronjob_by_local_time(tmp_path: Path) -> None:
    course = project.COURSE.replace(
        "    schedule:\n",
        '    schedule:\n      - {dayOfWeek: fri, startTime: "15:00", endTime: "16:00"}\n'
        '      - {dayOfWeek: wed, startTime: "08:00", endTime: "09:00"}\n',
    )
    site, parts = small(tmp_path, course=course)
    jobs = of_kind("CronJob", of_part(site, parts["course/prod"]))

    assert [(job["metadata"]["name"], job["spec"]["schedule"]) for job in jobs] == [
        ("course", "30 7 4,11,18,25 2 *"),
        ("course-2", "30 8 2,24 2 *"),
        ("course-3", "30 14 6,13,20,27 2 *"),
    ]
    assert {job["spec"]["timeZone"] for job in jobs} == {"Europe/Zurich"}


def test_replicas_stand_in_git_only_for_engines_that_leave_them_alone(tmp_path: Path) -> None:
    site, parts = small(tmp_path)

    assert one("Deployment", of_part(site, parts["night/prod"]))["spec"]["replicas"] == 0
    assert "replicas" not in one("Deployment", of_part(site, parts["night/lab"]))["spec"]


def test_a_pool_holds_the_overhead_of_a_runtime_class_as_requests_and_has_no_overhead_itself(
    tmp_path: Path,
) -> None:
    """Kubernetes refuses a pod with an overhead that is not that of its RuntimeClass."""
    classes = project.CLASSES + POD + "  overhead: {cpu: 250m, memory: 160Mi}\n"
    course = project.COURSE.replace("resourceClass: small", "resourceClass: gpu")
    site, parts = small(tmp_path, classes=classes, course=course)
    pod = one("Deployment", of_part(site, parts["course/prod"]))["spec"]["template"]["spec"]

    assert pod["containers"][0]["resources"] == {
        "requests": {"cpu": "750m", "nvidia.com/gpu": "1", "memory": "8352Mi"},
        "limits": {"memory": "8352Mi", "nvidia.com/gpu": "1"},
    }
    assert pod.keys().isdisjoint({"overhead", "runtimeClassName"})


def test_a_class_without_placement_or_limits_leaves_them_out(tmp_path: Path) -> None:
    site, parts = small(tmp_path)
    pod = one("Deployment", of_part(site, parts["night/lab"]))["spec"]["template"]["spec"]

    assert pod["containers"][0]["resources"] == {"requests": {"cpu": "250m"}}
    assert pod.keys().isdisjoint({"nodeSelector", "affinity", "imagePullSecrets"})


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
def test_placeholders_leave_a_lost_node_after_half_a_minute_unless_their_class_decides(
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


def test_the_deadline_is_the_longest_opening(tmp_path: Path) -> None:
    site, parts = small(tmp_path)
    deadlines = {
        name: one("CronJob", of_part(site, part))["spec"]["startingDeadlineSeconds"]
        for name, part in parts.items()
    }

    assert deadlines == {
        "course/prod": 4 * 3600 + 1800,
        "night/prod": 9 * 3600,
        "night/lab": 9 * 3600,
        "rest/lab": 1200,
    }


def test_windows_that_touch_are_one_job_which_may_start_until_the_last_of_them_ends(tmp_path: Path) -> None:
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


def test_only_a_suspended_reservation_is_suspended(tmp_path: Path) -> None:
    site, parts = small(tmp_path)

    for name, part in parts.items():
        assert one("CronJob", of_part(site, part))["spec"]["suspend"] is (name == "rest/lab")


def test_the_authors_annotations_and_title_stand_on_all_but_permissions_and_accounts(tmp_path: Path) -> None:
    course = project.COURSE.replace(
        "{name: course}", '{name: course, annotations: {a.b/c: "x: y", berth.dev/ignore: "B031: meant"}}'
    )
    site, parts = small(tmp_path, course=course)

    for found in of_part(site, parts["course/prod"]):
        notes = found["metadata"].get("annotations", {})
        ours = "argocd.argoproj.io/ignore-healthcheck"
        kept = {key: text for key, text in notes.items() if not key.startswith(ours)}

        authors = {"a.b/c": "x: y", "berth.dev/title": "Zürich, Café | Lab"}
        assert kept == ({} if found["kind"] in ("ServiceAccount", "Role", "RoleBinding") else authors)
        assert bool(notes.keys() - kept.keys()) == (found["kind"] in ("Deployment", "CronJob"))


def test_argocd_judges_neither_pools_nor_cronjobs_by_their_health(tmp_path: Path) -> None:
    """A placeholder may wait for days, and a run that failed is the sweep's to mend."""
    site, parts = small(tmp_path)
    notes = {
        (name, one["kind"]): one["metadata"]
        .get("annotations", {})
        .get("argocd.argoproj.io/ignore-healthcheck")
        for name in ("course/prod", "night/lab")
        for one in of_part(site, parts[name])
    }

    assert {key for key, value in notes.items() if value == "true"} == {
        ("course/prod", "Deployment"),
        ("course/prod", "CronJob"),
    }
    assert {value for key, value in notes.items() if value != "true"} == {None}


def test_flux_puts_no_values_into_what_people_wrote(tmp_path: Path) -> None:
    """A team may patch `postBuild` into every Kustomization; `${x}` in a title would then stop all of it."""
    site, parts = small(tmp_path, site=project.SITE.replace("engine: argocd", "engine: flux"))

    for name, expected in (("course/prod", "disabled"), ("night/lab", None)):
        for found in of_part(site, parts[name]):
            notes = found["metadata"].get("annotations", {})
            assert notes.get("kustomize.toolkit.fluxcd.io/substitute") == expected


def test_a_reservation_that_never_falls_has_its_pool_and_no_cronjob(tmp_path: Path) -> None:
    """Renku accepts one, so it is a warning."""
    rest = project.REST.replace("dates: [2026-02-03]", "dates: [{from: 2026-02-03, to: 2026-02-04}]")
    rest = rest.replace("    schedule:", "    except: [{from: 2026-02-03, to: 2026-02-04}]\n    schedule:")
    site, parts = small(tmp_path, rest=rest)
    objects = of_part(site, parts["rest/lab"])

    kinds = ["ConfigMap", "Deployment", "ServiceAccount", "Role", "RoleBinding"]
    assert [each["kind"] for each in objects] == kinds
    assert parts["rest/lab"].occurrences == ()


@pytest.mark.parametrize("name", ["a", "n" * 63], ids=["short", "long"])
def test_all_names_within_a_file_fit_together(tmp_path: Path, name: str) -> None:
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
