"""The command `berth import ics`: what it writes, says and refuses."""

import io
import json
import os
from pathlib import Path

import pytest

from tests.answer import Answer, Berth
from tests.cases import tabled
from tests.cli import project
from tests.edit.events import event, feed

WEEKLY = ("DTSTART;TZID=Europe/Zurich:20260302T140000", "DURATION:PT2H", "RRULE:FREQ=WEEKLY;COUNT=3")
COURSE = ("import", "ics", "team.ics", "--class", "small", "--seats", "5")
HEAD = "EVENT RESULT FILE WHY"


def write(folder: Path, *events: str) -> None:
    (folder / "team.ics").write_bytes(feed(*events).text)


def lines(told: Answer) -> list[str]:
    """Return what a command printed, with single spaces."""
    return [" ".join(line.split()) for line in told.out.splitlines()]


@pytest.mark.parametrize(
    "line",
    [
        "SUMMARY:{}",
        "UID:{}",
        "DTSTART;TZID={}:20260302T140000",
        "RRULE:FREQ={}",
        "DESCRIPTION:seats: {}",
        "X-{}:x",
    ],
)
def test_messages_about_huge_values_stay_short(berth: Berth, folder: Path, line: str) -> None:
    head = ["BEGIN:VCALENDAR", "X-WR-TIMEZONE:" + "x" * 900_000, "BEGIN:VEVENT", line.format("x" * 900_000)]
    others = [one for one in ("UID:1", *WEEKLY, "SEQUENCE:x") if one[:4] != line[:4]]
    text = "\r\n".join([*head, *others, "END:VEVENT", "END:VCALENDAR", ""])
    (folder / "team.ics").write_text(text, "utf-8")
    answer = berth(*COURSE)

    assert answer.err
    assert len(answer.err + answer.out) < 2000


def test_a_table_lists_each_event_with_its_result_and_reason(berth: Berth, folder: Path) -> None:
    write(
        folder,
        event(*WEEKLY, title="Algebra", uid="1"),
        event(*WEEKLY[:2], "RRULE:FREQ=MONTHLY", title="Endless", uid="2"),
        event(*WEEKLY, "STATUS:CANCELLED", title="Off", uid="3"),
        event(*WEEKLY, "DESCRIPTION:seats: ~9", title="About", uid="4"),
        event("DTSTART:20250302T100000", "DURATION:PT1H", title="Past", uid="5"),
        event("DTSTART:20300302T100000", "DURATION:PT1H", title="Far", uid="7"),
        event(*WEEKLY, "CATEGORIES:Exam", title="Exam", uid="6"),
    )
    first = berth(*COURSE, "--skip", "category:exam")
    again = json.loads(berth(*COURSE, "--skip", "category:exam", "-o", "json").out)

    assert (first.code, lines(first)) == (
        0,
        [
            HEAD,
            "Algebra new reservations/algebra.yaml 3 dates, 5 seats of --seats",
            "Endless new reservations/endless.yaml 22 dates until 2027-12-02; for later ones, give --until, "
            "5 seats of --seats",
            "Off canceled canceled in the calendar",
            'About not imported "~9" is not a whole number from 1 up',
            "Past over it has no date to come",
            "Far left out outside of --from and --until",
            "Exam skipped --skip category:exam",
        ],
    )
    assert again["kind"] == "ImportedEventList"
    assert again["items"][0] == {
        "event": "Algebra",
        "result": "unchanged",
        "file": "reservations/algebra.yaml",
        "reason": "3 dates",
        "line": 4,
    }


