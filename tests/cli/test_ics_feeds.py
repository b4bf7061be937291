"""Calendars of a site, a class and a reservation, read back by a strict parser, and held to `berth diff`."""

import json
import shutil
from pathlib import Path
from typing import Any

import icalendar
import pytest

from tests import generate
from tests.answer import Berth

Dates = dict[str, tuple[str, str]]


def feed(berth: Berth, *words: str) -> Dates:
    """Start and end of every event by its UID."""
    code, out, err = berth("occurrences", *words, "-o", "ics")
    assert (code, err) == (0, "")
    calendar = icalendar.Calendar.from_ical(out)
    assert calendar.errors == []
    events = calendar.walk("VEVENT")
    assert [event.errors for event in events] == [[]] * len(events)
    dates = {uid(event): (instant(event, "DTSTART"), instant(event, "DTEND")) for event in events}
    assert len(dates) == len(events)
    return dates


def uid(event: Any) -> str:
    """The id of its occurrence."""
    id_, _, site = str(event["UID"]).partition("@")
    assert site
    return id_


def instant(event: Any, key: str) -> str:
    return f"{event.decoded(key):%Y-%m-%dT%H:%M:%SZ}"


@pytest.mark.parametrize(
    ("words", "reservations"),
    [
        ((), {"course", "night", "rest"}),
        (("night",), {"night"}),
        (("--class", "bench"), {"night", "rest"}),
        (("--cluster", "prod"), {"course", "night"}),
    ],
    ids=["site", "reservation", "class", "cluster"],
)
def test_a_feed_has_only_the_selected_reservations(
    berth: Berth, words: tuple[str, ...], reservations: set[str]
) -> None:
    assert {uid.partition("/")[0] for uid in feed(berth, *words)} == reservations


@pytest.mark.parametrize("seed", range(4))
def test_diff_reports_the_events_that_calendars_gain_lose_and_move(
    berth: Berth, folder: Path, tmp_path: Path, seed: int
) -> None:
    """Two projects by chance, one after the other; `berth diff` says the way from one to the other."""
    feeds, folders = [], []
    for one in (2 * seed, 2 * seed + 1):
        here = tmp_path / f"seed-{one}"
        generate.project(here, one, 40)
        remove_what_is_faulty(berth, here)
        shutil.rmtree(folder / "reservations")
        shutil.copytree(here / "reservations", folder / "reservations")
        feeds.append(every(berth))
        folders.append(here)
    change = json.loads(berth("diff", str(folders[0]), "--now", "2026-01-01", "-o", "json").out)
    assert change["base"]["valid"]
    assert change["head"]["valid"]
    before, after = feeds
    dates = change["occurrences"]
    assert {date["id"] for date in dates["added"]} == after.keys() - before.keys()
    assert {date["id"] for date in dates["removed"]} == before.keys() - after.keys()
    moved = {
        date["after"]["id"]: (date["after"]["start"], date["after"]["end"])
        for date in dates["changed"]
        if (date["before"]["start"], date["before"]["end"]) != (date["after"]["start"], date["after"]["end"])
    }
    assert moved == {uid: after[uid] for uid in before.keys() & after.keys() if before[uid] != after[uid]}


def every(berth: Berth) -> Dates:
    """The dated events, whatever notes and warnings there are."""
    calendar = icalendar.Calendar.from_ical(berth("occurrences", "-o", "ics").out)
    return {
        uid(event): (instant(event, "DTSTART"), instant(event, "DTEND"))
        for event in calendar.walk("VEVENT")
        if "RRULE" not in event
    }


def remove_what_is_faulty(berth: Berth, folder: Path) -> None:
    """Until nothing is."""
    while True:
        told = json.loads(berth("-C", str(folder), "validate", "-o", "json").out)["items"]
        faulty = {load["file"] for load in told if load["severity"] == "error"}
        if not faulty:
            return
        for file in faulty:
            (folder / file).unlink()
