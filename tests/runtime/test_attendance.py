"""What counts for whom follows from who is there, whatever the way to it was."""

from random import Random

import pytest
from berth.core.claims import ClaimCounts, SessionCounter
from berth.core.sessions import RENKU_PROJECT, UNKNOWN_TEMPLATE, Claim, Match, Session, ranked

from tests.runtime.claiming import one_by_one, some_claims, some_sessions
from tests.seeds import seeds

ANY = Claim("any", 50, 60, 999, 2, Match())
COURSE = Claim("course", 0, 60, 999, 2, Match(labels=(("course", "x"),)))
X, NONE = {"course": "x"}, dict[str, str]()


def session(name: str, labels: dict[str, str] = NONE, **more: object) -> Session:
    return Session(name, "renku", 0, labels)._replace(**more)  # type: ignore[arg-type]


def counter(*claims: Claim, seconds: float = 30.0) -> SessionCounter:
    session_counter = SessionCounter(seconds, lambda one, _: one.template)
    session_counter.set_claims(ranked(claims))
    return session_counter


def test_sessions_count_and_those_that_left_for_a_while() -> None:
    seen = counter(ANY, COURSE)
    for name in "abc":
        seen.arrive(session(name, X), 0)
    seen.arrive(session("d"), 0)

    assert seen.counts(0) == ClaimCounts({"course": 2, "any": 2}, {"course": 2, "any": 2})
    seen.leave("a", 10)
    assert seen.counts(10) == ClaimCounts({"course": 2, "any": 2}, {"course": 2, "any": 1})
    assert seen.next_change(10) == 40
    assert seen.counts(40) == ClaimCounts({"course": 2, "any": 1}, {"course": 2, "any": 1})
    assert seen.next_change(40) is None


def test_only_those_of_a_kind_take_each_others_place() -> None:
    seen = counter(ANY, COURSE)
    seen.arrive(session("a", X), 0)
    seen.leave("a", 0)
    seen.arrive(session("b"), 1)

    assert seen.counts(1).counted == {"course": 1, "any": 1}
    seen.arrive(session("c", X), 2)
    assert seen.counts(2).counted == {"course": 1, "any": 1}


def test_other_claims_count_anew() -> None:
    seen = counter(ANY)
    seen.arrive(session("a", X), 0)
    seen.arrive(session("b", X), 0)
    seen.leave("b", 0)

    assert seen.counts(1) == ClaimCounts({"any": 2}, {"any": 1})
    seen.set_claims(ranked([ANY, COURSE]))
    assert seen.counts(1) == ClaimCounts({"any": 0, "course": 2}, {"any": 0, "course": 1})
    seen.set_claims(())
    assert seen.counts(1) == ClaimCounts({}, {})


def test_earlier_ones_are_told_apart() -> None:
    seen = counter(ANY._replace(match=Match(ignores_earlier=True)))
    for name, created in (("a", 49), ("b", 50), ("c", 51)):
        seen.arrive(session(name, created=created), 60)

    assert seen.counts(60).counted == {"any": 2}


def test_what_the_site_changes_its_mind_about_holds_for_those_that_leave_later() -> None:
    seen = counter(ANY)
    for name in "ab":
        seen.arrive(session(name), 0)
    seen.set_seconds(300)
    seen.leave("a", 0)

    assert seen.next_change(0) == 300


