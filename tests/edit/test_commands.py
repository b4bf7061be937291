"""`berth set`, `skip`, `move`, `extend`, `new`, `import`: what they write, say and refuse."""

import io
import json
import shutil
from datetime import date
from itertools import chain
from pathlib import Path

import pytest
from berth.edit.create import ReservationRequest
from berth.edit.edits import parse_assignment
from berth.notation.refusal import CommandError
from berth.schema.describe import json_schema

from tests.answer import Berth


def test_skip_says_which_date_is_gone(berth: Berth, folder: Path) -> None:
    assert berth("skip", "course", "2026-02-02") == (
        0,
        "reservations/course.yaml:\n"
        "~ course: Zürich, Café | Lab [prod]\n"
        "- 25 small: Mon 2026-02-02 09:00-13:00 (08:00-12:00 UTC)\n"
        "  1 other date stays\n"
        "  seat-hours: 225 -> 112.5\n"
        "Next: berth render\n",
        "",
    )
    text = (folder / "reservations/course.yaml").read_text("utf-8")
    assert "    except:\n      - 2026-02-02\n      - 2026-02-09\n" in text


def test_move_and_extend(berth: Berth) -> None:
    told = berth("move", "course", "2026-02-23", "--to", "2026-02-26 10:00-12:00").out
    assert "~ Tue 2026-02-24 09:00-13:00 -> Thu 2026-02-26 10:00-12:00\n" in told
    assert (
        "~ 22:00 to Sun 06:00 -> 22:00 to Sun 07:00: Sat 2026-02-07\n"
        in berth("extend", "night", "2026-02-07", "--until", "07:00").out
    )


def test_set_changes_several_things_at_once(berth: Berth) -> None:
    told = berth("set", "course", "provisioning.placeholderCount=40", "title=A: b").out
    assert "~ title: Zürich, Café | Lab -> A: b\n~ seats: 25 small -> 40 small\n" in told


def test_set_takes_away_and_makes_what_is_missing(berth: Berth, folder: Path) -> None:
    told = berth("set", "course", "recurrence.except=", "metadata.labels.term=spring", "suspend=true").out
    assert "~ suspended: no -> yes\n~ label term: none -> spring\n" in told
    text = (folder / "reservations/course.yaml").read_text("utf-8")
    assert "except" not in text
    assert "metadata: {name: course, labels: {term: spring}}\n" in text
    assert berth("set", "course", "recurrence.except=").code == 2
    assert berth("set", "course", "provisioning.leadTimeMinutes=10").code == 0


def test_what_would_not_validate_is_refused_and_nothing_is_written(berth: Berth, folder: Path) -> None:
    before = (folder / "reservations/course.yaml").read_bytes()
    assert berth("set", "course", "provisioning.placeholderCount=0") == (
        1,
        "",
        "reservations/course.yaml:16:36: error[B012] spec.provisioning.placeholderCount: 0 is below 1. "
        "Write a whole number from 1 up.\n1 error.\nreservations/course.yaml is not changed.\n",
    )
    assert berth("skip", "course", "2026-02-03").code == 1
    assert (folder / "reservations/course.yaml").read_bytes() == before


def test_errors_elsewhere_are_no_reason_to_refuse(berth: Berth, folder: Path) -> None:
    shutil.copy(folder / "reservations/rest.yaml", folder / "reservations/broken.yaml")
    broken = folder / "reservations/broken.yaml"
    broken.write_text(broken.read_text("utf-8").replace("name: rest", "name: -"), "utf-8")
    assert berth("validate").code == 1
    assert berth("skip", "course", "2026-02-02").code == 0


def test_what_it_says_already_is_not_written_again(berth: Berth) -> None:
    assert berth("set", "course", "provisioning.placeholderCount=25").out == (
        "reservations/course.yaml is unchanged: it already says so.\n"
    )


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
GIVEN = (
    "--class",
    "small",
    "--seats",
    "10",
    "--from",
    "2026-02-02",
    "--until",
    "2026-02-15",
    "--behaviour",
    "none",
)


