"""Sessions are counted on the real API server, and placeholders give way to them.

All windows run side by side: `tell` lets sessions come and go, scales by hand, and records every pool
twice a second; each test reads the record.
"""

import json
import time
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from berth.core.target import placeholders

from tests.e2e import binaries, faultcases
from tests.e2e.direct import Direct, at_once
from tests.e2e.gitops import Engine
from tests.e2e.kwok import TOLERATION
from tests.e2e.pending import PendingTimes
from tests.e2e.project import Document, document
from tests.e2e.seats import SeatRecord, Seats
from tests.e2e.sessionkinds import KINDS, PODS, PRETENDING, RENKU_ID, Kind, pod
from tests.e2e.sidebyside import Stage
from tests.e2e.windows import MINUTE, entry, reservation, sleep_until, suspend_sweep, wait_until

NAMESPACE, SITE = "berth-sessions", "sessions"
LABELED = "labeled"  # the reservation whose sessions are in namespaces with a label
CRDS = Path(__file__).parent / "crds"
COUNT, CROWD, LENGTH = 5, 25, 3
STABLE = 10  # seconds that a session counts after it left
RESET = 10  # seconds within which a pool follows whatever happens
AUTOSCALER = 10  # seconds between looks of a cluster autoscaler
CLEAN = 25  # seconds after the end until nothing is left; after 30 the API server goes
LAG = 3  # seconds: a look, and the way there
USERS = ("sessions-ada", "sessions-bob")  # one namespace each, as some platforms have it
HOME = {"e2e.berth.dev/home": "yes"}  # the label of such a namespace
# The node that the crowd fills is for nobody else.
TAINT = {"key": "e2e.berth.dev/narrow", "value": "", "effect": "NoSchedule"}
NARROW = {
    "nodeSelector": {"pool": "narrow"},
    "tolerations": [TOLERATION, {"key": TAINT["key"], "operator": "Exists"}],
}


class Story(NamedTuple):
    """Instants in seconds since the epoch."""

    record: SeatRecord
    opens: int
    came: float
    rested: float
    override: tuple[float, int]  # from, until
    scaled: dict[int, float]
    waited: dict[str, float]  # seconds that placeholders were Pending while the crowd came, by pod
    unplaced: list[str]  # of the crowd, at the end
    labeled: float  # when the namespace of the second user got the label
    unlabeled: float  # when that of the first lost it


def home(kind: Kind) -> str:
    return f"sessions-{kind.source}"


def classes() -> list[Document]:
    made = []
    for kind in KINDS:
        spec = _class({**kind.recognised, "namespaces": [home(kind)]}, PRETENDING)
        made.append(document("ResourceClass", kind.source, spec))
    made[0]["spec"]["renkuId"] = RENKU_ID
    crowd = {"source": "pods", "namespaces": ["sessions-crowd"]}
    by_label = {"namespaces": {"matchLabels": HOME}, "selector": {"matchLabels": {"session": LABELED}}}
    made.append(document("ResourceClass", LABELED, _class({"source": "pods", **by_label}, PRETENDING)))
    narrow = {**_class(crowd, {**PRETENDING, **NARROW}), "requests": {"cpu": "1"}}
    return [*made, document("ResourceClass", "narrow", narrow)]


def _class(sessions: Document, placement: Document) -> Document:
    return {"requests": {"cpu": "10m"}, **placement, "sessions": sessions}


def reservations(opens: int) -> list[Document]:
    def made(name: str, resource_class: str, count: int, behaviour: str) -> Document:
        spec: dict[str, Any] = {"behaviour": behaviour}
        if name == f"by-{behaviour}":
            spec["sessions"] = {"matchLabels": {"course": name}}
        entries = [entry(opens, 0, LENGTH)]
        return reservation(name, opens, entries, lead=0, seats={resource_class: count}, **spec)

    return [
        *(made(kind.source, kind.source, COUNT, "maintain") for kind in KINDS),
        *(made(f"by-{one}", "pods", 8, one) for one in ("maintain", "reduce", "none")),
        made(LABELED, LABELED, COUNT, "maintain"),
        made("crowd", "narrow", CROWD, "maintain"),
        made("override", "narrow", 0 + 1, "none"),
    ]


