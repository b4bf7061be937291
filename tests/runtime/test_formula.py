"""The formula gives what is documented, and is right at every edge."""

from itertools import product

import pytest
from berth.core.target import placeholders

from tests.cases import Case, read
from tests.runtime.world import at

CASES = [case for case in read("formula") if "behavior" in case]
WINDOW = (at("08:30"), at("09:00"), at("12:00"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]).lower())
def test_every_case_comes_out_as_it_says(case: Case) -> None:
    first, last = str(case.get("window", "09:00-12:00")).split("-")
    start, end = at(first), at(last)
    window = (start - 60 * int(case.get("lead", 0)), start, end)
    if "at_each_hour" in case:
        expected = {start + 3600 * hour: int(target) for hour, target in enumerate(case["at_each_hour"])}
    else:
        expected = {at(case["at"]): int(case["target"])}

    found = {
        now: placeholders(case["behavior"], int(case["count"]), int(case["active"]), window, now)
        for now in expected
    }
    assert expected == found


@pytest.mark.parametrize("behaviour", ["none", "maintain", "reduce"])
def test_before_open_and_from_the_end_on_nothing_is_asked_for(behaviour: str) -> None:
    opens, _, end = WINDOW
    moments = (opens - 1, opens, end - 1, end)

    assert [placeholders(behaviour, 20_000, 0, WINDOW, now) > 0 for now in moments] == [
        False,
        True,
        True,
        False,
    ]


def test_reduce_is_the_nearest_whole_number_a_half_up() -> None:
    for count, active, now in product(range(8), range(8), range(41)):
        window = (0, 10, 40)
        exact = max(count - active, 0) * min(1, (40 - now) / 30)
        expected = int(exact + 0.5) if now < 40 else 0

        assert expected == placeholders("reduce", count, active, window, now)


def test_reduce_never_rises_while_nobody_comes_or_goes() -> None:
    found = [placeholders("reduce", 25, 3, WINDOW, now) for now in range(WINDOW[0], WINDOW[2] + 60, 7)]

    assert found == sorted(found, reverse=True)
    assert (found[0], found[-1]) == (22, 0)


def test_one_more_session_never_asks_for_more() -> None:
    for behaviour in ("none", "maintain", "reduce"):
        for now in range(WINDOW[0], WINDOW[2], 997):
            found = [placeholders(behaviour, 20, active, WINDOW, now) for active in range(30)]

            assert found == sorted(found, reverse=True)
            assert all(0 <= one <= 20 for one in found)
