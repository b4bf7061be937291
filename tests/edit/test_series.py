"""`berth skip` of several dates, `add`, `end`, and `set` with the name of a field alone."""

import json
import re
from pathlib import Path

import pytest

from tests.answer import Answer, Berth
from tests.cases import tabled
from tests.edit.lab import LAB, write_lab

NEAREST = "no date on Wed 2026-05-13; the nearest are Tue 2026-05-12 and Tue 2026-05-19"


@pytest.fixture
def lab(folder: Path) -> Path:
    return write_lab(folder)


def with_lines(*lines: str, schedule: str = 'dayOfWeek: tue, startTime: "09:00", endTime: "12:00"') -> str:
    """The lab with other lines in place of its first and last date."""
    span = "    startDate: 2026-03-02\n    endDate: 2026-05-29\n"
    text = LAB.replace(span, "".join(f"    {line}\n" for line in lines))
    return text.replace('dayOfWeek: tue, startTime: "09:00", endTime: "12:00"', schedule)


def new_lines(before: str, file: Path) -> list[str]:
    known = [" ".join(line.split()) for line in before.splitlines()]
    now = [" ".join(line.split()) for line in file.read_text("utf-8").splitlines()]
    return [line for line in now if line not in known]


def dates(told: Answer) -> list[str]:
    """The local dates of `berth occurrences`."""
    listed = told.out.partition("\n\n")[0]
    return [line.split()[2] for line in listed.splitlines() if line.startswith("lab ")]


@pytest.mark.usefixtures("lab")
def test_occurrences_at_a_date_without_any_names_the_nearest_dates(berth: Berth) -> None:
    assert berth("occurrences", "lab", "--at", "2026-05-13").out == f"No occurrences: {NEAREST}.\n"


HOLIDAYS = """\
---
apiVersion: berth.dev/v1alpha1
kind: Calendar
metadata: {name: holidays-of-lab}
spec: {dates: [2026-03-17]}
"""


@tabled("edit")
def test_add_without_times_takes_the_date_out_of_except_and_moved(
    lists: list[str], left: list[str], berth: Berth, lab: Path
) -> None:
    lab.write_text(with_lines(*SPAN, *lists), "utf-8")
    told = berth("add", "lab", "2026-03-10")

    assert (told.code, told.err) == (0, "")
    assert new_lines(LAB, lab) == left
    assert "is unchanged: it already happens at Tue 2026-03-10" in berth("add", "lab", "2026-03-10").out


def test_add_without_times_on_a_holiday_keeps_the_date_with_a_warning(berth: Berth, lab: Path) -> None:
    lines = [*SPAN, "calendars: [holidays-of-lab]", "except: [2026-03-17]"]
    lab.write_text(with_lines(*lines) + HOLIDAYS, "utf-8")
    told = berth("add", "lab", "2026-03-17")

    assert "+ 5 small: Tue 2026-03-17 09:00-12:00" in told.out
    assert "warning[B081]" in told.err
    assert new_lines(with_lines(*lines[:3]) + HOLIDAYS, lab) == [
        "moved:",
        "- {date: 2026-03-17, to: {date: 2026-03-17}}",
    ]
    assert "is unchanged" in berth("add", "lab", "2026-03-17").out


def test_skip_changes_nothing_if_one_of_the_dates_does_not_exist(berth: Berth, lab: Path) -> None:
    told = berth("skip", "lab", "2026-03-10", "2026-03-11", "2026-03-12..2026-03-16")

    assert told.err.count("error[B045]") == 2
    assert (
        "lab has no date from Thu 2026-03-12 to Mon 2026-03-16; the nearest are Tue 2026-03-10 and"
        in told.err
    )
    assert lab.read_text("utf-8") == LAB


@tabled("edit")
def test_a_move_onto_the_original_date_removes_the_moved_entry(
    words: str, which: str, berth: Berth, lab: Path
) -> None:
    assert berth(*words.split()).code == 0
    assert lab.read_text("utf-8") != LAB
    assert berth("move", "lab", which, "--to", "2026-03-10").code == 0
    assert lab.read_text("utf-8") == LAB
    assert "is unchanged: it already happens at " in berth("move", "lab", which, "--to", "2026-03-10").out


def test_a_move_onto_the_current_date_changes_nothing(berth: Berth, lab: Path) -> None:
    assert berth("move", "lab", "2026-03-10", "--to", "2026-03-11").code == 0
    moved = lab.read_text("utf-8")

    assert "is unchanged" in berth("move", "lab", "2026-03-11", "--to", "2026-03-11").out
    assert lab.read_text("utf-8") == moved