def tell(stage: Stage) -> Story:
    cluster, opens, direct = stage.cluster, stage.opens, stage.connect()
    cluster.apply(CRDS / "renku-amaltheasession.yaml")
    cluster.kwok.create_nodes(1, "wide", {"pods": "300", "cpu": "200", "memory": "400Gi"})
    narrow = {"pods": "300", "cpu": f"{CROWD + 1}"}
    cluster.kwok.create_nodes(1, "narrow", narrow, {"pool": "narrow"}, [TAINT])
    namespaces = [*map(home, KINDS), "sessions-crowd", *USERS]
    for name in namespaces:
        cluster.create_namespace(name, HOME if name == USERS[0] else {})
    engine = Engine(direct, stage.folder)
    site = faultcases.site(SITE, NAMESPACE, "argocd")
    site["spec"]["scaler"] = {"stabilizationSeconds": STABLE}
    engine.begin([site, *classes(), *reservations(opens)])
    suspend_sweep(cluster, NAMESPACE)
    for name in [*namespaces, NAMESPACE]:
        stage.undo.callback(direct.delete, f"/api/v1/namespaces/{name}")
    record = SeatRecord(direct, [NAMESPACE])
    record.start()
    try:
        told = _happen(direct, record, opens)
    finally:
        record.stop()
        (binaries.cache_dir() / "sessions.txt").write_text(record.histories(opens))
    return told


def _happen(direct: Direct, record: SeatRecord, opens: int) -> Story:
    sleep_until(opens + MINUTE)
    came = time.time()
    for kind in KINDS:
        for number in range(2):
            direct.create(kind.root.format(home(kind)), kind.make(f"one-{number}"))
    for name in USERS:
        direct.create(PODS.format(name), pod("one", session=LABELED))
    sleep_until(opens + 1.15 * MINUTE)
    waited = _crowd(direct)
    until = opens + 140
    told = {"narrow": {"target": 9, "until": f"{datetime.fromtimestamp(until, UTC):%Y-%m-%dT%H:%M:%SZ}"}}
    annotations = {"berth.dev/override": json.dumps(told)}
    where = f"/api/v1/namespaces/{NAMESPACE}/configmaps/override"
    direct.patch(where, {"metadata": {"annotations": annotations}})
    set_at = time.time()
    sleep_until(opens + 1.55 * MINUTE)
    rested = time.time()
    for kind in KINDS:
        kind.rest(direct, f"{kind.root.format(home(kind))}/one-0")
    labeled = _label(direct, USERS[1], "yes")
    scaled = {}
    unlabeled = 0.0
    for minute, replicas in ((1.8, 0), (2.3, 50)):
        sleep_until(opens + minute * MINUTE)
        unlabeled = _label(direct, USERS[0], None) if minute > 2 else 0.0
        scaled[replicas] = time.time()
        for behaviour in ("maintain", "reduce", "none"):
            _scale(direct, f"by-{behaviour}-pods", replicas)
    sleep_until(opens + 2.7 * MINUTE)
    crowd = direct.items(PODS.format("sessions-crowd"))
    end = opens + LENGTH * MINUTE
    sleep_until(end + 5)
    wait_until(lambda: all(looks[-1].is_clean for looks in record.looks.values()), end + CLEAN)
    return Story(
        record,
        opens,
        came,
        rested,
        (set_at, until),
        scaled,
        waited,
        [one["metadata"]["name"] for one in crowd if "nodeName" not in one["spec"]],
        labeled,
        unlabeled,
    )


