"""Rehearsals in lists, calendars, plans, simulations and reports: shown and paid for, and no dates."""

import json
from pathlib import Path
from typing import Any

import pytest
from berth.core.jsonvalues import parse_instant
from berth.core.record import OccurrenceRecord, record_json
from berth.pipeline import Pipeline
from berth.webcalendar.events import EventSource, events_of

from tests.answer import Berth
from tests.cli import clouds, project
from tests.generate import project as generated

NOW = ("--now", "2026-01-01")
REHEARSAL = "course/2026-02-02T09:00/rehearsal"


def answer(berth: Berth, *words: str) -> Any:
    code, out, _ = berth(*words, *NOW, "-o", "json")
    assert code == 0
    return json.loads(out)


def test_occurrences_show_them_with_their_mark(berth: Berth, folder: Path) -> None:
    before = answer(berth, "occurrences")
    project.rehearsed(folder)
    after = answer(berth, "occurrences")
    added = [one for one in after["items"] if "rehearses" in one]

    assert [one for one in after["items"] if one not in added] == before["items"]
    assert [(one["id"], one["rehearses"], one["open"], one["end"], one["marks"]) for one in added] == [
        (REHEARSAL, "course/2026-02-02T09:00", "2026-01-26T05:00:00Z", "2026-01-26T05:30:00Z", ["rehearsal"]),
        (
            "course/2026-02-23T09:00/rehearsal",
            "course/2026-02-23T09:00",
            "2026-02-17T05:00:00Z",
            "2026-02-17T05:30:00Z",
            ["rehearsal"],
        ),
    ]


def test_list_counts_them_apart(berth: Berth, folder: Path) -> None:
    before = answer(berth, "list")
    project.rehearsed(folder)
    after = answer(berth, "list")

    assert [one.pop("rehearsals", None) for one in after["items"]] == [2, None, None, None]
    assert after == before
    assert "REHEARSALS" not in berth("list", *NOW).out
    assert "REHEARSALS" in berth("list", *NOW, "-o", "wide").out


def feeds(folder: Path) -> dict[str, bytes]:
    site = folder / "site"
    return {file.name: file.read_bytes() for file in (site / "berth.ics", *(site / "feeds").iterdir())}


def test_feeds_have_dates_only_and_the_page_has_both(berth: Berth, folder: Path) -> None:
    berth("calendar", *NOW)
    before = feeds(folder)
    ics = berth("occurrences", *NOW, "-o", "ics")
    project.rehearsed(folder)
    berth("calendar", *NOW)

    assert feeds(folder) == before
    assert berth("occurrences", *NOW, "-o", "ics") == ics
    page = (folder / "site/index.html").read_text("utf-8")
    data = json.loads(page.partition('type="application/json" id="Data">')[2].partition("</script>")[0])
    (course,) = [load for load in data["reservations"] if load["name"] == "course"]
    numbers = [number for number, shape in enumerate(course["shapes"]) if "rehearsal" in shape[3]]
    assert [number in numbers for number in course["windows"][1::2]] == [True, False, True, False]
    assert course["ids"]["0"] == "2026-02-02T09:00/rehearsal"


def courses(folder: Path) -> tuple[dict[str, object], int]:
    """Dates, seat-hours and events of each reservation, and how many rehearsals there are."""
    pipeline = Pipeline(str(folder))
    found: dict[str, object] = {}
    rehearsals = 0
    for item in pipeline.items():
        assert pipeline.site is not None
        source = EventSource.of(item.reservation, pipeline.site)
        dates = [(part.placed.cluster.name, date) for part in item.parts for date in part.occurrences]
        source.occurrences.extend(dates)
        hours = sum(date.seat_seconds() for _, date in dates)
        found[item.reservation.name] = dates, item.expansion.skipped, hours, events_of(source)
        rehearsals += sum(len(part.rehearsals) for part in item.parts)
    return found, rehearsals


@pytest.mark.parametrize("seed", [3, 7])
def test_no_rehearsal_changes_dates_seat_hours_or_feeds(tmp_path: Path, seed: int) -> None:
    generated(tmp_path, seed, 30)
    before, none = courses(tmp_path)
    for file in (tmp_path / "reservations").glob("capacityreservation-*.json"):
        tree = json.loads(file.read_text("utf-8"))
        if "recurrence" in tree["spec"]:
            rule = {"daysBefore": seed, "startTime": "05:00", "seats": "50%"}
            tree["spec"]["provisioning"]["rehearsal"] = rule
            file.write_text(json.dumps(tree), "utf-8")
    after, rehearsals = courses(tmp_path)

    assert none == 0 < rehearsals
    assert after == before


def test_a_plan_shows_and_counts_them(berth: Berth, folder: Path) -> None:
    clouds.write(folder)
    before = answer(berth, "plan")
    project.rehearsed(folder)
    after = answer(berth, "plan")
    added = [one for one in after["occurrences"] if "rehearses" in one]
    money = [float(one["total"]["cost"]["sum"]) for one in (before, after)]

    assert added[0]["id"] == REHEARSAL
    assert [one for one in after["occurrences"] if one not in added] == before["occurrences"]
    assert float(after["rehearsals"]["cost"]) == pytest.approx(money[1] - money[0])
    assert "rehearsals" not in before
    text = berth("plan", *NOW).out
    assert text.index("\nDates\n") < text.index("\nRehearsals\n") < text.index("\nReserved machines\n")


