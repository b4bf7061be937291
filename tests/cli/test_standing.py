"""What the commands tell of seats that stand without windows, and of windows that Koordinator holds."""

import json
from pathlib import Path

import pytest

from tests.answer import Berth
from tests.cli import project

SITE = project.SITE.replace("- name: prod", "- {name: prod, koordinator: {}}")
CLASSES = project.CLASSES.replace(
    '  requests: {cpu: "1", memory: 4Gi}\n',
    '  requests: {cpu: "1", memory: 4Gi}\n  schedulerName: koord-scheduler\n'
    "  sessions: {source: jupyterhub, namespaces: [hub], selector: {matchLabels: {size: small}}}\n",
)
IGNORED = 'name: course, annotations: {berth.dev/ignore: "B032: everybody"}'
COURSE = project.COURSE.replace("none", "maintain").replace("name: course", IGNORED)
SLOTS = f"{COURSE}  backend: {{type: koordinator}}\n"
LAB = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: lab, annotations: {berth.dev/ignore: "B032: everybody"}}
spec:
  resourceClass: small
  provisioning: {placeholderCount: 2}
  backend: {type: koordinator, standing: true}
"""
UNTIL = LAB.replace("small", "brief")
CLASSES += """\
---
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: brief}
spec:
  cluster: prod
  requests: {cpu: "1", memory: 4Gi}
  schedulerName: koord-scheduler
  sessions: {source: jupyterhub, namespaces: [hub], selector: {matchLabels: {size: brief}}}
  reservation: {spec: {expires: 2026-03-01T00:00:00Z}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project.write(tmp_path, site=SITE, classes=CLASSES, course=SLOTS, lab=UNTIL, night=None, rest=None)


LIST = """\
NAME    CLUSTER  SEATS     OCCURRENCES  SEAT-HOURS  NEXT OPENING
course  prod     25 small  2            225         Mon 2026-02-02 08:30
lab     prod     2 small                            {}
"""
WIDE = """\
NAME    CLUSTER  SEATS     OCCURRENCES  SEAT-HOURS  NEXT OPENING          RECURRENCE       LEAD    BEHAVIOR  ZONE           FILE                      TITLE               BACKEND
course  prod     25 small  2            225         Mon 2026-02-02 08:30  Mon 09:00-13:00  30 min  maintain  Europe/Zurich  reservations/course.yaml  Zürich, Café | Lab  koordinator
lab     prod     2 small                            always open                                    none      Europe/Zurich  reservations/lab.yaml     lab                 koordinator
"""  # noqa: E501 - as it is


def test_list_shows_how_long_a_standing_reservation_is_open(berth: Berth, folder: Path) -> None:
    until = LIST.format("until Sun 2026-03-01 01:00").replace(
        "2 small                    ", "2 brief                    "
    )
    assert berth("list", "--now", "2026-02-01").out == until
    assert berth("list", "--now", "2026-03-01T00:00:00Z").out.splitlines()[2] == (
        "lab     prod     2 brief                            expired Sun 2026-03-01 01:00"
    )
    project.write(folder, site=SITE, classes=CLASSES, course=SLOTS, lab=LAB, night=None, rest=None)
    assert berth("list", "--now", "2026-02-01", "-o", "wide").out == WIDE


def test_json_marks_standing_reservations(berth: Berth, folder: Path) -> None:
    lab = json.loads(berth("list", "-o", "json").out)["items"][1]
    assert (lab["recurrence"]["type"], lab["standing"]) == ("standing", {"until": "2026-03-01T00:00:00Z"})
    assert [lab[key] for key in ("occurrences", "seatHours", "next", "leadTimeMinutes")] == [
        0,
        None,
        None,
        None,
    ]
    project.write(folder, site=SITE, classes=CLASSES, course=SLOTS, lab=LAB, night=None, rest=None)
    assert json.loads(berth("list", "-o", "json").out)["items"][1]["standing"] == {"until": None}
    assert json.loads(berth("occurrences", "lab", "-o", "json").out)["standing"] == [
        {"reservation": "lab", "cluster": "prod", "seats": {"small": 2}, "until": None}
    ]


def test_a_week_lists_standing_reservations_until_they_expire(berth: Berth) -> None:
    def names(week: str) -> list[str]:
        answer = json.loads(berth("list", "-o", "json", "--week", week).out)
        return [item["name"] for item in answer["items"]]

    assert names("2026-01-01") == ["lab"]
    assert names("2026-02-28") == ["course", "lab"]
    assert names("2026-03-03") == []


NEAREST = "No occurrences: no date on {}; the nearest is Tue 2026-02-24."
STANDS = """\
No occurrences.

WITHOUT WINDOWS  OPEN                        SEATS    CLUSTER
lab              until Sun 2026-03-01 01:00  2 brief  prod
"""


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (("lab", "--from", "2026-02-01"), STANDS),
        (("--at", "2026-02-28"), f"{NEAREST.format('Sat 2026-02-28')}{STANDS.partition('.')[2]}"),
        (("--at", "2026-03-01T00:00:00Z"), f"{NEAREST.format('Sun 2026-03-01')}\n"),
        (("lab", "--class", "bench", "--from", "2026-02-01"), "No occurrences.\n"),
    ],
    ids=["by-name", "at-an-instant", "expired", "of-another-class"],
)
def test_occurrences_list_the_standing_reservations_that_are_open(
    berth: Berth, asked: tuple[str, ...], expected: str
) -> None:
    stands = {"reservation": "lab", "cluster": "prod", "seats": {"brief": 2}}
    answer = json.loads(berth("occurrences", "-o", "json", *asked).out)

    assert berth("occurrences", *asked) == (0, expected, "")
    assert (answer["items"], answer["standing"]) == (
        [],
        [{**stands, "until": "2026-03-01T00:00:00Z"}] if "WITHOUT WINDOWS" in expected else [],
    )


def test_a_standing_reservation_cannot_be_simulated(berth: Berth) -> None:
    assert berth("simulate", "lab") == (
        2,
        "",
        "berth: lab has no windows: there is nothing to simulate.\n",
    )


def test_a_slot_is_free_at_once_when_its_session_leaves(berth: Berth, folder: Path) -> None:
    """With placeholders it counts for half a minute more; the formula is the same."""
    asked = ("simulate", "course", "-o", "json", "--sessions", "09:00+5,10:00-2")

    def steps() -> list[tuple[str, int, int]]:
        items = json.loads(berth(*asked).out)["items"]
        return [(item["at"], item["active"], item["target"]) for item in items]

    opens, comes = ("2026-02-02T07:30:00Z", 0, 25), ("2026-02-02T08:00:00Z", 5, 20)
    leaves, ends = ("2026-02-02T09:00:00Z", 3), ("2026-02-02T12:00:00Z", 3, 0)
    assert steps() == [opens, comes, (*leaves, 22), ends]
    project.write(folder, site=SITE, classes=CLASSES, course=COURSE, lab=LAB, night=None, rest=None)
    assert steps() == [opens, comes, (*leaves, 20), ("2026-02-02T09:00:30Z", 3, 22), ends]
