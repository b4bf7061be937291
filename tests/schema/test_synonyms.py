"""A key that another place calls by another word is told with the word of this place."""

import pytest
from berth.findings import Finding
from berth.pipeline import Pipeline
from berth.reading.source import Source

from tests.cases import tabled

COURSE = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: course}
spec:
  resourceClass: small
  recurrence:
    type: weekly
    startDate: 2026-03-02
    endDate: 2026-05-29
    schedule:
      - {dayOfWeek: tue, startTime: "09:00", endTime: "12:00"}
    except: [2026-03-10]
  provisioning: {placeholderCount: 5}
"""
CALENDAR = """\
apiVersion: berth.dev/v1alpha1
kind: Calendar
metadata: {name: holidays}
spec:
  dates: [{date: 2027-04-01, title: Easter}]
  terms: [{name: spring, from: 2027-01-01, to: 2027-05-01}]
"""
EXCEPT, ENTRY = "except: [2026-03-10]", '{dayOfWeek: tue, startTime: "09:00", endTime: "12:00"}'
LATER = f'{ENTRY}\n    moved: [{{date: 2026-03-17, to: {{startTime: "10:00"}}}}]'


def found(text: str) -> list[Finding]:
    pipeline = Pipeline(sources=[Source("reservations/a.yaml", text.encode())])
    return [finding for finding in pipeline.findings() if finding.code in ("B010", "B011", "B016")]


@pytest.mark.parametrize(
    ("old", "new", "path", "fix"),
    [
        ("startDate", "from", "spec.recurrence.from", "Write startDate."),
        ("startDate", "start", "spec.recurrence.start", "Write startDate."),
        ("endDate", "until", "spec.recurrence.until", "Write endDate."),
        ("endDate", "to", "spec.recurrence.to", "Write endDate."),
        ("endDate", "end", "spec.recurrence.end", "Write endDate."),
        (
            EXCEPT,
            "except: [{date: 2026-03-10, until: 2026-03-20}]",
            "spec.recurrence.except[0].until",
            "Write a range as {from: 2026-03-10, to: 2026-03-20}.",
        ),
        (
            EXCEPT,
            "except: [{from: 2026-03-10, until: 2026-03-20}]",
            "spec.recurrence.except[0].until",
            "Write to.",
        ),
        (
            EXCEPT,
            "except: [{startDate: 2026-03-10, to: 2026-03-20}]",
            "spec.recurrence.except[0].startDate",
            "Write from.",
        ),
        ('startTime: "09:00"', 'start: "09:00"', "spec.recurrence.schedule[0].start", "Write startTime."),
        ('endTime: "12:00"', 'to: "12:00"', "spec.recurrence.schedule[0].to", "Write endTime."),
        (ENTRY, ENTRY[:-1] + ", to: 2026-04-01}", "spec.recurrence.schedule[0].to", "Write until."),
        (ENTRY, ENTRY[:-1] + ", start: 2026-04-01}", "spec.recurrence.schedule[0].start", "Write from."),
        ("dayOfWeek", "day", "spec.recurrence.schedule[0].day", "Write dayOfWeek."),
        ("dayOfWeek", "weekday", "spec.recurrence.schedule[0].weekday", "Write dayOfWeek."),
        (
            ENTRY,
            LATER.replace('to: {startTime: "10:00"', 'to: {start: "10:00"'),
            "spec.recurrence.moved[0].to.start",
            "Write startTime.",
        ),
        ("placeholderCount", "count", "spec.provisioning.count", "Write placeholderCount."),
    ],
)
def test_another_word_for_a_key_is_told_with_the_one_that_is_meant(
    old: str, new: str, path: str, fix: str
) -> None:
    (finding,) = [one for one in found(COURSE.replace(old, new)) if one.code != "B016"]

    assert (finding.code, finding.path, finding.fix) == ("B010", path, fix)


@tabled("schema")
def test_calendars_and_terms_have_the_same_words(old: str, new: str, fix: str) -> None:
    assert [one.fix for one in found(CALENDAR.replace(old, new)) if one.code == "B010"] == [fix]
    assert [one.code for one in found(CALENDAR.replace(old, new))] == ["B010"]


def test_a_word_whose_value_no_key_takes_is_told_as_before() -> None:
    (finding,) = found(COURSE.replace("    except", "    end: soon\n    except"))
    assert finding.fix.startswith("Did you mean endDate")