@pytest.mark.usefixtures("site_holidays")
def test_dates_on_holidays_of_the_site_are_listed_and_not_counted(berth: Berth, folder: Path) -> None:
    head = ("DTSTART;TZID=Europe/Zurich:20260202T140000", "DURATION:PT2H")
    left_out = "; left out by calendar holidays: Carnival: Mon 2026-02-16"
    rows = []
    for count in (4, 4, 5):
        rule = (f"RRULE:FREQ=WEEKLY;COUNT={count}", "EXDATE;TZID=Europe/Zurich:20260209T140000")
        write(folder, event(*head, *rule, title="Owls"))
        rows.append(lines(berth(*COURSE))[1].partition("owls.yaml ")[2])

    assert rows == [f"{text}{left_out}" for text in ("2 dates, 5 seats of --seats", "2 dates", "dates")]


def test_a_long_list_begins_with_the_events_that_are_not_imported(berth: Berth, folder: Path) -> None:
    days = [event(*WEEKLY, title=f"Course {n}", uid=str(n)) for n in range(25)]
    write(folder, *days, event("DTSTART:soon", title="Faulty", uid="x"))
    told = lines(berth(*COURSE))

    assert (len(told), told[1].split()[0], told[-1]) == (20, "Faulty", "8 more; -o json shows all.")
    assert len(json.loads(berth(*COURSE, "-o", "json").out)["items"]) == 26


def test_an_import_without_any_event_exits_with_1(berth: Berth, folder: Path) -> None:
    write(folder)
    empty = berth(*COURSE)
    write(folder, event(*WEEKLY, "STATUS:CANCELLED"))
    canceled = berth(*COURSE)

    assert (empty.code, empty.out) == (1, "There is no event to import.\n")
    assert (canceled.code, lines(canceled)[1:]) == (1, ["Course canceled canceled in the calendar"])


def test_a_calendar_is_written(berth: Berth, folder: Path) -> None:
    write(folder, event("DTSTART;VALUE=DATE:20260406", title="Easter Monday"))
    told = berth("import", "ics", "team.ics", "--calendar", "feast-days")
    text = (folder / "reservations/feast-days.yaml").read_text("utf-8")

    assert (told.code, lines(told)) == (
        0,
        [
            HEAD,
            "Easter Monday closed reservations/feast-days.yaml 2026-04-06",
            "Next: no reservation follows feast-days yet. Write calendars: [feast-days] in the Site for all, "
            "or in the recurrence of each that it holds for.",
        ],
    )
    assert text.endswith("spec:\n  dates:\n    - {date: 2026-04-06, title: Easter Monday}\n")


def test_days_that_are_no_longer_closed_come_first(berth: Berth, folder: Path) -> None:
    days = [event(f"DTSTART;VALUE=DATE:202604{n}", title=f"Day {n}", uid=f"{n}") for n in range(10, 31)]
    command = ("import", "ics", "team.ics", "--calendar", "feast-days")
    write(folder, *days, event("DTSTART;VALUE=DATE:20260501", title="Zero", uid="z"))
    berth(*command)
    file = folder / "reservations/feast-days.yaml"
    before = file.read_text("utf-8")
    write(folder, *days)
    told = lines(berth(*command))
    file.write_text(before, "utf-8")
    items = json.loads(berth(*command, "-o", "json").out)["items"]

    assert told[1] == "Zero no longer closed reservations/feast-days.yaml 2026-05-01"
    assert (len(items), items[0]["result"], items[0]["line"]) == (22, "no longer closed", None)


def test_the_calendar_that_berth_writes_is_read_back(berth: Berth, folder: Path) -> None:
    """Of each course the dates and the seats, also those of several classes."""
    (folder / "own.ics").write_text(berth("occurrences", "-o", "ics").out, "utf-8", newline="")
    before = json.loads(berth("occurrences", "-o", "json").out)["items"]
    project.write(folder, course=None, night=None, rest=None)
    told = berth("import", "ics", "own.ics", "--class", "small")
    after = json.loads(berth("occurrences", "-o", "json").out)["items"]

    def dates(items: list[dict[str, object]]) -> list[tuple[object, ...]]:
        return sorted((one["start"], one["end"], str(one["seats"])) for one in items)

    assert [row.split()[-1] for row in lines(told)[1:]] == ["seats", "calendar", "seats"]
    assert dates(after) == dates([one for one in before if one["reservation"] != "rest"])