def test_a_ceiling_counts_them_beside_other_windows(berth: Berth, folder: Path) -> None:
    """The rehearsal of the second date lies in the first."""
    site = project.SITE.replace(
        "    - name: prod\n", "    - name: prod\n      ceilings: [{seats: {small: 30}}]\n"
    )
    (folder / "reservations/site.yaml").write_text(site, "utf-8")
    assert berth("validate", *NOW).code == 0
    refused = berth("rehearse", "course", "2026-02-24", "--at", "2026-02-02 10:00", *NOW)
    assert refused.code == 1
    assert "error[B067] spec.recurrence.rehearsals[0].at: " in refused.err
    assert "rehearsal of course/2026-02-23T09:00 (Mon 2026-02-02 10:00-10:30)" in refused.err
    assert (
        berth("rehearse", "course", "2026-02-24", "--at", "2026-02-02 10:00", "--seats", "5", *NOW).code == 0
    )


def test_a_simulation_is_one_of_a_class(berth: Berth, folder: Path) -> None:
    usual = berth("simulate", "course", "2026-02-02", *NOW)
    project.rehearsed(folder)

    assert berth("simulate", "course", "2026-02-02", *NOW) == usual
    assert berth("simulate", "course", "2026-01-26", *NOW).code == 2


# The report


def record(date: str, ready: int | None, *faults: str, took: int = 10) -> OccurrenceRecord:
    """A rehearsal of the date, a week before at 06:00, with so many of 25 seats after so many minutes."""
    opens = parse_instant(f"{date}T05:00:00Z") - 7 * 86_400
    at = opens + 60 * took
    occurrence = f"course/{date}T09:00"
    return OccurrenceRecord(
        f"{occurrence}/rehearsal",
        {"small": 25},
        at if ready == 25 else None,
        window=(opens, opens, opens + 1800),
        rehearses=occurrence,
        targets={"small": ((opens, 25),)},
        ready={"small": ((at, ready),)} if ready else {},
        faults=faults,
        nodes={"node-a": 20, "node-b": 5},
    )


def reported(berth: Berth, folder: Path, *records: OccurrenceRecord, form: str = "json") -> str:
    text = json.dumps([record_json(one) for one in records])
    (folder / "records.json").write_text(text, "utf-8")
    code, out, _ = berth("report", "--records", "records.json", "--now", "2026-06-01", "-o", form)
    assert code == 0
    return out


def test_a_report_has_rehearsals_and_no_dates_of_them(berth: Berth, folder: Path) -> None:
    project.rehearsed(folder)
    data = json.loads(reported(berth, folder, record("2026-02-02", 25), record("2026-02-23", 20, "no room")))

    assert data["items"] == []
    keys = ("rehearses", "class", "promised", "ready", "readyAt", "missing", "faults", "nodes")
    nodes = {"node-a": 20, "node-b": 5}
    assert [[load[key] for key in keys] for load in data["rehearsals"]] == [
        ["course/2026-02-02T09:00", "small", 25, 25, "2026-01-26T05:10:00Z", 0, [], nodes],
        ["course/2026-02-23T09:00", "small", 25, 20, None, 5, ["no room"], nodes],
    ]
    assert [(load["code"], load["from"], load["to"]) for load in data["proposals"]] == [("B215", 25, 25)]


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_each_form_of_a_report_has_them(berth: Berth, folder: Path, form: str) -> None:
    out = reported(berth, folder, record("2026-02-23", 20, "no room for <5>"), form=form)

    assert "5 missing; no room for" in out
    assert "<5>" not in out or form == "text"


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_each_form_can_name_a_reservation_that_has_rehearsals_only(
    berth: Berth, folder: Path, form: str
) -> None:
    """Before its first date: the table of dates is empty, and is left out."""
    reported(berth, folder, record("2026-02-23", 20, "no room"))
    words = "report", "course", "--records", "records.json", "--now", "2026-02-18"
    code, out, _ = berth(*words, "-o", form)

    assert code == 0
    assert "no room" in out
    assert "|  |" not in out  # a table without columns


LONG = "quota: 14 placeholders of small: exceeded quota: berth, requested: cpu=1, limited: cpu=96"


@pytest.mark.parametrize("names", [(), ("course",)], ids=["all", "named"])
def test_rehearsals_fit_a_terminal(
    berth: Berth, folder: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
) -> None:
    """What is long has lines of its own, and is not in a column that is one word wide."""
    reported(berth, folder, record("2026-02-23", 20, LONG), record("2026-02-02", 25))
    monkeypatch.setattr("berth.cli.command.columns", lambda _: 80)
    lines = berth("report", *names, "--records", "records.json", "--now", "2026-06-01").out.splitlines()

    assert max(map(len, lines)) <= 80
    assert "    5 missing; quota: 14 placeholders of small: exceeded quota: berth," in lines


def test_late_rehearsals_propose_a_longer_lead(berth: Berth, folder: Path) -> None:
    late = [record(date, 25, took=28) for date in ("2026-02-02", "2026-02-23")]
    data = json.loads(reported(berth, folder, *late))

    assert [(load["code"], load["from"], load["to"]) for load in data["proposals"]] == [("B212", 30, 35)]
    assert json.loads(reported(berth, folder, late[0]))["proposals"] == []


def test_a_project_reads_as_the_same_course(folder: Path) -> None:
    """What other code asks of an item: occurrences of the course, and windows of both."""
    project.rehearsed(folder)
    (item,) = [one for one in Pipeline(str(folder)).items() if one.reservation.name == "course"]
    (part,) = item.parts

    assert len(part.occurrences) == 2
    assert [window.rehearses for window in part.windows] == [
        "course/2026-02-02T09:00",
        "",
        "course/2026-02-23T09:00",
        "",
    ]
