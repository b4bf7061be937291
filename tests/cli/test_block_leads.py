"""A window that opens together with a Capacity Block: what is advised is also valid."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.answer import Berth
from tests.cli import clouds, project

NOW = ("--now", "2026-01-01T00:00:00Z")
BLOCK = (
    clouds.CLOUD.replace("[reserved, on-demand]", "[reserved]")
    .replace("      count: 2\n", "      count: 9\n      type: capacity-block\n")
    .replace("from: 2026-02-01T00:00:00Z", "from: 2026-02-02T08:00:00Z")
)
CLASSES = clouds.CLASSES.partition("---")[0]


def course(start: str, lead: int) -> str:
    """One date in UTC, of two hours from a start."""
    return (
        project.COURSE.partition("    type: weekly")[0]
        + "    type: dates\n    timeZone: UTC\n    dates: [2026-02-02]\n"
        + f'    schedule: [{{startTime: "{start}", endTime: "10:00"}}]\n'
        + f"  provisioning: {{placeholderCount: 4, scaleDownBehavior: none, leadTimeMinutes: {lead}}}\n"
    )


Planned = Callable[[str, int], tuple[int, str]]


@pytest.fixture
def planned(berth: Berth, folder: Path) -> Planned:
    def plan(start: str, lead: int) -> tuple[int, str]:
        changes = {"classes": CLASSES, "cloud": BLOCK, "course": course(start, lead)}
        clouds.write(folder, **changes, night=None, rest=None)
        code, _, err = berth("plan", *NOW)
        return code, err

    return plan


def test_a_lead_time_before_the_block_gets_the_finding_b167(planned: Planned) -> None:
    code, err = planned("08:00", 3)

    assert (code, "error[B167]" in err) == (1, True)


def test_the_advised_later_start_gets_no_finding(planned: Planned) -> None:
    code, err = planned("08:00", 0)

    assert (code, "warning[B199]" in err) == (0, True)
    assert "start it at Mon 2026-02-02 08:03 or later, with leadTimeMinutes: 3." in err
    assert planned("08:03", 3) == (0, "")


@pytest.mark.parametrize("lead", [1, 2])
def test_the_advised_longer_lead_time_gets_no_finding(planned: Planned, lead: int) -> None:
    _, err = planned("09:00", lead)

    assert "Write leadTimeMinutes: 3 or more." in err
    assert planned("09:00", 3) == (0, "")
