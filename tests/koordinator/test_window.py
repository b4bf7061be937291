"""Whole windows of the occurrence's own program beside the exact rules of the scheduler, in virtual time."""

import json
from random import Random

import pytest

from gen.runtime.api import Answer, Request
from tests.koordinator.apiserver import NODES, PODS, RESERVATIONS, ApiServer
from tests.koordinator.deciding import Bind, Delete, Seen, SetStatus, allocation, decide
from tests.koordinator.objects import ALLOCATED, labels_of, metadata, spec_of, status_of, uid_of
from tests.koordinator.world import node, pod
from tests.runtime.fake_cluster import FakeCluster
from tests.runtime.slotworld import slot_text
from tests.runtime.stub_server import Received
from tests.runtime.world import World, at

SCHEDULER = "koord-scheduler"
COUNT = 5
PLACE = {"app": "place"}
SESSION = {"app": "session"}
OWNERS = [{"labelSelector": {"matchLabels": labels}} for labels in (SESSION, PLACE)]
ROW = ("course/1", "07:30", "07:35", "08:20", {"small": COUNT})
HOME = "berth"


class SlotCluster(FakeCluster):
    """What a reservation has in its namespace, and Reservations."""

    def __init__(self, timetable: str, replicas: dict[str, int], server: ApiServer) -> None:
        super().__init__(timetable, replicas)
        self._server = server

    def answer(self, request: Request) -> Answer:
        if not request.path.startswith(RESERVATIONS):
            return super().answer(request)
        told = self._server.answer(Received(1, request.method, request.path, {}, request.body))
        head, _, body = told.data.partition(b"\r\n\r\n")
        body = body.replace(b'"kind": "SomeList"', b'"kind": "ReservationList"')
        return Answer(int(head.split()[1]), body)


class Window(World):
    """One node, on which seats of one CPU fit. Sessions come and go as the test says; what the scaler tells
    of them is true.
    """

    def __init__(self, behaviour: str = "maintain", cpu: int = 20, placeholders: bool = False) -> None:
        more = {"placeholders": True, "owners": OWNERS, "preAllocation": True} if placeholders else {}
        text = slot_text(ROW, behaviour=behaviour, **more)  # type: ignore[arg-type]
        super().__init__("07:29:58", text)
        self.server = ApiServer(lambda: self.now)
        self.server.make(NODES, node(cpu=str(cpu)))
        self.cluster = SlotCluster(text, {"course-small": 0} if placeholders else {}, self.server)
        self.cluster.watch = self._on_write
        self._known: object = None  # as of the last work
        self._tell()

    def pass_time(self, seconds: float) -> None:
        super().pass_time(seconds)
        if self._known != (self.server.version, self.cluster.scales):
            self.work()

    def work(self) -> None:
        """Of the controller of Deployments, and of the scheduler until it has nothing to do."""
        self._scale()
        for _ in range(4):
            there = (list(self.server.all(path).values()) for path in (NODES, PODS, RESERVATIONS))
            for action in decide(self.now, Seen(*there), [SCHEDULER]):
                if isinstance(action, SetStatus):
                    self._set_status(action)
                elif isinstance(action, Bind):
                    self._bind(action)
                elif isinstance(action, Delete):
                    self.server.delete(RESERVATIONS, uid_of(action.reservation))
        self._known = (self.server.version, dict(self.cluster.scales))

    def _scale(self) -> None:
        replicas, _ = self.cluster.scales.get("course-small", (0, ""))
        there = sorted(self.placeholders())
        for name in there[replicas:]:
            self.server.delete(PODS, uid_of(self.server.all(PODS)[name]))
        for number in range(replicas - len(there)):
            self.server.make(PODS, pod(f"course-small-{self.now:.0f}-{number}", labels=PLACE, namespace=HOME))
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

    def owners(self) -> list[list[str]]:
        """Of each slot that is Available."""
        slots = [status_of(one) for one in self.server.all(RESERVATIONS).values()]
        return [
            [owner["name"] for owner in one.get("currentOwners") or []]
            for one in slots
            if one.get("phase") == "Available"
        ]

    def seats(self) -> tuple[int, int]:
        """Slots that are free or handed over, and those that sessions own."""
        used = [names for names in self.owners() if set(names) & set(self.active())]
        return len(self.owners()) - len(used), len(used)


