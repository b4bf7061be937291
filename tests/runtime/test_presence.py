"""Sessions that left count for a while, unless another one like them takes their place."""

from random import Random

import pytest
from berth.core.claims import ClaimGroup, GracePeriod
from berth.core.sessions import Session

from tests.seeds import seeds


def session(name: str, kind: str = "a") -> Session:
    return Session(name, kind, 0)


def group(one: Session) -> ClaimGroup:
    """Sessions of one letter are alike."""
    return (ord(one.namespace[0]),)


def grace(seconds: float = 30.0) -> GracePeriod:
    return GracePeriod(seconds, group)


def counted(seen: GracePeriod, now: float) -> list[Session]:
    return [*seen.here.values(), *(departed.session for departed in seen.departed(now))]


def names(seen: GracePeriod, now: float) -> list[str]:
    return [one.id for one in counted(seen, now)]


def test_a_session_that_left_counts_half_a_minute_more() -> None:
    seen = grace()
    seen.arrive(session("x"), 0)
    seen.leave("x", 10)

    assert seen.here == {}
    assert seen.next_change(10) == 40
    assert names(seen, 39.9) == ["x"]
    assert names(seen, 40) == []
    assert seen.next_change(40) is None


def test_one_like_it_takes_the_place_of_the_last_and_another_does_not() -> None:
    seen = grace()
    for name, kind in (("x", "a"), ("y", "a"), ("z", "b")):
        seen.arrive(session(name, kind), 0)
    for n, name in enumerate("xyz"):
        seen.leave(name, n)
    seen.arrive(session("new", "b"), 2)

    assert names(seen, 2) == ["new", "x", "y"]
    seen.arrive(session("newer", "a"), 3)
    assert names(seen, 3) == ["new", "newer", "x"]
    assert seen.next_change(3) == 30


def test_one_that_comes_back_is_not_counted_twice() -> None:
    seen = grace()
    for name in "xy":
        seen.arrive(session(name), 0)
    for n, name in enumerate("xy"):
        seen.leave(name, n)
    seen.arrive(session("x"), 2)

    assert (names(seen, 2), seen.next_change(2)) == (["x", "y"], 30)


def test_one_that_comes_back_as_another_leaves_the_places_of_others_alone() -> None:
    seen = grace()
    for name in "xy":
        seen.arrive(session(name), 0)
    for name in "xy":
        seen.leave(name, 1)
    seen.arrive(session("x", "changed"), 2)

    assert names(seen, 2) == ["x", "y"]


def test_one_that_changes_is_the_same() -> None:
    seen = grace()
    seen.arrive(session("x"), 0)
    seen.arrive(session("x", "b"), 1)

    assert seen.here == {"x": session("x", "b")}


def test_who_was_not_there_cannot_leave() -> None:
    seen = grace()
    seen.leave("x", 0)

    assert names(seen, 0) == []


def test_without_a_wait_a_session_that_left_is_gone() -> None:
    seen = grace(0)
    seen.arrive(session("x"), 0)
    seen.leave("x", 1)

    assert (names(seen, 1), seen.next_change(1)) == ([], None)


def test_a_clock_that_is_set_back_keeps_nobody_for_longer() -> None:
    seen = grace()
    seen.arrive(session("x"), 1000)
    seen.leave("x", 1000)

    assert names(seen, 900) == []


@pytest.mark.parametrize("seed", seeds(15, 100))
def test_never_more_than_the_most_that_were_there_within_the_wait_and_never_fewer_than_are(seed: int) -> None:
    chance = Random(seed)
    seen, here, counts = grace(), set[str](), [(0.0, 0)]
    now = 0.0
    for _ in range(60):
        now += chance.choice((0.0, 1.0, 7.0, 31.0))
        name = str(chance.randrange(8))
        if name in here and chance.random() < 0.6:
            seen.leave(name, now)
            here.discard(name)
        else:
            seen.arrive(session(name), now)
            here.add(name)
        recent = [number for when, number in counts if when > now - 30] or [0]
        last = [number for when, number in counts if when <= now - 30][-1:]
        everybody = names(seen, now)

        assert seen.here.keys() == here == set(everybody[: len(here)])
        assert len(here) <= len(everybody) <= max([len(here), *recent, *last])
        assert len(set(everybody)) == len(everybody)
        counts.append((now, len(here)))


class Plainly:
    """The same rules, one departed session after the other: who left, as what, and until when it counts."""

    def __init__(self) -> None:
        self.here: dict[str, Session] = {}
        self.departed: list[tuple[Session, float]] = []

    def arrive(self, one: Session, now: float, alike: dict[str, str]) -> None:
        if one.id not in self.here:
            self.departed = [item for item in self.departed if now < item[1]]
            own = next((n for n, item in enumerate(self.departed) if item[0].id == one.id), None)
            same = [
                n for n, item in enumerate(self.departed) if alike[item[0].namespace] == alike[one.namespace]
            ]
            if own is not None and same and own < same[-1]:
                self.departed[own] = (self.departed[same[-1]][0], self.departed[own][1])
                del self.departed[same[-1]]
            elif own is not None or same:
                del self.departed[same[-1] if own is None else own]
        self.here[one.id] = one

    def leave(self, name: str, now: float) -> None:
        if name in self.here:
            self.departed.append((self.here.pop(name), now + 30))

    def counted(self, now: float) -> list[Session]:
        return sorted([*self.here.values(), *(one for one, until in self.departed if now < until)])


@pytest.mark.parametrize("seed", seeds(15, 200))
def test_it_is_as_told_plainly_also_where_others_are_alike_from_now_on(seed: int) -> None:
    chance = Random(seed)
    alike = {"a": "a", "b": "b", "c": "c"}
    seen, told, now = GracePeriod(30, lambda one: (ord(alike[one.namespace]),)), Plainly(), 0.0
    for _ in range(120):
        now += chance.choice((0.0, 0.0, 1.0, 7.0, 31.0))
        if chance.random() < 0.05:
            alike.update({kind: chance.choice("abc") for kind in "abc"})
            seen.regroup()
        one = session(str(chance.randrange(12)), chance.choice("abc"))
        if chance.random() < 0.5:
            seen.leave(one.id, now)
            told.leave(one.id, now)
        else:
            seen.arrive(one, now)
            told.arrive(one, now, alike)
        if chance.random() < 0.7:
            assert sorted(counted(seen, now)) == told.counted(now)
            assert seen.next_change(now) == min(
                (until for _, until in told.departed if now < until), default=None
            )


def test_who_comes_back_asks_nobody_again_and_again() -> None:
    """Thousands may vanish in one list and be there in the next."""
    asked, count = 0, 2000

    def alike(one: Session) -> ClaimGroup:
        nonlocal asked
        asked += 1
        return group(one)

    seen = GracePeriod(30, alike)
    for prefix in ("", "", "new-"):
        for n in range(count):
            seen.arrive(session(f"{prefix}{n}"), 1)
        assert len(names(seen, 1)) == count
        for n in range(count):
            seen.leave(f"{prefix}{n}", 1)

    assert asked < 10 * count
