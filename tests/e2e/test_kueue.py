"""Kueue admits Jobs by a quota that follows a window, whether the quota itself does or what is lent of it."""

import json
from collections.abc import Iterator

import pytest

from tests.e2e import kueue
from tests.e2e.cluster import Cluster, KubectlError
from tests.e2e.direct import Direct
from tests.e2e.kueuestory import ALL, HALF, SPACE, KueueStory, NumberLook, QueueState, Told
from tests.e2e.sidebyside import Stage, Stories
from tests.e2e.windows import MINUTE, sleep_until

EARLY = MINUTE  # seconds before its minute that Kueue starts
SOON = 30  # seconds after which a window has an effect at the latest, also on a busy machine


def tell(stage: Stage) -> Told:
    cluster, direct = stage.cluster, Direct()
    stage.undo.callback(direct.close)
    sleep_until(stage.opens - EARLY)
    component = kueue.start(cluster)
    stage.undo.callback(cluster.kubectl, "delete", "namespace", SPACE, kueue.SYSTEM, "--wait=false")
    try:
        return KueueStory(cluster, direct).happen()
    finally:
        kueue.remove(cluster, component)


@pytest.fixture(scope="module")
def told(side_by_side: Stories) -> Iterator[Told]:
    with side_by_side.judged(__name__) as told:
        yield told


def running(state: QueueState, *queues: str) -> list[int]:
    return [state.running[queue] for queue in queues]


def test_without_quota_a_job_waits_and_others_have_all_of_it(told: Told) -> None:
    state = told.states["before"]

    assert running(state, "course", "research") == [0, ALL]
    assert state.waiting["course"] == 1


def test_at_the_opening_a_job_of_the_course_evicts_as_many_as_it_needs(told: Told) -> None:
    """Lowering the quota of the others alone evicts nobody: the one Job takes the place of one."""
    assert running(told.states["opened"], "course", "research") == [1, ALL - 1]
    assert running(told.states["filled"], "course", "research") == [HALF, HALF]
    assert told.states["filled"].evicted["research"] == HALF
    assert max(told.seconds["opened"], told.seconds["filled"]) < SOON


def test_beyond_the_quota_a_job_of_the_course_waits(told: Told) -> None:
    assert told.states["filled"].waiting["course"] == 1


def test_at_the_end_what_runs_goes_on_and_what_waits_goes_on_waiting(told: Told) -> None:
    """The others get back what the course leaves."""
    assert told.states["ended"] == told.states["filled"]
    assert running(told.states["left"], "course", "research") == [HALF - 1, HALF + 1]


def test_others_that_reclaim_evict_the_course_after_the_end(told: Told) -> None:
    state = told.states["reclaimed"]

    assert running(state, "course", "research") == [0, ALL]
    assert state.evicted["course"] == HALF - 1


def test_only_a_quota_that_is_lent_lets_borrowers_in(told: Told) -> None:
    assert running(told.states["not lent"], "guests") == [0]
    assert told.seconds["lent"] < SOON


def test_a_quota_that_is_no_longer_lent_lets_no_borrower_in_and_evicts_none(told: Told) -> None:
    assert running(told.states["closed to guests"], "guests") == [HALF]
    assert running(told.states["no more guests"], "guests") == [HALF - 1]


def test_the_owner_of_the_quota_evicts_borrowers(told: Told) -> None:
    assert running(told.states["exam"], "exam", "guests") == [HALF, 0]
    assert told.seconds["exam"] < SOON


def test_a_quota_that_is_lent_again_goes_to_borrowers_as_it_gets_free(told: Told) -> None:
    assert running(told.states["lent again"], "exam", "guests") == [HALF, 0]
    assert running(told.states["guests again"], "exam", "guests") == [HALF - 2, 2]


def test_a_quota_cannot_be_left_out_of_git(told: Told, cluster: Cluster) -> None:
    del told  # its kinds are there
    flavors = [{"name": "lab", "resources": [{"name": "cpu"}]}]
    document = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "none"},
        "spec": {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}]},
    }

    with pytest.raises(KubectlError, match="nominalQuota: Required value"):
        cluster.apply(json.dumps(document), server_dry_run=True)


def test_a_number_and_its_text_are_the_same_quota(told: Told) -> None:
    """Berth writes neither over the other, and neither becomes the other."""
    assert told.quotas["held"] == NumberLook(HALF, is_noted=True)
    assert told.writes == [False]
    assert told.quotas["text"] == NumberLook(str(HALF), is_noted=True)


def test_the_end_brings_back_a_quota_as_it_was_written(told: Told) -> None:
    before = NumberLook(str(ALL), is_noted=False)

    assert (told.quotas["before"], told.quotas["released"]) == (before, before)


def test_the_end_brings_back_that_nothing_is_lent(told: Told) -> None:
    assert told.lendings["held"] == NumberLook(HALF, is_noted=True)
    assert told.lendings["released"] == told.lendings["before"]
    assert told.lendings["before"] in (NumberLook(0, is_noted=False), NumberLook("0", is_noted=False))
