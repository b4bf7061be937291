"""`berth new`: the file that it writes, and which answers and options it refuses."""

import json
from datetime import date
from pathlib import Path

import pytest
from berth.edit.create import ReservationRequest
from berth.notation.refusal import CommandError
from berth.schema.describe import json_schema

from tests.answer import Berth
from tests.cases import tabled
from tests.cli import project
from tests.edit.newcourse import GIVEN, once_on, with_sessions

NEW = """\
# yaml-language-server: $schema=.schema.json
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata:
  name: algebra
spec:
  title: "Algebra: 1"
  resourceClass: small
  recurrence:
    type: weekly
    startDate: 2026-02-02
    endDate: 2026-02-15
    schedule:
      - {daysOfWeek: [mon, wed], startTime: "09:00", endTime: "13:00"}
  provisioning:
    placeholderCount: 10
    leadTimeMinutes: 30
    scaleDownBehavior: none
"""


def test_new_writes_a_file_that_validates(berth: Berth, folder: Path) -> None:
    words = ("new", "algebra", "09:00-13:00", *GIVEN, "--weekly", "wed,mon", "--title", "Algebra: 1")
    told = berth(*words)
    assert (told.code, told.err) == (0, "")
    assert (folder / "reservations/algebra.yaml").read_text("utf-8") == NEW
    assert berth("validate").code == 0
    assert berth(*words) == (0, "reservations/algebra.yaml is unchanged: it already says so.\n", "")
    assert json.loads((folder / "reservations/.schema.json").read_text("utf-8")) == json_schema()


def test_new_takes_terms_instead_of_dates(berth: Berth, folder: Path) -> None:
    (folder / "reservations/terms.yaml").write_text(
        "apiVersion: berth.dev/v1alpha1\nkind: Calendar\nmetadata: {name: terms}\n"
        "spec: {terms: [{name: spring, from: 2026-02-02, to: 2026-02-20}]}\n",
        "utf-8",
    )
    words = ("new", "algebra", "09:00-13:00", "--weekly", "mon", "--class", "small", "--seats", "25")
    told = berth(*words, "--behavior", "none", "--within", "spring")

    assert told.code == 0
    assert "+ 25 small: Mon 2026-02-16 09:00-13:00" in told.out
    text = (folder / "reservations/algebra.yaml").read_text("utf-8")
    assert "    within: [spring]\n" in text
    assert "startDate" not in text


def asked(**more: str) -> ReservationRequest:
    """A request that has no dates yet, on Wednesday 2026-01-07, where a term is declared."""
    given = {"class": "small", "seats": "25", **more}
    return ReservationRequest("algebra", "weekly", ("09:00-13:00",), given, WEDNESDAY, ("spring-2026",))


WEDNESDAY = (date(2026, 1, 7) - date(1970, 1, 1)).days


@pytest.mark.parametrize(
    ("answer", "first"),
    [("monday", date(2026, 1, 12)), ("Tomorrow", date(2026, 1, 8)), ("2026-02-02", date(2026, 2, 2))],
)
def test_an_answer_and_an_option_understand_the_same_dates(answer: str, first: date) -> None:
    assert asked().with_answer("from", answer).value("from") == first
    assert asked(**{"from": answer}).value("from") == first


@tabled("edit")
def test_a_wrong_answer_is_refused_when_it_is_given(question: str, answer: str, code: str) -> None:
    request = asked(**({"from": "2026-02-02"} if question == "until" else {}))
    with pytest.raises(CommandError) as refused:
        request.with_answer(question, answer)
    assert refused.value.code == code


def test_new_writes_a_line_for_each_group_without_an_overlap_warning(berth: Berth, folder: Path) -> None:
    told = berth(
        *("new", "exam", "regular=14:00-16:00", "extra-time=14:00-17:00", "--dates", "2026-02-02"),
        *("--class", "small", "--seats", "regular=120,extra-time=8", "--behavior", "none"),
    )

    assert (told.code, told.err) == (0, "")
    text = (folder / "reservations/exam.yaml").read_text("utf-8")
    assert '- {startTime: "14:00", endTime: "16:00", name: regular}\n' in text
    assert '- {startTime: "14:00", endTime: "17:00", name: extra-time, placeholderCount: 8}\n' in text
    assert "    placeholderCount: 120\n" in text


def test_new_takes_several_classes(berth: Berth, folder: Path) -> None:
    given = ("--class", "small,bench", "--seats", "small=25,bench=4", "--behavior", "none")
    assert berth("new", "rooms", "14:00-16:00", "--dates", "2026-02-02", *given).code == 0

    text = (folder / "reservations/rooms.yaml").read_text("utf-8")
    assert "- {resourceClass: small, placeholderCount: 25}\n" in text
    assert "- {resourceClass: bench, placeholderCount: 4}\n" in text
    told = berth("new", "more", "14:00-16:00", "--dates", "2026-02-02", *given[:2], "--seats", "small=25")
    assert told.err.endswith(" [B011]\n")


