"""`berth import renku`: reservations of Renku become documents, each once, with the same occurrences."""

import io
import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from berth.edit.create import reservation_yaml
from berth.pipeline import Pipeline
from berth.reading.source import Source
from berth.schema.renku import read_payloads
from hypothesis import given
from hypothesis import strategies as st

from tests.answer import Berth

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
    startDate: 2026-02-17
    endDate: 2026-05-26
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
    classes = folder / "reservations/classes.yaml"
    text = classes.read_text("utf-8").replace(
        "spec:\n  cluster: prod", "spec:\n  renkuId: 5\n  cluster: prod"
    )
    classes.write_text(text, "utf-8")
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


@pytest.mark.parametrize(
    ("flags", "times"),
    [
        ((), {"zone": "UTC", "start": "12:15", "end": "14:00"}),
        (("--time-zone", "Europe/Zurich"), {"zone": "Europe/Zurich", "start": "13:15", "end": "15:00"}),
    ],
    ids=["utc", "zurich"],
)
def test_import_writes_a_document(
    berth: Berth, folder: Path, export: Export, flags: tuple[str, ...], times: dict[str, str]
) -> None:
    told = berth("import", "renku", export(PAYLOAD), *flags)

    assert (told.code, told.out) == (0, f"Wrote reservations/{NAME}.yaml.\n")
    assert (folder / f"reservations/{NAME}.yaml").read_text("utf-8") == IMPORTED.format(**times)


@pytest.mark.parametrize("flags", [(), ("--time-zone", "Europe/Zurich")], ids=["utc", "zurich"])
def test_a_second_import_knows_it_by_its_id_wherever_it_is(
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


RECURRENCE, PROVISIONING = PAYLOAD["recurrence"], PAYLOAD["provisioning"]
CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "seats": (
        {"provisioning": {**PROVISIONING, "placeholder_count": 40}},
        "seats 35 small, there 40 small",
    ),
    "lead": (
        {"provisioning": {**PAYLOAD["provisioning"], "lead_time_minutes": 0}},
        "lead 20 min, there 0 min",
    ),
    "behavior": (
        {"provisioning": {**PAYLOAD["provisioning"], "scale_down_behavior": "reduce"}},
        "behavior none, there reduce",
    ),
    "title": ({"name": "Statistics"}, "title Intro to Statistics, there Statistics"),
    "template": (
        {"project_template_id": None},
        "template 01JC3CB5426KC7P5STS5X3KSS9, there none",
    ),
    "last-date": ({"recurrence": {**RECURRENCE, "end_date": "2026-06-02"}}, "other dates"),
    "times": (
        {"recurrence": {**RECURRENCE, "schedule": [{**RECURRENCE["schedule"][0], "end_time": "14:15"}]}},
        "other dates",
    ),
    "another-day-here": (
        {"recurrence": {**RECURRENCE, "schedule": [{**RECURRENCE["schedule"][0], "start_time": "23:15"}]}},
        "other dates",
    ),
}


@pytest.mark.parametrize(("fields", "expected"), CHANGES.values(), ids=CHANGES)
def test_what_changed_in_renku_is_told_and_not_written(
    berth: Berth, folder: Path, export: Export, fields: dict[str, Any], expected: str
) -> None:
    berth("import", "renku", export(PAYLOAD), "--time-zone", "Europe/Zurich")
    file = folder / f"reservations/{NAME}.yaml"
    before = file.read_bytes()
    told = berth("import", "renku", export(changed(**fields)))

    assert (told.code, told.out) == (
        0,
        f"Changed: reservations/{NAME}.yaml is not as in Renku, and stays: {expected}.\n",
    )
    assert file.read_bytes() == before


def test_without_an_id_the_name_tells_what_was_imported(berth: Berth, export: Export) -> None:
    first = berth("import", "renku", export(changed(id=None)))
    second = berth("import", "renku", "export.json")

    assert first.out == "Wrote reservations/intro-to-statistics.yaml.\n"
    assert second.out == "Known: reservations/intro-to-statistics.yaml.\n"


FAULTY: dict[str, tuple[bytes, str]] = {
    "json": (b"[", "b.json:1:"),
    "class": (json.dumps(changed(resource_class_id=9)).encode(), "error[B072]"),
    "document": (b"kind: Calendar\n", "b.json:1:1: error[B010] kind"),
    "error": (b'{"error": {"code": 1401, "message": "no"}}', "error[B069] error"),
}


@pytest.mark.parametrize(("text", "expected"), FAULTY.values(), ids=FAULTY)
def test_a_file_that_is_wrong_stops_none_of_the_others(
    berth: Berth, folder: Path, export: Export, text: bytes, expected: str
) -> None:
    names = [export(changed(name=name, id=None), name=name) for name in ("a", "c")]
    (folder / "b.json").write_bytes(text)
    told = berth("import", "renku", names[0], "b.json", "missing.json", names[1])

    assert (told.code, told.out) == (1, "Wrote reservations/a.yaml.\nWrote reservations/c.yaml.\n")
    assert expected in told.err
    assert "Nothing of b.json was written.\n" in told.err
    assert "missing.json:1:1: error[B001] " in told.err


