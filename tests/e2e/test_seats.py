"""The judge of the fault tests is judged first, without a cluster."""

from tests.e2e.seats import Promise, Seats, clean_after, longest_shortage


def look(at: float, placed: int = 0, sessions: int = 0, wanted: int = 0, jobs: int = 0) -> Seats:
    return Seats(at, wanted, placed, placed, sessions, jobs)


def test_a_shortage_lasts_until_the_next_look_that_has_enough() -> None:
    looks = [look(0), look(10), look(20, placed=4), look(30, placed=3), look(40, placed=3, sessions=1)]

    assert longest_shortage(looks, [Promise(5, 60, 4)]) == 10
    assert longest_shortage(looks, [Promise(0, 60, 4)]) == 20
    assert longest_shortage(looks, [Promise(0, 60, 0)]) == 0


def test_a_shortage_that_never_ends_counts_until_the_end() -> None:
    looks = [look(0, placed=4), look(10), look(20), look(90)]

    assert longest_shortage(looks, [Promise(0, 50, 4)]) == 80  # the look after the end ends it
    assert longest_shortage([look(0), look(10), look(20)], [Promise(0, 50, 4)]) == 20


def test_a_pool_is_clean_only_after_its_last_leftover() -> None:
    assert clean_after([look(10, placed=1), look(20), look(30, placed=1), look(40)], 5) == 25
    assert clean_after([look(10, jobs=1), look(20)], 5) == 5
    assert clean_after([look(10), look(20, wanted=1)], 5) is None
    assert clean_after([look(10)], 20) == 0
