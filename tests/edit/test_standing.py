"""Editing what stands always: it has no dates, and all else of it can be set."""

from pathlib import Path

from tests.answer import Berth
from tests.cli import project

STANDING = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: desks}
spec:
  resourceClass: small
  provisioning: {placeholderCount: 2}
  backend:
    type: koordinator
    standing: true  # the lab's own
    owners:
      - object: {namespace: lab}
"""


def test_a_standing_reservation_refuses_date_edits_and_accepts_other_settings(
    berth: Berth, folder: Path
) -> None:
    project.change(folder, "site", "name: prod", "name: prod\n      koordinator: {}")
    desks = folder / "reservations/desks.yaml"
    desks.write_text(STANDING, "utf-8")
    refused = (2, "", "berth: the reservation is standing: it has no dates.\n")

    assert berth("skip", "desks", "2026-02-02") == refused
    assert berth("move", "desks", "2026-02-02", "--to", "2026-02-03") == refused
    assert berth("move", "desks", "2026-02-02", "--end", "14:00") == refused
    assert berth("set", "desks", "backend.sessionAffinity=true").code == 0
    assert desks.read_text("utf-8") == STANDING + "    sessionAffinity: true\n"
    assert berth("set", "desks", "backend.expires=2027-01-01T00:00:00Z").code == 1
