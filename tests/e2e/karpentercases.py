"""A table of declarations for which the plan and Karpenter must buy the same machines.

Each case has pools and pods of its own; only its pods bear the taint of its pools and ask for their label.
All of them stand in one cluster, and in one queue of Karpenter's, so the plan is asked about all at once too.
None has reservations,
which the pretending provider does not know, and no limits that a second look of Karpenter's would meet:
that provider says of a node only what its first pods request, and limits count that.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from berth.machines.estimate import Estimate, Question, estimate
from berth.machines.estimate import Seats as PlannedSeats
from berth.machines.nodelabels import ARCH, CAPACITY_TYPE, INSTANCE_TYPE, ON_DEMAND, SPOT, ZONE

from tests.e2e import karpenterquestion as question
from tests.e2e.images import PAUSE
from tests.e2e.karpenter import node_pool, placement
from tests.e2e.karpenterquestion import CPU, ZONES, apart, one_of, preferred, required
from tests.e2e.project import Document

BUYS = one_of(CAPACITY_TYPE, ON_DEMAND)
AMD = one_of(ARCH, "amd64")
M5 = one_of("karpenter.kwok.sh/instance-family", "m5")
SMALL = one_of(CPU, "5", operator="Lt")
ANY_WAY = one_of(CAPACITY_TYPE, SPOT, ON_DEMAND)
_SPOT: Document = {"affinity": required([one_of(CAPACITY_TYPE, SPOT)])}

Machines = Counter[tuple[str, str, str, str]]
"""How many of each (pool, type, zone, capacity type)."""


class Seats(NamedTuple):
    """Equal pods. `more` of their spec."""

    count: int  # type: ignore[assignment] # hides tuple.count
    cpu: str = "1"
    memory: str = "2Gi"
    gpus: int = 0
    more: Document = {}  # noqa: RUF012 - nobody writes to it


class Case(NamedTuple):
    name: str
    seats: tuple[Seats, ...]
    pools: tuple[tuple[str, tuple[Document, ...], Document], ...] = (("", (BUYS, AMD), {}),)
    """What is added to the name of the case, requirements, and more of the spec."""
    unplaced: int = 0  # pods that are left

    @property
    def node_pools(self) -> list[Document]:
        return [
            node_pool(f"{self.name}{suffix}", self.name, requirements, **spec)
            for suffix, requirements, spec in self.pools
        ]

    def workloads(self, namespace: str) -> list[Document]:
        return [
            _deployment(f"{self.name}-{i}", namespace, _template(self.name, i, seat), seat.count)
            for i, seat in enumerate(self.seats)
        ]

    def planned(self) -> list[PlannedSeats]:
        return [
            question.planned_seats(f"{self.name}-{i}", _template(self.name, i, seat), seat.count)
            for i, seat in enumerate(self.seats)
        ]


class Seen(NamedTuple):
    """What came of a case."""

    machines: Machines
    unplaced: int


def _spec(whose: str, requests: Document, more: Document | None = None) -> Document:
    gpus = {name: amount for name, amount in requests.items() if "/" in name}
    container = {
        "name": "seat",
        "image": PAUSE,
        "resources": {"requests": requests, **({"limits": gpus} if gpus else {})},
    }
    spec = {**placement(whose), "terminationGracePeriodSeconds": 0, "containers": [container]}
    return {**spec, **(more or {})}


def _template(whose: str, number: int, seats: Seats) -> Document:
    requests = {"cpu": seats.cpu, "memory": seats.memory}
    if seats.gpus:
        requests["nvidia.com/gpu"] = str(seats.gpus)
    spec = _spec(whose, requests, seats.more)
    return {"metadata": {"labels": labels(whose, number)}, "spec": spec}


def labels(whose: str, number: int = 0) -> dict[str, str]:
    return {"case": whose, "seats": str(number)}


def _deployment(name: str, namespace: str, template: Document, count: int) -> Document:
    selector = {"matchLabels": template["metadata"]["labels"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": selector, "template": template, "replicas": count},
    }


def _pool(
    *requirements: Document, suffix: str = "", **spec: object
) -> tuple[str, tuple[Document, ...], Document]:
    return suffix, requirements, spec


CASES: Sequence[Case] = (
    Case("one-large-node", (Seats(12),)),
    Case("more-than-one-node", (Seats(50),), (_pool(BUYS, M5),)),
    Case("bound-by-memory", (Seats(6, "100m", "7Gi"),)),
    Case("bound-by-pods", (Seats(70, "20m", "16Mi"),), (_pool(BUYS, one_of(INSTANCE_TYPE, "m5.large")),)),
    Case("exactly-full", (Seats(2, "950m", "1Gi"),)),
    Case("two-sizes", (Seats(3, "6", "10Gi"), Seats(9, "500m", "1Gi")), (_pool(BUYS, M5),)),
    Case("any-architecture", (Seats(3, "1", "1Gi"),), (_pool(BUYS),)),
    Case("spot-is-cheaper", (Seats(5),), (_pool(ANY_WAY, AMD),)),
    Case("one-zone", (Seats(5),), (_pool(BUYS, AMD, one_of(ZONE, ZONES[2])),)),
    Case("small-types-only", (Seats(7),), (_pool(BUYS, AMD, SMALL),)),
    Case("gpus", (Seats(6, "1", "4Gi", 1),)),
    Case("a-node-each", (Seats(4, more={"affinity": apart(labels("a-node-each"))}),)),
    Case(
        "second-term",
        (
            Seats(
                3,
                more={
                    "affinity": required(
                        [one_of(INSTANCE_TYPE, "x1.32xlarge")], [one_of(INSTANCE_TYPE, "r5.2xlarge")]
                    )
                },
            ),
        ),
    ),
    Case("wish-in-vain", (Seats(3, more={"affinity": preferred(one_of(INSTANCE_TYPE, "x1.32xlarge"))}),)),
    Case("wish-come-true", (Seats(3, more={"affinity": preferred(one_of(INSTANCE_TYPE, "r5.2xlarge"))}),)),
    Case("limit-of-cpus", (Seats(12, "1500m"),), (_pool(BUYS, AMD, limits={"cpu": "8"}),), unplaced=7),
    Case(
        "heavier-pool-first",
        (Seats(9),),
        (
            _pool(BUYS, AMD, suffix="-light", weight=10),
            _pool(BUYS, one_of(INSTANCE_TYPE, "m5.xlarge"), suffix="-heavy", weight=90, limits={"cpu": "8"}),
        ),
    ),
    Case("equal-weight-by-name", (Seats(3),), (_pool(BUYS, AMD, suffix="-1"), _pool(BUYS, AMD, suffix="-2"))),
    Case(
        "limit-of-memory",
        (Seats(9, "500m", "6Gi"),),
        (_pool(BUYS, M5, limits={"memory": "48Gi"}),),
        unplaced=2,
    ),
    Case(
        "light-pool-for-gpus",
        (Seats(4), Seats(2, "2", "4Gi", 1)),
        (
            _pool(BUYS, one_of(INSTANCE_TYPE, "g5.xlarge"), suffix="-gpu", weight=1),
            _pool(BUYS, M5, suffix="-cpu", weight=50),
        ),
    ),
    Case("spot-where-it-is-wished", (Seats(3, more=_SPOT), Seats(3)), (_pool(ANY_WAY, AMD),)),
    Case("too-large-for-all", (Seats(1, "60"), Seats(2)), unplaced=1),
)


def plan() -> dict[str, Seen]:
    """By case: what the plan buys for all of them at once."""
    answer = estimate(
        Question(
            tuple(question.planned_pool(pool) for case in CASES for pool in case.node_pools),
            tuple(seats for case in CASES for seats in case.planned()),
            well_known=question.KNOWN,
        )
    )
    return {case.name: _planned(case, answer) for case in CASES}


def _planned(case: Case, answer: Estimate) -> Seen:
    pools = {pool["metadata"]["name"] for pool in case.node_pools}
    names = {seats.name for seats in case.planned()}
    own = [machine for machine in answer.bought if machine.pool in pools]
    machines = Counter((machine.pool, machine.type, machine.zone, machine.capacity_type) for machine in own)
    return Seen(machines, sum(left.count for left in answer.left if left.seats in names))
