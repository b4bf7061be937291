"""Renku's resource pools and classes, as its API answers: what session pods request, and where they may run.

The rules are those by which renku-data-services makes the pod of a session from its class.
"""

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from berth.findings import ERROR, Finding, Path, Problem, severity
from berth.quantity import canonical
from berth.reading.document import parse
from berth.reading.source import Source
from berth.schema import validate
from berth.schema.basemodel import Json, ListOf, Model, Parsed, Whole, field
from berth.schema.documentproblems import DocumentProblems, Refusal, shown
from berth.schema.pod import Amounts
from berth.schema.renkunames import name_of
from berth.schema.scheduling import PREFERRED, REQUIRED
from berth.schema.types import INT64, AnyText, LabelKey

_GPU = "nvidia.com/gpu"
_LARGEST_CPU = 10**6
_ADVICE = "Save what GET /api/data/resource_pools answers; Renku shows the pools that the token may use."


def _cores(value: Any) -> str:
    """Read cores, which Renku rounds to thousandths."""
    if not 0 < value <= _LARGEST_CPU or not round(value * 1000):
        raise Refusal(f"{shown(value)} is not a number of cores.", "Write a number above 0.", "B012")
    return canonical(f"{round(value * 1000)}m")


class _Theirs(Model, extra="ignore", alias_generator=None):
    """Other keys are Renku's business."""


class _Affinity(_Theirs):
    key: LabelKey
    required_during_scheduling: bool = field(False)


class _Class(_Theirs):
    id: Annotated[int, Whole(0)]
    name: AnyText
    cpu: Annotated[str, Parsed("number of cores", _cores, {"type": "number"}, int, float)]
    memory: Annotated[int, Whole(1, INT64 // 2**30)]
    gpu: Annotated[int, Whole(0)] = field(0)
    tolerations: ListOf[LabelKey] = field(())
    node_affinities: ListOf[_Affinity] = field(())

    @property
    def placement(self) -> Json:
        """Return what restricts the nodes of a pod."""
        required, preferred = (
            [
                {"key": affinity.key, "operator": "Exists"}
                for affinity in self.node_affinities
                if affinity.required_during_scheduling == is_required
            ]
            for is_required in (True, False)
        )
        node: Json = {}
        if required:
            node[REQUIRED] = {"nodeSelectorTerms": [{"matchExpressions": required}]}
        if preferred:
            node[PREFERRED] = [{"weight": 1, "preference": {"matchExpressions": preferred}}]
        tolerations = [{"key": key, "operator": "Exists"} for key in self.tolerations]
        pod = {"tolerations": tolerations, "affinity": {"nodeAffinity": node} if node else {}}
        return {key: value for key, value in pod.items() if value}


class _Remote(_Theirs):
    kind: AnyText | None = field(None)


class _Cluster(_Theirs):
    id: AnyText | None = field(None)


class _Pool(_Theirs):
    name: AnyText
    classes: ListOf[_Class]
    remote: _Remote | None = field(None)
    cluster: _Cluster | None = field(None)
    cluster_id: AnyText | None = field(None)

    @property
    def elsewhere(self) -> str:
        """Return where its sessions run; empty: in the cluster of Renku."""
        if self.remote is not None:
            return f"sessions run outside of Kubernetes ({self.remote.kind or 'remote'})"
        cluster = self.cluster_id or (self.cluster and self.cluster.id)
        return f"sessions run in Renku's cluster {cluster}" if cluster else ""


class RenkuClass(NamedTuple):
    """A resource class of Renku, and the sessions of it."""

    name: str  # of a ResourceClass
    id: int
    title: str  # its own name
    pool: str  # name of its pool
    requests: Amounts
    limits: Amounts
    placement: Json
    elsewhere: str  # why its sessions are not in the cluster of Renku; empty: they are

    @property
    def phrase(self) -> str:
        return f'sessions of Renku\'s class {self.id} "{self.title}"'


def read_pools(files: Sequence[Source]) -> tuple[list[RenkuClass] | None, list[Problem | Finding]]:
    """Read the list of resource pools that Renku's API answers, in one file; None if there are errors."""
    (source,) = files
    documents, faults = parse(source)
    problems: list[Problem | Finding] = list(faults)
    pools: list[tuple[Path, _Pool]] = []
    for document in documents:
        if not isinstance(document.value, list):
            message = "this is not the list of Renku's resource pools."
            problems.append(document.origin.problem("B013", (), message, _ADVICE))
            continue
        for i, item in enumerate(document.value):
            report = DocumentProblems(document.origin, (i,))
            pool = validate.read(_Pool, item, report)
            pools += [] if pool is None else [((i,), pool)]
            problems += report.closed()
    found: dict[int, RenkuClass] = {}
    for path, pool in pools:
        for number, one in enumerate(pool.classes):
            if one.id in found:
                at = (*path, "classes", number, "id")
                message = f"duplicate id {one.id}."
                problems.append(
                    documents[0].origin.problem("B016", at, message, "Keep one of the two classes.")
                )
            memory, gpus = canonical(f"{one.memory}Gi"), {_GPU: str(one.gpu)} if one.gpu else {}
            # Renku's gigabytes are GiB, and the limit of memory is its request.
            requests, limits = {"cpu": one.cpu, "memory": memory, **gpus}, {"memory": memory, **gpus}
            found[one.id] = RenkuClass(
                "", one.id, one.name, pool.name, requests, limits, one.placement, pool.elsewhere
            )
    if documents and not found and not any(severity(problem.code) == ERROR for problem in problems):
        problems.append(documents[0].origin.problem("B011", (), "the answer has no resource class.", _ADVICE))
    if not found or any(severity(problem.code) == ERROR for problem in problems):
        return None, problems
    taken: dict[str, RenkuClass] = {}
    for number in sorted(found):  # of several with one name, all but the first have their id after it
        name = name_of(found[number].title, "class")
        name = name_of(f"{found[number].title} {number}", "class") if name in taken else name
        name = f"class-{number}" if name in taken else name
        taken[name] = found[number]._replace(name=name)
    return list(taken.values()), problems
