"""A series to be edited, and terms for it."""

from pathlib import Path

LAB = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: lab}
spec:
  resourceClass: small
  recurrence:
    type: weekly
    startDate: 2026-03-02
    endDate: 2026-05-29
    # the room
    schedule:
      - {dayOfWeek: tue, startTime: "09:00", endTime: "12:00"}  # lab
  provisioning: {placeholderCount: 5, scaleDownBehavior: none}
"""
TERMS = """\
apiVersion: berth.dev/v1alpha1
kind: Calendar
metadata: {name: terms}
spec:
  terms: [{name: spring, from: 2026-03-02, to: 2026-04-30}, {name: fall, from: 2026-09-01, to: 2026-10-30}]
"""


def write_lab(folder: Path) -> Path:
    file = folder / "reservations/lab.yaml"
    file.write_text(LAB, "utf-8")
    (folder / "reservations/terms.yaml").write_text(TERMS, "utf-8")
    return file
