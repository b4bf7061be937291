"""`CapacityReservation`: seats, lead, behaviour, sessions; and that one run tells all that is wrong."""

from typing import Any

import pytest
from berth.schema.plainfields import plain_settings
from berth.schema.reservation import Reservation

from tests.cases import table
from tests.saying import document, read, reservation, resource_class, site, told, valid, weekly


def made(**spec: Any) -> Reservation:
    declared = valid(reservation(**spec), site(), resource_class())
    (found,) = declared.reservations
    return found


def test_empty_fields_have_no_effect() -> None:
    empty: dict[str, object] = {"namespaces": [], "matchLabels": {}, "matchAnnotations": {}}

    found, plain = made(sessions=empty, backend={}, title=""), made()
    assert found._replace(spec=plain.spec) == plain
    assert found.sessions == plain.sessions
    assert found.title == plain.title
    assert plain_settings(found) == plain_settings(plain)


def test_the_ignore_annotation_is_not_kept() -> None:
    annotations = {"a": "b", "berth.dev/ignore": "B031: meant"}
    one = document("CapacityReservation", "course", reservation()["spec"], annotations=annotations)

    assert read(one, site(), resource_class()).reservations[0].annotations == (("a", "b"),)


def test_the_default_time_zone_is_that_of_the_site() -> None:
    in_tokyo = weekly(timeZone="Asia/Tokyo")
    declared = read(
        reservation("a", recurrence=in_tokyo),
        reservation("b"),
        site(timeZone="Europe/Zurich"),
        resource_class(),
    )

    assert [one.recurrence.zone for one in declared.reservations] == ["Asia/Tokyo", "Europe/Zurich"]


@pytest.mark.parametrize(("spec", "problems"), table("reservation"))
def test_faults_of_a_reservation_are_reported(spec: dict[str, Any], problems: list[str]) -> None:
    assert sorted(f"a.yaml {problem}" for problem in problems) == sorted(
        told(reservation(**spec), site(), resource_class())
    )


UNSEEN = [*(f"Alge{one}bra" for one in "\u202e\u2066\n\t\x1b\U000e0041"), "\u200b", " \u200d "]


@pytest.mark.parametrize("title", UNSEEN)
def test_no_title_has_what_people_do_not_see_or_nothing_else(title: str) -> None:
    skipped = {"date": "2026-02-09", "title": title}
    dates = [skipped, {"from": "2026-03-02", "to": "2026-03-03", "title": title}]
    course = reservation(title=title, recurrence=weekly(**{"except": [skipped]}))

    assert told(course, document("Calendar", "a", {"dates": dates}), site()) == [
        "a.yaml B012 spec.recurrence.except.0.title",
        "a.yaml B012 spec.title",
        "b.yaml B012 spec.dates.0.title",
        "b.yaml B012 spec.dates.1.title",
    ]


@pytest.mark.parametrize(
    "title", ["می‌خواهم", "\U0001f469‍\U0001f4bb hour", "Algèbre «\u00a0linéaire\u202f»", "数学\u3000一"]
)
def test_titles_of_all_languages_are_read(title: str) -> None:
    assert made(title=title, owner={"name": title}).title == title
