"""After an end the first sweep that begins half a minute later closes all that no pod serves."""

from random import Random

import pytest
from berth.core.decide import decide
from berth.core.jsonvalues import instant_text
from berth.core.pooldecision import ScalePool
from berth.runtime.apiclient import Response

from tests.objectstore import Tree, refusal
from tests.runtime.sweepworld import (
    Swept,
    cronjob,
    deployment,
    inventory,
    job,
    pod,
    scaler_down,
    seen,
    timetable,
)
from tests.runtime.world import Row, at
from tests.seeds import seeds

END = at("10:00")
POOLS = 10


def clock(instant: int) -> str:
    return instant_text(instant)[11:19]


def pods_of(random: Random, name: str) -> list[Tree]:
    """Pods that serve nothing any more: they go, never ran, have ended, or lost their scaler."""
    of, labels = f"{name}-1", {"berth.dev/reservation": name}
    going = {"deletionTimestamp": instant_text(END + random.randint(-40, 40))}
    kinds: list[Tree] = [
        {"metadata": going},
        {"metadata": going, "scaler": scaler_down(clock(END - random.randint(0, 20)))},
        {"phase": "Pending"},
        {"phase": "Failed"},
        {"phase": "Succeeded"},
        {"scaler": scaler_down(clock(END - random.randint(30, 300)))},
        {"scaler": {"state": {"waiting": {"reason": "PodInitializing"}}}},
    ]
    some = random.sample(kinds, random.randint(0, 3))
    return [pod(f"{of}-{n}", of=of, labels=labels, **one) for n, one in enumerate(some)]


def reservation(random: Random, name: str) -> list[Tree]:
    """Ended at 10:00, whatever was written to its timetable since, and whenever it opens again."""
    rows: list[Row] = [(f"{name}/1", "07:30", "08:00", "10:00", {"small": 25})]
    if random.random() < 0.3:
        opens = END + random.randint(91, 400)
        rows.append((f"{name}/2", clock(opens), clock(opens + 1800), "12:00", {"small": 25}))
    notes: Tree = {}
    if random.random() < 0.3:
        notes["berth.dev/override"] = '{"small": {"target": 40, "until": "2026-02-02T10:00:00Z"}}'
    changed = clock(END + random.choice([-7200, -59, -1, 5, 29]))
    found = [
        timetable(*rows, name=name, pools={"small": f"{name}-small"}, changed=changed, annotations=notes),
        deployment(random.randint(1, 40), f"{name}-small", random.randint(0, 25), reservation=name),
    ]
    if random.random() < 0.7:
        found.append(cronjob(name, reservation=name))
    if random.random() < 0.7:
        end = random.choice(["", "", "Complete", "Failed"])
        found.append(job(f"{name}-1", reservation=name, end=end))
    return [*found, *pods_of(random, name)]


@pytest.mark.parametrize("prunes", [False, True], ids=["engine-prunes", "sweep-prunes"])
@pytest.mark.parametrize("seed", seeds(20, 200))
def test_it_decides_to_close_every_pool_that_no_pod_serves(seed: int, prunes: bool) -> None:
    random = Random(seed)
    names = [f"course-{n}" for n in range(POOLS)]
    trees = [tree for name in names for tree in reservation(random, name)]
    now = END + random.randint(30, 90)
    listed = [inventory("".join(f"{name}\n" for name in names))] if prunes else []

    found = decide(seen(*trees, *listed, prunes=prunes), now).actions
    closed = {action.ref.name for action in found if isinstance(action, ScalePool) and not action.to}
    assert closed == {f"{name}-small" for name in names}


@pytest.mark.parametrize("seed", range(10))
def test_it_closes_what_a_pod_serves_that_hangs_too(seed: int) -> None:
    """A pod of a node that was lost is listed as running until it is evicted."""
    random = Random(seed)
    now, edited = END + random.randint(30, 300), clock(END - random.randint(30, 7200))
    trees = [timetable(changed=edited), deployment(25), cronjob(), job(), pod()]

    found = decide(seen(*trees), now).actions
    assert [action.to for action in found if isinstance(action, ScalePool)] == [0]


def test_one_run_closes_two_hundred_pools_while_their_status_changes_and_other_jobs_do_not_go() -> None:
    """Placeholders that leave change the status of their Deployment, up to eight times while we write; and
    whoever starts Jobs waits for those that a finalizer holds, five seconds for each.
    """
    random = Random(1)
    names = [f"course-{n}" for n in range(200)]
    trees = [tree for name in names for tree in reservation(random, name)]
    for n in range(20):
        name, window = f"open-{n}", (f"open-{n}/1", "09:00", "09:30", "12:00", {"small": 1})
        trees += [
            timetable(window, name=name, pools={"small": f"{name}-small"}),
            cronjob(name, reservation=name),
            job(f"{name}-sweep", reservation=name),
        ]
    swept = Swept("10:00:30", *trees)
    conflicts = {f"{name}-small": random.randint(0, 8) for name in names}

    def interfere(said: str) -> Response | None:
        name = said.removeprefix("PATCH deployments ").removesuffix(" scale")
        if conflicts.get(name, 0):
            conflicts[name] -= 1
            swept.cluster.add(swept.cluster.of("deployments")[name])
        held = said.startswith("DELETE jobs open-")
        return Response(200, b'{"kind": "Status"}') if held else None

    swept.cluster.interfere = interfere
    swept.run()
    assert set(swept.cluster.replicas().values()) == {0}


def test_lists_that_are_refused_for_ten_seconds_do_not_leave_pools_to_the_next_run() -> None:
    swept = Swept("10:00:30", timetable(), deployment(25), cronjob())

    def interfere(said: str) -> Response | None:
        busy = said.startswith("LIST") and swept.cluster.now < at("10:00:40")
        return refusal(503, "ServiceUnavailable") if busy else None

    swept.cluster.interfere = interfere
    assert swept.run() == 0
    assert swept.cluster.replicas() == {"course-small": 0}
