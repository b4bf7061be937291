"""`berth copy` and `berth delete`: what they write, remove and refuse."""

import json
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.answer import Answer, Berth
from tests.cases import tabled
from tests.cli import project

TERMS = """\
---
apiVersion: berth.dev/v1alpha1
kind: Calendar
metadata: {name: terms}
spec:
  terms: [{name: spring, from: 2026-02-02, to: 2026-03-01}]
"""
TERM = ("--from", "2026-02-16", "--until", "2026-03-08")


def test_a_copy_keeps_only_the_single_dates_of_its_term(berth: Berth, folder: Path) -> None:
    code, out, err = berth("copy", "course", "later", *TERM)

    assert (code, err) == (0, "")
    assert out.startswith("reservations/later.yaml:\n+ later: ")
    wanted = project.COURSE.replace("name: course", "name: later").replace("    except: [2026-02-09]\n", "")
    wanted = wanted.replace("2026-02-02", "2026-02-16").replace("2026-03-01", "2026-03-08")
    assert (folder / "reservations/later.yaml").read_text("utf-8") == wanted
    assert (folder / "reservations/course.yaml").read_text("utf-8") == project.COURSE


@tabled("edit")
def test_a_single_date_is_copied_if_it_is_in_the_new_term(
    entry: str, is_kept: bool, berth: Berth, folder: Path
) -> None:
    singles = "    except: [2026-02-09]\n    moved: [{date: 2026-02-23, to: {date: 2026-02-24}}]\n"
    plain = project.COURSE.replace("    calendars: [holidays]\n", "")
    project.write(folder, course=plain.replace(singles, f"    {entry}\n"))

    assert berth("copy", "course", "later", *TERM).code == 0
    assert (entry in (folder / "reservations/later.yaml").read_text("utf-8")) == is_kept


def test_only_the_copied_document_is_copied(berth: Berth, folder: Path) -> None:
    project.write(folder, course=project.REST.replace("rest", "nap") + "---\n" + project.COURSE)

    assert berth("copy", "course", "later", *TERM).code == 0
    copied = (folder / "reservations/later.yaml").read_text("utf-8")
    assert copied.startswith("apiVersion:")
    assert re.findall("name: (.*)}", copied) == ["later"]


def test_the_new_dates_replace_the_terms(berth: Berth, folder: Path) -> None:
    dates = "    startDate: 2026-02-02\n    endDate: 2026-03-01\n"
    course = project.COURSE.replace(dates, "    within: [spring]\n").replace("    except: [2026-02-09]\n", "")
    project.write(folder, course=course, classes=project.CLASSES + TERMS)

    assert berth("copy", "course", "later", *TERM).code == 0
    copied = (folder / "reservations/later.yaml").read_text("utf-8")
    assert "type: weekly\n    startDate: 2026-02-16\n    endDate: 2026-03-08\n    schedule:" in copied


LISTED = """\
    dates:
      - 2026-02-07 # the first
      - {date: 2026-02-09, startTime: "10:00", endTime: "11:00"}
      - 2026-02-14..2026-02-15
      - 2026-03-07
    schedule: [{startTime: "22:00", endTime: "06:00"}]
    except: [2026-02-15]
    moved: [{date: 2026-02-14, to: {date: 2026-02-16}}]
"""


def test_a_list_is_shifted_by_whole_weeks(berth: Berth, folder: Path) -> None:
    """Its first date is on its weekday in the first week; what is after the last date is left out."""
    lines = '    dates: [2026-02-07]\n    schedule: [{startTime: "22:00", endTime: "06:00"}]\n'
    project.write(folder, night=project.NIGHT.replace(lines, LISTED))
    told = berth("copy", "night", "later", "--from", "2026-09-01", "--until", "2026-09-30")
    left_out = re.findall(r"warning\[B040\] spec.recurrence.dates\[(\d)\]", told.err)
    assert (told.code, len(left_out)) == (0, 1)
    text = (folder / "reservations/later.yaml").read_text("utf-8")
    shifted = LISTED.replace("      - 2026-03-07\n", "")
    for before, after in (("02-07", "09-05"), ("02-09", "09-07"), ("02-14", "09-12"), ("02-15", "09-13")):
        shifted = shifted.replace(before, after)

    shifted = shifted.replace("02-16", "09-14").replace("2026-09-12..2026-09-13", '"2026-09-12..2026-09-13"')
    assert text == project.NIGHT.replace(lines, shifted).replace("night", "later")


