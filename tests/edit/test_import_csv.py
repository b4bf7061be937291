"""`berth import csv`: rows of a table become reservations, and are updated by the next import."""

import io
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from berth.edit.prompts import FORM
from berth.edit.requestform import requested
from berth.edit.requesttable import read_table
from berth.pipeline import Pipeline
from berth.reading.source import Source
from hypothesis import given
from hypothesis import strategies as st

from tests.answer import Answer, Berth
from tests.cases import tabled
from tests.cli import project
from tests.requesting import HOSTILE

HEADINGS = "Course,Class,Seats,Dates,Times,First,Last,Zone,Contact"
ROWS = (
    'Algebra,small,40-50,"Tuesday, Jan 12th, 2027",9-11,,,,ada@example.org',
    'Statistics,small,120 students,MWF,2pm-5pm,2027-01-11,"May 7, 2027",America/New_York,',
)
NOW = ("--now", "2026-11-28")


class Table:
    """Writes a table, and imports it."""

    def __init__(self, berth: Berth, folder: Path) -> None:
        self.berth, self.folder = berth, folder

    def __call__(self, *rows: str, headings: str = HEADINGS, words: tuple[str, ...] = ()) -> Answer:
        file = self.folder.parent / "exams.csv"
        file.write_text("\n".join([headings, *rows]), "utf-8")
        return self.berth("import", "csv", str(file), *NOW, *words)

    def spec(self, name: str) -> Any:
        return yaml.load((self.folder / f"reservations/{name}.yaml").read_text("utf-8"), yaml.BaseLoader)[
            "spec"
        ]

    def findings(self, *rows: str, headings: str = HEADINGS) -> list[tuple[str, str, str]]:
        """Return the line, the column and the code of each finding."""
        before = sorted(self.folder.rglob("*"))
        answer = self(*rows, headings=headings)
        assert (answer.code, answer.out, sorted(self.folder.rglob("*"))) == (1, "", before)
        lines = [line.partition(" error[") for line in answer.err.splitlines() if " error[" in line]
        return [(*place.rstrip(":").split(":")[-2:], rest[:4]) for place, _, rest in lines]  # type: ignore[misc]


@pytest.fixture
def table(berth: Berth, folder: Path) -> Table:
    return Table(berth, folder)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_each_row_becomes_a_reservation_that_the_output_describes(table: Table, separator: str) -> None:
    rows = [separator.join(row.replace('"', "").split(",")) for row in ("Algebra,small,40-50,12 Jan,9-11",)]
    answer = table(*rows, headings="Course,Class,Seats,Dates,Times".replace(",", separator))

    assert (answer.code, answer.err) == (0, "")
    assert "Algebra: 50 small, 1 date in Europe/Zurich, Tue 2027-01-12 09:00-11:00.\n" in answer.out


@pytest.mark.parametrize("separator", [*",;\t|"])
@pytest.mark.parametrize("line", ["sep={}", "SEP={}", '"sep={}"'])
def test_a_first_line_may_say_the_separator(table: Table, line: str, separator: str) -> None:
    """Excel writes it. Lines are counted with it."""
    first, headings, row = (
        text.replace(",", separator)
        for text in (
            line.format(","),
            "Course,Class,Seats,Dates,Times,Room",
            "Logic,small,9,12 Jan,9-11,HG 5",
        )
    )

    assert table.findings(headings, row.replace("9-11", "9-9"), headings=first) == [("3", "22", "B018")]
    answer = table(headings, row, headings=first)
    assert (answer.code, answer.err.endswith(':2:32: the column "Room" is not read.\n')) == (0, True)
    assert answer.out.startswith("Wrote reservations/logic.yaml.\nLogic: 9 small, 1 date ")
    assert table.findings(headings=first) == [("1", "1", "B011")]


@pytest.mark.parametrize(
    ("cells", "understood"),
    [
        (
            'small,"morning=30,evening=12",7 Jan,morning=9-11 evening=17-19',
            "30 small for morning, 12 small for evening, 2 dates",
        ),
        ('small,"a=8,b=8",7 Jan,a=9-11 b=9-12', "8 small for a, 8 small for b, 2 dates"),
        ("small,8,7 Jan,9-11 12-14", "8 small, 2 dates"),
        ("small,8,7 Jan,z=12-14", "8 small for z, 1 date"),
    ],
)
def test_the_output_names_the_seats_of_each_group(table: Table, cells: str, understood: str) -> None:
    answer = table(f"Algebra,{cells}", headings="Course,Class,Seats,Dates,Times")

    assert (answer.code, f"Algebra: {understood} in Europe/Zurich, Thu 2027-01-07 " in answer.out) == (
        0,
        True,
    )


