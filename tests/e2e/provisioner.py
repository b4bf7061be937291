"""Asks Karpenter's own provisioner the questions of the estimate: the first round, without a cluster."""

import json
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping

from berth.machines.estimate import ExistingMachine, NodePool, Question, Seats
from berth.machines.instancetypes import (
    ONE,
    InstanceType,
    ResourceList,
    offering_requirements,
    type_requirements,
)
from berth.machines.nodelabels import INITIALIZED, RESERVATION_ID, Requirement, Taint

from tests.e2e.binaries import binary
from tests.e2e.errors import E2EError
from tests.e2e.project import Document

Answer = tuple[Counter[tuple[str, tuple[tuple[str, int], ...]]], dict[str, int]]
"""By name of a node, or pool of a NodeClaim: what it took, in any order; and how many pods have no place."""


def solve(questions: Iterable[Question]) -> list[Answer]:
    """What Karpenter answers to each question."""
    lines = "".join(json.dumps(_question(question)) + "\n" for question in questions)
    done = subprocess.run([binary("provisioner")], input=lines, capture_output=True, text=True, check=False)
    if done.returncode:
        raise E2EError(done.stderr.strip())
    return [_answer(json.loads(line)) for line in done.stdout.splitlines()]


def _answer(told: Document) -> Answer:
    taken = [(name, _counts(pods)) for name, pods in told["nodes"].items()]
    taken += [(one["pool"], _counts(one["pods"])) for one in told["claims"] or ()]
    return Counter(taken), {name: count for name, count in told["left"].items() if count}


def _counts(pods: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(pods.items()))


def _question(asked: Question) -> Document:
    return {
        "wellKnown": sorted(asked.well_known),
        "reservationID": RESERVATION_ID,
        "nodePools": [_pool(pool) for pool in asked.pools],
        "instanceTypes": [_type(type_) for type_ in asked.pools[0].types],
        "pods": [{"name": pod.name, "count": pod.count, "pod": _pod(pod)} for pod in asked.seats],
        "nodes": [_node(node) for node in asked.machines],
    }


def _pool(pool: NodePool) -> Document:
    template = {
        "metadata": {"labels": dict(pool.labels)},
        "spec": {
            "requirements": [said for requirement in pool.requirements for said in _requirement(requirement)],
            "taints": [_taint(taint) for taint in pool.taints],
        },
    }
    spec = {"template": template, "weight": pool.weight, "limits": _resources(pool.limits)}
    return {"metadata": {"name": pool.name}, "spec": spec}


def _type(one: InstanceType) -> Document:
    return {
        "name": one.name,
        "capacity": _resources(one.capacity),
        "overhead": _resources(one.overhead),
        "requirements": _requirements(type_requirements(one)),
        "offerings": [
            {
                "price": offering.price,
                "available": True,
                "count": offering.count,
                "requirements": _requirements(offering_requirements(offering)),
            }
            for offering in one.offerings
        ],
    }


def _node(one: ExistingMachine) -> Document:
    labels = {**dict(one.labels), INITIALIZED: "true"}
    taints = [_taint(taint) for taint in one.taints]
    resources = {"allocatable": _resources(one.allocatable), "capacity": _resources(one.capacity)}
    return {"metadata": {"name": one.name, "labels": labels}, "spec": {"taints": taints}, "status": resources}


def _pod(pod: Seats) -> Document:
    spec: Document = {
        "containers": [{"name": "seat", "resources": {"requests": _resources(pod.requests)}}],
        "nodeSelector": dict(pod.node_selector),
        "tolerations": [
            {key: value for key, value in toleration._asdict().items() if value}
            for toleration in pod.tolerations
        ],
        "affinity": {"nodeAffinity": _node_affinity(pod)},
    }
    return {"metadata": {"namespace": "default"}, "spec": spec}


def _node_affinity(pod: Seats) -> Document:
    required = [{"matchExpressions": _requirements(term)} for term in pod.required]
    preferred = [
        {"weight": one.weight, "preference": {"matchExpressions": _requirements(one.requirements)}}
        for one in pod.preferred
    ]
    return _affinity({"nodeSelectorTerms": required} if required else None, preferred)


def _affinity(required: object, preferred: object) -> Document:
    suffix = "DuringSchedulingIgnoredDuringExecution"
    told = {f"required{suffix}": required, f"preferred{suffix}": preferred}
    return {name: value for name, value in told.items() if value}


def _requirements(some: Iterable[Requirement]) -> list[Document]:
    return [said for requirement in some for said in _requirement(requirement)]


def _requirement(one: Requirement) -> list[Document]:
    """A requirement with a bound for numbers has no values."""
    bounds = [("Gte", one.least), ("Lte", one.most)]
    told = [{"key": one.key, "operator": name, "values": [str(n)]} for name, n in bounds if n is not None]
    return told or [{"key": one.key, "operator": one.operator, "values": sorted(one.values)}]


def _taint(taint: Taint) -> Document:
    return dict(taint._asdict())


def _resources(some: ResourceList) -> Document:
    """In the units of each resource, with nine decimals."""
    return {name: f"{value // ONE}.{value % ONE:09}" for name, value in some}
