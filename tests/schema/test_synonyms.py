"""A key that another place calls by another word is told with the word of this place."""

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


@tabled("schema")
def test_a_synonym_of_a_key_is_reported_with_the_right_key(old: str, new: str, path: str, fix: str) -> None:
    (finding,) = [one for one in found(COURSE.replace(old, new)) if one.code != "B016"]

    assert (finding.code, finding.path, finding.fix) == ("B010", path, fix)


@tabled("schema")
def test_calendars_and_terms_suggest_the_same_keys(old: str, new: str, fix: str) -> None:
    assert [one.fix for one in found(CALENDAR.replace(old, new)) if one.code == "B010"] == [fix]
    assert [one.code for one in found(CALENDAR.replace(old, new))] == ["B010"]


def test_a_synonym_with_an_unusable_value_gets_the_usual_suggestion() -> None:
    (finding,) = found(COURSE.replace("    except", "    end: soon\n    except"))
    assert finding.fix.startswith("Did you mean endDate")
