"""What Karpenter buys for the table of cases: all of their pods are there before it looks.

What it buys at its first look is what the plan tells. kube-scheduler then places the pods by rules of its
own: where small ones take the room that was meant for a large one, Karpenter buys once more.
"""

from collections import Counter
from collections.abc import Sequence

from berth.core.jsonvalues import parse_instant
from berth.machines.nodelabels import CAPACITY_TYPE, INSTANCE_TYPE, NODEPOOL, ZONE

from tests.e2e.cluster import Cluster
from tests.e2e.direct import Direct, Object, at_once
from tests.e2e.errors import WaitTimeoutError
from tests.e2e.karpenter import POOLS, Karpenter, many
from tests.e2e.karpentercases import CASES, Case, Machines, Seen
from tests.e2e.waiting import wait_for

NAMESPACE = "karpenter-table"
LOOK = 5  # seconds in which all that one look buys is created; looks are further apart
_PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"


def ask(cluster: Cluster, direct: Direct, karpenter: Karpenter) -> dict[str, Seen]:
    """By case. Karpenter runs afterwards, and what was bought goes."""
    cluster.create_namespace(NAMESPACE)
    pools = [pool for one in CASES for pool in one.node_pools]
    cluster.apply(many(pools))
    karpenter.component.start()
    karpenter.wait_for_pools([pool["metadata"]["name"] for pool in pools])
    # It batches by time: so that pods which come together are not bought for apart, they come without it.
    karpenter.component.stop()
    cluster.apply(many([workload for case in CASES for workload in case.workloads(NAMESPACE)]))
    seats = sum(seats.count for case in CASES for seats in case.seats)
    wait_for(lambda: len(_waiting(direct)) == seats, 30, f"{seats} pods to find no node")
    karpenter.component.start()
    try:
        left = sum(case.unplaced for case in CASES)
        wait_for(lambda: len(_waiting(direct)) == left, 120, "nodes for all pods")
    except WaitTimeoutError:
        pass  # the test of each case tells which
    return _seen(direct, karpenter)


def forget(cluster: Cluster, direct: Direct) -> None:
    """Harmless where nothing has been asked."""
    cluster.kubectl("delete", "namespace", NAMESPACE, "--ignore-not-found", "--wait=false")
    at_once([lambda name=name: direct.delete(f"{POOLS}/{name}") for name in _pools()])  # type: ignore[misc]


def _pools() -> list[str]:
    return [pool["metadata"]["name"] for one in CASES for pool in one.node_pools]


def _waiting(direct: Direct) -> list[Object]:
    """Of Deployments, those that the scheduler has looked at and has no node for."""
    return [
        pod
        for pod in direct.items(f"{_PODS}?labelSelector=seats")
        if any(
            one["type"] == "PodScheduled" and one["status"] == "False"
            for one in pod["status"].get("conditions", ())
        )
    ]


def _seen(direct: Direct, karpenter: Karpenter) -> dict[str, Seen]:
    claims, waiting = _first(karpenter.claims()), _waiting(direct)
    return {one.name: Seen(_machines(one, claims), _unplaced(one, waiting)) for one in CASES}


def _first(claims: Sequence[Object]) -> list[Object]:
    """Those of the first look."""
    made = [(parse_instant(claim["metadata"]["creationTimestamp"]), claim) for claim in claims]
    begun = min((at for at, _ in made), default=0)
    return [one for at, one in made if at < begun + LOOK]


def _machines(case: Case, claims: Sequence[Object]) -> Machines:
    own = {pool["metadata"]["name"] for pool in case.node_pools}
    keys = (NODEPOOL, INSTANCE_TYPE, ZONE, CAPACITY_TYPE)
    bought = [claim["metadata"]["labels"] for claim in claims if claim["metadata"]["labels"][NODEPOOL] in own]
    told = [tuple(labels.get(key, "") for key in keys) for labels in bought]
    return Counter((pool, kind, zone, how) for pool, kind, zone, how in told)


def _unplaced(case: Case, waiting: Sequence[Object]) -> int:
    return sum(pod["metadata"]["labels"]["case"] == case.name for pod in waiting)
