"""The budgets of windows, held against the rule by which Karpenter says that a budget is active."""

from collections.abc import Callable
from datetime import UTC, datetime
from random import Random

import pytest
from berth.machines.windowbudgets import (
    MAX_BUDGETS,
    SHORT_GAP,
    TooManyBudgets,
    Window,
    WindowBudget,
    WindowBudgets,
    budgets_for_windows,
    merge_windows,
)
from berth.schema.cloudgrammar import schedule
from croniter import croniter

from tests.seeds import seeds

DAY = 24 * 60


def minute(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) // 60


def window(opens: str, hours: float) -> Window:
    return minute(opens), minute(opens) + int(hours * 60)


def is_held(found: WindowBudgets, at: int, second: int = 0) -> bool:
    """At a second of the minute. A budget is active from a hit of its schedule until its duration is over."""
    now = at * 60 + second
    return any(
        not one.schedule or croniter(one.schedule, now + 1).get_prev(float) > now - one.minutes * 60
        for one in found.held
    )


def by_chance(random: Random, terms: int = 1) -> list[Window]:
    """Weekly courses of some months, with dates left out, clocks changed, long ones and overlaps."""
    windows = []
    for _ in range(random.randint(1, 6)):
        start = minute(f"{2026 + random.randrange(terms)}-01-01T00:00") + random.randrange(330) * DAY
        time, length = random.randrange(0, DAY, 15), random.choice((1, 45, 90, 270, 300, 1500, 4000))
        for week in range(random.choice((1, 3, 15, 40))):
            if random.random() < 0.9:
                change = -60 if week > 6 else 0
                opens = start + week * random.choice((7, 7, 7, 1)) * DAY + time + change
                windows.append((opens, opens + length))
    return windows


