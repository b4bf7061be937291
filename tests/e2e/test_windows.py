"""Windows open and close on the real cluster, at the minute that the file says.

All windows of this file run side by side: `tell` lets them happen and records what the pools did, twice a
second; each test then reads the record.
"""

import json
import time
from pathlib import Path
from typing import Any, NamedTuple

from tests.e2e import project
from tests.e2e.cluster import Cluster
from tests.e2e.project import NAMESPACE
from tests.e2e.sidebyside import Stage
from tests.e2e.windows import (
    GRACE,
    MINUTE,
    OPENING,
    Recorder,
    entry,
    reservation,
    sleep_until,
    suspend_sweep,
    wait_until,
)

DAY = 86_400
RESET = 10  # seconds within which a scale by hand is put right
EDIT = 60  # seconds within which an edit of the timetable acts


class Story(NamedTuple):
    """What happened, and when: instants in seconds since the epoch."""

    record: Recorder
    opens: int
    reset: float
    edited: float
    memory: dict[str, int]  # resident, in KiB, by container
    managers: dict[str, str]  # of an open pool's fields: by name the subresource they wrote
    jobs: list[dict[str, Any]]  # of occurrences, at the end
    said: dict[str, list[dict[str, Any]]]  # lines of the log, by reservation
    dates: list[dict[str, Any]]  # as berth report has them


def tell(stage: Stage) -> Story:
    cluster, folder, opens = stage.cluster, stage.folder, stage.opens
    cluster.kwok.create_nodes(2, "seats", capacity={"pods": "300", "cpu": "200", "memory": "400Gi"})
    documents = [
        project.site(),
        project.resource_class("small"),
        project.resource_class("large"),
        *_reservations(opens),
    ]
    stage.apply(documents, NAMESPACE)
    suspend_sweep(cluster, NAMESPACE)
    record = Recorder(stage.connect())
    record.start()
    try:
        return _happen(cluster, folder, record, opens)
    finally:
        record.stop()


def _reservations(opens: int) -> list[project.Document]:
    """Minutes from `opens`: `course` 0 to 3; `relay` 0 to 3 in two; `overlap` 0 to 4; `mixed` 1 to 3; ..."""
    later = opens + MINUTE
    course = reservation("course", opens, [entry(opens, 1, 2)], lead=1, seats={"small": 25})
    relay = [entry(opens, 1, 1), entry(opens + MINUTE, 1, 1)]
    overlap = [
        entry(opens, 1, 2),
        entry(later, 1, 2, seats=[{"resourceClass": "small", "placeholderCount": 5}]),
    ]
    return [
        course,
        reservation("relay", opens, relay, lead=1, seats={"small": 10}),
        reservation("overlap", opens, overlap, lead=1, seats={"small": 8}),
        reservation("mixed", later, [entry(later, 0, 2)], lead=0, seats={"small": 4, "large": 3}),
        reservation("killed", later, [entry(later, 0, 3)], lead=0, seats={"small": 6}),
        reservation("edited", later, [entry(later, 0, 3)], lead=0, seats={"small": 7}),
        reservation("quiet", opens + DAY, [entry(opens + DAY, 0, 1)], lead=0, seats={"small": 9}),
    ]


