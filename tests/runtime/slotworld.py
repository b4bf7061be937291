"""A run of a reservation whose seats are slots, with Koordinator beside it."""

import json
from collections import Counter
from collections.abc import Mapping
from random import Random
from typing import Any

from berth.core.labels import CLASS, RESERVATION, ROLE, SITE, SLOT
from berth.plugins.slots.slots import ALLOCATED
from berth.plugins.slots.slotspec import slot_hash
from berth.runtime.apiclient import Request, Response

from tests.koordinator.objects import REQUIRED
from tests.koordinator.remembering import Memory
from tests.objectstore import refusal
from tests.runtime.fake_cluster import FakeCluster
from tests.runtime.fake_koordinator import PATH, FakeKoordinator
from tests.runtime.scalerpod import ScalerPod
from tests.runtime.timetables import COURSE, Row, clock, pool, whole_timetable_text

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
        self.schedule()
        counts = self.counts
        if not self.history or self.history[-1][1] != counts:
            self.history.append((clock(self.now), counts))

    def schedule(self) -> None:
        for name, replicas in self.cluster.scales.items():
            self.cluster.ready[name] = self.koordinator.scale(replicas)
        self.koordinator.schedule()

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


class SlotLoop(SlotWorld):
    """Koordinator works ten times a second, on one node with room for so many seats."""

    def __init__(self, text: str, room: int, seed: int = 0) -> None:
        super().__init__("07:30", text, **({"small": 0} if '"placeholders": true' in text else {}))
        self.koordinator.memory, self.koordinator.room = Memory(Random(seed)), room
        self.is_scheduling = True  # whether Koordinator's scheduler runs
        self.fewest = 1_000_000  # slots that held room, at any time since the test has set it
        self.steps = 0
        self.restart()

    def restart(self) -> None:
        """A program that has seen nothing goes on."""
        self.scaler, self._next = self.make(), self.now

    def edit(self, text: str) -> None:
        """Somebody edits the timetable, and the program has just read it again."""
        self.cluster.timetable = text
        self.source.refresh()

    def live(self, seconds: float) -> None:
        for _ in range(round(seconds * 10)):
            self.now = round(self.now + 0.1, 1)
            if self.is_scheduling:
                self.schedule()
            self._look()
            if self.now >= self._next:
                self._next = self.now + self.scaler.step()
                self.steps += 1
                self._look()

    def _look(self) -> None:
        self.fewest = min(self.fewest, len(self.koordinator.of("Available")))

    @property
    def by_shape(self) -> dict[str, int]:
        """Slots by shape and phase, those in use apart."""
        koordinator = self.koordinator
        used = set(koordinator.used())
        return dict(
            Counter(
                f"{name.rpartition('-')[2]} {'used' if name in used else koordinator.phase(name)}"
                for name in koordinator.objects
            )
        )
