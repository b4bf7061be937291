"""Windows against the dates of reservations: 40 minutes, 70 minutes, and who covers what."""

from typing import Any

import pytest
from berth.checks.cloudwindows import SeatWindow, seat_windows
from berth.dates.expansion import Occurrence

from tests.checks.clouds import KARPENTER, RESERVED, block, of_reservation
from tests.clouddocuments import cloud
from tests.saying import Value, finding, weekly

# Mondays from 09:00 to 13:00 UTC with half an hour of lead: 2, 9, 16 and 23 February 2026.
COURSE: Value = {}
LAST = "2026-02-23T13:00:00Z"


def only(*reservations: Value, name: str = "gpu") -> Value:
    return cloud(name, capacityTypes=["reserved"], reservations=list(reservations))


def until(text: str, **more: object) -> Value:
    return {**RESERVED, "until": text, **more}


@pytest.mark.parametrize(
    ("end", "safe"),
    [("2026-02-23T13:40:00Z", True), ("2026-02-23T13:39:59Z", False)],
    ids=["in-time", "a-second-less"],
)
def test_a_window_must_end_40_minutes_before_its_capacity_block(end: str, safe: bool) -> None:
    told = of_reservation(COURSE, cloud(reservations=[block(end)]))

    assert [one.split()[0] for one in told] == ([] if safe else ["B167"])


def test_a_window_past_the_last_safe_minute_of_a_block_is_reported() -> None:
    assert of_reservation(COURSE, cloud(reservations=[block("2026-02-23T13:00:00Z")])) == [
        finding(
            "B167 spec.recurrence",
            "cr-0a",
            "2026-02-23T13:00:00Z",
            "course/2026-02-23T09:00",
            "40",
            "2026-02-23T12:20:00Z",
        )
    ]


def test_a_window_outside_of_a_block_has_no_finding() -> None:
    assert of_reservation(COURSE, cloud(reservations=[block("2026-02-10T00:00:00Z")])) == []


def test_only_the_first_of_many_affected_windows_is_reported() -> None:
    days = weekly({"dayOfWeek": 1, "startTime": "00:00", "endTime": "24:00"}, endDate="2026-02-28")
    one = block("2026-02-09T12:00:00Z", **{"from": "2026-01-01T00:00:00Z"})
    daily = {
        **days,
        "schedule": [{"daysOfWeek": [1, 2, 3, 4, 5, 6, 7], "startTime": "00:00", "endTime": "24:00"}],
    }

    (told,) = of_reservation({"recurrence": daily}, cloud(reservations=[one], expireAfter="Never"))

    assert told == finding("B167 spec.recurrence", "cr-0a", "2026-03-01T00:00:00Z", "course/2026-02-02T00:00")


def test_a_window_without_reserved_machines_is_reported_if_nothing_else_is_allowed() -> None:
    assert of_reservation(COURSE, only(until(LAST))) == []
    assert of_reservation(COURSE, only({**RESERVED, "from": "2026-02-02T08:30:00Z"})) == []
    assert of_reservation(COURSE, only({**RESERVED, "from": "2026-02-02T08:30:01Z"})) == [
        finding(
            "B167 spec.recurrence",
            "small",
            "cr-0a",
            "2026-02-02T08:30:00Z",
            "2026-02-02T13:00:00Z",
            "course/2026-02-02T09:00",
            "2026-02-02T08:30:01Z",
        )
    ]


def test_a_second_reservation_or_capacity_may_take_over() -> None:
    first = until("2026-02-10T00:00:00Z")
    second = {**RESERVED, "id": "cr-0b", "from": "2026-02-15T00:00:00Z"}

    assert of_reservation(COURSE, only(first, second)) == []
    assert of_reservation(COURSE, only(first, name="b"), only(second, name="a")) == []
    assert of_reservation(COURSE, only(first), cloud("more")) == []


def test_reservations_that_the_class_cannot_use_do_not_cover_its_windows() -> None:
    other = {**RESERVED, "id": "cr-0b", "zone": "us-east-1b"}
    selector = {"topology.kubernetes.io/zone": "us-east-1a"}
    both = only(until("2026-02-22T00:00:00Z"), other)

    assert of_reservation(COURSE, both) == []
    (told,) = of_reservation(COURSE, both, nodeSelector=selector)
    assert told == finding("B167 spec.recurrence", "cr-0a", "course/2026-02-23T09:00")


