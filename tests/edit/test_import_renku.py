"""`berth import renku`: reservations of Renku become documents, each once, with the same occurrences."""

import io
import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from berth.dates.moments import named
from berth.output.yamltext import block
from berth.pipeline import Pipeline
from berth.reading.source import Source
from berth.schema.renku import read_payloads
from hypothesis import given
from hypothesis import strategies as st

from tests.answer import Berth
from tests.cases import tabled
from tests.cli import project

PAYLOAD: dict[str, Any] = {
    "id": "01K9ZK4T8W3Q6M5N2R7V1X0Y9B",
    "name": "Intro to Statistics",
    "resource_class_id": 5,
    "project_template_id": "01JC3CB5426KC7P5STS5X3KSS9",
    "recurrence": {
        "type": "weekly",
        "start_date": "2026-02-17",
        "end_date": "2026-05-26",
        "schedule": [{"day_of_week": 2, "start_time": "12:15:00", "end_time": "14:00:00"}],
    },
    "provisioning": {"placeholder_count": 35, "lead_time_minutes": 20, "scale_down_behavior": "none"},
}
NAME = "intro-to-statistics-d9cde2"
RECURRENCE = PAYLOAD["recurrence"]
IMPORTED = """\
# yaml-language-server: $schema=.schema.json
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata:
  name: intro-to-statistics-d9cde2
  annotations:
    renku.io/capacity_reservation_id: "01K9ZK4T8W3Q6M5N2R7V1X0Y9B"
spec:
  title: Intro to Statistics
  resourceClass: small
  recurrence:
    type: weekly
    startDate: "2026-02-17"
    endDate: "2026-05-26"
    timeZone: {zone}
    schedule:
      - {{dayOfWeek: tue, startTime: "{start}", endTime: "{end}"}}
  provisioning:
    placeholderCount: 35
    leadTimeMinutes: 20
    scaleDownBehavior: none
  sessions:
    projectTemplate: "01JC3CB5426KC7P5STS5X3KSS9"
"""


@pytest.fixture
def folder(folder: Path) -> Path:
    """A project whose class has the id of Renku's."""
    project.change(folder, "classes", "spec:\n  cluster: prod", "spec:\n  renkuId: 5\n  cluster: prod")
    return folder


@pytest.fixture
def export(folder: Path) -> Callable[..., str]:
    """Write what Renku answers, and return the name of the file."""

    def write(*payloads: dict[str, Any], name: str = "export") -> str:
        (folder / f"{name}.json").write_text(json.dumps(payloads), "utf-8")
        return f"{name}.json"

    return write


Export = Callable[..., str]


def changed(**fields: Any) -> dict[str, Any]:
    return {**PAYLOAD, **fields}


@tabled("edit")
def test_import_writes_a_document(
    flags: list[str], times: dict[str, str], berth: Berth, folder: Path, export: Export
) -> None:
    told = berth("import", "renku", export(PAYLOAD), *flags)

    assert (told.code, told.out) == (0, f"Wrote reservations/{NAME}.yaml.\n")
    assert (folder / f"reservations/{NAME}.yaml").read_text("utf-8") == IMPORTED.format(**times)


@pytest.mark.parametrize("flags", [(), ("--time-zone", "Europe/Zurich")], ids=["utc", "zurich"])
def test_a_second_import_finds_the_reservation_by_its_id_in_any_file(
    berth: Berth, folder: Path, export: Export, flags: tuple[str, ...]
) -> None:
    berth("import", "renku", export(PAYLOAD), *flags)
    file = folder / f"reservations/{NAME}.yaml"
    text = file.read_text("utf-8").replace(f"name: {NAME}", "name: statistics")
    file.unlink()
    (folder / "reservations/math.yaml").write_text(text, "utf-8")
    told = berth("import", "renku", "export.json", "--suspend")

    assert (told.code, told.out, told.err) == (0, "Known: reservations/math.yaml.\n", "")
    assert (folder / "reservations/math.yaml").read_text("utf-8") == text
    assert not file.exists()


