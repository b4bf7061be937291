"""A timetable is read as written, and what is malformed is refused with its place."""

import json
from copy import deepcopy
from typing import Any

import pytest
from berth.core.jsonvalues import TimetableError
from berth.core.sessions import Inactive, LabelRequirement, Match, Recognition, parse_recognition
from berth.core.timetable import (
    Override,
    Timetable,
    TimetableOccurrence,
    TimetablePool,
    TimetableSettings,
    active_occurrences,
    override_target,
    parse_overrides,
    parse_timetable,
)
from berth.plugins.slots.slotspec import SlotSpec

from tests.runtime.timetables import at

LABELS = {f"berth.dev/{key}": "x" for key in ("site", "reservation", "resource-class", "role")}
SHAPE: dict[str, Any] = {"metadata": {"labels": LABELS}, "spec": {"allocateOnce": False}}
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
        }
    ],
}
SMALL = TimetablePool(
    "small",
    "data-science-101-small",
    "maintain",
    Recognition("renku", ("renku",), (LabelRequirement("app", "In", ("session",)),), 5),
    Match(labels=(("course", "101"),), ignores_earlier=True),
)
HUGE = TimetablePool("huge", "data-science-101-huge", "none")
SEATS = (("small", 25), ("huge", 5))
OCCURRENCE = TimetableOccurrence(
    "data-science-101/2026-02-02T09:00", at("07:30"), at("08:00"), at("12:00"), SEATS
)
TIMETABLE = Timetable(
    "data-science-101",
    False,
    (SMALL, HUGE),
    (OCCURRENCE,),
    "example-university",
    TimetableSettings(20, 10, "https://renkulab.io"),
)


def changed(path: str, value: object) -> str:
    """TREE with one value in another way; `...` leaves it out."""
    tree = deepcopy(TREE)
    *parents, last = (int(key) if key.isdigit() else key for key in path.split("."))
    here: Any = tree
    for key in parents:
        here = here[key]
    if value is ...:
        del here[last]
    else:
        here[last] = value
    return json.dumps(tree)


def slots(**more: Any) -> dict[str, Any]:
    return {"placeholders": True, "name": "s-p", "hash": "374c700a", "object": SHAPE, **more}


def test_a_timetable_of_version_1_stays_readable() -> None:
    """From the first release on, the cluster reads what is in git: keys may come, none may go."""
    assert parse_timetable(json.dumps(TREE)) == TIMETABLE
    tree = deepcopy(TREE)
    tree["colour"] = tree["pools"]["small"]["colour"] = tree["occurrences"][0]["colour"] = {"any": ["thing"]}
    assert parse_timetable(json.dumps(tree)) == TIMETABLE


def test_optional_keys_are_read_or_get_their_defaults() -> None:
    tree = deepcopy(TREE)
    tree["pools"]["small"] |= {"overlap": "max", "slots": slots()}
    tree["pools"]["small"]["sessions"] |= {"handoverSeconds": 900, "carryOver": True}
    match = SMALL.match._replace(handover=900, carries_over=True)
    holder = SlotSpec("s-p", "374c700a", SHAPE, placeholders=True)

    small, huge = parse_timetable(json.dumps(tree)).pools
    assert (small, huge) == (SMALL._replace(match=match, overlap="max", holder=holder), HUGE)
    assert small.key == "data-science-101-small/slots"
    assert [pool.holder.has_deployment for pool in (small, huge)] == [True, True]
    assert not small._replace(holder=holder._replace(placeholders=False)).holder.has_deployment
    assert parse_timetable(changed("settings.renkuUrl", ...)).settings == TimetableSettings(20, 10)
    empty = TREE | {"pools": {}, "occurrences": []}
    assert parse_timetable(json.dumps(empty)) == TIMETABLE._replace(pools=(), occurrences=())


def test_a_suspended_reservation_has_no_active_occurrences() -> None:
    assert active_occurrences(TIMETABLE._replace(suspend=True)) == ()
    assert active_occurrences(TIMETABLE) == TIMETABLE.occurrences


