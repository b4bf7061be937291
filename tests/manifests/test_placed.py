"""Which part of a reservation lies in which cluster."""

from typing import Any

from berth.manifests.placed import class_names, cluster_of, placed
from berth.schema.declared import Declared

from tests.saying import document, read, reservation, resource_class, site, weekly

TIMES = {"startTime": "09:00", "endTime": "13:00"}
TWO = ({"name": "prod"}, {"name": "hub"})


def seats(*names: str) -> list[dict[str, Any]]:
    return [{"resourceClass": name, "placeholderCount": 1} for name in names]


def spread_over(*names: str, **recurrence: object) -> dict[str, Any]:
    entries = [{"dayOfWeek": 1, **TIMES}, {"dayOfWeek": 2, **TIMES, "seats": seats("c", "a")}]
    when = weekly(*entries, **recurrence)
    return reservation(resourceClass=None, provisioning={"seats": seats(*names)}, recurrence=when)


def where(declared: Declared) -> list[tuple[str, list[str]]]:
    assert declared.site is not None
    (one,) = declared.reservations
    return [
        (part.cluster.name, [found.name for found in part.classes])
        for part in placed(one, declared, declared.site)
    ]


def test_a_class_without_a_cluster_is_in_the_only_cluster() -> None:
    declared = read(site(), resource_class(), reservation())

    assert where(declared) == [("prod", ["small"])]


def test_classes_in_several_clusters_make_parts_in_the_order_of_the_site() -> None:
    classes = [resource_class("a", cluster="hub"), resource_class("b", cluster="prod")]
    declared = read(site(*TWO), *classes, resource_class("c", cluster="hub"), spread_over("a", "b"))

    assert where(declared) == [("prod", ["b"]), ("hub", ["a", "c"])]


def test_classes_are_listed_once_in_file_order_with_those_of_entries_and_extras() -> None:
    extra = [{"date": "2026-03-02", **TIMES, "seats": seats("d", "b")}]
    declared = read(site(), spread_over("b", "a", extra=extra))

    assert class_names(declared.reservations[0]) == ("b", "a", "c", "d")


def test_classes_without_a_known_cluster_are_left_out() -> None:
    classes = [resource_class("a"), resource_class("b", cluster="prood"), resource_class("c", cluster="hub")]
    declared = read(site(*TWO), *classes, spread_over("a", "b", "z"))
    assert declared.site is not None

    assert cluster_of(declared.classes["a"], declared.site) is None
    assert cluster_of(declared.classes["b"], declared.site) is None
    assert where(declared) == [("hub", ["c"])]


def test_a_reservation_with_a_faulty_or_unknown_calendar_is_placed_nowhere() -> None:
    with_calendar = reservation(recurrence=weekly(calendars=["holidays"]))
    faulty = document("Calendar", "holidays", {"dates": ["2026-02-30"]})
    sound = document("Calendar", "holidays", {"dates": []})

    assert where(read(site(), resource_class(), with_calendar, faulty)) == []
    assert where(read(site(), resource_class(), with_calendar)) == []
    assert where(read(site(), resource_class(), with_calendar, sound)) == [("prod", ["small"])]
