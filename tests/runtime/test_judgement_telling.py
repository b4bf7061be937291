"""What the sweep does not do but tell, because only a person can put it right."""

from typing import Any

import pytest
from berth.core.decide import decide

from tests.runtime.heldworld import HPA, number_text
from tests.runtime.slotworld import slot_text
from tests.runtime.sweepworld import cronjob, deployment, job, missed, seen, timetable
from tests.runtime.world import COURSE, at, timetable_text

FULL = deployment(25)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        pytest.param({"text": "{"}, "the timetable is not JSON: ", id="no-json"),
        pytest.param({"text": ""}, "the timetable is not JSON: ", id="no-text"),
        pytest.param(
            {"text": timetable_text(COURSE).replace('"reservation": "course"', '"reservation": "curse"')},
            "reservation: 'curse' is not 'course', as the label says",
            id="another-reservation",
        ),
    ],
)
def test_a_malformed_timetable_is_told_and_nothing_is_touched(more: dict[str, Any], why: str) -> None:
    trees = [deployment(7), cronjob(), job()]

    for now in ("09:00", "11:00"):
        found = decide(seen(timetable(**more), *trees), at(now))

        assert found.actions == ()
        (warning,) = found.warnings
        assert (warning.ref.name, warning.reason) == ("course-small", "MalformedTimetable")
        start = "The timetable cannot be read, so the sweep does not change the reservation: "
        assert warning.message.startswith(start + why)


def test_a_timetable_of_another_site_is_malformed() -> None:
    tree = timetable()
    tree["data"]["timetable.json"] = tree["data"]["timetable.json"].replace('"example"', '"elsewhere"')

    (warning,) = decide(seen(tree, FULL), at("11:00")).warnings

    assert warning.message.endswith("site: 'elsewhere' is not 'example', as the label says")


@pytest.mark.parametrize("plugin", ["slots", "numbers"])
def test_a_pool_of_which_the_sweep_has_no_code_is_told_and_keeps_no_other_from_being_opened(
    plugin: str,
) -> None:
    """The first is applied while a sweep without its plugin runs, or the last outlives it."""
    text = slot_text(COURSE) if plugin == "slots" else number_text(HPA, [COURSE])
    site = seen(timetable(text=text), *missed("other"))
    found = decide(site._replace(plugins=frozenset({"slots", "numbers"} - {plugin})), at("09:00"))

    assert {action.ref.reservation for action in found.actions} == {"other"}
    (warning,) = found.warnings
    assert warning.message.endswith(f"pools.small: the sweep has no {plugin}; apply base.yaml again")


def test_the_copy_of_a_timetable_under_another_name_is_none() -> None:
    second = timetable(text="{")
    second["metadata"] |= {"name": "copy", "uid": "other"}
    trees = [timetable(), FULL]

    assert decide(seen(*trees, second), at("11:00")) == decide(seen(*trees), at("11:00"))


def test_a_malformed_override_is_told() -> None:
    sixty = {"berth.dev/override": '{"small": 60}'}
    (warning,) = decide(seen(timetable(annotations=sixty), deployment(0)), at("07:00")).warnings

    message = "An override is ignored: berth.dev/override.small: 60 is not an object"
    assert warning[1:3] == ("MalformedOverride", message)


def test_an_override_that_no_class_follows_is_told_and_the_others_hold() -> None:
    until = '"until": "2026-02-02T12:00:00Z"'
    said = f'{{"smal": {{"target": 9, {until}}}, "small": {{"target": 3, {until}}}}}'
    found = decide(seen(timetable(annotations={"berth.dev/override": said}), deployment(0)), at("07:00"))

    assert [warning.message for warning in found.warnings] == [
        "An override is ignored: berth.dev/override: no class smal in this reservation, which has small"
    ]
    assert len(found.actions) == 1


def test_an_occurrence_that_no_cronjob_can_serve_is_told() -> None:
    (warning,) = decide(seen(timetable(), FULL), at("09:00")).warnings

    message = "No pod serves course/1, and there is no CronJob from which to start a Job."
    assert warning[1:3] == ("SweepHasNoJob", message)
