"""Names of rendered objects: what Kubernetes allows, the same for ever, and different for what differs."""

import re
from fnmatch import fnmatchcase

import pytest
from berth.manifests import naming
from hypothesis import given, settings
from hypothesis import strategies as st

DNS = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?").fullmatch
LABELS = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", fullmatch=True)


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
def test_a_long_name_is_cut_and_ends_with_a_hash_of_the_whole_name(name: str, expected: str) -> None:
    """These are in clusters by now: a change here would make new objects beside the old ones."""
    assert naming.fit(name) == expected


SITES_THAT_MEET_IN_PARTS = [("a", "b-c"), ("a-b", "c"), ("cloud", "a"), ("a-cloud", "b")]


def test_node_pool_names_of_two_sites_never_collide() -> None:
    names = [naming.node_pool(*one) for one in SITES_THAT_MEET_IN_PARTS]
    names += [naming.static_pool(*one) for one in SITES_THAT_MEET_IN_PARTS]

    assert len(set(names)) == len(names)
    assert [name for name in names if fnmatchcase(name, naming.node_pool("a", "*"))] == ["a.cloud.b-c"]


@given(LABELS, LABELS)
def test_a_pattern_matches_every_name_of_its_site_including_cut_names(site: str, other: str) -> None:
    for longer in (other, f"{other}-{site}"):
        assert fnmatchcase(naming.node_pool(site, longer), naming.node_pool(site, "*"))
        assert fnmatchcase(naming.static_pool(site, longer), naming.static_pool(site, "*"))
        for account in (naming.OCCURRENCE, naming.SWEEP):
            assert fnmatchcase(
                naming.nodes_role(site, account, longer), naming.nodes_role(site, account, "*")
            )


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("a" * 42 + "*", "a" * 42 + "*"),
        ("a" * 42 + ".*", "a" * 42 + "*"),
        ("a" * 44 + ".*", "a" * 43 + "*"),
        ("a" * 38 + ".cloud.*", "a" * 38 + ".clou*"),
    ],
    ids=["whole", "its-dot-may-be-cut-off", "cut", "cut-in-a-word"],
)
def test_a_pattern_is_as_narrow_as_cut_names_allow(name: str, pattern: str) -> None:
    assert naming.fit(name) == pattern


def test_a_number_behind_a_long_name_is_not_cut_off() -> None:
    name = "a" * 51

    assert len({naming.cronjob(name, number) for number in range(1, 50)}) == 49


@given(LABELS, LABELS, st.integers(1, 2000))
def test_every_name_is_valid_for_kubernetes_with_its_suffix(one: str, other: str, number: int) -> None:
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


@settings(max_examples=50)
@given(st.lists(LABELS, min_size=2, max_size=10, unique=True))
def test_different_names_stay_different(names: list[str]) -> None:
    assert len({naming.single(name) for name in names}) == len(names)


@given(LABELS, LABELS, st.integers(1, 99), st.integers(0, 10**8))
def test_the_job_name_of_the_sweep_never_equals_a_cron_job_name(
    one: str, other: str, number: int, minute: int
) -> None:
    """Kubernetes ends the name of a CronJob's Job with a number; so no review needs to look for it."""
    of_sweep = f"{naming.single(one)}-sweep"

    assert len(of_sweep) <= 63
    assert of_sweep not in (f"{naming.cronjob(other, number)}-{minute}", f"{naming.SWEEP}-{minute}")


def test_the_longest_names_of_slots_and_profiles_are_within_the_limit() -> None:
    """253 characters, for kinds of other people; a slot ends in ordinal and hash."""
    pool = naming.pool("r" * 63, "c" * 63)

    assert len(f"{naming.slot('s' * 63, pool)}-10000-01234567") < 253
    assert len(naming.affinity_profile("s" * 63, pool, 99)) < 253
    assert len(naming.slot_role("s" * 63, naming.OCCURRENCE)) <= naming.LONGEST
    assert naming.affinity_snippet("r" * 63) != naming.affinity_snippet("r" * 62)
