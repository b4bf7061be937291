"""What the sweep does about the facts of one reservation, case by case: nothing, or this, for this reason."""

import pytest
from berth.core.actions import describe_action
from berth.core.decide import decide
from berth.core.objects import CONFIG_MAP, CRON_JOB, DEPLOYMENT, JOB, LEASE, ObjectKind

from tests.objectstore import Tree
from tests.runtime.sweepworld import (
    cronjob,
    deployment,
    job,
    lease,
    made,
    seen,
    timetable,
)
from tests.runtime.world import COURSE, NEXT, Row, at, clock

OPEN = "Scaled from 0 to 25: course/1 is open and no pod serves it."
START = "Started Job course-sweep: no pod serves course/1."
AGAIN = "Made again Job course-sweep: no pod serves course/1."
CLOSE = "Scaled from 25 to 0: none of its occurrences is open."
IDLE = "Removed Job course-1: it still runs with nothing open."
UNNAMED = "Scaled from 3 to 0: the timetable names no such pool."
FULL, EMPTY = deployment(25), deployment(0)
UNKNOWN = deployment(3, "course-huge")
BASE = [timetable(), cronjob()]
SERVED = [*BASE, job(), lease()]


def judged(now: str, *trees: Tree, unread: tuple[ObjectKind, ...] = ()) -> list[str]:
    found = decide(seen(*trees, now=now, unread=unread), at(now))
    return [describe_action(action)[2] for action in found.actions]


def override(text: str) -> Tree:
    return timetable(annotations={"berth.dev/override": text})


SIXTY = override('{"small": {"target": 60, "until": "2026-02-02T12:00:00Z"}}')
NONE = override('{"small": {"target": 0, "until": "2026-02-02T12:00:00Z"}}')