def _happen(cluster: Cluster, folder: Path, record: Recorder, opens: int) -> Story:
    sleep_until(opens + 1.4 * MINUTE)
    cluster.kubectl("create", "job", "--from=cronjob/quiet", "quiet-by-hand", f"--namespace={NAMESPACE}")
    memory, managers = _memory(cluster, "course"), _managers(cluster, "course-small")
    sleep_until(opens + 1.7 * MINUTE)
    selector = "--selector=berth.dev/reservation=killed,batch.kubernetes.io/job-name"
    cluster.kubectl("delete", "pods", selector, f"--namespace={NAMESPACE}", "--wait=false")
    sleep_until(opens + 2.2 * MINUTE)
    reset = time.time()
    cluster.kubectl("scale", "deployment/course-small", "--replicas=0", f"--namespace={NAMESPACE}")
    sleep_until(opens + 2.4 * MINUTE)
    changed = reservation(
        "edited", opens + MINUTE, [entry(opens + MINUTE, 0, 3)], lead=0, seats={"small": 12}
    )
    project.write(folder, [changed])
    project.berth(folder, "render")
    edited = time.time()
    rendered = (folder / "rendered" / "clusters" / "real" / "reservations" / "edited.yaml").read_text()
    (timetable,) = [text for text in rendered.split("\n---\n") if "\nkind: ConfigMap\n" in text]
    cluster.apply(timetable)  # as an engine does that leaves replicas alone; kubectl would set them to 0
    sleep_until(opens + 4 * MINUTE + GRACE + 5)
    wait_until(
        lambda: not any(job["status"].get("active") for job in _jobs(cluster)), time.time() + MINUTE / 2
    )
    jobs = _jobs(cluster)
    said = {name: _log(cluster, name) for name in ("killed", "quiet")}
    return Story(record, opens, reset, edited, memory, managers, jobs, said, _dates(cluster, folder))


def _jobs(cluster: Cluster) -> list[dict[str, Any]]:
    return cluster.find("jobs", NAMESPACE, "berth.dev/role=occurrence")


def _dates(cluster: Cluster, folder: Path) -> list[dict[str, Any]]:
    """The dates that the records of the cluster have, by the commands of docs/report.md."""
    selector = "--selector=berth.dev/role=record"
    printed = cluster.kubectl("get", "configmaps", selector, f"--namespace={NAMESPACE}", "-o", "json")
    (folder / "records.json").write_text(printed, "utf-8")
    found: list[dict[str, Any]] = json.loads(
        project.berth(folder, "report", "--records", "records.json", "-o", "json")
    )["items"]
    return found


def _memory(cluster: Cluster, name: str) -> dict[str, int]:
    selector = f"berth.dev/reservation={name},batch.kubernetes.io/job-name"
    (pod,) = cluster.find("pods", NAMESPACE, selector)
    found = {}
    for container in ("scaler", "occurrence"):
        command = ["exec", pod["metadata"]["name"], f"--namespace={NAMESPACE}", "-c", container, "--"]
        status = cluster.kubectl(*command, "python", "-c", "print(open('/proc/1/status').read())")
        found[container] = sum(
            int(line.split(":")[1].split()[0])
            for line in status.splitlines()
            if line.startswith(("RssAnon", "RssFile", "RssShmem"))
        )
    return found


def _managers(cluster: Cluster, pool: str) -> dict[str, str]:
    question = ["get", "deployment", pool, f"--namespace={NAMESPACE}", "--show-managed-fields", "-o", "json"]
    fields = json.loads(cluster.kubectl(*question))["metadata"]["managedFields"]
    return {entry["manager"]: entry.get("subresource", "") for entry in fields}


def _log(cluster: Cluster, name: str) -> list[dict[str, Any]]:
    selector = f"--selector=berth.dev/reservation={name},batch.kubernetes.io/job-name"
    text = cluster.kubectl("logs", selector, "-c", "scaler", "--tail=-1", f"--namespace={NAMESPACE}")
    return [json.loads(line) for line in text.splitlines()]


def steps(story: Story, pool: str) -> list[tuple[float, int]]:
    """Changes of what is asked for: seconds after `opens`, and the number. The first look is left out."""
    return [(at - story.opens, wanted) for at, wanted in story.record.changes(pool)[1:]]


def assert_steps(story: Story, pool: str, expected: list[tuple[int, int]]) -> None:
    """The pool took just these steps, each within the grace after its minute."""
    found = steps(story, pool)
    assert [wanted for _, wanted in expected] == [wanted for _, wanted in found], found
    for (minute, _), (at, _) in zip(expected, found, strict=True):
        assert -1 <= at - minute * MINUTE <= (OPENING if minute < 2 else GRACE), (pool, minute, at)