def once_on(date: str, name: str = "algebra") -> tuple[str, ...]:
    """The command for a course of one date."""
    given = ("--dates", date, "--class", "small", "--seats", "5", "--behavior", "none")
    return ("new", name, "09:00-13:00", *given)


def test_new_writes_a_file_that_validates(berth: Berth, folder: Path) -> None:
    words = ("new", "algebra", "09:00-13:00", *GIVEN, "--weekly", "wed,mon", "--title", "Algebra: 1")
    told = berth(*words)
    assert (told.code, told.err) == (0, "")
    assert (folder / "reservations/algebra.yaml").read_text("utf-8") == NEW
    assert berth("validate").code == 0
    assert berth(*words) == (0, "reservations/algebra.yaml is unchanged: it already says so.\n", "")
    assert json.loads((folder / "reservations/.schema.json").read_text("utf-8")) == json_schema()


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        (("--interval", "2"), "    interval: 2\n"),
        (("--weeks", "odd"), 'endTime: "13:00", weeks: odd}\n'),
        (("--weeks", "even"), 'endTime: "13:00", weeks: even}\n'),
        (("--monthly", "1"), 'endTime: "13:00", monthly: {week: 1}}\n'),
        (("--monthly", "2"), 'endTime: "13:00", monthly: {week: 2}}\n'),
    ],
    ids=" ".join,
)
def test_new_leaves_out_weeks(berth: Berth, folder: Path, flags: tuple[str, ...], line: str) -> None:
    assert berth("new", "algebra", "09:00-13:00", *GIVEN, "--weekly", "mon,wed", *flags).code == 0
    assert line in (folder / "reservations/algebra.yaml").read_text("utf-8")


@pytest.mark.parametrize(
    "flags", [("--daily", "--weeks", "odd"), ("--weekly", "mon", "--weeks", "odd", "--interval", "2")]
)
def test_new_reports_what_contradicts_weeks(berth: Berth, flags: tuple[str, ...]) -> None:
    told = berth("new", "algebra", "09:00-13:00", *GIVEN, *flags)
    assert (told.code, told.err.startswith("--weeks: error[B016] ")) == (1, True)


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


def test_new_refuses_terms_with_dates_and_unknown_ones(berth: Berth, folder: Path) -> None:
    words = ("new", "algebra", "09:00-13:00", "--weekly", "mon", "--class", "small", "--seats", "25")

    assert berth(*words, "--within", "spring", "--from", "2026-02-02").code == 2
    assert "error[B054]" in berth(*words, "--within", "spring").err
    assert not (folder / "reservations/algebra.yaml").exists()


def asked(**more: str) -> ReservationRequest:
    """A request that has no dates yet, on Wednesday 2026-01-07, where a term is declared."""
    given = {"class": "small", "seats": "25", **more}
    return ReservationRequest("algebra", "weekly", ("09:00-13:00",), given, WEDNESDAY, ("spring-2026",))


WEDNESDAY = (date(2026, 1, 7) - date(1970, 1, 1)).days


def test_an_answer_to_the_first_date_may_be_a_term() -> None:
    assert asked().missing() == ["from", "until"]
    assert asked().with_answer("from", "spring-2026").missing() == []
    assert asked().with_answer("from", "2026-02-02").missing() == ["until"]


@pytest.mark.parametrize(
    ("answer", "first"),
    [("monday", date(2026, 1, 12)), ("Tomorrow", date(2026, 1, 8)), ("2026-02-02", date(2026, 2, 2))],
)
def test_an_answer_and_an_option_understand_the_same_dates(answer: str, first: date) -> None:
    assert asked().with_answer("from", answer).value("from") == first
    assert asked(**{"from": answer}).value("from") == first