MALFORMED = [
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
    ("pools", [], "pools: []"),
    ("pools.small", None, "pools.small: null"),
    ("pools.small.deployment", ..., "pools.small.deployment: "),
    ("pools.small.behaviour", "grow", "pools.small.behaviour: 'grow'"),
    ("pools.small.overlap", "most", "pools.small.overlap: 'most'"),
    ("pools.small.nodePool", 3, "pools.small.nodePool: 3 is not a non-empty string"),
    ("pools.small.sessions", ..., "pools.small.sessions: "),
    ("pools.small.sessions.handoverSeconds", -1, "pools.small.sessions.handoverSeconds: -1"),
    ("pools.small.sessions.carryOver", "yes", 'pools.small.sessions.carryOver: "yes"'),
    ("pools.small.slots", slots(name=""), 'pools.small.slots.name: ""'),
    ("pools.small.slots", slots(hash=7), "pools.small.slots.hash: 7"),
    ("pools.small.slots", slots(placeholders="no"), 'pools.small.slots.placeholders: "no"'),
    ("pools.small.slots", slots(object=[]), "pools.small.slots.object: []"),
    ("pools.small.slots", slots(object={"spec": {}}), "pools.small.slots.object.metadata: "),
    (
        "pools.small.slots",
        slots(object={"metadata": {"labels": {}}, "spec": {}}),
        "pools.small.slots.object.metadata.labels.berth.dev/site: ",
    ),
    # What is made is what was reviewed: Koordinator itself checks next to nothing.
    ("pools.small.slots", slots(hash="abcd1234"), "pools.small.slots.hash: 'abcd1234'"),
    ("pools.small.slots", slots(object=SHAPE | {"spec": {}}), "pools.small.slots.hash: '374c700a'"),
    ("occurrences", {"a": 1}, 'occurrences: {"a": 1}'),
    ("occurrences", "x" * 99, f'occurrences: "{"x" * 56}... is not a list'),
    ("occurrences.0", 7, "occurrences[0]: 7"),
    ("occurrences.0.id", ..., "occurrences[0].id: "),
    ("occurrences.0.id", 5, "occurrences[0].id: 5"),
    ("occurrences.0.open", 0, "occurrences[0].open: 0"),
    ("occurrences.0.open", "07:30", "occurrences[0].open: '07:30'"),
    ("occurrences.0.open", "2026-02-02T08:00:01Z", "occurrences[0]: "),
    ("occurrences.0.start", "2026-02-02T12:00:00Z", "occurrences[0]: "),
    ("occurrences.0.end", "2026-02-02T07:45:00Z", "occurrences[0]: "),
    ("occurrences.0.seats", {"small": -3}, "occurrences[0].seats.small: -3"),
    ("occurrences.0.seats", {"small": 2.5}, "occurrences[0].seats.small: 2.5"),
    ("occurrences.0.seats", {"tiny": 3}, "occurrences[0].seats.tiny: "),
]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((changed(path, value), message) for path, value, message in MALFORMED),
        ("", "the timetable "),
        ("[]", "the timetable: [] is not an object"),
        ("null", "the timetable: null is not an object"),
        ("[" * 100_000, "the timetable "),
    ],
)
def test_a_malformed_timetable_is_rejected_with_its_place(text: str, message: str) -> None:
    with pytest.raises(TimetableError) as caught:
        parse_timetable(text)

    assert str(caught.value).startswith(message)


# How sessions are recognized

PODS: dict[str, Any] = {"source": "pods", "namespaces": ["hub"], "selector": {}, "earlier": "count"}
EXPRESSIONS = [
    {"key": "size", "operator": "In", "values": ["s", "m"]},
    {"key": "team", "operator": "NotIn", "values": ["x"]},
    {"key": "app", "operator": "Exists"},
    {"key": "old", "operator": "DoesNotExist"},
]
COURSE = {
    "namespaces": ["renku"],
    "matchLabels": {"course": "ds"},
    "matchAnnotations": {"z": "1", "y": "2"},
    "projectTemplate": "01JC3CB5426KC7P5STS5X3KSS8",
}
NOTEBOOKS = {
    "source": "custom",
    "group": "kubeflow.org",
    "version": "v1",
    "resource": "notebooks",
    "matchAnnotations": {"size": "small"},
    "inactive": [{"path": "spec.suspend", "values": ["true"]}],
}
CUSTOM = Recognition("custom", ("hub",), (), None, "kubeflow.org", "v1", "notebooks")


