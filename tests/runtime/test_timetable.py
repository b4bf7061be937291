"""A timetable is read as written, and what is malformed is refused with its place."""

import json
from copy import deepcopy
from typing import Any

import pytest
from berth.core.holders import SlotSpec
from berth.core.jsonvalues import TimetableError
from berth.core.sessions import LabelRequirement, Match, Recognition
from berth.core.timetable import (
    Timetable,
    TimetableOccurrence,
    TimetablePool,
    TimetableSettings,
    active_occurrences,
    parse_timetable,
)

TREE: dict[str, Any] = {
    "apiVersion": "berth.dev/v1alpha1",
    "kind": "Timetable",
    "version": 1,
    "site": "example-university",
    "reservation": "data-science-101",
    "suspend": False,
    "settings": {"stabilizationSeconds": 20, "readyMinutes": 10, "renkuUrl": "https://renkulab.io"},
    "pools": {
        "small": {
            "deployment": "data-science-101-small",
            "behaviour": "maintain",
            "sessions": {
                "source": "renku",
                "namespaces": ["renku"],
                "selector": {"matchLabels": {"app": "session"}},
                "renkuId": 5,
                "earlier": "ignore",
                "course": {"matchLabels": {"course": "101"}},
            },
        },
        "huge": {"deployment": "data-science-101-huge", "behaviour": "none", "sessions": None},
    },
    "occurrences": [
        {
            "id": "data-science-101/2026-02-02T09:00",
            "open": "2026-02-02T07:30:00Z",
            "start": "2026-02-02T08:00:00Z",
            "end": "2026-02-02T12:00:00Z",
            "seats": {"small": 25, "huge": 5},
        },
        {
            "id": "data-science-101/2026-02-09T09:00",
            "open": "2026-02-09T08:00:00Z",
            "start": "2026-02-09T08:00:00Z",
            "end": "2026-02-09T12:00:00Z",
            "seats": {"small": 0},
        },
    ],
}
TIMETABLE = Timetable(
    "data-science-101",
    False,
    (
        TimetablePool(
            "small",
            "data-science-101-small",
            "maintain",
            Recognition("renku", ("renku",), (LabelRequirement("app", "In", ("session",)),), 5),
            Match(labels=(("course", "101"),), ignores_earlier=True),
        ),
        TimetablePool("huge", "data-science-101-huge", "none"),
    ),
    (
        TimetableOccurrence(
            "data-science-101/2026-02-02T09:00",
            1770017400,
            1770019200,
            1770033600,
            (("small", 25), ("huge", 5)),
        ),
        TimetableOccurrence(
            "data-science-101/2026-02-09T09:00", 1770624000, 1770624000, 1770638400, (("small", 0),)
        ),
    ),
    "example-university",
    TimetableSettings(20, 10, "https://renkulab.io"),
)


def changed(path: str, value: object) -> str:
    """TREE with one value in another way; `...` leaves it out."""
    tree = deepcopy(TREE)
    *parents, last = path.split(".")
    at: Any = tree
    for key in parents:
        at = at[int(key) if key.isdigit() else key]
    if value is ...:
        del at[last]
    else:
        at[last] = value
    return json.dumps(tree)


def test_a_timetable_of_version_1_stays_readable() -> None:
    """From the first release on, the cluster reads what is in git: keys may come, none may go."""
    assert parse_timetable(json.dumps(TREE)) == TIMETABLE


def test_how_occurrences_follow_each_other_is_optional() -> None:
    tree = deepcopy(TREE)
    tree["pools"]["small"] |= {"overlap": "max"}
    tree["pools"]["small"]["sessions"] |= {"handoverSeconds": 900, "carryOver": True}
    small, huge = parse_timetable(json.dumps(tree)).pools

    plain = TIMETABLE.pools[0]
    match = plain.match._replace(handover=900, carries_over=True)
    assert (small, huge) == (plain._replace(match=match, overlap="max"), TIMETABLE.pools[1])


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("pools.small.overlap", "most"),
        ("pools.small.sessions.handoverSeconds", -1),
        ("pools.small.sessions.carryOver", "yes"),
    ],
    ids=["overlap", "handover", "carry-over"],
)
def test_how_occurrences_follow_each_other_is_checked(path: str, value: object) -> None:
    with pytest.raises(TimetableError, match=path):
        parse_timetable(changed(path, value))


HASH = "374c700a"  # of the object below


def with_slots(**slots: Any) -> dict[str, Any]:
    labels = {f"berth.dev/{key}": "x" for key in ("site", "reservation", "resource-class", "role")}
    shape = {"metadata": {"labels": labels}, "spec": {"allocateOnce": False}}
    said = {"placeholders": True, "allocateOnce": False, "name": "s-p", "hash": HASH, "object": shape}
    tree = deepcopy(TREE)
    tree["pools"]["small"]["slots"] = {**said, **slots}
    return tree


def test_slots_hold_the_seats_of_a_pool() -> None:
    tree = with_slots()
    small, huge = parse_timetable(json.dumps(tree)).pools

    shape = tree["pools"]["small"]["slots"]["object"]
    assert small == TIMETABLE.pools[0]._replace(holder=SlotSpec("s-p", HASH, shape, placeholders=True))
    assert huge == TIMETABLE.pools[1]
    assert small.key == "data-science-101-small/slots"
    assert small.holder.has_deployment
    assert huge.holder.has_deployment
    assert not small._replace(holder=SlotSpec("s-p", HASH, shape)).holder.has_deployment


