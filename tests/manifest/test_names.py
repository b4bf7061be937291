"""Names of rendered objects: what Kubernetes allows, the same for ever, and different for what differs."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gen.manifest import naming

DNS = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?").fullmatch
LABELS = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", fullmatch=True)


def test_a_short_name_stays_as_it_is() -> None:
    assert naming.pool("data-science-101", "small") == "data-science-101-small"
    assert naming.single("exam") == naming.cronjob("exam", 1) == "exam"
    assert naming.cronjob("exam", 2) == "exam-2"
    assert naming.cronjob("exam", 12) == "exam-12"
    assert naming.priority_class("example", -10) == "berth-example-10"
    assert naming.session_role("uni") == "berth-uni-sessions"
    assert (naming.RUNTIME, naming.INVENTORY) == ("berth-runtime", "berth-inventory")
    assert (naming.OCCURRENCE, naming.SWEEP) == ("berth-occurrence", "berth-sweep")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a" * 52, "a" * 52),
        ("a" * 53, "a" * 43 + "-abe346a7"),
        ("a" * 60, "a" * 43 + "-11ee3912"),
        ("a" * 63, "a" * 43 + "-7d3e74a0"),
        ("a" * 40 + "---" + "b" * 20, "a" * 40 + "-af4c97d5"),
    ],
    ids=["longest", "one-more", "sixty", "dns-label", "no-hyphen-before-the-hash"],
)
def test_a_long_name_is_cut_and_carries_a_hash_of_the_whole(name: str, expected: str) -> None:
    """These are in clusters by now: a change here would make new objects beside the old ones."""
    assert naming.fit(name) == expected


def test_a_number_behind_a_long_name_is_not_cut_off() -> None:
    name = "a" * 51

    assert len({naming.cronjob(name, number) for number in range(1, 50)}) == 49


@settings(derandomize=True, deadline=None)
@given(LABELS, LABELS, st.integers(1, 2000))
def test_every_name_is_one_that_kubernetes_allows_with_what_it_adds(
    one: str, other: str, number: int
) -> None:
    """It adds eleven characters for the Job of a CronJob."""
    for name in (
        naming.pool(one, other),
        naming.single(one),
        naming.cronjob(one, number),
        naming.priority_class(one, -10),
        naming.session_role(one),
    ):
        assert len(name) <= naming.LONGEST == 63 - 11
        assert DNS(name)


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.lists(LABELS, min_size=2, max_size=10, unique=True))
def test_different_names_stay_different(names: list[str]) -> None:
    assert len({naming.single(name) for name in names}) == len(names)


@settings(derandomize=True, deadline=None)
@given(LABELS, LABELS, st.integers(1, 99), st.integers(0, 10**8))
def test_the_sweeps_job_meets_no_job_that_a_cronjob_makes(
    one: str, other: str, number: int, minute: int
) -> None:
    """Kubernetes ends the name of a CronJob's Job with a number; so no review needs to look for it."""
    of_sweep = f"{naming.single(one)}-sweep"

    assert len(of_sweep) <= 63
    assert of_sweep not in (f"{naming.cronjob(other, number)}-{minute}", f"{naming.SWEEP}-{minute}")


def test_names_for_all_of_a_cluster_carry_the_site() -> None:
    assert naming.slot("uni", "course-small") == "uni-course-small"
    assert naming.slot_role("uni", naming.SWEEP) == "berth-sweep.uni"
    assert naming.affinity_profile("uni", "course-small", 1) == "berth-uni.course-small"
    assert naming.affinity_profile("uni", "course-small", 2) == "berth-uni.course-small.2"


def test_the_longest_names_of_slots_and_profiles_are_within_what_kubernetes_allows() -> None:
    """253 characters, for kinds of other people; a slot ends in ordinal and hash."""
    pool = naming.pool("r" * 63, "c" * 63)

    assert len(f"{naming.slot('s' * 63, pool)}-10000-01234567") < 253
    assert len(naming.affinity_profile("s" * 63, pool, 99)) < 253
    assert len(naming.slot_role("s" * 63, naming.OCCURRENCE)) <= naming.LONGEST
    assert naming.affinity_snippet("r" * 63) != naming.affinity_snippet("r" * 62)
