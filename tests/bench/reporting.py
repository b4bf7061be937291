"""What `berth report` takes for the records of 1,000 occurrences: 40 courses of 25 dates, with prices."""

import json
import sys
import tempfile
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

from berth.core.labels import RESERVATION
from berth.core.record import MAX_POINTS, RECORD_KEY, OccurrenceRecord, record_text
from berth.pipeline import Pipeline

from tests.bench.process import Command, in_turn
from tests.bench.rendering import MEMORY, Row
from tests.console import ROOT

COURSES, DATES = 40, 25
REPORT: Command = (
    *(sys.executable, "-m", "berth", "report", "--records", "records.json"),
    *("--now", "2027-01-01", "--quiet"),
)
_COURSE = """\
---
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: NAME}
spec:
  resourceClass: student
  recurrence:
    type: weekly
    startDate: START
    endDate: END
    schedule: [{dayOfWeek: DAY, startTime: "09:00", endTime: "11:00"}]
  provisioning: {placeholderCount: 30}
"""


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="berth-bench-", dir=MEMORY) as folder:
        write(Path(folder))
        (cost,) = in_turn([(REPORT, folder)], 3)
    note = f"{cost.mebibytes:.0f} MiB"
    yield Row("report of 1,000 occurrences, seconds", cost.seconds, 2, note)


def write(folder: Path) -> None:
    """Write a project, and the records of all its dates with as many points as there may be."""
    example = ROOT / "tests/examples/report/reservations"
    parts = [(example / f"{name}.yaml").read_text("utf-8") for name in ("classes", "site")]
    text = "---\n".join(parts).replace("maxCount: 20", "maxCount: 900")
    first = date(2026, 1, 5)
    for number in range(COURSES):
        values = {"NAME": f"course-{number}", "DAY": str(number % 5 + 1), "START": str(first)}
        values["END"] = str(first + timedelta(weeks=DATES, days=-1))
        course = _COURSE
        for key, value in values.items():
            course = course.replace(key, value)
        text += course
    (folder / "reservations").mkdir()
    (folder / "reservations" / "all.yaml").write_text(text, "utf-8")
    maps = []
    for item in Pipeline(str(folder)).items():
        name = item.reservation.name
        records = [
            OccurrenceRecord(
                occurrence.id,
                dict(occurrence.seats),
                occurrence.open + 600,
                {"student": 20},
                {"student": tuple((occurrence.open + 60 * n, 30 - n) for n in range(MAX_POINTS))},
                (occurrence.open, occurrence.start, occurrence.end),
                occurrence.open + 60,
            )
            for occurrence in item.expansion.occurrences
        ]
        metadata = {"name": f"{name}-record", "labels": {RESERVATION: name}}
        maps.append({"metadata": metadata, "data": {RECORD_KEY: record_text(records)}})
    (folder / "records.json").write_text(json.dumps({"items": maps}), "utf-8")
