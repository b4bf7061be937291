"""Windows with the dates of reserved machines: never a minute in which there are none."""

from typing import Any

import pytest
from berth.core.jsonvalues import instant_text, parse_instant
from berth.dates.expansion import Expansion
from berth.dates.recurrence import expand
from berth.schema.values import Scaling
from hypothesis import given
from hypothesis import strategies as st

from tests.checks.clouds import MACHINE, RESERVED, block
from tests.clouddocuments import cloud
from tests.saying import Value, document, finding, lines, read, reservation, site

DATES = {"from": "2026-02-02T11:30:00Z", "until": "2026-02-04T11:30:00Z"}
LENT = {**RESERVED, **DATES}


def expanded(
    *machines: Value, others: tuple[Value, ...] = (site(),), zone: str = "", **spec: Any
) -> Expansion:
    """The dates of a course that has those of these machines, with the default lead of 30 minutes."""
    recurrence = {"type": "capacity", "cloudCapacity": "gpu", **({"timeZone": zone} if zone else {})}
    course = reservation(**{"recurrence": recurrence, **spec})
    declared = read(course, cloud(reservations=list(machines)), *others)
    assert declared.problems == []
    (found,) = declared.reservations
    return expand(found, declared.calendars)


def times(found: Expansion) -> list[tuple[str, ...]]:
    """Id, opening, start and end of each window."""
    return [
        (one.id.partition("/")[2], *(instant_text(at)[5:16] for at in (one.open, one.start, one.end)))
        for one in found.occurrences
    ]


def leads(minutes: int) -> Value:
    return {"placeholderCount": 25, "scaleDownBehavior": "none", "leadTimeMinutes": minutes}


@pytest.mark.parametrize(
    ("machines", "end"),
    [
        (LENT, "02-04T11:30"),
        (block(DATES["until"], **{"from": DATES["from"]}), "02-04T10:50"),
    ],
    ids=["a-reservation", "a-block"],
)
def test_a_window_opens_with_its_machines_and_ends_while_they_are_safe(machines: Value, end: str) -> None:
    assert times(expanded(machines)) == [("2026-02-02T11:30", "02-02T11:30", "02-02T12:00", end)]


def test_a_window_starts_its_lead_after_it_opens_and_its_id_ignores_the_lead() -> None:
    assert times(expanded(LENT, provisioning=leads(0))) == [
        ("2026-02-02T11:30", "02-02T11:30", "02-02T11:30", "02-04T11:30")
    ]
    assert times(expanded(LENT, provisioning=leads(90))) == [
        ("2026-02-02T11:30", "02-02T11:30", "02-02T13:00", "02-04T11:30")
    ]


def test_the_class_with_the_longest_lead_opens_with_the_machines() -> None:
    seats = [
        {"resourceClass": "small", "placeholderCount": 2, "leadTimeMinutes": 10},
        {"resourceClass": "large", "placeholderCount": 1, "leadTimeMinutes": 40},
    ]
    provisioning = {"seats": seats, "scaleDownBehavior": "none"}

    (one,) = expanded(LENT, provisioning=provisioning, resourceClass=None).occurrences

    assert one.scaling == (Scaling(10, "none"), Scaling(40, "none"))
    opens = {name: instant_text(at)[11:16] for name, at in one.opens_by_class().items()}
    assert opens == {"large": "11:30", "small": "12:00"}
    assert one.open == parse_instant(DATES["from"])


def test_machines_with_the_same_dates_share_one_window() -> None:
    later = {"from": "2026-02-09T11:30:00Z", "until": "2026-02-10T11:30:00Z"}
    found = expanded({**MACHINE, "id": "cr-0c", **later}, LENT, {**LENT, "id": "cr-0b", "zone": "us-east-1b"})

    assert [one.id for one in found.occurrences] == ["course/2026-02-02T11:30", "course/2026-02-09T11:30"]


