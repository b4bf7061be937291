"""`berth report` with records from a file: the project is that of docs/report.md."""

import json
import re
import shlex
import shutil
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
import yaml
from berth import cli

from tests.answer import Answer, Berth
from tests.cases import tabled
from tests.cli.conftest import ROOT

NOW = ("--now", "2026-06-01")
EXAMPLE = ROOT / "tests/examples/report"
COURSES, CLASSES = "reservations/courses.yaml", "reservations/classes.yaml"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "report"))


@pytest.fixture
def berth(project: Path, capsys: pytest.CaptureFixture[str]) -> Berth:
    def run(*arguments: str) -> Answer:
        code = cli.run(["-C", str(project), *arguments])
        return Answer(code, *capsys.readouterr())

    return run


def report(berth: Berth, *more: str) -> Answer:
    return berth("report", "--records", "records.json", *NOW, *more)


def answer(berth: Berth, *more: str) -> Any:
    found = report(berth, "-o", "json", *more)
    assert (found.code, found.err) == (0, "")
    return json.loads(found.out)


def told(found: Any) -> list[tuple[object, ...]]:
    return [tuple(one[key] for key in ("code", "line", "path", "fix")) for one in found["proposals"]]


PROVISIONING = "spec.provisioning"
BOTH = [
    ("B210", 15, f"{PROVISIONING}.placeholderCount", "Reserve 180 instead of 300."),
    ("B212", 16, f"{PROVISIONING}.leadTimeMinutes", "Open 45 minutes before the start instead of 30."),
]


def test_report_proposes_seats_and_a_lead_time_with_place_and_command(berth: Berth) -> None:
    found = answer(berth)

    assert told(found) == BOTH
    assert found["commands"] == ["berth set linear-algebra --seats student=180 lead=45"]


def test_each_date_has_its_promised_seats_and_its_peak_of_sessions(berth: Berth) -> None:
    items = answer(berth)["items"]

    assert len(items) == 13
    assert items[2] == {
        "reservation": "linear-algebra",
        "id": "linear-algebra/2026-02-16T09:00",
        "class": "student",
        "open": "2026-02-16T07:30:00Z",
        "start": "2026-02-16T08:00:00Z",
        "end": "2026-02-16T10:00:00Z",
        "promised": 300,
        "due": "2026-02-16T07:55:00Z",
        "firstReadyAt": "2026-02-16T07:31:10Z",
        "readyAt": "2026-02-16T08:06:00Z",
        "lateSeconds": 660,
        "sessionsPeak": 160,
        "unusedSeatHours": 440.07,
        "missing": 48,
        "causes": ["notReady"],
        "faults": [],
        "nodes": {},
    }


def test_names_and_dates_filter_the_report(berth: Berth) -> None:
    assert {one["reservation"] for one in answer(berth, "statistics-exam")["items"]} == {"statistics-exam"}
    assert len(answer(berth, "--until", "2026-02-10")["items"]) == 2
    assert len(answer(berth, "--from", "2026-05-01")["items"]) == 1
    assert json.loads(report(berth, "-o", "json", "--now", "2026-02-09").out)["items"][1:] == []


def test_a_code_that_the_author_ignores_is_not_proposed(berth: Berth, project: Path) -> None:
    file = project / COURSES
    text = file.read_text("utf-8")
    ignore = "  annotations: {berth.dev/ignore: 'B210: a seat for everybody; B212: known'}\n"
    file.write_text(text.replace("  name: linear-algebra\n", f"  name: linear-algebra\n{ignore}"), "utf-8")

    assert told(answer(berth)) == []


def test_suspended_and_removed_reservations_get_no_proposals(berth: Berth, project: Path) -> None:
    file = project / COURSES
    first, second = file.read_text("utf-8").split("---\n")
    file.write_text(f"{first}  suspend: true\n---\n{second}", "utf-8")
    suspended = answer(berth)
    file.write_text(second, "utf-8")
    gone = answer(berth, "linear-algebra")

    assert (len(suspended["items"]), told(suspended)) == (13, [])
    assert (len(gone["items"]), told(gone)) == (12, [])


