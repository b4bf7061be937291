"""`berth diff` in a terminal: what a change of the small project means."""

import json
from pathlib import Path

import pytest

from tests.diff.conftest import NOW, Pair

MORE_SEATS = """\
1 reservation changed; peak seats of small in prod 25 -> 30; 1 warning
../was -> working tree

~ course: Zürich, Café | Lab [prod]
~   seats: 25 small -> 30 small
~   09:00-13:00, 25 small -> 30 small: Mon 2026-02-02, Tue 2026-02-24
    seat-hours: 225 -> 270

Peaks
~ prod, most seats of small: 25 -> 30 at Mon 2026-02-02 08:30 (Europe/Zurich): course 30
~ prod, most of cpu: 25 -> 30 cores at Mon 2026-02-02 08:30 (Europe/Zurich): course 30
~ prod, most of memory: 100 -> 120 GiB at Mon 2026-02-02 08:30 (Europe/Zurich): course 120 GiB

Check before merging
! course: small grows as soon as this is applied: 25 seats now, 30 then.

Manifests
~ clusters/prod/reservations/course.yaml: ~ConfigMap
"""
RENAMED = """\
new permissions in berth; 1 reservation changed; 1 warning
../was -> working tree

New permissions
+ berth in prod: Role kurs grants get configmaps kurs, get/create/patch configmaps kurs-record, create events, get/create/patch leases.coordination.k8s.io kurs-small, get deployments.apps kurs-small, get/patch deployments/scale.apps kurs-small
+ berth in prod: RoleBinding kurs grants Role kurs to ServiceAccount berth/kurs

~ kurs (was course): Zürich, Café | Lab [prod]
~   name: course -> kurs
    seat-hours: 225

Check before merging
! kurs: It was course: the engine deletes that reservation and creates this one, so seats that are open now are removed and created again.

Manifests
- clusters/prod/reservations/course.yaml: -ConfigMap, -Deployment, -ServiceAccount, -Role, -RoleBinding, -CronJob
+ clusters/prod/reservations/kurs.yaml: +ConfigMap, +Deployment, +ServiceAccount, +Role, +RoleBinding, +CronJob
- the engine deletes 1 ConfigMap, 1 CronJob, 1 Deployment, 1 Role, 1 RoleBinding, 1 ServiceAccount
"""  # noqa: E501 - as it is
FAULTY = """\
{side} is not valid
../was -> working tree

{side}:
reservations/course.yaml:16:36: error[B012] spec.provisioning.placeholderCount: -1 is below 1. Write a whole number from 1 up.
1 error.
"""  # noqa: E501 - as it is


def test_where_nothing_changes_it_says_so(pair: Pair) -> None:
    assert pair.diff() == (0, "Nothing changes.\n../was -> working tree\n", "")


def test_more_seats(pair: Pair) -> None:
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    assert pair.diff() == (0, MORE_SEATS, "")


def test_a_rename_is_found_and_what_it_means_is_said(pair: Pair) -> None:
    pair.edit("course.yaml", "metadata: {name: course}", "metadata: {name: kurs}")
    assert pair.diff() == (0, RENAMED, "")


def test_a_head_with_errors_is_told_and_nothing_else_is_claimed(pair: Pair) -> None:
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: -1")
    assert pair.diff() == (1, FAULTY.format(side="working tree"), "")


def test_a_base_with_errors_does_not_hide_the_head(pair: Pair) -> None:
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: -1")
    pair.was, pair.now = pair.now, pair.was
    told = pair.diff(base="../now")
    first, *_ = told.out.splitlines()

    assert (told.code, first.startswith("../now is not valid; ")) == (0, True)
    assert "reservations/course.yaml:16:36: error[B012]" in told.out
    assert "! course: The base has errors, so what changes is not known" in told.out


def test_exit_code_4_tells_that_anything_changes(pair: Pair) -> None:
    assert pair.diff("--exit-code").code == 0
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    assert pair.diff("--exit-code").code == 4