@pytest.mark.parametrize(
    ("question", "answer", "code"),
    [
        ("name", "Linear Algebra", "B019"),
        ("seats", "many", "B013"),
        ("seats", "0", "B012"),
        ("when", "mond", "B014"),
        ("when", "12.01.2027", "B017"),
        ("when", "2027-02-02..2027-01-02", "B024"),
        ("times", "9-10", "B018"),
        ("times", "09:00-09:00", "B028"),
        ("times", "Extra=09:00-10:00", "B019"),
        ("from", "12.01.2027", "B017"),
        ("from", "1/12/2027", "B017"),
        ("from", "2026-02-30", "B017"),
        ("from", "spring", "B054"),
        ("from", "spring-2027", "B054"),
        ("until", "12.01.2027", "B017"),
        ("until", "2026-01-31", "B024"),
        ("match-labels", "course", "B020"),
    ],
)
def test_a_wrong_answer_is_refused_when_it_is_given_and_no_other_is_lost(
    question: str, answer: str, code: str
) -> None:
    request = asked(**({"from": "2026-02-02"} if question == "until" else {}))
    with pytest.raises(CommandError) as refused:
        request.with_answer(question, answer)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [
        ("--seats", "lots", "B013"),
        ("--seats", "0", "B012"),
        ("--seats", "late=5", "B014"),
        ("--lead", "-1", "B012"),
        ("--lead", "9000", "B012"),
        ("--lead", "007", "B013"),
        ("--lead", "1.5", "B013"),
        ("--interval", "99", "B012"),
        ("--weekly", "mon-fry", "B014"),
        ("--weeks", "60", "B012"),
        ("--monthly", "6", "B012"),
        ("--monthly", "first", "B013"),
        ("--from", "12.01.2027", "B017"),
        ("--until", "someday", "B017"),
        ("--time-zone", "PST", "B021"),
        ("--calendars", "a,,b", "B019"),
        ("--behavior", "keep", "B014"),
        ("--match-labels", "course=a b", "B020"),
        ("--title", "x" * 1201, "B012"),
        ("--owner", "", "B012"),
    ],
)
def test_an_option_has_the_grammar_and_the_code_of_its_field(
    berth: Berth, folder: Path, option: str, value: str, code: str
) -> None:
    given = {**dict(zip(GIVEN[::2], GIVEN[1::2], strict=True)), "--weekly": "mon", option: value}
    told = berth("new", "algebra", "09:00-13:00", *chain(*given.items()))

    assert (told.code, told.out) == (2, "")
    assert told.err.startswith(f"berth: {option}: ")
    assert told.err.endswith(f" [{code}]\n")
    assert not (folder / "reservations/algebra.yaml").exists()


@pytest.mark.parametrize(
    ("words", "place", "code"),
    [
        (("--calendars", "none"), "--calendars", "B062"),
        (("--class", "huge"), "--class", "B061"),
        (("--within", "none"), "--within", "B054"),
        (("--from", "2026-02-03", "--until", "2026-02-05"), "--until", "B042"),
    ],
)
def test_a_finding_about_a_file_that_is_not_written_names_the_option(
    berth: Berth, words: tuple[str, ...], place: str, code: str
) -> None:
    given = {"--class": "small", "--seats": "5", "--from": "2026-02-02", "--until": "2026-03-01"}
    given |= dict(zip(words[::2], words[1::2], strict=True))
    if "--within" in given:
        given = {key: value for key, value in given.items() if key not in ("--from", "--until")}
    told = berth("new", "algebra", "09:00-13:00", "--weekly", "mon", *chain(*given.items()))

    assert told.code == 1
    assert f"{place}: error[{code}] " in told.err
    assert "reservations/algebra.yaml:" not in told.err


def test_new_writes_a_line_for_each_group_and_nothing_warns_of_their_overlap(
    berth: Berth, folder: Path
) -> None:
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


def test_new_says_that_dates_may_be_wrong_in_a_project_with_errors(berth: Berth, folder: Path) -> None:
    site = folder / "reservations/site.yaml"
    site.write_text(site.read_text("utf-8").replace("engine: argocd", "engine: argo"), "utf-8")
    told = berth("new", "algebra", "09:00-13:00", *GIVEN, "--weekly", "mon")

    assert (told.code, "The project has errors, so the dates above may be wrong" in told.err) == (0, True)


