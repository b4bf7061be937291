"""Windows whose seats are slots happen on the real control plane, with koord-scheduler itself."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from berth.output import table

from tests.e2e import binaries, koordinatorcases, koordscheduler
from tests.e2e.cluster import Cluster
from tests.e2e.direct import Direct, Object, at_once
from tests.e2e.gitops import Engine, sweep_each_minute
from tests.e2e.images import PAUSE
from tests.e2e.koordinatorcases import (
    CASES,
    COUNT,
    ENDS,
    KEY,
    LAB,
    NAMESPACE,
    RAISED,
    ROOM,
    SESSIONS,
    SITE,
    STARTED,
    UNSERVED,
    Case,
    case,
)
from tests.e2e.koordscheduler import NAME as SCHEDULER
from tests.e2e.koordscheduler import RESERVATIONS as SLOTS
from tests.e2e.podchanges import sidecar
from tests.e2e.seats import Promise, clean_after, longest_shortage
from tests.e2e.sidebyside import Stage
from tests.e2e.slotrecord import Look, SlotRecord
from tests.e2e.windows import MINUTE, sleep_until, wait_until

CRDS = Path(__file__).parent / "crds"
PODS = f"/api/v1/namespaces/{SESSIONS}/pods"
JOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
CRONJOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/cronjobs"
NODES = "/api/v1/nodes"
TAIL = UNSERVED + 5  # seconds after the end of most, in which the sweep does what nobody else did
EARLY = 90  # seconds before the first opening: what it prepares must not see the API server go
STRANGER = "stranger"


class Story(NamedTuple):
    """`happened` has the instants of what was done, in seconds since the epoch."""

    opens: int
    record: SlotRecord
    happened: Mapping[str, float]
    stood: tuple[Sequence[Object], Sequence[Object]] = ((), ())  # slots of the lab, at first and at the end
    sessions: Mapping[str, Object] = MappingProxyType({})  # pods, at the end of the windows, by name


class Act(NamedTuple):
    """What happens at a minute, or later: when it holds of the last look at a pool, if that is named."""

    minute: float
    name: str  # of the case, where it is a fault
    do: Callable[[], object]
    pool: str = ""
    when: Callable[[Look], bool] = bool


def tell(stage: Stage) -> Story:
    cluster, direct = stage.cluster, stage.connect()
    sleep_until(stage.opens - EARLY)
    _prepare(cluster, stage)
    engine = Engine(direct, stage.folder, _adapt)
    engine.begin(koordinatorcases.documents(stage.opens))
    record = SlotRecord(direct, SITE, NAMESPACE, SESSIONS, [LAB, *(one.name for one in CASES)])
    stage.undo.callback(remove, direct)
    with koordscheduler.kept_running(cluster):
        try:
            record.start()
            story = _Acts(cluster, direct, engine, record, stage.opens).play()
            write_down("slots", story, CASES)
            return story
        finally:
            record.stop()


def install(cluster: Cluster) -> None:
    """The kinds of Koordinator; harmless when they are there."""
    for name in ("koordinator-reservation", "koordinator-colocation-profile"):
        cluster.kubectl("apply", "--server-side", "-f", str(CRDS / f"{name}.yaml"))
    cluster.kubectl("wait", "--for=create", "crd/reservations.scheduling.koordinator.sh", "--timeout=30s")
    wanted = "--for=condition=Established"
    cluster.kubectl("wait", wanted, "crd/reservations.scheduling.koordinator.sh", "--timeout=30s")


def _prepare(cluster: Cluster, stage: Stage) -> None:
    install(cluster)
    cluster.create_namespace(SESSIONS)
    taint = {"key": KEY, "value": "", "effect": "NoSchedule"}
    for where, count, more in (("wide", 3, {}), ("narrow", 1, {"cpu": "4"}), ("lost", 2, {"cpu": "8"})):
        cluster.kwok.create_nodes(count, f"slots-{where}", {**ROOM, **more}, {KEY: where}, [taint])
    stage.forget(NAMESPACE, SESSIONS)


def remove(direct: Direct, site: str = SITE) -> None:
    """What no namespace takes with it."""
    for one in direct.items(f"{SLOTS}?labelSelector=berth.dev/site={site}"):
        direct.delete(f"{SLOTS}/{one['metadata']['name']}")


def _adapt(found: Object) -> None:
    """What is different in this cluster."""
    sweep_each_minute(found)
    if found["kind"] != "CronJob":
        return
    name, spec = found["metadata"]["name"], found["spec"]
    if name == "never-fired":
        spec["suspend"] = True
    elif name == "scaler-cannot-start":
        sidecar("/nowhere/scaler")(spec["jobTemplate"]["spec"]["template"]["spec"])


class _Acts:
    def __init__(
        self, cluster: Cluster, direct: Direct, engine: Engine, record: SlotRecord, opens: int
    ) -> None:
        self._cluster, self._direct, self._engine = cluster, direct, engine
        self._record, self._opens = record, opens
        self.happened: dict[str, float] = {}

    def play(self) -> Story:
        stood, acts = self._until_the_lab_stands(), self._acts()
        with ThreadPoolExecutor(max_workers=len(acts)) as threads:
            acting = [threads.submit(self._act, act) for act in acts]
            sleep_until(self._opens + ENDS * MINUTE - 4)
            sessions = {one["metadata"]["name"]: one for one in self._direct.items(PODS)}
            for one in acting:
                one.result()
        self._wait_until_clean()
        stands = (stood, self._record.slots(LAB))
        return Story(self._opens, self._record, self.happened, stands, sessions)

    def _act(self, one: Act) -> None:
        """Where its pool is not as it should be for too long, the tests judge what is missing."""
        sleep_until(self._opens + one.minute * MINUTE)
        if one.pool:
            last = self._opens + STARTED + MINUTE / 2
            wait_until(lambda: one.when(self._record.looks[one.pool][-1]), last)
        self.happened[one.name] = time.time()
        one.do()

    def _acts(self) -> Sequence[Act]:
        add, delete = self._add_sessions, self._direct.delete
        pods = f"/api/v1/namespaces/{NAMESPACE}/pods"
        cronjob = f"{CRONJOBS}/cronjob-deleted"
        on_pools: dict[str, tuple[float, Callable[[], object]]] = {
            "pod-deleted": (0.7, partial(self._delete_all, pods, "pod-deleted")),
            "job-deleted": (0.75, partial(self._delete_all, JOBS, "job-deleted")),
            "cronjob-deleted": (0.75, partial(delete, cronjob, propagationPolicy="Background")),
            "ends-later": (0.5, partial(self._edit, "ends-later")),
            "raised": (0.8, partial(self._edit, "raised", seats=RAISED)),
            "slot-deleted": (1.0, self._delete_a_slot),
            "node-deleted": (1.0, partial(delete, f"{NODES}/slots-lost-0")),
            "withdrawn": (1.0, self._withdraw),
        }
        return [
            *(Act(minute, name, act, name, _stands) for name, (minute, act) in on_pools.items()),
            Act(-0.4, "before", partial(add, "ran-before", 2, "default-scheduler")),
            Act(0.6, "sessions", partial(add, "maintained", 2), "maintained", _stands),
            Act(0.6, "more sessions", partial(add, "topped-up", 2), "topped-up", _stands),
            Act(0.6, "one session", partial(add, "reduced", 1), "reduced", lambda look: look.free > 0),
            Act(0.8, STRANGER, self._add_stranger, "handed-over", _stands),
            Act(1.1, "hand-over sessions", partial(add, "handed-over", 2), "handed-over", _stands),
            Act(
                1.3,
                "left",
                partial(delete, f"{PODS}/maintained-0", gracePeriodSeconds=0),
                "maintained",
                lambda look: look.used == 2,
            ),
        ]

    def _until_the_lab_stands(self) -> list[Object]:
        """Standing slots hold before any window."""
        ready = self._cluster.wait_for(self._lab, 60, "the slots of the lab to be Available")
        self._add_sessions(LAB, 1)
        return ready

    def _lab(self) -> list[Object]:
        found = self._record.slots(LAB)
        return found if [one.get("status", {}).get("phase") for one in found] == ["Available"] * 2 else []

    def _add_sessions(self, name: str, count: int, scheduler: str = SCHEDULER) -> None:
        where = "wide" if name == LAB else case(name).where
        made = [session(f"{name}-{number}", name, where, scheduler) for number in range(count)]
        at_once([partial(self._direct.create, PODS, one) for one in made])

    def _add_stranger(self) -> None:
        """Of no course, on the node that is full of what others have reserved."""
        self._direct.create(PODS, session(STRANGER, "none", "narrow", SCHEDULER))

    def _delete_all(self, path: str, name: str) -> None:
        for one in self._direct.items(f"{path}?labelSelector=berth.dev/reservation={name}"):
            self._direct.delete(f"{path}/{one['metadata']['name']}", propagationPolicy="Background")

    def _edit(self, name: str, **changed: object) -> None:
        self._engine.declare([koordinatorcases.declared(case(name), self._opens, **changed)])
        self._engine.sync(name)
        self.happened[name] = time.time()

    def _withdraw(self) -> None:
        """The engine prunes all of it but its slots, which nothing owns."""
        self._engine.withdraw("withdrawn")
        self._engine.sync("withdrawn")

    def _delete_a_slot(self) -> None:
        self._direct.delete(f"{SLOTS}/{self._record.slots('slot-deleted')[0]['metadata']['name']}")

    def _wait_until_clean(self) -> None:
        sleep_until(self._opens + ENDS * MINUTE + 5)
        looks = self._record.looks
        wait_until(
            lambda: all(looks[one.name][-1].seats.is_clean for one in CASES),
            self._opens + ENDS * MINUTE + TAIL,
        )


def _stands(look: Look) -> bool:
    """By slots alone."""
    return look.free >= COUNT and not look.placeholders


def session(name: str, course: str, where: str, scheduler: str) -> Object:
    """A pod that only pretends, as a user's session has one."""
    container = {"name": "session", "image": PAUSE, "resources": {"requests": {"cpu": "1", "memory": "64Mi"}}}
    spec: dict[str, Any] = {**koordinatorcases.placement(where), "schedulerName": scheduler}
    labels = {"session": "yes", "course": course}
    metadata = {"name": name, "labels": labels}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {**spec, "containers": [container]},
    }