@tabled("edit")
def test_add_writes_an_extra_date_and_skip_removes_it(
    words: list[str], line: str, berth: Berth, lab: Path
) -> None:
    assert berth("add", "lab", *words).code == 0
    assert new_lines(LAB, lab) == ["extra:", f"- {line}"]
    assert berth("skip", "lab", words[0].replace("tomorrow", "2026-01-02"), words[1][:5]).code == 0
    assert lab.read_text("utf-8") == LAB


def test_add_asks_how_many_seats_where_the_lines_of_the_schedule_differ(berth: Berth, lab: Path) -> None:
    lines = LAB.replace(
        "  # lab",
        """
      - {dayOfWeek: thu, startTime: "09:00", endTime: "12:00", placeholderCount: 9}""",
    )
    lab.write_text(lines, "utf-8")
    asked = berth("add", "lab", "2026-03-11", "14:00-15:00")
    assert (asked.code, lab.read_text("utf-8")) == (2, lines)
    assert "5 small or 9 small" in asked.err
    assert berth("add", "lab", "2026-03-11", "14:00-15:00", "--seats", "7").code == 0
    assert "placeholderCount: 7}" in lab.read_text("utf-8")


@pytest.mark.parametrize("when", [("--to", "thursday 2pm-4pm"), ("--to", "thu 14:00", "--end", "thu 4 pm")])
def test_a_weekday_with_a_written_time_is_near_the_date_that_moves(
    when: tuple[str, ...], berth: Berth, lab: Path
) -> None:
    assert berth("move", "lab", "2026-04-14", *when, "--now", "2026-03-02").code == 0
    (line,) = new_lines(LAB, lab)[1:]
    assert line == '- {date: 2026-04-14, to: {date: 2026-04-16, startTime: "14:00", endTime: "16:00"}}'


@pytest.mark.usefixtures("lab")
def test_a_change_of_seats_names_the_dates_that_keep_theirs(berth: Berth) -> None:
    def kept(*words: str) -> list[str]:
        told = berth("set", "lab", *words, "--now", "2026-03-20")
        assert told.code == 0
        return [line[:40] for line in told.out.splitlines() if line.startswith("! Keeps")]

    for day in ("2026-03-06", "2026-04-09"):
        assert berth("add", "lab", day, "09:00-10:00").code == 0
    assert berth("move", "lab", "2026-03-31", "--to", "2026-04-02").code == 0
    assert kept("seats=9", "--from", "2026-04-01") == ["! Keeps its own seats: 5 small: Thu 2026"] * 2
    assert kept("seats=12") == ["! Keeps its own seats: 9 small: Tue 09:0"]
    # The lines are one series, which the first edit has split.
    assert kept("seats=20", "--from", "2026-03-25") == ["! Keeps its own seats: 12 small: Thu 202"]


def test_named_groups_at_the_same_time_get_no_overlap_warning(berth: Berth, lab: Path) -> None:
    words = ("add", "lab", "2026-03-10", "09:00-13:00", "--name", "extra-time", "--seats", "2")
    assert "warning[B031]" in berth(*words, "--strict").err
    named = LAB.replace('endTime: "12:00"}', 'endTime: "12:00", name: regular}')
    lab.write_text(named, "utf-8")
    assert berth(*words, "--strict").err == ""


SPAN = ("startDate: 2026-03-02", "endDate: 2026-05-29")
TIMES = 'dayOfWeek: tue, startTime: "09:00", endTime: "12:00"'
END = "endDate: 2026-04-15"


@pytest.mark.parametrize(
    ("before", "written"),
    [
        (LAB, [END]),
        (
            with_lines("within: [spring, fall]"),
            ["within: [spring]", f"- {{{TIMES}, until: 2026-04-15}} # lab"],
        ),
        (with_lines("within: [spring]"), [f"- {{{TIMES}, until: 2026-04-15}} # lab"]),
        (
            with_lines(*SPAN, schedule=f"{TIMES}, weeks: [10, 12, 20]"),
            [END, f"- {{{TIMES}, weeks: [10, 12]}} # lab"],
        ),
        (with_lines(*SPAN, schedule=f"{TIMES}, until: 2026-05-10"), [END, f"- {{{TIMES}}} # lab"]),
    ],
    ids=["dates", "terms", "term", "weeks", "until"],
)
def test_end_writes_the_new_end_of_a_series(berth: Berth, lab: Path, before: str, written: list[str]) -> None:
    lab.write_text(before, "utf-8")
    assert berth("end", "lab", "2026-04-15").code == 0
    assert new_lines(before, lab) == written
    assert "error" not in berth("validate").out
    assert dates(berth("occurrences", "lab"))[-1] in ("2026-04-14", "2026-03-17")


