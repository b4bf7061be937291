"""`berth skip` and `move` where several occurrences of a date start together."""

from pathlib import Path

import pytest

from tests.answer import Berth
from tests.cases import tabled
from tests.edit.trip import FILE, asks

NOW = ("--now", "2026-02-01")
EXAM = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: trip, annotations: {berth.dev/ignore: "B031: meant"}}
spec:
  resourceClass: small
  recurrence:
    type: dates
    dates:
      - 2026-03-09
      - {date: 2026-03-10, startTime: "14:00", endTime: "15:00"}  # oral
    schedule:
      - {startTime: "09:00", endTime: "11:00"}
      - {startTime: "09:00", endTime: "12:00", name: extra-time, placeholderCount: 2}
  provisioning: {placeholderCount: 5, scaleDownBehavior: none}
"""


@pytest.fixture
def exam(folder: Path) -> Path:
    file = folder / FILE
    file.write_text(EXAM, "utf-8")
    return file


def test_seats_of_a_group_are_set_wherever_its_lines_are(berth: Berth, exam: Path) -> None:
    before = EXAM.replace('"15:00"}', '"15:00", name: late}').replace(
        "    schedule:",
        """\
    extra:
      - {date: 2026-03-11, startTime: "09:00", endTime: "10:00", name: extra-time}
    schedule:""",
    )
    exam.write_text(before, "utf-8")
    assert berth("set", "trip", "--seats", "extra-time=7,late=3", *NOW).code == 0
    after = before.replace('"10:00", name: extra-time', '"10:00", name: extra-time, placeholderCount: 7')
    after = after.replace("placeholderCount: 2", "placeholderCount: 7")
    after = after.replace("name: late}  #", "name: late, placeholderCount: 3}  #")
    assert exam.read_text("utf-8") == after

    refused = berth("set", "trip", "--seats", "extra-time=7,other=3", *NOW)
    assert (refused.code, 'class "extra-time"' in refused.err) == (2, True)


def test_skip_asks_for_the_name_if_several_occurrences_start_together(berth: Berth, exam: Path) -> None:
    for words in ((), ("09:00",)):
        told = berth("skip", "trip", "2026-03-09", *words)
        assert asks(told, "2026-03-09T09:00", "2026-03-09 09:00 --name extra-time")
    assert exam.read_text("utf-8") == EXAM


@tabled("edit")
def test_a_named_occurrence_is_found_by_its_name_and_by_its_id(
    address: list[str], berth: Berth, exam: Path
) -> None:
    told = berth("move", "trip", *address, "--end", "13:00")
    assert "~ 09:00-12:00 extra-time -> 09:00-13:00 extra-time: Mon 2026-03-09\n" in told.out
    new = '- {date: 2026-03-09, startTime: "09:00", name: extra-time, to: {endTime: "13:00"}}'
    assert new in exam.read_text("utf-8")


@pytest.mark.parametrize(
    "address", [("2026-03-09T09:00",), ("2026-03-09", "--name", "")], ids=["id", "empty-name"]
)
def test_an_unnamed_occurrence_is_found_by_its_id_or_an_empty_name(
    berth: Berth, exam: Path, address: tuple[str, ...]
) -> None:
    assert "- 5 small: Mon 2026-03-09 09:00-11:00 (" in berth("skip", "trip", *address).out
    assert '- {date: 2026-03-09, startTime: "09:00", name: ""}' in exam.read_text("utf-8")
    assert berth("skip", "trip", *address).out.endswith("(except).\n")


def test_a_name_that_the_date_does_not_have_is_refused(berth: Berth, exam: Path) -> None:
    told = berth("skip", "trip", "2026-03-09", "--name", "late")
    assert "error[B045] spec.recurrence: trip has no occurrence on 2026-03-09 named late." in told.err
    assert exam.read_text("utf-8") == EXAM


def test_a_date_with_its_own_hours_is_moved_like_any_other(berth: Berth, exam: Path) -> None:
    assert berth("move", "trip", "2026-03-10", "--to", "2026-03-11").code == 0
    gone = EXAM.splitlines()
    new = [line.strip() for line in exam.read_text("utf-8").splitlines() if line not in gone]
    assert new == ["moved:", "- {date: 2026-03-10, to: {date: 2026-03-11}}"]


@pytest.mark.usefixtures("exam")
def test_lists_and_calendars_show_the_names(berth: Berth) -> None:
    header, first, second, _ = berth("occurrences", *NOW, "trip").out.splitlines()
    assert header.split()[:4] == ["RESERVATION", "LOCAL", "TIME", "NAME"]
    assert ("extra-time" in first, "extra-time" in second) == (False, True)
    events = berth("occurrences", *NOW, "trip", "-o", "ics").out
    assert events.count("SUMMARY:trip (extra-time)\r\n") == 1
    assert events.count("UID:trip/2026-03-09T09:00~extra-time@") == 1
    assert berth("simulate", "trip", "--on", "2026-03-09T09:00~extra-time").code == 0
    assert berth("skip", "trip", "2026-03-09", "--name", "extra-time").code == 0
    assert "trip     2026-03-09 09:00 extra-time  except\n" in berth("occurrences", *NOW, "trip").out
