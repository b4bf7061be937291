"""Who lays claim to sessions at a moment follows from the timetables of the site, and from nothing else."""

import pytest
from berth.core.claims import (
    HORIZON,
    ClaimTracker,
    CompetingReservation,
    TimetableReading,
    competing_reservation,
    next_claim_change,
    open_claims,
)
from berth.core.jsonvalues import instant_text
from berth.core.sessions import Claim, Match, Recognition
from berth.core.timetable import Timetable, TimetableOccurrence, parse_timetable
from berth.runtime.sessionobserver import TimetableReader, timetable_collection

from tests.runtime.timetabletexts import config_map, text
from tests.runtime.world import Row, at

SMALL = {"small": Recognition("renku", ("renku",), (), 5)}
MORNING: Row = ("ml/1", "07:30", "08:00", "10:00", {"small": 10})
NOW = at("08:00")
RECOGNITIONS = tuple(SMALL.items())


def read(found: dict[str, object]) -> TimetableReading:
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


def test_the_timetables_of_the_site_are_read_in_small_pages() -> None:
    collection = timetable_collection("berth", "example")

    assert collection.path == "/api/v1/namespaces/berth/configmaps"
    assert collection.labels == "berth.dev/site=example,berth.dev/role=timetable"


def test_of_a_timetable_is_kept_what_is_claimed_of_our_classes() -> None:
    course = {"matchLabels": {"course": "ml"}}
    other: Row = ("ml/2", "07:30", "08:00", "10:00", {"huge": 3})
    found = read(config_map("ml", text("ml", MORNING, other, course=course)))

    claimed = known("ml", MORNING, match=Match(labels=(("course", "ml"),)))
    assert found == TimetableReading("ml", claimed._replace(recognitions=RECOGNITIONS))


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (at("07:30") - HORIZON - 1, False),
        (at("07:30") - HORIZON, True),
        (at("10:00") - 1, True),
        (at("10:00"), False),
    ],
)
def test_only_what_may_open_before_the_next_reading_is_kept(now: int, expected: bool) -> None:
    assert expected is bool(competing_reservation(timetable("ml", MORNING), SMALL, now).occurrences)


def test_a_suspended_reservation_claims_nothing() -> None:
    found = read(config_map("ml", text("ml", MORNING, suspend=True)))

    assert found == TimetableReading("ml", known("ml")._replace(recognitions=RECOGNITIONS))


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("{", "the timetable is not JSON: "),
        (None, "timetable.json: is missing"),
        (7, "timetable.json: is missing"),
        ('{"version": 9}', "version: 9 is not supported; this version of Berth reads 1"),
    ],
)
def test_what_is_malformed_is_told(said: object, message: str) -> None:
    found = read(config_map("ml", said))

    assert (found.name, str(found.found)[: len(message)]) == ("ml", message)


def test_a_config_map_without_anything_is_malformed() -> None:
    assert read({}) == TimetableReading("None", "timetable.json: is missing")


def test_claims_are_those_of_the_open_occurrences() -> None:
    later: Row = ("ml/2", "09:30", "10:00", "12:00", {"small": 20})
    competitors = [
        known("ml", MORNING, later),
        known("ds", ("ds/1", "07:00", "07:00", "11:00", {"small": 5})),
    ]

    def open_at(moment: str) -> list[tuple[str, int]]:
        return [
            (open_claim.id, open_claim.count)
            for open_claim in open_claims(competitors, "small", at(moment)).values()
        ]

    assert open_at("07:29") == [("ds/1", 5)]
    assert open_at("07:30") == [("ml/1", 10), ("ds/1", 5)]
    assert open_at("09:30") == [("ml/1", 10), ("ml/2", 20), ("ds/1", 5)]
    assert open_at("10:00") == [("ml/2", 20), ("ds/1", 5)]
    assert open_at("12:00") == []
    assert open_claims(competitors, "huge", NOW) == {}
    assert open_claims([known("ml", MORNING)], "small", NOW)["ml/1"] == Claim(
        "ml/1", at("07:30"), at("08:00"), at("10:00"), 10, Match()
    )
    moments = [at(one) for one in ("07:00", "07:30", "09:30", "10:00", "11:00", "12:00")]
    assert [next_claim_change(competitors, moment - 1) for moment in moments] == moments
    assert next_claim_change(competitors, at("12:00")) is None


def tracker(own: Timetable, *others: CompetingReservation) -> ClaimTracker:
    claim_tracker = ClaimTracker()
    claim_tracker.set_own(own, SMALL, NOW)
    claim_tracker.take({other.reservation: TimetableReading(other.reservation, other) for other in others})
    return claim_tracker


def ids(made: ClaimTracker, now: float = NOW) -> list[str]:
    made.refresh(now)
    return [claim.id for claim in made.claims["small"]]


def test_our_own_reservation_takes_part_as_we_know_it_and_not_as_the_server_does() -> None:
    own = timetable("ml", MORNING)
    stale = known("ml", ("ml/old", "07:00", "07:30", "12:00", {"small": 10}))

    claim_tracker = tracker(own, stale, known("ds", ("ds/1", "07:00", "07:00", "09:00", {"small": 5})))
    assert ids(claim_tracker) == ["ds/1", "ml/1"]
    assert claim_tracker.own == ("ml/1",)


def test_an_occurrence_of_ours_without_the_class_is_open_and_claims_nothing() -> None:
    claim_tracker = tracker(timetable("ml", ("ml/1", "07:30", "08:00", "10:00", {"huge": 3})))

    assert (ids(claim_tracker), claim_tracker.own, claim_tracker.until) == ([], ("ml/1",), at("10:00"))


def test_claims_hold_until_the_next_occurrence_of_anybody_opens_or_ends() -> None:
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


def test_a_clock_that_is_set_back_is_followed() -> None:
    claim_tracker = tracker(timetable("ml", MORNING))

    assert ids(claim_tracker, at("08:00")) == ["ml/1"]
    assert ids(claim_tracker, at("07:00")) == []


def test_rivals_come_change_and_go_and_a_malformed_one_stays_as_it_was() -> None:
    claim_tracker = tracker(timetable("ml", MORNING))
    ds = known("ds", ("ds/1", "07:00", "07:30", "09:00", {"small": 5}))

    claim_tracker.take({"u1": TimetableReading("ds", ds)})
    assert ids(claim_tracker) == ["ds/1", "ml/1"]
    claim_tracker.take(
        {"u1": TimetableReading("ds", "malformed"), "u2": TimetableReading("new", "malformed")}
    )
    assert ids(claim_tracker) == ["ds/1", "ml/1"]
    claim_tracker.take({"u1": TimetableReading("ds", known("ds"))})
    assert ids(claim_tracker) == ["ml/1"]
    claim_tracker.take({"u1": TimetableReading("ds", ds)})
    claim_tracker.take({})
    assert ids(claim_tracker) == ["ml/1"]


def test_a_copy_of_a_timetable_claims_nothing_twice() -> None:
    row: Row = ("ds/1", "07:00", "07:30", "09:00", {"small": 5})
    claim_tracker = tracker(
        timetable("ml", MORNING), known("ds", row), known("copy", row), known("ml-2", MORNING)
    )

    assert ids(claim_tracker) == ["ds/1", "ml/1"]
