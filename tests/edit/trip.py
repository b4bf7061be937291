"""A reservation to be edited, and what an edit did to its file."""

from pathlib import Path

from tests.answer import Answer

FILE = "reservations/trip.yaml"
TRIP = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: trip, annotations: {berth.dev/ignore: "B031: meant"}}
spec:
  resourceClass: small
  recurrence:
    type: weekly
    startDate: 2026-03-02
    endDate: 2026-03-31
    schedule:
      - {dayOfWeek: fri, startTime: "18:00", endTime: "20:00", endDay: 2}  # to Sunday
      - {dayOfWeek: mon, startTime: "09:00", endTime: "10:00"}
    # and once more
    extra:
      - {date: 2026-03-09, startTime: "14:00", endTime: "15:00"}  # exam
    # the room is taken
    moved:
      - {date: 2026-03-30, to: {date: 2026-03-16, startTime: "11:00"}}
  provisioning: {placeholderCount: 5, scaleDownBehavior: none}
"""


def changed(file: Path) -> tuple[list[str], list[str]]:
    """The lines of the file that are gone, and those that are new, without their indents."""
    before, after = TRIP.splitlines(), file.read_text("utf-8").splitlines()
    gone = [line.strip() for line in before if line not in after]
    return gone, [line.strip() for line in after if line not in before]


def asks(told: Answer, *starts: str) -> bool:
    """It is not clear which occurrence is meant, and these are the answers."""
    line = told.err.splitlines()[0]
    named = ", with --name" if any("--name" in start for start in starts) else ""
    return (
        told.code == 1
        and line.startswith(f"{FILE}:6:3: error[B047] spec.recurrence: ")
        and line.endswith(f" Name its start{named}: {' or '.join(starts)}.")
        and told.err.endswith(f"{FILE} is not changed.\n")
    )
