"""`berth rehearse`, and what other commands do to the rehearsals of the dates that they edit."""

from pathlib import Path

import pytest
import yaml
from berth.pipeline import Pipeline

from tests.answer import Berth

COURSE = "reservations/course.yaml"
GROUPS = """\
    extra:
      - {date: 2026-02-12, startTime: "10:00", endTime: "11:00"}
      - {date: 2026-02-12, startTime: "10:00", endTime: "12:00", name: extra-time}  # longer
"""


def text(folder: Path) -> str:
    return (folder / COURSE).read_text("utf-8")


def rehearsals(folder: Path) -> list[dict[str, object]]:
    found = yaml.safe_load(text(folder))["spec"]["recurrence"].get("rehearsals", [])
    assert isinstance(found, list)
    return [
        {**one, "date": str(one["date"]), "at": f"{one['at']['date']} {one['at']['startTime']}"}
        for one in found
    ]


def with_groups(folder: Path) -> None:
    file = folder / COURSE
    file.write_text(text(folder).replace("  provisioning:", f"{GROUPS}  provisioning:"), "utf-8")


def assert_valid(berth: Berth) -> None:
    assert berth("validate").code == 0


def test_it_writes_one_line_and_keeps_the_rest(berth: Berth, folder: Path) -> None:
    before = text(folder).replace("    except:", "    except:  # carnival is a holiday")
    (folder / COURSE).write_text(before, "utf-8")
    told = berth("rehearse", "course", "2026-02-02")
    line = '      - {date: 2026-02-02, at: {date: 2026-01-26, startTime: "06:00"}}\n'

    assert told.code == 0
    assert "Mon 2026-01-26 06:00" in told.out  # the default is said
    assert text(folder) == before.replace("  provisioning:", f"    rehearsals:\n{line}  provisioning:")


@pytest.mark.parametrize(
    ("words", "at", "seats"),
    [
        ((), "2026-01-26 06:00", None),
        (("--at", "2026-01-29"), "2026-01-29 06:00", None),
        (("--at", "07:15"), "2026-01-26 07:15", None),
        (("--at", "2026-01-29 07:15"), "2026-01-29 07:15", None),
        (("--at", "2026-01-29T05:00:00Z"), "2026-01-29 06:00", None),
        (("--at", "+7d"), "2026-01-08 00:00", None),
        (("--seats", "40%"), "2026-01-26 06:00", "40%"),
        (("--seats", "7"), "2026-01-26 06:00", 7),
        (("--seats", "all"), "2026-01-26 06:00", None),
    ],
    ids=["default", "date", "time", "both", "instant", "relative", "percent", "number", "all"],
)
def test_when_and_with_how_many_seats(
    berth: Berth, folder: Path, words: tuple[str, ...], at: str, seats: object
) -> None:
    assert berth("rehearse", "course", "2026-02-02", *words).code == 0
    (found,) = rehearsals(folder)
    assert (found["at"], found.get("seats")) == (at, seats)
    assert_valid(berth)


def test_the_rule_of_the_reservation_is_the_default(berth: Berth, folder: Path) -> None:
    assert (
        berth("set", "course", 'provisioning.rehearsal={daysBefore: 3, startTime: "20:00", seats: 50%}').code
        == 0
    )
    assert berth("rehearse", "course", "2026-02-02", "--at", "21:00").code == 0

    assert rehearsals(folder) == [{"date": "2026-02-02", "at": "2026-01-30 21:00", "seats": "50%"}]


def test_a_second_time_changes_what_is_given_and_keeps_the_rest(berth: Berth, folder: Path) -> None:
    berth("rehearse", "course", "2026-02-02", "--at", "2026-01-29 07:00", "--seats", "50%")
    berth("rehearse", "course", "2026-02-02", "--at", "08:00")
    assert rehearsals(folder) == [{"date": "2026-02-02", "at": "2026-01-29 08:00", "seats": "50%"}]

    before = text(folder)
    assert berth("rehearse", "course", "2026-02-02", "--seats", "50%").code == 0
    assert text(folder) == before


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("2026-02-03",), 1),  # no date
        (("2026-02-09",), 1),  # left out
        (("2026-02-02", "--at", "2026-02-02 08:15"), 1),  # not over in time
        (("2026-02-02", "--seats", "26"), 1),
        (("2026-02-02", "--seats", "0"), 2),
        (("2026-02-02", "--at", "soon"), 2),
        (("2026-02-02", "--at", "10:00-12:00"), 2),
    ],
    ids=["no-date", "left-out", "too-late", "too-many", "none", "word", "span"],
)
def test_what_is_wrong_is_refused_and_nothing_is_written(
    berth: Berth, folder: Path, words: tuple[str, ...], code: int
) -> None:
    before = text(folder)
    assert berth("rehearse", "course", *words).code == code
    assert text(folder) == before


