"""`berth occurrences`: every date, which of them were asked for, and in which form."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.answer import Berth
from tests.cli import project

NOW = ("--now", "2026-02-01")

TEXT = """\
RESERVATION  LOCAL TIME                         ZONE              OPENS UTC  UTC              SEATS     CLUSTER  MARKS
course       Mon 2026-02-02 09:00-13:00         Europe/Zurich     07:30      08:00-12:00      25 small  prod
rest         Tue 2026-02-03 10:00-10:20         Europe/Zurich     09:00      09:00-09:20      1 bench   lab      suspended
night        Sat 2026-02-07 22:00 to Sun 06:00  America/New_York  Sun 02:00  Sun 03:00-11:00  3 bench   lab      overnight
night        Sat 2026-02-07 22:00 to Sun 06:00  America/New_York  Sun 02:00  Sun 03:00-11:00  2 small   prod     overnight
course       Tue 2026-02-24 09:00-13:00         Europe/Zurich     07:30      08:00-12:00      25 small  prod     moved

SKIPPED  LOCAL TIME        REASON
course   2026-02-09 09:00  except
course   2026-02-16 09:00  calendar holidays: Carnival
"""  # noqa: E501 - as it is
COURSE = """\
RESERVATION  LOCAL TIME                  OPENS UTC  UTC          SEATS     MARKS
course       Mon 2026-02-02 09:00-13:00  07:30      08:00-12:00  25 small
course       Tue 2026-02-24 09:00-13:00  07:30      08:00-12:00  25 small  moved

SKIPPED  LOCAL TIME        REASON
course   2026-02-09 09:00  except
course   2026-02-16 09:00  calendar holidays: Carnival
"""
WIDE = """\
RESERVATION  LOCAL TIME                         ZONE              OPEN (UTC)        START             END               SEATS    CLUSTER  MARKS
night        Sat 2026-02-07 22:00 to Sun 06:00  America/New_York  2026-02-08 02:00  2026-02-08 03:00  2026-02-08 11:00  3 bench  lab      overnight
"""  # noqa: E501 - as it is


def answer(berth: Berth, *arguments: str) -> dict[str, Any]:
    code, out, err = berth("occurrences", *NOW, "-o", "json", *arguments)
    assert (code, err) == (0, "")
    data: dict[str, Any] = json.loads(out)
    return data


def found(berth: Berth, *arguments: str) -> list[str]:
    """`<id> <cluster>` of what was found, and the ids of what is skipped with a minus."""
    told = answer(berth, *arguments)
    items = [f"{item['id']} {item['cluster']}" for item in told["items"]]
    return [*items, *(f"-{item['id']}" for item in told["skipped"])]


FIRST, MOVED = "course/2026-02-02T09:00 prod", "course/2026-02-23T09:00 prod"
EXCEPT, HOLIDAY = "-course/2026-02-09T09:00", "-course/2026-02-16T09:00"
REST, LAB, PROD = "rest/2026-02-03T10:00 lab", "night/2026-02-07T22:00 lab", "night/2026-02-07T22:00 prod"


def test_the_default_output_is_a_text_table(berth: Berth) -> None:
    assert berth("occurrences", *NOW) == (0, TEXT, "")


def test_zone_and_cluster_columns_are_left_out_if_all_rows_are_equal(berth: Berth) -> None:
    assert berth("occurrences", *NOW, "course") == (0, COURSE, "")


def test_wide_tells_all_of_it(berth: Berth) -> None:
    assert berth("occurrences", *NOW, "night", "--cluster", "lab", "-o", "wide") == (0, WIDE, "")


def test_json_is_an_occurrence_list(berth: Berth) -> None:
    told = answer(berth, "night", "course")

    assert list(told) == ["apiVersion", "kind", "items", "skipped", "standing"]
    assert (told["apiVersion"], told["kind"]) == ("berth.dev/v1alpha1", "OccurrenceList")
    assert told["items"][1] == {
        "reservation": "night",
        "id": "night/2026-02-07T22:00",
        "cluster": "lab",
        "seats": {"bench": 3},
        "open": "2026-02-08T02:00:00Z",
        "start": "2026-02-08T03:00:00Z",
        "end": "2026-02-08T11:00:00Z",
        "timeZone": "America/New_York",
        "marks": ["overnight"],
    }
    assert told["skipped"] == [
        {"reservation": "course", "id": "course/2026-02-09T09:00", "date": "2026-02-09", "reason": "except"},
        {
            "reservation": "course",
            "id": "course/2026-02-16T09:00",
            "date": "2026-02-16",
            "reason": "calendar holidays: Carnival",
        },
    ]
    assert told["standing"] == []
    keys = ["reservation", "id", "cluster", "seats", "open", "start", "end", "timeZone", "marks"]
    assert [list(item) for item in told["items"]] == [keys] * 4
    assert list(told["skipped"][0]) == ["reservation", "id", "date", "reason"]


def test_occurrences_are_sorted_by_start_then_reservation_then_id(berth: Berth, folder: Path) -> None:
    """By the reservation's name and not by the id alone: `-` comes before `/`."""
    for name in ("rest-a", "rest.b", "rest"):
        text = project.REST.replace("name: rest", f"name: {name.replace('.', '-')}")
        (folder / "reservations" / f"{name}.yaml").write_text(text)

    starts = [line.partition("/")[0] for line in found(berth) if line.startswith("rest")]

    assert starts == ["rest", "rest-a", "rest-b"]


