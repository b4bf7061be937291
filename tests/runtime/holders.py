"""Whoever can hold the seats of a class, each in a world in which the same stories are told."""

import json
from typing import ClassVar

from berth.core.jsonvalues import instant_text
from berth.runtime.apiclient import Response

from tests.objectstore import Tree, home, no_answer, refusal
from tests.runtime.fake_cluster import BUFFERS, DEPLOYMENTS, NODE_POOLS
from tests.runtime.fake_koordinator import PATH
from tests.runtime.heldworld import HPA, HeldCluster, shop
from tests.runtime.scalerpod import ScalerPod
from tests.runtime.slotworld import DIGEST, SlotWorld, slots
from tests.runtime.sweepworld import capacity_buffer, deployment, node_pool, slot_of
from tests.runtime.timetables import Row, at, clock, pool, whole_timetable_text

TROUBLES: dict[str, Response | Exception] = {
    "token-expired": refusal(401, "Unauthorized"),
    "forbidden": refusal(403, "Forbidden"),
    "conflict": refusal(409, "Conflict"),
    "invalid": refusal(422, "Invalid"),
    "too-many-requests": refusal(429, "TooManyRequests", retry_after=60.0),
    "internal-error": refusal(500, "InternalError"),
    "a-proxy-page": Response(503, b"<html>"),
    "cut-off": Response(200, b'{"kind": '),
    "nonsense": Response(200, b"[]"),
    "refused": no_answer(),
    "bug": RuntimeError("a bug of ours"),
}
WINDOW: Row = ("course/1", "07:30", "07:35", "08:00", {"small": 4})


class Placeholders(ScalerPod):
    """Replicas of a Deployment. What other holders do in another way, they say."""

    POOL: ClassVar[Tree] = {}  # what the timetable says of it
    NAME = "course-small"  # in the cluster
    PATH = DEPLOYMENTS
    REST = 0  # seats with no window open
    READS, OPENS, CLOSES = "GET /apis/apps", "PATCH /apis/apps", "PATCH /apis/apps"

    def __init__(self, now: str, *rows: Row, count: int | None = None, text: str | None = None) -> None:
        super().__init__(now, None)
        self.prepare()
        self.cluster.timetable = text or self.text(*(rows or (WINDOW,)))
        self.set(self.REST if count is None else count)

    def prepare(self) -> None:
        """Make the cluster."""

    @classmethod
    def text(cls, *rows: Row, suspend: bool = False, behavior: str = "none", **more: object) -> str:
        pools = {"small": {**pool("course-small", behavior), **cls.POOL, **more}}
        return whole_timetable_text("course", pools, rows, suspend=suspend)

    def override(self, target: int, until: str) -> None:
        overrides = {"small": {"target": target, "until": instant_text(at(until))}}
        self.cluster.annotate(json.dumps(overrides))

    def set(self, count: int) -> None:
        """Somebody else does."""
        self.cluster.set(self.NAME, count)

    def remove(self) -> None:
        self.cluster.all_in(self.PATH).clear()

    @property
    def count(self) -> int:
        return self.cluster.scales[self.NAME]

    @property
    def changes(self) -> list[tuple[str, int]]:
        """When the run has set it, and to what."""
        return [(when, count) for when, name, count in self.writes if f"course-{name}" == self.NAME]

    @property
    def counts_set(self) -> list[int]:
        return [count for _, count in self.changes]

    def lack(self, count: int) -> None:
        """So many seats are not ready of those that are held."""
        self.cluster.ready[self.NAME] = 4 - count

    def notes(self) -> list[Tree]:
        """What is to be given back, which somebody has noted."""
        return []

    @staticmethod
    def standing(count: int) -> list[Tree]:
        """As the sweep meets it."""
        return [deployment(count)]