def test_a_wrong_portion_is_explained_once(berth: Berth) -> None:
    told = berth("rehearse", "course", "2026-02-02", "--seats", "foo").err

    assert "[B013]" in told
    assert told.count("number of seats") == told.count("percentage") == 1


def test_a_date_cannot_move_before_its_rehearsal(berth: Berth, folder: Path) -> None:
    berth("rehearse", "course", "2026-02-02")
    before = text(folder)
    told = berth("move", "course", "2026-02-02", "--to", "2026-01-22")

    assert (told.code, text(folder)) == (1, before)
    assert "[B051]" in told.err
    assert "Thu 2026-01-22 08:30" in told.err  # when it would open
    assert "Rehearse at an earlier" in told.err


@pytest.mark.parametrize(
    ("now", "words", "at"),
    [
        pytest.param("2026-01-26T04:59:00Z", (), "2026-01-26 06:00", id="a-week-before"),
        pytest.param("2026-01-26T05:00:00Z", (), "2026-02-01 06:00", id="a-week-before-is-now"),
        pytest.param("2026-02-01T04:59:00Z", (), "2026-02-01 06:00", id="the-day-before"),
        pytest.param("2026-02-01T05:00:00Z", ("--at", "19:00"), "2026-02-01 19:00", id="a-time-that-comes"),
        pytest.param("2026-02-01T05:00:00Z", (), None, id="too-late"),
        pytest.param("2026-02-01T12:00:00Z", ("--at", "11:00"), None, id="a-time-that-is-over"),
        pytest.param("2026-03-01", (), None, id="the-date-is-over"),
    ],
)
def test_a_day_that_is_not_given_is_to_come(
    berth: Berth, folder: Path, now: str, words: tuple[str, ...], at: str | None
) -> None:
    before = text(folder)
    told = berth("rehearse", "course", "2026-02-02", *words, "--now", now)

    if at is None:
        assert (told.code, text(folder)) == (2, before)
        assert "berth rehearse course 2026-02-02 --at" in told.err
    else:
        assert told.code == 0
        assert "B131" not in told.err
        assert [entry["at"] for entry in rehearsals(folder)] == [at]


def test_one_that_is_over_is_rehearsed_again_on_a_day_to_come(berth: Berth, folder: Path) -> None:
    berth("rehearse", "course", "2026-02-02", "--seats", "50%")
    assert berth("rehearse", "course", "2026-02-02", "--now", "2026-01-28").code == 0

    assert rehearsals(folder) == [{"date": "2026-02-02", "at": "2026-02-01 06:00", "seats": "50%"}]


def test_a_date_in_the_past_is_said(berth: Berth) -> None:
    assert "[B131]" in berth("rehearse", "course", "2026-02-02", "--at", "2025-12-30 06:00").err


def test_groups_are_told_apart_by_their_name(berth: Berth, folder: Path) -> None:
    with_groups(folder)
    assert berth("rehearse", "course", "2026-02-12", "10:00", "--name", "extra-time").code == 0

    assert rehearsals(folder) == [
        {"date": "2026-02-12", "startTime": "10:00", "name": "extra-time", "at": "2026-02-05 06:00"}
    ]
    assert_valid(berth)


@pytest.mark.parametrize("time", [(), ("10:00",)], ids=["date", "time"])
def test_groups_that_start_together_are_rehearsed_together(
    berth: Berth, folder: Path, time: tuple[str, ...]
) -> None:
    with_groups(folder)
    names = ["", "extra-time"]

    assert berth("rehearse", "course", "2026-02-12", *time).code == 0
    assert [(one["name"], one["at"]) for one in rehearsals(folder)] == [
        (name, "2026-02-05 06:00") for name in names
    ]
    assert_valid(berth)
    assert berth("rehearse", "course", "2026-02-12", *time, "--at", "07:00", "--seats", "50%").code == 0
    assert [(one["at"], one["seats"]) for one in rehearsals(folder)] == [("2026-02-05 07:00", "50%")] * 2


