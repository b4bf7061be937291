"""The cases of tests/cases/edits.yaml: what edits of single dates write, and the instants that follow."""

import json
from pathlib import Path
from textwrap import indent

import pytest

from tests.answer import Berth
from tests.cases import Case, read

NOW = ("--now", "2026-02-01")

HEAD = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: course}
spec:
"""


@pytest.mark.parametrize("case", read("edits"), ids=lambda case: str(case["id"]))
def test_an_edit_gives_the_lines_and_the_occurrences_of_its_case(
    case: Case, berth: Berth, folder: Path
) -> None:
    file = folder / "reservations/course.yaml"
    before = HEAD + indent(case["spec"], "  ")
    file.write_text(before, "utf-8")
    for command in case["run"]:
        told = berth(*command.split(" "))
        assert told.code == 0, told
    seats: dict[str, list[str]] = {}  # of each occurrence, in all clusters
    times: dict[str, tuple[str, list[str]]] = {}
    for load in json.loads(berth("occurrences", *NOW, "course", "-o", "json").out)["items"]:
        seats.setdefault(load["id"], []).extend(f"{count} {name}" for name, count in load["seats"].items())
        times[load["id"]] = f"{load['start']} {load['end']}", load["marks"]
    becomes = [" ".join([when, ", ".join(seats[name]), *marks]) for name, (when, marks) in times.items()]
    assert becomes == case["becomes"]
    after = [line.strip() for line in file.read_text("utf-8").splitlines()]
    assert [line for line in after if line not in map(str.strip, before.splitlines())] == case["writes"]
