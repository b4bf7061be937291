"""Reservations of Renku: what it takes and answers is read, what it refuses is refused, the rest is told."""

import json
from datetime import date
from typing import Any

import pytest
from berth.backends.backendregistry import DEFAULT_HOLDER
from berth.findings import Origin, Problem
from berth.reading.source import Source
from berth.schema.renku import ID, PayloadsReading, read_payloads
from berth.schema.renkunames import is_payload, name, slug
from berth.schema.reservation import Reservation
from berth.schema.reservationspec import ReservationSpec
from berth.schema.values import Entry, Recurrence

from tests.saying import lines, payload, read

ULID = "01K9ZK4T8W3Q6M5N2R7V1X0Y9B"
SEATS = (("small", 35),)


def reading(*documents: object) -> PayloadsReading:
    text = "\n---\n".join(map(json.dumps, documents))
    return read_payloads(Source("a.json", text.encode()), {5: "small"})


def said(*documents: object) -> list[str]:
    return sorted(lines(one for one in reading(*documents).problems if isinstance(one, Problem)))


def recurring(**fields: object) -> dict[str, Any]:
    return payload(recurrence={**payload()["recurrence"], **fields})


def entry(**fields: object) -> dict[str, Any]:
    return recurring(schedule=[{"day_of_week": 2, "start_time": "12:15", "end_time": "14:00", **fields}])


def test_the_body_of_a_post_becomes_a_reservation() -> None:
    assert reading(payload()).reservations == (
        Reservation(
            origin=Origin("a.json", 0),
            name="intro",
            spec=ReservationSpec.model_validate({"title": "Intro", "provisioning": {}}),
            labels=(),
            annotations=(),
            recurrence=Recurrence(
                type="weekly",
                zone="UTC",
                first=date(2026, 2, 3),
                last=date(2026, 2, 28),
                dates=(),
                interval=1,
                schedule=(Entry((2,), 735, 840, None, SEATS),),
                calendars=(),
                excepts=(),
                moves=(),
                extras=(),
            ),
            seats=SEATS,
            seats_listed=False,
            lead=30,
            behavior="none",
            holder=DEFAULT_HOLDER,
        ),
    )


def test_an_item_of_a_get_has_an_id_and_may_have_a_template() -> None:
    template = "01JC3CB5426KC7P5STS5X3KSS9"
    without = reading({**payload(), "id": ULID, "project_template_id": None})
    with_one = reading({**payload(), "id": ULID, "project_template_id": template})

    assert with_one.reservations[0].annotations == ((ID, ULID),)
    assert without.reservations[0].name == with_one.reservations[0].name == "intro-d9cde2"
    assert without.reservations[0].sessions.project_template is None
    assert with_one.reservations[0].sessions.project_template == template


def test_the_whole_answer_of_a_get_is_as_many_reservations() -> None:
    declared = reading([payload(name="B"), {**payload(name="A"), "id": ULID}], payload(name="C"))

    assert declared.problems == ()
    assert [(reservation.name, reservation.origin) for reservation in declared.reservations] == [
        ("b", Origin("a.json", 0, (0,))),
        ("a-d9cde2", Origin("a.json", 0, (1,))),
        ("c", Origin("a.json", 1)),
    ]


def test_two_with_one_name_are_told() -> None:
    assert said([payload(), payload()]) == ["B060 1.name"]


def test_an_error_that_renku_answers_is_told() -> None:
    assert said({"error": {"code": 1401, "message": "no"}}) == ["B069 error"]


def test_an_answer_without_reservations_is_told_and_does_no_harm() -> None:
    assert said([]) == ["B007"]


@pytest.mark.parametrize("kind", ["once", "daily", "weekly"])
def test_weekdays_count_only_for_weekly(kind: str) -> None:
    declared = reading(recurring(type=kind))

    assert declared.problems == ()
    assert declared.reservations[0].recurrence.schedule[0].days == ((2,) if kind == "weekly" else ())


def test_only_weekly_needs_weekdays() -> None:
    schedule = [{"start_time": "12:15", "end_time": "14:00"}]

    assert said(recurring(type="daily", schedule=schedule)) == []
    assert said(recurring(schedule=schedule)) == ["B011 recurrence.schedule.0"]


def test_times_may_have_seconds_which_are_cut_to_the_minute_and_told_if_there_are_any() -> None:
    declared = reading(entry(start_time="12:15:00", end_time="14:00:59"))

    assert declared.reservations[0].recurrence.schedule == (Entry((2,), 735, 840, None, SEATS),)
    assert said(entry(start_time="12:15:00", end_time="14:00:59")) == ["B070 recurrence.schedule.0.end_time"]


