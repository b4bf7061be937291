"""The command `berth import ics`: what it writes, says and refuses."""

import io
from pathlib import Path

import pytest

from tests.answer import Answer, Berth
from tests.edit.events import event, feed

WEEKLY = ("DTSTART;TZID=Europe/Zurich:20260302T140000", "DURATION:PT2H", "RRULE:FREQ=WEEKLY;COUNT=3")
COURSE = ("import", "ics", "team.ics", "--class", "small", "--seats", "5")


def write(folder: Path, *events: str) -> None:
    (folder / "team.ics").write_bytes(feed(*events).text)


HEAD = "EVENT RESULT INTO WHY"


def lines(told: Answer) -> list[str]:
    """Return what a command that succeeded printed, with single spaces."""
    assert told.code == 0
    return [" ".join(line.split()) for line in told.out.splitlines()]


def test_it_writes_updates_and_counts(berth: Berth, folder: Path) -> None:
    write(folder, event(*WEEKLY, title="Algebra"))
    assert lines(berth(*COURSE)) == [
        "Wrote reservations/algebra.yaml: 3 dates.",
        HEAD,
        "Algebra new algebra 3 dates",
    ]
    assert lines(berth(*COURSE)) == [HEAD, "Algebra unchanged algebra 3 dates"]

    write(folder, event(*WEEKLY, title="Algebra II"))
    assert lines(berth(*COURSE)) == [
        "Updated reservations/algebra.yaml: title.",
        HEAD,
        "Algebra II updated algebra title",
    ]
    assert lines(berth(*COURSE, "--now", "2027-01-01")) == [HEAD, "Algebra II unchanged algebra 3 dates"]


def test_a_calendar_is_written(berth: Berth, folder: Path) -> None:
    write(folder, event("DTSTART;VALUE=DATE:20260406", title="Easter Monday"))
    told = berth("import", "ics", "team.ics", "--calendar", "feast-days")
    text = (folder / "reservations/feast-days.yaml").read_text("utf-8")

    assert lines(told) == [
        "Wrote reservations/feast-days.yaml: 1 date.",
        HEAD,
        "Easter Monday closed feast-days 2026-04-06",
        "Next: no reservation follows feast-days yet. Write calendars: [feast-days] in the Site for all, "
        "or in the recurrence of each that it holds for.",
    ]
    assert text.endswith("spec:\n  dates:\n    - {date: 2026-04-06, title: Easter Monday}\n")


def test_a_feed_may_come_from_a_pipe(berth: Berth, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(feed(event(*WEEKLY)).text)))

    told = berth("import", "ics", "-", *COURSE[3:], "--feed", "team")
    assert (told.code, told.out.startswith("Wrote reservations/course-")) == (0, True)
    assert (folder / told.out.split()[1].rstrip(":")).exists()


def test_a_warning_does_not_stop_it_unless_strict(berth: Berth, folder: Path) -> None:
    write(folder, event(*WEEKLY, title="Algebra"), event(*WEEKLY[:2], "RRULE:FREQ=DAILY", uid="2"))
    strict = berth(*COURSE, "--strict")
    assert (strict.code, strict.out, strict.err.splitlines()[-1]) == (1, "", "Nothing was written.")
    told = berth(*COURSE)

    assert (told.code, "team.ics:17:1: warning[B206]" in told.err) == (0, True)
    assert (folder / "reservations/algebra.yaml").exists()


def test_nothing_is_written_with_an_error_of_the_project(berth: Berth, folder: Path) -> None:
    write(folder, event(*WEEKLY, title="Algebra"))
    site = folder / "reservations/site.yaml"
    ceiling = "- name: prod\n      ceilings: [{seats: {small: 4}}]"
    site.write_text(site.read_text("utf-8").replace("- name: prod", ceiling), "utf-8")
    told = berth(*COURSE)

    assert (told.code, told.out, "error[B067]" in told.err) == (1, "", True)
    assert not (folder / "reservations/algebra.yaml").exists()


def test_a_copy_is_not_updated_by_the_event(berth: Berth, folder: Path) -> None:
    write(folder, event(*WEEKLY, title="Algebra"))
    assert berth(*COURSE).code == 0
    assert berth("copy", "algebra", "algebra-fall", "--from", "2026-09-07", "--until", "2026-12-18").code == 0
    text = (folder / "reservations/algebra-fall.yaml").read_text("utf-8")

    assert "berth.dev/" not in text.partition("spec:")[0].partition("metadata:")[2]
    assert lines(berth(*COURSE)) == [HEAD, "Algebra unchanged algebra 3 dates"]


