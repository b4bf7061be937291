"""Sixteen kinds of faults on the real cluster, side by side: seats stand all the same, and nothing is left.

`tell` lets everything go wrong by a timeline and records every pool twice a second; each test judges its own
pool from the record. docs/reliability.md has the table. Fault 13, of two clusters, is in the story of `berth
status`.
"""

import pytest

from tests.e2e import faultcases, podchanges
from tests.e2e.faultcases import (
    AGAIN,
    CASES,
    COUNT,
    DROPPED,
    FILLER,
    NAMESPACE,
    OTHER_NAMESPACE,
    UNPULLABLE,
    Case,
    case,
)
from tests.e2e.faultrecord import at, ends_at, looks, promises, write_down
from tests.e2e.faults import Step
from tests.e2e.faultworld import World
from tests.e2e.seats import clean_after, longest_shortage, surplus
from tests.e2e.sidebyside import Stage
from tests.e2e.windows import MINUTE, sleep_until, wait_until

LAST = 14  # minute at which the last window ends
DROPPED_AT = 6
QUICK_SWEEP = 20  # seconds
LATEST = 6 * MINUTE  # seconds after `end` until which anything may be left
RESET = 10  # seconds


def tell(stage: Stage) -> World:
    made = World(stage.cluster, stage.folder, stage.opens)
    stage.undo.enter_context(made.prepared())
    sessions = [
        Step(one.opens + 0.5, lambda one=one: made.add_sessions(one.name, one.sessions))  # type: ignore[misc]
        for one in (*CASES, AGAIN)
        if one.sessions and one.fault != 6
    ]
    other = [
        Step(4.5, made.apply_other),
        Step(DROPPED_AT, made.drop),
        Step(faultcases.SERVER_AWAY[0] - 0.3, made.keep_pods),
    ]
    made.faults.run([*made.faults.steps(), *sessions, *other], LAST)
    _wait_until_clean(made)
    made.record.stop()
    write_down(made)
    return made


@pytest.fixture
def world(story: World) -> World:
    return story


def _wait_until_clean(world: World) -> None:
    """At most the six minutes; once nothing is left and a sweep has passed there is nothing to wait for."""
    sleep_until(world.opens + faultcases.SWEEPS[-1] * MINUTE + QUICK_SWEEP)
    latest = LATEST if not podchanges.without() else 0  # something will be left for ever
    wait_until(
        lambda: all(world.record.looks[one.pool][-1].is_clean for one in CASES),
        world.opens + LAST * MINUTE + latest,
    )


def ids(one: Case) -> str:
    return f"{one.fault}-{one.name}"


def test_every_fault_happened(world: World) -> None:
    assert world.faults.failed == []


@pytest.mark.parametrize("one", CASES, ids=ids)
def test_seats_are_never_missing_for_longer_than_the_bound(world: World, one: Case) -> None:
    """Placeholders and the course's sessions are never fewer than promised for longer than the bound."""
    assert any(look.at >= at(world, one.ends) for look in looks(world, one.name))

    assert longest_shortage(looks(world, one.name), promises(world, one)) <= one.short


@pytest.mark.parametrize("one", CASES, ids=ids)
def test_no_placeholders_or_running_jobs_are_left_after_the_end(world: World, one: Case) -> None:
    """No placeholder, no Job that runs: soon after the end, and for good."""
    after = clean_after(looks(world, one.name), ends_at(world, one))

    assert after is not None
    assert after <= min(one.clean, LATEST)


@pytest.mark.parametrize("one", CASES, ids=ids)
def test_no_placeholders_exist_before_the_window(world: World, one: Case) -> None:
    assert surplus(looks(world, one.name), 0, at(world, one.opens)) == 0


def settled(name: str) -> float:
    """The minute by which its seats stand."""
    return case(name).opens + faultcases.STARTED / MINUTE


def wanted(world: World, name: str, first: float, last: float) -> set[int]:
    return {look.wanted for look in looks(world, name) if at(world, first) <= look.at < at(world, last)}


def test_a_second_job_does_not_change_the_pool(world: World) -> None:
    assert max(look.jobs for look in looks(world, "doubled")) == 2
    assert wanted(world, "doubled", settled("doubled"), 7) == {COUNT}


