"""Objects of a site as an API server in memory has them, and the sweep that runs over them."""

import json
from collections.abc import Callable
from typing import Any

from berth.backends.capacitybuffer.capacitybufferbackend import BACKEND as BUFFERS
from berth.backends.koordinator.koordinatorbackend import of_slots
from berth.core.jsonvalues import instant_text
from berth.core.labels import PLUGINS, SWEEP_FIELD_MANAGER
from berth.core.objectreading import parse_object
from berth.core.objects import (
    CAPACITY_BUFFER,
    CONFIG_MAP,
    CRON_JOB,
    DEPLOYMENT,
    JOB,
    LEASE,
    NODE_POOL,
    RIGHTS,
    SLOT,
    ObjectKind,
)
from berth.core.state import SiteState, StateObject, site_state
from berth.manifests import naming
from berth.manifests.rbac import of_sweep
from berth.runtime.apiclient import APPLY, Api, Request, Response
from berth.runtime.program import Log, RuntimeContext
from berth.runtime.sweep import Sweep, SweepSettings

from tests.objectstore import LISTS, ObjectStore, Target, Tree, good, refusal, target
from tests.runtime.fake_koordinator import PATH as SLOTS
from tests.runtime.fake_koordinator import FakeKoordinator
from tests.runtime.slotworld import DIGEST
from tests.runtime.timetables import COURSE, Row, at, instant_of, timetable_text

# The API server, which refuses what the sweep's Role does not grant; slots are Koordinator's


Interference = Callable[[str], Response | None]
NAMESPACE = "berth"
VERBS = {"LIST": "list", "GET": "get", "PATCH": "patch", "POST": "create", "DELETE": "delete"}
NUMBERS: list[Tree] = [  # of somebody else, and notes about them
    {"resources": ["configmaps"], "verbs": ["get", "create", "patch"]},
    {"resources": ["horizontalpodautoscalers", "clusterqueues"], "verbs": ["get", "patch"]},
    {"resources": ["statefulsets"], "verbs": ["get"]},
    {"resources": ["statefulsets/scale"], "verbs": ["patch"]},
]
COLLECTIONS = {path.rpartition("/")[2]: path.format(NAMESPACE) for path in LISTS}


NOW = "now"  # for the time of a renewal: when it is looked at


def micro_time(instant: int) -> str:
    return f"{instant_text(instant)[:-1]}.000000Z"


def renewed_now(tree: Tree, now: int) -> Tree:
    """Return the object, its Lease renewed now if it is to be."""
    if tree.get("spec", {}).get("renewTime") != NOW:
        return tree
    return {**tree, "spec": {**tree["spec"], "renewTime": micro_time(now)}}


