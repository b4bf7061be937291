"""What the sweep does about the facts of one reservation, case by case, and when it is gone."""

import json
from copy import deepcopy
from random import Random
from typing import Any

import pytest
from berth.core.actions import describe_action
from berth.core.decide import decide
from berth.core.jsonvalues import instant_text
from berth.core.objects import CONFIG_MAP, CRON_JOB, DEPLOYMENT, JOB, LEASE, ROLE, ObjectKind
from berth.core.objects import RIGHTS as RIGHTS_KINDS
from berth.runtime.apiclient import Response

from tests.objectstore import Tree, refusal
from tests.runtime.heldworld import HPA, number_text
from tests.runtime.slotworld import slot_text
from tests.runtime.sweepworld import (
    Swept,
    cronjob,
    deployment,
    inventory,
    job,
    lease,
    made,
    missed,
    record,
    seen,
    timetable,
)
from tests.runtime.timetables import COURSE, NEXT, at, timetable_text

OPEN = "Scaled from 0 to 25: course/1 is open and no pod serves it."
START = "Started Job course-sweep: no pod serves course/1."
AGAIN = "Made again Job course-sweep: no pod serves course/1."
CLOSE = "Scaled from 25 to 0: none of its occurrences is open."
IDLE = "Removed Job course-1: it still runs with nothing open."
UNNAMED = "Scaled from 3 to 0: the timetable names no such pool."
FULL, EMPTY = deployment(25), deployment(0)
UNKNOWN = deployment(3, "course-huge")
BASE = [timetable(), cronjob()]
POD = [job(), lease()]
SERVED = [*BASE, *POD]
GOING = {"deletionTimestamp": "2026-02-02T08:59:55Z"}


def own(created: str = "07:30", end: str = "") -> list[Tree]:
    """A full pool beside the Job that the sweep made."""
    return [*BASE, FULL, job("course-sweep", created, end)]


def scaled(before: int, after: int, why: str) -> str:
    return f"Scaled from {before} to {after}: {why}."


def override(text: str) -> Tree:
    return timetable(annotations={"berth.dev/override": text})


def edited(changed: str, **more: Any) -> list[Tree]:
    return [timetable(changed=changed, **more), cronjob()]


SIXTY = [override('{"small": {"target": 60, "until": "2026-02-02T12:00:00Z"}}'), cronjob()]
NONE = [override('{"small": {"target": 0, "until": "2026-02-02T12:00:00Z"}}'), cronjob()]
IN_FORCE, NOT_OPEN = "an override says so", "none of its occurrences is open"

