"""A large change at a glance: one cause is one line, and the rest is folded."""

import shutil
from pathlib import Path

import pytest
from berth import cli
from berth.core.jsonvalues import parse_instant
from berth.diff.manifests import FileChange, ObjectChange
from berth.diff.risks import manifest_warnings, starts_at_once

from tests.cases import tabled
from tests.diff.conftest import Pair
from tests.diff.university import write_university

MOST_LINES = 60
EARLY = "2026-01-10T00:00:00Z"
CHANGES = {
    "calendar": ("calendar.yaml", "2026-05-14, to: 2026-05-14", "2026-05-18, to: 2026-05-18"),
    "class": ("small.yaml", 'cpu: "1"', 'cpu: "2"'),
    "zone": ("site.yaml", "Europe/Zurich", "UTC"),
    "setting": ("site.yaml", "namespace: berth", "namespace: seats"),
}
LINES = {
    "calendar": "~ Calendar holidays (reservations/calendar.yaml): Ascension Day Thu 2026-05-14 -> "
    "Mon 2026-05-18; {0:.0f} reservations, {1:.0f} dates go, {1:.0f} come; seat-hours ",
    "class": "~ ResourceClass small (reservations/small.yaml): spec.requests.cpu: 1 core -> 2 cores; "
    "{2:.0f} reservations",
    "zone": "~ Site university (reservations/site.yaml): spec.timeZone: Europe/Zurich -> UTC; "
    "{3} reservations, {4:.0f} dates move: opens 1 h later in winter, 2 h later in summer",
    "setting": "~ Site university (reservations/site.yaml): spec.namespace: berth -> seats",
}


def university(folder: Path, courses: int) -> Path:
    write_university(folder, courses)
    assert cli.run(["-C", str(folder), "render", "--quiet"]) == 0
    return folder


