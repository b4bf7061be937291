"""Where the sweep prunes, it removes slots that stand and that git does not hold any more."""

import pytest
from berth.core.actions import describe_action
from berth.core.decide import decide
from berth.core.objects import CONFIG_MAP

from tests.runtime.slotworld import slot_text
from tests.runtime.sweeping import ROW, numbered, twice
from tests.runtime.sweepworld import Swept, cronjob, inventory, made, seen, slot_of, timetable
from tests.runtime.world import at


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        pytest.param("# slots\ncourse x a 4\n", ["x-0-a", "x-3-a"], id="as-in-git"),
        pytest.param("# slots\ncourse x a 3\n", ["x-0-a"], id="fewer"),
        pytest.param("# slots\ncourse x b 4\n", [], id="another-shape"),
        pytest.param("# slots\nlab x a 4\n", [], id="of-another-reservation"),
        pytest.param("# slots\n", [], id="none-stand-any-more"),
        pytest.param("course x a 4\ncourse y a 1\n", ["x-0-a", "x-3-a"], id="of-two-classes"),
        pytest.param("course x a many\n", ["x-0-a", "x-3-a"], id="of-no-sense"),
        pytest.param(None, ["x-0-a", "x-3-a"], id="an-inventory-of-before"),
    ],
)
def test_where_the_sweep_prunes_slots_that_git_holds_no_longer_go(lines: str | None, left: list[str]) -> None:
    persistent = {"berth.dev/standing": "true"}
    swept = Swept(
        "12:00",
        slot_of("x-0-a", labels=persistent),
        slot_of("x-3-a", labels=persistent),
        inventory("course\n", lines),
        prunes=True,
    )

    assert swept.run() == 0
    assert sorted(swept.koordinator.objects) == left


def test_a_slot_that_git_holds_is_not_removed_before_the_inventory_can_know_it() -> None:
    young = slot_of("x-0-a", created="11:50:31", labels={"berth.dev/standing": "true"})
    swept = Swept("12:00", young, inventory("course\n", "# slots\n"), prunes=True)

    assert twice(swept) == []
    swept.cluster.now += 1
    assert twice(swept) == ["DELETE x-0-a"]


def test_where_slots_stand_now_the_windows_of_before_go_and_what_people_read_stays() -> None:
    since = {"berth.dev/gone-since": "2026-02-02T08:00:00Z"}
    read = {"berth.dev/role": "session-affinity"}
    trees = [
        timetable(text=slot_text(ROW), annotations=since),
        made(CONFIG_MAP, "course-session-affinity", labels=read, data={"small.yaml": "{}"}),
        cronjob(),
        *numbered(2),
        slot_of("x-0-a", labels={"berth.dev/standing": "true"}),
        inventory("course\n", "course x a 1\n"),
    ]

    assert [
        describe_action(action)[2] for action in decide(seen(*trees, prunes=True), at("09:00")).actions
    ] == [
        "Removed CronJob course: its windows are not in git since 2026-02-02T08:00:00Z.",
        "Removed 2 slots of small: its windows are not in git since 2026-02-02T08:00:00Z.",
        "Removed ConfigMap course: its windows are not in git since 2026-02-02T08:00:00Z.",
    ]