def test_new_takes_days_from_today_and_ranges(berth: Berth, folder: Path) -> None:
    given = ("--class", "small", "--seats", "5", "--behavior", "none")
    words = ("new", "algebra", "09:00-13:00", *given, "--dates", "monday,2026-02-02..2026-02-04")
    assert berth(*words, "--now", "2026-01-07").code == 0

    text = (folder / "reservations/algebra.yaml").read_text("utf-8")
    assert "    dates: [2026-01-12, {from: 2026-02-02, to: 2026-02-04}]\n" in text


def test_new_never_writes_over_a_file(berth: Berth, folder: Path) -> None:
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
def test_new_writes_only_where_it_will_be_read(berth: Berth, file: str) -> None:
    told = berth("new", "algebra", "09:00-13:00", *GIVEN, "--daily", "--file", file)
    assert told == (
        2,
        "",
        f'berth: --file "{file}": name a file such as reservations/algebra.yaml.\n',
    )


def test_the_schema_is_named_from_wherever_the_file_lies(berth: Berth, folder: Path) -> None:
    file = "reservations/2026/spring/algebra.yaml"
    assert berth("new", "algebra", "09:00-13:00", *GIVEN, "--daily", "--file", file).code == 0
    assert (
        (folder / file).read_text("utf-8").startswith("# yaml-language-server: $schema=../../.schema.json\n")
    )


def test_new_says_everything_that_is_missing(berth: Berth) -> None:
    assert berth("new", "algebra", "09:00-13:00") == (
        2,
        "",
        "berth: missing: --class, --weekly, --daily, --once or --dates, --seats, --from or --within, "
        "--until.\n",
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("new", "x", "9-10", *GIVEN, "--daily"), '"9"'),
        (("new", "x", "noon", *GIVEN, "--daily"), '"noon"'),
        (("new", "x", "09:00-10:00", *GIVEN, "--weekly", "mo"), '"mo"'),
        (("new", "x", "09:00-10:00", *GIVEN, "--daily", "--once"), "--weekly, --daily, --once, --dates"),
        (("new", "x", "09:00-10:00", *GIVEN, "--weekly", "mon", "--weeks", "third"), '"third"'),
        (("new", "x", "09:00-10:00", *GIVEN, "--weekly", "mon", "--interval", "two"), '"two"'),
        (("skip", "course"), "'DATE [TIME]...'"),
        (("skip", "course", "someday"), '"someday"'),
        (("skip", "nobody", "2026-02-02"), '"nobody"'),
        (("move", "course", "2026-02-02"), "--to"),
        (("extend", "course", "2026-02-02"), "--until"),
        (("set", "course"), "PATH=VALUE or --seats"),
        (("set", "course", "--on", "2026-02-02"), "--on takes --seats"),
        (("set", "course", "title=A", "--on", "2026-02-02", "--seats", "3"), "--on takes --seats"),
        (("set", "course", "--seats", "3", "--start", "09:00"), "--on DATE"),
        (("set", "course", "--seats", "many"), '"many"'),
        (("set", "course", "--seats", "small=1,small=2"), '"small=1,small=2"'),
        (("set", "course", "--seats", "huge=3"), '"huge"'),
        (("set", "night", "--seats", "3"), "--seats small=3,bench=3"),
        (("set", "course", "--on", "2026-02-02", "--seats", "bench=3"), '"bench"'),
        (("import", "renku"), "'FILE...'"),
    ],
    ids=lambda value: "-".join(value[:1] + value[-1:]).replace(" ", "-") if isinstance(value, tuple) else "",
)
def test_a_slip_is_told(berth: Berth, words: tuple[str, ...], message: str) -> None:
    told = berth(*words)
    assert (told.code, told.out) == (2, "")
    assert message in told.err


