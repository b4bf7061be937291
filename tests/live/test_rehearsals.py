"""What `berth status` says during a rehearsal, after it, and of the room that rehearsals need."""

from collections.abc import Mapping

import pytest
from berth.core.jsonvalues import parse_instant
from berth.core.record import OccurrenceRecord, record_text
from berth.live.poolstate import ClusterStatus
from berth.live.room import steps_by_cluster
from berth.pipeline import Pipeline
from berth.reading.source import Source

from tests.live.judged import rows, status, told
from tests.live.project import COURSE, FILES, Project, project
from tests.live.world import World

OCCURRENCE = "course/2026-02-09T09:00"
REHEARSAL = f"{OCCURRENCE}/rehearsal"
ENTRY = '{date: 2026-02-09, at: {date: 2026-02-06, startTime: "06:00"}}'
REHEARSED = COURSE.replace("  provisioning:", f"    rehearsals: [{ENTRY}]\n  provisioning:")
OPEN, END = "2026-02-06T05:00:00Z", "2026-02-06T05:30:00Z"
DURING, AFTER, NEXT_WEEK = "2026-02-06T05:20:00Z", "2026-02-06T06:00:00Z", "2026-02-10T12:00:00Z"
READY = "2026-02-06T05:10:00Z"


def cluster(*records: OccurrenceRecord, replicas: int = 0, ready: int | None = None) -> tuple[World, Project]:
    git = project(course=REHEARSED)
    world = World(git.objects["prod"])
    world.get("CronJob", "berth-sweep")["status"] = {"lastSuccessfulTime": "2026-02-02T18:00:00Z"}
    world.scale("course-small", replicas, "berth-scaler", OPEN, ready)
    labels = {"berth.dev/site": "uni", "berth.dev/reservation": "course", "berth.dev/role": "record"}
    metadata = {"name": "course-record", "namespace": "berth", "labels": labels}
    data = {"records.json": record_text(records)}
    world.apply_rendered({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
    return world, git


def record(ready: Mapping[str, int], begin: str = OPEN, faults: tuple[str, ...] = ()) -> OccurrenceRecord:
    """A rehearsal with so many seats at instants."""
    opens = parse_instant(begin)
    curve = tuple((parse_instant(at), count) for at, count in ready.items())
    whole = [at for at, count in curve if count >= 25]
    return OccurrenceRecord(
        REHEARSAL,
        {"small": 25},
        whole[0] if whole else None,
        window=(opens, opens, opens + 1800),
        rehearses=OCCURRENCE,
        ready={"small": curve},
        faults=faults,
    )


FAILED = record({READY: 20}, faults=("no room: 0/3 nodes are available.",))
SUCCEEDED = record({READY: 25})


def codes(found: ClusterStatus) -> set[str]:
    return {finding.code for pool in found.pools for finding in pool.findings}


def test_a_rehearsal_is_open_and_named_so() -> None:
    world, git = cluster(replicas=25)
    world.run("course")
    found = status(world, git, DURING)

    assert rows(found) == [("course/small", "active", OPEN, END, 25, 25, 0, 0)]
    assert [pool.remark for pool in found.pools] == ["rehearsal"]
    assert codes(found) == set()


def test_the_next_opening_is_that_of_a_class() -> None:
    (row,) = rows(status(*cluster(), "2026-02-03T12:00:00Z"))
    assert row[1:3] == ("scheduled", "2026-02-09T07:30:00Z")


def test_a_rehearsal_that_has_all_seats_is_over() -> None:
    """As the scaler and the sweep see it: what is open by git alone is not missing."""
    found = status(*cluster(SUCCEEDED), DURING)

    assert [row[1:5] for row in rows(found)] == [
        ("scheduled", "2026-02-09T07:30:00Z", "2026-02-09T12:00:00Z", 0)
    ]
    assert codes(found) == set()
    assert codes(status(*cluster(), DURING)) >= {"S030"}  # without a record it is open


def test_seats_that_are_not_ready_near_the_end_are_a_warning() -> None:
    """Nobody waits for them."""
    world, git = cluster(replicas=25, ready=20)
    world.run("course")

    assert codes(status(world, git, "2026-02-06T05:27:00Z")) == {"S032"}


def test_a_failed_rehearsal_is_told_with_what_was_missing_and_why() -> None:
    found = status(*cluster(FAILED), AFTER)
    (finding,) = [one for pool in found.pools for one in pool.findings if one.code == "S045"]

    for value in (
        "5 of 25 seats",
        OPEN,
        OCCURRENCE,
        FAILED.faults[0].removesuffix("."),
        "berth rehearse course",
    ):
        assert value in f"{finding.message} {finding.fix}"
    assert "warning[S045] course/small" in told(found)


LATER = record({"2026-02-07T05:10:00Z": 25}, "2026-02-07T05:00:00Z")._replace(
    occurrence="course/2026-02-16T09:00/rehearsal"
)
GROUP = SUCCEEDED._replace(
    occurrence=f"{OCCURRENCE}~extra-time/rehearsal", rehearses=f"{OCCURRENCE}~extra-time"
)
LATER_GROUP = LATER._replace(occurrence=GROUP.occurrence, rehearses=GROUP.rehearses)
OTHER_CLASS = FAILED._replace(promised={"large": 3}, ready={})
OTHER_RESERVATION = FAILED._replace(rehearses="other/2026-02-09T09:00")


@pytest.mark.parametrize(
    ("records", "now", "is_told"),
    [
        pytest.param([FAILED], AFTER, True, id="failed"),
        pytest.param([FAILED], DURING, False, id="not-over"),
        pytest.param([FAILED], NEXT_WEEK, False, id="its-class-is-over"),
        pytest.param([FAILED], "2026-02-09T08:00:00Z", True, id="its-class-is-open"),
        pytest.param([SUCCEEDED], AFTER, False, id="succeeded"),
        pytest.param([FAILED, LATER], "2026-02-08T12:00:00Z", False, id="a-later-one-succeeded"),
        pytest.param([FAILED, GROUP], AFTER, True, id="another-group-succeeded"),
        pytest.param([GROUP, FAILED], AFTER, True, id="another-group-succeeded-and-is-first"),
        pytest.param([FAILED, LATER_GROUP], "2026-02-08T12:00:00Z", True, id="another-group-succeeded-later"),
        pytest.param([OTHER_CLASS], AFTER, False, id="of-another-class"),
        pytest.param([OTHER_RESERVATION], AFTER, False, id="of-another-reservation"),
    ],
)
def test_until_when_a_failed_rehearsal_is_told(
    records: list[OccurrenceRecord], now: str, is_told: bool
) -> None:
    assert ("S045" in codes(status(*cluster(*records), now))) == is_told


def test_the_room_of_the_next_windows_includes_rehearsals() -> None:
    files = {**FILES, "course": REHEARSED}
    pipeline = Pipeline(
        sources=[Source(f"{name}.yaml", text.encode()) for name, text in sorted(files.items())]
    )
    steps = steps_by_cluster(pipeline.items())["prod"].pools["course-small"]

    at = parse_instant(OPEN) // 60
    assert [*steps[steps.index(at) : steps.index(at) + 4]] == [at, 25, at + 30, -25]
