"""What `berth status` says during a rehearsal, after it, and of the room that rehearsals need."""

from collections.abc import Mapping

import pytest
from berth.core.jsonvalues import parse_instant
from berth.core.record import OccurrenceRecord, record_text
from berth.live.poolstate import ClusterStatus

from tests.live.judged import rows, status, told
from tests.live.project import Project, project
from tests.live.world import World

DATE = "course/2026-02-09"
REHEARSAL = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: NAME}
spec:
  rehearses: {name: course, date: 2026-02-09}
  resourceClass: small
  recurrence: {type: dates, dates: [{date: DAY, startTime: "06:00", endTime: "06:30"}]}
  provisioning: {placeholderCount: 25, leadTimeMinutes: 0, scaleDownBehavior: none, endsWhenReady: true}
"""
FIRST, AGAIN = (
    REHEARSAL.replace("NAME", name).replace("DAY", day)
    for name, day in (("first", "2026-02-06"), ("again", "2026-02-07"))
)
FIRST_ID, AGAIN_ID = "first/2026-02-06T06:00", "again/2026-02-07T06:00"
OPEN, END = "2026-02-06T05:00:00Z", "2026-02-06T05:30:00Z"
DURING, AFTER, NEXT_WEEK = "2026-02-06T05:20:00Z", "2026-02-06T06:00:00Z", "2026-02-10T12:00:00Z"
READY = "2026-02-06T05:10:00Z"


def cluster(*records: OccurrenceRecord, replicas: int = 0, ready: int | None = None) -> tuple[World, Project]:
    git = project(first=FIRST, again=AGAIN)
    world = World(git.objects["prod"])
    world.get("CronJob", "berth-sweep")["status"] = {"lastSuccessfulTime": "2026-02-02T18:00:00Z"}
    world.scale("first-small", replicas, "berth-scaler", OPEN, ready)
    for name in ("first", "again"):
        labels = {"berth.dev/site": "uni", "berth.dev/reservation": name, "berth.dev/role": "record"}
        metadata = {"name": f"{name}-record", "namespace": "berth", "labels": labels}
        own = [each for each in records if each.occurrence.startswith(f"{name}/")]
        data = {"records.json": record_text(own)}
        world.apply_rendered({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
    return world, git


def record(ready: Mapping[str, int], begin: str = OPEN, faults: tuple[str, ...] = ()) -> OccurrenceRecord:
    """A rehearsal with so many seats at instants."""
    opens = parse_instant(begin)
    curve = tuple((parse_instant(at), count) for at, count in ready.items())
    whole = [at for at, count in curve if count >= 25]
    return OccurrenceRecord(
        FIRST_ID,
        {"small": 25},
        whole[0] if whole else None,
        window=(opens, opens, opens + 1800),
        rehearses=DATE,
        ready={"small": curve},
        faults=faults,
    )


FAILED = record({READY: 20}, faults=("no room: 0/3 nodes are available.",))
SUCCEEDED = record({READY: 25})


def codes(found: ClusterStatus, name: str = "first") -> set[str]:
    return {finding.code for pool in found.pools if pool.reservation == name for finding in pool.findings}


def test_an_open_rehearsal_is_active_and_marked_as_rehearsal() -> None:
    world, git = cluster(replicas=25)
    world.run("first")
    found = status(world, git, DURING)

    (row,) = [row for row in rows(found) if row[0] == "first/small"]
    assert row == ("first/small", "active", OPEN, END, 25, 25, 0, 0)
    assert [pool.remark for pool in found.pools if pool.reservation == "first"] == ["rehearsal"]
    assert codes(found) == set()


def test_the_date_that_is_rehearsed_is_no_window_of_the_rehearsal() -> None:
    """Its row in the timetable has no seats: nothing is missing while it is there."""
    found = status(*cluster(SUCCEEDED), "2026-02-09T23:00:00Z")

    assert codes(found) == set()
    assert [pool.state for pool in found.pools if pool.reservation == "first"] == ["completed"]


def test_a_rehearsal_with_all_seats_ready_is_over() -> None:
    """As the scaler and the sweep see it: what is open by git alone is not missing."""
    world, git = cluster(SUCCEEDED)
    world.hold("first-small", DURING, "", "first")
    note = f"{FIRST_ID} {READY}"
    (lease,) = (tree for tree in world.objects if tree["kind"] == "Lease")
    lease["metadata"]["annotations"] = {"berth.dev/ended": note}
    found = status(world, git, DURING)

    assert [row[4] for row in rows(found) if row[0] == "first/small"] == [0]
    assert codes(found) == set()
    assert codes(status(*cluster(), DURING)) >= {"S030"}  # without such a Lease it is open


def test_seats_not_ready_near_the_end_of_a_rehearsal_get_s032() -> None:
    """Nobody waits for them."""
    world, git = cluster(replicas=25, ready=20)
    world.run("first")

    assert codes(status(world, git, "2026-02-06T05:27:00Z")) == {"S032"}


def test_a_failed_rehearsal_gets_s045_with_its_missing_seats_and_cause() -> None:
    found = status(*cluster(FAILED), AFTER)
    (finding,) = [one for pool in found.pools for one in pool.findings if one.code == "S045"]

    for value in (
        "5 of 25 seats",
        OPEN,
        DATE,
        FAILED.faults[0].removesuffix("."),
        "berth rehearse course 2026-02-09",
    ):
        assert value in f"{finding.message} {finding.fix}"
    assert "warning[S045] first/small" in told(found)


LATER = record({"2026-02-07T05:10:00Z": 25}, "2026-02-07T05:00:00Z")._replace(occurrence=AGAIN_ID)
LATER_FAILED = record({"2026-02-07T05:10:00Z": 20}, "2026-02-07T05:00:00Z")._replace(occurrence=AGAIN_ID)
OTHER_DATE = LATER._replace(rehearses="course/2026-02-02")
OTHER_CLASS = FAILED._replace(promised={"large": 3}, ready={})
OTHER_COURSE = FAILED._replace(rehearses="other/2026-02-09")


@pytest.mark.parametrize(
    ("records", "now", "is_told"),
    [
        pytest.param([FAILED], AFTER, True, id="failed"),
        pytest.param([FAILED], DURING, False, id="not-over"),
        pytest.param([FAILED], NEXT_WEEK, False, id="its-class-is-over"),
        pytest.param([FAILED], "2026-02-09T08:00:00Z", True, id="its-class-is-open"),
        pytest.param([SUCCEEDED], AFTER, False, id="succeeded"),
        pytest.param([FAILED, LATER], "2026-02-08T12:00:00Z", False, id="a-later-one-succeeded"),
        pytest.param([FAILED, LATER_FAILED], "2026-02-08T12:00:00Z", False, id="a-later-one-failed-too"),
        pytest.param([FAILED, OTHER_DATE], "2026-02-08T12:00:00Z", True, id="one-of-another-date-succeeded"),
        pytest.param([OTHER_CLASS], AFTER, False, id="of-another-class"),
        pytest.param([OTHER_COURSE], AFTER, False, id="of-another-course"),
    ],
)
def test_a_failed_rehearsal_is_reported_until_its_class_or_a_later_rehearsal(
    records: list[OccurrenceRecord], now: str, is_told: bool
) -> None:
    assert ("S045" in codes(status(*cluster(*records), now))) == is_told


def test_only_the_last_of_two_failed_rehearsals_is_reported() -> None:
    found = status(*cluster(FAILED, LATER_FAILED), "2026-02-08T12:00:00Z")

    assert ("S045" in codes(found), "S045" in codes(found, "again")) == (False, True)