def test_an_upgrade_that_changes_only_manifests_says_so(pair: Pair) -> None:
    file = pair.was / "rendered/clusters/prod/reservations/course.yaml"
    file.write_text(file.read_text("utf-8").replace("maxSurge: 0", "maxSurge: 1"), "utf-8")
    assert pair.diff().out == (
        "dates and seats are the same; 1 rendered file changed\n../was -> working tree\n\n"
        "Manifests\n~ clusters/prod/reservations/course.yaml: ~Deployment\n"
    )


def test_github_gets_a_line_at_the_file(pair: Pair) -> None:
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    told = pair.diff("-o", "github").out
    assert told.count("::notice file=") == 1
    assert told.count("::warning file=") == 1
    assert "/reservations/course.yaml,line=1,col=1," in told


@pytest.mark.parametrize(
    ("words", "named"),
    [(("a", "b"), "(b)"), (("--limit", "5"), "'--limit'")],
    ids=["two-bases", "limit"],
)
def test_a_slip_is_refused(pair: Pair, words: tuple[str, ...], named: str) -> None:
    told = pair.diff(*words, base="")

    assert (told.code, told.out) == (2, "")
    assert named in told.err


def test_the_same_command_says_the_same(pair: Pair) -> None:
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    assert pair.diff(at=NOW) == pair.diff(at=NOW)


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        ("site.yaml", "timeZone: Europe/Zurich", "timeZone: Mars"),
        ("classes.yaml", "kind: ResourceClass", "kind: ResourceKlass"),
        ("classes.yaml", "from: 2026-02-16", "from: 2026-02-30"),
        ("course.yaml", "type: weekly", "type: wekly"),
        ("course.yaml", "resourceClass: small", "resourceClass: smal"),
        ("rest.yaml", "spec:", "spec: ["),
    ],
    ids=["site", "classes", "calendar", "reservation", "reference", "text"],
)
def test_of_a_faulty_head_nothing_is_claimed(pair: Pair, file: str, before: str, after: str) -> None:
    """Both sides say the same but for the fault: no reservation came, went or changed."""
    pair.edit(file, before, after)
    told = pair.diff(stale=True)

    assert told.out.splitlines()[0].endswith("working tree is not valid")
    assert (told.code, "error[" in told.out) == (1, True)
    assert json.loads(pair.diff("-o", "json", stale=True).out)["reservations"] == []


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        ("classes.yaml", "kind: ResourceClass", "kind: ResourceKlass"),
        ("classes.yaml", "from: 2026-02-16", "from: 2026-02-30"),
        ("course.yaml", "type: weekly", "type: wekly"),
        ("course.yaml", "resourceClass: small", "resourceClass: smal"),
        ("course.yaml", "spec:", "spec: ["),
    ],
    ids=["classes", "calendar", "reservation", "reference", "text"],
)
def test_what_a_faulty_base_hides_is_judged_as_if_it_were_new(
    pair: Pair, file: str, before: str, after: str
) -> None:
    pair.edit(file, before, after)
    pair.was, pair.now = pair.now, pair.was
    told = pair.diff("-o", "json", base="../now", stale=True)
    change = json.loads(told.out)

    assert told.code == 0
    assert ("not-compared", "course") in [(load["code"], load["subject"]) for load in change["warnings"]]
    assert ("course", "added") in [(load["name"], load["change"]) for load in change["reservations"]]
    assert "the same" not in pair.diff(base="../now", stale=True).out


@pytest.mark.parametrize(
    ("file", "before", "after", "policy"),
    [
        ("site.yaml", "timeZone: Europe/Zurich", "timeZone: Mars", ""),
        (
            "rest.yaml",
            "spec:",
            "spec: [",
            "  policies: [{name: a, when: {seatsAbove: 999}, require: warn}]\n",
        ),
    ],
    ids=["no-site", "a-policy"],
)
def test_policies_that_a_faulty_base_hides_fail_the_change(
    pair: Pair, file: str, before: str, after: str, policy: str
) -> None:
    pair.edit(file, before, after)
    pair.was, pair.now = pair.now, pair.was
    site = pair.now / "reservations/site.yaml"
    site.write_text(site.read_text("utf-8") + policy, "utf-8")
    told = pair.diff(base="../now", stale=True)

    assert told.code == 1
    assert "policies cannot be judged" in told.out.splitlines()[0]