class FakeObjects(ObjectStore):
    """A transport of `berth.runtime.apiclient.Api`."""

    def __init__(self, now: int, *trees: Tree, prunes: bool = False, page: int = 1_000_000) -> None:
        """At most `page` objects are in an answer, whatever is asked for."""
        self.now = now
        super().__init__(lambda: float(self.now))
        self.page = page
        self.koordinator = FakeKoordinator(self.clock)
        self.requests: list[str] = []  # all, as "VERB plural name"
        self.writes: list[str] = []  # those that changed something
        self.interfere: Interference = lambda _: None
        nodes = {"resources": ["nodepools/scale"], "verbs": ["get", "patch"]}  # by name, for each reservation
        rules = [
            *of_sweep(BUFFERS.sweep_rules(), prunes=prunes),
            *of_slots()[naming.SWEEP],
            *NUMBERS,
            nodes,
            {"resources": ["nodepools"], "verbs": ["list"]},
        ]
        self._granted: dict[str, list[str]] = {}
        for rule in rules:
            for resource in rule["resources"]:
                self._granted.setdefault(resource, []).extend(rule["verbs"])
        for tree in trees:
            self.add(renewed_now(tree, now))

    def of(self, plural: str) -> dict[str, Tree]:
        """Return the objects of a kind by name."""
        return self.all_in(COLLECTIONS[plural])

    def replicas(self) -> dict[str, int]:
        return {name: tree["spec"]["replicas"] for name, tree in self.of("deployments").items()}

    def events(self) -> list[tuple[str, str, str]]:
        """Of which Deployment, with which reason and message."""
        found = self.of("events").values()
        return [(one["involvedObject"]["name"], one["reason"], one["message"]) for one in found]

    def __call__(self, request: Request) -> Response:
        if request.path == "/version":
            return good({})
        wanted = target(request.path)
        verb = "LIST" if request.method == "GET" and not wanted.name else request.method
        line = " ".join(word for word in (verb, wanted.plural, wanted.name, wanted.part) if word)
        self.requests.append(line)
        if (answer := self.interfere(line)) is not None:
            return answer
        resource = f"{wanted.plural}/{wanted.part}" if wanted.part else wanted.plural
        needed = {VERBS[verb], "create"} if request.content_type == APPLY else {VERBS[verb]}
        if not needed <= set(self._granted.get(resource, ())):
            return refusal(403, "Forbidden", f"cannot {verb} {resource}")
        if request.method == "PATCH":
            forced = {"force": "true"} if request.content_type == APPLY else {}
            assert wanted.asked == {"fieldManager": "berth-sweep"} | forced
        if wanted.collection == SLOTS:
            answer = self.koordinator(request)
        else:
            assert wanted.collection == COLLECTIONS[wanted.plural]
            answer = self.respond(request)
        if verb not in ("LIST", "GET") and answer.status in (200, 201):
            self.writes.append(line)
        return answer

    def list(self, wanted: Target) -> Response:
        assert wanted.asked["labelSelector"], "it would read what belongs to others"
        assert wanted.asked["limit"]
        assert wanted.plural == "pods" or "fieldSelector" not in wanted.asked
        return super().list(wanted)

    def delete(self, wanted: Target, tree: Tree, options: Tree) -> Response:
        assert options["propagationPolicy"] == "Background"
        assert options["preconditions"]["uid"]
        return super().delete(wanted, tree, options)


# Objects, and runs of the sweep


SITE = "example"
KINDS = (CONFIG_MAP, DEPLOYMENT, CRON_JOB, JOB, LEASE, *RIGHTS, SLOT, NODE_POOL, CAPACITY_BUFFER)
LONG_AGO = "00:00"
INVENTORY = "berth-inventory"


def made(
    kind: ObjectKind, name: str, reservation: str = "course", created: str = LONG_AGO, **more: Any
) -> Tree:
    """An object of the site and of a reservation. `labels` replaces or adds to what it is known by; None
    takes one away.
    """
    labels = {"berth.dev/site": SITE, "berth.dev/reservation": reservation, **more.pop("labels", {})}
    metadata = {
        "name": name,
        "namespace": NAMESPACE,
        "uid": f"uid-{kind.name}-{name}",
        "creationTimestamp": instant_text(at(created)),
        "labels": {key: value for key, value in labels.items() if value is not None},
        **more.pop("metadata", {}),
    }
    return {"apiVersion": kind.version, "kind": kind.name, "metadata": metadata, **more}


def timetable(
    *rows: Row,
    name: str = "course",
    changed: str = LONG_AGO,
    created: str = LONG_AGO,
    annotations: Tree | None = None,
    labels: Tree | None = None,
    **more: Any,
) -> Tree:
    """`text` replaces all of what the rows and the rest say."""
    text = more.pop("text", None)
    if text is None:
        data = json.loads(timetable_text(*(rows or (COURSE,)), **more))
        text = json.dumps({**data, "reservation": name})
    metadata = {
        "annotations": annotations or {},
        "managedFields": [{"manager": "kubectl", "time": instant_text(at(changed))}],
    }
    known = {"berth.dev/role": "timetable", **(labels or {})}
    return made(
        CONFIG_MAP, name, name, created, labels=known, metadata=metadata, data={"timetable.json": text}
    )


def deployment(replicas: int, name: str = "course-small", ready: int | None = None, **more: Any) -> Tree:
    """Of the class that its name ends with."""
    status = {"readyReplicas": replicas if ready is None else ready} if replicas else {}
    selector = {"matchLabels": {"berth.dev/resource-class": name.rpartition("-")[2]}}
    return made(DEPLOYMENT, name, **more, spec={"replicas": replicas, "selector": selector}, status=status)


