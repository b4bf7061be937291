"""Whole files through the whole line: all faults of a project in one run, each at its place."""

from pathlib import Path

from tests.cli.project import CLASSES, COURSE, FILES, SITE
from tests.saying import places, run


def test_times_may_be_written_without_quotes(tmp_path: Path) -> None:
    course = COURSE.replace('"09:00"', "09:00").replace('"13:00"', "13:00")

    assert run(tmp_path, {**FILES, "course.yaml": course}) == []


def test_one_run_reports_all_faults_at_their_places(tmp_path: Path) -> None:
    files = {
        "site.yaml": SITE.replace("argocd", "argo").replace("namespace: s", "namespce: s"),
        "classes.yaml": CLASSES.replace("4Gi", "4GB").replace("2026-02-16,", "2026-02-31,"),
        "course.yaml": COURSE.replace(
            '{dayOfWeek: mon, startTime: "09:00"', "{dayOfWeek: mo, startTime: 0900"
        )
        .replace("placeholderCount: 25", "placeholderCount: -25")
        .replace("to: {date: 2026-02-24}", "to: {}")
        .replace("{name: course}", "{name: course, labels: {berth.dev/site: x}}"),
        "renku.json": '[{"name": "Intro", "resource_class_id": 5, "recurrence": {"type": "weekly"}}]',
    }

    assert places(run(tmp_path, files)) == [
        "classes.yaml:6:32 error[B022] spec.requests.memory",
        "classes.yaml:19:18 error[B017] spec.dates[0].from",
        "classes.yaml:19:34 error[B017] spec.dates[0].to",
        'course.yaml:3:35 error[B023] metadata.labels["berth.dev/site"]',
        "course.yaml:12:21 error[B014] spec.recurrence.schedule[0].dayOfWeek",
        "course.yaml:12:36 error[B018] spec.recurrence.schedule[0].startTime",
        "course.yaml:15:36 error[B011] spec.recurrence.moved[0].to",
        "course.yaml:16:36 error[B012] spec.provisioning.placeholderCount",
        "renku.json:1:1 error[B069]",
        "site.yaml:6:11 error[B014] spec.engine",
        "site.yaml:9:33 error[B010] spec.clusters[lab].namespce",
    ]


def test_names_from_an_unreadable_file_are_not_reported_as_unknown(tmp_path: Path) -> None:
    files = {**FILES, "classes.yaml": CLASSES + "    [\n"}

    assert [line.split()[1] for line in run(tmp_path, files)] == ["error[B003]"]