# By name: the time of day, the objects, and what is to be done.
OPENING: dict[str, tuple[str, list[Tree], list[str]]] = {
    "served": ("09:00", [*SERVED, FULL], []),
    "served-and-lowered-by-its-scaler": ("09:00", [*SERVED, deployment(3)], []),
    "served-and-at-zero": ("09:00", [*SERVED, EMPTY], []),
    "closed": ("07:00", [*BASE, EMPTY], []),
    "over": ("10:00", [*BASE, EMPTY, job(end="Complete")], []),
    "its-own-run-has-half-a-minute": ("07:30:29", [*BASE, EMPTY], []),
    "run-missed": ("07:30:30", [*BASE, EMPTY], [OPEN, START]),
    "run-missed-until-the-last-second": ("09:59:59", [*BASE, EMPTY], [OPEN, START]),
    "pods-of-seats-stand-but-nobody-serves": ("09:00", [*BASE, FULL], [START]),
    "raised-by-hand-and-nobody-serves": (
        "09:00",
        [*BASE, deployment(100)],
        ["Scaled from 100 to 25: course/1 is open and no pod serves it.", START],
    ),
    "run-just-begun": ("07:30:40", [*BASE, EMPTY, job(created="07:30:10")], [OPEN]),
    "run-without-a-pod": ("07:32:10", [*BASE, EMPTY, job(created="07:30:10")], [OPEN, START]),
    "run-failed": ("09:00", [*BASE, EMPTY, job(end="Failed")], [OPEN, START]),
    "run-complete-too-early": ("09:00", [*BASE, EMPTY, job(end="Complete")], [OPEN, START]),
    "complete-just-now": ("09:00", [*BASE, EMPTY, job(created="08:59:55", end="Complete")], [OPEN, START]),
    "job-going": (
        "09:00",
        [*BASE, FULL, job(created="08:59:50", metadata={"deletionTimestamp": "2026-02-02T08:59:55Z"})],
        [START],
    ),
    "own-job-failed": ("09:00", [*BASE, FULL, job("course-sweep", end="Failed")], [AGAIN]),
    "own-job-complete": ("09:00", [*BASE, FULL, job("course-sweep", end="Complete")], [AGAIN]),
    "own-job-stuck": (
        "09:00",
        [*BASE, FULL, job("course-sweep")],
        [AGAIN],
    ),
    "own-job-just-made": ("09:00", [*BASE, FULL, job("course-sweep", created="08:58:01")], []),
    "own-job-not-six-minutes-old": ("09:00", [*BASE, FULL, job("course-sweep", created="08:54:01")], []),
    "own-job-six-minutes-old": ("09:00", [*BASE, FULL, job("course-sweep", created="08:54")], [AGAIN]),
    "renewed-not-a-minute-ago": ("09:00", [*BASE, EMPTY, job(), lease("08:59:01")], []),
    "not-renewed-for-a-minute": ("09:00", [*BASE, EMPTY, job(), lease("08:59")], [OPEN, START]),
    "given-up-a-moment-ago": ("09:00", [*BASE, EMPTY, job(), lease("08:59:01", holder="")], []),
    "renewed-in-the-future": ("09:00", [*BASE, EMPTY, job(), lease("09:01")], [OPEN, START]),
    "the-lease-of-another-pool": ("09:00", [*BASE, EMPTY, lease(name="other-small")], [OPEN, START]),
    "without-cronjob": ("09:00", [timetable(), EMPTY], [OPEN]),
    "cronjob-going": (
        "09:00",
        [timetable(), EMPTY, cronjob(metadata={"deletionTimestamp": "2026-02-02T08:59:55Z"})],
        [OPEN],
    ),
    "any-cronjob-will-do": ("09:00", [timetable(), FULL, cronjob("course-2")], [START]),
    "without-deployment": ("09:00", BASE, [START]),
    "deployment-going": (
        "09:00",
        [*SERVED, deployment(0, metadata={"deletionTimestamp": "2026-02-02T08:59:55Z"})],
        [],
    ),
}
CLOSING: dict[str, tuple[str, list[Tree], list[str]]] = {
    "at-the-end-with-nobody-there": ("10:00", [*BASE, FULL], [CLOSE]),
    "at-the-end-the-pod-closes": ("10:00", [*SERVED, FULL], []),
    "the-pod-had-half-a-minute": ("10:00:29", [*SERVED, FULL], []),
    "the-pod-closed-and-goes": ("10:00:29", [*SERVED, EMPTY], []),
    "the-pod-closed-and-did-not-go": ("10:00:30", [*SERVED, EMPTY], [IDLE]),
    "the-pod-did-neither": ("10:00:30", [*SERVED, FULL], [CLOSE, IDLE]),
    "a-pod-that-never-began": ("10:00:30", [*BASE, FULL, job()], [CLOSE, IDLE]),
    "young-job": ("11:00", [*BASE, EMPTY, job(created="10:59:01")], []),
    "idle-job": ("11:00", [*BASE, EMPTY, job(created="10:59")], [IDLE]),
    "finished-job": ("11:00", [*BASE, EMPTY, job(end="Failed")], []),
    "job-going": ("11:00", [*BASE, EMPTY, job(metadata={"deletionTimestamp": "2026-02-02T10:59:55Z"})], []),
    "idle-job-that-waits": ("07:28", [*BASE, EMPTY, job(created="07:00"), lease()], []),
    "idle-job-long-before": ("07:27:59", [*BASE, EMPTY, job(created="07:00"), lease()], [IDLE]),
    "raised-before-it-opens-and-served": ("07:29", [*BASE, FULL, job(created="07:28"), lease()], []),
    "raised-before-it-opens": ("07:29", [*BASE, FULL], [CLOSE]),
    "created-with-one": (
        "07:00",
        [*BASE, deployment(1)],
        ["Scaled from 1 to 0: none of its occurrences is open."],
    ),
    "suspended": ("09:00", [timetable(suspend=True), cronjob(), FULL], [CLOSE]),
    "suspended-just-now": (
        "09:00",
        [timetable(suspend=True, changed="08:59:01"), cronjob(), FULL, job(), lease()],
        [],
    ),
    "suspended-and-not-seen-for-a-minute": (
        "09:00",
        [timetable(suspend=True, changed="08:59"), cronjob(), FULL, job(), lease()],
        [CLOSE, IDLE],
    ),
    "suspended-and-not-ended-after-a-minute": (
        "09:00",
        [timetable(suspend=True, changed="08:59"), cronjob(), EMPTY, job(), lease()],
        [IDLE],
    ),
    "a-pool-that-is-not-named": ("09:00", [*SERVED, FULL, deployment(3, "course-huge")], [UNNAMED]),
    "a-pool-that-was-named-just-now-while-the-others-are-held": (
        "09:00",
        [timetable(changed="08:59:01"), FULL, job(), UNKNOWN, lease()],
        [UNNAMED],
    ),
    "a-pool-that-was-named-just-now-while-the-others-are-not-held": (
        "09:00",
        [timetable(changed="08:59:01"), deployment(25, ready=24), job(), UNKNOWN, lease()],
        [],
    ),
    "a-pool-that-was-named-a-minute-ago-whatever-is-held": (
        "09:00",
        [timetable(changed="08:59"), deployment(25, ready=0), job(), UNKNOWN, lease()],
        [UNNAMED],
    ),
    "a-pool-that-was-named-just-now-and-nobody-serves": (
        "09:00",
        [timetable(changed="08:59:01"), cronjob(), EMPTY, UNKNOWN],
        [OPEN, START],
    ),
    "a-pool-that-was-named-just-now-with-nothing-open": (
        "11:00",
        [timetable(changed="10:59:01"), cronjob(), EMPTY, UNKNOWN],
        [UNNAMED],
    ),
    "a-job-without-our-role": ("11:00", [*BASE, EMPTY, job(labels={"berth.dev/role": "other"})], []),
}
OVERRIDING: dict[str, tuple[str, list[Tree], list[str]]] = {
    "open-and-nobody-serves": (
        "09:00",
        [SIXTY, cronjob(), FULL],
        ["Scaled from 25 to 60: an override says so.", START],
    ),
    "closed": ("11:00", [SIXTY, cronjob(), EMPTY], ["Scaled from 0 to 60: an override says so."]),
    "as-it-is": ("11:00", [SIXTY, cronjob(), deployment(60)], []),
    "left-to-the-pod": ("09:00", [SIXTY, cronjob(), FULL, job(), lease()], []),
    "not-left-to-a-pod-that-ends": (
        "10:00:10",
        [SIXTY, cronjob(), FULL, job(), lease()],
        ["Scaled from 25 to 60: an override says so."],
    ),
    "whoever-serves-stays-with-it": ("11:00", [SIXTY, cronjob(), deployment(60), job(), lease()], []),
    "of-zero-holds-no-pod": ("11:00", [NONE, cronjob(), EMPTY, job(), lease()], [IDLE]),
    "over-and-the-pod-closes": ("12:00:29", [SIXTY, cronjob(), deployment(60), job(), lease()], []),
    "over-and-the-pod-did-not-close": (
        "12:00:30",
        [SIXTY, cronjob(), deployment(60), job(), lease()],
        ["Scaled from 60 to 0: none of its occurrences is open.", IDLE],
    ),
    "to-zero": ("09:00", [NONE, cronjob(), FULL], ["Scaled from 25 to 0: an override says so.", START]),
    "over": ("12:00", [SIXTY, deployment(60)], ["Scaled from 60 to 0: none of its occurrences is open."]),
    "malformed": ("09:00", [override("{}["), cronjob(), EMPTY], [OPEN, START]),
    "of-no-pool": ("09:00", [override('{"huge": {"target": 1, "until": "2026-02-02T12:00:00Z"}}'), FULL], []),
}