PAYLOAD = [
    {
        "id": "01K9ZK4T8W3Q6M5N2R7V1X0Y9B",
        "name": "Intro to Statistics",
        "resource_class_id": 5,
        "project_template_id": "01JC3CB5426KC7P5STS5X3KSS9",
        "recurrence": {
            "type": "weekly",
            "start_date": "2026-02-17",
            "end_date": "2026-05-26",
            "schedule": [{"day_of_week": 2, "start_time": "12:15:00", "end_time": "14:00:00"}],
        },
        "provisioning": {"placeholder_count": 35, "lead_time_minutes": 20, "scale_down_behavior": "none"},
    }
]
IMPORTED = """\
# yaml-language-server: $schema=.schema.json
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata:
  name: {name}
spec:
  title: Intro to Statistics
  resourceClass: small
  recurrence:
    type: weekly
    startDate: 2026-02-17
    endDate: 2026-05-26
    timeZone: {zone}
    schedule:
      - {{dayOfWeek: tue, startTime: "{start}", endTime: "{end}"}}
  provisioning:
    placeholderCount: 35
    leadTimeMinutes: 20
    scaleDownBehavior: none
  sessions:
    projectTemplate: "01JC3CB5426KC7P5STS5X3KSS9"
"""


def number_the_class(folder: Path) -> None:
    """As Renku does."""
    classes = folder / "reservations/classes.yaml"
    text = classes.read_text("utf-8")
    classes.write_text(
        text.replace("spec:\n  cluster: prod", "spec:\n  renkuId: 5\n  cluster: prod"), "utf-8"
    )


@pytest.mark.parametrize(
    ("flags", "times"),
    [
        ((), {"zone": "UTC", "start": "12:15", "end": "14:00"}),
        (("--time-zone", "Europe/Zurich"), {"zone": "Europe/Zurich", "start": "13:15", "end": "15:00"}),
    ],
    ids=["utc", "zurich"],
)
def test_import_writes_an_editable_file(
    berth: Berth, folder: Path, flags: tuple[str, ...], times: dict[str, str]
) -> None:
    number_the_class(folder)
    (folder / "export.json").write_text(json.dumps(PAYLOAD))
    told = berth("import", "renku", "export.json", *flags)
    name = told.out.removeprefix("Wrote reservations/").partition(".yaml")[0]
    assert (told.code, name.rpartition("-")[0]) == (0, "intro-to-statistics")
    assert (folder / f"reservations/{name}.yaml").read_text("utf-8") == IMPORTED.format(name=name, **times)


def test_import_writes_all_or_nothing(berth: Berth, folder: Path) -> None:
    number_the_class(folder)
    two = [{**PAYLOAD[0], "id": None, "name": name} for name in ("first", "second")]
    (folder / "export.json").write_text(json.dumps(two))
    (folder / "reservations/second.yaml").write_text("# mine\n")
    told = berth("import", "renku", "export.json")
    assert (told.code, told.out) == (2, "")
    assert told.err.endswith("reservations/second.yaml: the file exists; nothing was written.\n")
    assert not (folder / "reservations/first.yaml").exists()


def test_import_can_suspend(berth: Berth, folder: Path) -> None:
    number_the_class(folder)
    (folder / "export.json").write_text(json.dumps([{**PAYLOAD[0], "id": None}]))
    assert berth("import", "renku", "export.json", "--suspend").code == 0
    text = (folder / "reservations/intro-to-statistics.yaml").read_text("utf-8")
    assert text.endswith("\n  suspend: true\n")


def test_a_payload_is_not_edited_but_imported(berth: Berth, folder: Path) -> None:
    number_the_class(folder)
    (folder / "reservations/export.json").write_text(json.dumps([{**PAYLOAD[0], "id": None}]))
    assert (
        "Convert it first: berth import renku reservations/export.json"
        in berth("skip", "intro-to-statistics", "2026-02-17").err
    )


@pytest.mark.parametrize("command", [("set", "suspend=true"), ("skip", "2026-02-02")], ids=["set", "skip"])
def test_an_unknown_name_gets_a_suggestion(command: tuple[str, str], berth: Berth) -> None:
    told = berth(command[0], "curse", command[1])

    assert (told.code, told.out) == (2, "")
    assert told.err == 'berth: no reservation named "curse". Did you mean course?\n'


