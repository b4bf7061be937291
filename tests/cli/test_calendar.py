"""`berth calendar`: which files there are, and that they agree with the other commands."""

import json
from pathlib import Path
from typing import Any

import icalendar
from berth.core.record import OccurrenceRecord, record_text

from tests.answer import Berth
from tests.cli import project
from tests.outputfolder import files_in

NOW = ("--now", "2026-02-01T12:00:00Z")
LATER = ("--now", "2026-02-01T13:00:00Z")


def events(file: Path) -> dict[str, Any]:
    """Every event of a feed by its UID."""
    calendar = icalendar.Calendar.from_ical(file.read_bytes())
    assert calendar.errors == []
    found = calendar.walk("VEVENT")
    assert [event.errors for event in found] == [[]] * len(found)
    return {str(event["UID"]): event for event in found}


def test_calendar_writes_a_page_and_a_feed_for_the_site_and_each_reservation(
    berth: Berth, folder: Path
) -> None:
    code, out, _ = berth("calendar", *NOW)

    assert code == 0
    assert out == "site/: 5 written, 0 removed, 0 unchanged. Open site/index.html, or publish the folder.\n"
    feeds = [f"feeds/{name}.ics" for name in ("course", "night", "rest")]
    assert [*files_in(folder / "site")] == sorted(["berth.ics", "index.html", *feeds])
    assert berth("calendar", *NOW).out.startswith("site/: 0 written, 0 removed, 5 unchanged.")


def test_the_feed_of_the_site_has_the_events_of_all_feeds(berth: Berth, folder: Path) -> None:
    berth("calendar", *NOW)

    whole = events(folder / "site/berth.ics")
    parts: dict[str, Any] = {}
    for file in (folder / "site/feeds").iterdir():
        parts |= events(file)
    assert {uid: event.to_ical() for uid, event in whole.items()} == {
        uid: event.to_ical() for uid, event in parts.items()
    }
    assert (folder / "site/feeds/night.ics").read_bytes().decode() == berth(
        "occurrences", "night", "-o", "ics", *NOW
    ).out


def test_a_date_that_moves_to_an_earlier_time_updates_in_clients(berth: Berth, folder: Path) -> None:
    berth("calendar", *NOW)
    before = events(folder / "site/berth.ics")["course/2026-02-23T09:00@uni"]
    project.write(folder, course=project.COURSE.replace("to: {date: 2026-02-24}", "to: {date: 2026-02-20}"))
    berth("calendar", *LATER)
    after = events(folder / "site/berth.ics")["course/2026-02-23T09:00@uni"]

    assert after.start < before.start
    assert int(after["SEQUENCE"]) > int(before["SEQUENCE"])
    assert after.decoded("DTSTAMP") > before.decoded("DTSTAMP")


def test_only_the_feed_of_a_reservation_that_is_gone_is_removed(berth: Berth, folder: Path) -> None:
    berth("calendar", *NOW)
    project.write(folder, rest=None)
    others = [folder / "site" / name for name in ("feeds/theirs.ics", "CNAME")]
    for file in others:
        file.write_text("BEGIN:VCALENDAR")

    code, out, _ = berth("calendar", *NOW)

    assert (code, out.splitlines()[0]) == (0, "removed site/feeds/rest.ics")
    assert [file.exists() for file in (*others, folder / "site/feeds/rest.ics")] == [True, True, False]


def test_the_page_does_not_depend_on_the_clock(berth: Berth, folder: Path) -> None:
    berth("calendar", *NOW)
    before = (folder / "site/index.html").read_bytes()
    berth("calendar", *LATER)

    assert (folder / "site/index.html").read_bytes() == before


def test_a_page_that_berth_did_not_write_is_not_replaced(berth: Berth, folder: Path) -> None:
    (folder / "site").mkdir()
    (folder / "site/index.html").write_text("<!doctype html>Welcome")

    code, out, err = berth("calendar", *NOW)

    assert (code, out) == (1, "")
    assert "site/index.html:1:1: error[B090]" in err


def test_the_output_folder_must_be_outside_of_reservations(berth: Berth) -> None:
    for given in ("reservations", "reservations/site"):
        code, _, err = berth("calendar", "--output-dir", given, *NOW)

        assert code == 2
        assert "outside of reservations/" in err


def test_an_event_links_to_the_file_of_its_reservation(berth: Berth, folder: Path) -> None:
    site = project.SITE.replace(
        "  engine: argocd\n", "  engine: argocd\n  repository: {url: https://github.com/u/s}\n"
    )
    project.write(folder, site=site)

    berth("calendar", *NOW)

    urls = {str(event["URL"]) for event in events(folder / "site/feeds/night.ics").values()}
    assert urls == {"https://github.com/u/s/blob/HEAD/reservations/night.yaml"}


def recorded(folder: Path) -> Any:
    page = (folder / "site/index.html").read_text("utf-8")
    return json.loads(page.partition('id="Data">')[2].partition("</script>")[0])


def test_records_mark_past_dates_on_the_page_and_change_no_feed(berth: Berth, folder: Path) -> None:
    berth("calendar", *LATER)
    before = recorded(folder)
    feed = (folder / "site/berth.ics").read_bytes()
    start = 1_770_019_200
    times = (start - 1800, start, start + 7200)
    record = OccurrenceRecord("course/2026-02-02T09:00", {"small": 25}, start - 470, window=times)
    (folder / "records.json").write_text(record_text([record]), "utf-8")
    found = berth("calendar", "--records", "records.json", *LATER)
    after = recorded(folder)

    assert (found.code, found.err) == (0, "")
    assert (before["outcomes"], before["recorded"]) == ({}, None)
    assert after["outcomes"] == {"course/2026-02-02T09:00": [(start - 470) // 60, "25 of 25"]}
    assert after["recorded"] == 1_769_950_800 // 60
    assert (folder / "site/berth.ics").read_bytes() == feed


def test_unreadable_records_are_a_usage_error(berth: Berth, folder: Path) -> None:
    (folder / "records.json").write_text("7", "utf-8")

    assert berth("calendar", "--records", "records.json", *NOW).code == 2
    assert not (folder / "site").exists()
