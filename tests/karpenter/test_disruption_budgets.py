"""When a disruption budget holds, and what several of them allow."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random

import pytest
from berth.cron import longest_gap, next_hit, parse
from berth.karpenter.disruption import (
    UNLIMITED,
    DisruptionBudget,
    allowed_disruptions,
    is_active,
    is_always_active,
    next_disruption_allowed,
)
from croniter import croniter

from tests.seeds import seeds

HOUR = 3600
DAY = 24 * HOUR


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


SUNDAYS = DisruptionBudget("0", "30 6 * * SUN", 6 * HOUR)


@pytest.mark.parametrize(
    ("budget", "now", "expected"),
    [
        (SUNDAYS, "2026-02-01T00:00:00", False),
        (SUNDAYS, "2026-02-01T06:29:59", False),
        (SUNDAYS, "2026-02-01T06:30:00", True),
        (SUNDAYS, "2026-02-01T12:29:59", True),
        (SUNDAYS, "2026-02-01T12:30:00", False),
        (SUNDAYS, "2026-02-02T07:00:00", False),
        (DisruptionBudget("0", "@daily", 48 * HOUR), "2026-02-01T13:14:15", True),
        (DisruptionBudget("0", "0 9 * * *", 48 * HOUR), "2026-02-01T08:59:59", True),
        (DisruptionBudget("0", "@weekly", HOUR), "2026-02-01T00:30:00", True),
        (DisruptionBudget("0", "@weekly", HOUR), "2026-02-02T00:30:00", False),
        (DisruptionBudget("0", "@monthly", DAY), "2026-02-01T23:59:59", True),
        (DisruptionBudget("0", "@yearly", DAY), "2026-02-01T12:00:00", False),
        (DisruptionBudget("0"), "2026-02-01T12:00:00", True),
        (DisruptionBudget("0", "0 0 30 2 *", HOUR), "2026-02-01T12:00:00", True),
        (DisruptionBudget("0", "* * * *", HOUR), "2026-02-01T12:00:00", None),
        (DisruptionBudget("0", "0 0 * * 7", HOUR), "2026-02-01T12:00:00", None),
        (DisruptionBudget("0", "61 * * * *", HOUR), "2026-02-01T12:00:00", None),
        (DisruptionBudget("0", None, HOUR), "2026-02-01T12:00:00", None),
    ],
    ids=[
        "before",
        "a-second-before",
        "as-it-hits",
        "a-second-before-its-end",
        "as-it-ends",
        "another-weekday",
        "longer-than-its-interval",
        "still-from-yesterday",
        "weekly",
        "not-that-day",
        "monthly",
        "yearly",
        "without-schedule",
        "never-hits-so-always",
        "too-few-fields",
        "sunday-is-0",
        "out-of-range",
        "no-schedule-but-a-duration",
    ],
)
def test_when_a_budget_holds(budget: DisruptionBudget, now: str, expected: bool | None) -> None:
    assert is_active(budget, at(now)) is expected


OPEN = DisruptionBudget("3", "0 0 1 1 *", HOUR)
NOW = at("2026-06-15T12:00:00")


@pytest.mark.parametrize(
    ("budgets", "reason", "nodes", "expected"),
    [
        ([], "Empty", 10, UNLIMITED),
        ([DisruptionBudget("10%")], "Empty", 10, 1),
        ([DisruptionBudget("10%")], "Empty", 11, 2),
        ([DisruptionBudget("5%")], "Empty", 10, 1),
        ([DisruptionBudget("0%")], "Empty", 10, 0),
        ([DisruptionBudget("100%")], "Empty", 7, 7),
        ([DisruptionBudget("5")], "Empty", 2, 5),
        ([DisruptionBudget("5"), DisruptionBudget("3"), DisruptionBudget("50%")], "Empty", 10, 3),
        ([OPEN], "Empty", 10, UNLIMITED),
        ([OPEN, DisruptionBudget("7")], "Empty", 10, 7),
        ([DisruptionBudget("0", None, None, ("Drifted",)), DisruptionBudget("4")], "Empty", 10, 4),
        ([DisruptionBudget("0", None, None, ("Drifted",)), DisruptionBudget("4")], "Drifted", 10, 0),
        ([DisruptionBudget("0", None, None, ())], "Empty", 10, UNLIMITED),
        ([DisruptionBudget("4"), DisruptionBudget("5", "not a cron", HOUR)], "Empty", 10, 0),
        ([DisruptionBudget("4"), DisruptionBudget("5", "not a cron", HOUR, ("Drifted",))], "Empty", 10, 0),
        ([DisruptionBudget("many")], "Empty", 10, 0),
    ],
)
def test_what_budgets_allow(budgets: list[DisruptionBudget], reason: str, nodes: int, expected: int) -> None:
    assert allowed_disruptions(budgets, reason, nodes, NOW) == expected


def test_a_window_is_closed_to_disruption_from_its_hit_to_its_end() -> None:
    window = DisruptionBudget("0", "30 7 2 2 *", 4 * HOUR + 30 * 60, ("Underutilized", "Empty"))
    open_, end = at("2026-02-02T07:30:00"), at("2026-02-02T12:00:00")

    assert [allowed_disruptions([window], "Empty", 9, now) for now in (open_ - 1, open_, end - 1, end)] == [
        UNLIMITED,
        0,
        0,
        UNLIMITED,
    ]


@pytest.mark.parametrize(
    ("budgets", "expected"),
    [
        ([], "2026-02-01T07:00:00"),
        ([DisruptionBudget("10%")], "2026-02-01T07:00:00"),
        ([SUNDAYS], "2026-02-01T12:30:00"),
        ([SUNDAYS, DisruptionBudget("0", "0 12 * * *", 2 * HOUR)], "2026-02-01T14:00:00"),
        ([DisruptionBudget("0", "*/30 6-8 * * *", 40 * 60)], "2026-02-01T09:10:00"),
        ([DisruptionBudget("0", "30 6 * * *", HOUR, ("Drifted",))], "2026-02-01T07:00:00"),
        ([DisruptionBudget("0")], None),
        ([SUNDAYS, DisruptionBudget("0", None, None, ("Empty",))], None),
        ([DisruptionBudget("0", "@daily", DAY)], None),
        ([DisruptionBudget("0", "* * * * *", 60)], None),
        ([DisruptionBudget("0", "0 0 30 2 *", HOUR)], None),
        ([DisruptionBudget("5", "not a cron", HOUR)], None),
    ],
    ids=[
        "none",
        "some-go",
        "until-its-end",
        "another-takes-over",
        "hit-upon-hit",
        "another-reason",
        "always",
        "always-for-this-reason",
        "day-after-day",
        "minute-after-minute",
        "never-hits-so-always",
        "unreadable",
    ],
)
def test_when_budgets_let_something_go(budgets: list[DisruptionBudget], expected: str | None) -> None:
    found = next_disruption_allowed(budgets, "Empty", at("2026-02-01T07:00:00"))

    assert found == (None if expected is None else at(expected))


def _cron(random: Random) -> str:
    """Without what readers differ about: a star with a step as a day, and ranges of one value."""

    def field(least: int, most: int, day: bool) -> str:
        low, high = sorted(random.sample(range(least, most + 1), 2))
        forms = ["*", "*", str(low), f"{low}-{high}", f"{low}-{high}/2", f"{low},{high}"]
        return random.choice(forms if day else [*forms, f"*/{high + 1}"])

    bounds = ((0, 59, False), (0, 23, False), (1, 28, True), (1, 12, False), (0, 6, True))
    return " ".join(field(*bound) for bound in bounds)


@pytest.mark.parametrize("seed", seeds(15, 150))
def test_the_next_hit_is_the_one_that_another_reader_finds(seed: int) -> None:
    random = Random(seed)
    text = _cron(random)
    after = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=random.randint(0, 2 * 365 * DAY))
    cron = parse(text)

    assert cron is not None
    assert next_hit(cron, int(after.timestamp())) == int(croniter(text, after).get_next(datetime).timestamp())


@pytest.mark.parametrize(
    ("text", "after", "expected"),
    [
        ("0 0 */2 * 1", "2026-06-01T00:00:00", "2026-06-03T00:00:00"),
        ("0 0 1 * MON", "2026-06-02T00:00:00", "2026-06-08T00:00:00"),
        ("5/20 * * * *", "2026-06-01T00:05:00", "2026-06-01T00:25:00"),
        ("0 0 29 FEB ?", "2026-06-01T00:00:00", "2028-02-29T00:00:00"),
    ],
    ids=["a-stepped-star-is-narrow", "day-or-weekday", "from-with-step", "leap-day"],
)
def test_odd_schedules(text: str, after: str, expected: str) -> None:
    cron = parse(text)

    assert cron is not None
    assert next_hit(cron, at(after)) == at(expected)


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("@hourly", HOUR),
        ("@daily", DAY),
        ("0 8,20 * * *", 12 * HOUR),
        ("0 8,12 * * *", 20 * HOUR),
        ("@weekly", 7 * DAY),
        ("0 8 * * 1-5", 3 * DAY),
        ("@monthly", 31 * DAY),
        ("@yearly", 366 * DAY),
        ("0 0 29 2 *", 1461 * DAY),
        ("0 0 30 2 1", 350 * DAY),
        ("0 0 30 2 *", None),
    ],
)
def test_how_far_hits_lie_apart(schedule: str, expected: int | None) -> None:
    cron = parse(schedule)

    assert cron is not None
    assert longest_gap(cron) == expected


@pytest.mark.parametrize("seed", seeds(15, 20))
def test_a_budget_holds_always_where_no_gap_is_longer_than_it(seed: int) -> None:
    """Hit by hit, until weekdays and leap days come again."""
    text = f"30 6,18 {_cron(Random(seed)).split(' ', 2)[2]}"
    cron = parse(text)
    assert cron is not None
    hits = [next_hit(cron, at("2010-01-01T00:00:00")) or 0]
    while hits[-1] < at("2038-02-01T00:00:00"):
        hits.append(next_hit(cron, hits[-1]) or 0)
    gap, end = max((after - one, after) for one, after in pairwise(hits))

    assert longest_gap(cron) == gap
    assert is_always_active(text, gap)
    assert is_active(DisruptionBudget("0", text, gap), end - 1)
    assert not is_always_active(text, gap - 1)
    assert not is_active(DisruptionBudget("0", text, gap - 1), end - 1)