def test_placeholders_are_ready_by_the_start_and_gone_after_the_end(story: Story) -> None:
    """25 seats, ready, from a few seconds after `open` until `end`; none before, none after."""
    at_start = story.record.between("course-small", story.opens + MINUTE, story.opens + 2 * MINUTE)
    after = story.record.between("course-small", story.opens + 3 * MINUTE + GRACE, story.opens + 1e9)
    before = story.record.between("course-small", 0, story.opens)

    assert {(look.wanted, look.ready) for look in at_start} == {(25, 25)}
    assert {(look.wanted, look.ready) for look in before} == {(0, 0)}
    assert {(look.wanted, look.ready) for look in after} == {(0, 0)}


def test_back_to_back_occurrences_neither_double_nor_dip(story: Story) -> None:
    assert_steps(story, "relay-small", [(0, 10), (3, 0)])


def test_overlapping_occurrences_add_up_before_the_second_starts(story: Story) -> None:
    """8 seats from minute 0 (start 1, end 3); 5 more from minute 1 (start 2, end 4)."""
    assert_steps(story, "overlap-small", [(0, 8), (1, 13), (3, 5), (4, 0)])


def test_a_reservation_with_several_classes_opens_each(story: Story) -> None:
    assert_steps(story, "mixed-small", [(1, 4), (3, 0)])
    assert_steps(story, "mixed-large", [(1, 3), (3, 0)])


def ended(story: Story, name: str) -> bool:
    """Whether its last scaler closed everything; then the kubelet terminates it, as any sidecar."""
    events = [line["event"] for line in story.said[name]]
    return events[-1] == "ended" or events[-2:] == ["ended", "terminated"]


def test_a_deleted_pod_comes_back_and_closes_on_time(story: Story) -> None:
    """The pool never moves while its pod is away; the successor closes it at the end."""
    assert_steps(story, "killed-small", [(1, 6), (4, 0)])

    assert ended(story, "killed")


def test_a_manual_scale_is_corrected(story: Story) -> None:
    changes = [(at, wanted) for at, wanted in story.record.changes("course-small") if at > story.reset - 1]

    assert [wanted for _, wanted in changes] in ([0, 25, 0], [0])  # a look may miss the short dip
    if len(changes) == 3:
        assert changes[1][0] - changes[0][0] <= RESET


def test_an_edit_of_the_timetable_acts_in_an_open_window(story: Story) -> None:
    changes = steps(story, "edited-small")

    assert [wanted for _, wanted in changes] == [7, 12, 0]
    assert changes[1][0] + story.opens - story.edited <= EDIT
    assert 0 <= changes[2][0] - 4 * MINUTE <= GRACE


def test_every_job_of_a_window_completes(story: Story) -> None:
    unfinished = [job["metadata"]["name"] for job in story.jobs if job["status"].get("succeeded") != 1]

    assert unfinished == []
    assert len(story.jobs) == 7  # a run where nothing of the reservation is open yet, and the one by hand


def test_a_run_with_no_open_window_opens_no_pool_and_ends(story: Story) -> None:
    assert [look.wanted for look in story.record.looks["quiet-small"] if look.wanted] == []

    assert ended(story, "quiet")


def test_a_pod_stays_below_32_mebibytes_and_its_main_container_below_9(story: Story) -> None:
    """Where images lie in memory, as on the node of these tests, the kernel counts files as shared memory."""
    assert sum(story.memory.values()) <= 32 * 1024, story.memory
    assert story.memory["occurrence"] <= 9 * 1024, story.memory


def test_the_scale_has_a_field_manager_of_its_own(story: Story) -> None:
    assert story.managers["berth-scaler"] == "scale"


def test_every_date_leaves_a_record_that_the_report_reads(story: Story) -> None:
    found = {(date["reservation"], date["class"]): date for date in story.dates}

    assert {
        key: one["promised"] for key, one in found.items() if key[0] in ("course", "mixed", "killed")
    } == {
        ("course", "small"): 25,
        ("mixed", "small"): 4,
        ("mixed", "large"): 3,
        ("killed", "small"): 6,
    }
    assert [
        (date["id"], date["missing"]) for date in story.dates if date["readyAt"] is None or date["faults"]
    ] == []
    held = 25 * 3 / 60  # hours, less what a late opening takes
    assert held - 25 * GRACE / 3600 <= found["course", "small"]["unusedSeatHours"] <= held + 0.1
