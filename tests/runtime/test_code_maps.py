"""When the sweep may delete a ConfigMap of in-cluster code."""

import pytest
from berth.core.codemaps import UNUSED_FOR, mounted_config_maps, unused_code_maps

NOW = 1_800_000_000
LONG_AGO = NOW - 10 * UNUSED_FOR


def test_what_nothing_mounts_is_deleted_in_the_order_of_names() -> None:
    assert unused_code_maps({"b": LONG_AGO, "a": LONG_AGO, "used": LONG_AGO}, {"used"}, NOW) == ["a", "b"]


@pytest.mark.parametrize(
    ("age", "found"),
    [(0, []), (UNUSED_FOR - 1, []), (UNUSED_FOR, ["new"]), (-60, [])],
    ids=["just-created", "almost", "long-enough", "from-a-clock-ahead"],
)
def test_an_engine_has_time_to_create_what_mounts_it(age: int, found: list[str]) -> None:
    assert unused_code_maps({"new": NOW - age}, (), NOW) == found


def test_a_mounted_name_that_is_not_there_is_no_matter() -> None:
    assert unused_code_maps({}, {"gone"}, NOW) == []


def test_config_maps_of_volumes_count_and_those_in_projected_ones() -> None:
    volumes = [
        {"name": "core", "configMap": {"name": "berth-core-1"}},
        {"name": "share", "emptyDir": {}},
        {"name": "odd", "configMap": None},
        {"name": "runtime", "configMap": {"name": "berth-runtime-2"}},
        {"name": "code", "projected": {"sources": [{"secret": {}}, {"configMap": {"name": "berth-sweep"}}]}},
        {"name": "empty", "projected": {"sources": None}},
    ]

    found = list(mounted_config_maps({"volumes": volumes}))
    assert found == ["berth-core-1", "berth-runtime-2", "berth-sweep"]
    assert list(mounted_config_maps({"volumes": None})) == list(mounted_config_maps({})) == []
