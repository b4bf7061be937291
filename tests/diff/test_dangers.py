"""What should be thought of before a merge: each warning, where it must be said and where it must not."""

import pytest
from berth.diff.manifests import FileChange, ObjectChange
from berth.diff.risks import manifest_warnings

from tests.cases import tabled
from tests.diff.conftest import Pair, warns

BEFORE = "2026-01-01T00:00:00Z"


def warnings(pair: Pair, at: str = BEFORE, *, stale: bool = False) -> list[str]:
    told = pair.diff(at=at, stale=stale)
    assert (told.code, told.err) == (0, "")
    return [line[2:] for line in told.out.splitlines() if line.startswith("! ")]


def test_a_stale_rendered_folder_is_reported_with_its_files(pair: Pair) -> None:
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    (pair.now / "rendered/clusters/prod/reservations/rest.yaml").write_text("left over")
    foreign, told = warnings(pair, stale=True)
    assert warns(foreign, "rendered/clusters/prod/reservations/rest.yaml ", "not written by Berth")
    assert warns(told, "rendered/ ", "clusters/prod/reservations/course.yaml", "berth render")


@tabled("diff")
def test_foreign_and_stale_entries_of_the_rendered_folder_are_named(
    path: str, message: str, pair: Pair
) -> None:
    file = pair.now / path
    (file if path.endswith("/") else file.parent).mkdir(parents=True, exist_ok=True)
    if not path.endswith("/"):
        file.write_text("# mine\n")
    assert any(message in line for line in warnings(pair, stale=True))


@pytest.mark.parametrize("path", ["rendered", "rendered/clusters", "rendered/clusters/prod"])
def test_a_rendered_folder_that_is_a_symlink_is_named(pair: Pair, path: str) -> None:
    (pair.now / path).rename(pair.now / "elsewhere")
    (pair.now / path).symlink_to(pair.now / "elsewhere")
    assert any(f"{path} was not written by Berth" in line for line in warnings(pair, stale=True))


@pytest.mark.parametrize(
    ("file", "before", "after", "told"),
    [
        (
            "base.yaml",
            "preemptionPolicy: Never",
            "preemptionPolicy: PreemptLowerPriority",
            ("", "immutable"),
        ),
        (
            "reservations/course.yaml",
            "    matchLabels:\n",
            '    matchLabels:\n      old: "1"\n',
            ("Deployment course-small: ", "immutable"),
        ),
        (
            "reservations/course.yaml",
            "roleRef:\n",
            'roleRef:\n  old: "1"\n',
            ("RoleBinding course: ", "immutable"),
        ),
        (
            "reservations/course.yaml",
            "terminationGracePeriodSeconds: 0",
            "terminationGracePeriodSeconds: 30",
            ("Deployment course-small: ", "replaced"),
        ),
        ("reservations/course.yaml", "  replicas: 0\n", "", ("Deployment course-small: ", "`replicas`")),
    ],
    ids=["priority", "selector", "role-ref", "template", "replicas"],
)
def test_effects_of_an_upgrade_on_objects_are_reported(
    pair: Pair, file: str, before: str, after: str, told: tuple[str, str]
) -> None:
    """The base was rendered by another version of Berth, with the same reservations."""
    path = pair.was / "rendered/clusters/prod" / file
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), "utf-8")
    assert any(warns(line, *told) for line in warnings(pair)), warnings(pair)


def test_new_permissions_of_a_role_are_reported_once(pair: Pair) -> None:
    """In its own section; each first rehearsal of a reservation lets its Jobs read more."""
    path = pair.was / "rendered/clusters/prod/reservations/course.yaml"
    text = path.read_text("utf-8")
    path.write_text(text.replace("create, patch]", "create]", 1), "utf-8")

    assert not [line for line in warnings(pair) if "Role course" in line]
    (section,) = [part for part in pair.diff().out.split("\n\n") if part.startswith("New permissions\n")]
    assert "Role course" in section


@pytest.mark.parametrize(
    ("before", "after"),
    [("create, patch]", "create, patch, delete]"), ("    verbs: [create]\n", "    verbs:\n      - create\n")],
    ids=["fewer", "another-style"],
)
def test_an_upgrade_without_new_permissions_reports_none(pair: Pair, before: str, after: str) -> None:
    path = pair.was / "rendered/clusters/prod/reservations/course.yaml"
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), "utf-8")

    assert not [line for line in warnings(pair) if "permissions" in line]


def test_a_warning_about_many_objects_is_one_line() -> None:
    objects = [
        ObjectChange("Deployment", f"r{n}", "changed", "spec:\n  template: 1\n", "spec:\n  template: 2\n")
        for n in range(1000)
    ]
    files = [
        FileChange(f"clusters/a/reservations/{object_.name}.yaml", "changed", (object_,))
        for object_ in objects
    ]
    (one,) = manifest_warnings(files, [file.path for file in files], 0)
    assert one.message.startswith("Deployment r0, Deployment r1, Deployment r2 and 997 more: ")


CEILINGS = """\
    - name: prod
      ceilings:
        - {seats: {small: 40}}
        - {seats: {small: 35}, requests: {cpu: "38"}, from: 2026-02-10, until: 2026-02-28}
        - {seats: {small: 36}, until: 2026-01-31}
"""


def test_peaks_are_compared_with_every_applicable_ceiling(pair: Pair) -> None:
    pair.edit("site.yaml", "    - name: prod\n", CEILINGS)
    pair.merge()
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    told = [line for line in pair.diff(at=BEFORE).out.splitlines() if line.startswith("~ prod, most")]
    assert told == [
        "~ prod, most seats of small: 25 -> 30 at Mon 2026-02-02 08:30 (Europe/Zurich), ceiling 40: "
        "course 30",
        "~ prod, most seats of small from 2026-02-10 to 2026-02-28: 25 -> 30 at Tue 2026-02-24 08:30 "
        "(Europe/Zurich), ceiling 35: course 30",
        "~ prod, most of cpu: 25 -> 30 cores at Mon 2026-02-02 08:30 (Europe/Zurich): course 30",
        "~ prod, most of cpu from 2026-02-10 to 2026-02-28: 25 -> 30 cores at Tue 2026-02-24 08:30 "
        "(Europe/Zurich), ceiling 38 cores: course 30",
        "~ prod, most of memory: 100 -> 120 GiB at Mon 2026-02-02 08:30 (Europe/Zurich): course 120 GiB",
    ]


def test_a_peak_names_ten_reservations_and_counts_the_others(pair: Pair) -> None:
    text = (pair.now / "reservations/course.yaml").read_text("utf-8")
    for number in range(12):
        name = f"course-{number:02}"
        copy = text.replace("metadata: {name: course}", f"metadata: {{name: {name}}}")
        (pair.now / f"reservations/{name}.yaml").write_text(copy, "utf-8")
    told = next(line for line in pair.diff(at=BEFORE).out.splitlines() if "most seats of small" in line)
    assert told.startswith("~ prod, most seats of small: 25 -> 325 at Mon 2026-02-02 08:30 (Europe/Zurich): ")
    assert told.endswith("course-07 25, course-08 25 and 3 more")
