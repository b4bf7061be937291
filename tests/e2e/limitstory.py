"""A window on the limit of a NodePool that somebody else owns: what Karpenter buys in it, and afterwards.

Each pod fills a machine, so as many machines may be bought as the limit has room for.
"""

import time
from typing import NamedTuple

from tests.e2e import fieldholding
from tests.e2e.cluster import Cluster
from tests.e2e.direct import Direct
from tests.e2e.karpenter import CLAIMS, FOR, POOLS, node_pool
from tests.e2e.karpenterstory import MACHINES, session_pod
from tests.e2e.seats import is_placed
from tests.e2e.windows import wait_until

NAMESPACE, WHOSE = "karpenter-limits", "limited"
CORES = 4  # of a machine
USUAL, RAISED = 1, 3  # machines
LATE = 90  # seconds until what is allowed is there, also on a busy machine
QUIET = 25  # seconds in which Karpenter looks twice at pods that wait
PATH = "spec.limits.cpu"
_PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"


class LimitLook(NamedTuple):
    """NodeClaims, nodes, pods with a node, and pods without."""

    claims: int
    nodes: int
    placed: int
    waiting: int


class LimitTold(NamedTuple):
    looks: dict[str, LimitLook]
    seconds: float  # from the raise until all pods had a node


def happen(cluster: Cluster, direct: Direct) -> LimitTold:
    cluster.create_namespace(NAMESPACE)
    pool = node_pool(WHOSE, WHOSE, MACHINES, limits={"cpu": str(USUAL * CORES)})
    direct.create(POOLS, pool)
    held = fieldholding.of_object("karpenter.sh/v1", "NodePool", "nodepools", WHOSE, PATH, home=NAMESPACE)
    looks = {}

    def submit(first: int, count: int) -> None:
        for number in range(first, first + count):
            direct.create(_PODS, session_pod(f"work-{number}", WHOSE, "3500m"))

    def until(placed: int) -> LimitLook:
        wait_until(lambda: _look(direct).placed >= placed, time.time() + LATE)
        return _look(direct)

    submit(0, RAISED)
    until(USUAL)
    time.sleep(QUIET)
    looks["before"] = _look(direct)
    raised = time.time()
    held.hold(RAISED * CORES)
    looks["raised"] = until(RAISED)
    seconds = time.time() - raised
    held.release()
    submit(RAISED, 1)
    time.sleep(QUIET)
    looks["after"] = _look(direct)
    return LimitTold(looks, seconds)


def _look(direct: Direct) -> LimitLook:
    pods = direct.items(_PODS)
    placed = sum(map(is_placed, pods))
    claims, nodes = (
        len(direct.items(f"{path}?labelSelector={FOR}={WHOSE}")) for path in (CLAIMS, "/api/v1/nodes")
    )
    return LimitLook(claims, nodes, placed, len(pods) - placed)