def node_pool(replicas: int | None, name: str = "example.course-small", **more: Any) -> Tree:
    """None: its nodes follow pods."""
    spec = {} if replicas is None else {"replicas": replicas}
    return made(NODE_POOL, name, **more, spec=spec, status={"nodes": replicas or 0})


def capacity_buffer(replicas: int, name: str = "course-small", ready: bool = True, **more: Any) -> Tree:
    """Of the class that its name ends with. `ready`: Karpenter has nodes for all."""
    told = {"type": "Provisioning", "status": "True" if ready else "False", "observedGeneration": 3}
    told["reason"] = "FitsExistingCapacity" if ready else "RequiresNewCapacity"
    more |= {"labels": {"berth.dev/resource-class": name.rpartition("-")[2]}, "metadata": {"generation": 3}}
    status = {"replicas": replicas, "conditions": [told]}
    return made(CAPACITY_BUFFER, name, **more, spec={"replicas": replicas}, status=status)


TEMPLATE: Tree = {
    "metadata": {"creationTimestamp": None, "labels": {"berth.dev/role": "occurrence", "team": "blue"}},
    "spec": {
        "backoffLimit": 7,
        "template": {"spec": {"restartPolicy": "Never", "serviceAccountName": "course"}},
    },
}


def cronjob(name: str = "course", **more: Any) -> Tree:
    return made(CRON_JOB, name, **more, spec={"schedule": "30 7 * * *", "jobTemplate": TEMPLATE})


def job(name: str = "course-1", created: str = "07:30", end: str = "", **more: Any) -> Tree:
    """`end` is Complete or Failed."""
    status = {"conditions": [{"type": end, "status": "True"}]} if end else {"active": 1}
    labels = {"berth.dev/role": "occurrence", **more.pop("labels", {})}
    return made(JOB, name, created=created, labels=labels, status=status, **more)


def lease(renewed: str = NOW, name: str = "course-small", holder: str = "course-1-x", **more: Any) -> Tree:
    """The Lease of a pool, last renewed at an instant. The timetable owns it."""
    spec = {"holderIdentity": holder, "renewTime": renewed if renewed == NOW else micro_time(at(renewed))}
    owners = [{"kind": "ConfigMap", "uid": f"uid-ConfigMap-{more.get('reservation', 'course')}"}]
    return made(LEASE, name, **more, metadata={"ownerReferences": owners}, spec=spec)


def record(written: str, name: str = "course-record", **labels: str | None) -> Tree:
    """The record, last written at an instant by the clock of the API server. `labels` have no domain."""
    times = [
        {"manager": "berth-scaler", "time": time} for time in ("2024-01-01T00:00:00Z", instant_of(written))
    ]
    return made(
        CONFIG_MAP,
        name,
        labels={"berth.dev/role": "record", **{f"berth.dev/{key}": value for key, value in labels.items()}},
        metadata={"managedFields": times},
        data={"records.json": "[]"},
    )


def inventory(text: str | None, slots: str | None = None, objects: str | None = None) -> Tree:
    data = {} if text is None else {"reservations.txt": text}
    if slots is not None:
        data["slots.txt"] = slots
    if objects is not None:
        data["objects.txt"] = objects
    return made(CONFIG_MAP, INVENTORY, labels={"berth.dev/reservation": None}, data=data)


def slot_of(
    name: str, phase: str = "Available", owners: tuple[str, ...] = (), created: str = LONG_AGO, **more: Any
) -> Tree:
    """`more` replaces labels of a slot of `course` and `small`; those of owners that begin with `course-` are
    placeholders.
    """
    known = {"berth.dev/resource-class": "small", "berth.dev/role": "slot", **more.pop("labels", {})}
    namespaces = ["berth" if owner.startswith("course-") else "students" for owner in owners]
    current = [{"namespace": where, "name": owner} for where, owner in zip(namespaces, owners, strict=True)]
    status = {"phase": phase, "currentOwners": current} if phase else {}
    spec = {"expires": instant_text(at("10:00")), "ttl": "11h0m0s"}
    return made(SLOT, name, created=created, labels=known, spec=spec, status=status, **more)


