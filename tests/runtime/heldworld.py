"""A cluster whose numbers belong to somebody else, with pods that hold them, and the sweep."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from berth.core import objectnames
from berth.core.jsonvalues import instant_text
from berth.core.labels import SWEEP_FIELD_MANAGER
from berth.core.objects import CONFIG_MAP
from berth.plugins.numbers.foreignnumbers import field_value, parse_number
from berth.runtime.apiclient import Api, Request, Response
from berth.runtime.program import Log, RuntimeContext
from berth.runtime.sweep import Sweep, SweepSettings

from tests.objectstore import ObjectStore, Target, Tree, collection, home
from tests.runtime.fake_cluster import CONFIGMAPS, LEASES, FakeCluster
from tests.runtime.scalerpod import ScalerPod
from tests.runtime.sweepworld import SITE, made
from tests.runtime.timetables import Row, at, clock, pool, whole_timetable_text

HPA: Tree = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "plural": "horizontalpodautoscalers",
    "namespace": "web",
    "name": "shop",
    "path": ["spec", "minReplicas"],
    "scale": False,
    "unit": "replicas",
}
SHORT: Row = ("course/1", "07:30", "07:35", "08:00", {"small": 25})


def shop(minimum: object = 2) -> Tree:
    """A HorizontalPodAutoscaler; None: it does not say `minReplicas`."""
    spec: Tree = {"maxReplicas": 50, **({} if minimum is None else {"minReplicas": minimum})}
    return foreign("HorizontalPodAutoscaler", "autoscaling/v2", "shop", "web", spec=spec)


def foreign(kind: str, version: str, name: str, namespace: str = "", **more: Any) -> Tree:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}


def number_text(
    number: Tree | None = None,
    rows: Iterable[Row] = (SHORT,),
    reservation: str = "course",
    behavior: str = "none",
    **more: Any,
) -> str:
    """A timetable whose class `small` is a number. `more` is of the pool; without a number, there is none."""
    pools = {}
    if number is not None:
        pools["small"] = {**pool(f"{reservation}-small", behavior), "number": number, **more}
    return whole_timetable_text(reservation, pools, rows)


DEEP = b"[" * 100_000 + b"]" * 100_000


class Killed(BaseException):
    """Ends a program at a request."""


class HeldCluster(FakeCluster):
    """An API server that has all that both programs ask for."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__(None, {})
        self.clock = now
        self.numbers: dict[str, Tree] = {}  # that are watched, by name
        self.changes: list[tuple[str, str, object]] = []  # by our programs: when, which number, to what
        self.after: Callable[[Request], object] = lambda _: None
        self.older: dict[str, str] = {}  # versions of the API, and those in which their objects are kept

    def value(self, name: str = "shop") -> object:
        number = self.numbers[name]
        objects = self.all_in(collection(number["kind"], number.get("namespace", "")))
        steps = [tuple(step) if isinstance(step, list) else step for step in number["path"]]
        return field_value(objects.get(name), steps)

    def watch_number(self, number: Tree, tree: Tree | None = None) -> None:
        """Add an object, and look at its number at each request."""
        self.numbers[number["name"]] = number
        if tree is not None:
            self.add(tree)

    def notes(self) -> list[Any]:
        found = [tree for name, tree in self.all_in(CONFIGMAPS).items() if name.endswith(".held")]
        return [json.loads(tree["data"]["held.json"]) for tree in found]

    def respond(self, request: Request) -> Response:
        before = {name: self.value(name) for name in self.numbers}
        version = "/".join(request.path.split("/")[2:4])
        if version in self.older:
            request = request._replace(path=request.path.replace(version, self.older[version], 1))
        answer = ObjectStore.respond(self, request)
        answer = answer._replace(body=answer.body.replace(b'"DEEP"', DEEP))
        for name, value in before.items():
            if self.value(name) != value:
                self.changes.append((clock(self.clock()), name, self.value(name)))
        self.after(request)
        return answer

    def put(self, path: str, tree: Tree) -> None:
        tree["metadata"]["managedFields"] = tree["metadata"].get("managedFields") or [
            {"manager": "somebody", "time": instant_text(int(self.clock()))}
        ]
        super().put(path, tree)

    def _everywhere(self, path: str) -> Iterable[Tree]:
        return ObjectStore._everywhere(self, path)

    def merge(self, wanted: Target, tree: Tree, patch: Tree) -> Response:
        return ObjectStore.merge(self, wanted, tree, patch)

    def apply(self, wanted: Target, body: Tree, *, forced: bool) -> Response:
        """Apply fields; the managed fields of others stay."""
        before = self.all_in(wanted.collection).get(wanted.name, {"metadata": {}})["metadata"]
        if before.get("managedFields") == "DEEP":
            body = {**body, "metadata": {**body["metadata"], "managedFields": "DEEP"}}
        return super().apply(wanted, body, forced=forced)


class HeldPod(ScalerPod):
    """A pod of a reservation in such a cluster."""

    def __init__(self, world: "HeldWorld", reservation: str) -> None:
        super().__init__("00:00", None, beside=world, reservation=reservation)
        self.wakes = world.now


