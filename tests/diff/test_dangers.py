"""What should be thought of before a merge: each warning, where it must be said and where it must not."""

import shutil

import pytest
from berth.diff.manifests import FileChange, ObjectChange
from berth.diff.risks import manifest_warnings

from tests.diff.conftest import NOW, Pair, warns

BEFORE = "2026-01-01T00:00:00Z"
AFTER = "2026-12-31T00:00:00Z"
SOON = ("course: Mon 2026-02-02 09:00-13:00 ", "Mon 2026-02-02 08:30 (Europe/Zurich)", "notice", "24 h")


def warnings(pair: Pair, at: str = BEFORE, *, stale: bool = False) -> list[str]:
    told = pair.diff(at=at, stale=stale)
    assert (told.code, told.err) == (0, "")
    return [line[2:] for line in told.out.splitlines() if line.startswith("! ")]


def test_nothing_is_warned_of_where_nothing_is_near(pair: Pair) -> None:
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    assert warnings(pair) == []


@pytest.mark.parametrize("count", ["30", "20"], ids=["more-seats", "fewer-seats"])
def test_a_window_that_is_open_acts_at_once(pair: Pair, count: str) -> None:
    pair.edit("course.yaml", "placeholderCount: 25", f"placeholderCount: {count}")
    (told,) = warnings(pair, NOW)
    assert warns(told, "course: small ", "25 seats", count)


def test_a_reservation_that_is_removed_or_suspended_while_it_is_open_closes(pair: Pair) -> None:
    pair.edit("course.yaml", "  provisioning:", "  suspend: true\n  provisioning:")
    closes = warnings(pair, NOW)
    assert any(warns(line, "course: small ", "25 seats", " 0 ") for line in closes)
    (pair.now / "reservations/course.yaml").unlink()
    assert warnings(pair, NOW)[0] in closes


@pytest.mark.parametrize(
    ("at", "told"),
    [
        ("2026-02-01T07:30:00Z", False),
        ("2026-02-01T07:30:01Z", True),
        ("2026-02-02T07:29:59Z", True),
        ("2026-02-02T07:30:00Z", False),
    ],
    ids=["early-enough", "too-late", "about-to-open", "open-already"],
)
def test_what_opens_sooner_than_the_notice_is_told(pair: Pair, at: str, told: bool) -> None:
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    found = [line for line in warnings(pair, at) if warns(line, *SOON)]
    assert len(found) == told


@pytest.mark.parametrize(
    ("before", "after"),
    [("2026-03-01\n", "2026-03-01\n    interval: 1\n"), ("startDate: 2026-02-02", "startDate: 2026-02-03")],
    ids=["nothing", "one-date-less"],
)
def test_what_goes_so_late_is_told_too(pair: Pair, before: str, after: str) -> None:
    pair.edit("course.yaml", before, after)
    found = [line for line in warnings(pair, "2026-02-01T08:00:00Z") if warns(line, *SOON)]
    assert len(found) == ("02-03" in after)


def test_what_never_opens_does_not_open_soon(pair: Pair) -> None:
    text = (pair.now / "reservations/course.yaml").read_text("utf-8")
    copy = text.replace("metadata: {name: course}", "metadata: {name: kurs}") + "  suspend: true\n"
    (pair.now / "reservations/kurs.yaml").write_text(copy, "utf-8")
    assert warnings(pair, "2026-02-01T08:00:00Z") == []


def test_what_moves_away_so_late_is_told(pair: Pair) -> None:
    pair.edit("course.yaml", "moved: [", "moved: [{date: 2026-02-02, to: {date: 2026-02-20}}, ")
    told = warnings(pair, "2026-02-01T08:00:00Z")
    assert len([line for line in told if warns(line, *SOON)]) == 1


def test_the_site_says_how_long_the_notice_is(pair: Pair) -> None:
    pair.edit("site.yaml", "  clusters:", "  diff: {noticeHours: 2}\n  clusters:")
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    assert not any("notice" in line for line in warnings(pair, "2026-02-01T08:00:00Z"))


