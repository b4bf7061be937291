"""All documents together: kinds, names, what authors silence; and a fault here makes no findings there."""

import json
from pathlib import Path

import pytest

from tests.cases import tabled
from tests.saying import Value, document, read, reservation, resource_class, run, site, told, valid

CALENDAR = document("Calendar", "holidays", {"dates": ["2026-04-06"]})


def test_documents_are_grouped_by_kind_and_found_by_name() -> None:
    declared = valid(reservation("b"), resource_class(), CALENDAR, site(), reservation("a"))

    assert list(declared.classes) == ["small"]
    assert list(declared.calendars) == ["holidays"]
    assert [one.name for one in declared.reservations] == ["a", "b"]


@tabled("schema")
def test_a_document_without_a_valid_kind_is_reported(value: object, problem: str) -> None:
    assert told(value, site()) == [f"a.yaml B069 {problem}".rstrip()]


def test_a_document_of_a_misspelled_kind_is_checked_as_the_nearest_kind() -> None:
    faulty = {**document("Calendars", "holidays", {"dates": [5]}), "apiVersion": "v1"}

    assert told(faulty, site()) == ["a.yaml B014 apiVersion", "a.yaml B017 spec.dates.0", "a.yaml B069 kind"]


def test_exactly_one_site_is_required() -> None:
    assert told(CALENDAR) == ["reservations B064"]
    two = read(site(), site())
    assert two.site is None
    assert told(site(), site()) == ["a.yaml B064 kind", "b.yaml B064 kind"]


def test_duplicate_names_are_all_reported_and_the_first_is_kept() -> None:
    classes = [resource_class(renkuId=number) for number in (1, 2, 3)]

    assert told(*classes, site()) == [
        "a.yaml B060 metadata.name",
        "b.yaml B060 metadata.name",
        "c.yaml B060 metadata.name",
    ]
    assert read(*classes, site()).classes["small"].renku_id == 1


def test_equal_names_of_different_kinds_are_no_fault() -> None:
    assert told(reservation("a"), document("Calendar", "a", {"dates": []}), resource_class("a"), site()) == []


def test_the_name_of_a_faulty_document_counts_as_a_duplicate() -> None:
    assert told(resource_class(), resource_class(renkuId="x"), site()) == [
        "a.yaml B060 metadata.name",
        "b.yaml B013 spec.renkuId",
        "b.yaml B060 metadata.name",
    ]


def ignoring(text: object) -> Value:
    return document("Calendar", "a", {"dates": []}, annotations={"berth.dev/ignore": text})


def test_an_annotation_with_a_reason_ignores_a_finding() -> None:
    declared = valid(site(), ignoring(" B031 : two groups share the room"))

    assert declared.ignored == {("b.yaml", 0): {"B031"}}


def test_several_codes_can_be_ignored_each_with_its_reason() -> None:
    declared = valid(site(), ignoring("B031: meant; by both; B032: B12 is full;B140 : too;"))

    assert declared.ignored == {("b.yaml", 0): {"B031", "B032", "B140"}}


@tabled("schema")
def test_an_ignore_annotation_without_effect_is_reported(text: object, problem: str) -> None:
    assert told(ignoring(text), site()) == [f"a.yaml {problem} metadata.annotations.berth.dev/ignore"]


def test_a_code_is_ignored_only_in_its_own_document(tmp_path: Path) -> None:
    times = [
        {"dayOfWeek": 1, "startTime": "09:00", "endTime": "13:00"},
        {"startTime": "12:00", "endTime": "14:00"},
    ]
    recurrence = {"type": "daily", "startDate": "2026-02-02", "endDate": "2026-02-02", "schedule": times}
    silenced, told = (reservation(name, recurrence=recurrence) for name in ("a", "b"))
    silenced["metadata"]["annotations"] = {"berth.dev/ignore": "B031: meant"}
    documents = {"a": silenced, "b": told, "class": resource_class(), "site": site()}
    found = run(tmp_path, {f"{name}.json": json.dumps(one) for name, one in documents.items()})

    assert [(line[0], line.split()[1]) for line in found if "B032" not in line] == [
        ("a", "warning[B029]"),
        ("b", "warning[B029]"),
        ("b", "warning[B031]"),
    ]


CASCADES: dict[str, tuple[list[object], list[str]]] = {
    "faulty-class": (
        [resource_class(renkuId=-5, sessions={}), reservation(), site()],
        ["a.yaml B011 spec.sessions", "a.yaml B011 spec.sessions", "a.yaml B012 spec.renkuId"],
    ),
    "class-that-does-not-say-its-id": (
        [resource_class(renkuid=5), reservation(), site()],
        ["a.yaml B010 spec.renkuid @key"],
    ),
    "class-that-says-its-id": (
        [resource_class(renkuId=5, clusters=1), site()],
        ["a.yaml B010 spec.clusters @key"],
    ),
    "class-without-spec": ([{**resource_class(), "spec": 5}, site()], ["a.yaml B013 spec"]),
    "class-of-a-misspelt-kind": (
        [{**resource_class(), "kind": "ResourceClas"}, reservation(), site()],
        ["a.yaml B069 kind"],
    ),
    "site-of-a-misspelt-kind": (
        [{**site(), "kind": "Sit"}, resource_class(), reservation()],
        ["a.yaml B069 kind"],
    ),
    "faulty-site": (
        [{**site(), "spec": {"clusters": []}}, resource_class(), reservation()],
        ["a.yaml B012 spec.clusters"],
    ),
}


@pytest.mark.parametrize(("documents", "problems"), CASCADES.values(), ids=CASCADES)
def test_a_fault_in_one_document_makes_no_finding_in_another(
    documents: list[object], problems: list[str]
) -> None:
    assert problems == told(*documents)


def test_a_document_without_a_valid_name_may_have_any_name() -> None:
    for name in (None, 5, "Small"):
        declared = read(document("ResourceClass", name, {"requests": {"cpu": 1}}), site())

        assert len(declared.problems) == 1
        assert declared.may_exist("ResourceClass", "small")
        assert not declared.may_exist("Calendar", "small")
    without_metadata = read({"apiVersion": "berth.dev/v1alpha1", "kind": "Calendar", "spec": {}}, site())
    assert without_metadata.may_exist("Calendar", "holidays")


def test_the_order_of_documents_decides_only_which_duplicate_is_kept() -> None:
    documents = [site(), resource_class(), CALENDAR, reservation("a"), reservation("b")]
    there, back = read(*documents), read(*reversed(documents))

    assert [one._replace(origin=None) for one in there.reservations] == [  # type: ignore[arg-type] # not looked at
        one._replace(origin=None)  # type: ignore[arg-type] # not looked at
        for one in back.reservations
    ]
    assert list(there.classes) == list(back.classes)