class HeldWorld:
    """Time passes only in `run`."""

    def __init__(self, now: str, number: Tree | None = None, tree: Tree | None = None) -> None:
        self.now = float(at(now))
        self.cluster = HeldCluster(lambda: self.now)
        self.cluster.watch_number(number or HPA, tree or shop())
        self.pods: dict[str, HeldPod] = {}  # by reservation
        self.lines: list[Tree] = []  # of the sweep
        self.wrong: list[object] = []  # that a test has seen in between
        self._planned: list[tuple[float, int, Callable[[], object]]] = []

    def apply(self, text: str | None, reservation: str = "course") -> None:
        """An engine applies a timetable, and what tells of its number; that outlives the timetable."""
        name = objectnames.single(reservation)
        if text is None:
            self.cluster.all_in(CONFIGMAPS).pop(name, None)
            return
        labels = {"berth.dev/role": "timetable"}
        metadata = {"managedFields": [{"manager": "argocd", "time": instant_text(int(self.now))}]}
        tree = made(CONFIG_MAP, name, reservation, labels=labels, metadata=metadata)
        before = self.cluster.all_in(CONFIGMAPS).get(name, {"metadata": {}})["metadata"]
        tree["metadata"]["annotations"] = before.get("annotations", {})
        self.cluster.add({**tree, "data": {"timetable.json": text}})
        for found in json.loads(text)["pools"].values():
            if "number" in found:
                self.evidence(found["number"], reservation)

    def evidence(self, number: Tree, reservation: str = "course", name: str | None = None) -> None:
        text = json.dumps(number)
        found = objectnames.target(f"{reservation}-small", text) if name is None else name
        labels = {"berth.dev/role": "target", "berth.dev/resource-class": "small"}
        if found not in self.cluster.all_in(CONFIGMAPS):
            self.cluster.add(made(CONFIG_MAP, found, reservation, labels=labels, data={"target.json": text}))

    def override(self, target: int | None, until: str = "23:00", reservation: str = "course") -> None:
        overrides = {} if target is None else {"small": {"target": target, "until": instant_text(at(until))}}
        metadata = self.cluster.all_in(CONFIGMAPS)[reservation]["metadata"]
        metadata["annotations"] = {"berth.dev/override": json.dumps(overrides)} if overrides else {}

    def plan(self, when: str, action: Callable[[], object]) -> None:
        self._planned.append((float(at(when)), len(self._planned), action))
        self._planned.sort()

    def start(self, reservation: str = "course") -> HeldPod:
        """Start the pod of an occurrence."""
        pod = self.pods[reservation] = HeldPod(self, reservation)
        return pod

    def kill(self, reservation: str = "course") -> None:
        """Let the pod die, if there is one, long enough ago for its Leases to have run out."""
        if pod := self.pods.pop(reservation, None):
            for lease in self.cluster.all_in(LEASES).values():
                if lease["spec"]["holderIdentity"] in ("", pod.name):
                    lease["spec"]["renewTime"] = "2026-02-02T00:00:00.000000Z"

    def run(self, until: str) -> None:
        """Let the pods live, each until it ends."""
        end = float(at(until))
        while self.now < end:
            for name, pod in list(self.pods.items()):
                if pod.wakes <= self.now:
                    self._step(name, pod)
            soonest = min([end, *(max(pod.wakes, self.now) for pod in self.pods.values())])
            if self._planned and self._planned[0][0] <= soonest:
                self.now, _, action = self._planned.pop(0)
                action()
                for pod in self.pods.values():
                    pod.wakes = self.now
                continue
            self.now = max(self.now, soonest)

    def _step(self, name: str, pod: HeldPod) -> None:
        try:
            pod.wakes = self.now + max(pod.scaler.step(), 0.001)
        except Killed:
            self.kill(name)
        except Exception as error:
            pod.log.append({"event": "failed", "subject": "run", "reason": repr(error)})
            pod.wakes = self.now + 5.0
        if pod.scaler.exit_code is not None:
            self.kill(name)

    def sweep(self) -> int:
        """Run the sweep once; return its exit code."""
        log = Log(lambda line: self.lines.append(json.loads(line)), lambda: self.now, "")
        api = Api(self.cluster, SWEEP_FIELD_MANAGER)
        return self.sweep_with(api, log)

    def sweep_with(self, api: Api, log: Log) -> int:
        def wait(seconds: float) -> None:
            self.now += seconds

        context = RuntimeContext(api, "berth", log, lambda: self.now, lambda: 0.0, wait)
        return Sweep(context, SweepSettings(SITE, False, "")).run()

    def sweeps(self, until: str) -> None:
        """Run the sweep every five minutes, beside the pods."""
        while self.now < at(until):
            self.sweep()
            self.run(clock(min(self.now + 300, at(until))))

    @property
    def value(self) -> object:
        return self.cluster.value(next(iter(self.cluster.numbers)))

    @property
    def changes(self) -> list[tuple[str, object]]:
        return [(when, value) for when, _, value in self.cluster.changes]

    def events(self, reason: str) -> list[str]:
        return [tree["message"] for tree in self.cluster.events if tree["reason"] == reason]

    def names(self, role: str) -> list[str]:
        """ConfigMaps of a role."""
        return [
            name
            for name, tree in self.cluster.all_in(CONFIGMAPS).items()
            if tree["metadata"].get("labels", {}).get("berth.dev/role") == role
        ]

    def set(self, minimum: object, manager: str = "") -> None:
        """Somebody else sets the number of the shop."""
        tree = shop(minimum)
        tree["metadata"]["uid"] = self.cluster.all_in(home(tree))["shop"]["metadata"]["uid"]
        if manager:
            fields: Tree = {"f:spec": {"f:minReplicas": {}}}
            entry = {"manager": manager, "time": instant_text(int(self.now)), "fieldsV1": fields}
            tree["metadata"]["managedFields"] = [entry]
        self.cluster.add(tree)


def parsed(number: Tree) -> Any:
    return parse_number(number, "number")
