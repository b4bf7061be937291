"""What the calendar page says of past and open dates, from their records."""

import pytest
from berth.core.record import OccurrenceRecord
from berth.dates.expansion import Occurrence
from berth.webcalendar.outcomes import DateOutcome, outcomes

START = 1_770_019_200
READY = START - 480
DATE = Occurrence("ml", "ml/a", START - 1800, START, START + 7200, (("small", 25),), "UTC", (), "2026-02-02")
RECORD = OccurrenceRecord("ml/a", {"small": 20, "gpu": 5}, READY, window=(START - 1800, START, START + 7200))


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        pytest.param(RECORD, DateOutcome(READY // 60, "25 of 25"), id="ready"),
        pytest.param(
            RECORD._replace(shortfalls={"small": {"lost": 3}}),
            DateOutcome(READY // 60, "25 of 25; 3 missing: lost"),
            id="ready-and-lost",
        ),
        pytest.param(
            RECORD._replace(
                ready_at=None,
                shortfalls={"small": {"openedLate": 20, "notReady": 4}, "gpu": {"notReady": 1}},
            ),
            DateOutcome(None, "4 of 25; 20 missing: opened late; 5 missing: not ready"),
            id="never-ready",
        ),
        pytest.param(
            RECORD._replace(ready_at=None, rehearses="ml/b", ready={"small": ((START, 18),)}),
            DateOutcome(None, "18 of 25; 7 missing"),
            id="rehearsal",
        ),
    ],
)
def test_an_outcome_has_the_ready_time_or_the_missing_seats(
    record: OccurrenceRecord, expected: DateOutcome
) -> None:
    assert outcomes([record], [DATE]) == {"ml/a": expected}


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(RECORD._replace(ready_at=None), id="nobody-tells"),
        pytest.param(RECORD._replace(window=(START, START + 60, START + 120)), id="moved"),
        pytest.param(RECORD._replace(window=None), id="without-times"),
        pytest.param(RECORD._replace(occurrence="ml/b"), id="another-date"),
    ],
)
def test_an_incomplete_record_or_a_record_of_another_date_has_no_outcome(record: OccurrenceRecord) -> None:
    assert outcomes([record], [DATE]) == {}