def test_new_says_which_dates_holidays_leave_out(berth: Berth) -> None:
    dates = ("--from", "2026-02-02", "--until", "2026-03-01", "--calendars", "holidays")
    usual = ("--class", "small", "--seats", "10", "--behavior", "none")
    told = berth("new", "algebra", "09:00-13:00", *usual, "--weekly", "mon", *dates)

    assert "  left out by calendar holidays: Carnival: Mon 2026-02-16\n" in told.out


@pytest.mark.parametrize(
    ("day", "verb"), [("2027-03-28", "skips"), ("2027-10-31", "repeats")], ids=["skipped", "repeated"]
)
def test_a_command_says_which_date_a_clock_change_moves(berth: Berth, day: str, verb: str) -> None:
    new = berth(*f"new owls 02:30-06:00 --class small --seats 1 --behavior none --dates {day}".split())
    moved = (
        berth("move", "owls", day, "--to", "2027-05-02"),
        berth("move", "owls", "2027-05-02", "--to", f"{day} 02:10-03:30"),
    )

    told = [f": a clock change {verb} the time" in one.out for one in (new, *moved)]
    assert told == [True, False, True]


def test_new_says_that_dates_may_be_wrong_in_a_project_with_errors(berth: Berth, folder: Path) -> None:
    project.change(folder, "site", "engine: argocd", "engine: argo")
    told = berth("new", "algebra", "09:00-13:00", *GIVEN, "--weekly", "mon")

    assert (told.code, "The project has errors, so the dates above may be wrong" in told.err) == (0, True)


def test_new_accepts_weekday_names_and_ranges_as_dates(berth: Berth, folder: Path) -> None:
    given = ("--class", "small", "--seats", "5", "--behavior", "none")
    words = ("new", "algebra", "09:00-13:00", *given, "--dates", "monday,2026-02-02..2026-02-04")
    assert berth(*words, "--now", "2026-01-07").code == 0

    text = (folder / "reservations/algebra.yaml").read_text("utf-8")
    assert "    dates:\n      - 2026-01-12\n      - {from: 2026-02-02, to: 2026-02-04}\n" in text


def test_new_never_overwrites_a_file(berth: Berth, folder: Path) -> None:
    before = (folder / "reservations/course.yaml").read_bytes()
    assert berth("new", "course", "09:00-13:00", *GIVEN, "--weekly", "mon") == (
        2,
        "",
        "berth: reservations/course.yaml: the file exists; nothing was written.\n",
    )
    told = berth("new", "course", "09:00-13:00", *GIVEN, "--weekly", "mon", "--file", "reservations/b.yaml")
    assert (told.code, "reservations/b.yaml is not written." in told.err) == (1, True)
    assert (folder / "reservations/course.yaml").read_bytes() == before
    assert not (folder / "reservations/b.yaml").exists()


@pytest.mark.parametrize(
    "file", ["elsewhere/a.yaml", "reservations/../a.yaml", "reservations/.a.yaml", "reservations/a.txt"]
)
def test_new_refuses_a_file_that_would_not_be_read(berth: Berth, file: str) -> None:
    told = berth("new", "algebra", "09:00-13:00", *GIVEN, "--daily", "--file", file)
    assert told == (
        2,
        "",
        f'berth: --file "{file}": name a file such as reservations/algebra.yaml.\n',
    )


def test_a_file_in_a_subfolder_names_the_schema_by_its_relative_path(berth: Berth, folder: Path) -> None:
    file = "reservations/2026/spring/algebra.yaml"
    assert berth("new", "algebra", "09:00-13:00", *GIVEN, "--daily", "--file", file).code == 0
    assert (
        (folder / file).read_text("utf-8").startswith("# yaml-language-server: $schema=../../.schema.json\n")
    )


def test_new_names_all_missing_options(berth: Berth) -> None:
    assert berth("new", "algebra", "09:00-13:00") == (
        2,
        "",
        "berth: missing: --class, --weekly, --daily, --once or --dates, --seats, --from or --within, "
        "--until.\n",
    )


def test_new_writes_an_owner(berth: Berth, folder: Path) -> None:
    assert berth(*once_on("2026-02-02"), "--owner", "Ada: L.", "--contact", "@ada").code == 0
    text = (folder / "reservations/algebra.yaml").read_text("utf-8")

    assert text.endswith('  owner:\n    name: "Ada: L."\n    contact: "@ada"\n')
    assert berth(*once_on("2026-02-02", "logic"), "--contact", "@ada").code == 2
    assert berth(*once_on("2026-02-02", "logic"), "--owner", "").code == 2


@tabled("edit")
def test_one_number_for_several_groups_or_classes_is_refused_with_an_example(
    words: list[str], form: str, berth: Berth
) -> None:
    answer = berth(*words, "--dates", "2026-02-02", "--seats", "120")
    assert (answer.code, answer.out) == (2, "")
    assert f"{form}. [B011]" in answer.err
    request = ReservationRequest(
        "e", "dates", tuple(words[2:-2]), {"class": words[-1], "dates": "2026-02-02"}
    )
    assert request.missing() == ["seats"]
    assert request.example("seats") == form.replace("120", "25")
    with pytest.raises(CommandError, match=form):
        request.with_answer("seats", "120")