def test_the_recognition_and_the_match_of_sessions_are_read() -> None:
    labels = {"selector": {"matchLabels": {"b": "2", "a": ""}}, "renkuId": 5, "source": "renku"}
    selector = (LabelRequirement("a", "In", ("",)), LabelRequirement("b", "In", ("2",)))
    match = Match(("renku",), (("course", "ds"),), (("y", "2"), ("z", "1")), COURSE["projectTemplate"])  # type: ignore[arg-type]
    by_label = PODS | {"namespaces": {"matchLabels": {"b": "2", "a": "1"}}}
    inactive = (Inactive("spec.suspend", ("true",)),)

    assert parse_recognition(PODS | labels | {"course": COURSE, "earlier": "ignore"}, "at") == (
        Recognition("renku", ("hub",), selector, 5),
        match._replace(ignores_earlier=True),
    )
    expected = CUSTOM._replace(annotations=(("size", "small"),), inactive=inactive)
    assert parse_recognition(PODS | NOTEBOOKS, "at") == (expected, Match())
    assert parse_recognition(by_label, "at")[0] == Recognition(
        "pods", (), namespace_labels=(("a", "1"), ("b", "2"))
    )


def test_selector_expressions_become_a_query() -> None:
    selector = {"matchLabels": {"a": "b"}, "matchExpressions": EXPRESSIONS}
    recognition, _ = parse_recognition(PODS | {"selector": selector}, "at")

    queries = [requirement.query for requirement in recognition.selector]
    assert queries == ["a=b", "size in (s,m)", "team notin (x)", "app", "!old"]


NEAR = {"matchExpressions": [{"key": "a", "operator": "Near"}]}
UNRECOGNIZABLE: list[tuple[dict[str, Any], str]] = [
    ({"source": "slurm"}, "at.source: 'slurm'"),
    ({"namespaces": "hub"}, 'at.namespaces: "hub"'),
    ({"namespaces": [""]}, 'at.namespaces[0]: ""'),
    ({"namespaces": {}}, "at.namespaces.matchLabels: is missing"),
    ({"namespaces": {"matchLabels": {}}}, "at.namespaces.matchLabels: is empty"),
    ({"namespaces": {"matchLabels": {"a": 1}}}, "at.namespaces.matchLabels.a: 1"),
    ({"renkuId": "5"}, 'at.renkuId: "5"'),
    ({"selector": {"matchLabels": {"a": 1}}}, "at.selector.matchLabels.a: 1"),
    ({"selector": NEAR}, "at.selector.matchExpressions[0].operator: 'Near'"),
    ({"inactive": [{"path": "a"}]}, "at.inactive[0].values: "),
    ({"course": []}, "at.course: []"),
    ({"course": {"matchAnnotations": {"a": None}}}, "at.course.matchAnnotations.a: None"),
    *(({key: ...}, f"at.{key}: is missing") for key in ("source", "namespaces", "selector", "earlier")),
]


@pytest.mark.parametrize(("change", "message"), UNRECOGNIZABLE)
def test_a_malformed_recognition_is_rejected(change: dict[str, Any], message: str) -> None:
    tree = {key: value for key, value in (PODS | change).items() if value is not ...}
    with pytest.raises(TimetableError) as caught:
        parse_recognition(tree, "at")

    assert str(caught.value).startswith(message)


# Overrides

UNTIL = '"until": "2026-02-02T12:00:00Z"'
OVERRIDES = {"small": Override(60, at("12:00")), "huge": Override(0, at("12:00"))}


def test_an_override_is_read_by_class_and_in_effect_until_its_end() -> None:
    text = f'{{"small": {{"target": 60, {UNTIL}}}, "huge": {{"target": 0, {UNTIL}}}}}'

    assert (parse_overrides(text), parse_overrides("")) == (OVERRIDES, {})
    targets = [override_target(OVERRIDES, "small", at(moment)) for moment in ("11:59:59", "12:00")]
    assert targets == [60, None]
    assert override_target(OVERRIDES, "huge", at("10:00")) == 0
    assert override_target(OVERRIDES, "other", at("10:00")) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", " "),
        ("60", ": 60"),
        ('{"small": 60}', ".small: 60"),
        ('{"small": {"target": 60}}', ".small.until: "),
        (f'{{"small": {{"target": -1, {UNTIL}}}}}', ".small.target: -1"),
        (f'{{"small": {{"target": 10001, {UNTIL}}}}}', ".small.target: 10001"),
        ('{"small": {"target": 1, "until": "noon"}}', ".small.until: 'noon'"),
    ],
)
def test_a_malformed_override_is_rejected(text: str, message: str) -> None:
    with pytest.raises(TimetableError) as caught:
        parse_overrides(text)

    assert str(caught.value).startswith(f"berth.dev/override{message}")