def test_end_shortens_listed_dates(berth: Berth, lab: Path) -> None:
    listed = "dates: [2026-03-03, 2026-04-14..2026-04-20, {from: 2026-04-13, to: 2026-04-15}, 2026-05-05]"
    before = with_lines(listed, schedule='startTime: "09:00", endTime: "12:00"').replace("weekly", "dates")
    lab.write_text(before, "utf-8")
    assert berth("end", "lab", "2026-04-14").code == 0
    assert new_lines(before, lab) == ["dates: [2026-03-03, 2026-04-14, {from: 2026-04-13, to: 2026-04-14}]"]


def test_end_removes_later_exceptions_and_keeps_earlier_occurrences(berth: Berth, lab: Path) -> None:
    changes = """\
    except: [2026-03-10, {from: 2026-04-06, to: 2026-04-30}, {from: 2026-05-01, to: 2026-05-06}]
    moved:
      - {date: 2026-03-24, to: {date: 2026-05-20}}
      - {date: 2026-03-31, to: {placeholderCount: 9}}
      - {date: 2026-05-12, to: {placeholderCount: 9}}
      - {date: 2026-05-19, to: {date: 2026-03-20, placeholderCount: 7}}
    extra:
      - {date: 2026-03-06, startTime: "09:00", endTime: "10:00"}
      - {date: 2026-06-06, startTime: "09:00", endTime: "10:00"}
"""
    lab.write_text(LAB.replace("    # the room\n", f"{changes}    # the room\n"), "utf-8")
    before = dates(berth("occurrences", "lab"))
    assert berth("end", "lab", "2026-04-10").code == 0
    assert dates(berth("occurrences", "lab")) == [day for day in before if day <= "2026-04-10"]
    text = lab.read_text("utf-8")
    assert "from: 2026-04-06, to: 2026-04-10" in text
    assert "2026-05" not in text
    assert "2026-06" not in text
    assert '{date: 2026-03-20, startTime: "09:00", endTime: "12:00", placeholderCount: 7}' in text


@pytest.mark.parametrize(
    ("before", "command"),
    [
        (with_lines("within: [spring]"), "berth set lab 'within=[spring, TERM]'"),
        (
            with_lines("dates: [2026-03-03]", schedule='startTime: "09:00", endTime: "12:00"').replace(
                "weekly", "dates"
            ),
            "berth add lab 2026-06-01 TIMES",
        ),
        (
            with_lines(*SPAN, schedule='startTime: "09:00", endTime: "12:00"').replace("weekly", "once"),
            "berth set lab endDate=2026-06-01",
        ),
    ],
    ids=["terms", "listed", "once"],
)
def test_end_on_a_later_date_names_the_command_that_adds_dates(
    berth: Berth, lab: Path, before: str, command: str
) -> None:
    lab.write_text(before, "utf-8")
    told = berth("end", "lab", "2026-06-01")
    assert (told.code, told.out, told.err.endswith(f": {command}.\n")) == (2, "", True)
    assert lab.read_text("utf-8") == before


@tabled("edit")
def test_end_adds_no_dates_to_a_series_that_ends_before(later: str, berth: Berth, lab: Path) -> None:
    lab.write_text(with_lines(*SPAN, later), "utf-8")
    before = dates(berth("occurrences", "lab"))
    assert berth("end", "lab", "2026-06-15").code == 0
    assert dates(berth("occurrences", "lab")) == before[:-1]
    assert "endDate: 2026-05-29" in lab.read_text("utf-8")


TUESDAY, THURSDAY = (f'- {{dayOfWeek: {day}, startTime: "09:00", endTime: "12:00"' for day in ("tue", "thu"))


@tabled("edit")
def test_set_from_a_date_on_splits_the_line(
    words: list[str], lines: list[str], berth: Berth, lab: Path
) -> None:
    listed = len(dates(berth("occurrences", "lab")))
    told = berth("set", "lab", *words)

    assert (told.code, new_lines(LAB, lab)) == (0, lines)
    assert berth("validate").code == 0
    assert len(dates(berth("occurrences", "lab"))) == listed