@pytest.fixture(scope="module", params=[100, pytest.param(1000, marks=pytest.mark.long)])
def courses(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def many(courses: int, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return university(tmp_path_factory.mktemp("university") / "project", courses)


@pytest.fixture
def few(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Pair:
    """Both sides are a university with twelve courses."""
    folder = university(tmp_path / "university", 12)
    capsys.readouterr()
    return Pair(folder, tmp_path, capsys)


def diff(many: Path, head: Path, change: str, form: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Change the input only: a stale rendered/ is one more warning."""
    file, before, after = CHANGES[change]
    shutil.copytree(many / "reservations", head / "reservations")
    path = head / "reservations" / file
    path.write_text(path.read_text("utf-8").replace(before, after), "utf-8")
    words = ["-C", str(head), "diff", str(many), "--now", EARLY, "-o", form]
    assert cli.run(words) == 0
    return capsys.readouterr().out.splitlines()


def before_the_fold(lines: list[str]) -> list[str]:
    """Return what a comment shows while everything in it is folded."""
    shown, depth = [], 0
    for line in lines:
        if "</details>" in line:
            depth -= 1
        elif "<details>" in line:
            shown += [] if depth else [line]
            depth += 1
        elif not depth:
            shown.append(line)
    return shown


@pytest.mark.parametrize("change", CHANGES)
def test_each_cause_is_one_line_and_everything_fits_on_a_screen(
    change: str, courses: int, many: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = diff(many, tmp_path / "head", change, "text", capsys)
    line = LINES[change].format(*(courses * share for share in (0.4, 0.2, 0.9)), courses, courses * 15.6)
    assert [each for each in lines if each.startswith(line)] != []
    assert len(lines) <= MOST_LINES


@pytest.mark.parametrize("change", CHANGES)
def test_a_comment_folds_the_lines_of_courses(
    change: str, courses: int, many: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = diff(many, tmp_path / "head", change, "markdown", capsys)
    assert len(before_the_fold(lines)) <= MOST_LINES
    if change == "calendar":
        assert len([line for line in lines if line.startswith("- course-")]) == courses * 0.4


def test_many_changed_reservations_fit_on_a_screen(
    many: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = tmp_path / "head"
    shutil.copytree(many / "reservations", head / "reservations")
    for path in (head / "reservations").glob("course-*.yaml"):
        path.write_text(path.read_text("utf-8").replace("placeholderCount: ", "placeholderCount: 1"), "utf-8")
    for form in ("text", "markdown"):
        assert cli.run(["-C", str(head), "diff", str(many), "--now", "2026-02-02", "-o", form]) == 0
        assert len(before_the_fold(capsys.readouterr().out.splitlines())) <= MOST_LINES


def test_five_courses_of_a_cause_are_listed_and_the_rest_is_counted(few: Pair) -> None:
    few.edit("site.yaml", "Europe/Zurich", "UTC")
    lines = few.diff(at=EARLY).out.splitlines()
    assert [line.split(":")[0] for line in lines if line.startswith("    course-")] == [
        f"    course-{number:04}" for number in range(5)
    ]
    assert "    and 7 more; berth diff -o wide shows all" in lines

    wide = few.diff("-o", "wide", at=EARLY).out
    assert len([line for line in wide.splitlines() if line.startswith("    course-")]) == 12


def test_a_course_with_its_own_change_has_no_calendar_as_its_cause(few: Pair) -> None:
    few.edit("calendar.yaml", "2026-05-14, to: 2026-05-14", "2026-05-18, to: 2026-05-18")
    few.edit("course-0000.yaml", "placeholderCount: 10", "placeholderCount: 11")
    change = few.change(EARLY)
    causes = {item["name"]: [cause["name"] for cause in item["causes"]] for item in change["reservations"]}
    assert causes["course-0000"] == []
    assert causes["course-0003"] == ["holidays"]


def test_a_class_change_without_seat_changes_counts_its_reservations(few: Pair) -> None:
    few.edit("small.yaml", "namespaces: [", "namespaces: [other, ")
    (line,) = [line for line in few.diff(at=EARLY).out.splitlines() if line.startswith("~ ResourceClass")]
    assert line.endswith("; 10 reservations of this class")


def test_courses_with_two_causes_are_one_line_that_names_both(few: Pair) -> None:
    few.edit("site.yaml", "Europe/Zurich", "UTC")
    few.edit("large.yaml", 'cpu: "4"', 'cpu: "5"')
    few.edit("calendar.yaml", "2026-05-14, to: 2026-05-14", "2026-05-18, to: 2026-05-18")
    lines = [line for line in few.diff(at=EARLY).out.splitlines() if line.startswith("~ ")]
    calendar, large, site = (line.partition("; ")[2] for line in lines[:3])
    assert calendar == "5 reservations, 3 dates go, 2 come"
    assert large == "2 reservations"
    assert site.startswith("12 reservations, 185 dates move: opens 1 h later in winter, 2 h later in summer")
    assert "~ Calendar holidays and ResourceClass large and Site university: 2 reservations" in [
        line.partition(";")[0] for line in lines
    ]


CLOSED_MONDAY = ("exams.yaml", "  dates: [2026-01-20", "  dates: [2026-01-20, 2026-05-11")
OPEN_AT_EASTER = ("calendar.yaml", "    - {from: 2026-04-03, to: 2026-04-12, title: Easter break}\n", "")
EXAMS = """\
apiVersion: berth.dev/v1alpha1
kind: Calendar
metadata: {name: exams}
spec:
  dates: [2026-01-20, 2026-04-06]
  terms: [{name: spring, from: 2026-02-02, to: 2026-05-29}]
"""


@pytest.mark.parametrize(
    ("edits", "exams", "holidays"),
    [
        pytest.param(
            [CLOSED_MONDAY, ("calendar.yaml", "  dates:\n", "  dates:\n    - 2026-05-21\n")],
            "3 reservations, 3 dates go",
            "2 reservations, 2 dates go",
            id="other-days",
        ),
        pytest.param(  # on Easter Monday, exams still closes
            [CLOSED_MONDAY, OPEN_AT_EASTER],
            "3 reservations, 3 dates go",
            "9 reservations, 11 dates come",
            id="go-and-come",
        ),
        pytest.param(  # no calendar leaves out the dates of a term
            [
                ("exams.yaml", "2026-05-29", "2026-05-15"),
                ("calendar.yaml", "  dates:\n", "  dates:\n    - 2026-05-12\n"),
            ],
            "1 reservation, 2 dates go",
            "3 reservations, 3 dates go",
            id="term",
        ),
    ],
)
def test_each_of_two_calendars_has_the_dates_that_it_changes(
    few: Pair, edits: list[tuple[str, str, str]], exams: str, holidays: str
) -> None:
    few.put("exams.yaml", EXAMS)
    few.edit("site.yaml", "  engine:", "  calendars: [exams]\n  engine:")
    dates = "    startDate: 2026-02-02\n    endDate: 2026-05-29\n"
    few.edit("course-0001.yaml", dates, "    within: [spring]\n")
    few.merge()
    for edit in edits:
        few.edit(*edit)
    lines = [line for line in few.diff(at=EARLY).out.splitlines() if line.startswith("~ Calendar ")]

    assert exams in lines[0]
    assert holidays in lines[1]


@tabled("diff")
def test_a_changed_time_zone_says_how_far_windows_move_in_winter_and_summer(
    zone: str, moves: str, few: Pair
) -> None:
    few.edit("course-0000.yaml", "type: weekly", f"type: weekly\n    timeZone: {zone}")
    lines = few.diff(at=EARLY).out.splitlines()
    assert f"~   time zone: Europe/Zurich -> {zone}, {moves}" in lines


def test_a_zone_with_the_same_clock_moves_nothing(few: Pair) -> None:
    few.edit("course-0000.yaml", "type: weekly", "type: weekly\n    timeZone: Europe/Berlin")
    assert "~   time zone: Europe/Zurich -> Europe/Berlin" in few.diff(at=EARLY).out.splitlines()


def test_opening_times_are_in_the_time_zone_of_their_side(few: Pair) -> None:
    few.edit("course-0000.yaml", "type: weekly", "type: weekly\n    timeZone: UTC")
    few.edit("course-0000.yaml", '"08:15", endTime: "10:00"', '"07:15", endTime: "09:00"')
    lines = few.diff(at=EARLY).out
    assert "-   10 large: Mon 08:15-10:00, 16 dates from 2026-02-02 to 2026-05-25 (07:15-09:00; " in lines
    assert "+   10 large: Mon 07:15-09:00, 16 dates from 2026-02-02 to 2026-05-25 (07:15-09:00 UTC)" in lines


@tabled("diff")
def test_a_moved_holiday_is_named(before: str, after: str, text: str, few: Pair) -> None:
    few.edit("calendar.yaml", before, after)
    assert f": Ascension Day Thu 2026-05-14 -> {text}" in few.diff(at=EARLY).out


def test_added_and_removed_holidays_are_named(few: Pair) -> None:
    gone = "    - {from: 2026-05-14, to: 2026-05-14, title: Ascension Day}\n"
    few.edit("calendar.yaml", gone, "    - {date: 2026-05-01, title: Labour Day}\n    - 2026-05-04\n")
    text = "Ascension Day Thu 2026-05-14 goes, Labour Day Fri 2026-05-01 comes, Mon 2026-05-04 comes; "
    assert text in few.diff(at=EARLY).out


def test_a_changed_title_is_one_line(few: Pair) -> None:
    few.edit("course-0000.yaml", "title: Course 0", "title: Algebra")
    blocks = few.diff(at=EARLY).out.split("\n\n")
    assert blocks[1] == "~ course-0000: title Course 0 -> Algebra [prod]"


def test_all_output_formats_count_the_same_warnings(few: Pair) -> None:
    """One of a date, one of a policy, and one finding."""
    policy = "  policies: [{name: large, when: {seatsAbove: 9}, require: warn}]\n"
    for folder in (few.was, few.now):
        site = folder / "reservations/site.yaml"
        site.write_text(site.read_text("utf-8") + policy, "utf-8")
    few.edit("course-0000.yaml", "placeholderCount: 10", "placeholderCount: 1001")
    at = "2026-02-02T00:00:00Z"
    change = few.change(at)
    found = [finding for finding in change["head"]["findings"] if finding["severity"] == "warning"]
    policies = [policy for policy in change["policies"] if policy["require"] == "warn"]
    assert (len(change["warnings"]), len(policies), len(found)) == (1, 1, 1)
    assert change["warningCount"] == 3
    for form in ("text", "markdown"):
        assert few.diff("-o", form, at=at).out.splitlines()[0].endswith("; 3 warnings")


def cron_job(schedule: str, *, suspend: str = "false", zone: str = "Europe/Zurich") -> str:
    return (
        "kind: CronJob\nmetadata:\n  name: a\nspec:\n"
        f'  schedule: "{schedule}"\n  timeZone: {zone}\n  suspend: {suspend}\n'
        "  startingDeadlineSeconds: 14400\n"
    )


@pytest.mark.parametrize(
    ("before", "after", "starts"),
    [
        (cron_job("30 9 * * 1"), cron_job("30 8 * * 1"), True),
        (cron_job("0 8 * * 1"), cron_job("30 8 * * 1"), True),
        (cron_job("45 8 * * 1"), cron_job("30 8 * * 1"), False),
        (cron_job("30 8 * * 1"), cron_job("30 9 * * 1"), False),
        (cron_job("30 9 * * 1"), cron_job("15 5 * * 1"), False),
        (cron_job("30 9 * * 1"), cron_job("16 5 * * 1"), True),
        (cron_job("30 8 * * 1", suspend="true"), cron_job("30 8 * * 1"), True),
        (cron_job("30 8 * * 1"), cron_job("0 8 * * 1", suspend="true"), False),
        (cron_job("30 8 * * 1", zone="Etc/UTC"), cron_job("30 8 * * 1"), True),
    ],
    ids=[
        "missed-run",
        "later-than-the-last-run",
        "ran-since-then",
        "not-yet",
        "too-late-to-start",
        "just-in-time",
        "resumed",
        "suspended",
        "zone",
    ],
)
def test_a_job_starts_at_once_only_for_a_run_that_the_controller_missed(
    before: str, after: str, starts: bool
) -> None:
    """It is Monday, 09:15 in Zurich."""
    now = parse_instant("2026-02-02T08:15:00Z")
    changed = ObjectChange("CronJob", "a", "changed", before, after)
    assert starts_at_once(changed, now) == starts
    codes = [warning.code for warning in manifest_warnings([FileChange("a", "changed", (changed,))], [], now)]
    assert codes == ["schedule"] * starts