def asked(random: Random, windows: list[Window], number: int = 40) -> list[int]:
    """Some minutes around edges, and some others."""
    edges = [edge + by for one in windows for edge in one for by in (-1, 0, 1)]
    first, last = min(edges), max(edges)
    others = [random.randint(first - DAY, last + DAY) for _ in range(number // 4)]
    return [*random.sample(edges, min(number, len(edges))), *others]


def like(windows: list[Window], alike: Callable[[datetime, datetime], bool]) -> list[Window]:
    """Windows of the years around that open at the same time of day on a date that is like theirs."""
    found = set()
    for opens, end in windows:
        first = datetime.fromtimestamp(opens * 60, UTC)
        for day in range(minute("2025-01-01T00:00") // DAY, minute("2031-01-01T00:00") // DAY):
            other = day * DAY + opens % DAY
            if alike(first, datetime.fromtimestamp(other * 60, UTC)):
                found.add((other, other + end - opens))
    return sorted(found)


def same_date(one: datetime, other: datetime) -> bool:
    return (one.month, one.day) == (other.month, other.day)


def same_weekday(one: datetime, other: datetime) -> bool:
    return (one.month, one.weekday()) == (other.month, other.weekday())


@pytest.mark.parametrize("seed", seeds(4, 12))
@pytest.mark.parametrize("most", [MAX_BUDGETS, 12, 4], ids=["all", "few", "very-few"])
def test_budgets_cover_every_minute_of_every_window(seed: int, most: int) -> None:
    random = Random(seed)
    windows = by_chance(random)

    window_budgets = budgets_for_windows(windows, most)

    if isinstance(window_budgets, TooManyBudgets):
        assert window_budgets.needed > most
        return
    assert len(window_budgets.held) <= most
    for at in asked(random, windows):
        if any(opens <= at < end for opens, end in windows):
            assert is_held(window_budgets, at), at
            assert is_held(window_budgets, at, 59), at


@pytest.mark.parametrize("seed", seeds(4, 12))
def test_exact_budgets_cover_no_minute_outside_of_windows(seed: int) -> None:
    """In one year: schedules have no years."""
    random = Random(seed)
    windows = [one for one in by_chance(random) if one[1] <= minute("2027-01-01T00:00")]
    window_budgets = budgets_for_windows(windows, 1000)

    assert isinstance(window_budgets, WindowBudgets)
    assert window_budgets.exactly
    for at in asked(random, windows) if windows else ():
        inside = any(opens <= at < end for opens, end in windows)
        if minute("2026-02-01T00:00") <= at < minute("2027-01-01T00:00"):
            assert is_held(window_budgets, at) == inside, at


@pytest.mark.parametrize("seed", seeds(4, 12))
def test_exact_budgets_repeat_the_same_dates_in_every_year(seed: int) -> None:
    random = Random(seed)
    windows = by_chance(random, terms=3)
    window_budgets = budgets_for_windows(windows, 1000)

    assert isinstance(window_budgets, WindowBudgets)
    others = like(merge_windows(windows), same_date)
    for at in asked(random, windows):
        assert is_held(window_budgets, at) == any(opens <= at < end for opens, end in others), at


@pytest.mark.parametrize("seed", seeds(4, 12))
def test_budgets_by_weekday_cover_only_similar_hours_outside_of_windows(seed: int) -> None:
    """A gap of an hour, or a weekday on which a window opens at that time in that month."""
    random = Random(seed)
    windows = by_chance(random)
    window_budgets = budgets_for_windows(windows, 9)

    if isinstance(window_budgets, TooManyBudgets) or window_budgets.exactly:
        return
    closed = merge_windows(windows, SHORT_GAP)
    others = [*like(closed, same_date), *like(closed, same_weekday)]
    for at in asked(random, windows):
        assert not is_held(window_budgets, at) or any(opens <= at < end for opens, end in others), at


@pytest.mark.parametrize("seed", seeds(4, 12))
def test_every_schedule_of_a_budget_is_readable(seed: int) -> None:
    """One that never hits would hold always."""
    window_budgets = budgets_for_windows(by_chance(Random(seed), terms=3), 1000)

    assert isinstance(window_budgets, WindowBudgets)
    assert [schedule(one.schedule) for one in window_budgets.held] == [
        one.schedule for one in window_budgets.held
    ]


def test_a_course_across_a_clock_change_gets_budgets_for_both_offsets() -> None:
    """Mondays at 09:00 in Zurich with half an hour of lead, until 13:00."""
    winter = [f"2026-03-{day:02}T07:30" for day in (2, 9, 16, 23)]
    summer = ["2026-03-30T06:30", *(f"2026-04-{day:02}T06:30" for day in (6, 13, 20, 27))]

    assert budgets_for_windows([window(opens, 4.5) for opens in (*winter, *summer)]) == WindowBudgets(
        (
            WindowBudget("30 6 30 3 *", 270),
            WindowBudget("30 6 6,13,20,27 4 *", 270),
            WindowBudget("30 7 2,9,16,23 3 *", 270),
        ),
        exactly=True,
    )


def test_touching_windows_share_a_budget() -> None:
    window_budgets = budgets_for_windows(
        [window("2026-02-02T08:00", 2), window("2026-02-02T10:00", 2), window("2026-02-02T09:00", 0.5)]
    )

    assert window_budgets == WindowBudgets((WindowBudget("0 8 2 2 *", 240),), exactly=True)


def test_whole_months_need_no_days() -> None:
    days = range(minute("2026-03-01T06:00"), minute("2026-05-01T06:00"), DAY)

    assert budgets_for_windows([(opens, opens + 60) for opens in days]) == WindowBudgets(
        (WindowBudget("0 6 * 3,4 *", 60),), exactly=True
    )


def test_only_the_necessary_budgets_use_weekdays() -> None:
    """A hackathon stays on its one date; what saves most for least becomes weekdays."""
    mondays = [
        (opens, opens + 120)
        for opens in range(minute("2026-02-02T08:00"), minute("2026-06-01T08:00"), 7 * DAY)
    ]
    hackathon = window("2026-03-06T16:00", 43)

    assert budgets_for_windows([*mondays, hackathon], 2) == WindowBudgets(
        (WindowBudget("0 16 6 3 *", 43 * 60), WindowBudget("0 8 * 2-5 1", 120)), exactly=False
    )


def test_more_budgets_than_the_maximum_are_refused() -> None:
    windows = [window(f"2026-{month:02}-05T{month:02}:00", month) for month in range(1, 13)]

    assert budgets_for_windows(windows, 11) == TooManyBudgets(12)


def test_a_window_of_a_year_gets_a_permanent_budget() -> None:
    year = [window("2026-01-01T00:00", 24 * 365)]

    assert (
        budgets_for_windows(year)
        == budgets_for_windows(year, 1)
        == WindowBudgets((WindowBudget("", 0),), exactly=False)
    )
    assert budgets_for_windows(year, 0) == TooManyBudgets(1)


@pytest.mark.parametrize(
    ("minutes", "text"), [(270, "4h30m"), (240, "4h"), (45, "45m"), (43 * 60 + 1, "43h1m"), (0, "0m")]
)
def test_durations_are_written_in_hours_and_minutes(minutes: int, text: str) -> None:
    assert WindowBudget("0 0 1 1 *", minutes).duration == text
