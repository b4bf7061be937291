"""What pools hold together: the same as counting the seats of every pool at every minute."""

from random import Random

from berth.checks.ceilings import (
    NO_END,
    PoolLoad,
    active_pools,
    held_by_reservation,
    holders_text,
    last_rise,
    levels,
    peak,
    per_seat,
    sum_changes,
)
from berth.quantity import NANO

from tests.saying import read, resource_class

MINUTES = range(25)
EACH = {"small": 1, "huge": 4}


def chosen(random: Random) -> list[PoolLoad]:
    """Pools of three reservations, some of a class that takes nothing."""
    names = [(name, kind) for name in "abc" for kind in ("small", "huge", "free")]
    return [PoolLoad(*one, steps(random)) for one in random.sample(names, random.randrange(5))]


def steps(random: Random) -> list[int]:
    found, held = [], 0
    for at in sorted(random.sample(MINUTES, random.randrange(6))):
        now = random.randrange(4)
        found += [at, now - held]
        held = now
    return [*found, MINUTES.stop, -held]


def held_by(pool: PoolLoad, minute: int) -> int:
    seats = 0
    for i in range(0, len(pool.steps), 2):
        seats += pool.steps[i + 1] if pool.steps[i] <= minute else 0
    return seats * EACH.get(pool.resource_class, 0)


def test_levels_equal_the_sum_over_all_pools_at_every_minute() -> None:
    random = Random(68)
    for _ in range(400):
        pools = chosen(random)
        items = list(levels(sum_changes(pools, EACH)))

        assert [until for _, until, _ in items][:-1] == [since for since, _, _ in items][1:]
        assert not items or items[-1][1:] == (NO_END, 0)
        for minute in MINUTES:
            amount = sum(held for since, until, held in items if since <= minute < until)
            assert amount == sum(held_by(pool, minute) for pool in pools)


def test_the_peak_is_the_first_of_the_highest_minutes() -> None:
    random = Random(69)
    for _ in range(400):
        pools = chosen(random)
        first = random.choice(MINUTES)
        last = first + random.randrange(1, 16)
        sums = {minute: sum(held_by(pool, minute) for pool in pools) for minute in range(first, last)}
        most = max(sums.values())

        expected = (most, min(minute for minute, held in sums.items() if held == most)) if most else None
        assert peak(sum_changes(pools, EACH), first, last) == expected


def test_reservations_are_sorted_by_the_amount_that_their_pools_hold() -> None:
    random = Random(70)
    for _ in range(400):
        pools, minute = chosen(random), random.choice(MINUTES)
        sums = {
            name: sum(held_by(pool, minute) for pool in pools if pool.reservation == name) for name in "abc"
        }

        expected = sorted((-held, name) for name, held in sums.items() if held)
        assert held_by_reservation(pools, EACH, minute) == [(name, -held) for held, name in expected]
        held = [(pool, held_by(pool, minute)) for pool in pools]
        assert list(active_pools(pools, EACH, minute)) == [one for one in held if one[1]]


def test_the_last_rise_ignores_later_drops() -> None:
    assert last_rise([5, 10, 9, 2, 12, -3, 20, -9], 15) == 9
    assert last_rise([5, 10, 9, 2, 12, -3, 20, -9], 8) == 5


def test_the_amount_per_seat_equals_the_requests_of_its_class() -> None:
    classes = read(
        resource_class(requests={"cpu": "250m", "memory": "1Gi"}),
        resource_class("huge", requests={"cpu": 1}),
        resource_class("free", requests={"memory": 0}),
    ).classes

    assert per_seat("cpu", classes) == {"small": NANO // 4, "huge": NANO}
    assert per_seat("memory", classes) == {"small": 2**30 * NANO}
    assert per_seat("nvidia.com/gpu", classes) == {}


def test_at_most_ten_holders_are_named() -> None:
    many = [(f"c{i}", str(20 - i)) for i in range(12)]

    assert holders_text(many[:2]) == "c0 20, c1 19"
    assert holders_text(many[:10]).endswith(", c9 11")
    assert holders_text(many).endswith(", c9 11 and 2 more")
