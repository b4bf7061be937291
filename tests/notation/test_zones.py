"""Time zones, as people write them."""

import re
from datetime import UTC, datetime

import pytest
from berth.dates.zone import known, load
from berth.notation.zones import _PLACE, _PLACES, FIXED, by_name, is_utc, meant, zone, zone_at

from tests.cases import tabled
from tests.notation.refused import refused

SUMMER, WINTER = (int(datetime(2027, month, 1, tzinfo=UTC).timestamp()) for month in (7, 1))
NOWHERE = [
    "CEST (Bern)",
    "../../etc/passwd",
    "",
    "x" * 5000,
    "XYZ",
    "QQT",
    "BEST",
    "Brazil/Central",
    "Western",
]


def test_every_name_of_the_tz_database_is_a_zone() -> None:
    assert [zone(name) for name in known()] == [*known()]


@tabled("notation")
def test_a_text_that_suggests_a_place_is_refused_with_the_place(text: str, place: str) -> None:
    message = refused(zone, text)

    assert message.startswith(f'B021 "{text}" is not a time zone of the tz database. Write ')
    assert message.endswith(f"{place}.")


@pytest.mark.parametrize("text", NOWHERE)
def test_an_unknown_text_is_refused_with_an_example(text: str) -> None:
    assert refused(zone, text).endswith("Write a name such as Europe/Zurich or UTC.")


@pytest.mark.parametrize("text", ["Europe/Zurch", "Europ/Zurich"])
def test_a_misspelled_zone_is_refused_with_a_suggestion(text: str) -> None:
    assert refused(zone, text).endswith("Did you mean Europe/Zurich?")


def test_each_place_of_the_table_is_a_zone() -> None:
    places = {place for word in (*_PLACE, *_PLACES) for place in meant(word)}

    assert places <= {*known()}


@pytest.mark.parametrize(
    ("text", "place"), [("Pacific Time", "America/Los_Angeles"), ("PDT", ""), ("CST", "")]
)
def test_a_zone_name_in_words_has_a_place_and_an_abbreviation_has_none(text: str, place: str) -> None:
    assert by_name(text) == place


def offset(name: str, at: int) -> int:
    found = load(name)
    assert found is not None
    seconds = datetime.fromtimestamp(at, found.offsets.info).utcoffset()
    assert seconds is not None
    return int(seconds.total_seconds())


@pytest.mark.parametrize("hours", range(-12, 15))
@pytest.mark.parametrize("form", ["GMT{:+}", "UTC{:+}", "utc {:+}", "{:+03}:00"])
def test_suggestions_for_an_offset_have_the_same_offset(form: str, hours: int) -> None:
    """POSIX's names have the opposite sign, so `Etc/GMT+2` is four hours away from GMT+2."""
    text = form.format(hours)
    if text in known():
        return
    for name in re.findall(r"[A-Z][A-Za-z_]+/[-+\w/]+", refused(zone, text).partition("database.")[2]):
        assert hours * 3600 in (offset(name, SUMMER), offset(name, WINTER)), name


@pytest.mark.parametrize(("name", "place"), FIXED.items(), ids=lambda value: value.replace("/", "-"))
def test_the_place_of_a_fixed_offset_zone_has_the_same_offset(name: str, place: str) -> None:
    own = {offset(name, SUMMER), offset(name, WINTER)}

    assert len(own) == 1
    assert not place or own <= {offset(place, SUMMER), offset(place, WINTER)}


def test_each_etc_zone_is_utc_or_in_the_table_of_offsets() -> None:
    assert {name for name in known() if name.startswith("Etc/") and not is_utc(name)} <= {*FIXED}


@tabled("notation")
def test_a_zone_text_is_accepted_if_it_matches_the_clocks_of_its_place(
    text: str, at: int | None, place: str
) -> None:
    assert zone_at(text, None if at is None else [at]) == place


@tabled("notation")
def test_a_zone_text_is_refused_unless_it_matches_the_clocks_of_its_place(
    text: str, at: int | None, advice: str
) -> None:
    assert refused(zone_at, text, None if at is None else [WINTER, at]).endswith(advice)
