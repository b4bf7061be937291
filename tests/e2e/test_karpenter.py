"""Karpenter buys for placeholders and takes nodes away, and what it buys is what the plan says.

`tell` asks it first about a table of declarations of many kinds, and then lets windows open and close.
"""

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import pytest

from tests.e2e import (
    bufferstory,
    karpentercases,
    karpenterquestion,
    karpenterstory,
    karpentertable,
    limitstory,
)
from tests.e2e.direct import Direct
from tests.e2e.karpenter import START, Karpenter
from tests.e2e.karpentercases import CASES, Case, Seen
from tests.e2e.karpenterstory import (
    ACTIVE,
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
from tests.e2e.sidebyside import Stage, Stories
from tests.e2e.windows import MINUTE, next_minute, sleep_until

EARLY = MINUTE  # seconds; the table takes one and a half
PREPARED = 40  # seconds in which the windows are declared


class Story(NamedTuple):
    table: dict[str, Seen]
    told: Told
    buffered: bufferstory.Told
    limited: limitstory.LimitTold


BUSY = 30  # seconds that a busy machine may take longer than a plan


def tell(stage: Stage) -> Story:
    cluster, direct = stage.cluster, Direct()
    stage.undo.callback(direct.close)
    sleep_until(stage.opens - EARLY)
    karpenter = Karpenter(cluster, direct, karpenterquestion.write_types(stage.folder))
    try:
        table = karpentertable.ask(cluster, direct, karpenter)
        karpentertable.forget(cluster, direct)
        opens, beside = max(stage.opens + MINUTE, next_minute(PREPARED)), stage.folder / "buffers"
        with ThreadPoolExecutor(2) as threads:
            limited = threads.submit(limitstory.happen, cluster, direct)
            buffered = threads.submit(bufferstory.happen, cluster, direct, beside, opens)
            told = karpenterstory.happen(cluster, direct, stage.folder / "courses", opens)
            return Story(table, told, buffered.result(), limited.result())
    finally:
        stage.undo.callback(_forget, direct)
        karpenter.component.stop()


def _forget(direct: Direct) -> None:
    """Nobody waits for it."""
    buffered = bufferstory.NAMESPACE, bufferstory.SESSIONS
    for name in (karpentertable.NAMESPACE, NAMESPACE, SESSIONS, *buffered, limitstory.NAMESPACE):
        direct.delete(f"/api/v1/namespaces/{name}")


@pytest.fixture(scope="module")
def story(side_by_side: Stories) -> Iterator[Story]:
    with side_by_side.judged(__name__) as told:
        yield told


@pytest.fixture(scope="module")
def plan() -> dict[str, Seen]:
    return karpentercases.plan()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_plan_and_karpenter_buy_the_same(story: Story, plan: dict[str, Seen], case: Case) -> None:
    """Type, zone and capacity type of every machine, and how many pods find none."""
    assert story.table[case.name] == plan[case.name]


def test_the_table_is_of_more_than_single_nodes(story: Story) -> None:
    bought = [sum(seen.machines.values()) for seen in story.table.values()]

    assert len(CASES) >= 20
    assert sum(one > 1 for one in bought) >= 6


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


def test_placeholders_make_karpenter_buy_what_the_plan_says(told: Told) -> None:
    """Three of them on a machine, and one for the stranger who fills it."""
    assert told.between(told.opens, told.came)[-1].placed == SEATS
    assert len(told.bought) == len(karpenterstory.planned().bought) == SEATS // 3 + 1


def test_seats_are_ready_within_what_size_says(told: Told) -> None:
    """From when they are asked for: their nodes start after a minute, and Karpenter takes some time, too."""
    asked = next(look.at for look in told.looks if look.slow == PEOPLE)
    ready = next(look.at for look in told.looks if look.slow_placed == PEOPLE)

    assert START <= ready - asked + 1 <= told.sized + BUSY


def test_sessions_take_the_places_without_a_further_node(told: Told, end: float) -> None:
    settled = told.between(told.came + EMPTIED, end - 4)

    assert {(look.sessions, look.placeholders, look.placed) for look in settled} == {
        (ACTIVE, SEATS - ACTIVE, SEATS - ACTIVE)
    }
    assert [name for name, at in told.bought.items() if at > told.came] == []


def test_a_budget_keeps_an_empty_node_while_the_window_is_open(told: Told, end: float) -> None:
    """The same node in a pool without windows goes within the time."""
    held = told.between(told.emptied + 5, end)

    assert {look.nodes["courses"] for look in held} == {SEATS // 3 + 1}
    assert held[0].nodes["free"] == 1
    assert held[-1].nodes["free"] == 0


def _gone(told: Told, whose: str) -> float:
    """When the last node and NodeClaim of these went; never if there is one in the last look."""
    held = [bool(look.nodes[whose] or look.claims[whose]) for look in told.looks]
    last = len(held) - 1 - held[::-1].index(True)
    return told.looks[last + 1].at if last + 1 < len(held) else math.inf


def test_after_the_end_all_nodes_go(told: Told, end: float) -> None:
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


def test_a_buffer_makes_karpenter_buy_without_any_placeholder(buffered: bufferstory.Told) -> None:
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


def test_the_end_of_its_window_gives_the_nodes_of_a_buffer_back(buffered: bufferstory.Told) -> None:
    last = buffered.looks[-1]

    assert (last.replicas, last.claims, last.nodes) == (0, 0, 0)
    assert last.at - (buffered.opens + bufferstory.LENGTH * MINUTE) <= GONE + 5


@pytest.fixture
def limited(story: Story) -> limitstory.LimitTold:
    return story.limited


def test_beyond_the_limit_of_a_node_pool_pods_wait(limited: limitstory.LimitTold) -> None:
    usual, wanted = limitstory.USUAL, limitstory.RAISED

    assert limited.looks["before"] == (usual, usual, usual, wanted - usual)


def test_a_limit_that_is_raised_gives_them_nodes(limited: limitstory.LimitTold) -> None:
    wanted = limitstory.RAISED

    assert limited.looks["raised"] == (wanted, wanted, wanted, 0)
    assert limited.seconds < limitstory.LATE


def test_a_limit_that_is_lowered_again_removes_no_node_and_gives_no_new_one(
    limited: limitstory.LimitTold,
) -> None:
    wanted = limitstory.RAISED

    assert limited.looks["after"] == (wanted, wanted, wanted, 1)
