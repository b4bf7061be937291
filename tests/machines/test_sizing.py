"""The model of a size, held to a simulation of arrivals, nodes and seats that shares no code with it."""

import heapq
from math import ceil, inf
from random import Random
from statistics import mean

import pytest
from berth.machines.sizing import (
    LATE_PERCENT,
    LEAD_STEP,
    MOST_PEOPLE,
    NodeSupply,
    Offer,
    SizeQuestion,
    recommended,
    waits,
)
from hypothesis import given
from hypothesis import strategies as st

SUPPLIES = st.builds(
    lambda single, more, seats: NodeSupply(single + more, single, seats),
    st.integers(0, 1800),
    st.integers(0, 300),
    st.integers(1, 40),
)
LIMITED = st.builds(lambda supply, most: supply._replace(most=most), SUPPLIES, st.integers(0, 300))
QUESTIONS = st.builds(
    SizeQuestion, st.integers(1, 300), st.just(1.0), st.integers(0, 1200), st.integers(0, 7200)
)


@given(QUESTIONS)
def test_arrivals_are_sorted_and_within_their_time_span(question: SizeQuestion) -> None:
    times = question.times()

    assert len(times) == question.people
    assert times == sorted(times)
    assert all(abs(at) <= question.over / 2 + 1 for at in times)


def test_most_arrivals_are_around_the_start() -> None:
    first, second, middle, *_ = SizeQuestion(5).times()

    assert middle - second < second - first
    assert SizeQuestion(3, over=0).times() == [0, 0, 0]


def test_the_number_of_people_is_reduced_by_the_attendance_rate() -> None:
    assert [SizeQuestion(300).people, SizeQuestion(10, 0.7).people, SizeQuestion(3, 0.5).people] == [
        300,
        7,
        2,
    ]


def is_kept(question: SizeQuestion, found: list[float]) -> bool:
    return question.late(found) <= LATE_PERCENT / 100 * len(found)


@given(QUESTIONS, SUPPLIES)
def test_the_recommended_offer_keeps_waits_within_the_goal(
    question: SizeQuestion, supply: NodeSupply
) -> None:
    times = question.times()
    offer = recommended(times, supply, question)

    assert is_kept(question, waits(times, offer, supply))
    assert offer.seats <= len(times)
    assert offer.lead % LEAD_STEP == 0


@given(QUESTIONS, SUPPLIES)
def test_one_step_less_lead_or_one_seat_less_misses_the_goal(
    question: SizeQuestion, supply: NodeSupply
) -> None:
    times = question.times()
    offer = recommended(times, supply, question)
    if offer.lead:
        less = offer._replace(lead=offer.lead - LEAD_STEP)
        assert not is_kept(question, waits(times, less, supply))
    if offer.seats:
        less = offer._replace(seats=offer.seats - 1)
        assert not is_kept(question, waits(times, less, supply))


@given(QUESTIONS, LIMITED)
def test_only_people_beyond_all_nodes_get_no_seat(question: SizeQuestion, supply: NodeSupply) -> None:
    times = question.times()
    offer = recommended(times, supply, question)
    found = waits(times, offer, supply)

    assert found.count(inf) == max(0, len(times) - supply.most)
    assert offer.seats <= supply.most
    assert is_kept(question, found) or question.late(found) == found.count(inf)


@given(QUESTIONS, LIMITED)
def test_a_sufficient_node_limit_gives_the_same_answer_as_no_limit(
    question: SizeQuestion, supply: NodeSupply
) -> None:
    times = question.times()
    enough = supply._replace(most=max(len(times), supply.most))

    assert recommended(times, enough, question) == recommended(
        times, enough._replace(most=MOST_PEOPLE), question
    )


def simulated(times: list[float], offer: Offer, supply: NodeSupply, scan: int) -> list[float]:
    """Return the waits of people who arrive at random times.

    The autoscaler looks every `scan` seconds, and adds nodes for all pending pods that no coming node has
    room for, as long as there are any. Placeholders become pods when the window opens, and give way to
    sessions.
    """
    events = [(at, 1, number) for number, at in enumerate(times)]
    events.append((-offer.lead, 0, -1))
    first = min(at for at, _, _ in events)
    looks = ceil((max(at for at, _, _ in events) + supply.window - first) / scan) + 2
    events += [(first + look * scan, 3, -1) for look in range(looks)]
    heapq.heapify(events)
    free = pending_room = holders = 0  # free seats on nodes; seats of nodes that come; placeholders
    nodes = supply.most // supply.seats
    queue: list[int] = []
    found = [inf] * len(times)
    while events:
        now, kind, number = heapq.heappop(events)
        if kind == 0:
            holders = max(0, offer.seats - number - 1 - sum(at < now for at in times))
        elif kind == 1:
            holders = max(0, holders - 1)
            queue.append(number)
        elif kind == 2:  # a node is Ready
            free += number
            pending_room -= number
        else:
            lacking = len(queue) + holders - free - pending_room
            for _ in range(min(nodes, ceil(max(0, lacking) / supply.seats))):
                nodes -= 1
                pending_room += supply.seats
                heapq.heappush(events, (now + supply.single - scan, 2, supply.seats))
        while queue and free:
            one = queue.pop(0)
            found[one] = now - times[one]
            free -= 1
    return found


OFFERS = [
    pytest.param(Offer(200, 900), id="enough-and-early"),
    pytest.param(Offer(200, 300), id="enough-but-late"),
    pytest.param(Offer(150, 900), id="too-few"),
    pytest.param(Offer(0, 0), id="none"),
]


@pytest.mark.parametrize("most", [MOST_PEOPLE, 160], ids=["", "eight-nodes"])
@pytest.mark.parametrize("offer", OFFERS)
def test_the_model_agrees_with_a_simulation_of_random_days(offer: Offer, most: int) -> None:
    """The share of people who wait longer than two minutes, within six points, the mean wait of those who
    get a seat, and how many get none.
    """
    supply, people, question = NodeSupply(370, 370, 20, most), 200, SizeQuestion(200)
    dense = SizeQuestion(20_000).times()
    days = [
        simulated(sorted(float(Random(f"{day}/{n}").choice(dense)) for n in range(people)), offer, supply, 10)
        for day in range(20)
    ]
    model = waits(question.times(), offer, supply)
    late = mean(question.late(day) / people for day in days)

    assert question.late(model) / people == pytest.approx(late, abs=0.06)
    assert mean(seated(model)) == pytest.approx(mean(map(mean, map(seated, days))), abs=30)
    assert {day.count(inf) for day in days} == {model.count(inf)} == {max(0, people - most)}


def seated(day: list[float]) -> list[float]:
    return [wait for wait in day if wait != inf]