def test_dates_that_start_apart_are_not_rehearsed_together(berth: Berth, folder: Path) -> None:
    with_groups(folder)
    file = folder / COURSE
    file.write_text(text(folder).replace('"10:00", endTime: "12:00"', '"10:30", endTime: "12:00"'), "utf-8")
    told = berth("rehearse", "course", "2026-02-12")

    assert (told.code, rehearsals(folder)) == (1, [])
    assert "[B047]" in told.err


def test_another_command_asks_for_the_name_of_a_group(berth: Berth, folder: Path) -> None:
    with_groups(folder)
    told = berth("move", "course", "2026-02-12", "--to", "2026-02-13")

    assert "[B047]" in told.err
    assert "Name its start, with --name: " in told.err
    assert "--name extra-time" in told.err


# Other commands on dates that have a rehearsal


@pytest.mark.parametrize("dates", ["2026-02-02", "2026-01-30..2026-02-03"], ids=["date", "range"])
def test_a_skipped_date_is_not_rehearsed(berth: Berth, folder: Path, dates: str) -> None:
    berth("rehearse", "course", "2026-02-02", "--seats", "50%")

    assert (berth("skip", "course", dates).code, rehearsals(folder)) == (0, [])
    assert_valid(berth)


def test_a_skipped_extra_date_is_not_rehearsed(berth: Berth, folder: Path) -> None:
    berth("add", "course", "2026-02-12", "10:00-11:00")
    berth("rehearse", "course", "2026-02-12")
    assert berth("skip", "course", "2026-02-12").code == 0
    assert rehearsals(folder) == []


def test_a_moved_date_keeps_its_rehearsal(berth: Berth, folder: Path) -> None:
    berth("rehearse", "course", "2026-02-02")
    before = rehearsals(folder)
    assert berth("move", "course", "2026-02-02", "--to", "2026-02-04").code == 0
    assert rehearsals(folder) == before
    assert_valid(berth)
    assert berth("move", "course", "2026-02-04", "--to", "2026-01-26 08:00").code == 0
    assert berth("move", "course", "2026-02-02", "--to", "2026-01-20").code == 1  # before its rehearsal


def test_the_rehearsal_of_an_extra_date_follows_it(berth: Berth, folder: Path) -> None:
    berth("add", "course", "2026-02-12", "10:00-11:00")
    berth("rehearse", "course", "2026-02-12")
    assert berth("move", "course", "2026-02-12", "--to", "2026-02-13 09:00").code == 0
    assert rehearsals(folder) == [{"date": "2026-02-13", "at": "2026-02-05 06:00"}]
    assert_valid(berth)


def test_the_end_of_a_series_ends_its_rehearsals(berth: Berth, folder: Path) -> None:
    berth("rehearse", "course", "2026-02-02")
    berth("rehearse", "course", "2026-02-24")
    assert len(rehearsals(folder)) == 2
    assert berth("end", "course", "2026-02-20").code == 0
    assert [rehearsal["date"] for rehearsal in rehearsals(folder)] == ["2026-02-02"]
    assert_valid(berth)


def test_a_date_that_the_end_makes_an_extra_keeps_its_rehearsal(berth: Berth, folder: Path) -> None:
    berth("set", "course", "endDate=2026-03-31")
    berth("move", "course", "2026-02-24", "--to", "2026-02-05")
    berth("rehearse", "course", "2026-02-05")
    assert berth("end", "course", "2026-02-10").code == 0
    assert [(rehearsal["date"], rehearsal["at"]) for rehearsal in rehearsals(folder)] == [
        ("2026-02-05", "2026-01-29 06:00")
    ]
    assert_valid(berth)


def test_a_copy_has_no_rehearsals_of_the_old_term(berth: Berth, folder: Path) -> None:
    berth("rehearse", "course", "2026-02-02")
    assert berth("copy", "course", "fall", "--from", "2026-09-07", "--until", "2026-10-04").code == 0
    assert "rehearsals" not in (folder / "reservations/fall.yaml").read_text("utf-8")
    assert_valid(berth)


def test_dates_and_seats_change_beside_a_rehearsal(berth: Berth, folder: Path) -> None:
    """What is rehearsed is what opens then: seats and lead follow the date."""
    berth("rehearse", "course", "2026-02-02")
    assert berth("set", "course", "--on", "2026-02-02", "--seats", "40").code == 0
    pipeline = Pipeline(str(folder))
    (item,) = [one for one in pipeline.items() if one.reservation.name == "course"]

    assert [rehearsal.seats for rehearsal in item.expansion.rehearsals] == [(("small", 40),)]