# By name: the time of day, the objects, and what is to be done.
OPENING: dict[str, tuple[str, list[Tree], list[str]]] = {
    "served": ("09:00", [*SERVED, FULL], []),
    "lowered-by-its-scaler": ("09:00", [*SERVED, deployment(3)], []),
    "closed": ("07:00", [*BASE, EMPTY], []),
    "over": ("10:00", [*BASE, EMPTY, job(end="Complete")], []),
    "its-own-run-has-half-a-minute": ("07:30:29", [*BASE, EMPTY], []),
    "run-missed": ("07:30:30", [*BASE, EMPTY], [OPEN, START]),
    "run-missed-until-the-last-second": ("09:59:59", [*BASE, EMPTY], [OPEN, START]),
    "raised-by-hand": ("09:00", [*BASE, deployment(100)], [OPEN.replace("0 to", "100 to"), START]),
    "run-just-begun": ("07:30:40", [*BASE, EMPTY, job(created="07:30:10")], [OPEN]),
    "run-without-a-pod": ("07:32:10", [*BASE, EMPTY, job(created="07:30:10")], [OPEN, START]),
    "run-failed": ("09:00", [*BASE, EMPTY, job(end="Failed")], [OPEN, START]),
    "complete-just-now": ("09:00", [*BASE, EMPTY, job(created="08:59:55", end="Complete")], [OPEN, START]),
    "job-going": ("09:00", [*BASE, FULL, job(created="08:59:50", metadata=GOING)], [START]),
    "own-job-failed": ("09:00", own(end="Failed"), [AGAIN]),
    "own-job-just-made": ("09:00", own("08:58:01"), []),
    "own-job-not-six-minutes-old": ("09:00", own("08:54:01"), []),
    "own-job-six-minutes-old": ("09:00", own("08:54"), [AGAIN]),
    "renewed-not-a-minute-ago": ("09:00", [*BASE, EMPTY, job(), lease("08:59:01")], []),
    "not-renewed-for-a-minute": ("09:00", [*BASE, EMPTY, job(), lease("08:59")], [OPEN, START]),
    "given-up-a-moment-ago": ("09:00", [*BASE, EMPTY, job(), lease("08:59:01", holder="")], []),
    "renewed-in-the-future": ("09:00", [*BASE, EMPTY, job(), lease("09:01")], [OPEN, START]),
    "without-cronjob": ("09:00", [timetable(), EMPTY], [OPEN]),
    "cronjob-going": ("09:00", [timetable(), EMPTY, cronjob(metadata=GOING)], [OPEN]),
    "any-cronjob-will-do": ("09:00", [timetable(), FULL, cronjob("course-2")], [START]),
    "without-deployment": ("09:00", BASE, [START]),
    "deployment-going": ("09:00", [*SERVED, deployment(0, metadata=GOING)], []),
}
CLOSING: dict[str, tuple[str, list[Tree], list[str]]] = {
    "at-the-end-with-nobody-there": ("10:00", [*BASE, FULL], [CLOSE]),
    "the-pod-had-half-a-minute": ("10:00:29", [*SERVED, FULL], []),
    "the-pod-closed-and-goes": ("10:00:29", [*SERVED, EMPTY], []),
    "the-pod-closed-and-did-not-go": ("10:00:30", [*SERVED, EMPTY], [IDLE]),
    "the-pod-did-neither": ("10:00:30", [*SERVED, FULL], [CLOSE, IDLE]),
    "a-pod-that-never-began": ("10:00:30", [*BASE, FULL, job()], [CLOSE, IDLE]),
    "young-job": ("11:00", [*BASE, EMPTY, job(created="10:59:01")], []),
    "idle-job": ("11:00", [*BASE, EMPTY, job(created="10:59")], [IDLE]),
    "finished-job": ("11:00", [*BASE, EMPTY, job(end="Failed")], []),
    "job-going": ("11:00", [*BASE, EMPTY, job(metadata=GOING)], []),
    "idle-job-that-waits": ("07:28", [*BASE, EMPTY, job(created="07:00"), lease()], []),
    "idle-job-long-before": ("07:27:59", [*BASE, EMPTY, job(created="07:00"), lease()], [IDLE]),
    "raised-before-it-opens-and-served": ("07:29", [*BASE, FULL, job(created="07:28"), lease()], []),
    "raised-before-it-opens": ("07:29", [*BASE, FULL], [CLOSE]),
    "suspended": ("09:00", [*edited("00:00", suspend=True), FULL], [CLOSE]),
    "suspended-just-now": ("09:00", [*edited("08:59:01", suspend=True), FULL, *POD], []),
    "suspended-a-minute-ago": ("09:00", [*edited("08:59", suspend=True), FULL, *POD], [CLOSE, IDLE]),
    "not-named": ("09:00", [*SERVED, FULL, UNKNOWN], [UNNAMED]),
    "named-just-now-and-the-others-are-held": (
        "09:00",
        [*edited("08:59:01"), *POD, FULL, UNKNOWN],
        [UNNAMED],
    ),
    "named-just-now-and-they-are-not": (
        "09:00",
        [*edited("08:59:01"), *POD, deployment(25, ready=24), UNKNOWN],
        [],
    ),
    "named-a-minute-ago": ("09:00", [*edited("08:59"), *POD, deployment(25, ready=0), UNKNOWN], [UNNAMED]),
    "named-just-now-with-nothing-open": ("11:00", [*edited("10:59:01"), EMPTY, UNKNOWN], [UNNAMED]),
    "a-job-without-our-role": ("11:00", [*BASE, EMPTY, job(labels={"berth.dev/role": "other"})], []),
}
OVERRIDING: dict[str, tuple[str, list[Tree], list[str]]] = {
    "open-and-nobody-serves": ("09:00", [*SIXTY, FULL], [scaled(25, 60, IN_FORCE), START]),
    "closed": ("11:00", [*SIXTY, EMPTY], [scaled(0, 60, IN_FORCE)]),
    "as-it-is": ("11:00", [*SIXTY, deployment(60)], []),
    "left-to-the-pod": ("09:00", [*SIXTY, FULL, *POD], []),
    "not-left-to-a-pod-that-ends": ("10:00:10", [*SIXTY, FULL, *POD], [scaled(25, 60, IN_FORCE)]),
    "whoever-serves-stays-with-it": ("11:00", [*SIXTY, deployment(60), *POD], []),
    "of-zero-holds-no-pod": ("11:00", [*NONE, EMPTY, *POD], [IDLE]),
    "over-and-the-pod-closes": ("12:00:29", [*SIXTY, deployment(60), *POD], []),
    "over-and-it-did-not": ("12:00:30", [*SIXTY, deployment(60), *POD], [scaled(60, 0, NOT_OPEN), IDLE]),
    "to-zero": ("09:00", [*NONE, FULL], [scaled(25, 0, IN_FORCE), START]),
    "over": ("12:00", [*SIXTY, deployment(60)], [scaled(60, 0, NOT_OPEN)]),
    "malformed": ("09:00", [override("{}["), cronjob(), EMPTY], [OPEN, START]),
}


