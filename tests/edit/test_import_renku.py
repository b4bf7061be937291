"""`berth import renku`: payloads of Renku become files that people edit."""

import io
import json
from pathlib import Path

import pytest

from tests.answer import Berth

PAYLOAD = [
    {
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
]
IMPORTED = """\
# yaml-language-server: $schema=.schema.json
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata:
  name: {name}
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


def number_the_class(folder: Path) -> None:
    """As Renku does."""
    classes = folder / "reservations/classes.yaml"
    text = classes.read_text("utf-8")
    classes.write_text(
        text.replace("spec:\n  cluster: prod", "spec:\n  renkuId: 5\n  cluster: prod"), "utf-8"
    )


@pytest.mark.parametrize(
    ("flags", "times"),
    [
        ((), {"zone": "UTC", "start": "12:15", "end": "14:00"}),
        (("--time-zone", "Europe/Zurich"), {"zone": "Europe/Zurich", "start": "13:15", "end": "15:00"}),
    ],
    ids=["utc", "zurich"],
)
def test_import_writes_an_editable_file(
    berth: Berth, folder: Path, flags: tuple[str, ...], times: dict[str, str]
) -> None:
    number_the_class(folder)
    (folder / "export.json").write_text(json.dumps(PAYLOAD))
    told = berth("import", "renku", "export.json", *flags)
    name = told.out.removeprefix("Wrote reservations/").partition(".yaml")[0]
    assert (told.code, name.rpartition("-")[0]) == (0, "intro-to-statistics")
    assert (folder / f"reservations/{name}.yaml").read_text("utf-8") == IMPORTED.format(name=name, **times)


def test_import_writes_all_or_nothing(berth: Berth, folder: Path) -> None:
    number_the_class(folder)
    two = [{**PAYLOAD[0], "id": None, "name": name} for name in ("first", "second")]
    (folder / "export.json").write_text(json.dumps(two))
    (folder / "reservations/second.yaml").write_text("# mine\n")
    told = berth("import", "renku", "export.json")
    assert (told.code, told.out) == (2, "")
    assert told.err.endswith("reservations/second.yaml: the file exists; nothing was written.\n")
    assert not (folder / "reservations/first.yaml").exists()


def test_import_can_suspend(berth: Berth, folder: Path) -> None:
    number_the_class(folder)
    (folder / "export.json").write_text(json.dumps([{**PAYLOAD[0], "id": None}]))
    assert berth("import", "renku", "export.json", "--suspend").code == 0
    text = (folder / "reservations/intro-to-statistics.yaml").read_text("utf-8")
    assert text.endswith("\n  suspend: true\n")


def test_a_payload_is_not_edited_but_imported(berth: Berth, folder: Path) -> None:
    number_the_class(folder)
    (folder / "reservations/export.json").write_text(json.dumps([{**PAYLOAD[0], "id": None}]))
    assert (
        "Convert it first: berth import renku reservations/export.json"
        in berth("skip", "intro-to-statistics", "2026-02-17").err
    )


def test_import_does_not_drop_another_document_of_the_file(berth: Berth, folder: Path) -> None:
    number_the_class(folder)
    other = (
        "apiVersion: berth.dev/v1alpha1\nkind: Calendar\nmetadata: {name: a}\nspec: {dates: [2026-05-01]}\n"
    )
    (folder / "export.yaml").write_text(f"{json.dumps(PAYLOAD)}\n---\n{other}")
    told = berth("import", "renku", "export.yaml")

    assert (told.code, told.out) == (2, "")
    assert "document 2" in told.err


@pytest.mark.parametrize("source", ["renku", "renku-classes", "z2jh"])
def test_a_missing_export_is_a_finding(source: str, berth: Berth) -> None:
    told = berth("import", source, "export.json")

    assert (told.code, told.out) == (1, "")
    assert told.err.startswith("export.json:1:1: error[B001] ")


def test_an_export_may_come_from_a_pipe(berth: Berth, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number_the_class(folder)
    export = io.TextIOWrapper(io.BytesIO(json.dumps([{**PAYLOAD[0], "id": None}]).encode()))
    monkeypatch.setattr("sys.stdin", export)

    assert berth("import", "renku", "-").code == 0
    assert (folder / "reservations/intro-to-statistics.yaml").exists()
