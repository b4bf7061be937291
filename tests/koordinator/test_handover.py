"""Placeholders bring room and hand it over, and never take a seat that a session may have."""

from random import Random

import pytest

from tests.koordinator.apiserver import NODES, PODS, RESERVATIONS
from tests.koordinator.claiming import DEFAULTS, SLOWEST, Settings
from tests.koordinator.objects import spec_of, uid_of
from tests.koordinator.remembering import Memory
from tests.koordinator.window import COUNT, LOW, Window
from tests.koordinator.world import node, pod
from tests.runtime.slotworld import HANDING, OWNER
from tests.runtime.world import clock
from tests.seeds import seeds

Counts = tuple[str, tuple[int, int, int]]
"""When how many slots were free and in use, and how many placeholders there were."""


class Watched(Window):
    """Placeholders come before its slots; each change of the counts is kept. `eaten` are slots that were free
    until a placeholder took them.
    """

    def __init__(self, behaviour: str, cpu: int, count: int = COUNT, settings: Settings = DEFAULTS) -> None:
        self.seen: list[Counts] = []
        self.eaten: set[str] = set()
        self._were_free: set[str] = set()
        super().__init__(behaviour, cpu, placeholders=True, count=count, settings=settings)

    def pass_time(self, seconds: float) -> None:
        super().pass_time(seconds)
        counts = (*self.seats(), len(self.placeholders()))
        if not self.seen or self.seen[-1][1] != counts:
            self.seen.append((clock(self.now), counts))
        self.eaten |= self._were_free & self.handed()
        self._were_free = set(self.free())

    def handed(self) -> set[str]:
        places = set(self.placeholders())
        return {name for name, owners in self.owners().items() if places & owners}

    def after(self, moment: str) -> list[tuple[int, int, int]]:
        return [counts for when, counts in self.seen if when >= moment]


@pytest.mark.parametrize("behaviour", ["maintain", "none"])
@pytest.mark.parametrize("count", [COUNT, 40])
def test_one_that_is_lost_is_made_anew_and_the_others_stay_free(behaviour: str, count: int) -> None:
    window = Watched(behaviour, cpu=count + 5, count=count)
    window.plan("07:45", lambda: window.lose(window.free()[0]))
    window.run(until="07:46")

    assert window.after("07:45:00") == [
        (count - 1, 0, 0),
        (count - 1, 0, 1),
        (count, 0, 1),
        (count, 0, 0),
    ]
    assert window.eaten == set()


def test_where_seats_stay_whoever_comes_a_session_takes_one_and_no_more() -> None:
    window = Watched("none", cpu=12)
    window.plan("07:45", lambda: window.come("s1"))
    window.run(until="07:46")

    assert window.after("07:45:00") == [(4, 1, 0), (4, 1, 1), (5, 1, 1), (5, 1, 0)]
    assert window.eaten == set()


@pytest.mark.parametrize("behaviour", ["maintain", "none"])
def test_where_the_room_of_a_lost_one_is_gone_too_the_others_stay_free(behaviour: str) -> None:
    window = Watched(behaviour, cpu=COUNT)

    def lose() -> None:
        window.lose(window.free()[0])
        window.server.make(PODS, pod("stranger", labels={}, at="n1"))

    window.plan("07:45", lose)
    window.plan("07:55", lambda: window.come("s1"))
    window.run(until="08:05")

    assert window.after("07:45:00")[:3] == [(4, 0, 0), (4, 0, 1), (3, 1, 1)]
    assert window.seats() == (3, 1)
    assert "s1" not in window.waiting()
    assert window.eaten == set()


@pytest.mark.parametrize("behaviour", ["maintain", "none"])
def test_where_not_all_nodes_come_the_seats_of_those_that_did_are_free_after_a_minute(behaviour: str) -> None:
    window = Watched(behaviour, cpu=7, count=10)
    window.plan("07:40", lambda: window.server.make(NODES, node("n2", cpu="2")))
    window.plan("07:50", lambda: window.server.make(NODES, node("n3", cpu="2")))
    found = {}
    for when in ("07:31:15", "07:39", "07:41:30", "07:51:30"):
        window.plan(when, lambda when=when: found.update({when: window.seats()[0]}))  # type: ignore[misc]

    assert window.run() == 0

    assert found == {"07:31:15": 7, "07:39": 7, "07:41:30": 9, "07:51:30": 10}
    assert window.eaten == set()
    assert window.server.all(RESERVATIONS) == {}


def test_a_slot_that_was_handed_over_is_for_sessions_only_and_is_the_same_slot() -> None:
    window = Watched("maintain", cpu=COUNT)
    window.run(until="07:45")
    there = window.server.all(RESERVATIONS)

    assert {name: spec_of(one)["owners"] for name, one in there.items()} == {
        f"example-course-small-{n}-{HANDING}": [OWNER] for n in range(COUNT)
    }
    assert [(line["made"], line["renewed"], line["reason"]) for line in window.told("slots")] == [
        (COUNT, 0, "opened"),
        (0, COUNT, "placeholders have handed over"),
    ]


def test_a_pod_that_waits_gets_no_room_when_placeholders_go() -> None:
    """Although it always would when an owner leaves its slot. It may not preempt them."""
    window = Watched("maintain", cpu=COUNT)
    window.memory = Memory(Random(0), between=1.0)
    window.plan("07:30:01", lambda: window.server.make(PODS, pod("stranger", labels={}, priority=LOW)))
    window.run(until="07:45")

    assert COUNT in {placeholders for _, (_, _, placeholders) in window.seen}
    assert (window.seats(), window.waiting()) == ((COUNT, 0), ["stranger"])


@pytest.mark.parametrize("seed", seeds(1, 3))
@pytest.mark.parametrize("behaviour", ["maintain", "reduce", "none"])
def test_whatever_happens_no_placeholder_takes_a_free_slot(behaviour: str, seed: int) -> None:
    """Nodes come and go, sessions too, and slots are deleted."""
    chance = Random(seed)
    settings = chance.choice((DEFAULTS, SLOWEST))
    window = Watched(behaviour, cpu=chance.randrange(3, 9), settings=settings)
    for number in range(90):
        minute, second = 31 + number // 2, 30 * (number % 2)
        window.plan(
            f"{7 + minute // 60:02d}:{minute % 60:02d}:{second:02d}",
            lambda number=number: happen(window, chance, number),  # type: ignore[misc]
        )

    assert window.run() == 0
    assert window.eaten == set()
    assert window.server.all(RESERVATIONS) == {}


def happen(window: Watched, chance: Random, number: int) -> None:
    nodes, active, free = window.server.all(NODES), window.active(), window.free()
    match chance.randrange(8):
        case 0:
            window.server.make(NODES, node(f"n-{number}", cpu=str(chance.randrange(1, 4))))
        case 1 if len(nodes) > 1:
            leave(window, chance.choice(sorted(nodes)))
        case 2 if free:
            window.lose(chance.choice(free))
        case 3 if active:
            window.end(chance.choice(active))
        case 4 | 5 if len(active) < 8:
            window.come(f"s{number}")


def leave(window: Watched, name: str) -> None:
    """A node is removed, and the pods on it."""
    window.server.delete(NODES, uid_of(window.server.all(NODES)[name]))
    for one in window.server.all(PODS).values():
        if spec_of(one).get("nodeName") == name:
            window.server.delete(PODS, uid_of(one))