SELECTIONS: list[tuple[list[str], list[str]]] = [
    ([], [FIRST, REST, LAB, PROD, MOVED, EXCEPT, HOLIDAY]),
    (["rest", "night"], [REST, LAB, PROD]),
    (["--cluster", "lab"], [REST, LAB]),
    (["--class", "small"], [FIRST, PROD, MOVED, EXCEPT, HOLIDAY]),
    (["--class", "small", "--cluster", "lab"], []),
    (["--at", "2026-02-02T07:30:00Z"], [FIRST]),
    (["--at", "2026-02-02T07:29:59Z"], []),
    (["--at", "2026-02-02T11:59:59Z"], [FIRST]),
    (["--at", "2026-02-02T12:00:00Z"], []),
    (["--at", "2026-02-02 08:30"], [FIRST]),
    (["--at", "2026-02-02T08:30+01:00"], [FIRST]),
    (["--at", "2026-02-02T08:30:00-01:00"], [FIRST]),
    (["--at", "2026-02-02"], []),
    (["--at", "2026-02-08"], []),
    (["--at", "2026-02-08 03:00"], [LAB, PROD]),
    (["--at", "2026-02-09 23:59"], [EXCEPT]),
    (["--from", "2026-02-10"], [MOVED, HOLIDAY]),
    (["--from", "2026-02-03", "--until", "2026-02-04"], [REST]),
    (["--from", "2026-02-02", "--until", "2026-02-02"], [FIRST]),
    (["--now", "2026-02-03 12:00"], [REST, LAB, PROD, MOVED, EXCEPT, HOLIDAY]),
    (["--now", "2026-02-04"], [LAB, PROD, MOVED, EXCEPT, HOLIDAY]),
    (["--now", "2026-03-01", "--until", "2026-02-04"], [FIRST, REST]),
    (["--now", "2026-03-01", "--until", "2026-03-02"], []),
    (["--now", "2026-03-01", "--at", "2026-02-02 09:00"], [FIRST]),
    (["--now", "2026-03-01", "--from", "2026-02-24"], [MOVED]),
    (["--week", "2026-02-02"], [FIRST, REST, LAB, PROD]),
    (["--now", "2026-02-08 23:00", "--week"], [FIRST, REST, LAB, PROD]),
    (["--now", "2026-02-08 23:00", "--week", "+1d"], [EXCEPT]),
    (["--now", "2026-02-08", "--week", "--cluster", "lab"], [REST, LAB]),
    (["course", "--week", "2026-02-24"], [MOVED]),
]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    SELECTIONS,
    ids=["_".join(words).replace(":", "").strip("-") or "all" for words, _ in SELECTIONS],
)
def test_options_select_occurrences_by_name_class_cluster_and_time(
    berth: Berth, arguments: list[str], expected: list[str]
) -> None:
    """`--at`: open then; `--from` and `--until`: overlap. What is skipped counts as its whole local day."""
    assert found(berth, *arguments) == expected


def test_an_instant_without_an_offset_is_local_time_of_the_site(berth: Berth, folder: Path) -> None:
    """2026-03-29 02:30 does not exist in Zurich: it means 03:30, as in a reservation."""
    project.write(folder, rest=project.REST.replace("2026-02-03", "2026-03-29").replace("10:", "03:"))

    assert found(berth, "--at", "2026-03-29T01:10:00Z") == ["rest/2026-03-29T03:00 lab"]
    assert found(berth, "--at", "2026-03-29 03:10") == ["rest/2026-03-29T03:00 lab"]
    assert found(berth, "--at", "2026-03-29 02:10") == ["rest/2026-03-29T03:00 lab"]
    assert found(berth, "--at", "2026-03-29 02:30") == []


def test_an_unknown_name_is_a_usage_error_and_a_faulty_reservation_is_reported(
    berth: Berth, folder: Path
) -> None:
    assert berth("occurrences", *NOW, "curse") == (
        2,
        "",
        'berth: No reservation is named "curse". Did you mean course?\n',
    )

    project.write(folder, rest=project.REST.replace("2026-02-03", "2026-02-30"))
    code, out, err = berth("occurrences", *NOW, "rest")

    assert (code, out) == (1, "")
    assert err.startswith("reservations/rest.yaml:8:13: error[B017] spec.recurrence.dates[0]: ")