def test_objects_do_not_have_the_annotations(berth: Berth, folder: Path) -> None:
    write(folder, event(*WEEKLY, title="Algebra"))
    assert berth(*COURSE).code == 0
    assert berth("render").code == 0
    texts = [one.read_text("utf-8") for one in (folder / "rendered").rglob("*.yaml")]

    assert any("algebra" in text for text in texts)
    assert [text for text in texts if "berth.dev/imported" in text] == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "--class NAME"),
        (("--class", "small", "--calendar", "x"), "--class NAME"),
        (("--class", "smal"), '"smal"'),
        (("--calendar", "x", "--seats", "3"), "--seats"),
        (("--calendar", "No Name"), '"No Name"'),
        (("--class", "small", "--seats", "many"), '"many"'),
        (("--class", "small", "--until", "soon"), '"soon"'),
        (("--class", "small", "--time-zone", "Mars"), '"Mars"'),
        (("--class", "small", "--suspend"), "--suspend"),
        (("--calendar", "holidays"), "holidays"),
        (("--class", "small", "--seats", "~5"), '"~5"'),
        (("--class", "small", "--only", "lab*"), "title:lab*"),
        (("--class", "small", "--group", "titles"), "title"),
        (("--class", "small", "--feed", " "), "--feed"),
        (("--class", "small", "--terms"), "--terms"),
        (("--calendar", "x", "--group", "title"), "--group"),
    ],
    ids=lambda value: "-".join(value).replace(" ", "-") if isinstance(value, tuple) else "",
)
def test_a_slip_is_told(berth: Berth, folder: Path, words: tuple[str, ...], message: str) -> None:
    write(folder, event(*WEEKLY))
    told = berth("import", "ics", "team.ics", *words)

    assert (told.code, told.out) == (2, "")
    assert message in told.err


def test_each_event_has_a_row_that_says_why(berth: Berth, folder: Path) -> None:
    write(
        folder,
        event(*WEEKLY, title="Algebra", uid="1"),
        event(*WEEKLY[:2], "RRULE:FREQ=DAILY", title="Endless", uid="2"),
        event(*WEEKLY, "STATUS:CANCELLED", title="Off", uid="3"),
        event(*WEEKLY, "DESCRIPTION:seats: ~9", title="About", uid="4"),
        event("DTSTART:20250302T100000", "DURATION:PT1H", title="Past", uid="5"),
        event(*WEEKLY[:2], "CATEGORIES:Exam", title="Exam", uid="6"),
        event("DURATION:PT1H", title="Faulty", uid="7"),
        event(WEEKLY[0], "DTEND:soon", title="Wrong end", uid="8"),
        event(*WEEKLY, "SEQUENCE:2", title="New version", uid="9"),
        event(*WEEKLY, "SEQUENCE:1", title="Old version", uid="9"),
    )
    rows = lines(berth(*COURSE, "--skip", "category:exam"))[2:]

    assert [row.split("  ")[0] for row in rows[:3]] == [
        HEAD,
        "Algebra new algebra 3 dates",
        "Endless not imported the event never ends",
    ]
    assert rows[3:7] == [
        "Off canceled canceled in the calendar",
        'About not imported "~9" is not a whole number from 1 up',
        "Past over over, or outside of --from and --until",
        "Exam skipped --skip category:exam",
    ]
    assert rows[7] == "Faulty not imported the event has no DTSTART"
    assert [row.partition(" not imported")[0] for row in rows[8:]] == [
        "Wrong end",
        "New version new new-version 3 dates",
        "Old version",
    ]


def test_findings_of_files_that_are_not_written_name_the_event(berth: Berth, folder: Path) -> None:
    write(folder, event(*WEEKLY, title="Algebra", uid="7@example.org"))
    site = folder / "reservations/site.yaml"
    ceiling = "- name: prod\n      ceilings: [{seats: {small: 4}}]"
    site.write_text(site.read_text("utf-8").replace("- name: prod", ceiling), "utf-8")
    (folder / "reservations/course.yaml").unlink()
    told = berth(*COURSE)

    assert told.code == 1
    assert 'team.ics:5:1: error[B067] "Algebra" of 2026-03-02 (UID 7@example.org), spec.' in told.err
    assert "reservations/algebra.yaml" not in told.err


def test_with_strict_a_warning_of_a_file_that_is_not_written_names_the_event(
    berth: Berth, folder: Path
) -> None:
    write(folder, event("DTSTART:20260302T080000", "DURATION:PT15H", title="Long", uid="7"))
    loose = berth(*COURSE, "--strict")

    assert loose.code == 1
    assert 'team.ics:5:1: warning[B080] "Long" of 2026-03-02 (UID 7), spec.' in loose.err
    assert "reservations/long.yaml:" in berth(*COURSE).err


@pytest.mark.usefixtures("folder")
def test_a_calendar_from_a_pipe_needs_a_name_or_an_id(berth: Berth, monkeypatch: pytest.MonkeyPatch) -> None:
    text = feed(event(*WEEKLY)).text
    named = text.replace(b"VERSION:2.0\r\n", b"VERSION:2.0\r\nX-WR-RELCALID:7F\r\n")
    codes = []
    for one in (text, named):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(one)))
        codes.append(berth("import", "ics", "-", *COURSE[3:]).code)

    assert codes == [2, 0]