def test_the_proposed_command_writes_valid_values_that_need_no_proposal(berth: Berth, project: Path) -> None:
    (line,) = answer(berth)["commands"]
    found = berth(*shlex.split(line)[1:], *NOW)
    first = next(yaml.safe_load_all((project / COURSES).read_text("utf-8")))["spec"]["provisioning"]

    assert found.code == 0
    assert (first["placeholderCount"], first["leadTimeMinutes"]) == (180, 45)
    assert berth("validate").code == 0
    assert told(answer(berth)) == []


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_text_and_markdown_have_the_proposals(berth: Berth, form: str) -> None:
    found = report(berth, "-o", form)
    words = " ".join(found.out.split())

    assert (found.code, found.err) == (0, "")
    assert "never more than 164 sessions in 12 dates" in words
    assert ("11 minutes late" in words, "berth set linear-algebra" in words) == (True, True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "it is not JSON: line 1, column 1", id="empty"),
        pytest.param("[[", "it is not JSON: line 1, column 3", id="cut"),
        pytest.param("7", "it is neither a list of ConfigMaps nor one", id="number"),
        pytest.param("{}", "it is neither a list of ConfigMaps nor one", id="an-object"),
        pytest.param('{"kind": "Status", "code": 403}', "it is neither a list of", id="a-refusal"),
        pytest.param('{"items": 5}', "it is neither a list of", id="items-of-no-list"),
        pytest.param(f"[{'9' * 5000}]", "it is not JSON", id="a-number-of-5000-digits"),
        pytest.param("[" * 100_000, "it is not JSON", id="deep"),
    ],
)
def test_malformed_records_are_a_usage_error(berth: Berth, project: Path, text: str, expected: str) -> None:
    (project / "records.json").write_text(text, "utf-8")
    found = report(berth)

    assert (found.code, found.out) == (2, "")
    assert expected in found.err


@tabled("cli")
def test_a_file_without_records_has_no_dates(
    text: str, code: int, said: str, berth: Berth, project: Path
) -> None:
    (project / "records.json").write_text(text, "utf-8")
    found = report(berth)

    assert (found.code, found.out) == (code, "No date is over that has a record.\n")
    assert said in found.err


def test_the_records_of_one_reservation_are_read_from_stdin(
    berth: Berth, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maps = json.loads((project / "records.json").read_text("utf-8"))
    data = maps["items"][0]["data"]["records.json"].encode()
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(data)))
    found = berth("report", "--records", "-", *NOW, "-o", "json")

    assert told(json.loads(found.out)) == BOTH


def test_an_unknown_reservation_is_a_usage_error(berth: Berth) -> None:
    found = report(berth, "linear")

    assert (found.code, found.out) == (2, "")
    assert 'No reservation is named "linear"' in found.err


@pytest.mark.parametrize("is_own", [False, True], ids=["provisioning", "line"])
def test_each_class_of_a_list_gets_its_own_seats(berth: Berth, project: Path, *, is_own: bool) -> None:
    courses, classes, records = (project / name for name in (COURSES, CLASSES, "records.json"))
    other = yaml.safe_load(classes.read_text("utf-8").split("---\n")[1])
    other["metadata"]["name"] = "other"
    other["spec"]["sessions"]["namespaces"] = ["elsewhere"]
    classes.write_text(f"{classes.read_text('utf-8')}---\n{json.dumps(other)}\n", "utf-8")
    rows = "[{resourceClass: student, placeholderCount: %d}, {resourceClass: other, placeholderCount: %d}]"
    text = courses.read_text("utf-8").replace("  resourceClass: student\n", "", 1)
    usual = rows % ((7, 7) if is_own else (300, 40))
    text = text.replace("    placeholderCount: 300\n", f"    seats: {usual}\n")
    if is_own:
        text = text.replace('"11:00"}', f'"11:00", seats: {rows % (300, 40)}}}')
    courses.write_text(text, "utf-8")
    said = records.read_text("utf-8").replace(r"{\"student\": 300}", r"{\"student\": 300, \"other\": 40}")
    said = re.sub(r'(sessionsPeak\\": {)', r'\1\\"other\\": 9, ', said)
    records.write_text(said, "utf-8")
    found = answer(berth, "linear-algebra")

    assert ("--seats" in found["commands"][0]) is not is_own
    assert berth(*shlex.split(found["commands"][0])[1:], *NOW).code == 0
    written = next(yaml.safe_load_all(courses.read_text("utf-8")))["spec"]
    changed = written["recurrence"]["schedule"][0] if is_own else written["provisioning"]
    assert [one["placeholderCount"] for one in changed["seats"]] == [180, 10]
    assert written["provisioning"]["leadTimeMinutes"] == 45


