"""Placeholders bring room and hand it over, never take a seat that a session may have, and nobody comes
between.
"""

from random import Random

import pytest

from tests.koordinator.remembering import Memory
from tests.runtime.slotworld import HANDING, OWNER, SlotWorld, slot_text

COUNT = 5
LOW = -10  # the priority of placeholders


class Handover(SlotWorld):
    """Placeholders come before slots on a node with so many seats. `eaten` are slots that were free until a
    placeholder took them.
    """

    def __init__(self, behaviour: str, room: int, count: int = COUNT, *, placeholders: bool = True) -> None:
        row = ("course/1", "07:30", "07:35", "08:20", {"small": count})
        text = slot_text(row, behaviour=behaviour, placeholders=placeholders)
        super().__init__("07:29:58", text, **({"small": 0} if placeholders else {}))
        self.koordinator.room = room
        self.active: set[str] = set()
        self.eaten: set[str] = set()
        self._were_free: set[str] = set()
        self._tell()

    def turn(self) -> None:
        super().turn()
        koordinator = self.koordinator
        handed = {name for name in koordinator.of("Available") if self._placeholders_in(name)}
        self.eaten |= self._were_free & handed
        self._were_free = set(koordinator.free())

    def _placeholders_in(self, slot: str) -> set[str]:
        return set(self.koordinator.placeholders) & set(self.koordinator.owners(slot))

    def come(self, name: str) -> None:
        self.active.add(name)
        self.koordinator.enter(name)
        self._tell()

    def _tell(self) -> None:
        self.sessions(small={"course/1": len(self.active)})

    def lose(self) -> None:
        """One that is free."""
        self.koordinator.objects.pop(self.koordinator.free()[0])

    @property
    def free_and_used(self) -> tuple[int, int]:
        return len(self.koordinator.free()), len(self.koordinator.used())

    def since(self, moment: str) -> list[str]:
        return [counts for when, counts in self.history if when >= moment]


@pytest.mark.parametrize("behaviour", ["maintain", "none"])
@pytest.mark.parametrize("count", [COUNT, 40])
def test_a_lost_slot_is_created_again_and_the_other_slots_stay_free(behaviour: str, count: int) -> None:
    world = Handover(behaviour, room=count + 5, count=count)
    world.plan("07:45", world.lose)
    world.run(until="07:46")

    assert world.since("07:45:00") == [
        f"{count - 1}+0",
        f"{count - 1}+0 placeholders=1",
        f"{count - 1}+0 handed=1 placeholders=1",
        f"{count}+0",
    ]
    assert world.eaten == set()


@pytest.mark.parametrize("behaviour", ["maintain", "none"])
def test_seats_on_existing_nodes_are_free_within_90_seconds_if_nodes_are_missing(behaviour: str) -> None:
    world = Handover(behaviour, room=7, count=10)
    found = {}
    for when, room in (("07:40", 9), ("07:50", 11)):
        world.plan(when, lambda room=room: setattr(world.koordinator, "room", room))  # type: ignore[misc]
    for when in ("07:31:15", "07:39", "07:41:30", "07:51:30"):
        world.plan(when, lambda when=when: found.update({when: world.free_and_used[0]}))  # type: ignore[misc]

    assert world.run() == 0

    assert found == {"07:31:15": 7, "07:39": 7, "07:41:30": 9, "07:51:30": 10}
    assert world.eaten == set()
    assert world.koordinator.objects == {}


def test_a_handed_over_slot_accepts_only_sessions_and_keeps_its_name() -> None:
    world = Handover("maintain", room=COUNT)
    world.run(until="07:45")

    assert {name: tree["spec"]["owners"] for name, tree in world.koordinator.objects.items()} == {
        f"example-course-small-{n}-{HANDING}": [OWNER] for n in range(COUNT)
    }
    assert [(line["made"], line["renewed"]) for line in world.told("slots")] == [(COUNT, 0), (0, COUNT)]


def test_a_waiting_pod_gets_no_room_when_placeholders_leave() -> None:
    """Although it always would when an owner leaves its slot. It may not preempt them."""
    world = Handover("maintain", room=COUNT)
    world.koordinator.memory = Memory(Random(0), between=1.0)
    world.plan("07:30:02", world.turn, lambda: world.koordinator.ask("stranger", priority=LOW))
    world.run(until="07:45")

    assert f"0+0 handed={COUNT} placeholders={COUNT}" in world.since("07:30")
    assert (world.free_and_used, world.koordinator.runs("stranger")) == ((COUNT, 0), False)


@pytest.mark.parametrize("behaviour", ["maintain", "none"])
def test_a_scheduler_crash_at_the_end_of_a_slot_costs_no_session_and_leaves_no_slot(behaviour: str) -> None:
    """On a full node for which a stranger waits; a slot is lost while the window is open."""
    world = Handover(behaviour, room=COUNT, placeholders=False)
    world.koordinator.memory = Memory(Random(0), crashing=1.0)
    found: list[object] = []
    world.plan("07:40", lambda: world.come("s1"))
    world.plan("07:42", lambda: world.koordinator.ask("stranger", cpu="2"))
    world.plan("07:45", world.lose)
    world.plan("07:46", lambda: found.append(world.free_and_used))

    assert world.run() == 0

    assert found == [(COUNT - 1, 1)]
    assert world.koordinator.memory.crashes == 1
    assert world.koordinator.objects == {}
    assert [world.koordinator.runs(pod) for pod in ("s1", "stranger")] == [True, False]
