"""Booking free machines of reservations: once for each claim, given back when it can no longer use them."""

from berth.karpenter.instancetypes import reserved_offering
from berth.planner.inputs import SchedulingInput
from berth.planner.launch import ReservationUsage
from berth.planner.nodeclaims import ReservationManager

from tests.planner.machines import ANY, machine, pod

SMALL, MEDIUM, LARGE = "small", "medium", "large"


def bookings() -> ReservationManager:
    return ReservationManager({SMALL: 3, MEDIUM: 2, LARGE: 1})


def test_what_is_held_can_be_held_on_when_nothing_is_free() -> None:
    some = bookings()
    for _ in range(2):
        some.update((), (MEDIUM,))

    assert some.reservable((MEDIUM,), ()) == ()
    assert some.reservable((MEDIUM,), (MEDIUM,)) == (MEDIUM,)


def test_several_claims_with_several_reservations() -> None:
    some = bookings()
    some.update((), (MEDIUM, SMALL))
    some.update((), (MEDIUM, LARGE))
    some.update((), (SMALL,))

    assert some.reservable((SMALL, MEDIUM, LARGE), ()) == (SMALL,)


def test_holding_the_same_again_books_nothing() -> None:
    some = bookings()
    some.update((), (LARGE,))
    before = some.version
    some.update((LARGE,), (LARGE,))

    assert some.version == before


def test_what_is_dropped_is_free_again_and_others_may_ask() -> None:
    some = bookings()
    some.update((), (LARGE, SMALL))
    before = some.version
    some.update((LARGE, SMALL), (SMALL,))

    assert some.reservable((LARGE,), ()) == (LARGE,)
    assert some.version > before


def test_a_reservation_of_several_offerings_is_asked_for_once() -> None:
    assert bookings().reservable((SMALL, LARGE, SMALL), ()) == (SMALL, LARGE)


def test_where_pools_know_different_numbers_the_least_counts() -> None:
    few, many = (machine("one", {}, (reserved_offering("cr-1", "z", 1.0, count),)) for count in (5, 10))
    pools = (ANY._replace(name="a", types=(few,)), ANY._replace(name="b", types=(many,)))
    stock = ReservationUsage(SchedulingInput(pools, (), (pod(),)))

    assert stock.free() == {"cr-1": 5}
    for _ in range(5):
        stock.add("cr-1")
    stock.add("")
    assert (stock.free(), stock.spent()) == ({"cr-1": 0}, frozenset({"cr-1"}))