def test_a_feed_from_a_pipe_needs_a_name(berth: Berth, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = []
    for words in ((), ("--feed", "team")):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(feed(event(*WEEKLY)).text)))
        codes.append(berth("import", "ics", "-", *COURSE[3:], *words).code)

    assert codes == [2, 0]
    (file,) = folder.glob("reservations/course-*.yaml")
    assert "imported-feed: team\n" in file.read_text("utf-8")


def test_a_feed_name_that_is_not_utf_8_is_a_usage_error(berth: Berth, folder: Path) -> None:
    name = os.fsdecode(b"caf\xe9.ics")
    (folder / name).write_bytes(feed(event(*WEEKLY, title="Algebra")).text)
    by_file = berth("import", "ics", name, *COURSE[3:])
    by_option = berth("import", "ics", name, *COURSE[3:], "--feed", os.fsdecode(b"\xff"))
    named = berth("import", "ics", name, *COURSE[3:], "--feed", "cafe")

    assert [(one.code, "--feed" in one.err) for one in (by_file, by_option)] == [(2, True), (2, True)]
    assert (named.code, (folder / "reservations/algebra.yaml").exists()) == (0, True)


def test_a_warning_stops_the_import_only_with_strict(berth: Berth, folder: Path) -> None:
    write(folder, event(*WEEKLY, title="Algebra"), event(*WEEKLY[:2], "RRULE:FREQ=HOURLY", uid="2"))
    strict = berth(*COURSE, "--strict")
    told = berth(*COURSE)

    assert (strict.code, strict.out, strict.err.splitlines()[-1]) == (1, "", "Nothing was written.")
    assert (told.code, "team.ics:16:1: warning[B206]" in told.err) == (0, True)
    assert (folder / "reservations/algebra.yaml").exists()


def test_an_import_above_a_ceiling_writes_nothing(berth: Berth, folder: Path) -> None:
    write(folder, event(*WEEKLY, title="Algebra"))
    project.change(folder, "site", "- name: prod", "- name: prod\n      ceilings: [{seats: {small: 4}}]")
    (folder / "reservations/course.yaml").unlink()
    told = berth(*COURSE)

    assert (told.code, told.out) == (1, "")
    assert "team.ics, Algebra: error[B067] spec.provisioning" in told.err
    assert not (folder / "reservations/algebra.yaml").exists()


def test_copies_and_rendered_objects_do_not_have_the_import_annotations(berth: Berth, folder: Path) -> None:
    write(folder, event(*WEEKLY, title="Algebra"))
    assert berth(*COURSE).code == 0
    assert berth("copy", "algebra", "algebra-fall", "--from", "2026-09-07", "--until", "2026-12-18").code == 0
    assert berth("render").code == 0
    copied = (folder / "reservations/algebra-fall.yaml").read_text("utf-8")
    texts = [one.read_text("utf-8") for one in (folder / "rendered").rglob("*.yaml")]

    assert "berth.dev/" not in copied.partition("spec:")[0].partition("metadata:")[2]
    assert lines(berth(*COURSE)) == [HEAD, "Algebra unchanged reservations/algebra.yaml 3 dates"]
    assert [text for text in texts if "berth.dev/imported" in text] == []


@tabled("edit")
def test_a_wrong_option_is_a_usage_error(words: list[str], message: str, berth: Berth, folder: Path) -> None:
    write(folder, event(*WEEKLY))
    told = berth("import", "ics", "team.ics", *words)

    assert (told.code, told.out) == (2, "")
    assert message in told.err


@pytest.mark.usefixtures("folder")
def test_import_renku_has_no_json_output(berth: Berth) -> None:
    assert berth("import", "renku", "x.json", "-o", "json").code == 2