@pytest.mark.parametrize(
    "name", ["deleted-five-times", "out-of-memory", "job-deleted", "job-failed", "cronjob-deleted"]
)
def test_the_pool_does_not_change_while_no_pod_serves_it(world: World, name: str) -> None:
    assert wanted(world, name, settled(name), 7) == {COUNT}


@pytest.mark.parametrize("name", ["evicted", "node-lost", "token-rotated", "timetable-broken"])
def test_the_session_still_counts_after_the_fault(world: World, name: str) -> None:
    """After the fault too: three placeholders and one session."""
    assert wanted(world, name, 6, 7) == {COUNT - 1}


def test_the_container_was_killed_for_its_memory(world: World) -> None:
    """By the kernel; the kubelet started it anew in the same pod."""
    (scaler,) = [
        one for pod in world.pods_of("out-of-memory") for one in pod["status"]["initContainerStatuses"]
    ]
    ended = scaler["lastState"]["terminated"]

    assert (ended["reason"], ended["exitCode"], scaler["restartCount"]) == ("OOMKilled", 137, 1)


@pytest.mark.parametrize("name", ["job-deleted", "job-failed"])
def test_the_sweep_starts_a_fresh_job(world: World, name: str) -> None:
    job = world.direct.get(f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/{name}-sweep")

    assert job["status"].get("succeeded") == 1


@pytest.mark.parametrize("fault", ["denied", "errors", "silence", "nonsense"])
def test_sessions_that_were_never_read_leave_the_full_count(world: World, fault: str) -> None:
    assert wanted(world, f"{fault}-from-the-start", 3.2, 7) == {COUNT}


@pytest.mark.parametrize("fault", ["errors", "silence", "nonsense"])
def test_sessions_that_become_unreadable_count_as_last_seen(world: World, fault: str) -> None:
    """For ten minutes, which is longer than this window."""
    assert wanted(world, f"{fault}-later", 3.2, 7) == {COUNT - 2}


def test_sessions_that_become_unreadable_stop_counting_after_ten_minutes(world: World) -> None:
    """Then what cannot be read counts as nobody. The API server itself was away in the meantime."""
    name = faultcases.LONG_ERRORS
    blind = (world.faults.happened[name] - world.opens) / MINUTE

    assert wanted(world, name, blind, blind + 9.9) == {COUNT - 2}
    assert wanted(world, name, blind + 10.7, 14) == {COUNT}


def test_ten_thousand_sessions_are_counted(world: World) -> None:
    assert wanted(world, "crowd-from-the-start", 4, 7) == {0}
    assert wanted(world, "crowd-later", 3.2, 4) == {COUNT}
    assert wanted(world, "crowd-later", 6, 7) == {0}


@pytest.mark.parametrize(
    ("name", "step"),
    [
        pytest.param("scaled-by-hand", "scaled-by-hand 0", id="to-zero"),
        pytest.param("scaled-by-hand", "scaled-by-hand 100", id="to-hundred"),
        pytest.param("token-rotated", "token-rotated 0", id="with-a-new-token"),
        pytest.param("deployment-deleted", "deployment-deleted", id="as-an-engine-makes-it-anew"),
    ],
)
def test_a_scale_by_another_writer_is_corrected(world: World, name: str, step: str) -> None:
    """The new token is the only way to do so after the old one has lost its account."""
    done = world.faults.happened[step]
    later = [look for look in looks(world, name) if done + RESET <= look.at < done + 20]

    assert {look.wanted for look in later} == {COUNT - case(name).sessions}


def test_a_scaler_that_stops_is_replaced_with_its_pod(world: World) -> None:
    """Nobody lowers or raises meanwhile; after two minutes the main container ends the pod."""
    name = "sidecar-stops"
    ended = [
        one["state"]["terminated"]["exitCode"]
        for pod in world.pods_of(name)
        for one in pod["status"]["containerStatuses"]
    ]

    assert wanted(world, name, 3.9, 7) == {COUNT - 1}
    assert sorted(ended) == [0, 1]


def first_with(world: World, name: str, replicas: int, since: float) -> float:
    """Seconds from then until so many were asked for."""
    found = [look.at for look in looks(world, name) if look.at >= since and look.wanted == replicas]
    assert found, f"{name} never wanted {replicas}"
    return found[0] - since


@pytest.mark.parametrize(
    ("name", "replicas"), [("raised", 7), ("lowered", 2), ("other-day", 0), ("suspended", 0)]
)
def test_an_edit_acts_within_a_minute(world: World, name: str, replicas: int) -> None:
    assert first_with(world, name, replicas, world.faults.happened[name]) <= faultcases.EDITED


def test_a_changed_recognition_of_sessions_does_not_change_the_pool(world: World) -> None:
    """The session that counts is the same; while the new list is not there, its last number stays."""
    assert wanted(world, "recognized-otherwise", 3.5, 7) == {COUNT - 1}


@pytest.mark.parametrize("name", faultcases.SLOW_ADMISSION)
def test_a_slow_webhook_does_not_change_the_pool_or_cause_another_job(world: World, name: str) -> None:
    assert wanted(world, name, 3.5, 7) == {COUNT - 1}
    assert max(look.jobs for look in looks(world, name)) == 1


def test_a_withdrawn_reservation_is_removed_except_for_its_record(world: World) -> None:
    for kind in ("cronjobs", "jobs"):
        found = world.direct.items(f"/apis/batch/v1/namespaces/{NAMESPACE}/{kind}?{_of('withdrawn')}")
        assert found == []
    for kind, left in (("pods", []), ("configmaps", ["withdrawn-record"])):
        found = world.direct.items(f"/api/v1/namespaces/{NAMESPACE}/{kind}?{_of('withdrawn')}")
        assert [one["metadata"]["name"] for one in found] == left


def _of(name: str) -> str:
    return f"labelSelector=berth.dev/reservation={name}"


def test_the_job_of_a_window_preempts_a_placeholder_on_a_full_node(world: World) -> None:
    """The only node that it may run on was full of placeholders; its window opened all the same."""
    before = [look for look in looks(world, FILLER.name) if look.at < at(world, 3)]
    opened = 3 + first_with(world, "full", COUNT, at(world, 3)) / MINUTE
    during = [look for look in looks(world, FILLER.name) if at(world, opened) <= look.at < at(world, 4)]
    most = max(look.placed for look in before)

    assert 0 < most < FILLER.seats, "the node was not full"
    assert {look.placed for look in during} == {most - 1}
    assert wanted(world, "full", opened, 4) == {COUNT}


def test_an_image_that_cannot_be_pulled_gets_a_warning_event(world: World) -> None:
    """In Events on the Deployment; nothing of it is left after the end either."""
    said = [
        event
        for event in world.events()
        if event["involvedObject"]["name"] == f"{UNPULLABLE.name}-real" and event["type"] == "Warning"
    ]

    assert {event["reason"] for event in said} == {"SeatsNotReady"}
    assert clean_after(looks(world, UNPULLABLE.name), at(world, UNPULLABLE.ends)) is not None


def test_applying_again_without_an_engine_does_not_change_the_pool(world: World) -> None:
    """Nor does its sweep, whose node's clock is ten minutes behind."""
    assert wanted(world, AGAIN.name, settled(AGAIN.name), 7) == {COUNT - 1}
    assert longest_shortage(looks(world, AGAIN.name), promises(world, AGAIN)) <= AGAIN.short
    after = clean_after(looks(world, AGAIN.name), at(world, AGAIN.ends))
    assert after is not None
    assert after <= AGAIN.clean


def test_without_an_engine_the_sweep_removes_reservations_not_in_the_inventory(world: World) -> None:
    """Of 60 minutes, this window has most before it."""
    assert wanted(world, DROPPED.name, settled(DROPPED.name), DROPPED_AT) == {COUNT}
    after = clean_after(looks(world, DROPPED.name), at(world, DROPPED_AT))
    assert after is not None
    assert after <= LATEST
    for kind in ("apps/v1", "batch/v1"):
        plural = "deployments" if kind == "apps/v1" else "cronjobs"
        where = f"/apis/{kind}/namespaces/{OTHER_NAMESPACE}/{plural}?{_of(DROPPED.name)}"
        assert world.direct.items(where) == []


def test_windows_with_an_unharmed_job_get_no_job_of_the_sweep(world: World) -> None:
    """Of those whose Job was never harmed, the sweep had nothing to do."""
    harmed = {"deleted-five-times", "job-complete-too-early", "sidecar-cannot-start", "sidecar-crashes"}
    swept = {
        job["metadata"]["labels"]["berth.dev/reservation"]
        for job in world.direct.items(f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs")
        if job["metadata"]["name"].endswith("-sweep")
    }

    assert swept - harmed - {one.name for one in CASES if one.fault == 4} == set()
    assert case("doubled").name not in swept
