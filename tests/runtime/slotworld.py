"""A run of a reservation whose seats are slots, with Koordinator beside it."""

from collections.abc import Mapping
from typing import Any

from berth.core.holders import slot_hash
from berth.core.labels import CLASS, RESERVATION, ROLE, SITE, SLOT
from berth.runtime.apiclient import Request, Response

from tests.runtime.fake_cluster import FakeCluster
from tests.runtime.fake_koordinator import PATH, FakeKoordinator
from tests.runtime.world import COURSE, Row, World, clock, pool, whole_timetable_text

Tree = dict[str, Any]
GATHERING = 0.2  # seconds for which Koordinator waits for more to do
REQUIRED = "scheduling.koordinator.sh/pre-allocation-required"
OWNER: Tree = {"labelSelector": {"matchLabels": {"app": "session"}}}


def pool_labels(resource_class: str = "small", reservation: str = "course") -> dict[str, str]:
    """That placeholders have, and slots too."""
    return {SITE: "example", RESERVATION: reservation, CLASS: resource_class}


def shape(resource_class: str = "small", reservation: str = "course", cpu: str = "1", **spec: Any) -> Tree:
    """Of a slot, as a timetable has it."""
    labels = {**pool_labels(resource_class, reservation), ROLE: SLOT}
    container = {"name": "seat", "resources": {"requests": {"cpu": cpu}}}
    template = {"spec": {"schedulerName": "koord-scheduler", "containers": [container]}}
    said = {"template": template, "owners": [OWNER], "allocateOnce": False, "allocatePolicy": "Restricted"}
    return {"metadata": {"labels": labels}, "spec": {**said, **spec}}


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
    """A timetable of version 2. `pools` has the slots of each class."""
    known = {"small": slots(**more)} if pools is None else pools
    found = {name: {**pool(f"course-{name}", behaviour), "slots": said} for name, said in known.items()}
    return whole_timetable_text("course", found, rows or (COURSE,), suspend=suspend, version=2)


class SlotCluster(FakeCluster):
    def __init__(self, timetable: str | None, replicas: dict[str, int], koordinator: FakeKoordinator) -> None:
        super().__init__(timetable, replicas)
        self.koordinator = koordinator

    def answer(self, request: Request) -> Response:
        is_slot = request.path.partition("?")[0].startswith(PATH)
        return self.koordinator(request) if is_slot else super().answer(request)


class SlotWorld(World):
    """Koordinator works each time that time passes, and where writes take time, on what came since it did. A
    Deployment is there only where one is said.
    """

    def __init__(self, now: str, timetable: str | None, **replicas: int) -> None:
        super().__init__(now, timetable)
        self.koordinator = FakeKoordinator(lambda: self.now)
        self.cluster = SlotCluster(
            timetable, {f"course-{name}": count for name, count in replicas.items()}, self.koordinator
        )
        self.cluster.watch = self._on_write
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
        for name, (replicas, _) in cluster.scales.items():
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
        said = "".join(f" {name}={count}" for name, count in more.items() if count)
        return f"{free}+{used}{said}"

    def slot_lines(self) -> list[tuple[str, int, int, int, str]]:
        """When, how many were made, renewed and removed, and why."""
        keys = ("time", "made", "renewed", "removed", "reason")
        return [tuple(line[key] for key in keys) for line in self.told("slots")]  # type: ignore[misc]
