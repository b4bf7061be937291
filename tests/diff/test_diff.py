"""`berth diff` in a terminal: what a change of the small project means."""

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


def test_diff_reports_that_nothing_changes(pair: Pair) -> None:
    assert pair.diff() == (0, "Nothing changes.\n../was -> working tree\n", "")


def test_more_seats_are_reported_with_dates_and_peaks(pair: Pair) -> None:
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    assert pair.diff() == (0, MORE_SEATS, "")


def test_a_rename_is_detected_and_its_effects_are_reported(pair: Pair) -> None:
    pair.edit("course.yaml", "metadata: {name: course}", "metadata: {name: kurs}")
    assert pair.diff() == (0, RENAMED, "")


def test_a_head_with_errors_is_reported_without_other_changes(pair: Pair) -> None:
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


def test_exit_code_4_means_that_something_changes(pair: Pair) -> None:
    assert pair.diff("--exit-code").code == 0
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    assert pair.diff("--exit-code").code == 4


def test_an_upgrade_that_changes_only_manifests_reports_the_same_dates_and_seats(pair: Pair) -> None:
    file = pair.was / "rendered/clusters/prod/reservations/course.yaml"
    file.write_text(file.read_text("utf-8").replace("maxSurge: 0", "maxSurge: 1"), "utf-8")
    assert pair.diff().out == (
        "dates and seats are the same; 1 rendered file changed\n../was -> working tree\n\n"
        "Manifests\n~ clusters/prod/reservations/course.yaml: ~Deployment\n"
    )


def test_github_output_has_a_notice_at_the_file(pair: Pair) -> None:
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
def test_invalid_arguments_are_refused(pair: Pair, words: tuple[str, ...], named: str) -> None:
    told = pair.diff(*words, base="")

    assert (told.code, told.out) == (2, "")
    assert named in told.err


def test_diff_is_deterministic(pair: Pair) -> None:
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    assert pair.diff(at=NOW) == pair.diff(at=NOW)


OVERLAP = 'schedule: [{startTime: "10:05", endTime: "10:10"}, '


def with_overlap(folder: Path) -> None:
    """Make two windows of a reservation overlap, which is a warning."""
    file = folder / "reservations/rest.yaml"
    file.write_text(file.read_text("utf-8").replace("schedule: [", OVERLAP), "utf-8")


@pytest.mark.parametrize("form", ["text", "markdown", "github"])
def test_a_warning_is_shown_only_if_it_is_new_or_removed(form: str, pair: Pair) -> None:
    with_overlap(pair.now)
    assert "B031" in pair.diff("-o", form).out

    with_overlap(pair.was)
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    assert "B031" not in pair.diff("-o", form).out
