"""The model of a size, held to a simulation of arrivals, nodes and seats that shares no code with it."""

import heapq
from itertools import pairwise
from math import ceil, inf
from random import Random
from statistics import NormalDist, mean

import pytest
from berth.cost.sizing import (
    AT_ONCE,
    BELL,
    LEAD_STEP,
    MEASURED,
    MOST_PEOPLE,
    SHAPES,
    UNIFORM,
    Arrivals,
    NodeSupply,
    Offer,
    Promise,
    cheapest,
    expected_people,
    likely_most,
    safe,
    waits,
)
from hypothesis import given
from hypothesis import strategies as st

CURVES = st.builds(Arrivals, st.sampled_from(SHAPES), st.integers(0, 7200))
SUPPLIES = st.builds(
    lambda single, more, seats: NodeSupply(single + more, single, seats),
    st.integers(0, 1800),
    st.integers(0, 300),
    st.integers(1, 40),
)
LIMITED = st.builds(lambda supply, most: supply._replace(most=most), SUPPLIES, st.integers(0, 300))
PROMISES = st.builds(Promise, st.integers(0, 1200), st.sampled_from((0.0, 0.01, 0.05, 0.2)))
PEOPLE = st.integers(1, 300)


@given(CURVES, PEOPLE)
def test_people_come_in_order_and_within_the_time(curve: Arrivals, people: int) -> None:
    times = curve.times(people)

    assert len(times) == people
    assert times == sorted(times)
    assert all(abs(at) <= curve.over / 2 + 1 for at in times)


def test_the_curves_have_their_shapes() -> None:
    assert Arrivals(AT_ONCE, 1200).times(3) == [0, 0, 0]
    assert Arrivals(UNIFORM, 1200).times(3) == [-400, 0, 400]
    assert Arrivals(MEASURED, measured=(-60, 0, 600)).times(3) == [-60, 0, 600]
    early, middle = (late - soon for soon, late in [*pairwise(Arrivals(BELL, 1200).times(5))][:2])
    assert early > middle > 0


@given(CURVES, PEOPLE, SUPPLIES, PROMISES)
def test_the_cheapest_offer_keeps_the_promise(
    curve: Arrivals, people: int, supply: NodeSupply, promise: Promise
) -> None:
    times = curve.times(people)
    offer = cheapest(times, supply, promise)

    assert promise.is_kept(waits(times, offer, supply))
    assert offer.seats <= people
    assert offer.lead % LEAD_STEP == 0


@given(CURVES, PEOPLE, SUPPLIES, PROMISES)
def test_one_step_less_of_lead_would_break_the_promise(
    curve: Arrivals, people: int, supply: NodeSupply, promise: Promise
) -> None:
    times = curve.times(people)
    offer = cheapest(times, supply, promise)
    if offer.lead:
        less = offer._replace(lead=offer.lead - LEAD_STEP)

        assert not promise.is_kept(waits(times, less, supply))


@given(CURVES, PEOPLE, SUPPLIES)
def test_nobody_waits_with_the_safe_offer(curve: Arrivals, people: int, supply: NodeSupply) -> None:
    times = curve.times(people)

    assert max(waits(times, safe(times, supply), supply)) == 0


@given(CURVES, PEOPLE, LIMITED, PROMISES)
def test_people_beyond_all_nodes_get_no_seat_whatever_is_reserved(
    curve: Arrivals, people: int, supply: NodeSupply, promise: Promise
) -> None:
    """And of the others, no offer seats more in time than the cheapest or the safe one does."""
    times = curve.times(people)
    offer, surest = cheapest(times, supply, promise), safe(times, supply)
    found = waits(times, offer, supply)

    assert found.count(inf) == max(0, people - supply.most)
    assert max(offer.seats, surest.seats) <= supply.most
    assert promise.is_kept(found) or promise.late_people(found) == found.count(inf)
    assert max((wait for wait in waits(times, surest, supply) if wait != inf), default=0) == 0


@given(CURVES, PEOPLE, LIMITED, PROMISES)
def test_enough_nodes_are_as_good_as_nodes_without_limit(
    curve: Arrivals, people: int, supply: NodeSupply, promise: Promise
) -> None:
    times = curve.times(people)
    enough = supply._replace(most=max(people, supply.most))

    assert cheapest(times, enough, promise) == cheapest(times, enough._replace(most=MOST_PEOPLE), promise)


@given(st.integers(1, 400), st.sampled_from((0.05, 0.5, 0.8, 0.99)))
def test_the_likely_most_is_near_the_normal_approximation(invited: int, show_up: float) -> None:
    deviation = (invited * show_up * (1 - show_up)) ** 0.5
    near = invited * show_up + NormalDist().inv_cdf(0.95) * deviation

    assert abs(likely_most(invited, show_up) - near) <= 2
    assert likely_most(invited, show_up) >= expected_people(invited, show_up) - 1


def test_everybody_is_expected_where_everybody_comes() -> None:
    assert (expected_people(300, 1.0), likely_most(300, 1.0)) == (300, 300)
    assert expected_people(10, 0.7) == 7


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
@pytest.mark.parametrize("shape", [UNIFORM, BELL])
@pytest.mark.parametrize("offer", OFFERS)
def test_the_model_agrees_with_a_simulation_of_random_days(shape: str, offer: Offer, most: int) -> None:
    """The share of people who wait longer than two minutes, within six points, the mean wait of those who
    get a seat, and how many get none.
    """
    supply, people, promise = NodeSupply(370, 370, 20, most), 200, Promise(120, 0.05)
    curve = Arrivals(shape, 1200)
    dense = curve.times(20_000)
    days = [
        simulated(sorted(float(Random(f"{day}/{n}").choice(dense)) for n in range(people)), offer, supply, 10)
        for day in range(20)
    ]
    model = waits(curve.times(people), offer, supply)
    late = mean(promise.late_people(day) / people for day in days)

    assert promise.late_people(model) / people == pytest.approx(late, abs=0.06)
    assert mean(seated(model)) == pytest.approx(mean(map(mean, map(seated, days))), abs=30)
    assert {day.count(inf) for day in days} == {model.count(inf)} == {max(0, people - most)}


def seated(day: list[float]) -> list[float]:
    return [wait for wait in day if wait != inf]