def slot(name: str, **life: object) -> Object:
    """A Reservation for sessions of a course of this name that nobody of Berth knows; `life` is more of its
    spec.
    """
    seat = {"name": "seat", "image": PAUSE, "resources": {"requests": {"cpu": "1"}}}
    template = {"schedulerName": SCHEDULER, **koordinatorcases.placement("wide"), "containers": [seat]}
    owners = [{"labelSelector": {"matchLabels": {"course": name}}}]
    spec = {"template": {"spec": template}, "owners": owners, "ttl": "1h0m0s", "allocatePolicy": "Restricted"}
    kind = {"apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": "Reservation"}
    return {**kind, "metadata": {"name": name}, "spec": {**spec, **life}}


def at(story: Story, minute: float) -> float:
    return story.opens + minute * MINUTE


def promises(story: Story, one: Case) -> list[Promise]:
    """What is promised, as a fault changes it."""
    first, last = at(story, one.opens), at(story, one.ends)
    if one.name == "nowhere":
        return []
    if one.name == "raised":
        changed = story.happened["raised"]
        return [Promise(first, changed, one.seats), Promise(changed, last, RAISED)]
    if one.name == "withdrawn":
        return [Promise(first, story.happened["withdrawn"], one.seats)]
    if one.name == "reduced":
        return [Promise(first, at(story, 0.1), one.seats)]
    return [Promise(first, last, one.seats)]


def short(story: Story, one: Case) -> float:
    return longest_shortage([look.seats for look in story.record.looks[one.name]], promises(story, one))


def left(story: Story, one: Case) -> float | None:
    return clean_after([look.seats for look in story.record.looks[one.name]], at(story, one.ends))


def write_down(name: str, story: Story, cases: Iterable[Case]) -> None:
    """In the cache, until the next run: what docs/reliability.md tells as measured, and all histories."""
    cells = []
    for one in cases:
        after = left(story, one)
        cells.append((one.name, f"{short(story, one):.0f}", "for ever" if after is None else f"{after:.0f}"))
    text = table.text(("case", "seats missing, s", "left after the end, s"), cells)
    (binaries.cache_dir() / f"{name}.txt").write_text(f"{text}\n{story.record.histories(story.opens)}")