def test_maintain_gives_each_session_its_slot_and_takes_it_back() -> None:
    window = Window()
    found = {}
    for when, action in (("07:45", lambda: window.come("s1")), ("08:00", lambda: window.end("s1"))):
        window.plan(when, action)
    for when in ("07:31", "07:46", "08:05", "08:19"):
        window.plan(when, lambda when=when: found.update({when: window.seats()}))  # type: ignore[misc]

    assert window.run() == 0

    assert found == {"07:31": (5, 0), "07:46": (4, 1), "08:05": (5, 0), "08:19": (5, 0)}
    assert window.server.all(RESERVATIONS) == {}


def test_at_the_end_slots_in_use_go_too_and_their_sessions_stay() -> None:
    window = Window()
    window.plan("07:45", lambda: window.come("s1"))

    assert window.run() == 0

    assert window.server.all(RESERVATIONS) == {}
    assert (window.active(), window.waiting()) == (["s1"], [])


def test_what_found_no_room_is_gone_at_the_end() -> None:
    window = Window(cpu=2)
    found = []
    window.plan("07:45", lambda: found.append((window.seats(), len(window.server.all(RESERVATIONS)))))

    assert window.run() == 0

    assert found == [((2, 0), 5)]
    assert window.server.all(RESERVATIONS) == {}


def test_nothing_is_poisoned_and_every_slot_says_its_end() -> None:
    window = Window()
    found = {}
    window.plan("07:45", lambda: found.update(window.server.all(RESERVATIONS)))
    window.run()

    assert {(spec_of(one)["ttl"], spec_of(one)["expires"]) for one in found.values()} == {
        ("52m0s", "2026-02-02T08:20:00Z")
    }


def test_a_crash_of_everything_of_ours_leaves_no_slot_that_holds_room() -> None:
    """The scheduler itself lets them expire."""
    window = Window()
    window.run(until="08:00")
    window.now = at("08:20") + 1
    window.work()

    phases = {status_of(one)["phase"] for one in window.server.all(RESERVATIONS).values()}
    assert phases == {"Failed"}


@pytest.mark.parametrize("behaviour", ["maintain", "none"])
@pytest.mark.parametrize("seed", range(5))
def test_seats_are_never_fewer_than_promised(behaviour: str, seed: int) -> None:
    """Sessions come and go as they like, a minute apart; a little after each, what is promised stands."""
    chance, window = Random(seed), Window(behaviour)
    looks: list[tuple[int, int]] = []
    for number in range(40):
        when = f"{(35 + number) // 60 + 7:02d}:{(35 + number) % 60:02d}"
        window.plan(f"{when}:00", lambda number=number: _somebody(window, chance, number))  # type: ignore[misc]
        window.plan(f"{when}:50", lambda: looks.append((window.seats()[0], len(window.active()))))

    assert window.run() == 0

    for free, sessions in looks:
        assert free == (COUNT if behaviour == "none" else max(COUNT - sessions, 0)), (free, sessions)
    assert window.server.all(RESERVATIONS) == {}


def _somebody(window: Window, chance: Random, number: int) -> None:
    active = window.active()
    if active and chance.random() < 0.45:
        window.end(chance.choice(active))
    elif len(active) < 8:
        window.come(f"s{number}")


def test_placeholders_hand_over_and_nobody_comes_between() -> None:
    """On a node with exactly as much room as there are seats; strangers ask for it all the time."""
    window = Window(cpu=COUNT, placeholders=True)
    for number, when in enumerate(("07:32", "07:40", "08:00")):
        name = f"stranger-{number}"
        window.plan(when, lambda name=name: window.server.make(PODS, pod(name, labels={})))  # type: ignore[misc]
    window.plan("07:45", lambda: window.come("s1"))
    found: list[object] = []
    window.plan("08:19", lambda: found.extend((window.seats(), len(window.placeholders()), window.waiting())))

    assert window.run() == 0

    assert found == [(4, 1), 0, ["stranger-0", "stranger-1", "stranger-2"]]
    assert window.server.all(RESERVATIONS) == {}
    assert json.dumps(sorted(window.active())) == '["s1"]'