def test_nothing_is_written_if_one_of_the_files_is_wrong(berth: Berth, folder: Path, export: Export) -> None:
    names = [export(changed(name=name, id=None), name=name) for name in ("a", "c")]
    (folder / "b.json").write_bytes(b"[")
    told = berth("import", "renku", names[0], "b.json", names[1])

    assert (told.code, told.out) == (1, "")
    assert "b.json:1:" in told.err
    assert not (folder / "reservations/a.yaml").exists()


def test_several_files_are_read_and_without_an_id_known_by_the_name(berth: Berth, export: Export) -> None:
    names = [export(changed(name=name, id=None), name=name) for name in ("a", "c")]

    assert berth("import", "renku", *names).out == "Wrote reservations/a.yaml.\nWrote reservations/c.yaml.\n"
    assert (
        berth("import", "renku", *names).out == "Known: reservations/a.yaml.\nKnown: reservations/c.yaml.\n"
    )


@tabled("edit")
def test_an_unusable_recurrence_is_reported_at_its_reservation(
    fields: dict[str, Any], berth: Berth, export: Export
) -> None:
    told = berth("import", "renku", export(changed(recurrence={**PAYLOAD["recurrence"], **fields})))

    assert (told.code, told.out) == (1, "")
    assert told.err.startswith(f"export.json, {NAME}: error[B0")


def test_a_file_with_one_wrong_item_is_not_imported(berth: Berth, folder: Path, export: Export) -> None:
    told = berth("import", "renku", export(PAYLOAD, changed(id=None, resource_class_id=9)))

    assert (told.code, told.out) == (1, "")
    assert "export.json:1:" in told.err
    assert "[1].resource_class_id" in told.err
    assert "berth import renku-classes" in told.err
    assert not (folder / f"reservations/{NAME}.yaml").exists()


def test_a_reservation_above_a_ceiling_gets_the_finding_b067(
    berth: Berth, folder: Path, export: Export
) -> None:
    project.change(folder, "site", "- name: prod\n", "- {name: prod, ceilings: [{seats: {small: 30}}]}\n")
    told = berth("import", "renku", export(PAYLOAD))

    assert (told.code, told.out) == (1, "")
    assert f"export.json, {NAME}: error[B067] spec.provisioning" in told.err


def test_an_existing_file_is_never_overwritten(berth: Berth, folder: Path, export: Export) -> None:
    other = IMPORTED.format(zone="UTC", start="09:00", end="10:00").replace(f"name: {NAME}", "name: mine")
    mine = other.replace("01K9ZK4T8W3Q6M5N2R7V1X0Y9B", "01K9ZK4T8W3Q6M5N2R7V1X0Y9C")
    (folder / "reservations/first.yaml").write_text(mine, "utf-8")
    told = berth("import", "renku", export(changed(id=None, name="first")))

    assert (told.code, told.out) == (2, "")
    assert "reservations/first.yaml" in told.err
    assert (folder / "reservations/first.yaml").read_text("utf-8") == mine


def test_import_can_suspend(berth: Berth, folder: Path, export: Export) -> None:
    assert berth("import", "renku", export(PAYLOAD), "--suspend").code == 0
    assert (folder / f"reservations/{NAME}.yaml").read_text("utf-8").endswith("\n  suspend: true\n")


@pytest.mark.parametrize("source", ["renku", "renku-classes", "z2jh"])
def test_a_missing_export_gets_the_finding_b001(source: str, berth: Berth) -> None:
    told = berth("import", source, "export.json")

    assert (told.code, told.out) == (1, "")
    assert told.err.startswith("export.json:1:1: error[B001] ")


def test_an_export_may_come_from_a_pipe(berth: Berth, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps([PAYLOAD]).encode())))

    assert berth("import", "renku", "-").code == 0
    assert (folder / f"reservations/{NAME}.yaml").exists()