def test_a_date_that_does_not_exist_is_reported_at_its_field(berth: Berth, folder: Path) -> None:
    file = folder / "reservations/course.yaml"
    before = file.read_text("utf-8")
    told = berth("set", "course", "recurrence.startDate=2026-02-30")

    assert told.code == 1
    assert "error[B017] spec.recurrence.startDate: " in told.err
    assert file.read_text("utf-8") == before


@pytest.mark.parametrize("command", [("set", "suspend=true"), ("skip", "2026-02-09")], ids=["set", "skip"])
def test_errors_of_the_file_explain_why_it_is_not_edited(
    command: tuple[str, str], berth: Berth, folder: Path
) -> None:
    file = folder / "reservations/course.yaml"
    wrong = file.read_text("utf-8").replace("startDate: 2026-02-02", "startDate: 2026-02-30")
    file.write_text(wrong, "utf-8")
    told = berth(command[0], "course", command[1])

    assert (told.code, told.out) == (1, "")
    assert "error[B017] spec.recurrence.startDate: " in told.err
    assert told.err.endswith("reservations/course.yaml is not changed.\n")
    assert file.read_text("utf-8") == wrong


def test_import_does_not_drop_another_document_of_the_file(berth: Berth, folder: Path) -> None:
    number_the_class(folder)
    other = (
        "apiVersion: berth.dev/v1alpha1\nkind: Calendar\nmetadata: {name: a}\nspec: {dates: [2026-05-01]}\n"
    )
    (folder / "export.yaml").write_text(f"{json.dumps(PAYLOAD)}\n---\n{other}")
    told = berth("import", "renku", "export.yaml")

    assert (told.code, told.out) == (2, "")
    assert "document 2" in told.err


@pytest.mark.parametrize("source", ["renku", "renku-classes", "z2jh"])
def test_a_missing_export_is_a_finding(source: str, berth: Berth) -> None:
    told = berth("import", source, "export.json")

    assert (told.code, told.out) == (1, "")
    assert told.err.startswith("export.json:1:1: error[B001] ")


def test_an_export_may_come_from_a_pipe(berth: Berth, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number_the_class(folder)
    export = io.TextIOWrapper(io.BytesIO(json.dumps([{**PAYLOAD[0], "id": None}]).encode()))
    monkeypatch.setattr("sys.stdin", export)

    assert berth("import", "renku", "-").code == 0
    assert (folder / "reservations/intro-to-statistics.yaml").exists()


def test_a_typo_is_told_at_once_and_written_unless_strict(berth: Berth, folder: Path) -> None:
    told = berth(*once_on("2025-02-02"), "--strict", "--now", "2026-01-10")
    assert (told.code, told.out) == (1, "")
    assert not (folder / "reservations/algebra.yaml").exists()

    told = berth(*once_on("2025-02-02"), "--now", "2026-01-10")
    assert (told.code, "warning[B081]" in told.err) == (0, True)
    assert (folder / "reservations/algebra.yaml").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("skip", "course", "2026-02-02", "25:00"),
        ("move", "course", "2026-02-02", "--to", "25:00"),
        ("extend", "course", "2026-02-02", "--until", "25:00"),
        ("set", "course", "--on", "2026-02-02", "--start", "25:00", "--seats", "3"),
        ("occurrences", "--at", "2026-02-02 25:00"),
    ],
    ids=lambda words: words[0],
)
def test_an_hour_that_does_not_exist_is_told_as_one(berth: Berth, words: tuple[str, ...]) -> None:
    told = berth(*words)
    last = "24:00" if words[0] == "extend" else "23:59"
    assert (told.code, told.out) == (2, "")
    assert told.err.endswith(f'"25:00" is not a time of day. Write a time from 00:00 to {last}. [B018]\n')


def test_a_span_without_a_sign_is_told_with_one(berth: Berth) -> None:
    assert berth("occurrences", "--until", "2h").err.endswith('"2h" is not an instant. Write +2h. [B018]\n')