def seen(
    *trees: Tree, now: str = "09:00", prunes: bool = False, unread: tuple[ObjectKind, ...] = ()
) -> SiteState:
    trees = tuple(renewed_now(tree, at(now)) for tree in trees)
    for tree in trees:
        tree["metadata"].setdefault("resourceVersion", "1")
    found: dict[ObjectKind, list[StateObject] | None] = {}
    for kind in KINDS:
        made_here = (parse_object(SITE, kind, tree) for tree in trees if tree["kind"] == kind.name)
        found[kind] = None if kind in unread else [fact for fact in made_here if fact]
    return site_state(SITE, found, prunes, INVENTORY if prunes else "", NAMESPACE)


class Swept:
    """Runs of the sweep over objects in memory, at an instant; sleeping is what lets time pass."""

    def __init__(self, now: str, *trees: Tree, prunes: bool = False, page: int = 1_000_000) -> None:
        slots = [tree for tree in trees if tree["kind"] == SLOT.name]
        others = [tree for tree in trees if tree not in slots]
        self.cluster = FakeObjects(at(now), *others, prunes=prunes, page=page)
        self.koordinator = self.cluster.koordinator
        for tree in slots:
            self.koordinator.put(tree["metadata"]["name"], tree)
        has_slots = bool(slots) or any('"slots"' in json.dumps(tree).replace("\\", "") for tree in others)
        there = {tree["kind"] for tree in others} | ({SLOT.name} if has_slots else set())
        kinds = tuple(kind for kind in (NODE_POOL, CAPACITY_BUFFER, SLOT) if kind.name in there)
        self.site = SweepSettings(SITE, prunes, INVENTORY if prunes else "", kinds)
        self.plugins = frozenset(PLUGINS)
        self.lines: list[Tree] = []

    def run(self) -> int:
        """The exit code of one run. What it wrote and told before is forgotten."""
        self.cluster.writes.clear()
        self.cluster.requests.clear()
        self.lines.clear()
        log = Log(lambda line: self.lines.append(json.loads(line)), self._now, "")
        api = Api(self.cluster, SWEEP_FIELD_MANAGER)
        context = RuntimeContext(api, NAMESPACE, log, self._now, lambda: 0.0, self._wait, self.plugins)
        return Sweep(context, self.site).run()

    def told(self, event: str) -> list[tuple[str, ...]]:
        """The lines of one event: reservation and message, or subject and reason of what failed."""
        keys = ("subject", "reason") if event == "failed" else ("reservation", "message")
        return [tuple(line[key] for key in keys) for line in self.lines if line["event"] == event]

    def _now(self) -> float:
        return float(self.cluster.now)

    def _wait(self, seconds: float) -> None:
        self.cluster.now += max(1, int(seconds))


def missed(name: str = "course", replicas: int = 0) -> list[Tree]:
    """A reservation that should be open and that nobody serves."""
    return [
        timetable(name=name, pools={"small": f"{name}-small"}),
        deployment(replicas, f"{name}-small", reservation=name),
        cronjob(name, reservation=name),
    ]


def served() -> list[Tree]:
    return [timetable(), deployment(25), cronjob(), job(), lease()]


def swept_line(swept: Swept) -> Tree:
    assert swept.lines[-1]["event"] == "swept"
    return {key: value for key, value in swept.lines[-1].items() if key not in ("time", "level", "event")}


# Slots


ROW: Row = ("course/1", "07:30", "08:00", "10:00", {"small": 4})


def numbered(count: int, phase: str = "Available", digest: str = DIGEST) -> list[Tree]:
    return [slot_of(f"example-course-small-{n}-{digest}", phase) for n in range(count)]


def twice(swept: Swept) -> list[str]:
    """What a run has written, after which a second one has nothing to write."""
    assert swept.run() == 0
    writes = [f"{verb} {name}" for verb, name in swept.koordinator.writes] + [
        line for line in swept.cluster.writes if "reservations" not in line and "events" not in line
    ]
    swept.koordinator.writes.clear()
    assert (swept.run(), swept.koordinator.writes, swept.cluster.writes) == (0, [], [])
    return writes