def test_a_reservation_that_ends_within_a_window_is_reported() -> None:
    assert of_reservation(COURSE, cloud(reservations=[until(LAST)])) == []
    assert of_reservation(COURSE, cloud(reservations=[until("2026-02-23T12:59:59Z")])) == [
        finding("B169 spec.recurrence", "cr-0a", "small", "2026-02-23T12:59:59Z", "course/2026-02-23T09:00")
    ]
    spot = cloud(reservations=[until("2026-02-23T12:59:59Z")], capacityTypes=["reserved", "spot"])
    assert of_reservation(COURSE, spot) == [
        finding("B169 spec.recurrence", "cr-0a", "small", "2026-02-23T12:59:59Z", "course/2026-02-23T09:00")
    ]


@pytest.mark.parametrize(
    "selector",
    [{"karpenter.sh/capacity-type": "reserved"}, {"karpenter.k8s.aws/capacity-reservation-id": "cr-0a"}],
    ids=["by-type", "by-reservation"],
)
def test_a_class_may_require_reserved_machines_by_type_or_id(selector: Value) -> None:
    whole = cloud(reservations=[until("2026-02-22T00:00:00Z")])

    assert of_reservation(COURSE, whole) == []
    (told,) = of_reservation(COURSE, whole, nodeSelector=selector)
    assert told == finding("B167 spec.recurrence", "small", "2026-02-23")


def test_suspended_reservations_and_excluded_classes_get_no_window_finding() -> None:
    short = only(until("2026-02-01T00:00:00Z"))

    assert of_reservation({"suspend": True}, short) == []
    assert of_reservation(COURSE, short, nodeSelector={"pool": "other"}) == []
    assert len(of_reservation(COURSE, short)) == 1


def test_touching_windows_are_merged() -> None:
    def dated(name: str, since: int, end: int, resource_class: str = "small") -> Occurrence:
        return Occurrence("a", name, since, since, end, ((resource_class, 1),), "UTC", (), "")

    dates = [dated("c", 30, 40), dated("a", 0, 10), dated("b", 10, 20), dated("x", 20, 30, "huge")]

    assert seat_windows("small", dates) == [SeatWindow("a", 0, 20), SeatWindow("c", 30, 40)]
    assert seat_windows("huge", dates) == [SeatWindow("x", 20, 30)]


STANDS: Value = {"backend": {"type": "koordinator", "standing": True}, "recurrence": None}
STANDS["provisioning"] = {"placeholderCount": 2}
KOORDINATOR: Value = {**KARPENTER, "koordinator": {}}


def of_standing(*capacities: Value, expires: str | None = None, **more: Any) -> list[str]:
    slots = {"spec": {"expires": expires}}
    return of_reservation(STANDS, *capacities, cluster=KOORDINATOR, reservation=slots, **more)


def test_standing_seats_must_end_before_their_capacity_block() -> None:
    gpu = cloud(reservations=[block("2026-03-01T00:00:00Z")], expireAfter="Never")

    assert of_standing(gpu, expires="2026-02-28T23:20:00Z") == []
    assert of_standing(gpu, expires="2026-02-28T23:20:01Z") == [
        finding("B167 spec.backend.standing", "cr-0a", "2026-02-28T23:20:01Z", "2026-03-01T00:00:00Z")
    ]
    assert of_standing(gpu) == [finding("B167 spec.backend.standing", "cr-0a", "2026-03-01T00:00:00Z")]


def test_reserved_machines_must_exist_while_standing_seats_exist() -> None:
    begins = {"from": "2026-02-01T00:00:00Z"}

    assert of_standing(only({**RESERVED, **begins})) == []
    assert of_standing(only(until("2026-03-01T00:00:00Z")), expires="2026-03-01T00:00:00Z") == []
    assert of_standing(only(until("2026-03-01T00:00:00Z", **begins))) == [
        finding(
            "B167 spec.backend.standing", "small", "cr-0a", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"
        ),
        finding("B169 spec.backend.standing", "cr-0a", "small", "2026-03-01T00:00:00Z"),
    ]


def test_a_reservation_may_start_while_seats_stand() -> None:
    """When they were merged is not known."""
    assert of_standing(cloud(reservations=[{**RESERVED, "from": "2026-02-16T10:00:00Z"}])) == []