LARGE = "  policies: [{name: large, when: {seatsAbove: 25}, require: {approvalBy: platform}}]\n"


def test_an_edit_says_who_must_approve_it(berth: Berth, folder: Path) -> None:
    site = folder / "reservations/site.yaml"
    site.write_text(site.read_text("utf-8") + LARGE, "utf-8")

    assert "policy" not in berth("set", "course", "title=Course").out
    assert berth("set", "course", "provisioning.placeholderCount=26").out.endswith(
        "! course: needs approval by platform, policy large: 26 seats, above 25\nNext: berth render\n"
    )


def test_new_writes_an_owner(berth: Berth, folder: Path) -> None:
    assert berth(*once_on("2026-02-02"), "--owner", "Ada: L.", "--contact", "@ada").code == 0
    text = (folder / "reservations/algebra.yaml").read_text("utf-8")

    assert text.endswith('  owner:\n    name: "Ada: L."\n    contact: "@ada"\n')
    assert berth(*once_on("2026-02-02", "logic"), "--contact", "@ada").code == 2
    assert berth(*once_on("2026-02-02", "logic"), "--owner", "").code == 2


@pytest.mark.parametrize(
    ("assignment", "advice"),
    [
        ("recurrence.schedule.startTime=08:30", "Write recurrence.schedule[0].startTime."),
        ("recurrence.schedule.monthly.week=1", "Write recurrence.schedule[0].monthly.week."),
        ("recurrence.except.date=2026-02-02", "Write recurrence.except[0], or all of it"),
        ("recurrence.schedule[7].startTime=08:30", "is not in the file."),
        ("provisioning.placeholderCount.x=1", "Write provisioning.placeholderCount=VALUE."),
        ("provisioning.placeholderCount.x.y=1", "Write provisioning.placeholderCount=VALUE."),
        ("provisioning.placeholderCount.x=", "Write provisioning.placeholderCount=VALUE."),
        ("title.x=1", "Write title=VALUE."),
        ("title[0]=1", "is not in the file."),
        ("seats=40", "Write --seats 40, or provisioning.placeholderCount=40 for one class."),
        ("leadTime=45", "Did you mean provisioning.leadTimeMinutes?"),
    ],
)
def test_a_path_that_leads_nowhere_is_refused_with_one_that_does(
    berth: Berth, folder: Path, assignment: str, advice: str
) -> None:
    before = (folder / "reservations/course.yaml").read_bytes()
    answer = berth("set", "course", assignment)
    assert answer.code == 2
    assert answer.err.endswith((f"{advice}\n", "=[...].\n"))
    assert advice in answer.err
    assert (folder / "reservations/course.yaml").read_bytes() == before


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("#1 course", "#1 course"),
        ("|", "|"),
        ("> x", "> x"),
        ("C# course # x", "C# course # x"),
        ("&a x", "&a x"),
        ("*a", "*a"),
        ("!t x", "!t x"),
        ("- a", "- a"),
        ("a: b", "a: b"),
        ('"quoted # text"', "quoted # text"),
        ("'[1]'", "[1]"),
        ("25", 25),
        ("1 # x", "1 # x"),
        ("[a, b]", ["a", "b"]),
        ("{a: 1}", {"a": 1}),
        (" ", None),
        ("~", None),
        ("NULL", None),
    ],
)
def test_a_value_is_all_of_its_text(text: str, value: object) -> None:
    assert parse_assignment(f"title={text}").value == value


@pytest.mark.parametrize(
    "text", ['"a" # b', "[a] # b", '"a", "b"', "[a], [b]", '"a": b', "'a' b", "[a", "{a: 1} #"]
)
def test_a_value_of_which_yaml_would_read_a_part_is_refused(text: str) -> None:
    with pytest.raises(CommandError, match="not valid YAML"):
        parse_assignment(f"title={text}")


