"""`berth skip` and `move`: which occurrence they mean, what they write, and what they refuse."""

from pathlib import Path

import pytest

from tests.answer import Berth
from tests.cases import tabled
from tests.cli import project
from tests.edit.trip import FILE, TRIP, asks

NOW = ("--now", "2026-02-01")
ONCE = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: trip}
spec:
  resourceClass: small
  recurrence:
    type: once
    startDate: 2026-03-06
    endDate: 2026-03-08
    schedule: [{startTime: "17:00", endTime: "12:00"}]
  provisioning: {placeholderCount: 5, scaleDownBehavior: none}
"""


# -- another end


def test_an_end_stays_on_the_day_of_a_single_window(berth: Berth, trip: Path) -> None:
    trip.write_text(ONCE, "utf-8")
    told = berth("move", "trip", "2026-03-06", "--end", "15:00")
    assert "~ 17:00 to Sun 12:00 -> 17:00 to Sun 15:00: Fri 2026-03-06\n" in told.out
    assert 'moved:\n      - {date: 2026-03-06, to: {endTime: "15:00", endDay: 2}}\n' in trip.read_text(
        "utf-8"
    )


def test_move_compares_instants_where_clocks_change(berth: Berth, folder: Path) -> None:
    night = project.NIGHT.replace("America/New_York", "Europe/Zurich").replace("02-07", "03-28")
    project.write(folder, night=night.replace("06:00", "02:30"))  # skipped: clocks show 03:30
    assert "22:00 to Sun 03:30" in berth("occurrences", *NOW, "night").out
    for words in (("--to", "2026-03-28 22:00 to 2026-03-29 03:30"), ("--end", "03:30")):
        told = berth("move", "night", "2026-03-28", *words)
        assert (told.code, "is unchanged: it already happens at Sat 2026-03-28" in told.out) == (0, True)
    assert "to Sun 03:45" in berth("move", "night", "2026-03-28", "--end", "03:45").out


# -- move


PAUSE = """
---
apiVersion: berth.dev/v1alpha1
kind: Calendar
metadata: {name: pause}
spec: {dates: [2026-03-25]}
"""


@tabled("edit")
def test_a_date_in_the_past_outside_of_the_course_or_on_a_holiday_gets_a_warning(
    words: list[str], reason: str, berth: Berth, trip: Path
) -> None:
    text = TRIP.replace("    schedule:", "    calendars: [pause]\n    schedule:")
    trip.write_text(text + PAUSE, "utf-8")
    told = berth(*words, *NOW)

    assert told.code == 0
    assert told.err.count("warning[B081]") == bool(reason)
    assert reason in told.err


def test_a_date_between_two_terms_is_outside_of_the_course(berth: Berth, trip: Path) -> None:
    terms = (
        "{terms: [{name: a, from: 2026-03-02, to: 2026-03-15}, {name: b, from: 2026-03-23, to: 2026-03-31}]}"
    )
    dates = "    startDate: 2026-03-02\n    endDate: 2026-03-31\n"
    text = TRIP.replace(dates, "    within: [a, b]\n") + PAUSE.replace("{dates: [2026-03-25]}", terms)
    trip.write_text(
        text.replace("moved:", "moved: []").replace("      - {date: 2026-03-30", "      # "), "utf-8"
    )

    assert "B081" in berth("add", "trip", "2026-03-20", "10:00-11:00", *NOW).err
    assert berth("add", "trip", "2026-03-13", "10:00-11:00", *NOW).err == ""


@pytest.mark.usefixtures("trip")
def test_a_second_move_keeps_the_current_length(berth: Berth) -> None:
    assert berth("move", "trip", "2026-03-30T09:00", "--to", "12:00-14:00").code == 0
    told = berth("move", "trip", "2026-03-16", "12:00", "--to", "13:00")
    assert "~ 12:00-14:00 -> 13:00-15:00: Mon 2026-03-16\n" in told.out


def test_a_move_of_no_length_says_how_to_write_24_hours(berth: Berth, trip: Path) -> None:
    told = berth("move", "trip", "2026-03-02", "--to", "10:00-10:00")
    assert (told.code, '--to "2026-03-02 10:00 to 2026-03-03 10:00"' in told.err) == (2, True)
    assert berth("move", "trip", "2026-03-02", "--to", "2026-03-02 10:00 to 2026-03-03 10:00").code == 0
    assert 'to: {date: 2026-03-02, startTime: "10:00", endTime: "10:00", endDay: 1}' in trip.read_text(
        "utf-8"
    )


# -- which occurrence


@pytest.mark.parametrize("words", [("skip",), ("move", "--end", "16:00"), ("move", "--to", "17:00")])
def test_a_date_with_several_occurrences_needs_the_start(
    berth: Berth, trip: Path, words: tuple[str, ...]
) -> None:
    command, *options = words
    assert asks(berth(command, "trip", "2026-03-09", *options), "2026-03-09 09:00", "2026-03-09 14:00")
    assert asks(berth(command, "trip", "2026-03-16", *options), "2026-03-16 09:00", "2026-03-16 11:00")
    assert trip.read_text("utf-8") == TRIP


@pytest.mark.parametrize("command", [("skip",), ("move", "--to", "17:00"), ("set", "--seats", "9")])
@pytest.mark.parametrize("day", ["2026-03-30", "2026-03-30 09:00"])
def test_the_original_date_of_a_moved_occurrence_gets_the_finding_b045(
    berth: Berth, trip: Path, command: tuple[str, ...], day: str
) -> None:
    """The same command given twice would else take another day's class."""
    told = berth(command[0], "trip", *(("--on",) if command[0] == "set" else ()), day, *command[1:])

    assert (told.code, "error[B045]" in told.err) == (1, True)
    assert "Mon 2026-03-16 11:00-12:00 (moved from 2026-03-30 09:00)" in told.err
    assert "Name its start: 2026-03-16 11:00." in told.err
    assert trip.read_text("utf-8") == TRIP


