"""Time zones, as people write them."""

import re
from datetime import UTC, datetime

import pytest
from berth.dates.zone import known, load
from berth.notation.zones import FIXED, zone

from tests.notation.refused import refused

SUMMER, WINTER = (int(datetime(2027, month, 1, tzinfo=UTC).timestamp()) for month in (7, 1))
TEXTS = {
    "PST": "America/Los_Angeles",
    "CST": "America/Chicago (or Asia/Shanghai)",
    "BST": "Europe/London",
    "CEST": "Europe/Berlin (or Europe/Zurich)",
    "AEST": "Australia/Sydney",
    "Asia/Beijing": "Asia/Shanghai",
    "Central Standard Time": "America/Chicago",
    "europe/zurich": "Europe/Zurich",
    "ZURICH": "Europe/Zurich",
    "America/New York": "America/New_York",
    "new york": "America/New_York",
    "Munich": "Europe/Berlin",
}


def test_a_zone_is_a_name_of_the_tz_database_as_it_is_written_there() -> None:
    assert [zone(name) for name in known()] == [*known()]


@pytest.mark.parametrize(("text", "place"), TEXTS.items(), ids=lambda value: re.sub(r"\W+", "-", value))
def test_what_leads_to_a_place_is_refused_with_the_place(text: str, place: str) -> None:
    message = refused(zone, text)

    assert message.startswith(f'B021 "{text}" is not a time zone of the tz database. Write ')
    assert message.endswith(f"{place}.")


@pytest.mark.parametrize("text", ["CEST (Bern)", "../../etc/passwd", "", "x" * 5000, "XYZ", "QQT"])
def test_what_leads_nowhere_gets_an_example(text: str) -> None:
    assert refused(zone, text).endswith("Write a name such as Europe/Zurich or UTC.")


def offset(name: str, at: int) -> int:
    found = load(name)
    assert found is not None
    seconds = datetime.fromtimestamp(at, found.offsets.info).utcoffset()
    assert seconds is not None
    return int(seconds.total_seconds())


@pytest.mark.parametrize("hours", range(-12, 15))
@pytest.mark.parametrize("form", ["GMT{:+}", "UTC{:+}", "utc {:+}", "{:+03}:00"])
def test_no_suggestion_has_another_offset_than_the_text(form: str, hours: int) -> None:
    """POSIX's names have the opposite sign, so `Etc/GMT+2` is four hours away from GMT+2."""
    text = form.format(hours)
    if text in known():
        return
    for name in re.findall(r"[A-Z][A-Za-z_]+/[-+\w/]+", refused(zone, text).partition("database.")[2]):
        assert hours * 3600 in (offset(name, SUMMER), offset(name, WINTER)), name


@pytest.mark.parametrize(("name", "place"), FIXED.items(), ids=lambda value: value.replace("/", "-"))
def test_a_zone_without_changes_has_a_place_of_its_offset_whose_clocks_change(name: str, place: str) -> None:
    own = {offset(name, SUMMER), offset(name, WINTER)}

    assert len(own) == 1
    assert own < {offset(place, SUMMER), offset(place, WINTER)}
