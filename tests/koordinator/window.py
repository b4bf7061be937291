"""A window of the occurrence's own program beside the exact rules of the scheduler, in virtual time."""

from random import Random

from berth.runtime.apiclient import Request, Response

from tests.koordinator.apiserver import NODES, PODS, RESERVATIONS, ApiServer
from tests.koordinator.claiming import DEFAULTS, Settings
from tests.koordinator.deciding import Bind, Delete, Evict, Seen, SetStatus, allocation
from tests.koordinator.objects import (
    ALLOCATED,
    allocated_to,
    is_available,
    labels_of,
    metadata,
    spec_of,
    uid_of,
)
from tests.koordinator.remembering import Memory
from tests.koordinator.world import node, pod
from tests.runtime.fake_cluster import FakeCluster
from tests.runtime.slotworld import pool_labels, slot_text
from tests.runtime.stub_server import Received
from tests.runtime.world import World

SCHEDULER = "koord-scheduler"
COUNT = 5
PLACE = pool_labels()
SESSION = {"app": "session"}
HOME = "berth"
LOW = -10  # the priority of placeholders
HOME_PODS = f"/api/v1/namespaces/{HOME}/pods"


class SlotCluster(FakeCluster):
    """What a reservation has in its namespace, and Reservations."""

    def __init__(self, timetable: str, replicas: dict[str, int], server: ApiServer) -> None:
        super().__init__(timetable, replicas)
        self._server = server

    def answer(self, request: Request) -> Response:
        if not request.path.startswith((RESERVATIONS, f"{HOME_PODS}/")):
            return super().answer(request)
        told = self._server.answer(Received(1, request.method, request.path, {}, request.body))
        head, _, body = told.data.partition(b"\r\n\r\n")
        body = body.replace(b'"kind": "SomeList"', b'"kind": "ReservationList"')
        if request.path.startswith(HOME_PODS) and b'"kind"' not in body:
            body = b'{"kind": "Pod",' + body[1:]
        return Response(int(head.split()[1]), body)


class Window(World):
    """One node, on which seats of one CPU fit. Sessions come and go as the test says; what the scaler tells
    of them is true.
    """

    def __init__(
        self,
        behaviour: str = "maintain",
        cpu: int = 20,
        *,
        placeholders: bool = False,
        count: int = COUNT,
        settings: Settings = DEFAULTS,
    ) -> None:
        row = ("course/1", "07:30", "07:35", "08:20", {"small": count})
        text = slot_text(row, behaviour=behaviour, placeholders=placeholders)
        super().__init__("07:29:58", text)
        self.settings = settings
        self.memory = Memory(Random(0))
        self.server = ApiServer(lambda: self.now)
        self.server.make(NODES, node(cpu=str(cpu)))
        self.cluster = SlotCluster(text, {"course-small": 0} if placeholders else {}, self.server)
        self.cluster.watch = self._on_write
        self._known: object = None  # before the last work
        self._tell()

    def pass_time(self, seconds: float) -> None:
        super().pass_time(seconds)
        if self._known != (self.server.version, self.cluster.scales) or self.memory.due <= self.now:
            self.work()

    def work(self) -> None:
        """Of the controller of Deployments, and of the scheduler until it has nothing to do. What the one
        does is news to the other when time passes.
        """
        self._known = (self.server.version, dict(self.cluster.scales))
        self._scale()
        for _ in range(4):
            there = (list(self.server.all(path).values()) for path in (NODES, PODS, RESERVATIONS))
            for action in self.memory.look(self.now, self.now, Seen(*there), [SCHEDULER], self.settings):
                if isinstance(action, SetStatus):
                    self._set_status(action)
                elif isinstance(action, Bind):
                    self._bind(action)
                elif isinstance(action, Evict):
                    self.server.delete(PODS, uid_of(action.pod))
                elif isinstance(action, Delete):
                    self.server.delete(RESERVATIONS, uid_of(action.reservation))

    def _scale(self) -> None:
        """Of those that are too many, the ones that wait for a node go first."""
        replicas, _ = self.cluster.scales.get("course-small", (0, ""))
        pods = self.placeholders()
        there = sorted(pods, key=lambda name: ("nodeName" not in spec_of(pods[name]), name))
        for name in there[replicas:]:
            self.server.delete(PODS, uid_of(self.server.all(PODS)[name]))
        for number in range(replicas - len(there)):
            name = f"course-small-{self.now:.0f}-{number}"
            self.server.make(PODS, pod(name, labels=PLACE, namespace=HOME, priority=LOW))
        ready = [one for one in self.placeholders().values() if spec_of(one).get("nodeName")]
        self.cluster.ready["course-small"] = len(ready)

    def placeholders(self) -> dict[str, dict[str, object]]:
        return {name: one for name, one in self.server.all(PODS).items() if labels_of(one) == PLACE}

    def _set_status(self, action: SetStatus) -> None:
        for donor in action.donors:
            annotations = {ALLOCATED: allocation(action.reservation)}
            self.server.put(PODS, {**donor, "metadata": {**metadata(donor), "annotations": annotations}})
        self.server.put(RESERVATIONS, {**action.reservation, "status": action.status})

    def _bind(self, action: Bind) -> None:
        annotations = {ALLOCATED: action.allocated} if action.allocated else {}
        bound = {**spec_of(action.pod), "nodeName": action.node}
        known = {**metadata(action.pod), "annotations": annotations}
        self.server.put(
            PODS, {**action.pod, "metadata": known, "spec": bound, "status": {"phase": "Running"}}
        )

    def come(self, name: str) -> None:
        self.server.make(PODS, pod(name, labels=SESSION, namespace="students"))
        self.work()
        self._tell()

    def end(self, name: str) -> None:
        self.server.delete(PODS, uid_of(self.server.all(PODS)[name]))
        self.work()
        self._tell()

    def _tell(self) -> None:
        self.sessions(small={"course/1": len(self.active())})

    def active(self) -> list[str]:
        return [name for name, one in self.server.all(PODS).items() if labels_of(one) == SESSION]

    def waiting(self) -> list[str]:
        pods = self.server.all(PODS)
        return [name for name, one in pods.items() if not spec_of(one).get("nodeName")]

    def owners(self) -> dict[str, set[str]]:
        """Of each slot that is Available, as it is: its status tells it a little later."""
        pods = [(name, one) for name, one in self.server.all(PODS).items() if spec_of(one).get("nodeName")]
        slots = {name: one for name, one in self.server.all(RESERVATIONS).items() if is_available(one)}
        return {
            slot: {name for name, one in pods if allocated_to(one) == uid_of(tree)}
            for slot, tree in slots.items()
        }

    def free(self) -> list[str]:
        """Names of slots that a session may take now."""
        return sorted(name for name, owners in self.owners().items() if not owners)

    def seats(self) -> tuple[int, int]:
        """Slots that are free, and those that sessions own."""
        used = [names for names in self.owners().values() if names & set(self.active())]
        return len(self.free()), len(used)

    def lose(self, name: str) -> None:
        self.server.delete(RESERVATIONS, uid_of(self.server.all(RESERVATIONS)[name]))
