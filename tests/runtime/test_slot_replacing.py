"""Slots that get another shape in an open window, and slots that find no room, on nodes that are full."""

from random import Random

import pytest
from berth.plugins.slots.slots import PENDING_SECONDS

from tests.runtime.slotworld import DIGEST, OTHER, SlotLoop, slot_text, slots
from tests.runtime.timetables import Row
from tests.seeds import seeds

COUNT = 4
ROW: Row = ("course/1", "07:30", "07:40", "10:00", {"small": COUNT})
WIDE = str(slots(cpu="2")["hash"])
HANDING_OTHER = str(slots(placeholders=True, variant="b")["hash"])


def full(text: str, room: int = COUNT, seed: int = 0, strangers: int = 3) -> SlotLoop:
    """Slots have all of the node, and pods of others wait for it."""
    loop = SlotLoop(text, room, seed)
    loop.live(20)
    for n in range(strangers):
        loop.koordinator.ask(f"stranger-{n}")
    loop.live(20)
    loop.fewest = len(loop.koordinator.objects)
    return loop


@pytest.mark.parametrize("placeholders", [False, True])
@pytest.mark.parametrize("seed", seeds(6, 40))
def test_on_a_full_node_slots_change_shape_one_at_a_time_and_keep_their_room(
    seed: int, placeholders: bool
) -> None:
    """Whenever the program has to begin anew. Nobody asks for the room of placeholders: when one leaves its
    slot, the room may go to whoever waits, and there is nothing that we can do.
    """
    random = Random(seed)
    loop = full(slot_text(ROW, placeholders=placeholders), seed=seed, strangers=0 if placeholders else 3)
    loop.edit(slot_text(ROW, placeholders=placeholders, variant="b"))
    for _ in range(30):
        loop.live(random.choice((0.3, 1.0, 4.0)))
        if random.random() < 0.3:
            loop.restart()
    loop.live(60)

    assert loop.by_shape == {f"{HANDING_OTHER if placeholders else OTHER} Available": COUNT}
    assert loop.fewest == COUNT - 1
    assert not [name for name in loop.koordinator.pods if loop.koordinator.runs(name)]


def test_a_slot_of_another_shape_is_replaced_within_two_seconds() -> None:
    loop = full(slot_text(ROW))
    loop.edit(slot_text(ROW, variant="b"))
    loop.live(5 + 2 * COUNT)

    assert loop.by_shape == {f"{OTHER} Available": COUNT}


def test_only_one_slot_is_removed_while_no_new_slot_is_placed() -> None:
    loop = full(slot_text(ROW))
    loop.is_scheduling = False
    loop.edit(slot_text(ROW, variant="b"))
    loop.live(PENDING_SECONDS)
    missing = COUNT - loop.fewest
    loop.is_scheduling = True
    loop.live(60)

    assert missing == 1
    assert loop.by_shape == {f"{OTHER} Available": COUNT}


def test_a_slot_in_use_is_replaced_when_its_session_has_left() -> None:
    loop = full(slot_text(ROW), strangers=0)
    loop.sessions(small={"course/1": 1})
    loop.koordinator.enter("a")
    loop.edit(slot_text(ROW, variant="b"))
    loop.live(60)
    before = loop.by_shape
    loop.sessions(small={"course/1": 0})
    loop.koordinator.leave("a")
    loop.live(60)

    assert before == {f"{DIGEST} used": 1, f"{OTHER} Available": COUNT - 1}
    assert loop.by_shape == {f"{OTHER} Available": COUNT}


def test_larger_slots_take_the_room_of_several_slots() -> None:
    loop = full(slot_text(ROW))
    loop.edit(slot_text(ROW, cpu="2"))
    loop.live(8 * PENDING_SECONDS)

    assert loop.by_shape == {f"{WIDE} Available": 2, f"{WIDE} Pending": 2}


@pytest.mark.parametrize("number", [4, 30])
@pytest.mark.parametrize("seed", seeds(3, 20))
def test_pending_slots_get_the_room_of_removed_slots(seed: int, number: int) -> None:
    """Those of a window that ends on a full node. Koordinator itself would try them again after minutes."""
    loop = SlotLoop(slot_text((*ROW[:4], {"small": number})), number, seed)
    foreign = slots("small", "other")
    for n in range(number):
        loop.koordinator.put_slot(f"example-other-small-{n}-x", foreign["object"])
    loop.koordinator.schedule()
    loop.live(45)
    assert loop.by_shape == {"x Available": number, f"{DIGEST} Pending": number}
    for n in range(number):
        del loop.koordinator.objects[f"example-other-small-{n}-x"]
    loop.live(PENDING_SECONDS + 10)

    assert loop.by_shape == {f"{DIGEST} Available": number}


def test_one_pending_slot_is_retried_every_half_minute_while_there_is_no_room() -> None:
    loop = SlotLoop(slot_text((*ROW[:4], {"small": 30})), 10)
    loop.live(60)
    before, loop.steps = len(loop.koordinator.writes), 0
    loop.live(600)

    assert loop.by_shape == {f"{DIGEST} Available": 10, f"{DIGEST} Pending": 20}
    assert len(loop.koordinator.writes) - before <= 2 * (600 / PENDING_SECONDS + 1)
    assert loop.steps < 600 / 4