def test_a_warning_is_told_and_the_document_written(berth: Berth, export: Export) -> None:
    sunday = {"day_of_week": 7, "start_time": "12:15", "end_time": "14:00"}
    schedule = [*RECURRENCE["schedule"], sunday]
    short = {**RECURRENCE, "end_date": "2026-02-17", "schedule": schedule}
    told = berth("import", "renku", export(changed(recurrence=short)))

    assert (told.code, "warning[B040]" in told.err) == (0, True)
    assert told.out.startswith("Wrote ")


minutes = st.integers(0, 1439)
spans = st.tuples(minutes, minutes).filter(lambda pair: pair[0] < pair[1])


@st.composite
def recurrences(draw: st.DrawFn) -> dict[str, Any]:
    """What Renku takes: no entry passes midnight."""
    first = draw(st.dates(date(2025, 1, 1), date(2027, 12, 31)))
    last = first + timedelta(days=draw(st.integers(0, 40)))
    schedule = [
        {"day_of_week": draw(st.integers(1, 7)), "start_time": clock(start), "end_time": clock(end)}
        for start, end in draw(
            st.lists(spans | st.just((540, 600)) | st.just((540, 660)), min_size=1, max_size=5)
        )
    ]
    kind = draw(st.sampled_from(["once", "daily", "weekly"]))
    return {"type": kind, "start_date": str(first), "end_date": str(last), "schedule": schedule}


def clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"


def of_renku(recurrence: dict[str, Any]) -> Counter[tuple[int, int]]:
    """Walk through the dates as Renku's own code does, in UTC."""
    first, last = (date.fromisoformat(recurrence[key]) for key in ("start_date", "end_date"))
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    found = Counter[tuple[int, int]]()
    for entry in recurrence["schedule"]:
        times = entry["start_time"], entry["end_time"]
        pairs = [(first, last)] if recurrence["type"] == "once" else [(day, day) for day in days]
        for begin, end in pairs:
            if recurrence["type"] != "weekly" or begin.isoweekday() == entry["day_of_week"]:
                found[instant(begin, times[0]), instant(end, times[1])] += 1
    return found


def instant(day: date, time: str) -> int:
    return int(datetime.fromisoformat(f"{day}T{time}").replace(tzinfo=UTC).timestamp())


SITE = """\
apiVersion: berth.dev/v1alpha1
kind: Site
metadata: {name: uni}
spec: {timeZone: Europe/Zurich, clusters: [{name: prod}]}
---
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: small}
spec: {renkuId: 5, requests: {cpu: 1}}
"""


@given(recurrences())
def test_a_document_has_the_occurrences_that_renku_has(recurrence: dict[str, Any]) -> None:
    text = json.dumps(changed(recurrence=recurrence)).encode()
    ((payload,), _) = read_payloads([Source("export.json", text)], {5: "small"})
    made = payload.document("a", "small", named("UTC"))
    document = Source("reservations/a.yaml", block(made, 0).encode())
    pipeline = Pipeline(sources=[document, Source("reservations/site.yaml", SITE.encode())])
    (item,) = pipeline.items()
    occurrences = item.expansion.occurrences

    assert Counter((one.start, one.end) for one in occurrences) == of_renku(recurrence)
    assert len({one.id for one in occurrences}) == len(occurrences)
    assert {one.seats for one in occurrences} <= {(("small", 35),)}
    assert not [finding for finding in pipeline.findings() if finding.severity == "error"]


def test_entries_with_equal_starts_get_names_by_end_and_then_position() -> None:
    times = [("09:00", "12:00"), ("09:00", "10:00"), ("09:00", "12:00"), ("10:00", "12:00")]
    schedule = [{"start_time": start, "end_time": end} for start, end in times]
    recurrence = {"type": "daily", "start_date": "2026-01-01", "end_date": "2026-01-01", "schedule": schedule}
    text = json.dumps(changed(recurrence=recurrence)).encode()
    ((payload,), _) = read_payloads([Source("export.json", text)], {5: "small"})

    assert [entry.get("name") for entry in payload.recurrence.entries(named("UTC"))] == ["2", None, "3", None]