def test_unnamed_time_spans_share_one_seat_count(berth: Berth) -> None:
    given = ("--class", "small", "--seats", "5", "--dates", "2026-02-02", "--behavior", "none")
    assert berth("new", "e", "09:00-11:00", "13:00-14:00", *given).code == 0


def test_example_dates_in_questions_are_in_the_future() -> None:
    assert asked().example("from") == "2026-01-12"
    assert asked(**{"from": "2026-01-12"}).example("until") == "2026-04-24"


@tabled("edit")
def test_new_writes_the_weeks_in_which_a_course_happens(
    words: str, line: str, dates: int, berth: Berth, folder: Path
) -> None:
    command = f"new weekly 09:00-11:00 --weekly mon {words} --class small --seats 5 --behavior none"
    assert berth(*command.split(), "--from", "2026-03-02", "--until", "2026-05-29").code == 0
    assert line in (folder / "reservations/weekly.yaml").read_text("utf-8")
    assert berth("occurrences", "weekly").out.count("\nweekly ") == dates


def test_a_past_date_gets_the_warning_b081_and_is_written_unless_strict(berth: Berth, folder: Path) -> None:
    told = berth(*once_on("2025-02-02"), "--strict", "--now", "2026-01-10")
    assert (told.code, told.out) == (1, "")
    assert not (folder / "reservations/algebra.yaml").exists()

    told = berth(*once_on("2025-02-02"), "--now", "2026-01-10")
    assert (told.code, "warning[B081]" in told.err) == (0, True)
    assert (folder / "reservations/algebra.yaml").exists()


OTHERS = (
    "! All sessions of class small count for more, also those of {}: while 10 of them run, no seat is held."
)
LABEL = "! To count only its own, label their pods, and: berth set more sessions.matchLabels.course=more"
MORE = ("new", "more", "09:00-13:00", *GIVEN[:-2], "--weekly", "mon")


@tabled("edit")
def test_new_warns_first_about_other_sessions_that_take_its_seats(
    flags: list[str], is_told: bool, berth: Berth, folder: Path
) -> None:
    with_sessions(folder)
    told = berth(*MORE, *flags)

    lines = [OTHERS.format("course, night"), LABEL] if is_told else []
    assert told.out.splitlines()[: len(lines) + 2] == ["reservations/more.yaml:", *lines, "+ more [prod]"]


def test_a_rehearsal_is_not_listed_among_the_courses_that_take_seats(berth: Berth, folder: Path) -> None:
    with_sessions(folder)
    assert berth("rehearse", "night", "2026-02-07", "--now", "2026-01-10").code == 0

    assert berth(*MORE, "--behavior", "maintain").out.splitlines()[1] == OTHERS.format("course, night")


def test_courses_of_another_class_and_suspended_courses_take_no_seats(berth: Berth, folder: Path) -> None:
    with_sessions(folder)
    assert (berth("set", "course", "suspend=true").code, berth("delete", "night").code) == (0, 0)

    large = [{"small": "large"}.get(word, word) for word in MORE]

    assert berth(*MORE, "--behavior", "maintain").out.splitlines()[1] == "+ more [prod]"
    assert berth("delete", "more").code == 0
    assert berth(*large, "--behavior", "maintain").out.splitlines()[1] == "+ more [prod]"


_SECOND_TIME = ("new", "x", "09:00-10:00", "14:00-15:00", *GIVEN, "--weekly", "mon")
_ITS_CRONJOB = ("new", "x-2", "09:00-10:00", *GIVEN, "--weekly", "mon")


@pytest.mark.parametrize(
    ("known", "edit"),
    [
        ([_ITS_CRONJOB], _SECOND_TIME),
        ([_SECOND_TIME], _ITS_CRONJOB),
        (
            [_ITS_CRONJOB, (*_ITS_CRONJOB[:1], "x", *_ITS_CRONJOB[2:])],
            ("add", "x", "2026-02-04", "14:00-15:00"),
        ),
        (
            [_ITS_CRONJOB, (*_ITS_CRONJOB[:1], "x", *_ITS_CRONJOB[2:])],
            ("move", "x", "2026-02-02", "--to", "14:00"),
        ),
        ([_SECOND_TIME], ("copy", "x", "x-2", "--from", "2026-03-02", "--until", "2026-03-16")),
    ],
    ids=["new-x", "new-x-2", "add", "move", "copy"],
)
def test_each_edit_is_judged_in_the_project_as_it_will_be(
    known: list[tuple[str, ...]], edit: tuple[str, ...], berth: Berth, folder: Path
) -> None:
    """A second time of day of `x` needs a CronJob `x-2`, which another reservation may have."""
    assert [berth(*words).code for words in known] == [0] * len(known)
    before = {file.name: file.read_bytes() for file in (folder / "reservations").iterdir()}

    told = berth(*edit)

    assert (told.code, "error[B066]" in told.err) == (1, True)
    assert {file.name: file.read_bytes() for file in (folder / "reservations").iterdir()} == before