TERM_DATES = "    startDate: 2026-02-02\n    endDate: 2026-03-01\n"
EARLY = '      - {dayOfWeek: [mon, thu], startTime: "09:00", endTime: "13:00", until: 2026-02-15}\n'
LATE = '      - {dayOfWeek: [mon, thu], from: 2026-02-16, startTime: "10:00", endTime: "13:00"}\n'


def course_of(lines: str) -> str:
    """Return the course with these lines of the schedule, and without single dates."""
    before, _, rest = project.COURSE.partition("    schedule:\n")
    return f"{before}    schedule:\n{lines}  provisioning:{rest.partition('  provisioning:')[2]}"


@tabled("edit")
@pytest.mark.parametrize("dates", [TERM_DATES, "    within: [spring]\n"], ids=["dates", "terms"])
def test_dates_of_lines_are_shifted_and_end_with_the_term(  # noqa: PLR0913, PLR0917
    first: str, last: str, early: str, late: str, berth: Berth, folder: Path, dates: str
) -> None:
    course = course_of(EARLY + LATE).replace(TERM_DATES, dates)
    project.write(folder, course=course, classes=project.CLASSES + TERMS)

    code, _, err = berth("copy", "course", "later", "--from", first, "--until", last)

    line = 1 + course[: course.index(LATE)].count("\n")
    place = f"reservations/course.yaml:{line}:9: warning[B040] spec.recurrence.schedule[1]: "
    assert (code, err.startswith(f"{place}it has no date from {first} to {last}")) == (0, not late)
    lines = EARLY.replace(", until: 2026-02-15", early)
    lines += LATE.replace("from: 2026-02-16", late) if late else ""
    written = course_of(lines).replace(TERM_DATES, f"    startDate: {first}\n    endDate: {last}\n")
    assert (folder / "reservations/later.yaml").read_text("utf-8") == written.replace(
        "name: course", "name: later"
    )


@pytest.mark.parametrize("dates", [TERM_DATES, "    within: [spring]\n"], ids=["dates", "terms"])
def test_a_copy_of_an_ended_course_has_the_whole_new_term(berth: Berth, folder: Path, dates: str) -> None:
    course = course_of(LATE.replace("from: 2026-02-16, ", "")).replace(TERM_DATES, dates)
    project.write(folder, course=course, classes=project.CLASSES + TERMS)
    assert berth("set", "course", "seats=30", "--from", "2026-02-09").code == 0
    assert berth("end", "course", "2026-02-12").code == 0

    assert berth("copy", "course", "later", "--from", "2026-09-14", "--until", "2026-10-18").code == 0
    copied = (folder / "reservations/later.yaml").read_text("utf-8")
    assert "endDate: 2026-10-18" in copied
    assert re.findall("until: (.*?)[,}]", copied) == ["2026-09-20"]  # where the seats change


def test_a_copy_of_what_happens_once_is_as_long(berth: Berth, folder: Path) -> None:
    once = (
        project.COURSE.partition("    type:")[0]
        + """\
    type: once
    startDate: 2026-02-06
    endDate: 2026-02-08
    schedule: [{startTime: "18:00", endTime: "12:00"}]
  provisioning: {placeholderCount: 25, scaleDownBehavior: none}
"""
    )
    project.write(folder, course=once)
    refused = berth("copy", "course", "later", "--from", "2026-03-06", "--until", "2026-05-31")
    advice = "--from 2026-03-06 --until 2026-03-08"
    assert (refused.code, advice in refused.err) == (2, True)
    assert berth("copy", "course", "later", *advice.split()).code == 0
    assert "endDate: 2026-03-08" in (folder / "reservations/later.yaml").read_text("utf-8")


@pytest.mark.usefixtures("folder")
def test_a_copy_without_any_listed_date_is_refused(berth: Berth) -> None:
    later = berth("copy", "night", "later", "--from", "2026-03-01", "--until", "2026-03-02")
    assert (later.code, "nothing of the schedule of night" in later.err) == (2, True)