def test_set_from_a_date_on_changes_each_line_that_has_dates_then(berth: Berth, lab: Path) -> None:
    ended = f"{THURSDAY}, until: 2026-03-12}}"
    late = f"{THURSDAY}, from: 2026-05-07, name: late}}"
    lab.write_text(LAB.replace("  # lab\n", f"  # lab\n      {ended}\n      {late}\n"), "utf-8")
    before = lab.read_text("utf-8")
    assert berth("set", "lab", "seats=45", "--from", "2026-04-01").code == 0

    assert new_lines(before, lab) == [
        f"{TUESDAY}, until: 2026-03-31}} # lab",
        f"{TUESDAY}, from: 2026-04-01, placeholderCount: 45}}",
        late.replace("}", ", placeholderCount: 45}"),
    ]


def test_set_of_times_is_refused_if_the_lines_have_different_times(berth: Berth, lab: Path) -> None:
    other = THURSDAY.replace("09:00", "08:00") + "}"
    lab.write_text(LAB.replace("  # lab\n", f"  # lab\n      {other}\n"), "utf-8")

    assert "several times of day" in berth("set", "lab", "times=10:00-12:00", "--from", "2026-04-01").err


OWN = THURSDAY + ", placeholderCount: 8}"
CLASSES = "seats: [{resourceClass: small, placeholderCount: 20}, {resourceClass: bench, placeholderCount: 4}]"
OWN_CLASSES = f"{THURSDAY}, {CLASSES.replace('20', '9')}}}"


def lab_of(*lines: str, provisioning: str = "placeholderCount: 5") -> str:
    """The lab with more lines in its schedule, and other seats."""
    more = "".join(f"      {line}\n" for line in lines)
    text = LAB.replace("  # lab\n", f"  # lab\n{more}").replace("placeholderCount: 5", provisioning)
    return text if "seats" not in provisioning else text.replace("  resourceClass: small\n", "")


@pytest.mark.parametrize("when", [("--from", "2026-04-01"), ("--from", "2026-03-02"), ("times=10:00-11:00",)])
@pytest.mark.parametrize(
    "case",
    [
        (lab_of(OWN), "seats=45", {"13: 8 small"}),
        (lab_of(OWN, OWN.replace("thu", "fri").replace("8", "6")), "seats=8", {"14: 6 small"}),
        (
            lab_of(OWN).replace("}  # lab", ", placeholderCount: 7}"),
            "seats=45",
            {"12: 7 small", "13: 8 small"},
        ),
        (lab_of(OWN_CLASSES, provisioning=CLASSES), "seats=small=30", {"12: 9 small, 4 bench"}),
    ],
    ids=["some", "other-than-given", "all-differ", "classes"],
)
def test_seats_of_a_schedule_line_are_reported_and_not_overwritten(
    berth: Berth, lab: Path, case: tuple[str, str, set[str]], when: tuple[str, ...]
) -> None:
    text, seats, named = case
    lab.write_text(text, "utf-8")
    assert berth("validate").code == 0
    told = berth("set", "lab", seats, *when)

    own = re.findall(r"reservations/lab.yaml:(\d+):\d+: error\[B016\] .* own, (.*), which", told.err)
    assert (told.code, {f"{line}: {has}" for line, has in own}) == (1, named)
    splits = "2026-04-01" in when
    assert ("write until: 2026-03-31 in this line" in told.err) == splits
    assert ("seats=NUMBER keeps them" in told.err) != splits
    assert lab.read_text("utf-8") == text


@pytest.mark.parametrize("own", ["placeholderCount: 8", "placeholderCount: 45"], ids=["same", "as-given"])
def test_seats_that_no_line_would_lose_are_set_from_a_date_on(berth: Berth, lab: Path, own: str) -> None:
    """All lines have the same number of their own, or that of a line is the one that is given."""
    text = lab_of(f"{THURSDAY}, {own}}}")
    lab.write_text(text.replace("}  # lab", ", placeholderCount: 8}") if "8" in own else text, "utf-8")
    assert berth("set", "lab", "seats=45", "--from", "2026-04-01").code == 0

    listed = json.loads(berth("occurrences", "lab", "--from", "2026-04-01", "-o", "json").out)["items"]
    assert {item["seats"]["small"] for item in listed} == {45}