@pytest.mark.parametrize("flag", ["--from", "--until"])
def test_from_and_until_refuse_texts_that_are_not_dates(berth: Berth, flag: str) -> None:
    for text in ("", "09:00", "someday", "+2h", "2026-02-08T10:59:59Z"):
        code, out, err = berth("occurrences", *NOW, flag, text)
        assert (code, out, f'{flag}: "{text}" is not a date.' in err) == (2, "", True)


def test_a_malformed_instant_is_a_usage_error(berth: Berth) -> None:
    for text in ("", "09:00", "someday"):
        message = (
            f'berth: --at: "{text}" is not an instant. Write 2026-02-02T08:00:00Z, 2026-02-02 09:00, '
            "monday or +2h. [B017]\n"
        )

        assert berth("occurrences", *NOW, "--at", text) == (2, "", message)
    refused = "berth: --at: 24:00 can end a window, not start one. Write 00:00 of the next day. [B018]\n"
    assert berth("occurrences", *NOW, "--at", "2026-02-02 24:00") == (2, "", refused)
    for text in ("2026-02-30", "30.2.2026", "2026-2-30 09:00"):
        code, out, err = berth("occurrences", *NOW, "--at", text)

        assert (code, out) == (2, "")
        assert err.endswith(" [B017]\n")


@pytest.mark.parametrize("command", ["occurrences", "plan", "report"])
def test_a_range_that_ends_before_its_first_date_is_a_usage_error(
    berth: Berth, command: str, tmp_path: Path
) -> None:
    """With words for dates, too, and for each command with a range."""
    records = tmp_path / "records.json"
    records.write_text('{"items": []}', encoding="utf-8")
    more = ["--records", str(records)] if command == "report" else []
    refused = "berth: --until: 2026-02-08 is before --from 2026-02-09. Write a later date. [B024]\n"

    assert berth(command, "--from", "2026-02-09", "--until", "2026-02-08", *more) == (2, "", refused)
    now = ("--now", "2026-02-08 12:00")
    assert berth(command, "--from", "tomorrow", "--until", "today", *more, *now) == (2, "", refused)
    assert berth(command, "--from", "2026-02-09", "--until", "2026-02-09", *more)[0] == 0


@pytest.mark.parametrize("text", ["1999-12-31 23:59", "0001-01-01", "2100-01-01T00:00:00Z", "+99999w"])
def test_commands_refuse_a_now_outside_of_the_years_2000_to_2099(berth: Berth, text: str) -> None:
    for command in ("occurrences", "plan", "list --week", "calendar", "simulate course", "status"):
        code, out, err = berth(*command.split(), "--now", text)

        assert (code, out) == (2, ""), command
        assert "is outside of the years 2000 to 2099. Write an instant within them. [B017]\n" in err


def test_no_occurrences_are_reported_with_the_nearest_and_skipped_dates(berth: Berth) -> None:
    assert berth("occurrences", *NOW, "rest", "--from", "2026-03-01") == (0, "No occurrences.\n", "")
    assert berth("occurrences", *NOW, "--at", "2026-02-09 09:00") == (
        0,
        "No occurrences: no date on Mon 2026-02-09; the nearest are Sat 2026-02-07 and Tue 2026-02-24.\n"
        "\nSKIPPED  LOCAL TIME        REASON\ncourse   2026-02-09 09:00  except\n",
        "",
    )


def test_the_from_option_is_suggested_if_no_occurrence_is_to_come(berth: Berth) -> None:
    told = "No occurrences from today on; --from DATE shows earlier ones.\n"
    assert berth("occurrences", "--now", "2027-01-01") == (0, told, "")


@pytest.mark.parametrize("flag", ["--at", "--from", "--until"])
def test_week_beside_another_time_option_is_a_usage_error(berth: Berth, flag: str) -> None:
    told = "berth: Give --week, or --at, --from and --until.\n"
    assert berth("occurrences", "--week", flag, "2026-02-02") == (2, "", told)


def test_text_of_authors_stays_in_its_cell(berth: Berth, folder: Path) -> None:
    title = '"Carnival | <b>"'
    project.write(folder, classes=project.CLASSES.replace("title: Carnival", f"title: {title}"))

    for form, reason in (
        ("text", "calendar holidays: Carnival | <b>"),
        ("markdown", "| calendar holidays: Carnival \\| &lt;b&gt; |"),
    ):
        code, out, err = berth("occurrences", *NOW, "course", "-o", form)

        assert (code, err) == (0, "")
        assert out.splitlines()[-1].endswith(reason)