@pytest.mark.parametrize(
    ("now", "trees", "expected"),
    [
        pytest.param(*case, id=f"{group}-{name}")
        for group, cases in (("open", OPENING), ("close", CLOSING), ("override", OVERRIDING))
        for name, case in cases.items()
    ],
)
def test_what_is_done(now: str, trees: list[Tree], expected: list[str]) -> None:
    # In whatever order they are thought of.
    assert sorted(judged(now, *trees)) == sorted(expected)


@pytest.mark.parametrize("trees", [SERVED, [*BASE, job()]], ids=["hangs", "never-began"])
def test_whenever_it_comes_round_nothing_is_left_six_minutes_after_the_end(trees: list[Tree]) -> None:
    """It comes every five minutes, and half a minute is left for the round itself."""
    end = at("10:00")
    for phase in range(300):
        rounds = [second for second in (phase, phase + 300) if second <= 330]
        done = [
            decide(seen(*trees, FULL, now=clock(end + second)), end + second).actions for second in rounds
        ]
        assert [CLOSE, IDLE] in [[describe_action(action)[2] for action in actions] for actions in done], (
            phase
        )


def test_pools_open_before_others_close_before_jobs_start_before_jobs_go() -> None:
    others = [timetable(name=name) for name in ("a", "z")]
    trees = [
        *BASE,
        EMPTY,
        *others,
        deployment(0, "a-small", reservation="a"),
        cronjob("a", reservation="a"),
        timetable(NEXT, name="m"),
        deployment(25, "m-small", reservation="m"),
        job("m-1", reservation="m"),
    ]

    assert [said.split(":")[0] for said in judged("09:00", *trees)] == [
        "Scaled from 0 to 25",
        "Scaled from 25 to 0",
        "Started Job a-sweep",
        "Started Job course-sweep",
        "Removed Job m-1",
    ]


def test_two_classes_and_two_occurrences_are_opened_as_a_run_would() -> None:
    """The second occurrence is in its lead: the larger of both, not their sum."""
    rows: tuple[Row, ...] = (
        (*COURSE[:4], {"small": 20}),
        ("course/2", "09:30", "10:00", "12:00", {"small": 30, "huge": 2}),
    )
    text = timetable(*rows, pools={"small": "course-small", "huge": "course-huge"})

    found = judged("09:45", text, EMPTY, deployment(0, "course-huge"))

    assert found == [
        "Scaled from 0 to 2: course/2 is open and no pod serves it.",
        "Scaled from 0 to 30: course/1, course/2 is open and no pod serves it.",
    ]


@pytest.mark.parametrize(
    ("unread", "opened", "closed"),
    [
        pytest.param((), [OPEN, START], [CLOSE, IDLE], id="all-read"),
        pytest.param((CONFIG_MAP,), [], [], id="timetables"),
        pytest.param((DEPLOYMENT,), [START], [], id="deployments"),
        pytest.param((LEASE,), [], [], id="leases"),
        pytest.param((JOB,), [OPEN], [CLOSE], id="jobs"),
        pytest.param((CRON_JOB,), [OPEN], [CLOSE], id="cronjobs"),
    ],
)
def test_without_a_list_only_what_needs_it_is_left(
    unread: tuple[ObjectKind, ...], opened: list[str], closed: list[str]
) -> None:
    stuck = job(created="07:00", end="")

    assert judged("09:00", *BASE, EMPTY, stuck, unread=unread) == opened
    assert judged("11:00", *BASE, FULL, stuck, unread=unread) == closed


def test_a_config_map_that_borrows_the_labels_is_no_timetable() -> None:
    assert judged("09:00", made(CONFIG_MAP, "a"), *BASE, FULL) == [START]