def test_cells_are_read_like_answers_of_the_request_form(table: Table) -> None:
    assert table(*ROWS).code == 0
    recurrence = table.spec("statistics")["recurrence"]

    assert table.spec("algebra")["recurrence"]["dates"] == ["2027-01-12"]
    assert table.spec("algebra")["owner"]["contact"] == "ada@example.org"
    assert recurrence["schedule"] == [
        {"daysOfWeek": ["mon", "wed", "fri"], "startTime": "14:00", "endTime": "17:00"}
    ]
    assert (recurrence["startDate"], recurrence["endDate"]) == ("2027-01-11", "2027-05-07")
    assert recurrence["timeZone"] == "America/New_York"


def test_each_unreadable_cell_is_reported_with_its_line_and_column(table: Table) -> None:
    wrong = table.findings(
        'Algebra,smal,many,02/03/2027,9-5,,,EST,"ada, or bob"',
        "Statistics,small,25,2027-06-01,10 AM,,,EST,",
        "Logic,small,25,2027-07-01,9-11,,,EST,",
        ",small,25,2027-07-01,9-11,,,,",
    )

    assert wrong == [
        *[("2", "9", "B061"), ("2", "14", "B013"), ("2", "19", "B017"), ("2", "30", "B018")],
        *[("2", "41", "B014"), ("3", "32", "B018"), ("4", "34", "B021"), ("5", "1", "B011")],
    ]


@tabled("edit")
def test_a_taken_title_gets_the_finding_b060(rows: list[str], code: str, table: Table) -> None:
    assert [found for _, _, found in table.findings(*rows)] == [code]


def test_a_second_row_of_a_course_is_reported_with_the_line_of_the_first(table: Table) -> None:
    row = "Algebra,small,25,2027-06-01,9-11,,,,"

    assert "line 2 has this course" in table(row, row.replace("06-01", "06-02")).err
    table(row)
    assert "line 2 has this course" in table(row, row).err


@pytest.mark.parametrize("contact", ["Ada Lovelace", "ada at example.org", "ada@example", "room 4", "@"])
def test_a_contact_that_is_neither_address_nor_user_gets_the_finding_b014(table: Table, contact: str) -> None:
    assert table.findings(f"Algebra,small,25,2027-06-01,9-11,,,,{contact}") == [("2", "37", "B014")]


@pytest.mark.parametrize(
    "text",
    ["x" * 3_000_000, "x" * 900_000 + ",Course\ny,x", f"{HEADINGS}\n{'x' * 900_000}"],
    ids=["too-large", "heading", "cell"],
)
@pytest.mark.parametrize("is_file", [True, False], ids=["file", "stdin"])
def test_messages_about_huge_values_stay_short(
    berth: Berth, folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, *, is_file: bool
) -> None:
    file = folder.parent / "large.csv"
    file.write_text(text, "utf-8")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    answer = berth("import", "csv", str(file) if is_file else "-", "--feed", "x")

    assert answer.code == 1
    assert max(map(len, answer.err.splitlines())) < 1000


def test_a_row_with_both_days_and_dates_gets_the_finding_b060(table: Table) -> None:
    row = "Algebra,small,25,MWF,2027-06-01,9-11"

    assert table.findings(row, headings="Course,Class,Seats,Days,Dates,Times") == [("2", "22", "B060")]


def test_an_unknown_heading_is_reported_and_a_missing_heading_is_refused(table: Table) -> None:
    answer = table("Algebra,small,25,2027-06-01,9-11,HG 5", headings="Course,Class,Seats,Dates,Times,Room")
    assert (answer.code, answer.err.endswith(':1:32: the column "Room" is not read.\n')) == (0, True)

    assert table.findings("Logic,small,25,9-11", headings="Course,Class,Seats,Times") == [("1", "1", "B011")]
    assert table("Sets,small,25,2027-06-01,9-11", headings="course,class,seats,Date,Time").code == 0


def test_the_next_import_updates_imported_fields_and_keeps_edits(table: Table, berth: Berth) -> None:
    table(*ROWS)
    assert berth("set", "algebra", "lead=45", "metadata.labels.term=spring", *NOW).code == 0
    assert berth("skip", "statistics", "2027-01-13", *NOW).code == 0
    again = table(*ROWS)
    assert [line.split()[0] for line in again.out.splitlines()[:2]] == ["Unchanged:", "Unchanged:"]

    changed = table(ROWS[0].replace("40-50", "60").replace("9-11", "9-12"), ROWS[1].replace("MWF", "TTh"))
    assert (changed.code, changed.out) == (1, "")  # a date is skipped that is none then
    changed = table(ROWS[0].replace("40-50", "60").replace("9-11", "9-12"), ROWS[1].replace("120", "130"))
    assert changed.out.count("Changed reservations/") == 2
    assert table.spec("algebra")["provisioning"] == {
        "placeholderCount": "60",
        "leadTimeMinutes": "45",
        "scaleDownBehavior": "none",
    }
    assert table.spec("algebra")["recurrence"]["schedule"] == [{"startTime": "09:00", "endTime": "12:00"}]
    assert table.spec("statistics")["recurrence"]["except"] == ["2027-01-13"]