def test_what_the_payload_leaves_out_has_our_defaults() -> None:
    (found,) = reading(payload(provisioning={"placeholder_count": 35})).reservations

    assert (found.lead, found.behavior) == (30, "maintain")


TOLD: dict[str, tuple[dict[str, Any], list[str]]] = {
    "unknown-keys": (
        {**payload(), "description": "x", "recurrence": {**payload()["recurrence"], "timezone": "UTC"}},
        ["B010 description @key", "B010 recurrence.timezone @key"],
    ),
    "our-own-spelling": (
        payload(provisioning={"placeholderCount": 35}),
        ["B010 provisioning.placeholderCount @key"],
    ),
    "no-length": (entry(end_time="12:15"), ["B024 recurrence.schedule.0.end_time"]),
    "no-length-after-the-cut": (
        entry(end_time="12:15:30"),
        ["B024 recurrence.schedule.0.end_time", "B070 recurrence.schedule.0.end_time"],
    ),
    "midnight": (
        entry(start_time="24:00", end_time="24:00"),
        ["B018 recurrence.schedule.0.end_time", "B018 recurrence.schedule.0.start_time"],
    ),
    "no-times": (
        entry(start_time=1215, end_time="14"),
        ["B018 recurrence.schedule.0.end_time", "B018 recurrence.schedule.0.start_time"],
    ),
    "backwards": (recurring(end_date="2026-02-02"), ["B024 recurrence.end_date"]),
    "no-schedule": (recurring(schedule=[]), ["B012 recurrence.schedule"]),
    "faulty-entries": (
        recurring(type="often", schedule=["x", {"start_time": "12:00", "end_time": "12:00"}]),
        ["B013 recurrence.schedule.0", "B014 recurrence.type"],
    ),
    "long-name": (payload(name="a" * 41), ["B071 name"]),
    "name-that-grows": (
        payload(name="\u33c2" * 22),  # one character that says a.m.
        ["B071 name"],
    ),
    "unknown-class": (payload(resource_class_id=6), ["B072 resource_class_id"]),
    "unknown-class-of-a-faulty-payload": (payload(resource_class_id=6, name=None), ["B011"]),
    "no-class": (payload(resource_class_id="5", id="x"), ["B013 resource_class_id", "B019 id"]),
}


@pytest.mark.parametrize(("value", "problems"), TOLD.values(), ids=TOLD)
def test_what_is_told_of_a_payload(value: dict[str, Any], problems: list[str]) -> None:
    assert sorted(problems) == said(value)


def test_once_over_several_days_may_end_at_the_time_at_which_it_began() -> None:
    several = recurring(type="once", schedule=[{"start_time": "12:00", "end_time": "12:00"}])
    one = recurring(
        type="once", end_date="2026-02-03", schedule=[{"start_time": "12:00", "end_time": "12:00"}]
    )

    assert said(several) == []
    assert said(one) == ["B024 recurrence.schedule.0.end_time"]


def test_every_item_of_an_answer_is_checked_in_its_place() -> None:
    assert said([payload(), {"name": "x"}, "y"]) == [
        "B011 1",
        "B011 1",
        "B011 1",
        "B013 2",
    ]


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Intro to Statistics", "intro-to-statistics"),
        ("  Überblick: Säulen & Bögen!  ", "uberblick-saulen-bogen"),
        ("ﬁne ½ ①", "fine-12-1"),
        ("a__b--c", "a-b-c"),
        ("Straße", "strae"),
        ("日本語", "reservation"),
        ("", "reservation"),
        ("---", "reservation"),
    ],
    ids=["words", "marks", "ligatures", "runs", "lost", "japanese", "empty", "hyphens"],
)
def test_a_name_is_the_slug_of_the_title(title: str, expected: str) -> None:
    assert expected == slug(title) == name(title, None)
    assert f"{expected}-d9cde2" == name(title, ULID)
    assert [reservation.name for reservation in reading(payload(name=title)).reservations] == [expected]


def test_a_payload_is_told_by_its_keys() -> None:
    assert is_payload(payload())
    assert is_payload({"resource_class_id": 1})
    assert not is_payload({"name": "x"})
    assert not is_payload({"kind": "CapacityReservation", "recurrence": {}})
    assert not is_payload({"apiVersion": "berth.dev/v1alpha1", "provisioning": {}})
    assert not is_payload([payload()])


@pytest.mark.parametrize("value", [payload(), [payload(), payload(name="Other")]], ids=["one", "list"])
def test_reservations_hold_documents_of_berth_only(value: object) -> None:
    problems = read(value).problems

    assert "a.yaml B069" in lines(problems, files=True)
    assert any("berth import renku a.yaml" in problem.fix for problem in problems)
