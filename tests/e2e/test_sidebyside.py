"""Stories side by side are tried first, without a cluster."""

from pathlib import Path
from types import ModuleType
from typing import cast

import pytest

from tests.e2e import secondrun
from tests.e2e.cluster import Cluster
from tests.e2e.sidebyside import BEGINS, Stage, Stories

NO_CLUSTER = cast("Cluster", None)


def module(name: str, undone: list[str], error: Exception | None = None) -> ModuleType:
    """Its story is its stage."""

    def tell(stage: Stage) -> Stage:
        stage.undo.callback(undone.append, name)
        if error:
            raise error
        return stage

    module_type = ModuleType(f"tests.e2e.{name}")
    module_type.tell = tell  # type: ignore[attr-defined]
    return module_type


def test_all_stories_use_one_clock_that_the_first_story_starts() -> None:
    names = ("test_sessions", "test_windows")
    stories = Stories(NO_CLUSTER, [module(name, []) for name in names], Path)

    stages: dict[str, Stage] = {}
    for name in names:
        with stories.judged(f"tests.e2e.{name}") as stage:
            stages[name] = stage

    sessions, windows = stages["test_sessions"], stages["test_windows"]
    assert windows.opens % 60 == 0
    assert sessions.opens - windows.opens == 60 * (BEGINS["test_sessions"] - BEGINS["test_windows"])
    assert (sessions.folder, windows.folder) == (Path("sessions"), Path("windows"))


@pytest.mark.parametrize(
    ("name", "minutes"), [("test_faults", 0), ("test_windows", 4), ("test_koordinator", 4)]
)
def test_a_second_run_gets_up_to_four_more_minutes_to_prepare(
    monkeypatch: pytest.MonkeyPatch, name: str, minutes: int
) -> None:
    """At most, for what no story needs more than."""
    opens = {}
    for alone in ("", name):
        monkeypatch.setenv(secondrun.VARIABLE, alone)
        with Stories(NO_CLUSTER, [module(name, [])], Path).judged(f"tests.e2e.{name}") as stage:
            opens[alone] = stage.opens

    assert (opens[name] - opens[""]) // 60 in (minutes, minutes + 1)  # the clock goes on


def test_a_failing_story_hides_no_other_story_and_all_stories_are_undone() -> None:
    undone: list[str] = []
    good, bad = (
        module("test_windows", undone),
        module("test_status", undone, ValueError("what went wrong here")),
    )
    stories = Stories(NO_CLUSTER, [good, bad], Path)

    with pytest.raises(ValueError, match="what went wrong here"), stories.judged(bad.__name__):
        pass
    with stories.judged(good.__name__) as told:
        assert isinstance(told, Stage)
        assert undone == []
    assert sorted(undone) == ["test_status", "test_windows"]
