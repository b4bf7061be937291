"""Windows and reservations by chance, minute by minute: what is told is what a machine goes through."""

from itertools import pairwise
from random import Random

from berth.core.jsonvalues import instant_text, parse_instant

from tests.checks.clouds import KARPENTER, MACHINE, of_reservation
from tests.clouddocuments import cloud
from tests.saying import Value

DAY = parse_instant("2026-02-02T00:00:00Z")
STEP = 10  # minutes; every instant here is a multiple of it
BEFORE = {"default": 0, "capacity-block": 40}


def chosen(random: Random, number: int) -> tuple[Value, int, int]:
    """A reservation, and from when until when its machines are there, in minutes of the day."""
    kind = random.choice(list(BEFORE))
    first = random.randrange(-30, 60) * STEP
    end = first + random.randrange(10, 150) * STEP
    value: Value = {
        "id": f"cr-{number}",
        "type": kind,
        "from": instant_text(DAY + first * 60),
        "until": instant_text(DAY + end * 60),
        **MACHINE,
    }
    return value, first, end - BEFORE[kind]


def clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"


def test_window_findings_match_a_minute_by_minute_check_of_the_machines() -> None:
    random = Random(70)
    seen = set[str]()
    for _ in range(600):
        machines = [chosen(random, number) for number in range(random.randrange(1, 4))]
        lead = random.randrange(0, 10) * STEP
        start = random.randrange(lead // STEP, 100) * STEP
        end = start + random.randrange(1, 40) * STEP
        entry: Value = {"startTime": clock(start), "endTime": clock(min(end, 1440))}
        end = min(end, 1440)
        minutes = range(start - lead, end, STEP)

        told = of_reservation(
            {
                "recurrence": {
                    "type": "once",
                    "startDate": "2026-02-02",
                    "endDate": "2026-02-02",
                    "schedule": [entry],
                },
                "provisioning": {"placeholderCount": 1, "leadTimeMinutes": lead, "scaleDownBehavior": "none"},
            },
            cloud(capacityTypes=["reserved"], reservations=[value for value, _, _ in machines]),
        )

        there = [[first <= minute < last for minute in minutes] for _, first, last in machines]
        taken = [any(had and not has for had, has in pairwise(one)) for one in there]
        codes = {one.split()[0] for one in told}
        blocks = [value["type"] == "capacity-block" for value, _, _ in machines]
        drained = any(gone and block for gone, block in zip(taken, blocks, strict=True))
        assert ("B169" in codes) == any(gone and not block for gone, block in zip(taken, blocks, strict=True))
        assert ("B167" in codes) == (drained or not any(map(all, there)))
        seen |= codes or {"none"}
    assert seen == {"none", "B167", "B169"}


def test_b162_is_reported_exactly_if_whole_nodes_lack_machines() -> None:
    """Minute by minute, as far as any machine is there: none at all is a matter of the window."""
    random = Random(71)
    cluster: Value = {
        **KARPENTER,
        "engine": {"type": "flux", "sourceName": "fleet"},
        "karpenter": {"gates": {"StaticCapacity": True}},
    }
    seen = set[bool]()
    for _ in range(300):
        machines = [chosen(random, number) for number in range(random.randrange(1, 4))]
        counts = [random.randrange(1, 5) for _ in machines]
        asked = random.randrange(1, 7)
        start = random.randrange(0, 100) * STEP
        end = min(start + random.randrange(1, 40) * STEP, 1440)
        when = {"type": "once", "startDate": "2026-02-02", "endDate": "2026-02-02"}
        lent = [{**value, "count": count} for (value, _, _), count in zip(machines, counts, strict=True)]

        told = of_reservation(
            {
                "recurrence": {**when, "schedule": [{"startTime": clock(start), "endTime": clock(end)}]},
                "backend": {"type": "nodePool"},
                "provisioning": {"nodeCount": asked, "leadTimeMinutes": 0},
            },
            cloud(capacityTypes=["reserved"], reservations=lent),
            cluster=cluster,
        )

        there = [
            sum(n for n, (_, first, last) in zip(counts, machines, strict=True) if first <= minute < last)
            for minute in range(start, end, STEP)
        ]
        lacks = any(0 < number < asked for number in there)
        assert ("B162" in {one.split()[0] for one in told}) == lacks
        seen.add(lacks)
    assert seen == {True, False}
