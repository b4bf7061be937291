"""Durations and instants that Koordinator's scheduler reads: one that it could not would blind it for all."""

from random import Random
from typing import Annotated

import pytest
from berth.plugins.slots import slots
from berth.schema.basemodel import Text
from berth.schema.documentproblems import Refusal
from berth.schema.grammar import go_duration, utc

from tests.cases import tabled
from tests.saying import said


def refused(text: str) -> str:
    with pytest.raises(Refusal) as caught:
        go_duration(text)
    assert caught.value.code == "B107"
    return f"{caught.value.message} {caught.value.fix}"


@tabled("schema")
def test_durations_are_written_in_the_canonical_form_of_go(written: str, canonical: str) -> None:
    assert go_duration(written) == canonical


@tabled("schema")
def test_durations_that_go_cannot_read_are_refused(text: str, fix: str) -> None:
    assert refused(text).endswith(f" is not a duration that Go reads. {fix}")


def test_negative_too_long_and_fractional_durations_are_refused() -> None:
    assert refused("-1h") == "-1h is negative: it would end at once. Write 0s or more."
    assert refused("2562047h1s") == "2562047h1s is too long. Write at most 2562047h."
    assert refused("9" * 39 + "h").startswith("9" * 39 + "h is too long.")
    assert refused("0.5s") == "0.5s is not a whole number of seconds. Write whole seconds."
    assert refused("0.0001h") == "0.0001h is not a whole number of seconds. Write whole seconds."


def test_a_number_is_refused_as_a_duration() -> None:
    duration = Annotated[str, Text("duration", go_duration)]  # as in a mapping of Slots
    assert said(duration, 0) == ["B013"]
    assert said(duration, 3600) == ["B107"]


def test_canonical_durations_have_the_same_seconds() -> None:
    random = Random(6)
    for _ in range(2000):
        seconds = random.choice(
            [random.randrange(200), random.randrange(10**5), random.randrange(2562047 * 3600)]
        )
        assert (
            go_duration(f"{seconds}s")
            == go_duration(slots.go_duration(seconds))
            == slots.go_duration(seconds)
        )


@pytest.mark.parametrize("text", ["2026-12-31T23:00:00Z", "2028-02-29T00:00:00Z", "2000-01-01T23:59:59Z"])
def test_an_instant_in_utc_is_accepted(text: str) -> None:
    assert utc(text) == text


@tabled("schema")
def test_an_instant_that_is_not_in_utc_is_refused(text: str, why: str) -> None:
    with pytest.raises(Refusal) as caught:
        utc(text)
    assert caught.value.code == "B107"
    assert f"{caught.value.message} {caught.value.fix}".endswith(why)