MARCH, MAY, WEDNESDAYS = (
    [f"2026-{day}T09:00" for day in days.split()]
    for days in ("03-02 03-09 03-16 03-23", "05-04 05-11 05-18 05-25", "05-06 05-13 05-20 05-27")
)
MONDAY = '{dayOfWeek: mon, startTime: "09:00", endTime: "11:00"%s}'
WEDNESDAY = MONDAY.replace("mon", "wed")
OWN = ", placeholderCount: 80"
RAISED = (MONDAY % ", until: 2026-05-03", MONDAY % f", from: 2026-05-04{OWN}")
FIRST, SECOND = (f"recurrence.schedule[{line}].placeholderCount" for line in (0, 1))
COMING_SEATS: dict[str, Any] = {
    "raised": (
        RAISED,
        [(MARCH, 300, 340), (MAY, 80, 90)],
        [f"'{SECOND}=100'", "B211 Reserve 100 instead of 80."],
    ),
    "raised-enough": (RAISED, [(MARCH, 300, 340), (MAY, 80, 75)], []),
    "own": ([MONDAY % OWN], [(MAY, 80, 40)], [f"'{FIRST}=50'", "B210 Reserve 50 instead of 80."]),
    "days-differ": (
        [MONDAY % "", WEDNESDAY % OWN],
        [(MAY, 300, 160), (WEDNESDAYS, 80, 90)],
        [
            f"'{SECOND}=100' --seats student=200",
            "B211 Reserve 100 instead of 80.",
            "B210 Reserve 200 instead of 300.",
        ],
    ),
    "two-lines": (
        [MONDAY % OWN, WEDNESDAY % OWN],
        [(MAY, 80, 90), (WEDNESDAYS, 80, 90)],
        [f"'{FIRST}=100' '{SECOND}=100'", "B211 Reserve 100 instead of 80."],
    ),
    "another-day-was-full": (
        [*RAISED, WEDNESDAY % ""],
        [(MARCH, 300, 340), (WEDNESDAYS, 300, 290)],
        [],
    ),
    "group": (
        [MONDAY % "", MONDAY % f", name: late{OWN}"],
        [([f"{day}~late" for day in MAY], 80, 90), (MAY, 300, 290)],
        [],
    ),
}


@pytest.mark.parametrize(("lines", "dates", "expected"), COMING_SEATS.values(), ids=COMING_SEATS)
def test_the_seats_of_coming_dates_are_judged_and_changed_where_they_are_written(
    lines: list[str], dates: Any, expected: list[str], berth: Berth, project: Path
) -> None:
    text = (project / COURSES).read_text("utf-8")
    schedule = "".join(f"      - {line}\n" for line in lines)
    (project / COURSES).write_text(text.replace(f"      - {MONDAY % ''}\n", schedule, 1), "utf-8")
    records = [
        {
            "occurrence": f"linear-algebra/{when}",
            "open": f"{when[:10]}T06:30:00Z",
            "start": f"{when[:10]}T07:00:00Z",
            "end": f"{when[:10]}T09:00:00Z",
            "promised": {"student": seats},
            "sessionsPeak": {"student": peak},
            "targets": {},
        }
        for days, seats, peak in dates
        for when in days
    ]
    (project / "records.json").write_text(json.dumps(records), "utf-8")
    found = answer(berth)

    commands = [line.removeprefix("berth set linear-algebra ") for line in found["commands"]]
    assert [*commands, *(f"{one['code']} {one['fix']}" for one in found["proposals"])] == expected
    for line in found["commands"]:
        assert berth(*shlex.split(line)[1:], *NOW).code == 0
    assert told(answer(berth)) == []