@pytest.mark.parametrize(
    ("slots", "message"),
    [
        ({"name": ""}, 'pools.small.slots.name: ""'),
        ({"hash": 7}, "pools.small.slots.hash: 7"),
        ({"placeholders": "no"}, 'pools.small.slots.placeholders: "no"'),
        ({"object": []}, "pools.small.slots.object: []"),
        ({"object": {"spec": {}}}, "pools.small.slots.object.metadata: "),
        ({"object": {"metadata": {}, "spec": {}}}, "pools.small.slots.object.metadata.labels: "),
        (
            {"object": {"metadata": {"labels": {}}, "spec": {}}},
            "pools.small.slots.object.metadata.labels.berth.dev/site: ",
        ),
        ({"hash": "abcd1234"}, "pools.small.slots.hash: 'abcd1234'"),
    ],
)
def test_slots_that_are_malformed_are_refused(slots: dict[str, Any], message: str) -> None:
    with pytest.raises(TimetableError) as caught:
        parse_timetable(json.dumps(with_slots(**slots)))

    assert str(caught.value).startswith(message)


def test_slots_that_were_changed_by_hand_are_refused() -> None:
    """What is made is what was reviewed: Koordinator itself checks next to nothing."""
    tree = with_slots()
    tree["pools"]["small"]["slots"]["object"]["spec"]["allocateOnce"] = True

    with pytest.raises(TimetableError, match=r"small\.slots\.hash: "):
        parse_timetable(json.dumps(tree))


def test_unknown_keys_are_ignored_at_every_level() -> None:
    tree = deepcopy(TREE)
    tree["colour"] = tree["pools"]["small"]["colour"] = tree["occurrences"][0]["colour"] = {"any": ["thing"]}

    assert parse_timetable(json.dumps(tree)) == TIMETABLE


def test_a_timetable_may_be_empty() -> None:
    tree = TREE | {"pools": {}, "occurrences": []}

    assert TIMETABLE._replace(pools=(), occurrences=()) == parse_timetable(json.dumps(tree))


def test_a_site_without_renku_says_no_url() -> None:
    assert parse_timetable(changed("settings.renkuUrl", ...)).settings == TimetableSettings(20, 10)


def test_a_suspended_reservation_has_no_occurrence_in_force() -> None:
    assert active_occurrences(TIMETABLE._replace(suspend=True)) == ()
    assert TIMETABLE.occurrences == active_occurrences(TIMETABLE)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("version", ..., "version: "),
        ("version", 2, "version: 2"),
        ("version", 0, "version: 0"),
        ("version", True, "version: true"),
        ("version", "1", 'version: "1"'),
        ("apiVersion", "v1", "apiVersion: 'v1'"),
        ("kind", "List", "kind: 'List'"),
        ("reservation", "", 'reservation: ""'),
        ("suspend", "no", 'suspend: "no"'),
        ("site", ..., "site: "),
        ("settings", ..., "settings: "),
        ("settings.readyMinutes", "5", 'settings.readyMinutes: "5"'),
        ("pools.small.sessions", ..., "pools.small.sessions: "),
        ("pools", [], "pools: []"),
        ("pools.small", None, "pools.small: null"),
        ("pools.small.deployment", ..., "pools.small.deployment: "),
        ("pools.small.behaviour", "grow", "pools.small.behaviour: 'grow'"),
        ("occurrences", {"a": 1}, 'occurrences: {"a": 1}'),
        ("occurrences", "x" * 99, f'occurrences: "{"x" * 56}... is not a list'),
        ("occurrences.1", 7, "occurrences[1]: 7"),
    ],
)
def test_what_is_malformed_at_the_top_is_refused(path: str, value: object, message: str) -> None:
    if path == "occurrences.1":
        text = json.dumps(TREE | {"occurrences": [TREE["occurrences"][0], value]})
    else:
        text = changed(path, value)

    with pytest.raises(TimetableError) as caught:
        parse_timetable(text)

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("id", ..., "id: "),
        ("id", 5, "id: 5"),
        ("open", 0, "open: 0"),
        ("open", "07:30", "open: '07:30'"),
        ("seats", {"small": -3}, "seats.small: -3"),
        ("seats", {"small": 2.5}, "seats.small: 2.5"),
        ("seats", {"tiny": 3}, "seats.tiny: "),
    ],
)
def test_what_is_malformed_in_an_occurrence_is_refused(key: str, value: object, message: str) -> None:
    with pytest.raises(TimetableError) as caught:
        parse_timetable(changed(f"occurrences.1.{key}", value))

    assert str(caught.value).startswith(f"occurrences[1].{message}")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        pytest.param("open", "2026-02-02T08:00:01Z", id="opens-after-its-start"),
        pytest.param("start", "2026-02-02T12:00:00Z", id="has-no-length"),
        pytest.param("end", "2026-02-02T07:45:00Z", id="ends-before-its-start"),
    ],
)
def test_open_start_and_end_are_in_order(key: str, value: str) -> None:
    with pytest.raises(TimetableError) as caught:
        parse_timetable(changed(f"occurrences.0.{key}", value))

    assert str(caught.value).startswith("occurrences[0]: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the timetable "),
        ("[]", "the timetable: [] is not an object"),
        ("null", "the timetable: null is not an object"),
    ],
)
def test_what_is_no_json_object_is_refused(text: str, message: str) -> None:
    with pytest.raises(TimetableError) as caught:
        parse_timetable(text)

    assert str(caught.value).startswith(message)


def test_thousands_of_levels_are_refused() -> None:
    with pytest.raises(TimetableError, match="the timetable "):
        parse_timetable("[" * 100_000)