def test_a_repeated_skip_does_not_remove_the_occurrence_that_was_moved_away(berth: Berth, trip: Path) -> None:
    assert berth("move", "trip", "2026-03-23", "--to", "2026-03-24").code == 0
    assert berth("move", "trip", "2026-03-16T09:00", "--to", "2026-03-23 09:00").code == 0
    told = berth("skip", "trip", "2026-03-23")
    assert "- 5 small: Mon 2026-03-23 09:00-10:00" in told.out
    text = trip.read_text("utf-8")
    assert "    except:\n      - 2026-03-16\n    schedule:\n" in text

    assert berth("skip", "trip", "2026-03-23").code == 1
    assert trip.read_text("utf-8") == text


def test_a_start_selects_the_moved_occurrence_before_the_left_out_occurrence(
    berth: Berth, folder: Path
) -> None:
    assert berth("move", "course", "2026-02-02", "--to", "2026-02-16").code == 0
    assert berth("move", "course", "2026-02-16", "--to", "11:00").code == 1
    told = berth("move", "course", "2026-02-16", "09:00", "--to", "11:00")
    assert "~ 09:00-13:00 -> 11:00-15:00: Mon 2026-02-16\n" in told.out
    assert "date: 2026-02-02, to: {date: 2026-02-16" in (folder / "reservations/course.yaml").read_text(
        "utf-8"
    )


@pytest.mark.usefixtures("trip")
def test_occurrences_that_start_together_are_selected_by_their_ids(berth: Berth) -> None:
    assert berth("move", "trip", "2026-03-30T09:00", "--to", "2026-03-23 09:00").code == 0
    told = berth("skip", "trip", "2026-03-23", "09:00")
    assert asks(told, "2026-03-23T09:00", "2026-03-30T09:00")
    assert berth("skip", "trip", "trip/2026-03-23T09:00").code == 0
    assert "Mon 2026-03-23 09:00-10:00" in berth("occurrences", *NOW, "trip").out


# -- skip


def test_skip_writes_the_start_if_the_schedule_has_several_on_the_date(berth: Berth, trip: Path) -> None:
    trip.write_text(TRIP.replace("dayOfWeek: fri", "dayOfWeek: mon"), "utf-8")
    assert berth("skip", "trip", "2026-03-23", "18:00").code == 0
    assert 'except:\n      - {date: 2026-03-23, startTime: "18:00"}\n' in trip.read_text("utf-8")