@pytest.mark.parametrize(
    ("now", "trees", "expected"),
    [
        pytest.param(*case, id=name)
        for cases in (OPENING, CLOSING, OVERRIDING)
        for name, case in cases.items()
    ],
)
def test_the_sweep_takes_the_listed_actions(now: str, trees: list[Tree], expected: list[str]) -> None:
    # In whatever order they are thought of.
    assert sorted(judged(now, *trees)) == sorted(expected)


def test_the_sweep_opens_then_closes_pools_then_starts_then_removes_jobs() -> None:
    others = [timetable(name=name) for name in ("a", "z")]
    trees = [
        *BASE,
        EMPTY,
        *others,
        deployment(0, "a-small", reservation="a"),
        cronjob("a", reservation="a"),
        timetable(NEXT, name="b"),
        deployment(25, "b-small", reservation="b"),
        job("b-1", reservation="b"),
    ]

    assert [message.split(":")[0] for message in judged("09:00", *trees)] == [
        "Scaled from 0 to 25",
        "Scaled from 25 to 0",
        "Started Job a-sweep",
        "Started Job course-sweep",
        "Removed Job b-1",
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
def test_without_a_list_the_sweep_skips_only_the_actions_that_need_it(
    unread: tuple[ObjectKind, ...], opened: list[str], closed: list[str]
) -> None:
    stuck = job(created="07:00", end="")

    assert judged("09:00", *BASE, EMPTY, stuck, unread=unread) == opened
    assert judged("11:00", *BASE, FULL, stuck, unread=unread) == closed


# What it does not do but tell, because only a person can put it right


UNREADABLE = {
    "{": "the timetable is not JSON: ",
    "": "the timetable is not JSON: ",
    timetable_text(COURSE).replace('"reservation": "course"', '"reservation": "curse"'): (
        "reservation: 'curse' is not 'course', as the label says"
    ),
    timetable_text(COURSE).replace('"example"', '"elsewhere"'): (
        "site: 'elsewhere' is not 'example', as the label says"
    ),
}


@pytest.mark.parametrize(("text", "why"), UNREADABLE.items(), ids=["cut", "empty", "reservation", "site"])
def test_a_malformed_timetable_is_reported_and_its_reservation_does_not_change(text: str, why: str) -> None:
    for now in ("09:00", "11:00"):
        decision = decide(seen(timetable(text=text), deployment(7), cronjob(), job()), at(now))

        assert decision.actions == ()
        (warning,) = decision.warnings
        assert (warning.ref.name, warning.reason) == ("course-small", "MalformedTimetable")
        start = "The timetable cannot be read, so the sweep does not change the reservation: "
        assert warning.message.startswith(start + why)


@pytest.mark.parametrize("plugin", ["slots", "numbers"])
def test_a_missing_plugin_is_reported_and_other_reservations_are_opened(plugin: str) -> None:
    """The first is applied while a sweep without its plugin runs, or the last outlives it."""
    text = slot_text(COURSE) if plugin == "slots" else number_text(HPA, [COURSE])
    facts = seen(timetable(text=text), *missed("other"))
    decision = decide(facts._replace(plugins=frozenset({"slots", "numbers"} - {plugin})), at("09:00"))

    assert {action.ref.reservation for action in decision.actions} == {"other"}
    (warning,) = decision.warnings
    assert warning.message.endswith(f"pools.small: the sweep has no {plugin}; apply base.yaml again")


NO_CLASS = override(
    json.dumps({name: {"target": 9, "until": "2026-02-02T12:00:00Z"} for name in ("smal", "small")})
)
IGNORED = "An override is ignored: berth.dev/override"
TOLD: dict[str, tuple[str, list[Tree], int, tuple[str, str]]] = {
    "malformed": (
        "07:00",
        [override('{"small": 60}'), EMPTY],
        0,
        ("MalformedOverride", f"{IGNORED}.small: 60 is not an object"),
    ),
    "of-no-class-while-the-others-hold": (
        "07:00",
        [NO_CLASS, EMPTY],
        1,
        ("MalformedOverride", f"{IGNORED}: no class smal in this reservation, which has small"),
    ),
    "no-cronjob": (
        "09:00",
        [timetable(), FULL],
        0,
        ("SweepHasNoJob", "No pod serves course/1, and there is no CronJob from which to start a Job."),
    ),
}


@pytest.mark.parametrize(("now", "trees", "actions", "warning"), TOLD.values(), ids=TOLD)
def test_a_malformed_override_and_a_missing_cronjob_get_a_warning(
    now: str, trees: list[Tree], actions: int, warning: tuple[str, str]
) -> None:
    decision = decide(seen(*trees), at(now))

    assert [told[1:3] for told in decision.warnings] == [warning]
    assert len(decision.actions) == actions


# Removal


WHY = "its reservation has no timetable."
REMOVED = ("Scaled from 25 to 0", "Removed Job course-1", "Removed Deployment course-small")
SEATS = [f"{what}: {WHY}" for what in REMOVED]
LOST = f"To be removed soon: {WHY}"
RIGHTS = [made(kind, "course") for kind in RIGHTS_KINDS]
REST = [cronjob(), job(), FULL, *RIGHTS]
OTHERS, HERE = inventory("# by berth\nother\nan-other-1\n"), inventory("other\ncourse\n")
ALL_OF_IT = [
    "Scaled from 25 to 0",
    *(f"Removed {ref}" for ref in ("CronJob course", "Job course-1", "Deployment course-small")),
    *(f"Removed {kind} course" for kind in ("RoleBinding", "Role", "ServiceAccount")),
]
MARKED = "To be removed soon: the inventory does not name its reservation."
BACK = "No longer to be removed: the inventory names its reservation again."
SNIPPET = made(  # what session pods need, for people
    CONFIG_MAP,
    "course-session-affinity",
    labels={"berth.dev/role": "session-affinity"},
    data={"small.yaml": "{}"},
)


def judged(now: str, *trees: Tree, prunes: bool = False, unread: tuple[ObjectKind, ...] = ()) -> list[str]:
    return [
        describe_action(action)[2]
        for action in decide(seen(*trees, now=now, prunes=prunes, unread=unread), at(now)).actions
    ]


def orphaned(since: str, **more: Any) -> Tree:
    return timetable(annotations={"berth.dev/gone-since": since}, **more)


def removed(since: str, *heads: str) -> list[str]:
    return [f"{head}: its reservation is not in git since {since}." for head in heads]


def lost(since: str) -> Tree:
    """A full Deployment that has been seen without a timetable."""
    return deployment(25, metadata={"annotations": {"berth.dev/gone-since": instant_text(at(since))}})


def test_a_session_affinity_text_is_no_timetable_and_is_removed_with_the_rest() -> None:
    gone = judged("09:00", orphaned("2026-02-02T08:49:00Z"), SNIPPET, OTHERS, prunes=True)

    assert judged("09:00", SNIPPET) == judged("09:00", SNIPPET, HERE, prunes=True) == []
    assert judged("09:00", timetable(), SNIPPET) == judged("09:00", timetable())
    names = [f"Removed ConfigMap {name}" for name in ("course", "course-session-affinity")]
    assert gone[-2:] == removed("2026-02-02T08:49:00Z", *names)
    assert judged("09:00", SNIPPET, OTHERS, prunes=True) == [f"{names[1]}: {WHY}"]


def test_a_record_is_no_timetable_and_outlives_its_reservation_by_a_year() -> None:
    young, old = record("2024-12-29T09:00:01Z"), record("2024-12-29T09:00:00Z")
    gone = orphaned("2026-02-02T08:49:00Z")

    assert judged("09:00", timetable(), old) == judged("09:00", timetable())
    assert judged("09:00", FULL, young) == [LOST]
    assert "course-record" not in str(judged("09:00", gone, old, OTHERS, prunes=True))
    for prunes in (False, True):
        assert judged("09:00", young, OTHERS, prunes=prunes) == []
        assert judged("09:00", old, OTHERS, prunes=prunes) == [
            "Removed ConfigMap course-record: its reservation has been gone for more than a year."
        ]


LEFTOVERS = {
    "nobody-serves": ([FULL, job()], [LOST]),
    "nobody-serves-for-less-than-a-round": ([lost("08:55:31"), job()], []),
    "nobody-serves-for-a-round": ([lost("08:55:30"), job()], SEATS),
    "marked-in-the-future": ([lost("09:00:01"), job()], [LOST]),
    "marked-and-served": ([lost("08:00"), job(), lease()], []),
    "closed": ([deployment(0)], [SEATS[2]]),
    "a-job-alone": ([job(end="Complete")], [SEATS[1]]),
    "what-the-engine-prunes": ([cronjob(), *RIGHTS], []),
    "two-minutes-old": ([deployment(1, created="08:58")], []),
    "older-than-two-minutes": ([deployment(1, created="08:57:59")], [LOST]),
    "deleted-but-held-by-a-finalizer": ([deployment(25, metadata=GOING)], [SEATS[0]]),
    "timetable-that-cannot-be-read": ([timetable(text="{"), FULL, job(created="08:00")], []),
    "config-map-without-a-timetable": ([made(CONFIG_MAP, "course"), FULL], []),
    "config-map-of-another-name": ([made(CONFIG_MAP, "other", "course"), FULL], [LOST]),
    "a-timetable-again": (
        [timetable(), lost("08:55"), job(), lease()],
        ["No longer to be removed: its reservation has a timetable again."],
    ),
}


@pytest.mark.parametrize(("trees", "expected"), LEFTOVERS.values(), ids=LEFTOVERS)
def test_with_an_engine_leftovers_are_marked_then_removed(trees: list[Tree], expected: list[str]) -> None:
    assert judged("09:00", *trees) == expected


def test_the_next_sweep_removes_the_leftovers_that_a_sweep_marked() -> None:
    """Of two Deployments one is enough."""
    swept = Swept("09:00", FULL, deployment(3, "course-huge"), job())
    assert (swept.run(), swept.cluster.writes) == (0, ["PATCH deployments course-huge", "POST events"])
    assert swept.cluster.events() == [("course-huge", "SweepGone", LOST)]
    swept.cluster.now = at("09:05")

    assert swept.run() == 0
    assert swept.cluster.of("deployments") == swept.cluster.of("jobs") == {}


@pytest.mark.parametrize(
    "unread", [CONFIG_MAP, DEPLOYMENT, JOB, LEASE, CRON_JOB, ROLE], ids=lambda kind: kind.plural
)
def test_the_sweep_marks_and_removes_nothing_while_a_list_is_missing(unread: ObjectKind) -> None:
    gone = [OTHERS, orphaned("2026-02-02T06:50:00Z"), deployment(0), cronjob(), *RIGHTS]

    assert judged("09:00", FULL, job(), unread=(unread,)) == []
    assert judged("07:00", *gone, prunes=True, unread=(unread,)) == []


INVENTORIES: dict[str, tuple[list[Tree], list[str]]] = {
    "named": ([HERE, timetable()], []),
    "not-named": ([OTHERS, timetable()], [MARKED]),
    "none-is-named": ([inventory("# empty\n"), timetable()], [MARKED]),
    "marked": ([OTHERS, orphaned("2026-02-02T06:55:00Z")], []),
    "marked-by-hand": ([OTHERS, orphaned("yesterday")], [MARKED]),
    "marked-in-the-future": ([OTHERS, orphaned("2026-02-02T07:05:00Z")], [MARKED]),
    "named-again": ([HERE, orphaned("2026-02-01T06:55:00Z")], [BACK]),
    "empty": ([inventory(""), timetable()], []),
    "blank": ([inventory(" \n\n"), orphaned("2026-02-01T06:55:00Z")], []),
    "nonsense": ([inventory("<html>\nno"), orphaned("2026-02-01T06:55:00Z")], []),
    "without-its-key": ([inventory(None), orphaned("2026-02-01T06:55:00Z")], []),
    "no-timetable-and-named": ([HERE], []),
    "no-timetable-and-no-inventory": ([], []),
}


@pytest.mark.parametrize(("found", "expected"), INVENTORIES.values(), ids=INVENTORIES)
def test_a_reservation_not_in_the_inventory_is_gone(found: list[Tree], expected: list[str]) -> None:
    assert judged("07:00", *found, deployment(0), cronjob(), *RIGHTS, prunes=True) == expected


def test_where_an_engine_prunes_the_inventory_is_ignored() -> None:
    assert judged("07:00", OTHERS, orphaned("2026-02-01T06:55:00Z"), deployment(0)) == []


@pytest.mark.parametrize("text", [None, "{"], ids=["good", "malformed"])
def test_a_gone_reservation_is_removed_after_ten_minutes_and_its_timetable_last(text: str | None) -> None:
    """Ten minutes are two rounds of the sweep: thirty seconds less, as rounds are not exact."""
    since = "2026-02-02T08:50:00Z"
    trees = [OTHERS, orphaned(since, text=text), *REST, lease()]

    assert judged("08:59:29", *trees, prunes=True) == []
    assert judged("08:59:30", *trees, prunes=True) == removed(since, *ALL_OF_IT, "Removed ConfigMap course")
    assert [head.split(":")[0] for head in judged("09:00", OTHERS, *REST, prunes=True)] == ALL_OF_IT
    assert judged("08:59:29", OTHERS, orphaned(since), cronjob(), FULL, prunes=True) == [START]


def listing(objects: str | None = "# more\nCronJob course-2\n") -> Tree:
    return inventory("course\n", objects=objects)


CLASS_GONE = "Removed Deployment course-huge: its reservation no longer has it."
TIME_GONE = "Removed CronJob course-3: its reservation no longer has it."
HELD_OPEN = override('{"small": {"target": 25, "until": "2026-02-02T12:00:00Z"}}')
EXTRA = [deployment(0, "course-huge"), cronjob("course-2"), cronjob("course-3")]
ALL_TIMES = [timetable(), cronjob(), deployment(0)]
YOUNG = [deployment(0, "course-huge", created="06:55"), cronjob("course-3", created="06:55")]


NO_LONGER = {
    "both": ("07:00", [listing(), *ALL_TIMES, *EXTRA], [TIME_GONE, CLASS_GONE]),
    "none-is-listed-and-the-first-stays": (
        "07:00",
        [listing("# none\n"), *ALL_TIMES, *EXTRA],
        [TIME_GONE.replace("-3", "-2"), TIME_GONE, CLASS_GONE],
    ),
    "an-older-inventory": ("07:00", [listing(None), *ALL_TIMES, *EXTRA], []),
    "emptied-by-hand": ("07:00", [listing(""), *ALL_TIMES, *EXTRA], []),
    "nonsense": ("07:00", [listing("<html>no such page"), *ALL_TIMES, *EXTRA], []),
    "no-inventory": ("07:00", [*ALL_TIMES, *EXTRA], []),
    "all-goes": ("07:00", [inventory("other\n", objects="# none\n"), *ALL_TIMES, *EXTRA], [MARKED]),
    "an-override-holds-a-pod": ("11:00", [listing(), HELD_OPEN, FULL, cronjob(), job(), lease(), *EXTRA], []),
    "it-opens-soon": ("07:28", [listing(), *ALL_TIMES, *EXTRA], []),
    "it-is-open": ("09:00", [listing(), *SERVED, FULL, *EXTRA], []),
    "edited-less-than-ten-minutes-ago": ("07:00", [listing(), *edited("06:50:31"), EMPTY, *EXTRA], []),
    "newer-than-inventory-and-timetable-perhaps": ("07:00", [listing(), *ALL_TIMES, *YOUNG], []),
    "closed-before-it-is-removed": ("07:00", [listing(), *ALL_TIMES, UNKNOWN], [UNNAMED]),
}


@pytest.mark.parametrize(("now", "trees", "expected"), NO_LONGER.values(), ids=NO_LONGER)
def test_without_an_engine_the_sweep_removes_what_a_reservation_no_longer_has(
    now: str, trees: list[Tree], expected: list[str]
) -> None:
    assert judged(now, *trees, prunes=True) == expected
    assert judged("07:00", *trees[:1], *ALL_TIMES, *EXTRA) == [], "an engine prunes"


NOBODYS: Tree = {"berth.dev/reservation": None}
CODE = made(CONFIG_MAP, "berth-core-old", created="07:49", labels=NOBODYS | {"berth.dev/role": "code"})


def mounting(tree: Tree) -> Tree:
    """A CronJob or Job whose pods mount the code."""
    volumes = [{"name": "share", "emptyDir": {}}, {"name": "code", "configMap": {"name": "berth-core-old"}}]
    template = {"spec": {"template": {"spec": {"volumes": volumes}}}}
    return tree | {"spec": {"jobTemplate": template} if tree["kind"] == "CronJob" else template["spec"]}


OF_THE_SWEEP = cronjob(labels=NOBODYS)
CODE_STAYS = {
    "a-cronjob-mounts-it": ("08:00", [mounting(cronjob())], (), True),
    "the-sweep-mounts-it": ("08:00", [mounting(OF_THE_SWEEP)], (), True),
    "a-job-of-an-older-release-mounts-it": ("08:00", [mounting(job())], (), True),
    "without-cronjobs": ("08:00", [], (CRON_JOB,), True),
    "without-jobs": ("08:00", [], (JOB,), True),
    "younger-than-ten-minutes": ("07:58:29", [], (), True),
    "older": ("07:58:30", [], (), False),
    "of-a-finished-job": ("08:00", [mounting(job(end="Complete"))], (), False),
}


@pytest.mark.parametrize(("now", "trees", "unread", "stays"), CODE_STAYS.values(), ids=CODE_STAYS)
def test_code_that_no_pod_may_need_is_removed_after_ten_minutes(
    now: str, trees: list[Tree], unread: tuple[ObjectKind, ...], stays: bool
) -> None:
    gone = made(CONFIG_MAP, "berth-core-gone", labels=CODE["metadata"]["labels"], metadata=GOING)
    found = decide(seen(timetable(), CODE, gone, *trees, unread=unread), at(now)).actions

    assert [action.ref.name for action in found if "core" in action.ref.name] == [
        CODE["metadata"]["name"]
    ] * (not stays)


# Each of these worlds, swept by the program


WORLDS = [
    *((now, trees, False) for cases in (OPENING, CLOSING, OVERRIDING) for now, trees, _ in cases.values()),
    *(("09:00", trees, False) for trees, _ in LEFTOVERS.values()),
    *(("07:00", [*found, EMPTY, cronjob(), *RIGHTS], True) for found, _ in INVENTORIES.values()),
    *((now, trees, True) for now, trees, _ in [*NO_LONGER.values()][:-1]),  # the last takes two sweeps
]
each_world = pytest.mark.parametrize(("now", "trees", "prunes"), WORLDS)


def state(swept: Swept) -> dict[tuple[str, str], tuple[object, object]]:
    """All objects but Events, by path and name, without versions and identities."""
    return {
        (path, name): (tree.get("spec"), tree["metadata"].get("annotations"))
        for path, trees in deepcopy(swept.cluster.collections).items()
        for name, tree in trees.items()
        if not path.endswith("/events")
    }


@each_world
def test_a_second_sweep_writes_nothing_and_foreign_objects_never_change(
    now: str, trees: list[Tree], prunes: bool
) -> None:
    foreign = deepcopy(trees)
    for n, tree in enumerate(foreign):
        tree["metadata"] |= {"name": f"foreign-{n}", "uid": f"foreign-{n}", "ownerReferences": []}
        tree["metadata"]["labels"]["berth.dev/site"] = "another"
    swept = Swept(now, *deepcopy(trees), *foreign, prunes=prunes)
    before = state(swept)

    assert swept.run() == 0
    after = state(swept)
    assert [key for key in before if key[1].startswith("foreign") and before[key] != after[key]] == []
    assert (swept.run(), swept.cluster.writes) == (0, [])


@each_world
def test_the_next_sweep_completes_the_actions_that_failed(now: str, trees: list[Tree], prunes: bool) -> None:
    """One request in four fails. Afterwards the world is as it would have been without that."""
    good, swept = (Swept(now, *deepcopy(trees), prunes=prunes) for _ in range(2))
    random = Random(len(trees))
    swept.cluster.interfere = lambda line: (
        refusal(500, "InternalError") if "LIST" not in line and random.random() < 0.25 else None
    )
    swept.run()
    swept.cluster.interfere = lambda _: None
    swept.cluster.now = at(now)

    assert (good.run(), swept.run(), swept.run()) == (0, 0, 0)
    assert state(good) == state(swept)


def test_one_run_closes_200_pools_despite_conflicts_and_held_jobs() -> None:
    """Placeholders that leave change the status of their Deployment, up to eight times while we write; and
    whoever starts Jobs waits for those that a finalizer holds, five seconds for each.
    """
    random = Random(1)
    names = [f"course-{n}" for n in range(200)]
    trees = [tree for name in names for tree in missed(name, 25)]
    for n in range(20):
        name, window = f"open-{n}", (f"open-{n}/1", "09:00", "09:30", "12:00", {"small": 1})
        trees += [
            timetable(window, name=name, pools={"small": f"{name}-small"}),
            cronjob(name, reservation=name),
            job(f"{name}-sweep", reservation=name),
        ]
    swept = Swept("10:00:30", *trees)
    conflicts = {f"{name}-small": random.randint(0, 8) for name in names}

    def interfere(line: str) -> Response | None:
        name = line.removeprefix("PATCH deployments ").removesuffix(" scale")
        if conflicts.get(name, 0):
            conflicts[name] -= 1
            swept.cluster.add(swept.cluster.of("deployments")[name])
        held = line.startswith("DELETE jobs open-")
        return Response(200, b'{"kind": "Status"}') if held else None

    swept.cluster.interfere = interfere
    swept.run()
    assert set(swept.cluster.replicas().values()) == {0}
