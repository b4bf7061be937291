"""A run of a reservation whose seats are slots, with Koordinator beside it."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from berth.core.labels import CLASS, RESERVATION, ROLE, SITE, SLOT
from berth.core.target import desired_state
from berth.core.timetable import parse_timetable
from berth.plugins.slots.slots import (
    ALLOCATED,
    PlaceholderOwner,
    SessionDebounce,
    SlotPlan,
    bridging_placeholders,
    count_slots,
    parse_slot,
    plan_slots,
    slot_demand,
    slot_lifetime,
    slot_object,
    slot_selector,
)
from berth.plugins.slots.slotspec import SlotSpec, slot_hash
from berth.runtime.apiclient import Request, Response
from berth.runtime.scaler import SOON

from tests.koordinator.objects import REQUIRED
from tests.objectstore import refusal, selects
from tests.runtime.fake_cluster import FakeCluster
from tests.runtime.fake_koordinator import PATH, FakeKoordinator
from tests.runtime.scalerpod import ScalerPod
from tests.runtime.timetables import COURSE, Row, at, clock, pool, whole_timetable_text

Tree = dict[str, Any]
PODS = "/api/v1/namespaces/berth/pods/"
GATHERING = 0.2  # seconds for which Koordinator waits for more to do
OWNER: Tree = {"labelSelector": {"matchLabels": {"app": "session"}}}


def pool_labels(resource_class: str = "small", reservation: str = "course") -> dict[str, str]:
    """That placeholders have, and slots too."""
    return {SITE: "example", RESERVATION: reservation, CLASS: resource_class}


def shape(resource_class: str = "small", reservation: str = "course", cpu: str = "1", **spec: Any) -> Tree:
    """Of a slot, as a timetable has it."""
    labels = {**pool_labels(resource_class, reservation), ROLE: SLOT}
    container = {"name": "seat", "resources": {"requests": {"cpu": cpu}}}
    template = {"spec": {"schedulerName": "koord-scheduler", "containers": [container]}}
    keys = {"template": template, "owners": [OWNER], "allocateOnce": False, "allocatePolicy": "Restricted"}
    return {"metadata": {"labels": labels}, "spec": {**keys, **spec}}


def slots(
    resource_class: str = "small",
    reservation: str = "course",
    *,
    variant: str = "",
    placeholders: bool = False,
    **more: Any,
) -> Tree:
    """As a pool of a timetable has them. Another `variant` is another shape that holds as much."""
    made = shape(resource_class, reservation, **more)
    if variant:
        made["metadata"]["annotations"] = {"example.org/variant": variant}
    if placeholders:
        ours = {"matchLabels": pool_labels(resource_class, reservation)}
        made["metadata"]["labels"][REQUIRED] = "true"
        made["spec"]["owners"].append({"object": {"namespace": "berth"}, "labelSelector": ours})
        made["spec"]["preAllocation"] = True
    return {
        "placeholders": placeholders,
        "allocateOnce": made["spec"]["allocateOnce"],
        "name": f"example-{reservation}-{resource_class}",
        "hash": slot_hash(made),
        "object": made,
    }


DIGEST, OTHER, HANDING = (
    str(found["hash"]) for found in (slots(), slots(variant="b"), slots(placeholders=True))
)


def slot_text(
    *rows: Row,
    behaviour: str = "maintain",
    suspend: bool = False,
    pools: Mapping[str, Tree] | None = None,
    **more: Any,
) -> str:
    """A timetable of slots. `pools` has the slots of each class."""
    known = {"small": slots(**more)} if pools is None else pools
    found = {name: {**pool(f"course-{name}", behaviour), "slots": said} for name, said in known.items()}
    return whole_timetable_text("course", found, rows or (COURSE,), suspend=suspend)


class SlotCluster(FakeCluster):
    def __init__(self, timetable: str | None, replicas: dict[str, int], koordinator: FakeKoordinator) -> None:
        super().__init__(timetable, replicas)
        self.koordinator = koordinator

    def respond(self, request: Request) -> Response:
        path = request.path.partition("?")[0]
        if path.startswith(PATH):
            return self.koordinator(request)
        if path.startswith(PODS):
            return self._release(path.removeprefix(PODS).removesuffix("/status"), json.loads(request.body))
        return super().respond(request)

    def _release(self, pod: str, patch: object) -> Response:
        assert patch == {"metadata": {"annotations": {ALLOCATED: None}}}
        if pod not in self.koordinator.pods:
            return refusal(404, "NotFound")
        self.koordinator.release(pod)
        return Response(200, b'{"kind": "Pod"}')


class SlotWorld(ScalerPod):
    """Koordinator works each time that time passes, and where writes take time, on what came since it did. A
    Deployment is there only where one is said.
    """

    def __init__(self, now: str, timetable: str | None, **replicas: int) -> None:
        super().__init__(now, timetable)
        self.koordinator = FakeKoordinator(lambda: self.now)
        self.cluster = SlotCluster(
            timetable, {f"course-{name}": count for name, count in replicas.items()}, self.koordinator
        )
        self.cluster.watch = self.on_write
        self.seconds_a_write = 0.0
        self._turned = 0.0
        self.koordinator.on_write = lambda: self.pass_time(self.seconds_a_write)
        self.history: list[tuple[str, str]] = []  # when which counts were others than before

    def pass_time(self, seconds: float) -> None:
        super().pass_time(seconds)
        if seconds and not self._turned <= self.now < self._turned + GATHERING:
            self._turned = self.now
            self.turn()

    def turn(self) -> None:
        cluster, koordinator = self.cluster, self.koordinator
        for name, replicas in cluster.scales.items():
            cluster.ready[name] = koordinator.scale(replicas)
        koordinator.schedule()
        counts = self.counts
        if not self.history or self.history[-1][1] != counts:
            self.history.append((clock(self.now), counts))

    @property
    def counts(self) -> str:
        """`free+used`, and what else there is."""
        koordinator = self.koordinator
        free, used = len(koordinator.free()), len(koordinator.used())
        handed = len(koordinator.of("Available")) - free - used
        more = {
            "handed": handed,
            "pending": len(koordinator.of("Pending")),
            "dead": len(koordinator.of("Failed")) + len(koordinator.of("Succeeded")),
            "placeholders": len(koordinator.placeholders),
        }
        others = "".join(f" {name}={count}" for name, count in more.items() if count)
        return f"{free}+{used}{others}"

    def slot_lines(self) -> list[tuple[str, int, int, int]]:
        """When, and how many were made, renewed and removed."""
        keys = ("time", "made", "renewed", "removed")
        return [tuple(line[key] for key in keys) for line in self.told("slots")]  # type: ignore[misc]


class SlotLoop:
    """The decisions about slots beside Koordinator on one node, and nothing else: each look lists, plans and
    writes. Time passes in tenths of a second. `room` is in CPUs; seats take one if nothing else is said.
    """

    def __init__(self, text: str, room: int, seed: int = 0) -> None:
        self.now = float(at("07:30"))
        self.koordinator = FakeKoordinator(lambda: self.now, seed)
        self.koordinator.room = room
        self.edit(text)
        self.sessions = 0
        self.is_scheduling = True  # whether Koordinator's scheduler runs
        self.replicas = self.ready = 0
        self.fewest = 1_000_000  # slots that held room, at any time since the test has set it
        self.looks: list[tuple[float, SlotPlan]] = []
        self.restart()

    def edit(self, text: str) -> None:
        self.timetable = parse_timetable(text)

    def restart(self) -> None:
        """A program that has seen nothing goes on."""
        self._debounce, self._next = SessionDebounce(), self.now

    def pass_time(self, seconds: float) -> None:
        for _ in range(round(seconds * 10)):
            self.now = round(self.now + 0.1, 1)
            if self.is_scheduling:
                self.ready = self.koordinator.scale(self.replicas)
                self.koordinator.schedule()
            self.fewest = min(self.fewest, len(self.koordinator.of("Available")))
            if self.now >= self._next:
                self._next = self.now + (SOON if self.look().is_busy else 5.0)
                self.fewest = min(self.fewest, len(self.koordinator.of("Available")))

    def look(self) -> SlotPlan:
        pool, now = self.timetable.pools[0], int(self.now)
        assert pool.holder.slots
        ours = [
            tree
            for tree in self.koordinator.objects.values()
            if selects(slot_selector(pool.holder.slots), _labels(tree))
        ]
        slot_counts = count_slots((parse_slot(tree) for tree in ours), PlaceholderOwner("berth", pool.name))
        desired = desired_state(
            self.timetable, pool, now, {item.id: self.sessions for item in self.timetable.occurrences}
        )
        owners = sum(slot_counts.owners.values())
        settled = self._debounce.look(self.now, self.sessions, slot_counts.owners, 30)
        demand = slot_demand(desired, owners, settled)
        if pool.holder.slots.placeholders:
            self.replicas = bridging_placeholders(slot_counts, demand.wanted, self.replicas, self.now)
        plan = plan_slots(slot_counts, pool.holder.slots, demand, self.now, self.ready)
        self.looks.append((self.now, plan))
        self._write(pool.holder.slots, plan)
        return plan

    def _write(self, spec: SlotSpec, plan: SlotPlan) -> None:
        koordinator = self.koordinator
        for name in plan.make:
            if name not in koordinator.objects:
                koordinator.put(name, slot_object(spec, name, int(self.now), plan.expires))
        for slot in plan.renew:
            tree = koordinator.objects[slot.name]
            closed = {"owners": json.loads(slot.closed)} if slot.is_to_close else {}
            lifetime = slot_lifetime(slot.created, plan.expires)
            koordinator.put(
                slot.name, {**tree, "spec": {**tree["spec"], **lifetime, **closed}}, **tree.get("status", {})
            )
        for slot in (*plan.drop, *plan.remove):
            del koordinator.objects[slot.name]

    @property
    def counts(self) -> dict[str, int]:
        """Slots by shape and phase, those in use apart."""
        koordinator = self.koordinator
        used = set(koordinator.used())
        return dict(
            Counter(
                f"{name.rpartition('-')[2]} {'used' if name in used else koordinator.phase(name)}"
                for name in koordinator.objects
            )
        )


def _labels(tree: Tree) -> Tree:
    found: Tree = tree["metadata"]["labels"]
    return found
