"""`berth report` about a window on a number of somebody else's object."""

import json
from pathlib import Path
from typing import Any

import pytest
from berth import cli

from tests.answer import Answer, Berth
from tests.live import project
from tests.live.numberproject import FILES, sale_document

SET_BACK = "horizontalpodautoscaler web was set back: 200 SetBack: argocd-controller has set spec.minReplicas"
WINDOW = {
    "open": "2026-02-02T07:30:00Z",
    "start": "2026-02-02T08:00:00Z",
    "end": "2026-02-02T12:00:00Z",
}
DATE: dict[str, Any] = {
    "occurrence": "sale/2026-02-02T09:00",
    **WINDOW,
    "readyAt": "2026-02-02T08:10:00Z",
    "promised": {"small": 25},
    "faults": [SET_BACK],
    "targets": {"small": [["2026-02-02T07:30:00Z", 25]]},
}
REHEARSAL: dict[str, Any] = {
    "occurrence": "sale/rehearsal/2026-02-09T09:00",
    "open": "2026-01-31T05:00:00Z",
    "start": "2026-01-31T05:00:00Z",
    "end": "2026-01-31T05:30:00Z",
    "promised": {"small": 25},
    "rehearses": "sale/2026-02-09T09:00",
    "ready": {"small": [["2026-01-31T05:00:00Z", 20]]},
    "targets": {"small": [["2026-01-31T05:00:00Z", 25]]},
}


@pytest.fixture
def berth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Berth:
    project.write(tmp_path, {**FILES, "course": sale_document()})
    (tmp_path / "records.json").write_text(json.dumps([DATE, REHEARSAL]), "utf-8")

    def run(*arguments: str) -> Answer:
        where = ("-C", str(tmp_path), "report", "--records", "records.json", "--now", "2026-02-03")
        code = cli.run([*where, *arguments])
        return Answer(code, *capsys.readouterr())

    return run


def test_a_date_has_no_seat_hours_and_shows_the_set_back_fault(berth: Berth) -> None:
    rehearsal, date = json.loads(berth("-o", "json").out)["items"]

    assert (date["promised"], date["unusedSeatHours"], date["faults"]) == (25, None, [SET_BACK])
    assert (rehearsal["promised"], rehearsal["missing"]) == (25, 5)
    assert "Make room for 5 more replicas" in berth("-o", "markdown").out