def test_what_is_over_is_told(pair: Pair) -> None:
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    (told,) = warnings(pair, AFTER)
    assert warns(told, "course: Mon 2026-02-02 09:00-13:00 and 1 more ")


def test_clock_changes_are_told_of_dates_that_come(pair: Pair) -> None:
    pair.edit(
        "rest.yaml",
        'dates: [2026-02-03]\n    schedule: [{startTime: "10:00", endTime: "10:20"}]',
        'dates: [2026-03-29, 2026-10-25]\n    schedule: [{startTime: "02:30", endTime: "04:00"}]',
    )
    spring, autumn = warnings(pair)[:2]
    assert warns(spring, "rest: Sun 2026-03-29 03:30-04:00: ", "skips")
    assert warns(autumn, "rest: Sun 2026-10-25 02:30-04:00: ", "repeats")


def test_a_likeness_is_told_and_is_no_rename(pair: Pair) -> None:
    pair.edit("course.yaml", "metadata: {name: course}", "metadata: {name: kurs}")
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 24")
    assert warns(warnings(pair)[0], "kurs: ", "2 of its 2 dates", "course", "new name")


def test_other_dates_are_no_likeness(pair: Pair) -> None:
    pair.edit("course.yaml", "metadata: {name: course}", "metadata: {name: kurs}")
    pair.edit("course.yaml", 'startTime: "09:00"', 'startTime: "10:00"')
    assert not any("new name" in line for line in warnings(pair))


def test_a_stale_folder_is_told_with_its_files(pair: Pair) -> None:
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    (pair.now / "rendered/clusters/prod/reservations/rest.yaml").write_text("left over")
    foreign, told = warnings(pair, stale=True)
    assert warns(foreign, "rendered/clusters/prod/reservations/rest.yaml ", "not written by Berth")
    assert warns(told, "rendered/ ", "clusters/prod/reservations/course.yaml", "berth render")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("rendered/.sourceignore", "rendered/.sourceignore was not written by Berth"),
        ("rendered/other/e.yaml", "rendered/other was not written by Berth"),
        ("rendered/clusters/.gitattributes", "rendered/clusters/.gitattributes was not written by Berth"),
        ("rendered/clusters/prod/sub/", "rendered/ is not up to date: clusters/prod/sub/."),
    ],
)
def test_what_a_check_refuses_is_named(pair: Pair, path: str, message: str) -> None:
    file = pair.now / path
    (file if path.endswith("/") else file.parent).mkdir(parents=True, exist_ok=True)
    if not path.endswith("/"):
        file.write_text("# mine\n")
    assert any(message in line for line in warnings(pair, stale=True))


@pytest.mark.parametrize("path", ["rendered", "rendered/clusters", "rendered/clusters/prod"])
def test_a_folder_that_is_a_link_is_named(pair: Pair, path: str) -> None:
    (pair.now / path).rename(pair.now / "elsewhere")
    (pair.now / path).symlink_to(pair.now / "elsewhere")
    assert any(f"{path} was not written by Berth" in line for line in warnings(pair, stale=True))


def test_the_last_reservation_of_a_cluster_and_what_is_pruned(pair: Pair) -> None:
    for name in ("course", "night"):
        (pair.now / f"reservations/{name}.yaml").unlink()
    (last,) = warnings(pair)
    assert warns(last, "", "cluster prod", "base.yaml")
    assert pair.diff().out.splitlines()[-1] == (
        "- the engine deletes 3 ConfigMap, 3 CronJob, 3 Deployment, 3 Role, 3 RoleBinding, 3 ServiceAccount"
    )