def test_a_line_that_begins_with_the_term_needs_no_from(berth: Berth, folder: Path) -> None:
    project.write(folder, course=course_of(LATE.replace("2026-02-16", "2026-02-02")))

    assert berth("copy", "course", "later", "--from", "2026-09-14", "--until", "2026-10-18").code == 0
    assert "from:" not in (folder / "reservations/later.yaml").read_text("utf-8")


def test_a_copy_without_any_schedule_line_is_refused(berth: Berth, folder: Path) -> None:
    project.write(folder, course=course_of(LATE))

    code, _, err = berth("copy", "course", "later", "--from", "2026-09-15", "--until", "2026-09-16")

    why = "nothing of the schedule of course would be left from 2026-09-15 to 2026-09-16"
    assert (code, err) == (2, f"berth: {why}. Give a later --until.\n")
    assert not (folder / "reservations/later.yaml").exists()


def happening(answer: Answer, later: timedelta) -> list[tuple[datetime, datetime, object]]:
    """Return the start, the end and the seats of each occurrence, so much later."""
    return [
        (*(datetime.fromisoformat(item[key]) + later for key in ("start", "end")), item["seats"])
        for item in json.loads(answer.out)["items"]
    ]


@tabled("edit")
@pytest.mark.parametrize("name", ["course", "rest"])
def test_a_copy_has_the_occurrences_of_the_edited_reservation(
    edits: list[list[str]], berth: Berth, folder: Path, name: str
) -> None:
    """The same happens in the weeks of the new term; a series that had ended goes on."""
    listed = "dates: [2026-02-07, 2026-02-14, 2026-02-21, 2026-02-28]"
    rest = project.REST.replace("dates: [2026-02-03]", listed).replace("  suspend: true\n", "")
    project.write(folder, course=course_of(EARLY.replace(", until: 2026-02-15", "")), rest=rest)
    for command, *words in edits:
        assert berth(command, name, *words).code == 0
    assert berth("copy", name, "again", "--from", "2026-11-02", "--until", "2026-11-29").code == 0

    first, again = (berth("occurrences", one, "-o", "json") for one in (name, "again"))
    expected = happening(first, timedelta(weeks=39))
    assert expected
    assert happening(again, timedelta())[: len(expected)] == expected


@pytest.mark.parametrize("lines", ["", EARLY + LATE], ids=["whole", "split"])
def test_a_copy_with_errors_is_not_written(berth: Berth, folder: Path, lines: str) -> None:
    project.write(folder, course=course_of(lines) if lines else project.COURSE)
    backwards = berth("copy", "course", "later", "--from", "2026-03-08", "--until", "2026-03-01")
    elsewhere = berth("copy", "course", "../../later", *TERM)

    assert (backwards.code, elsewhere.code) == (1, 1)
    assert backwards.err.endswith("reservations/later.yaml is not written.\n")
    assert {one.name for one in folder.rglob("*.yaml")} == set(project.FILES)


def test_delete_prints_the_removed_dates_and_removes_the_file(berth: Berth, folder: Path) -> None:
    code, out, err = berth("delete", "course")

    assert (code, err) == (0, "")
    assert out == (
        "reservations/course.yaml is removed:\n"
        "- course: Zürich, Café | Lab [prod]\n"
        "- 25 small: Mon 2026-02-02 09:00-13:00 (08:00-12:00 UTC)\n"
        "- 25 small: Tue 2026-02-24 09:00-13:00 (08:00-12:00 UTC)\n"
        "  seat-hours: 225 -> 0\n"
        "Next: berth render\n"
    )
    assert not (folder / "reservations/course.yaml").exists()


@pytest.mark.parametrize("is_first", [True, False], ids=["first", "last"])
def test_delete_keeps_the_other_documents_of_a_file(berth: Berth, folder: Path, is_first: bool) -> None:
    nap = project.REST.replace("rest", "nap")
    documents = [project.REST, nap] if is_first else [nap, project.REST]
    project.write(folder, rest="---\n".join(documents))

    out = berth("delete", "rest").out

    assert out.startswith("reservations/rest.yaml:\n- rest [lab]\n")
    assert (folder / "reservations/rest.yaml").read_text("utf-8").removeprefix("---\n") == nap
    assert berth("validate").code == 0