def test_the_next_import_leaves_comments_on_all_lines_that_stay(table: Table, folder: Path) -> None:
    """A changed line keeps its comment, and its lead; one that is removed is shown."""
    row = 'Logic,small,"a=30,b=12","1 Jun 2027, 2 Jun 2027, 9 Jun 2027",a=9-11 b=13-15'
    headings = "Course,Class,Seats,Dates,Times"
    table(row, headings=headings)
    file = folder / "reservations/logic.yaml"
    text = file.read_text("utf-8")
    text = re.sub(r"(- 2027-06-0(\d))", r"\1  # day \2", text)
    text = re.sub(r"(- {.*name: (\w).*)}", r"\1, leadTimeMinutes: 60}  # group \2", text)
    file.write_text(text, "utf-8")
    again = table(row, headings=headings)
    later = row.replace("2 Jun", "8 Jun").replace("13-15", "13-16")
    changed = table(later, headings=headings)
    old, new = text.splitlines(), file.read_text("utf-8").splitlines()

    assert text.count("#") == 6  # one is the line for editors
    assert again.out.startswith("Unchanged: ")
    assert [line for line in old if line not in new] == [
        "      - 2027-06-02  # day 2",
        next(line for line in old if line.endswith("# group b")),
    ]
    assert [line for line in new if line not in old] == [
        "      - 2027-06-08",
        next(line for line in old if line.endswith("# group b")).replace("15:00", "16:00"),
    ]
    assert "-      - 2027-06-02  # day 2\n" in changed.out


@pytest.mark.parametrize("metadata", ["7", "{name: x, annotations: 7}", "[berth.dev/imported-feed]"])
def test_a_faulty_document_of_the_project_is_reported(table: Table, metadata: str) -> None:
    head = "# berth.dev/imported-feed\napiVersion: berth.dev/v1alpha1\nkind: CapacityReservation\n"
    text = f"{head}metadata: {metadata}\n"
    (table.folder / "reservations/faulty.yaml").write_text(text, "utf-8")
    answer = table(*ROWS)

    assert (answer.code, answer.out) == (1, "")
    assert "reservations/faulty.yaml:" in answer.err


@pytest.mark.parametrize("rows", [(), ("", ",,,,,,,,")], ids=["none", "empty"])
def test_a_table_without_a_course_is_reported(table: Table, rows: tuple[str, ...]) -> None:
    assert table.findings(*rows) != []


def test_a_course_without_a_row_stays_and_is_reported(table: Table) -> None:
    table(*ROWS)
    answer = table(ROWS[0])

    assert "Statistics is not in the table any more. To remove it: berth delete statistics\n" in answer.out
    assert table.spec("statistics")


def test_another_feed_can_add_new_courses_but_not_existing_courses(table: Table) -> None:
    table(*ROWS)

    assert table(ROWS[0], words=("--feed", "other")).code == 1
    assert table("Logic,small,25,2027-06-01,9-11,,,,", words=("--feed", "other")).out.count("\n") == 2


@pytest.mark.usefixtures("site_holidays")
def test_dates_on_holidays_of_the_site_are_listed_and_not_counted(table: Table) -> None:
    row = "Logic,small,25,Mon,9-11,2026-02-02,2026-02-23,,"
    first, again = (table(row, words=("--now", "2026-01-01")).out for _ in range(2))

    assert ": 25 small, 3 dates in Europe/Zurich" in first
    assert first.endswith("\n  left out by calendar holidays: Carnival: Mon 2026-02-16\n")
    assert first.splitlines()[1:] == again.splitlines()[1:]


def test_a_renamed_table_is_refused_until_the_feed_option_gives_its_old_name(
    table: Table, berth: Berth, folder: Path
) -> None:
    table(*ROWS)
    project.change(folder, "statistics", "name: statistics\n", "name: stat-u\n")
    copy = (folder.parent / "exams.csv").rename(folder.parent / "exams-final.csv")
    answer = berth("import", "csv", str(copy), *NOW)

    for name in ("algebra", "stat-u"):
        assert (
            f'there is a reservation {name} already, imported from "exams.csv". '
            "If it is the same table, give --feed exams.csv; if not, write another title."
        ) in " ".join(answer.err.split())
    assert (answer.code, answer.out) == (1, "")
    assert berth("import", "csv", str(copy), "--feed", "exams.csv", *NOW).out.count("Unchanged: ") == 2


