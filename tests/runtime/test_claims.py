"""Which sessions fit which occurrence, and that each counts for one at most, the same at every look."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from random import Random

import pytest
from berth.core.claims import (
    HORIZON,
    ClaimGroup,
    ClaimTracker,
    CompetingReservation,
    TimetableReading,
    assign_seats,
    attribute_sessions,
    claim_group,
    competing_reservation,
    count_sessions,
)
from berth.core.jsonvalues import instant_text
from berth.core.sessions import (
    RENKU_PROJECT,
    Claim,
    Contest,
    LabelRequirement,
    Match,
    Pairs,
    Recognition,
    Session,
    fits,
    may_overlap,
    ranked,
    winning_class,
)
from berth.core.target import Stabilizer, desired_state
from berth.core.timetable import Timetable, TimetableOccurrence, parse_timetable
from berth.runtime.sessionobserver import TimetableReader
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import Case, read
from tests.runtime.timetables import COURSE, Row, at, config_map, timetable_text
from tests.runtime.timetables import renku_text as text
from tests.seeds import seeds

# Sessions, and the classes that recognize them


SESSION = Session("uid", "renku", 100, {"course": "ds", "year": "2026"}, {"tutor": "ada"}, "T1")


def claim(match: Match, opens: int = 50) -> Claim:
    return Claim("course/1", opens, 120, 200, 25, match)


MATCHES = {
    "nothing-narrows": (Match(), True),
    "namespace": (Match(namespaces=("hub", "renku")), True),
    "other-namespace": (Match(namespaces=("hub",)), False),
    "all-labels": (Match(labels=(("course", "ds"), ("year", "2026"))), True),
    "one-label-differs": (Match(labels=(("course", "ds"), ("year", "2027"))), False),
    "no-label-is-not-an-empty-one": (Match(labels=(("team", ""),)), False),
    "annotation": (Match(annotations=(("tutor", "ada"),)), True),
    "a-label-is-no-annotation": (Match(annotations=(("course", "ds"),)), False),
    "template": (Match(template="T1"), True),
    "other-template": (Match(template="T2"), False),
    "all-must-hold": (Match(namespaces=("renku",), template="T2"), False),
}


@pytest.mark.parametrize(("match", "expected"), MATCHES.values(), ids=MATCHES)
def test_a_session_fits_a_claim_if_every_condition_of_its_match_holds(match: Match, expected: bool) -> None:
    assert expected is fits(SESSION, claim(match))


def test_claims_are_ranked_by_specificity_then_end_start_and_id() -> None:
    order = [
        Claim("z", 0, 9, 9, 1, Match(template="T")),
        Claim("y", 0, 9, 9, 1, Match(labels=(("a", "1"),), annotations=(("b", "2"),))),
        Claim("x", 0, 9, 9, 1, Match(labels=(("a", "1"),), namespaces=("n",))),
        Claim("w", 0, 9, 9, 1, Match(annotations=(("b", "2"),))),
        Claim("v", 0, 9, 9, 1, Match(namespaces=("n",))),
        Claim("u", 0, 9, 5, 1, Match()),
        Claim("t", 0, 3, 7, 1, Match()),
        Claim("b", 0, 4, 7, 1, Match()),
        Claim("c", 9, 4, 7, 1, Match(ignores_earlier=True)),
    ]

    assert tuple(order) == ranked(reversed(order))


ANYWHERE = Recognition("custom", ("renku", "lab"), (), None, "amalthea.dev", "v1", "amaltheasessions")
HERE = ANYWHERE._replace(namespaces=("renku",))
LARGE = ANYWHERE._replace(selector=(LabelRequirement("size", "In", ("l",)),))
OPEN = Claim("x", 0, 1, 9, 5, Match())
THIS_COURSE = OPEN._replace(match=Match(labels=(("course", "ml"),)))
OTHER_COURSE = OPEN._replace(match=Match(labels=(("course", "ds"),)))


CONTESTS = {
    "by-name": ({"a": (ANYWHERE, OPEN), "b": (ANYWHERE, OPEN)}, "a"),
    "fewer-namespaces": ({"a": (ANYWHERE, OPEN), "b": (HERE, OPEN)}, "b"),
    "more-labels-of-the-class": ({"a": (HERE, OPEN), "b": (LARGE, OPEN)}, "b"),
    "more-labels-of-the-course": ({"a": (HERE, OPEN), "b": (ANYWHERE, THIS_COURSE)}, "b"),
    "only-claims-that-fit": ({"a": (LARGE, OTHER_COURSE), "b": (ANYWHERE, OPEN)}, "b"),
    "only-open-claims": ({"a": (LARGE, None), "b": (ANYWHERE, OPEN)}, "b"),
    "none-that-is-over": ({"a": (LARGE, OPEN._replace(is_over=True)), "b": (ANYWHERE, OPEN)}, "b"),
    "nobody": ({"a": (LARGE, None), "b": (ANYWHERE, None)}, None),
}


@pytest.mark.parametrize(("classes", "expected"), CONTESTS.values(), ids=CONTESTS)
def test_the_most_specific_class_that_recognizes_a_session_wins(
    classes: dict[str, tuple[Recognition, Claim | None]], expected: str | None
) -> None:
    session = Session("s", "renku", 5, {"course": "ml"}, classes=tuple(classes))
    recognitions = {name: one for name, (one, _) in classes.items()}
    claims = {name: (claim,) for name, (_, claim) in classes.items() if claim}

    for order in (1, -1):
        turned = session._replace(classes=session.classes[::order])
        assert winning_class(turned, recognitions, claims) == expected
        assert [name for name in classes if Contest(name, recognitions, claims).is_won(turned)] == (
            [expected] if expected else []
        )


HOMES: Pairs = (("home", "yes"),)
BY_LABEL = ANYWHERE._replace(namespaces=(), namespace_labels=HOMES)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (ANYWHERE, HERE, True),
        (ANYWHERE, HERE._replace(version="v2"), True),
        (HERE, Recognition("renku", ("renku",), (), 5), True),
        (HERE, HERE._replace(namespaces=("lab",)), False),
        (HERE, Recognition("pods", ("renku",)), False),
        (Recognition("pods", ("hub",)), Recognition("jupyterhub", ("hub",)), True),
        (Recognition("renku", ("renku",), (), 5), Recognition("renku", ("renku",), (), 6), False),
        (HERE._replace(annotations=(("a", "1"),)), HERE._replace(annotations=(("a", "2"),)), False),
        (HERE._replace(annotations=(("a", "1"),)), HERE._replace(annotations=(("b", "2"),)), True),
        (BY_LABEL, HERE, True),
        (BY_LABEL, BY_LABEL._replace(namespace_labels=(("team", "x"),)), True),
        (BY_LABEL, BY_LABEL._replace(namespace_labels=(("home", "no"),)), False),
        (BY_LABEL, Recognition("pods", (), namespace_labels=HOMES), False),
        (HERE._replace(namespaces=()), HERE, False),
    ],
)
def test_classes_overlap_where_kind_namespace_and_annotations_allow_it(
    one: Recognition, other: Recognition, expected: bool
) -> None:
    assert may_overlap(one, other) is may_overlap(other, one) is expected


# Claims at a moment


SMALL = {"small": Recognition("renku", ("renku",), (), 5)}
MORNING: Row = ("ml/1", "07:30", "08:00", "10:00", {"small": 10})
NOW = at("08:00")


def reading_of(found: dict[str, object]) -> TimetableReading:
    reading = TimetableReader(tuple(SMALL.items()), NOW).read(found)
    assert reading is not None
    return reading


def occurrence(row: Row) -> TimetableOccurrence:
    name, opens, start, end, seats = row
    return TimetableOccurrence(name, at(opens), at(start), at(end), tuple(seats.items()))


def known(name: str, *rows: Row, match: Match | None = None) -> CompetingReservation:
    return CompetingReservation(name, (("small", match or Match()),), tuple(occurrence(row) for row in rows))


def timetable(name: str, *rows: Row) -> Timetable:
    return parse_timetable(text(name, *rows))


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (at("07:30") - HORIZON - 1, False),
        (at("07:30") - HORIZON, True),
        (at("10:00") - 1, True),
        (at("10:00"), False),
    ],
)
def test_only_occurrences_that_may_open_before_the_next_reading_are_kept(now: int, expected: bool) -> None:
    assert expected is bool(competing_reservation(timetable("ml", MORNING), SMALL, now).occurrences)


@pytest.mark.parametrize(
    ("timetable_text", "message"),
    [
        ("{", "the timetable is not JSON: "),
        (None, "timetable.json: is missing"),
        (7, "timetable.json: is missing"),
        ('{"version": 9}', "version: 9 is not supported; this version of Berth reads 1"),
    ],
)
def test_a_malformed_timetable_is_reported(timetable_text: object, message: str) -> None:
    reading = reading_of(config_map("ml", timetable_text))

    assert (reading.name, str(reading.found)[: len(message)]) == ("ml", message)


def tracker(own: Timetable, *others: CompetingReservation) -> ClaimTracker:
    claim_tracker = ClaimTracker()
    claim_tracker.set_own(own, SMALL, NOW)
    claim_tracker.take({other.reservation: TimetableReading(other.reservation, other) for other in others})
    return claim_tracker


def ids(made: ClaimTracker, now: float = NOW) -> list[str]:
    made.refresh(now)
    return [claim.id for claim in made.claims["small"]]


def test_claims_of_the_own_reservation_come_from_its_own_timetable() -> None:
    own = timetable("ml", MORNING)
    stale = known("ml", ("ml/old", "07:00", "07:30", "12:00", {"small": 10}))

    claim_tracker = tracker(own, stale, known("ds", ("ds/1", "07:00", "07:00", "09:00", {"small": 5})))
    assert ids(claim_tracker) == ["ds/1", "ml/1"]
    assert claim_tracker.own == ("ml/1",)


def test_an_own_occurrence_without_the_class_is_open_and_claims_no_sessions() -> None:
    claim_tracker = tracker(timetable("ml", ("ml/1", "07:30", "08:00", "10:00", {"huge": 3})))

    assert (ids(claim_tracker), claim_tracker.own, claim_tracker.until) == ([], ("ml/1",), at("10:00"))


def test_claims_hold_until_the_next_occurrence_of_any_reservation_opens_or_ends() -> None:
    claim_tracker = tracker(
        timetable("ml", MORNING), known("ds", ("ds/1", "08:30", "08:45", "09:15", {"small": 5}))
    )

    seen = []
    now = float(at("07:00"))
    while now < float("inf"):
        assert claim_tracker.refresh(now)
        assert not claim_tracker.refresh(now)
        seen.append((instant_text(int(now))[11:16], [claim.id for claim in claim_tracker.claims["small"]]))
        now = claim_tracker.until

    # 08:00 is the start of ours: nothing opens then, but what is asked for may change.
    assert seen == [
        ("07:00", []),
        ("07:30", ["ml/1"]),
        ("08:00", ["ml/1"]),
        ("08:30", ["ds/1", "ml/1"]),
        ("09:15", ["ml/1"]),
        ("10:00", []),
    ]


def test_claims_follow_a_clock_that_is_set_back() -> None:
    claim_tracker = tracker(timetable("ml", MORNING))

    assert ids(claim_tracker, at("08:00")) == ["ml/1"]
    assert ids(claim_tracker, at("07:00")) == []


def test_a_copy_of_a_timetable_adds_no_claims() -> None:
    row: Row = ("ds/1", "07:00", "07:30", "09:00", {"small": 5})
    claim_tracker = tracker(
        timetable("ml", MORNING), known("ds", row), known("copy", row), known("ml-2", MORNING)
    )

    assert ids(claim_tracker) == ["ds/1", "ml/1"]


# Claims and sessions made by chance


def one_by_one(sessions: Iterable[Session], claims: Sequence[Claim]) -> dict[str, int]:
    """The same, without a thought of which are alike. `claims` are ranked."""
    return attribute_sessions(Counter(claim_group(session, claims) for session in sessions), claims)


def some_match(chance: Random) -> Match:
    return Match(
        tuple(chance.sample(("a", "b"), chance.choice((0, 0, 1, 2)))),
        tuple((key, "x") for key in chance.sample(("k", "l"), chance.choice((0, 0, 1, 2)))),
        tuple((key, "x") for key in chance.sample(("m",), chance.choice((0, 0, 1)))),
        chance.choice(("", "", "T1", "T2")),
        chance.random() < 0.2,
    )


def some_claims(chance: Random) -> list[Claim]:
    return [
        Claim(
            f"course-{n}/1",
            opens := chance.randrange(5),
            opens + 1,
            opens + 2 + chance.randrange(3),
            chance.randrange(6),
            some_match(chance),
        )
        for n in range(chance.randrange(6))
    ]


def some_sessions(chance: Random) -> list[Session]:
    """A template is that of a project."""
    sessions = []
    for n in range(chance.randrange(25)):
        template = chance.choice(("", "T1", "T2", "?"))
        sessions.append(
            Session(
                str(n),
                chance.choice(("a", "b", "c")),
                chance.randrange(6),
                {key: chance.choice("xy") for key in ("k", "l") if chance.random() < 0.7},
                ({"m": "x"} if chance.random() < 0.5 else {})
                | ({RENKU_PROJECT: f"of {template}"} if template else {}),
                template,
            )
        )
    return sessions


# Attribution


CASES = read("pools")


def counted(sessions: list[Session], claims: list[Claim]) -> dict[str, int]:
    """As the scaler, the status and the simulation count."""
    return count_sessions(sessions, ranked(claims))


@pytest.mark.parametrize(
    "case", [case for case in CASES if "open" in case], ids=lambda case: case["id"].lower()
)
def test_every_attribution_case_gives_the_expected_counts(case: Case) -> None:
    claims = [
        Claim(
            row["name"],
            at("07:30"),
            at("08:00"),
            at(row["end"]),
            int(row["count"]),
            Match(labels=tuple(row.get("matchLabels", {}).items())),
        )
        for row in case["open"]
    ]
    kinds = [[Session("", "renku", 0, row["labels"])] * int(row["number"]) for row in case["sessions"]]

    expected = {name: int(number) for name, number in case["attributed"].items()}
    assert expected == counted(list(chain(*kinds)), claims)


@pytest.mark.parametrize("seed", seeds(25, 300))
def test_fitting_sessions_count_once_and_a_claim_overflows_only_if_others_are_full(seed: int) -> None:
    chance = Random(seed)
    claims, sessions = some_claims(chance), some_sessions(chance)
    counts = counted(sessions, claims)

    fitting = [session for session in sessions if any(fits(session, claim) for claim in claims)]
    assert sum(counts.values()) == len(fitting)
    assert counts.keys() == {claim.id for claim in claims}
    order = ranked(claims)
    assert counts == one_by_one(sessions, order)
    seats = assign_seats(Counter(claim_group(session, order) for session in sessions), order)
    for places, mine in seats.items():
        assert {place for place, number in mine.items() if number} <= set(places)
        for place, number in mine.items():
            if number and counts[order[place].id] > order[place].count:
                assert all(counts[order[other].id] >= order[other].count for other in places)


@pytest.mark.parametrize("seed", seeds(25, 300))
def test_the_number_of_sessions_with_a_seat_is_the_maximum(seed: int) -> None:
    """Found in another way: each session alone, and others make room for it."""
    chance = Random(seed)
    order, sessions = ranked(some_claims(chance)), some_sessions(chance)
    holders: list[list[ClaimGroup]] = [[] for _ in order]

    def seat(places: ClaimGroup, asked: set[int]) -> bool:
        for place in places:
            if place in asked:
                continue
            asked.add(place)
            if len(holders[place]) < order[place].count:
                holders[place].append(places)
                return True
            for n, other in enumerate(holders[place]):
                if seat(other, asked):
                    holders[place][n] = places
                    return True
        return False

    most = sum(seat(claim_group(session, order), set()) for session in sessions)
    found = one_by_one(sessions, order)
    assert sum(min(found[claim.id], claim.count) for claim in order) == most


# Counts


@pytest.mark.parametrize("seed", seeds(60, 600))
def test_a_contest_is_decided_for_each_session_separately(seed: int) -> None:
    """The claims of the other class have instants of their own."""
    chance = Random(seed)
    claims, others = ranked(some_claims(chance)), ranked(some_claims(chance))
    recognitions = {
        "small": Recognition("pods", ("a", "b")),
        "huge": Recognition("pods", ("a", "b", "c"), annotations=(("m", "x"),)),
    }
    contest = Contest("small", recognitions, {"small": claims, "huge": others})
    sessions = [
        session._replace(classes=chance.choice((("small",), ("small", "huge"))))
        for session in some_sessions(chance)
    ]
    ours = [session for session in sessions if contest.is_won(session)]

    assert count_sessions(sessions, claims, contest) == one_by_one(ours, claims)


def test_sessions_from_before_the_opening_do_not_count_if_the_match_ignores_them() -> None:
    claim = Claim("any", 50, 60, 999, 2, Match(ignores_earlier=True))
    sessions = [Session("", "renku", created) for created in (49, 50, 51)]

    assert count_sessions(sessions, (claim,)) == {"any": 2}


SEATS = 25
MAINTAIN = parse_timetable(timetable_text(COURSE, behaviour="maintain"))


def settle(stabilizer: Stabilizer, now: float, sessions: int | None, timetable: Timetable = MAINTAIN) -> int:
    counts = None if sessions is None else {"course/1": sessions}
    desired = desired_state(timetable, timetable.pools[0], int(now), counts)
    return int(stabilizer.settle(desired, now, 30).target.replicas)


def test_a_clock_that_is_set_back_does_not_prolong_a_target() -> None:
    stabilizer, nine = Stabilizer(), at("09:00")
    targets = [
        settle(stabilizer, nine + second, sessions) for second, sessions in ((0, 20), (10, 10), (-600, 10))
    ]

    assert targets == [5, 5, 15]


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 30)), min_size=1, max_size=30))
def test_the_stabilizer_gives_the_lowest_target_of_the_last_half_minute(steps: list[tuple[int, int]]) -> None:
    stabilizer, now, seen = Stabilizer(), at("09:00"), list[tuple[int, int]]()
    for passed, sessions in steps:
        now = min(now + passed, at("09:50"))
        seen[-1:] = [(now, target) for _, target in seen[-1:]]
        seen = [(moment, target) for moment, target in seen if now - 30 < moment <= now]
        seen.append((now, max(SEATS - sessions, 0)))

        assert settle(stabilizer, now, sessions) == min(target for _, target in seen)
