"""Karpenter buys for placeholders and takes nodes away.

`tests/e2e/test_provisioner.py` compares what it buys with the estimate.
"""

import math
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import pytest

from tests.e2e import bufferstory, karpenterstory
from tests.e2e.direct import Direct
from tests.e2e.karpenter import START, Karpenter, write_types
from tests.e2e.karpenterstory import (
    ACTIVE,
    BOUGHT,
    EMPTIED,
    GONE,
    LAB,
    LATE,
    LENGTH,
    NAMESPACE,
    NODES,
    PEOPLE,
    SEATS,
    SESSIONS,
    Told,
)
from tests.e2e.sidebyside import Stage
from tests.e2e.windows import MINUTE, sleep_until

EARLY = MINUTE  # seconds in which Karpenter starts and the windows are declared
BUSY = 30  # seconds that a busy machine may take longer than a plan


class Story(NamedTuple):
    told: Told
    buffered: bufferstory.Told


def tell(stage: Stage) -> Story:
    cluster, direct = stage.cluster, stage.connect()
    sleep_until(stage.opens - EARLY)
    karpenter = Karpenter(cluster, direct, write_types(stage.folder))
    try:
        karpenter.component.start()
        with ThreadPoolExecutor(1) as beside:
            buffered = beside.submit(
                bufferstory.happen, cluster, direct, stage.folder / "buffers", stage.opens
            )
            told = karpenterstory.happen(cluster, direct, stage.folder / "courses", stage.opens)
            return Story(told, buffered.result())
    finally:
        stage.undo.callback(_forget, direct)
        karpenter.component.stop()


def _forget(direct: Direct) -> None:
    """Nobody waits for it."""
    for name in (NAMESPACE, SESSIONS, bufferstory.NAMESPACE, bufferstory.SESSIONS):
        direct.delete(f"/api/v1/namespaces/{name}")


@pytest.fixture
def told(story: Story) -> Told:
    return story.told


@pytest.fixture
def end(told: Told) -> float:
    return told.opens + LENGTH * MINUTE


def test_nothing_is_bought_before_the_window_opens(told: Told) -> None:
    before = told.between(0, told.opens)

    assert before
    assert {(look.claims["courses"], look.claims["lab"], look.asked) for look in before} == {(0, 0, 0)}


def test_placeholders_make_karpenter_buy_nodes(told: Told) -> None:
    assert told.between(told.opens, told.came)[-1].placed == SEATS
    assert len(told.bought) == BOUGHT


def test_seats_are_ready_within_the_time_that_size_estimates(told: Told) -> None:
    """From when they are asked for: their nodes start after a minute, and Karpenter takes some time, too."""
    asked = next(look.at for look in told.looks if look.slow == PEOPLE)
    ready = next(look.at for look in told.looks if look.slow_placed == PEOPLE)

    assert START <= ready - asked + 1 <= told.sized + BUSY


def test_sessions_take_the_seats_without_another_node(told: Told, end: float) -> None:
    settled = told.between(told.came + EMPTIED, end - 4)

    assert {(look.sessions, look.placeholders, look.placed) for look in settled} == {
        (ACTIVE, SEATS - ACTIVE, SEATS - ACTIVE)
    }
    assert [name for name, at in told.bought.items() if at > told.came] == []


def test_a_budget_keeps_an_empty_node_while_the_window_is_open(told: Told, end: float) -> None:
    """The same node in a pool without windows goes within the time."""
    held = told.between(told.emptied + 5, end)

    assert {look.nodes["courses"] for look in held} == {BOUGHT}
    assert held[0].nodes["free"] == 1
    assert held[-1].nodes["free"] == 0


def _gone(told: Told, whose: str) -> float:
    """When the last node and NodeClaim of these went; never if there is one in the last look."""
    held = [bool(look.nodes[whose] or look.claims[whose]) for look in told.looks]
    last = len(held) - 1 - held[::-1].index(True)
    return told.looks[last + 1].at if last + 1 < len(held) else math.inf


def test_all_nodes_are_removed_after_the_end(told: Told, end: float) -> None:
    assert _gone(told, "courses") - end <= GONE
    assert told.looks[-1].placeholders == 0


def test_whole_nodes_follow_their_window(told: Told) -> None:
    asked = [look.asked for look in told.looks]
    steps = [asked[0]] + [now for before, now in pairwise(asked) if now != before]
    open_ = told.between(told.opens + LATE, told.opens + LAB * MINUTE)

    assert steps == [0, NODES, 0]
    assert {look.nodes["lab"] for look in open_} == {NODES}
    assert _gone(told, "lab") - (told.opens + LAB * MINUTE) <= GONE


def test_a_rehearsal_finds_the_limit_of_a_node_pool(told: Told) -> None:
    """Three seats on the only node that it may have."""
    record, events = told.rehearsal
    (message,) = events.values()

    assert record["ready"]["exam"][-1][1] == sum(record["nodes"].values()) == SEATS // 2
    assert record["faults"][0].startswith(f"NodePool limit: {SEATS // 2} placeholders of exam: ")
    assert list(events) == ["RehearsalFailed"]
    assert "exceed limits for nodepool" in message


@pytest.fixture
def buffered(story: Story) -> bufferstory.Told:
    return story.buffered


def test_a_buffer_makes_karpenter_buy_nodes_without_placeholders(buffered: bufferstory.Told) -> None:
    before, held = buffered.between(0, buffered.opens), buffered.between(buffered.opens, buffered.came)

    assert {(look.replicas, look.claims) for look in before} == {(0, 0)}
    assert held[-1].replicas == bufferstory.SEATS
    assert (held[-1].reason, held[-1].claims) == ("FitsExistingCapacity", bufferstory.NODES)
    assert {look.pods for look in buffered.looks} == {0}


def test_sessions_use_the_room_of_a_buffer_which_berth_makes_smaller(buffered: bufferstory.Told) -> None:
    """One node more where Karpenter calculates first; a buffer that is never lowered takes two."""
    end = buffered.opens + bufferstory.LENGTH * MINUTE
    settled = buffered.between(buffered.came + EMPTIED, end - 4)

    assert {(look.sessions, look.replicas) for look in settled} == {
        (bufferstory.ACTIVE, bufferstory.SEATS - bufferstory.ACTIVE)
    }
    assert settled[-1].claims in (bufferstory.NODES, bufferstory.NODES + 1)


def test_the_nodes_of_a_buffer_are_removed_after_its_window(buffered: bufferstory.Told) -> None:
    last = buffered.looks[-1]

    assert (last.replicas, last.claims, last.nodes) == (0, 0, 0)
    assert last.at - (buffered.opens + bufferstory.LENGTH * MINUTE) <= GONE + 5