@pytest.mark.parametrize(
    "path", ["metadata.annotations.example.org/why", 'metadata.annotations["example.org/why"]']
)
def test_a_key_with_dots_is_one_key(berth: Berth, folder: Path, path: str) -> None:
    assert berth("set", "course", f"{path}=exam").code == 0
    assert "annotations: {example.org/why: exam}" in (folder / "reservations/course.yaml").read_text("utf-8")
    assert berth("set", "course", f"{path}=").code == 0
    assert "example.org" not in (folder / "reservations/course.yaml").read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "form"),
    [
        (("new", "e", "a=09:00-11:00", "b=09:00-11:40", "--class", "small"), "a=120,b=120"),
        (("new", "e", "09:00-11:00", "--class", "small,bench"), "small=120,bench=120"),
    ],
    ids=["groups", "classes"],
)
def test_one_number_for_several_is_refused_with_the_form_to_write(
    berth: Berth, words: tuple[str, ...], form: str
) -> None:
    answer = berth(*words, "--dates", "2026-02-02", "--seats", "120")
    assert (answer.code, answer.out) == (2, "")
    assert f"{form}. [B011]" in answer.err
    request = ReservationRequest("e", "dates", words[2:-2], {"class": words[-1], "dates": "2026-02-02"})
    assert request.missing() == ["seats"]
    assert request.example("seats") == form.replace("120", "25")
    with pytest.raises(CommandError, match=form):
        request.with_answer("seats", "120")


def test_several_spans_without_names_share_one_number(berth: Berth) -> None:
    given = ("--class", "small", "--seats", "5", "--dates", "2026-02-02", "--behavior", "none")
    assert berth("new", "e", "09:00-11:00", "13:00-14:00", *given).code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("set", "course", "--seats", "5", "--seats", "6"), "--seats is given twice."),
        (("move", "course", "2026-02-02", "--to", "10:00", "--to", "11:00"), "--to is given twice."),
        (("set", "course", "suspend=true", "suspend=false"), "suspend: two values"),
        (("set", "course", "title=a", "spec.title=b"), "title: two values"),
        (("set", "course", "metadata.labels={a: b}", "metadata.labels.a=c"), "two values for one place"),
        (("set", "course", "--seats", "5", "placeholderCount=6"), "are one place"),
        (("new", "x", "09:00-10:00", *GIVEN, "--daily", "--match-labels", "a=b,a=c"), '"a" has two values'),
    ],
)
def test_of_two_values_for_one_place_none_is_taken(
    berth: Berth, folder: Path, words: tuple[str, ...], message: str
) -> None:
    before = (folder / "reservations/course.yaml").read_bytes()
    answer = berth(*words)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err
    assert (folder / "reservations/course.yaml").read_bytes() == before


def test_the_dates_of_questions_are_ahead() -> None:
    assert asked().example("from") == "2026-01-12"
    assert asked(**{"from": "2026-01-12"}).example("until") == "2026-04-24"


@pytest.mark.parametrize("word", ["mond", "mon-fry"])
def test_a_sentence_has_one_end(berth: Berth, word: str) -> None:
    answer = berth("new", "x", "09:00-10:00", *GIVEN, "--weekly", word)
    assert "?." not in answer.err
    assert ".." not in answer.err


@pytest.mark.parametrize(
    ("words", "line", "dates"),
    [
        ("--weeks odd", "weeks: odd", 6),
        ("--weeks 11-13,15", "weeks: [11, 12, 13, 15]", 4),
        ("--weeks 12", "weeks: [12]", 1),
        ("--monthly -1", "monthly: {week: -1}", 3),
    ],
)
def test_new_writes_in_which_weeks_it_happens(
    berth: Berth, folder: Path, words: str, line: str, dates: int
) -> None:
    command = f"new weekly 09:00-11:00 --weekly mon {words} --class small --seats 5 --behavior none"
    assert berth(*command.split(), "--from", "2026-03-02", "--until", "2026-05-29").code == 0
    assert line in (folder / "reservations/weekly.yaml").read_text("utf-8")
    assert berth("occurrences", "weekly").out.count("\nweekly ") == dates
