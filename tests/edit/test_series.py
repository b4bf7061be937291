"""`berth skip` of several dates, `add`, `end`, and `set` with the name of a field alone."""

from pathlib import Path

import pytest
from berth.edit.create import _READERS, option_places
from berth.edit.fieldpaths import full_path
from berth.edit.flagnames import _FIELDS

from tests.answer import Answer, Berth

FILE = "reservations/lab.yaml"
LAB = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: lab}
spec:
  resourceClass: small
  recurrence:
    type: weekly
    startDate: 2026-03-02
    endDate: 2026-05-29
    # the room
    schedule:
      - {dayOfWeek: tue, startTime: "09:00", endTime: "12:00"}  # lab
  provisioning: {placeholderCount: 5, scaleDownBehavior: none}
"""
TERMS = """\
apiVersion: berth.dev/v1alpha1
kind: Calendar
metadata: {name: terms}
spec:
  terms: [{name: spring, from: 2026-03-02, to: 2026-04-30}, {name: fall, from: 2026-09-01, to: 2026-10-30}]
"""
NEAREST = "no date on Wed 2026-05-13; the nearest are Tue 2026-05-12 and Tue 2026-05-19"


@pytest.fixture
def lab(folder: Path) -> Path:
    file = folder / FILE
    file.write_text(LAB, "utf-8")
    (folder / "reservations/terms.yaml").write_text(TERMS, "utf-8")
    return file


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


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("skip", "lab", "2026-05-13"), "B045"),
        (("move", "lab", "2026-05-13", "--to", "10:00"), "B045"),
        (("move", "lab", "2026-05-13", "--end", "14:00"), "B045"),
        (("set", "lab", "--on", "2026-05-13", "--seats", "9"), "B045"),
    ],
    ids=["skip", "move", "end", "set"],
)
def test_a_date_without_an_occurrence_is_told_with_the_nearest(
    berth: Berth, lab: Path, words: tuple[str, ...], code: str
) -> None:
    told = berth(*words)

    assert (told.code, f"error[{code}] spec.recurrence: lab has {NEAREST}." in told.err) == (1, True)
    assert lab.read_text("utf-8") == LAB


@pytest.mark.usefixtures("lab")
def test_occurrences_at_a_date_without_one_names_the_nearest(berth: Berth) -> None:
    assert berth("occurrences", "lab", "--at", "2026-05-13").out == f"No occurrences: {NEAREST}.\n"


@pytest.mark.parametrize(
    ("words", "written"),
    [
        (("2026-03-10", "2026-03-24"), ["except:", "- 2026-03-10", "- 2026-03-24"]),
        (("2026-03-10,2026-03-24",), ["except:", "- 2026-03-10", "- 2026-03-24"]),
        (("2026-03-09..2026-03-20",), ["except:", "- {from: 2026-03-09, to: 2026-03-20}"]),
        (("2026-03-09", "to", "2026-03-20"), ["except:", "- {from: 2026-03-09, to: 2026-03-20}"]),
        (
            ("2026-03-10", "--title", "Excursion: Rome"),
            ["except:", '- {date: 2026-03-10, title: "Excursion: Rome"}'],
        ),
        (
            ("2026-03-24", "2026-03-09..2026-03-20", "--title", "Away"),
            [
                "except:",
                "- {from: 2026-03-09, to: 2026-03-20, title: Away}",
                "- {date: 2026-03-24, title: Away}",
            ],
        ),
    ],
    ids=["two", "comma", "range", "to", "title", "range-and-date"],
)
def test_skip_writes_all_dates_in_one_edit(
    berth: Berth, lab: Path, words: tuple[str, ...], written: list[str]
) -> None:
    assert berth("skip", "lab", *words).code == 0
    assert new_lines(LAB, lab) == written
    assert berth("validate").code == 0


HOLIDAYS = """\
---
apiVersion: berth.dev/v1alpha1
kind: Calendar
metadata: {name: holidays-of-lab}
spec: {dates: [2026-03-17]}
"""


@pytest.mark.parametrize(
    ("lists", "left"),
    [
        (["except: [2026-03-10]"], []),
        (["except: [{date: 2026-03-10, title: Away}, 2026-03-17]"], ["except: [2026-03-17]"]),
        (["except: [{date: 2026-03-10, startTime: '09:00'}]"], []),
        (["except: [{from: 2026-03-09, to: 2026-03-13}]"], []),
        (
            ["except: [{from: 2026-03-03, to: 2026-03-10}]"],
            ["except:", "- {from: 2026-03-03, to: 2026-03-09}"],
        ),
        (
            ["except: [{from: 2026-03-03, to: 2026-03-17, title: Away}]"],
            [
                "except:",
                "- {from: 2026-03-03, to: 2026-03-09, title: Away}",
                "- {from: 2026-03-11, to: 2026-03-17, title: Away}",
            ],
        ),
        (["moved: [{date: 2026-03-10, to: {date: 2026-03-12, placeholderCount: 9}}]"], []),
        (["moved: [{date: 2026-03-10, to: {endTime: '14:00'}}]"], []),
    ],
    ids=["date", "title", "time", "range", "range-end", "range-middle", "moved", "end"],
)
def test_add_without_times_takes_the_date_out_of_except_and_moved(
    berth: Berth, lab: Path, lists: list[str], left: list[str]
) -> None:
    lab.write_text(with_lines(*SPAN, *lists), "utf-8")
    told = berth("add", "lab", "2026-03-10")

    assert (told.code, told.err) == (0, "")
    assert new_lines(LAB, lab) == left
    assert "is unchanged: it already happens at Tue 2026-03-10" in berth("add", "lab", "2026-03-10").out


def test_add_without_times_on_a_holiday_says_that_the_date_stays(berth: Berth, lab: Path) -> None:
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


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("2026-03-11",), 1, "berth add lab 2026-03-11 09:00-13:00."),
        (("2026-03-10", "--seats", "9"), 2, "need TIMES"),
        (("2026-03-10", "--name", "late"), 2, "need TIMES"),
    ],
    ids=["no-date", "seats", "name"],
)
def test_add_without_times_refuses_what_needs_them(
    berth: Berth, lab: Path, words: tuple[str, ...], code: int, text: str
) -> None:
    told = berth("add", "lab", *words)

    assert (told.code, text in told.err) == (code, True)
    assert lab.read_text("utf-8") == LAB


def test_one_date_that_is_not_there_keeps_all_from_being_skipped(berth: Berth, lab: Path) -> None:
    told = berth("skip", "lab", "2026-03-10", "2026-03-11", "2026-03-12..2026-03-16")

    assert told.err.count("error[B045]") == 2
    assert (
        "lab has no date from Thu 2026-03-12 to Mon 2026-03-16; the nearest are Tue 2026-03-10 and"
        in told.err
    )
    assert lab.read_text("utf-8") == LAB


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("12/03/2026",), "B017"),
        (("2026-03-20..2026-03-10",), "B024"),
        (("2026-03-10,,2026-03-11",), "B017"),
        (("09:00",), "B017"),
        (("2026-03-10", "09:00", "10:00"), "B017"),
        (("2026-03-10", "--name", "Extra Time"), "B019"),
    ],
)
def test_skip_understands_its_dates_whole_or_refuses_them(
    berth: Berth, lab: Path, words: tuple[str, ...], code: str
) -> None:
    told = berth("skip", "lab", *words)

    assert (told.code, told.out) == (2, "")
    assert told.err.endswith(f"[{code}]\n")
    assert lab.read_text("utf-8") == LAB


@pytest.mark.parametrize(
    ("words", "date"),
    [
        (("move", "lab", "2026-03-10", "--to", "2026-03-11 10:00", "--seats", "80"), "2026-03-10"),
        (("move", "lab", "2026-03-10", "--to", "10:00"), "2026-03-10"),
        (("move", "lab", "2026-03-10", "--end", "14:00"), "2026-03-10"),
        (("set", "lab", "--on", "2026-03-10", "--seats", "9"), "2026-03-10"),
    ],
    ids=["move", "time", "end", "seats"],
)
def test_a_move_onto_its_own_date_drops_what_moved_says(
    berth: Berth, lab: Path, words: tuple[str, ...], date: str
) -> None:
    assert berth(*words).code == 0
    assert lab.read_text("utf-8") != LAB
    assert berth("move", "lab", date, "--to", date).code == 0
    assert lab.read_text("utf-8") == LAB
    assert "is unchanged: it already happens at " in berth("move", "lab", date, "--to", date).out


def test_a_move_onto_the_date_that_it_has_now_keeps_it_there(berth: Berth, lab: Path) -> None:
    assert berth("move", "lab", "2026-03-10", "--to", "2026-03-11").code == 0
    moved = lab.read_text("utf-8")

    assert "is unchanged" in berth("move", "lab", "2026-03-11", "--to", "2026-03-11").out
    assert lab.read_text("utf-8") == moved


def test_a_move_may_change_the_seats_in_the_same_edit(berth: Berth, lab: Path) -> None:
    assert berth("move", "lab", "2026-03-10", "--to", "2026-03-11", "--seats", "80").code == 0
    assert new_lines(LAB, lab) == [
        "moved:",
        "- {date: 2026-03-10, to: {date: 2026-03-11, placeholderCount: 80}}",
    ]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("2026-05-20", "14:00-16:00"), '{date: 2026-05-20, startTime: "14:00", endTime: "16:00"}'),
        (("tomorrow", "22:00-01:00"), '{date: 2026-01-02, startTime: "22:00", endTime: "01:00"}'),
        (
            ("2026-03-10", "13:00-14:00", "--seats", "8", "--name", "extra-time"),
            '{date: 2026-03-10, startTime: "13:00", endTime: "14:00", name: extra-time, placeholderCount: 8}',
        ),
    ],
)
def test_add_writes_an_extra_date_and_skip_removes_it(
    berth: Berth, lab: Path, words: tuple[str, ...], line: str
) -> None:
    assert berth("add", "lab", *words).code == 0
    assert new_lines(LAB, lab) == ["extra:", f"- {line}"]
    assert berth("skip", "lab", words[0].replace("tomorrow", "2026-01-02"), words[1][:5]).code == 0
    assert lab.read_text("utf-8") == LAB


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        (("2026-03-10", "09:00-12:00"), 1, "TIMES: error[B049] "),
        (("2026-03-10", "9-5"), 2, "TIMES: "),
        (("2026-03-10", "09:00-09:00"), 2, "[B024]\n"),
        (("10/03/2026", "09:00-12:00"), 2, "[B017]\n"),
        (("2026-03-11", "09:00-12:00", "--seats", "0"), 2, "[B012]\n"),
        (("2026-03-11", "09:00-12:00", "--name", "Late"), 2, "[B019]\n"),
    ],
)
def test_add_names_the_argument_that_is_wrong(
    berth: Berth, lab: Path, words: tuple[str, ...], code: int, expected: str
) -> None:
    told = berth("add", "lab", *words)

    assert (told.code, expected in told.err) == (code, True)
    assert f"{FILE}:" not in told.err
    assert lab.read_text("utf-8") == LAB


def test_a_named_group_beside_a_named_one_is_no_overlap_to_warn_of(berth: Berth, lab: Path) -> None:
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
def test_end_changes_what_the_series_ends_with(
    berth: Berth, lab: Path, before: str, written: list[str]
) -> None:
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


def test_end_takes_later_exceptions_with_it_and_keeps_what_happens_before(berth: Berth, lab: Path) -> None:
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
    ("date", "code", "expected"),
    [
        ("2026-05-26", 0, f"{FILE} is unchanged: its last date is Tue 2026-05-26.\n"),
        ("2026-05-29", 0, f"{FILE} is unchanged: its last date is Tue 2026-05-26.\n"),
        ("2026-05-30", 2, "berth set lab endDate=2026-05-30.\n"),
        ("2026-03-02", 2, "berth delete lab"),
        ("1/4/2026", 2, "[B017]"),
    ],
)
def test_end_says_when_there_is_nothing_to_end_or_nothing_would_be_left(
    berth: Berth, lab: Path, date: str, code: int, expected: str
) -> None:
    told = berth("end", "lab", date)

    assert (told.code, expected in told.out + told.err) == (code, True)
    assert lab.read_text("utf-8") == LAB


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


@pytest.mark.parametrize(
    "later",
    [
        'extra: [{date: 2026-06-30, startTime: "09:00", endTime: "10:00"}]',
        "moved: [{date: 2026-05-19, to: {date: 2026-06-30}}]",
    ],
    ids=["extra", "moved"],
)
def test_end_adds_no_dates_to_a_series_that_ends_before(berth: Berth, lab: Path, later: str) -> None:
    lab.write_text(with_lines(*SPAN, later), "utf-8")
    before = dates(berth("occurrences", "lab"))
    assert berth("end", "lab", "2026-06-15").code == 0
    assert dates(berth("occurrences", "lab")) == before[:-1]
    assert "endDate: 2026-05-29" in lab.read_text("utf-8")


@pytest.mark.parametrize(
    ("assignment", "line"),
    [
        ("startDate=2026-03-09", "startDate: 2026-03-09"),
        ("placeholderCount=7", "provisioning: {placeholderCount: 7, scaleDownBehavior: none}"),
    ],
)
def test_set_finds_the_one_field_of_a_name(berth: Berth, lab: Path, assignment: str, line: str) -> None:
    assert berth("set", "lab", assignment).code == 0
    assert new_lines(LAB, lab) == [line]


@pytest.mark.parametrize(
    ("assignment", "code", "expected"),
    [
        ("name=other", 2, " or owner.name"),
        ("startdate=2026-03-09", 2, "Did you mean recurrence.startDate?"),
        ("recurrence.first=2026-03-09", 1, "error[B010] spec.recurrence.first"),
    ],
)
def test_set_never_guesses_which_field_is_meant(
    berth: Berth, lab: Path, assignment: str, code: int, expected: str
) -> None:
    told = berth("set", "lab", assignment)

    assert (told.code, expected in told.err) == (code, True)
    assert lab.read_text("utf-8") == LAB


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (("lead=45",), ["provisioning: {placeholderCount: 5, scaleDownBehavior: none, leadTimeMinutes: 45}"]),
        (("class=bench",), ["resourceClass: bench"]),
        (("seats=45",), ["provisioning: {placeholderCount: 45, scaleDownBehavior: none}"]),
        (("behavior=none", "seats=45"), ["provisioning: {placeholderCount: 45, scaleDownBehavior: none}"]),
        (("owner=Physics", "contact=@uni/physics"), ['owner: {name: Physics, contact: "@uni/physics"}']),
        (("match-labels=course=lab,term=s26",), ["sessions: {matchLabels: {course: lab, term: s26}}"]),
        (("from=2026-03-09", "until=2026-04-30"), ["startDate: 2026-03-09", "endDate: 2026-04-30"]),
        (("time-zone=UTC",), ["timeZone: UTC"]),
        (("calendars=holidays,terms",), ["calendars: [holidays, terms]"]),
        (("times=10:00-12:00",), ['- {dayOfWeek: tue, startTime: "10:00", endTime: "12:00"} # lab']),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_set_knows_the_flags_of_new_as_names(
    berth: Berth, lab: Path, words: tuple[str, ...], lines: list[str]
) -> None:
    told = berth("set", "lab", *words, "--now", "2026-01-10")

    assert (told.code, new_lines(LAB, lab)) == (0, lines)


@pytest.mark.parametrize("name", sorted(set(_READERS) - {"weekly", "weeks", "monthly", "seats"}))
def test_each_flag_of_new_with_one_field_is_a_name(name: str) -> None:
    path = _FIELDS[name][0] if name in _FIELDS else full_path((name,))

    assert option_places("dates")[".".join(map(str, path)).removesuffix(".matchLabels")] == f"--{name}"


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("lead=soon",), 2, "lead=: "),
        (("from=2026-13-01",), 2, "from=: "),
        (("owner={name: Physics}",), 0, ""),
        (("seats=45", "--seats", "3"), 2, "two values"),
        (("seats=45", "provisioning.placeholderCount=3"), 2, "one place"),
        (("title=A", "times=10:00-12:00"), 2, "times= no other field"),
        (("title=A", "--from", "2026-03-09"), 2, "--from takes"),
        (("--from", "2026-03-09"), 2, "Give PATH=VALUE or --seats"),
        (("seats=45", "--from", "2026-06-01"), 2, "has no date from 2026-06-01 on"),
        (("times=10:00", "--from", "2026-03-09"), 2, "times=: "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_set_refuses_what_a_flag_refuses(
    berth: Berth, lab: Path, words: tuple[str, ...], code: int, text: str
) -> None:
    told = berth("set", "lab", *words)

    assert (told.code, text in told.err) == (code, True)
    assert (lab.read_text("utf-8") == LAB) == bool(code)


TUESDAY, THURSDAY = (f'- {{dayOfWeek: {day}, startTime: "09:00", endTime: "12:00"' for day in ("tue", "thu"))


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (
            ("seats=45", "--from", "2026-04-01"),
            [f"{TUESDAY}, until: 2026-03-31}} # lab", f"{TUESDAY}, from: 2026-04-01, placeholderCount: 45}}"],
        ),
        (
            ("times=10:00-12:30", "seats=45", "--from", "2026-04-07"),
            [
                f"{TUESDAY}, until: 2026-04-06}} # lab",
                TUESDAY.replace("09:00", "10:00").replace("12:00", "12:30")
                + ", from: 2026-04-07, placeholderCount: 45}",
            ],
        ),
        (("--seats", "45", "--from", "2026-03-01"), [f"{TUESDAY}, placeholderCount: 45}} # lab"]),
    ],
    ids=["seats", "times", "all"],
)
def test_set_from_a_date_on_splits_the_line(
    berth: Berth, lab: Path, words: tuple[str, ...], lines: list[str]
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


def test_times_of_lines_that_differ_are_not_one(berth: Berth, lab: Path) -> None:
    other = THURSDAY.replace("09:00", "08:00") + "}"
    lab.write_text(LAB.replace("  # lab\n", f"  # lab\n      {other}\n"), "utf-8")

    assert "several times of day" in berth("set", "lab", "times=10:00-12:00", "--from", "2026-04-01").err
