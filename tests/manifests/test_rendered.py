"""What stands in git below rendered/ is what a render of reservations/ gives today, and it opens on time."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import yaml
from berth import cli
from berth.core.timetable import Timetable, active_occurrences, parse_timetable
from croniter import croniter

from tests.cli import project
from tests.manifests.parts import small, text_of

ROOT = Path(__file__).parents[2]
FILES = [
    file
    for file in sorted(ROOT.glob("rendered/clusters/*/reservations/*.yaml"))
    if file.stem != "robotics-lab"  # it stands always: there is nothing to open
]


def content(file: Path) -> tuple[Timetable, list[dict[str, Any]]]:
    """The timetable of a reservation and the specs of its CronJobs."""
    items = list(yaml.load_all(file.read_text("utf-8"), yaml.CSafeLoader))
    (timetable,) = (one["data"]["timetable.json"] for one in items if one["kind"] == "ConfigMap")
    return parse_timetable(timetable), [one["spec"] for one in items if one["kind"] == "CronJob"]


def fires(spec: dict[str, Any], instant: int) -> bool:
    local = datetime.fromtimestamp(instant, UTC).astimezone(ZoneInfo(spec["timeZone"]))
    return bool(croniter.match(spec["schedule"], local))


def ids(files: list[Path]) -> Iterator[str]:
    return (f"{file.parts[-3]}-{file.stem}" for file in files)


def test_rendered_files_in_git_are_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    """After a change of reservations, templates or the runtime: berth render."""
    code = cli.run(["-C", str(ROOT), "render", "--check"])

    assert (code, *capsys.readouterr()) == (0, "rendered/ is up to date.\n", "")


@pytest.mark.parametrize("file", FILES, ids=ids(FILES))
def test_a_cron_job_fires_at_every_opening_unless_a_window_is_already_open(file: Path) -> None:
    timetable, jobs = content(file)

    for occurrence in timetable.occurrences:
        is_open = any(one.open < occurrence.open <= one.end for one in timetable.occurrences)
        assert is_open or any(fires(spec, occurrence.open) for spec in jobs), occurrence.id
    assert len(active_occurrences(timetable)) == len(timetable.occurrences) > 0


@pytest.mark.parametrize("file", FILES, ids=ids(FILES))
def test_every_cron_job_opens_a_window(file: Path) -> None:
    timetable, jobs = content(file)

    for spec in jobs:
        assert any(fires(spec, occurrence.open) for occurrence in timetable.occurrences), spec["schedule"]


def test_a_weekly_course_of_one_class_is_at_most_300_lines(tmp_path: Path) -> None:
    """A date more is a line more: this one has 15 weeks, and sessions to count."""
    classes = project.CLASSES.replace(
        "memory: 4Gi}\n", "memory: 4Gi}\n  sessions: {source: pods, namespaces: [hub]}\n", 1
    )
    course = project.COURSE.replace("2026-03-01", "2026-05-17").replace(
        "scaleDownBehavior: none", "scaleDownBehavior: maintain"
    )
    site, parts = small(tmp_path, classes=classes, course=course)
    text = text_of(site, parts["course/prod"])

    assert text.count('"start":') == 13  # one week is a holiday, and one is excepted
    assert len(text.splitlines()) <= 300
