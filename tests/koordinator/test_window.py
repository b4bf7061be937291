"""Whole windows of the occurrence's own program beside the exact rules of the scheduler, in virtual time."""

import json
from random import Random

import pytest

from tests.koordinator.apiserver import NODES, PODS, RESERVATIONS
from tests.koordinator.claiming import DEFAULTS, SLOWEST, Settings
from tests.koordinator.objects import phase_of, spec_of, status_of
from tests.koordinator.remembering import Memory
from tests.koordinator.window import COUNT, Window
from tests.koordinator.world import node, pod
from tests.runtime.stub_server import Received
from tests.runtime.world import at
from tests.seeds import seeds


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
        ("1h50m0s", "2026-02-02T08:20:00Z")
    }


@pytest.mark.parametrize("settings", [DEFAULTS, SLOWEST], ids=["prompt", "slowest"])
def test_a_crash_of_everything_of_ours_leaves_no_slot_that_holds_room(settings: Settings) -> None:
    """The scheduler itself lets them expire."""
    window = Window(settings=settings)
    window.run(until="08:00")
    found = []
    for second in (1, 3, 4):
        window.now = at("08:20") + second
        window.work()
        found.append({status_of(one)["phase"] for one in window.server.all(RESERVATIONS).values()})

    late = "Available" if settings.expiry_lag else "Failed"
    assert found == [{late}, {late}, {"Failed"}]


@pytest.mark.parametrize("settings", [DEFAULTS, SLOWEST], ids=["prompt", "slowest"])
def test_what_lost_its_node_is_made_elsewhere_whoever_clears_it_away(settings: Settings) -> None:
    """The scheduler does so within a minute; our program does not wait for it."""
    window = Window(cpu=COUNT, settings=settings)
    found: list[object] = []

    def move() -> None:
        window.server.delete(NODES, "uid-of-n1")
        window.server.make(NODES, node("n2", cpu=str(COUNT)))
        window.work()
        found.append(len(window.server.all(RESERVATIONS)))

    window.plan("07:45:01", move)
    window.plan("07:45:11", lambda: found.append((window.seats(), len(window.server.all(RESERVATIONS)))))

    assert window.run() == 0
    assert found == [COUNT if settings.gc_interval else 0, ((COUNT, 0), COUNT)]
    assert window.server.all(RESERVATIONS) == {}


@pytest.mark.parametrize("behaviour", ["maintain", "none"])
@pytest.mark.parametrize("seed", seeds(2, 5))
def test_seats_are_never_fewer_than_promised(behaviour: str, seed: int) -> None:
    """Sessions come and go as they like, a minute apart; a little after each, what is promised stands."""
    chance, window = Random(seed), Window(behaviour, settings=SLOWEST)
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


@pytest.mark.parametrize("behaviour", ["maintain", "none"])
def test_a_scheduler_that_dies_whenever_a_slot_ends_costs_no_session_and_leaves_no_slot(
    behaviour: str,
) -> None:
    """On a full node for which a stranger waits; a slot is lost while the window is open."""
    window = Window(behaviour, cpu=COUNT)
    window.memory = Memory(Random(0), crashing=1.0)
    window.plan("07:40", lambda: window.come("s1"))
    window.plan("07:42", lambda: window.server.make(PODS, pod("stranger", labels={}, cpu="2")))
    window.plan("07:45", lambda: window.lose(window.free()[0]))
    found: list[object] = []
    window.plan("07:46", lambda: found.append(window.seats()))

    assert window.run() == 0

    assert found == [(COUNT - 1, 1)]
    assert window.memory.crashes == 1
    assert window.server.all(RESERVATIONS) == {}
    assert (window.active(), window.waiting()) == (["s1"], ["stranger"])


def test_slots_that_expire_while_they_cannot_be_deleted_are_deleted_later() -> None:
    window = Window()
    found: set[str] = set()

    def look() -> None:
        window.work()
        found.update(map(phase_of, window.server.all(RESERVATIONS).values()))

    window.plan("08:15", lambda: setattr(window.server, "refuse", refuse))
    window.plan("08:20:02", look)
    window.plan("08:20:03", lambda: setattr(window.server, "refuse", lambda _: 0))

    assert window.run() == 0

    assert found == {"Failed"}
    assert window.server.all(RESERVATIONS) == {}


def refuse(received: Received) -> int:
    return 500 if received.method == "DELETE" else 0


def test_a_session_takes_the_seat_that_a_placeholder_is_handing_over() -> None:
    """It preempts the pod in the slot."""
    window = Window("none", cpu=COUNT, placeholders=True, count=COUNT + 1)
    window.plan("07:30:20", lambda: window.come("s1"))
    found: list[bool] = []
    for when in ("07:30:20", "07:30:24"):
        window.plan(when, lambda: found.append({"s1"} in window.owners().values()))

    assert window.run() == 0

    assert found == [False, True]