def test_dates_are_shown_in_the_time_zone_of_the_reservation() -> None:
    in_fold = {**RESERVED, "from": "2026-10-25T01:15:00Z", "until": "2026-10-25T03:00:00Z"}

    (one,) = expanded(in_fold, zone="Europe/Zurich").occurrences

    assert (instant_text(one.open), one.id) == ("2026-10-25T01:15:00Z", "course/2026-10-25T02:15")
    assert (one.zone, one.marks) == ("Europe/Zurich", ())


def test_the_opening_is_rounded_up_and_the_end_is_rounded_down_to_minutes() -> None:
    found = expanded({**RESERVED, "from": "2026-02-02T11:29:01Z", "until": "2026-02-02T13:00:59Z"})

    assert times(found) == [("2026-02-02T11:30", "02-02T11:30", "02-02T12:00", "02-02T13:00")]


def test_machines_that_overlap_are_refused() -> None:
    more = {**MACHINE, "id": "cr-0b", "from": "2026-02-04T11:29:00Z", "until": "2026-02-06T11:30:00Z"}

    found = expanded(LENT, more)

    assert lines(found.problems) == [
        finding("B201 spec.recurrence.cloudCapacity", "gpu", "Mon 2026-02-02 11:30", "Wed 2026-02-04 11:29")
    ]
    assert found.occurrences == ()
    assert expanded(LENT, {**more, "from": DATES["until"]}).problems == ()


def test_windows_with_the_same_local_opening_in_a_repeated_hour_are_refused() -> None:
    first = {**RESERVED, "from": "2026-10-25T00:15:00Z", "until": "2026-10-25T01:00:00Z"}
    second = {**RESERVED, "id": "cr-0b", "from": "2026-10-25T01:15:00Z", "until": "2026-10-25T03:00:00Z"}

    there = expanded(first, second, zone="Europe/Zurich")

    assert lines(there.problems) == [finding("B049 spec.recurrence.cloudCapacity", "UTC")]
    assert expanded(first, second, zone="UTC").problems == ()


def test_machines_that_end_within_the_lead_are_refused() -> None:
    short = {**RESERVED, "from": "2026-02-02T11:30:00Z", "until": "2026-02-02T12:00:00Z"}

    assert lines(expanded(short).problems) == [
        finding("B024 spec.recurrence.cloudCapacity", 30, "leadTimeMinutes")
    ]
    assert expanded(short, provisioning=leads(29)).problems == ()


def test_paid_machines_are_used_on_a_holiday_and_not_while_the_site_is_closed() -> None:
    holiday = document("Calendar", "holidays", {"dates": ["2026-02-02"]})
    closure = document("Calendar", "closure", {"closes": True, "dates": ["2026-02-03"]})

    with_holiday = expanded(LENT, others=(site(calendars=["holidays"]), holiday))
    closed = expanded(LENT, others=(site(), closure))

    assert [one.marks for one in with_holiday.occurrences] == [("overnight", "onHoliday")]
    assert lines(closed.problems) == [finding("B059 spec.recurrence.cloudCapacity", "calendar closure")]


KINDS = {"default": 0, "capacity-block": 40}
SPANS = st.lists(
    st.tuples(st.integers(0, 3_000), st.integers(111, 3_000), st.sampled_from(list(KINDS))),
    min_size=1,
    max_size=4,
)


@given(SPANS, st.integers(0, 40), st.sampled_from(["UTC", "America/New_York", "Australia/Lord_Howe"]))
def test_every_window_lies_within_the_dates_of_its_machines(
    spans: list[tuple[int, int, str]], lead: int, zone: str
) -> None:
    begin = parse_instant("2026-03-07T00:00:00Z")
    machines, safe, at = [], [], begin
    for i, (gap, length, kind) in enumerate(spans):
        first, until = at + gap * 60, at + (gap + length) * 60
        dates = {"from": instant_text(first), "until": instant_text(until)}
        machines.append({**RESERVED, "id": f"cr-{i}", **dates, "type": kind})
        safe.append((first, until - 60 * KINDS[kind]))
        at = until

    found = expanded(*machines, zone=zone, provisioning=leads(lead))

    assert [(one.open, one.end) for one in found.occurrences] == safe
    assert {one.start - one.open for one in found.occurrences} == {60 * lead}
