"""`berth list`: what each reservation holds in each cluster, and when it opens next."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from berth.output.yamltext import quote

from tests.answer import Berth
from tests.cases import tabled
from tests.cli import project

TEXT = """\
NAME    CLUSTER  SEATS     OCCURRENCES  SEAT-HOURS  NEXT OPENING
course  prod     25 small  2            225         Mon 2026-02-02 08:30
night   prod     2 small   1            18          Sat 2026-02-07 21:00
night   lab      3 bench   1            27          Sat 2026-02-07 21:00
rest    lab      1 bench   1            0.33        suspended
"""
WIDE = """\
NAME    CLUSTER  SEATS     OCCURRENCES  SEAT-HOURS  NEXT OPENING          RECURRENCE          LEAD    BEHAVIOR  ZONE              FILE                      TITLE
course  prod     25 small  2            225         Mon 2026-02-02 08:30  Mon 09:00-13:00     30 min  none      Europe/Zurich     reservations/course.yaml  Zürich, Café | Lab
night   prod     2 small   1            18          Sat 2026-02-07 21:00  listed 22:00-06:00  60 min  none      America/New_York  reservations/night.yaml   night
night   lab      3 bench   1            27          Sat 2026-02-07 21:00  listed 22:00-06:00  60 min  none      America/New_York  reservations/night.yaml   night
rest    lab      1 bench   1            0.33        suspended             listed 10:00-10:20  0 min   none      Europe/Zurich     reservations/rest.yaml    rest
"""  # noqa: E501 - as it is
NOW = ("--now", "2026-02-01")


def items(berth: Berth, *arguments: str) -> list[dict[str, Any]]:
    code, out, err = berth("list", "-o", "json", *arguments)
    assert (code, err) == (0, "")
    found: list[dict[str, Any]] = json.loads(out)["items"]
    return found


def test_a_table_has_a_line_for_each_reservation_and_cluster(berth: Berth) -> None:
    assert berth("list", *NOW) == berth("list", "-o", "text", *NOW) == (0, TEXT, "")
    assert berth("list", "-o", "wide", *NOW) == (0, WIDE, "")


def test_owners_are_the_last_column(berth: Berth, folder: Path) -> None:
    owned = project.COURSE + "  owner: {name: Physics, contact: p@example.org}\n"
    project.write(folder, course=owned, night=project.NIGHT + "  owner: {name: The night shift}\n")

    assert [line.split("  ")[-1].strip() for line in berth("list", "-o", "wide", *NOW)[1].splitlines()] == [
        *("OWNER", "Physics (p@example.org)", "The night shift", "The night shift", "rest")
    ]
    assert [item["owner"] for item in items(berth)] == [
        {"name": "Physics", "contact": "p@example.org"},
        *[{"name": "The night shift", "contact": None}] * 2,
        None,
    ]


TIMES = '{dayOfWeek: mon, startTime: "09:00", endTime: "13:00"}'


@tabled("cli")
def test_the_wide_table_describes_the_recurrence_and_the_lead_time(  # noqa: PLR0913, PLR0917 - one for each column
    schedule: str, more: str, expected: str, leads: str, berth: Berth, folder: Path
) -> None:
    course = project.COURSE.replace(f"      - {TIMES}\n", "").replace(
        "    schedule:\n", f"    schedule: [{schedule}]\n"
    )
    text = course.partition("    calendars")[0] + (f"    {more}\n" if more else "") + PROVISIONING
    project.write(folder, course=text)

    lines = berth("list", "-o", "wide", *NOW).out.splitlines()
    cells = dict(zip(*(re.split(" {2,}", line) for line in lines[:2]), strict=True))
    assert (cells["RECURRENCE"], cells["LEAD"]) == (expected, leads)
    assert items(berth, *NOW)[0]["recurrence"]["times"] == expected


PROVISIONING = "  provisioning: {placeholderCount: 25, scaleDownBehavior: none}\n"


def test_json_is_a_reservation_list(berth: Berth) -> None:
    code, out, err = berth("list", "-o", "json", *NOW)
    answer = json.loads(out)

    assert (code, err) == (0, "")
    assert list(answer) == ["apiVersion", "kind", "items"]
    assert (answer["apiVersion"], answer["kind"]) == ("berth.dev/v1alpha1", "ReservationList")
    assert answer["items"][0] == {
        "name": "course",
        "title": "Zürich, Café | Lab",
        "cluster": "prod",
        "seats": {"small": 25},
        "backend": "placeholder",
        "leadTimeMinutes": 30,
        "recurrence": {
            "type": "weekly",
            "startDate": "2026-02-02",
            "endDate": "2026-03-01",
            "timeZone": "Europe/Zurich",
            "times": "Mon 09:00-13:00",
        },
        "behavior": "none",
        "occurrences": 2,
        "seatHours": 225,
        "next": "2026-02-02T07:30:00Z",
        "suspend": False,
        "standing": None,
        "owner": None,
        "file": "reservations/course.yaml",
    }
    keys = ["name", "title", "cluster", "seats", "backend", "leadTimeMinutes", "recurrence", "behavior"]
    keys += ["occurrences", "seatHours", "next", "suspend", "standing", "owner", "file"]
    assert [list(item) for item in answer["items"]] == [keys] * 4
    assert [(item["name"], item["cluster"]) for item in answer["items"]] == [
        ("course", "prod"),
        ("night", "prod"),
        ("night", "lab"),
        ("rest", "lab"),
    ]
    assert answer["items"][3]["seatHours"] == 20 / 60
    assert (answer["items"][3]["next"], answer["items"][3]["suspend"]) == (None, True)


@tabled("cli")
def test_next_is_the_first_opening_from_now_on(now: str, expected: str | None, berth: Berth) -> None:
    assert items(berth, "--now", now)[0]["next"] == expected


def test_next_is_the_earliest_opening_even_if_the_dates_are_unsorted(berth: Berth, folder: Path) -> None:
    """A Job that opens before a change of clocks may belong to a later start."""
    course = project.COURSE.replace("weekly", "dates").replace("dayOfWeek: mon, ", "")
    for line in (
        "startDate: 2026-02-02",
        "endDate: 2026-03-01",
        "calendars: [holidays]",
        "except: [2026-02-09]",
    ):
        course = course.replace(f"    {line}\n", "")
    course = course.replace("type: dates", "type: dates\n    dates: [2026-02-02, 2026-02-01]")
    course = course.replace("    moved: [{date: 2026-02-23, to: {date: 2026-02-24}}]\n", "")
    project.write(folder, course=course)

    assert items(berth, "--now", "2026-02-02")[0]["next"] == "2026-02-02T07:30:00Z"
    assert items(berth, "--now", "2026-01-02")[0]["next"] == "2026-02-01T07:30:00Z"


def test_without_now_the_current_time_is_used(berth: Berth, folder: Path) -> None:
    """One is long gone and one far away: true at any time at which this may run."""
    far = project.REST.replace("2026-02-03", "2099-02-03").replace("suspend: true", "suspend: false")
    gone = project.NIGHT.replace("2026-02-07", "2020-02-07")
    project.write(folder, rest=far, night=gone)

    assert [item["next"] for item in items(berth, "--cluster", "lab")] == [None, "2099-02-03T09:00:00Z"]


def test_the_class_and_cluster_options_filter_the_rows(berth: Berth) -> None:
    assert [(item["name"], item["seats"]) for item in items(berth, "--class", "bench")] == [
        ("night", {"bench": 3}),
        ("rest", {"bench": 1}),
    ]
    assert [(item["name"], item["seats"]) for item in items(berth, "--cluster", "prod")] == [
        ("course", {"small": 25}),
        ("night", {"small": 2}),
    ]
    assert items(berth, "--cluster", "prod", "--class", "bench") == []
    assert berth("list", "--cluster", "prod", "--class", "bench") == (0, "No reservations.\n", "")


def test_the_class_option_counts_only_occurrences_of_the_class(berth: Berth, folder: Path) -> None:
    night = project.NIGHT.replace(
        'schedule: [{startTime: "22:00", endTime: "06:00"}]',
        """schedule:
      - {startTime: "22:00", endTime: "06:00"}
      - {startTime: "08:00", endTime: "09:00", seats: [{resourceClass: spare, placeholderCount: 7}]}""",
    )
    spare = "---\n" + project.CLASSES.split("---\n")[0].replace("name: small", "name: spare")
    project.write(folder, night=night, classes=project.CLASSES + spare)

    (found,) = items(berth, "--class", "spare", *NOW)
    (whole,) = (item for item in items(berth, "--cluster", "prod", *NOW) if item["name"] == "night")

    assert (found["seats"], found["occurrences"], found["seatHours"]) == ({"spare": 7}, 1, 14)
    assert found["next"] == "2026-02-07T12:00:00Z"
    assert (whole["seats"], whole["occurrences"]) == ({"small": 2, "spare": 7}, 2)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--now", "2026-02-01 22:00", "--week"), []),
        (
            ("--week", "2026-02-03"),
            [("course", 1, 112.5), ("night", 1, 18), ("night", 1, 27), ("rest", 1, 20 / 60)],
        ),
        (("--week", "2026-02-03", "--class", "bench"), [("night", 1, 27), ("rest", 1, 20 / 60)]),
        (("--week", "2026-02-24"), [("course", 1, 112.5)]),
    ],
    ids=["empty", "all", "of-a-class", "moved"],
)
def test_the_week_option_counts_only_occurrences_of_that_week(
    berth: Berth, words: tuple[str, ...], expected: list[tuple[str, int, float]]
) -> None:
    assert [
        (item["name"], item["occurrences"], item["seatHours"]) for item in items(berth, *words)
    ] == expected


@tabled("cli")
def test_an_unknown_class_cluster_or_instant_is_a_usage_error(
    arguments: list[str], message: str, berth: Berth
) -> None:
    assert berth("list", *arguments) == (2, "", f"berth: {message}\n")


def test_a_project_without_a_site_gets_the_finding_b064(berth: Berth, folder: Path) -> None:
    project.write(folder, site=None)

    code, out, err = berth("list", "--cluster", "prod", "--now", "2026-02-01 09:00")

    assert (code, out) == (1, "")
    assert "error[B064] no Site is declared." in err


def test_warnings_go_to_stderr_and_stop_the_list_only_with_strict(berth: Berth, folder: Path) -> None:
    two = project.REST.replace("schedule: [", 'schedule: [{startTime: "10:05", endTime: "10:10"}, ')
    project.write(folder, rest=two)

    code, out, err = berth("list", "-o", "json", *NOW)

    assert (code, json.loads(out)["items"][3]["occurrences"]) == (0, 2)
    assert json.loads(err)["items"][0]["severity"] == "warning"
    assert berth("list", "--strict", *NOW)[:2] == (1, "")


@tabled("cli")
def test_a_title_stays_on_its_line(written: str, shown: str, berth: Berth, folder: Path) -> None:
    project.write(folder, course=project.COURSE.replace('"Zürich, Café | Lab"', quote(written)))

    code, out, err = berth("list", "-o", "wide", *NOW)

    assert (code, err) == (0, "")
    assert out.split("\n")[1].endswith(f"Europe/Zurich     reservations/course.yaml  {shown}")
    assert len(out.split("\n")) == 6


def test_list_reports_that_a_project_has_no_reservations(berth: Berth, folder: Path) -> None:
    project.write(folder, course=None, night=None, rest=None)

    assert berth("list") == (0, "No reservations.\n", "")
    assert items(berth) == []
    assert berth("list", "--class", "x") == (2, "", 'berth: No class is named "x". There are bench, small.\n')
    assert berth("occurrences", "x") == (
        2,
        "",
        'berth: No reservation is named "x". There is no reservation.\n',
    )
