"""Renku's resource pools and classes, as its API answers: what session pods request, and where they may run.

The rules are those by which renku-data-services makes the pod of a session from its class.
"""

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

from pydantic import ConfigDict

from berth.findings import ERROR, Finding, Path, Problem, severity
from berth.quantity import canonical
from berth.reading.document import parse
from berth.reading.source import Source
from berth.schema import validate
from berth.schema.basemodel import Json, ListOf, Model, Parsed, Whole, field, wrong_type
from berth.schema.documentproblems import CONFLICT, MISSING, RANGE, TYPE, DocumentProblems, Refusal, shown
from berth.schema.pod import Amounts
from berth.schema.renkunames import KIND, error_answer, name_of
from berth.schema.scheduling import PREFERRED, REQUIRED
from berth.schema.types import INT64, AnyText, LabelKey

_GPU = "nvidia.com/gpu"
_LARGEST_CPU = 10**6
_ADVICE = "Save what GET /api/data/resource_pools answers."


def _cores(value: Any) -> str:
    """Read cores, which Renku rounds to thousandths."""
    if type(value) not in (int, float):
        raise wrong_type(value, "number of cores")
    if not 0 < value <= _LARGEST_CPU or not round(value * 1000):
        raise Refusal(f"{shown(value)} is not a number of cores.", "Write a number above 0.", RANGE)
    return canonical(f"{round(value * 1000)}m")


class _Theirs(Model):
    """Other keys are Renku's business."""

    model_config = ConfigDict(extra="ignore", alias_generator=None)


class _Affinity(_Theirs):
    key: LabelKey
    required_during_scheduling: bool = field(False)


class _Class(_Theirs):
    id: Annotated[int, Whole(0)]
    name: AnyText
    cpu: Annotated[str, Parsed("number of cores", _cores, {"type": "number"})]
    memory: Annotated[int, Whole(1, INT64 // 2**30)]
    gpu: Annotated[int, Whole(0)] = field(0)
    tolerations: ListOf[LabelKey] = field(())
    node_affinities: ListOf[_Affinity] = field(())

    @property
    def amounts(self) -> tuple[Amounts, Amounts]:
        """Return requests and limits. Renku's gigabytes are GiB, and the limit of memory is its request."""
        memory = canonical(f"{self.memory}Gi")
        gpus = {_GPU: str(self.gpu)} if self.gpu else {}
        return {"cpu": self.cpu, "memory": memory, **gpus}, {"memory": memory, **gpus}

    @property
    def placement(self) -> Json:
        """Return what restricts the nodes of a pod."""
        required = [
            node_affinity.key
            for node_affinity in self.node_affinities
            if node_affinity.required_during_scheduling
        ]
        preferred = [
            node_affinity.key
            for node_affinity in self.node_affinities
            if not node_affinity.required_during_scheduling
        ]
        node: Json = {}
        if required:
            node[REQUIRED] = {"nodeSelectorTerms": [_exist(required)]}
        if preferred:
            node[PREFERRED] = [{"weight": 1, "preference": _exist(preferred)}]
        tolerations = [{"key": key, "operator": "Exists"} for key in self.tolerations]
        pod = {"tolerations": tolerations, "affinity": {"nodeAffinity": node} if node else {}}
        return {key: value for key, value in pod.items() if value}


def _exist(keys: list[str]) -> Json:
    return {"matchExpressions": [{"key": key, "operator": "Exists"} for key in keys]}


class _Remote(_Theirs):
    kind: AnyText | None = field(None)


class _Cluster(_Theirs):
    id: AnyText | None = field(None)


class _Pool(_Theirs):
    name: AnyText
    classes: ListOf[_Class] = field(())
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
    pool: str  # name of its pool; empty: not known
    requests: Amounts
    limits: Amounts
    placement: Json
    elsewhere: str  # why its sessions are not in the cluster of Renku; empty: they are
    path: Path = ()  # in the answer

    @property
    def phrase(self) -> str:
        return f'sessions of Renku\'s class {self.id} "{self.title}"'


class PoolsReading(NamedTuple):
    """The classes in a file, by id, unless there are errors; and all problems."""

    classes: tuple[RenkuClass, ...] | None
    problems: tuple[Problem | Finding, ...]
    index: int = 0  # type: ignore[assignment] # of the document; hides tuple.index


def read_pools(source: Source) -> PoolsReading:
    """Read one or all resource pools, or the classes of a pool, as Renku's API answers."""
    documents, faults = parse(source)
    problems: list[Problem | Finding] = list(faults)
    if len(documents) > 1:
        message = f"there are {len(documents)} documents; an answer of Renku is one."
        problems.append(documents[1].origin.problem(TYPE, (), message, "Split the file."))
    if len(documents) != 1:
        return PoolsReading(None, tuple(problems))
    report = DocumentProblems(documents[0].origin)
    rows = list(_rows(documents[0].value, report))
    problems += report.problems
    if not rows and not any(severity(problem.code) == ERROR for problem in problems):
        message = "the answer has no resource class; Renku shows the pools that the token may use."
        problems.append(report.origin.problem(MISSING, (), message, _ADVICE))
    if any(severity(problem.code) == ERROR for problem in problems):
        return PoolsReading(None, tuple(problems))
    return PoolsReading(tuple(_named(rows)), tuple(problems), documents[0].index)


_Row = tuple[_Pool | None, _Class, Path]  # the path is that of the class


def _rows(value: Any, report: DocumentProblems) -> Iterator[_Row]:
    """Yield each class with its pool, and report what is wrong."""
    answer = error_answer(value)
    if answer is not None:
        report(KIND, ("error",), answer.message, answer.fix)
        return
    items = value if isinstance(value, list) else [value]
    paths: list[Path] = [(i,) for i in range(len(items))] if isinstance(value, list) else [()]
    ids: set[int] = set()
    for path, item in zip(paths, items, strict=True):
        inner = DocumentProblems(report.origin._replace(prefix=path))
        for pool, session_class, at in _of_item(item, inner):
            if session_class.id in ids:
                inner(
                    CONFLICT, (*at, "id"), f"duplicate id {session_class.id}.", "Keep one of the two classes."
                )
            ids.add(session_class.id)
            yield pool, session_class, (*path, *at)
        report.problems += inner.problems


def _of_item(item: Any, report: DocumentProblems) -> Iterator[_Row]:
    keys = item.keys() if isinstance(item, dict) else set()
    if "classes" in keys:
        pool = validate.read(_Pool, item, report)
        if pool is not None:
            yield from ((pool, session_class, ("classes", i)) for i, session_class in enumerate(pool.classes))
    elif {"cpu", "memory"} & keys:
        session_class = validate.read(_Class, item, report)
        if session_class is not None:
            yield None, session_class, ()
    else:
        what = "this mapping" if isinstance(item, dict) else shown(item)
        report(TYPE, (), f"{what} is not a resource pool or a resource class of Renku.", _ADVICE)


def _named(rows: list[_Row]) -> Iterator[RenkuClass]:
    """Yield the classes by id. Of several with one name, all but the first have their id after it."""
    taken: set[str] = set()
    for pool, session_class, path in sorted(rows, key=lambda row: row[1].id):
        name = name_of(session_class.name, "class")
        name = name_of(f"{session_class.name} {session_class.id}", "class") if name in taken else name
        name = f"class-{session_class.id}" if name in taken else name
        taken.add(name)
        requests, limits = session_class.amounts
        yield RenkuClass(
            name,
            session_class.id,
            session_class.name,
            "" if pool is None else pool.name,
            requests,
            limits,
            session_class.placement,
            "" if pool is None else pool.elsewhere,
            path,
        )
