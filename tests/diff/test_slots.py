"""`berth diff` of what Koordinator holds: backends, shapes of slots, and seats that stand without windows."""

import json
from pathlib import Path

import pytest
from berth import cli

from tests.cli import project
from tests.diff.conftest import NOW, Pair, warns

SITE = project.SITE.replace("- name: prod", "- {name: prod, koordinator: {}}")
CLASSES = project.CLASSES.replace(
    '  requests: {cpu: "1", memory: 4Gi}\n',
    '  requests: {cpu: "1", memory: 4Gi}\n  schedulerName: koord-scheduler\n'
    "  sessions: {source: jupyterhub, namespaces: [hub], selector: {matchLabels: {size: small}}}\n",
)
ENDING = CLASSES.replace(
    "  schedulerName", "  reservation: {spec: {expires: 2026-03-01T00:00:00Z}}\n  schedulerName"
)
COURSE = f"{project.COURSE}  backend: {{type: koordinator}}\n"
LAB = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: lab}
spec:
  resourceClass: small
  provisioning: {placeholderCount: 2}
  backend: {type: koordinator, standing: true}
"""
ADDED = """\
1 reservation added; peak seats of small in prod 25 -> 27; 1 warning
../was -> working tree

+ lab [prod]
+   2 small, always

Peaks
~ prod, most seats of small: 25 -> 27 at Mon 2026-02-02 08:30 (Europe/Zurich): course 25, lab 2
~ prod, most of cpu: 25 -> 27 cores at Mon 2026-02-02 08:30 (Europe/Zurich): course 25, lab 2
~ prod, most of memory: 100 -> 108 GiB at Mon 2026-02-02 08:30 (Europe/Zurich): course 100 GiB, lab 8 GiB

Check before merging
! lab: small opens as soon as this is applied: 0 seats now, 2 then.
"""


@pytest.fixture
def held(pair: Pair, capsys: pytest.CaptureFixture[str]) -> Pair:
    """The course is held by slots, on both sides."""
    for folder in (pair.was, pair.now):
        project.write(folder, site=SITE, classes=CLASSES, course=COURSE)
    assert cli.run(["-C", str(pair.was), "render"]) == 0
    capsys.readouterr()
    return pair


def put(folder: Path, name: str, text: str) -> None:
    (folder / f"reservations/{name}.yaml").write_text(text, "utf-8")


def told(pair: Pair, at: str = NOW) -> list[str]:
    """All but the manifests."""
    found = pair.diff(at=at)
    assert (found.code, found.err) == (0, "")
    return found.out.partition("\nManifests\n")[0].splitlines()


def lines(pair: Pair, sign: str, at: str = NOW) -> list[str]:
    return [line[2:].strip() for line in told(pair, at)[2:] if line.startswith(sign)]


def test_another_backend_is_told_with_what_it_does(held: Pair) -> None:
    put(held.now, "course", project.COURSE)

    assert "backend: koordinator -> placeholder" in lines(held, "~")
    told = lines(held, "!")
    assert any(warns(line, "course: ", "placeholder", "koordinator") for line in told)
    assert any(warns(line, "ClusterRoleBinding berth-slots.uni.course: ", "cluster") for line in told)


def test_another_shape_replaces_the_slots_of_an_open_window(held: Pair) -> None:
    held.edit(
        "classes.yaml", "  schedulerName", "  reservation: {spec: {unschedulable: true}}\n  schedulerName"
    )

    assert any(line.startswith("shape of the slots of small: ") for line in lines(held, "~"))
    (told,) = lines(held, "!")
    assert warns(told, "course: small: ", "shape", "replaced")
    assert lines(held, "!", "2026-01-01T00:00:00Z") == []


def test_what_a_class_or_cluster_says_changes_the_shape_too(held: Pair) -> None:
    held.edit("site.yaml", "koordinator: {}", "koordinator: {schedulerName: theirs}")
    held.edit("classes.yaml", "schedulerName: koord-scheduler", "schedulerName: theirs")

    (shape,) = [line for line in lines(held, "~") if line.startswith("shape")]
    assert shape.startswith("shape of the slots of small: ")
    assert any("replaced" in line for line in lines(held, "!"))


def test_seats_that_stand_are_told_without_dates_and_count_always(held: Pair) -> None:
    put(held.now, "lab", LAB)

    assert told(held) == ADDED.splitlines()


def test_what_stands_until_some_day_is_told_as_it_changes(held: Pair) -> None:
    put(held.was, "lab", LAB)
    for folder, classes in ((held.was, CLASSES), (held.now, ENDING)):
        project.write(folder, site=SITE, classes=classes, lab=LAB, course=None)

    assert lines(held, "~")[1:3] == ["lab [prod]", "expires: none -> 2026-03-01T00:00:00Z"]


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("2026-02-28T23:59:59Z", ("lab: small ", " 0 seats", " 2 ")),
        ("2026-03-01T00:00:00Z", ("lab: ", "2026-03-01T00:00:00Z", "expire")),
    ],
    ids=["before", "then"],
)
def test_what_has_expired_holds_nothing(held: Pair, at: str, expected: tuple[str, ...]) -> None:
    project.write(held.now, site=SITE, classes=ENDING, lab=LAB, course=None)
    project.write(held.was, site=SITE, classes=ENDING, course=None)

    assert any(warns(line, *expected) for line in lines(held, "!", at))


def test_what_stands_and_is_removed_closes_at_once(held: Pair) -> None:
    put(held.was, "lab", LAB)

    assert lines(held, "-") == ["lab [prod]", "2 small, always"]
    assert warns(lines(held, "!")[0], "lab: small ", "2 seats", " 0 ")


def test_a_shape_that_stands_in_git_is_made_anew_by_the_engine(held: Pair) -> None:
    put(held.was, "lab", LAB)
    put(held.now, "lab", LAB.replace("standing: true", "standing: true, owners: [{object: {namespace: a}}]"))

    assert warns(lines(held, "!")[0], "lab: small: ", "shape", "engine")


def test_a_rename_of_what_stands_is_found(held: Pair) -> None:
    put(held.was, "lab", LAB)
    put(held.now, "lab", LAB.replace("name: lab", "name: bench"))

    assert told(held)[3] == "~ bench (was lab) [prod]"


def test_json_says_what_stands(held: Pair) -> None:
    put(held.now, "lab", LAB)
    (one,) = json.loads(held.diff("-o", "json").out)["reservations"]

    assert one["standing"] == {"before": None, "after": "2 small, always"}
    assert one["occurrences"] == {"added": 0, "removed": 0, "changed": 0, "kept": 0}