def test_of_a_file_with_a_wrong_item_nothing_is_written(berth: Berth, folder: Path, export: Export) -> None:
    told = berth("import", "renku", export(PAYLOAD, changed(id=None, resource_class_id=9)))

    assert (told.code, told.out) == (1, "")
    assert "export.json:1:" in told.err
    assert "[1].resource_class_id" in told.err
    assert not (folder / f"reservations/{NAME}.yaml").exists()


def test_a_class_that_is_missing_is_imported_by_the_command_that_the_finding_names(
    berth: Berth, export: Export
) -> None:
    assert "berth import renku-classes" in berth("import", "renku", export(changed(resource_class_id=9))).err


def test_what_the_project_refuses_is_told_at_the_reservation(
    berth: Berth, folder: Path, export: Export
) -> None:
    site = folder / "reservations/site.yaml"
    ceiling = "- {name: prod, ceilings: [{seats: {small: 30}}]}\n"
    site.write_text(site.read_text("utf-8").replace("- name: prod\n", ceiling), "utf-8")
    told = berth("import", "renku", export(PAYLOAD))

    assert (told.code, told.out) == (1, "")
    assert f"export.json, {NAME}: error[B067] spec.provisioning" in told.err


def test_a_file_that_is_there_is_never_overwritten(berth: Berth, folder: Path, export: Export) -> None:
    two = [export(changed(id=None, name=name), name=name) for name in ("first", "second")]
    mine = f"# mine\n{IMPORTED}".format(zone="UTC", start="09:00", end="10:00")
    (folder / "reservations/first.yaml").write_text(mine, "utf-8")
    told = berth("import", "renku", *two)

    assert (told.code, told.out) == (1, "Wrote reservations/second.yaml.\n")
    assert "first.json: reservations/first.yaml exists; nothing was written.\n" in told.err
    assert (folder / "reservations/first.yaml").read_text("utf-8").startswith("# mine\n")


def test_import_can_suspend(berth: Berth, folder: Path, export: Export) -> None:
    assert berth("import", "renku", export(PAYLOAD), "--suspend").code == 0
    assert (folder / f"reservations/{NAME}.yaml").read_text("utf-8").endswith("\n  suspend: true\n")


def test_what_is_among_the_documents_is_to_be_removed(berth: Berth, folder: Path, export: Export) -> None:
    export(PAYLOAD, name="reservations/export")
    told = berth("import", "renku", "reservations/export.json")

    assert (told.code, told.out.splitlines()[-1]) == (
        0,
        "Remove reservations/export.json: the documents replace it.",
    )
    assert berth("validate").code == 1
    (folder / "reservations/export.json").unlink()
    assert berth("validate").code == 0


@pytest.mark.parametrize("source", ["renku", "renku-classes", "z2jh"])
def test_a_missing_export_is_a_finding(source: str, berth: Berth) -> None:
    told = berth("import", source, "export.json")

    assert (told.code, told.out) == (1, "")
    assert told.err.startswith("export.json:1:1: error[B001] ")


def test_an_export_may_come_from_a_pipe(berth: Berth, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps([PAYLOAD]).encode())))

    assert berth("import", "renku", "-").code == 0
    assert (folder / f"reservations/{NAME}.yaml").exists()


def test_entries_that_never_fall_or_overlap_are_warnings(berth: Berth, export: Export) -> None:
    at = {"start_time": "12:15", "end_time": "14:00"}
    several = [
        {"day_of_week": 2, **at},
        {"day_of_week": 2, **at, "end_time": "13:00"},
        {"day_of_week": 7, **at},
    ]
    odd = changed(id=None, recurrence={**RECURRENCE, "end_date": "2026-02-17", "schedule": several})
    never = changed(id=None, name="Never", recurrence={**odd["recurrence"], "schedule": several[2:]})
    told = berth("import", "renku", export(odd, never))

    assert told.code == 0
    assert [code for code in ("B031", "B040", "B042") if f"warning[{code}]" in told.err] == [
        "B031",
        "B040",
        "B042",
    ]


minutes = st.integers(0, 1439)
NINE = [(540, 600), (540, 660)]
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
    (reservation,) = read_payloads(Source("export.json", text), {5: "small"}).reservations
    document = Source("reservations/a.yaml", reservation_yaml(reservation).encode())
    pipeline = Pipeline(sources=[document, Source("reservations/site.yaml", SITE.encode())])
    (item,) = pipeline.items()
    occurrences = item.expansion.occurrences

    assert Counter((one.start, one.end) for one in occurrences) == of_renku(recurrence)
    assert len({one.id for one in occurrences}) == len(occurrences)
    assert {one.seats for one in occurrences} <= {(("small", 35),)}
    assert not [finding for finding in pipeline.findings() if finding.severity == "error"]


def test_ids_of_equal_starts_are_told_apart_by_end_then_position() -> None:
    times = [("09:00", "12:00"), ("09:00", "10:00"), ("09:00", "12:00"), ("10:00", "12:00")]
    schedule = [{"start_time": start, "end_time": end} for start, end in times]
    recurrence = {"type": "daily", "start_date": "2026-01-01", "end_date": "2026-01-01", "schedule": schedule}
    text = json.dumps(changed(recurrence=recurrence)).encode()
    (reservation,) = read_payloads(Source("export.json", text), {5: "small"}).reservations

    assert [entry.name for entry in reservation.recurrence.schedule] == ["2", "", "3", ""]