def _label(direct: Direct, namespace: str, value: str | None) -> float:
    """Give a namespace the label, or take it away; return when."""
    at = time.time()
    labels = dict.fromkeys(HOME, value)
    direct.patch(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": labels}})
    return at


def _crowd(direct: Direct) -> dict[str, float]:
    """As many sessions as seats, at once, on a node that is full."""
    pending = PendingTimes(
        direct, f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector=berth.dev/reservation=crowd"
    )
    pending.start()
    root = PODS.format("sessions-crowd")
    sessions = [pod(f"student-{number}") for number in range(CROWD)]
    for session in sessions:
        session["spec"].update(NARROW)
        session["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    at_once([partial(direct.create, root, session) for session in sessions])
    time.sleep(10)
    pending.stop()
    return pending.waited


def _scale(direct: Direct, deployment: str, replicas: int) -> None:
    where = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{deployment}/scale"
    direct.patch(where, {"spec": {"replicas": replicas}})


def wanted(story: Story, name: str, first: float, last: float) -> list[Seats]:
    """Looks between two instants at the one pool of a reservation."""
    (looks,) = [looks for pool, looks in story.record.looks.items() if pool.startswith(f"{name}-")]
    return [look for look in looks if first <= look.at < last]


def targets(story: Story, name: str, first: float, last: float) -> set[int]:
    return {look.wanted for look in wanted(story, name, first, last)}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.source)
def test_a_session_takes_the_place_of_a_placeholder(story: Story, kind: Kind) -> None:
    before = targets(story, kind.source, story.came - LAG, story.came)
    after = targets(story, kind.source, story.came + RESET, story.rested)

    assert (before, after) == ({COUNT}, {COUNT - 2})


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.source)
def test_a_session_that_left_counts_a_little_longer(story: Story, kind: Kind) -> None:
    """Hibernated, ended, suspended or deleted, whatever the kind has."""
    soon = targets(story, kind.source, story.rested, story.rested + STABLE - 2)
    later = targets(story, kind.source, story.rested + STABLE + RESET, story.opens + LENGTH * MINUTE - 1)

    assert (soon, later) == ({COUNT - 2}, {COUNT - 1})


def test_sessions_count_only_while_their_namespace_has_the_label(story: Story) -> None:
    """Both users have a session all the time; their namespaces get and lose the label."""
    moments = (story.came, story.labeled, story.unlabeled, story.opens + LENGTH * MINUTE)
    seen = [targets(story, LABELED, first + RESET, last) for first, last in pairwise(moments)]

    assert targets(story, LABELED, story.came - LAG, story.came) == {COUNT}
    assert seen == [{COUNT - 1}, {COUNT - 2}, {COUNT - 1}]


def test_a_preempted_placeholder_buys_no_node(story: Story) -> None:
    """None is Pending for as long as a cluster autoscaler waits between two looks."""
    assert story.unplaced == []
    assert [name for name, seconds in story.waited.items() if seconds >= AUTOSCALER] == []
    assert targets(story, "crowd", story.opens + 1.4 * MINUTE, story.opens + LENGTH * MINUTE - 1) == {0}


def test_with_reduce_the_target_falls_over_time(story: Story) -> None:
    """Nobody comes or goes, but fewer and fewer seats are held; each number by the formula."""
    end = story.opens + LENGTH * MINUTE
    first, *_ = (look.at for look in wanted(story, "by-reduce", 0, end) if look.wanted)
    handmade = list(story.scaled.values())
    for look in wanted(story, "by-reduce", first + 1, end - 1):
        if any(at <= look.at < at + RESET for at in handmade):
            continue
        window = (story.opens, story.opens, end)
        fair = {placeholders("reduce", 8, 0, window, int(look.at) - lag) for lag in range(-1, RESET + LAG)}
        assert look.wanted in fair, look.at - story.opens


@pytest.mark.parametrize("behaviour", ["maintain", "reduce", "none"])
@pytest.mark.parametrize("replicas", [0, 50])
def test_a_manual_scale_is_corrected(story: Story, behaviour: str, replicas: int) -> None:
    at = story.scaled[replicas]
    later = targets(story, f"by-{behaviour}", at + RESET, at + RESET + 10)

    assert replicas not in later
    assert later


def test_an_override_holds_until_its_end(story: Story) -> None:
    first, last = story.override

    assert targets(story, "override", first + 60, last) <= {9}
    assert 9 in targets(story, "override", first, last)
    assert targets(story, "override", last + RESET, story.opens + LENGTH * MINUTE - 1) == {1}


def test_every_pool_is_clean_at_the_end(story: Story) -> None:
    assert [name for name, looks in story.record.looks.items() if not looks[-1].is_clean] == []