class Nodes(Placeholders):
    NAME = "example.course-small"
    POOL: ClassVar[Tree] = {"nodePool": NAME}
    PATH = NODE_POOLS
    READS, OPENS, CLOSES = "GET /apis/karpenter", "PATCH /apis/karpenter", "PATCH /apis/karpenter"

    @property
    def changes(self) -> list[tuple[str, int]]:
        return [(when, count) for when, name, count in self.writes if name == self.NAME]

    @staticmethod
    def standing(count: int) -> list[Tree]:
        return [node_pool(count)]


class Buffer(Nodes):
    NAME = "buffer/course-small"
    POOL: ClassVar[Tree] = {"capacityBuffer": True}
    PATH = BUFFERS
    READS, OPENS, CLOSES = "GET /apis/autoscaling", "PATCH /apis/autoscaling", "PATCH /apis/autoscaling"
    CONDITION: ClassVar[Tree] = {"type": "Provisioning", "status": "False", "observedGeneration": 2}

    def lack(self, count: int) -> None:
        """Karpenter has no nodes for all, and does not say for how many."""
        self.cluster.conditions = [{**self.CONDITION, "reason": "RequiresNewCapacity"}] if count else None

    @staticmethod
    def standing(count: int) -> list[Tree]:
        return [capacity_buffer(count)]


class Number(Placeholders):
    """Of an object of somebody else."""

    NAME = "shop"
    POOL: ClassVar[Tree] = {"number": HPA}
    PATH = home(shop())
    REST = 2
    READS, OPENS, CLOSES = "GET /apis/autoscaling", "PATCH /apis/autoscaling", "PATCH /apis/autoscaling"
    cluster: HeldCluster

    def prepare(self) -> None:
        self.cluster = HeldCluster(lambda: self.now)
        self.cluster.watch_number(HPA)

    def set(self, count: int) -> None:
        tree = shop(count)
        if before := self.cluster.all_in(self.PATH).get(self.NAME):
            tree["metadata"]["uid"] = before["metadata"]["uid"]
        self.cluster.add(tree)

    def notes(self) -> list[Tree]:
        return self.cluster.notes()

    @property
    def count(self) -> int:
        found = self.cluster.value()
        assert isinstance(found, int)
        return found

    @property
    def changes(self) -> list[tuple[str, int]]:
        found = [(when, count) for when, _, count in self.cluster.changes]
        return [(when, count) for when, count in found if isinstance(count, int)]


class Slots(Placeholders, SlotWorld):
    """Each is an object: a change is how many there are after the writes of a moment."""

    POOL: ClassVar[Tree] = {"slots": slots()}
    READS, OPENS, CLOSES = f"GET {PATH}", f"POST {PATH}", f"DELETE {PATH}"

    def prepare(self) -> None:
        self.found: list[tuple[str, int]] = []
        self._known = self.REST
        self.koordinator.on_write = self._look

    def set(self, count: int) -> None:
        for name in [self._name(n) for n in range(count, 100)]:
            self.koordinator.objects.pop(name, None)
        for name in [self._name(n) for n in range(count)]:
            if name not in self.koordinator.objects:
                self.koordinator.put_slot(name, slots()["object"])
        self._known = count

    def lack(self, count: int) -> None:
        self.koordinator.room = 4 - count

    @staticmethod
    def _name(number: int) -> str:
        return f"example-course-small-{number}-{DIGEST}"

    @property
    def count(self) -> int:
        return len(self.koordinator.objects)

    @property
    def changes(self) -> list[tuple[str, int]]:
        return self.found

    def _look(self) -> None:
        when = clock(self.now)
        if self.count == self._known:
            return
        self._known = self.count
        if self.found and self.found[-1][0] == when:
            self.found.pop()
        self.found.append((when, self.count))

    @staticmethod
    def standing(count: int) -> list[Tree]:
        return [slot_of(Slots._name(n)) for n in range(count)]


HOLDERS: tuple[type[Placeholders], ...] = (Placeholders, Nodes, Buffer, Number, Slots)
