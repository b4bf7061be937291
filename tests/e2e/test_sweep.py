"""The sweep on the real cluster: what others leave undone, it does; what is right or not ours, it leaves.

Everything happens side by side while the sweep's own CronJob runs every minute instead of every five; each
test then reads the record.
"""

import json
import time
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from tests.e2e import project, strangers
from tests.e2e.cluster import Cluster
from tests.e2e.direct import Direct
from tests.e2e.sidebyside import Stage
from tests.e2e.windows import GRACE, MINUTE, OPENING, Recorder, entry, reservation, sleep_until, wait_until

SPACE, SITE = "berth-sweep-e2e", "swept"
ROUND = MINUTE + GRACE  # seconds until a round of the sweep is over: its minute, and its pod
OWN_RUN = 30  # seconds that the sweep leaves to a run that may only be late
KINDS = "deployments,cronjobs,jobs,configmaps,roles,rolebindings,serviceaccounts"


class Story(NamedTuple):
    """What happened, and when: instants in seconds since the epoch."""

    record: Recorder
    opens: int
    again: list[str]  # what kubectl said when everything was applied once more, in the open windows
    raised: float
    others: tuple[list[Any], list[Any]]  # what is not ours, before and after
    marked: tuple[float, str]  # when a reservation left git, and its annotation
    left: dict[str, list[str]]  # by reservation, what there is of it at the end
    events: list[tuple[str, str]]  # of Deployments: name and reason
    swept: dict[str, Any]  # the last line of the last round
    jobs: dict[str, dict[str, Any]]  # the status of those of occurrences, by name


def tell(stage: Stage) -> Story:
    cluster, folder, opens = stage.cluster, stage.folder, stage.opens
    cluster.kwok.create_nodes(2, "swept", capacity={"pods": "300", "cpu": "200", "memory": "400Gi"})
    stage.apply([*_site(), *_reservations(opens)], SPACE)
    direct = stage.connect()
    direct.sweep_each_minute(SPACE)
    record = Recorder(direct, SPACE)
    record.start()
    try:
        return _happen(cluster, direct, folder, record, opens)
    finally:
        record.stop()


def _site() -> list[project.Document]:
    """With the engine `none`, so that the sweep has to do also what an engine would."""
    classes = [project.resource_class("small"), project.resource_class("real")]
    for key in ("nodeSelector", "tolerations"):
        del classes[1]["spec"][key]  # for the one node that pulls images
    return [project.site(SITE, namespace=SPACE, engine="none"), *classes]


def _reservations(opens: int) -> list[project.Document]:
    def one(name: str, minutes: int, seats: int, resource_class: str = "small") -> project.Document:
        entries = [entry(opens, 0, minutes)]
        return reservation(name, opens, entries, lead=0, seats={resource_class: seats})

    return [
        one("quiet", 3, 8),
        one("missed", 3, 25),
        one("pruned", 3, 9),
        one("killed", 3, 6),
        one("raised", 1, 5),
        one("unpulled", 3, 2, "real"),
        one("gone", 1, 3),
        one("orphan", 1, 3),
    ]


def _happen(cluster: Cluster, direct: Direct, folder: Path, record: Recorder, opens: int) -> Story:
    def kubectl(*words: str) -> str:
        return cluster.kubectl(*words, f"--namespace={SPACE}")

    kubectl("patch", "cronjob/missed", "--patch", '{"spec": {"suspend": true}}')
    kubectl("delete", "cronjob/pruned")
    kubectl("set", "image", "deployment/unpulled-real", "placeholder=registry.invalid/none:1")
    cluster.apply(json.dumps({"apiVersion": "v1", "kind": "List", "items": strangers.objects(SPACE, SITE)}))
    before = strangers.seen(cluster, SPACE, SITE)
    sleep_until(opens + 1.2 * MINUTE)
    again = cluster.apply(
        folder / "rendered" / "clusters" / "real" / "reservations" / "quiet.yaml"
    ).splitlines()
    sleep_until(opens + 1.35 * MINUTE)
    kubectl("delete", "jobs", "--selector=berth.dev/reservation=killed", "--wait=false")
    sleep_until(opens + 1.6 * MINUTE)
    raised = time.time()
    kubectl("scale", "deployment/raised-small", "--replicas=7")
    for name in ("gone", "orphan"):
        (folder / "reservations" / f"capacityreservation-{name}.json").unlink()
    project.berth(folder, "render")
    cluster.apply(folder / "rendered" / "clusters" / "real" / "inventory.yaml")
    kubectl("delete", "configmap/orphan")
    gone = time.time()

    def mark() -> str:
        notes: dict[str, str] = cluster.get("configmap", "gone", SPACE)["metadata"].get("annotations", {})
        return notes.get("berth.dev/gone-since", "")

    wait_until(lambda: bool(mark()), gone + ROUND)
    marked = mark()
    direct.say_long_gone(SPACE, "gone")
    sleep_until(opens + 4 * MINUTE + ROUND - MINUTE + 5)
    return Story(
        record,
        opens,
        again,
        raised,
        (before, strangers.seen(cluster, SPACE, SITE)),
        (gone, marked),
        {name: _left(cluster, name) for name in ("gone", "orphan", "missed")},
        _events(cluster),
        _last_line(cluster),
        _jobs(cluster),
    )


def _left(cluster: Cluster, name: str) -> list[str]:
    trees = cluster.find(KINDS, SPACE, f"berth.dev/site={SITE},berth.dev/reservation={name}")
    return sorted(f"{tree['kind']} {tree['metadata']['name']}" for tree in trees)


def _events(cluster: Cluster) -> list[tuple[str, str]]:
    found = [one for one in cluster.find("events", SPACE) if one["source"].get("component") == "berth"]
    return sorted((one["involvedObject"]["name"], one["reason"]) for one in found)


