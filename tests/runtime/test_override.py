"""An override is read as a person wrote it, or refused with its place."""

import pytest
from berth.core.jsonvalues import TimetableError
from berth.core.timetable import Override, next_override_end, override_target, parse_overrides

from tests.runtime.world import at

SAID = """
{"small": {"target": 60, "until": "2026-02-02T12:00:00Z"},
 "huge": {"target": 0, "until": "2026-02-02T11:00:00Z"}}
"""
OVERRIDES = {"small": Override(60, at("12:00")), "huge": Override(0, at("11:00"))}


def test_it_is_read_by_class() -> None:
    assert parse_overrides(SAID) == OVERRIDES
    assert parse_overrides("") == {}


def test_it_is_in_force_before_its_end() -> None:
    moments = ("11:59:59", "12:00")

    assert [override_target(OVERRIDES, "small", at(moment)) for moment in moments] == [60, None]
    assert override_target(OVERRIDES, "huge", at("10:00")) == 0
    assert override_target(OVERRIDES, "other", at("10:00")) is None


def test_the_next_end_is_the_first_that_is_still_to_come() -> None:
    found = [next_override_end(OVERRIDES.values(), at(moment)) for moment in ("10:00", "11:00", "12:00")]

    assert found == [at("11:00"), at("12:00"), None]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("x", "berth.dev/override "),
        ("60", "berth.dev/override: 60"),
        ('{"small": 60}', "berth.dev/override.small: 60"),
        ('{"small": {"target": 60}}', "berth.dev/override.small.until: "),
        ('{"small": {"target": -1, "until": "2026-02-02T12:00:00Z"}}', "berth.dev/override.small.target: -1"),
        (
            '{"small": {"target": 10001, "until": "2026-02-02T12:00:00Z"}}',
            "berth.dev/override.small.target: 10001",
        ),
        ('{"small": {"target": 1, "until": "noon"}}', "berth.dev/override.small.until: 'noon'"),
    ],
)
def test_what_is_malformed_is_refused(said: str, message: str) -> None:
    with pytest.raises(TimetableError) as caught:
        parse_overrides(said)

    assert str(caught.value).startswith(message)
