"""Rehearsals in lists, calendars, plans, simulations and reports: reservations, and no dates of courses."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from berth.core.jsonvalues import parse_instant
from berth.core.record import OccurrenceRecord, record_json

from tests.answer import Berth
from tests.cli import clouds, project

NOW = ("--now", "2026-01-01")


def answer(berth: Berth, *words: str) -> Any:
    code, out, _ = berth(*words, *NOW, "-o", "json")
    assert code == 0
    return json.loads(out)


def feeds(folder: Path) -> dict[str, bytes]:
    site = folder / "site"
    return {file.name: file.read_bytes() for file in (site / "berth.ics", *(site / "feeds").iterdir())}


def test_feeds_leave_out_rehearsals_and_the_page_shows_them(berth: Berth, folder: Path) -> None:
    berth("calendar", *NOW)
    before = feeds(folder)
    ics = berth("occurrences", *NOW, "-o", "ics")
    project.rehearsed(folder)
    berth("calendar", *NOW)

    assert feeds(folder) == before
    assert berth("occurrences", *NOW, "-o", "ics") == ics
    page = (folder / "site/index.html").read_text("utf-8")
    data = json.loads(page.partition('type="application/json" id="Data">')[2].partition("</script>")[0])
    (shown,) = [one for one in data["reservations"] if one["name"] == "try"]
    assert (shown["title"], "url" in shown) == ("Rehearsal of the lab", False)


@pytest.mark.parametrize("command", ["list", "occurrences", "plan"])
def test_lists_and_plans_include_rehearsals(berth: Berth, folder: Path, command: str) -> None:
    clouds.write(folder)
    before = answer(berth, command)
    project.rehearsed(folder)
    key = "occurrences" if command == "plan" else "items"
    after = answer(berth, command)[key]
    added = [one for one in after if one not in before[key]]

    assert [one for one in after if one in before[key]] == before[key]
    assert [one.get("name", one.get("reservation")) for one in added] == ["try"]


def test_a_ceiling_counts_rehearsals_beside_other_windows(berth: Berth, folder: Path) -> None:
    """The rehearsal of the second date lies in the first."""
    site = project.SITE.replace(
        "    - name: prod\n", "    - name: prod\n      ceilings: [{seats: {small: 30}}]\n"
    )
    (folder / "reservations/site.yaml").write_text(site, "utf-8")
    refused = berth("rehearse", "course", "2026-02-24", "--at", "2026-02-02T10:00", *NOW)

    assert refused.code == 1
    assert "error[B067]" in refused.err
    assert berth("rehearse", "course", "2026-02-24", "--at", "2026-02-03T10:00", *NOW).code == 0


def test_a_simulation_of_a_rehearsal_has_an_opening_and_no_start(berth: Berth, folder: Path) -> None:
    project.rehearsed(folder)
    out = berth("simulate", "try", *NOW, "--sessions", os.devnull).out

    assert "opens" in out
    assert "starts" not in out
    assert "course" not in out  # the date that is rehearsed has a row without seats


# The report


def record(date: str, ready: int | None, *faults: str, took: int = 10) -> OccurrenceRecord:
    """A rehearsal of the date, a week before at 06:00, with so many of 25 seats after so many minutes."""
    opens = parse_instant(f"{date}T05:00:00Z") - 7 * 86_400
    at = opens + 60 * took
    occurrence = f"course/{date}"
    return OccurrenceRecord(
        f"try/{date}",
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


def test_a_report_lists_rehearsals(berth: Berth, folder: Path) -> None:
    project.rehearsed(folder)
    data = json.loads(reported(berth, folder, record("2026-02-02", 25), record("2026-02-23", 20, "no room")))

    keys = ("rehearses", "class", "promised", "readyAt", "missing", "sessionsPeak", "faults", "nodes")
    nodes = {"node-a": 20, "node-b": 5}
    assert [[load[key] for key in keys] for load in data["items"]] == [
        ["course/2026-02-02", "small", 25, "2026-01-26T05:10:00Z", 0, None, [], nodes],
        ["course/2026-02-23", "small", 25, None, 5, None, ["no room"], nodes],
    ]
    assert [load["code"] for load in data["proposals"]] == ["B215"]
    assert data["commands"] == []


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_text_and_markdown_reports_list_rehearsals(berth: Berth, folder: Path, form: str) -> None:
    out = reported(berth, folder, record("2026-02-23", 20, "no room for <5>"), form=form)

    assert "5 missing: not ready; no room for" in out
    assert "<5>" not in out or form == "text"


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_a_report_of_a_course_with_only_rehearsals_works_in_each_form(
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
def test_a_report_of_rehearsals_fits_into_80_columns(
    berth: Berth, folder: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
) -> None:
    """What is long has lines of its own, and is not in a column that is one word wide."""
    reported(berth, folder, record("2026-02-23", 20, LONG), record("2026-02-02", 25))
    monkeypatch.setattr("berth.cli.command.columns", lambda _: 80)
    lines = berth("report", *names, "--records", "records.json", "--now", "2026-06-01").out.splitlines()

    assert max(map(len, lines)) <= 80


def test_late_rehearsals_get_the_proposal_of_a_longer_lead_time(berth: Berth, folder: Path) -> None:
    late = [record(date, 25, took=28) for date in ("2026-02-02", "2026-02-23")]
    data = json.loads(reported(berth, folder, *late))

    assert data["commands"] == ["berth set course lead=35"]
    assert json.loads(reported(berth, folder, late[0]))["proposals"] == []