class Answers:
    """What is known of the templates of sessions, by their ids."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def of(self, one: Session, _now: float) -> str | None:
        return self.known.get(one.id)


def test_a_session_is_held_back_until_its_template_is_known() -> None:
    answers = Answers()
    seen = SessionCounter(30, answers.of)
    course = Claim("course", 0, 1, 9, 9, Match(template="T1"))
    seen.set_claims(ranked([ANY, course]))
    for name in "ab":
        seen.arrive(session(name), 0)

    assert (seen.holds_back, seen.counts(0).here) == (True, {"course": 0, "any": 0})
    answers.known = {"a": "T1", "b": UNKNOWN_TEMPLATE}
    seen.look_again(1)
    assert (seen.holds_back, seen.counts(1).here) == (False, {"course": 2, "any": 0})
    answers.known["b"] = ""
    seen.look_again(2, {"another"})
    assert seen.counts(2).here == {"course": 2, "any": 0}
    seen.look_again(2, {""})
    assert seen.counts(2) == ClaimCounts({"course": 1, "any": 1}, {"course": 1, "any": 1})


def test_one_that_is_there_is_not_held_back_when_it_changes_its_project() -> None:
    answers = Answers()
    answers.known["a"] = "T1"
    seen = SessionCounter(30, answers.of)
    seen.set_claims((ANY,))
    seen.arrive(session("a"), 0)
    answers.known.clear()
    seen.arrive(session("a", X), 1)
    assert not seen.holds_back
    seen.arrive(session("a", annotations={RENKU_PROJECT: "another"}), 1)

    assert (seen.holds_back, seen.counts(1).here) == (True, {"any": 1})
    seen.leave("a", 2)
    assert (seen.holds_back, seen.counts(2).here) == (False, {"any": 0})


def test_of_all_everybody_is_looked_at_again() -> None:
    """When it begins to matter of which template a project is, or somebody else has to tell."""
    answers = Answers()
    answers.known = {"a": "", "b": ""}
    seen = SessionCounter(30, answers.of)
    seen.set_claims((Claim("course", 0, 1, 9, 9, Match(template="T1")),))
    for name in "ab":
        seen.arrive(session(name), 0)
    answers.known = {"a": "T1"}
    seen.look_again(1)
    assert seen.counts(1).here == {"course": 0}
    seen.look_at_all(1)

    assert (seen.holds_back, seen.counts(1).here) == (True, {"course": 1})


def test_one_that_is_held_back_may_leave() -> None:
    seen = SessionCounter(30, Answers().of)
    seen.arrive(session("a"), 0)
    seen.leave("a", 1)

    assert not seen.holds_back


@pytest.mark.parametrize("seed", seeds(15, 150))
def test_every_way_to_the_same_sessions_ends_in_the_same_counts(seed: int) -> None:
    """Arrivals, changes, departures, lists and other claims, in any order: what is there counts as for
    whoever looks for the first time, and once the wait is over nothing else does.
    """
    chance = Random(seed)
    seen, now = counter(), 0.0
    here: dict[str, Session] = {}
    claims = ranked(some_claims(chance))
    for _ in range(40):
        now += chance.choice((0.0, 1.0, 40.0))
        claims = chance.choice((claims, claims, ranked(some_claims(chance))))
        seen.set_claims(claims)
        pool = {some_session.id: some_session for some_session in some_sessions(chance)}
        step = chance.randrange(4)
        if step == 0 and here:
            gone = chance.choice([*here])
            del here[gone]
            seen.leave(gone, now)
        elif step == 1:
            namespace = chance.choice("abc")
            listed = {name: one for name, one in pool.items() if one.namespace == namespace}
            moved = {name for name in listed if name in here and here[name].namespace != namespace}
            listed = {name: one for name, one in listed.items() if name not in moved}
            before = here.keys()
            here = {name: one for name, one in here.items() if one.namespace != namespace} | listed
            for name in sorted(before - here.keys()):
                seen.leave(name, now)
            for one in listed.values():
                seen.arrive(one, now)
        elif step == 2 and pool:
            one = chance.choice([*pool.values()])
            if one.id not in here or here[one.id].namespace == one.namespace:
                here[one.id] = one
                seen.arrive(one, now)
        counts = seen.counts(now)
        assert counts.here == one_by_one(here.values(), claims)
        assert sum(counts.counted.values()) >= sum(counts.here.values())

    assert seen.counts(now + 31).counted == seen.counts(now).here