def test_a_base_whose_dates_are_wrong_is_told_where_they_were_put_right(pair: Pair) -> None:
    pair.edit("course.yaml", "except: [2026-02-09]", "except: [2026-02-10]")
    pair.was, pair.now = pair.now, pair.was
    told = pair.diff(base="../now").out
    assert told.startswith("../now is not valid; 1 reservation changed\n")
    assert "error[" in told


def test_removed_dates_say_why_they_are_left_out(pair: Pair) -> None:
    pair.edit("course.yaml", "except: [2026-02-09]", "except: [{date: 2026-02-02, title: Excursion}]")
    pair.edit("classes.yaml", "title: Carnival}", "title: Carnival}, {date: 2026-02-07, title: Fair}")
    pair.edit("site.yaml", "  engine: argocd", "  engine: argocd\n  calendars: [holidays]")
    lines = pair.diff().out.splitlines()

    assert "-   25 small: Mon 2026-02-02 09:00-13:00 (08:00-12:00 UTC), except: Excursion" in lines
    assert any(
        line.startswith("- ")
        and "Sat 2026-02-07 22:00" in line
        and line.endswith(", calendar holidays: Fair")
        for line in lines
    )


OVERLAP = 'schedule: [{startTime: "10:05", endTime: "10:10"}, '


def with_overlap(folder: Path) -> None:
    """Make two windows of a reservation overlap, which is a warning."""
    file = folder / "reservations/rest.yaml"
    file.write_text(file.read_text("utf-8").replace("schedule: [", OVERLAP), "utf-8")


@pytest.mark.parametrize("form", ["text", "markdown", "github"])
def test_a_warning_is_shown_only_if_it_is_new_or_gone(form: str, pair: Pair) -> None:
    with_overlap(pair.now)
    assert "B031" in pair.diff("-o", form).out

    with_overlap(pair.was)
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    assert "B031" not in pair.diff("-o", form).out


def test_a_warning_that_is_gone_is_shown_at_the_base(pair: Pair) -> None:
    with_overlap(pair.was)
    assert "../was:\nreservations/rest.yaml" in pair.diff().out


def test_an_error_is_shown_even_if_the_base_has_it(pair: Pair) -> None:
    for folder in (pair.was, pair.now):
        file = folder / "reservations/rest.yaml"
        file.write_text(
            file.read_text("utf-8").replace("placeholderCount: 1", "placeholderCount: -1"), "utf-8"
        )
    told = pair.diff()

    assert (told.code, told.out.count("error[B012]")) == (1, 2)


def test_a_warning_of_a_reservation_that_does_not_change_may_be_gone(pair: Pair) -> None:
    for folder in (pair.was, pair.now):
        file = folder / "reservations/rest.yaml"
        file.write_text(file.read_text("utf-8").replace("placeholderCount: 1", "placeholderCount: 1001"))
    assert "B082" not in pair.diff().out

    site = pair.now / "reservations/site.yaml"
    text = site.read_text("utf-8").replace("{name: lab,", "{name: lab, ceilings: [{seats: {bench: 5000}}],")
    site.write_text(text, "utf-8")
    assert "../was:\nreservations/rest.yaml" in pair.diff().out


def test_a_course_that_is_moved_into_the_past_is_told_and_one_that_is_over_is_not(pair: Pair) -> None:
    assert "B081" not in pair.diff(at="2030-01-01").out

    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    assert "B081" in pair.diff(at="2030-01-01").out
    assert "B081" not in pair.diff().out