def _jobs(cluster: Cluster) -> dict[str, dict[str, Any]]:
    found = cluster.find("jobs", SPACE, f"berth.dev/site={SITE},berth.dev/role=occurrence")
    return {one["metadata"]["name"]: one["status"] for one in found}


def _last_line(cluster: Cluster) -> dict[str, Any]:
    pods = cluster.find("pods", SPACE, "berth.dev/role=sweep")
    ended = [pod for pod in pods if pod["status"]["phase"] == "Succeeded"]
    last = max(ended, key=lambda pod: str(pod["metadata"]["creationTimestamp"]))["metadata"]["name"]
    line: dict[str, Any] = json.loads(cluster.kubectl("logs", last, f"--namespace={SPACE}").splitlines()[-1])
    return line


def steps(story: Story, pool: str) -> list[tuple[float, int]]:
    """Changes of what is asked for: seconds after `opens`, and the number; what was before is left out."""
    return [(at - story.opens, wanted) for at, wanted in story.record.changes(pool) if at > story.opens - 5]


def reasons(story: Story, pool: str) -> list[str]:
    return [reason for name, reason in story.events if name == pool]


def test_a_deployment_created_with_one_replica_is_closed(story: Story) -> None:
    """The engine `none` has no `replicas` in git."""
    looks = story.record.looks["quiet-small"]

    assert looks[0].wanted == 1
    assert [look.wanted for look in looks if look.at < story.opens][-1] == 0
    opened = steps(story, "quiet-small")[0][0]
    late = ["SweepOpened"] if opened >= OWN_RUN else []  # rightly, where its own pod started as late
    assert reasons(story, "quiet-small") == ["SweepClosed", *late]


def test_applying_again_in_an_open_window_changes_nothing_at_all(story: Story) -> None:
    assert "deployment.apps/quiet-small unchanged" in story.again
    assert [line for line in story.again if not line.endswith(" unchanged")] == []


def test_a_window_that_opens_and_closes_by_itself_is_left_alone(story: Story) -> None:
    (opened, first), (closed, last) = steps(story, "quiet-small")

    assert (first, last) == (8, 0)
    assert -1 <= opened <= OPENING
    assert -1 <= closed - 3 * MINUTE <= GRACE


def test_a_run_that_was_missed_is_made_up_and_closes_on_time(story: Story) -> None:
    (opened, first), (closed, last) = steps(story, "missed-small")

    assert (first, last) == (25, 0)
    assert OWN_RUN <= opened <= OWN_RUN + ROUND
    assert -1 <= closed - 3 * MINUTE <= GRACE
    assert reasons(story, "missed-small") == ["SweepClosed", "SweepOpened", "SweepStartedJob"]
    assert story.jobs["missed-sweep"]["succeeded"] == 1


def test_without_a_cronjob_the_sweep_opens_and_closes_the_pool_with_events(story: Story) -> None:
    (opened, first), (closed, last) = steps(story, "pruned-small")

    assert (first, last) == (9, 0)
    assert OWN_RUN <= opened <= OWN_RUN + ROUND
    assert -1 <= closed - 3 * MINUTE <= ROUND
    assert reasons(story, "pruned-small") == ["SweepClosed", "SweepClosed", "SweepHasNoJob", "SweepOpened"]


def test_a_deleted_job_gets_a_successor_and_the_seats_stay(story: Story) -> None:
    assert [wanted for _, wanted in steps(story, "killed-small")] == [6, 0]
    stand = story.record.between("killed-small", story.opens + 2 * GRACE, story.opens + 3 * MINUTE - GRACE)
    assert {(look.wanted, look.ready) for look in stand} == {(6, 6)}
    assert steps(story, "killed-small")[1][0] - 3 * MINUTE <= GRACE
    assert story.jobs["killed-sweep"]["succeeded"] == 1


def test_a_pool_that_is_scaled_up_after_its_end_is_closed(story: Story) -> None:
    raised, closed = [(at, wanted) for at, wanted in steps(story, "raised-small")][-2:]

    assert (raised[1], closed[1]) == (7, 0)
    assert closed[0] + story.opens - story.raised <= ROUND


def test_a_reservation_that_left_git_is_marked_then_removed_except_its_record(story: Story) -> None:
    gone, marked = story.marked

    assert -1 <= datetime.fromisoformat(marked).timestamp() - gone <= ROUND
    assert story.left["gone"] == ["ConfigMap gone-record"]
    assert {"SweepGone", "SweepRemoved"} <= set(reasons(story, "gone-small"))


def test_a_reservation_without_a_timetable_is_removed_except_its_record(story: Story) -> None:
    assert story.left["orphan"] == ["ConfigMap orphan-record"]


def test_the_objects_of_a_reservation_in_git_stay(story: Story) -> None:
    assert story.left["missed"] == [
        "ConfigMap missed",
        "ConfigMap missed-record",
        "CronJob missed",
        "Deployment missed-small",
        "Job missed-sweep",
        "Role missed",
        "RoleBinding missed",
        "ServiceAccount missed",
    ]


def test_foreign_objects_do_not_change(story: Story) -> None:
    before, after = story.others

    assert before == after


def test_at_the_end_all_pools_are_closed_and_the_sweep_does_nothing(story: Story) -> None:
    wanted = {name: looks[-1].wanted for name, looks in story.record.looks.items() if name in _POOLS}

    assert wanted == dict.fromkeys(_POOLS, 0)
    assert [name for name, status in story.jobs.items() if status.get("active")] == []
    assert (story.swept["event"], story.swept["done"], story.swept["failed"]) == ("swept", {}, 0)


_POOLS = ("quiet-small", "missed-small", "pruned-small", "killed-small", "raised-small", "unpulled-real")
