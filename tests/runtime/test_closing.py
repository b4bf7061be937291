"""After an end the first sweep that begins half a minute later closes all that still stands."""

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
    lease,
    seen,
    timetable,
)
from tests.runtime.world import Row, at
from tests.seeds import seeds

END = at("10:00")
POOLS = 10


def clock(instant: int) -> str:
    return instant_text(instant)[11:19]


def reservation(random: Random, name: str) -> list[Tree]:
    """Ended at 10:00. Where no pod may come to close it, its timetable may have been edited since, and it may
    open again soon.
    """
    rows: list[Row] = [(f"{name}/1", "07:30", "08:00", "10:00", {"small": 25})]
    is_manned, renewed = random.random() < 0.5, END + random.randint(-300, 40)
    if random.random() < 0.3:
        opens = END + random.randint(211 if is_manned else 91, 400)
        rows.append((f"{name}/2", clock(opens), clock(opens + 1800), "12:00", {"small": 25}))
    notes: Tree = {}
    if random.random() < 0.3:
        notes["berth.dev/override"] = '{"small": {"target": 40, "until": "2026-02-02T10:00:00Z"}}'
    changed = clock(END + random.choice([-7200] if is_manned else [-7200, -59, -1, 5, 29]))
    found = [
        timetable(*rows, name=name, pools={"small": f"{name}-small"}, changed=changed, annotations=notes),
        deployment(random.randint(1, 40), f"{name}-small", random.randint(0, 25), reservation=name),
    ]
    if random.random() < 0.7:
        found.append(cronjob(name, reservation=name))
    if is_manned or random.random() < 0.5:
        end = "" if is_manned else random.choice(["Complete", "Failed"])
        found.append(job(f"{name}-1", reservation=name, end=end))
    if is_manned:
        holder = random.choice(("", f"{name}-1-x"))
        found.append(lease(clock(renewed), f"{name}-small", holder, reservation=name))
    return found


@pytest.mark.parametrize("prunes", [False, True], ids=["engine-prunes", "sweep-prunes"])
@pytest.mark.parametrize("seed", seeds(20, 200))
def test_it_decides_to_close_every_pool_whoever_holds_its_lease(seed: int, prunes: bool) -> None:
    random = Random(seed)
    names = [f"course-{n}" for n in range(POOLS)]
    trees = [tree for name in names for tree in reservation(random, name)]
    now = END + random.randint(30, 90)
    listed = [inventory("".join(f"{name}\n" for name in names))] if prunes else []

    found = decide(seen(*trees, *listed, prunes=prunes), now).actions
    closed = {action.ref.name for action in found if isinstance(action, ScalePool) and not action.to}
    assert closed == {f"{name}-small" for name in names}


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