def test_skip_of_a_moved_occurrence_on_a_holiday_adds_no_useless_exception(
    berth: Berth, folder: Path
) -> None:
    before = berth("occurrences", *NOW, "course").out
    assert berth("move", "course", "2026-02-16", "--to", "2026-02-17").code == 0
    assert "- 25 small: Tue 2026-02-17 09:00-13:00" in berth("skip", "course", "2026-02-17").out
    assert "2026-02-16" not in (folder / "reservations/course.yaml").read_text("utf-8")
    assert berth("occurrences", *NOW, "course").out == before


def test_skip_resolves_a_contradiction_of_except_and_moved(berth: Berth, trip: Path) -> None:
    text = TRIP.replace("    # and once", "    except: [2026-03-30]\n    # and once")
    trip.write_text(text, "utf-8")
    assert berth("validate").out.count("error[B048]") == 2
    assert berth("move", "trip", "2026-03-16 11:00", "--end", "15:00").code == 1
    assert berth("skip", "trip", "2026-03-16 11:00").code == 0
    assert berth("validate").code == 0


@pytest.mark.parametrize(
    "words",
    [("move", "2026-03-16 11:00", "--end", "13:00"), ("set", "--on", "2026-03-16 11:00", "--seats", "9")],
    ids=["move", "set"],
)
def test_an_occurrence_that_was_moved_out_of_an_excluded_range_can_be_edited(
    berth: Berth, trip: Path, words: tuple[str, ...]
) -> None:
    left_out = "    except: [{from: 2026-03-28, to: 2026-03-31}]\n    # and once"
    trip.write_text(TRIP.replace("    # and once", left_out), "utf-8")
    command, *options = words
    assert "Mon 2026-03-16\n" in berth(command, "trip", *options).out


def test_a_reservation_with_too_many_dates_is_not_edited(berth: Berth, trip: Path) -> None:
    text = (
        ONCE.replace("once", "daily").replace("2026-03-06", "2000-01-01").replace("2026-03-08", "2099-12-31")
    )
    trip.write_text(text, "utf-8")
    told = berth("skip", "trip", "2026-03-13")
    assert (told.code, f"{FILE}:6:3: error[B044]" in told.err) == (1, True)
    assert trip.read_text("utf-8") == text


# -- other seats: tests/cases/edits.yaml has what is written


@pytest.mark.usefixtures("trip")
def test_other_seats_on_a_date_with_several_occurrences_need_the_start(berth: Berth) -> None:
    told = berth("set", "trip", "--on", "2026-03-09", "--seats", "120")
    assert asks(told, "2026-03-09 09:00", "2026-03-09 14:00")
    assert berth("set", "trip", "--on", "2026-03-16 11:00", "--seats", "120").code == 0
    told = berth("set", "trip", "--on", "2026-03-30T09:00", "--seats", "120")
    assert told.out == f"{FILE} is unchanged: {MOVED_HERE} has 120 small already.\n"


MOVED_HERE = "Mon 2026-03-16 11:00-12:00 (moved from 2026-03-30 09:00)"


@pytest.mark.parametrize("left_out", ["2026-03-23", "{from: 2026-03-20, to: 2026-03-24}"])
def test_skip_removes_seats_of_a_date_that_is_left_out(berth: Berth, trip: Path, left_out: str) -> None:
    assert berth("set", "trip", "--on", "2026-03-23", "--seats", "120").code == 0
    text = trip.read_text("utf-8").replace("    # and once", f"    except: [{left_out}]\n    # and once")
    trip.write_text(text, "utf-8")
    assert "2026-03-23" in berth("validate").out
    assert berth("skip", "trip", "2026-03-23").code == 0
    assert "placeholderCount: 120" not in trip.read_text("utf-8")
    assert "2026-03-23" not in berth("validate").out


def test_a_list_on_one_line_becomes_one_line_for_each_date(berth: Berth, folder: Path) -> None:
    project.change(folder, "course", "[2026-02-09]", "[2026-02-09]  # strike")
    assert berth("skip", "course", "2026-02-24").code == 0
    lines = (folder / "reservations/course.yaml").read_text("utf-8").splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("    except:"))
    assert lines[at].endswith("# strike")
    assert lines[at + 1 : at + 3] == ["      - 2026-02-09", "      - 2026-02-23"]