def test_another_priority_is_another_object_of_the_whole_cluster(pair: Pair) -> None:
    pair.edit("site.yaml", "    - name: prod", "    - name: prod\n      priority: -9")
    replaced, added, removed = warnings(pair)
    assert warns(replaced, "Deployment course-small, Deployment night-small: ", "replaced")
    assert warns(added, "PriorityClass berth-uni-9: added")
    assert warns(removed, "PriorityClass berth-uni-10: removed")


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
def test_what_an_upgrade_does_to_objects_is_told(
    pair: Pair, file: str, before: str, after: str, told: tuple[str, str]
) -> None:
    """The base was rendered by another version of Berth, with the same reservations."""
    path = pair.was / "rendered/clusters/prod" / file
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), "utf-8")
    assert any(warns(line, *told) for line in warnings(pair)), warnings(pair)


def test_what_a_role_allows_anew_is_told_once(pair: Pair) -> None:
    """In its own section; each first rehearsal of a reservation lets its Jobs read more."""
    path = pair.was / "rendered/clusters/prod/reservations/course.yaml"
    text = path.read_text("utf-8")
    path.write_text(text.replace("create, patch]", "create]", 1), "utf-8")

    assert not [line for line in warnings(pair) if "Role course" in line]
    (section,) = [part for part in pair.diff().out.split("\n\n") if part.startswith("New permissions\n")]
    assert "Role course" in section


@pytest.mark.parametrize(
    ("before", "after", "cluster", "said"),
    [
        ("- name: prod", "- {name: prod, namespace: hall}", "prod", ["engine", "hall", "6 minutes"]),
        ("namespace: seats", "namespace: hall", "lab", ["delete", "seats", "berth status"]),
    ],
    ids=["engine", "no-engine"],
)
def test_another_namespace_is_told_with_what_becomes_of_the_old_one(
    pair: Pair, before: str, after: str, cluster: str, said: list[str]
) -> None:
    pair.edit("site.yaml", before, after)
    (line,) = [warning for warning in warnings(pair) if warning.startswith(f"{cluster}: Its namespace was ")]
    assert warns(line, f"{cluster}: ", *said)


def test_a_site_with_another_name_cannot_be_applied(pair: Pair) -> None:
    pair.edit("site.yaml", "metadata: {name: uni", "metadata: {name: school")
    assert any(warns(line, "school: ", "uni", "immutable") for line in warnings(pair))


@pytest.mark.parametrize(
    ("before", "after"),
    [("create, patch]", "create, patch, delete]"), ("    verbs: [create]\n", "    verbs:\n      - create\n")],
    ids=["fewer", "another-style"],
)
def test_an_upgrade_that_grants_nothing_new_is_not_told_as_permissions(
    pair: Pair, before: str, after: str
) -> None:
    path = pair.was / "rendered/clusters/prod/reservations/course.yaml"
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), "utf-8")

    assert not [line for line in warnings(pair) if "permissions" in line]


def test_sessions_in_one_more_namespace_need_more_rights(pair: Pair) -> None:
    new = '  requests: {cpu: "1", memory: 4Gi}\n  sessions: {source: pods, namespaces: [hub]}'
    pair.edit("classes.yaml", '  requests: {cpu: "1", memory: 4Gi}', new)
    assert any(": added; " in line and "permissions" in line for line in warnings(pair))


def test_what_is_the_same_for_many_objects_is_one_line() -> None:
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


def test_peaks_stand_against_every_ceiling_that_holds(pair: Pair) -> None:
    pair.edit("site.yaml", "    - name: prod\n", CEILINGS)
    shutil.copytree(pair.now / "reservations", pair.was / "reservations", dirs_exist_ok=True)
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


def test_at_a_peak_ten_are_named_and_the_others_counted(pair: Pair) -> None:
    text = (pair.now / "reservations/course.yaml").read_text("utf-8")
    for number in range(12):
        name = f"course-{number:02}"
        copy = text.replace("metadata: {name: course}", f"metadata: {{name: {name}}}")
        (pair.now / f"reservations/{name}.yaml").write_text(copy, "utf-8")
    told = next(line for line in pair.diff(at=BEFORE).out.splitlines() if "most seats of small" in line)
    assert told.startswith("~ prod, most seats of small: 25 -> 325 at Mon 2026-02-02 08:30 (Europe/Zurich): ")
    assert told.endswith("course-07 25, course-08 25 and 3 more")
