"""`berth occurrences -o ics`: which events a calendar gets; tests/output has how they are written."""

import os
import subprocess
from pathlib import Path

from tests.answer import Berth
from tests.cli import project

NOW = ("--now", "2026-02-01T12:00:00Z")
WHOLE = """\
BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//berth.dev//Berth//EN
METHOD:PUBLISH
NAME:night
X-WR-CALNAME:night
REFRESH-INTERVAL;VALUE=DURATION:PT1H
X-PUBLISHED-TTL:PT1H
BEGIN:VEVENT
UID:night/2026-02-07T22:00@uni
DTSTART:20260208T030000Z
DTEND:20260208T110000Z
DESCRIPTION:3 bench in lab\\, open from Sat 2026-02-07 21:00 (America/New_Y
 ork)\\n2 small in prod\\, open from Sat 2026-02-07 21:00 (America/New_York)
SUMMARY:night
STATUS:CONFIRMED
TRANSP:TRANSPARENT
DTSTAMP:20260201T120000Z
LAST-MODIFIED:20260201T120000Z
SEQUENCE:192110400
END:VEVENT
END:VCALENDAR
"""
STANDING = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: lab}
spec:
  title: Open lab
  resourceClass: bench
  owner: {name: Lab team}
  provisioning: {placeholderCount: 2}
  backend:
    type: koordinator
    standing: true
    owners: [{labelSelector: {matchLabels: {lab: open}}}]
"""


def unfolded(text: str) -> list[str]:
    """Lines as RFC 5545 reads them: CRLF, and a space after one goes on with the line before."""
    assert text.endswith("\r\n")
    return text.replace("\r\n ", "").split("\r\n")[:-1]


def test_an_occurrence_in_two_clusters_is_one_event(berth: Berth) -> None:
    assert berth("occurrences", "night", "-o", "ics", *NOW) == (0, WHOLE.replace("\n", "\r\n"), "")


def test_a_suspended_occurrence_is_canceled_and_a_moved_occurrence_keeps_its_id(berth: Berth) -> None:
    lines = unfolded(berth("occurrences", "-o", "ics").out)

    assert [line for line in lines if line.startswith(("UID", "DTSTART", "STATUS"))] == [
        "UID:course/2026-02-02T09:00@uni",
        "DTSTART:20260202T080000Z",
        "STATUS:CONFIRMED",
        "UID:rest/2026-02-03T10:00@uni",
        "DTSTART:20260203T090000Z",
        "STATUS:CANCELLED",
        "UID:night/2026-02-07T22:00@uni",
        "DTSTART:20260208T030000Z",
        "STATUS:CONFIRMED",
        "UID:course/2026-02-23T09:00@uni",
        "DTSTART:20260224T080000Z",
        "STATUS:CONFIRMED",
    ]


def test_an_edited_date_describes_its_differences(berth: Berth, folder: Path) -> None:
    extra = '    extra: [{date: 2026-02-25, startTime: "09:00", endTime: "10:00"}]\n  provisioning'
    project.change(folder, "course", "2026-02-24}", "2026-02-24, placeholderCount: 60}")
    project.change(folder, "course", "  provisioning", extra)

    lines = unfolded(berth("occurrences", "course", "-o", "ics").out)
    assert [line.removeprefix("DESCRIPTION:") for line in lines if line.startswith("DESCRIPTION")] == [
        r"25 small in prod\, open from Mon 2026-02-02 08:30 (Europe/Zurich)",
        r"moved from 2026-02-23 09:00\nother seats than usual\n"
        r"60 small in prod\, open from Tue 2026-02-24 08:30 (Europe/Zurich)",
        r"not in the schedule\n25 small in prod\, open from Wed 2026-02-25 08:30 (Europe/Zurich)",
    ]


def test_a_range_without_occurrences_gives_an_empty_calendar(berth: Berth) -> None:
    code, out, err = berth("occurrences", "--from", "2027-01-01", "-o", "ics")

    assert (code, err) == (0, "")
    assert [line for line in unfolded(out) if line.startswith(("NAME", "BEGIN", "END"))] == [
        "BEGIN:VCALENDAR",
        "NAME:Seats of uni",
        "END:VCALENDAR",
    ]


def test_a_standing_reservation_is_a_daily_event(berth: Berth, folder: Path) -> None:
    site = project.SITE.replace("namespace: seats}", "namespace: seats, koordinator: {}}")
    classes = project.CLASSES.replace(
        "  requests: {cpu: 250m}\n",
        "  requests: {cpu: 250m}\n  reservation: {spec: {expires: 2026-06-30T22:00:00Z}}\n",
    )
    project.write(folder, lab=STANDING, site=site, classes=classes)

    lines = unfolded(berth("occurrences", "lab", "-o", "ics", *NOW).out)
    assert [
        line for line in lines if line.startswith(("UID", "DTSTART", "DTEND", "RRULE", "SUMMARY", "DESC"))
    ] == [
        "UID:lab@uni",
        "DTSTART;VALUE=DATE:20260201",
        "DTEND;VALUE=DATE:20260202",
        "RRULE:FREQ=DAILY;UNTIL=20260630",
        r"DESCRIPTION:2 bench in lab\, always open\nOwner: Lab team",
        "SUMMARY:Open lab",
    ]


def test_the_dtstamp_of_a_feed_is_the_time_of_the_commit(berth: Berth, folder: Path) -> None:
    """The same commit gives the same bytes, whatever the clock says."""
    at = "2026-01-15T10:00:00Z"
    commands = (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Reserve"])
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a"}
    who |= {"GIT_COMMITTER_EMAIL": "a@example.org", "GIT_COMMITTER_DATE": at, "GIT_AUTHOR_DATE": at}
    for words in commands:
        subprocess.run(["git", *words], cwd=folder, env={**os.environ, **who}, check=True)

    lines = unfolded(berth("occurrences", "-o", "ics").out)
    assert {line for line in lines if line.startswith("DTSTAMP")} == {"DTSTAMP:20260115T100000Z"}
    lines = unfolded(berth("occurrences", "-o", "ics", *NOW).out)
    assert {line for line in lines if line.startswith("DTSTAMP")} == {"DTSTAMP:20260201T120000Z"}