@tabled("edit")
def test_an_entry_of_the_file_that_does_not_fit_a_row_is_reported_with_its_line(
    words: str, entry: str, line: str, table: Table, berth: Berth
) -> None:
    table(*ROWS)
    assert berth(*words.split(), *NOW).code == 0
    text = (table.folder / "reservations/statistics.yaml").read_text("utf-8")
    number = text.partition(line)[0].count("\n") + 1
    answer = table(ROWS[0], ROWS[1].replace("MWF", "TTh"))

    message = f"{entry} in reservations/statistics.yaml:{number} does not fit the row: the schedule has no"
    assert message in answer.err
    assert "Remove that entry from the file, or correct the row." in answer.err


def test_a_row_with_only_past_dates_gets_the_warning_b081_when_it_is_written(table: Table) -> None:
    row = "Logic,small,25,2026-11-02..2026-11-05,9-11,,,,"
    first, again = table(ROWS[0], row), table(ROWS[0], row)
    changed = table(ROWS[0], row.replace("25", "30"))
    strict = table("Sets,small,25,2026-11-03,9-11,,,,", words=("--strict",))

    assert [answer.code for answer in (first, again, changed, strict)] == [0, 0, 0, 1]
    assert [answer.err.count(":3:16: warning[B081] ") for answer in (first, again, changed)] == [1, 0, 1]


@pytest.mark.parametrize(
    ("row", "column"),
    [("Chess,small,5,12 Jan 2027,9-11,3,000", 34), ("Go,small,2,12 Jan 2027,9-11,,13 Jan 2027", 30)],
    ids=["number", "date"],
)
def test_a_cell_beyond_the_headings_gets_the_finding_b002(table: Table, row: str, column: int) -> None:
    """A comma that no quotes keep moves all that follows it, and its end would be lost."""
    headings = "Course,Class,Seats,Dates,Times,Contact"

    assert ("2", str(column), "B002") in table.findings(row, headings=headings)
    assert table("Chess,small,5,12 Jan 2027,9-11,,,", headings=headings).code == 0


@pytest.mark.parametrize("course", ['"Algebra\nfor all"', '"Algebra'], ids=["two-lines", "open-quote"])
def test_a_cell_that_spans_lines_is_reported_where_it_begins(table: Table, course: str) -> None:
    found = table.findings(ROWS[1], f"{course},small,25,12 Jan,9-11,,,,")

    assert [one[:2] for one in found] == [("3", "1")]


@pytest.mark.parametrize("text", [b"\xff\xfe", b"", b"\n\n"], ids=["not-utf-8", "empty", "blank"])
def test_a_file_that_is_not_a_table_is_refused(berth: Berth, folder: Path, text: bytes) -> None:
    (folder.parent / "x.csv").write_bytes(text)

    assert berth("import", "csv", str(folder.parent / "x.csv")).code == 1


CELLS = st.sampled_from([*ROWS[1].split(","), *HOSTILE.values(), "", '"', '""', "x" * 200_000]) | st.text(
    max_size=9
)


@given(st.lists(CELLS, max_size=12), st.sampled_from(",;\t"))
def test_any_row_gives_answers_or_findings_with_a_place(cells: list[str], separator: str) -> None:
    text = (
        HEADINGS.replace(",", separator) + "\n" + separator.join(cells).replace("\r", " ").replace("\n", " ")
    )
    table = read_table(Source("x.csv", text.encode("utf-8", "replace")))

    for row in table.rows:
        _, wrong_answers = requested(row, "", Pipeline(sources=[]).declared, 20_000)
        assert {*row} <= {*FORM}
        for finding in (*table.findings, *wrong_answers):
            assert finding.line >= 2
            assert finding.column >= 1


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_cell_becomes_a_title_or_is_refused(table: Table, folder: Path, text: str) -> None:
    """It is a title, or refused; it writes no other file, and no line of the answer is its own."""
    before = {*folder.rglob("*")}
    cell = text.replace('"', "'").replace("\n", " ").replace("\r", " ")
    answer = table(f'"{cell}",small,25,2027-06-01,9-11,,,,')

    written = {*folder.rglob("*")} - before
    assert answer.code in (0, 1)
    assert len([one for one in written if one.name != ".schema.json"]) == (answer.code == 0)
    assert answer.out.count("\n") == 2 * (answer.code == 0)
    assert answer.out.replace("\n", "").isprintable()
