"""Alerts and dashboard in a running Prometheus, beside windows on the real cluster.

The exporter stands for kube-state-metrics. Times in the rules are a tenth of what they are, so five minutes
are half a minute here. What goes wrong, in minutes from the opening:

    0    `pulled` has an image that cannot be pulled, `course` is as it should be; a Job fails by hand
    2    both end
    2.7  a quota refuses all Jobs: the sweep runs no more, and nothing opens `late` at minute 4;
         `course` is scaled by hand
    6    the quota is gone
"""

import json
import time
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

import pytest

from tests.e2e import images, project
from tests.e2e.cluster import Cluster
from tests.e2e.direct import Direct
from tests.e2e.project import Document, document
from tests.e2e.prometheusserver import PrometheusServer, Series
from tests.e2e.rules import dashboard_queries, faster, groups
from tests.e2e.sandbox import HOST_ADDRESS
from tests.e2e.sidebyside import Stage, Stories
from tests.e2e.stateseries import StateSeries
from tests.e2e.waiting import wait_for
from tests.e2e.windows import GRACE, MINUTE, entry, reservation, sleep_until

NAMESPACE, SITE = "berth-monitoring", "monitored"
ABSENT = "registry.example.invalid/course:1"
FACTOR = 10
CRD = project.ROOT / "tests/e2e/crds/prometheusrule.yaml"
QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "no-jobs", "namespace": NAMESPACE},
    "spec": {"hard": {"count/jobs.batch": "0"}},
}


class Story(NamedTuple):
    """Instants in seconds since the epoch. `answers`: the series of each query, open and after the fault."""

    opens: int
    refused: float  # when the quota came
    allowed: float  # when it went
    ended: float
    firing: list[Series]
    answers: dict[tuple[str, str], int]

    def spans(self, alert: str, **labels: str) -> list[tuple[float, float]]:
        """From when to when an alert fired."""
        return [
            (values[0][0], values[-1][0])
            for known, values in self.firing
            if known["alertname"] == alert and labels.items() <= known.items()
        ]


def documents(opens: int) -> list[Document]:
    monitoring = {"prometheusRule": True, "dashboard": True}
    ceilings = [{"seats": {"small": 5}, "requests": {"cpu": "0.6"}}]
    clusters = [{"name": "real", "ceilings": ceilings, "monitoring": monitoring}]
    small = project.resource_class("small")
    del small["spec"]["sessions"]
    pulled = {
        "requests": {"cpu": "1m", "memory": "4Mi"},
        "images": [ABSENT],
        "imageWarmUp": "initContainer",
        "warmUpCommand": ["true"],
    }
    late = opens + 4 * MINUTE
    return [
        project.site(SITE, namespace=NAMESPACE, clusters=clusters),
        small,
        document("ResourceClass", "pulled", pulled),
        reservation("course", opens, [entry(opens, 0, 2)], lead=0, seats={"small": 5}),
        reservation("pulled", opens, [entry(opens, 0, 2)], lead=0, seats={"pulled": 1}),
        reservation("late", late, [entry(late, 0, 4)], lead=0, seats={"small": 3}),
    ]


def failing_job() -> str:
    """A Job that Pod Security admits, and whose only pod fails."""
    nobody = {"runAsNonRoot": True, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}}
    alone = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    container = {
        "name": "job",
        "image": images.PYTHON,
        "command": ["python3", "-c", "raise SystemExit(1)"],
        "securityContext": alone,
    }
    pod = {"restartPolicy": "Never", "securityContext": nobody, "containers": [container]}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "by-hand", "namespace": NAMESPACE},
        "spec": {"backoffLimit": 0, "template": {"spec": pod}},
    }
    return json.dumps(job)


def tell(stage: Stage) -> Story:
    cluster, folder, opens = stage.cluster, stage.folder, stage.opens
    cluster.kwok.create_nodes(1, "monitored", capacity={"pods": "100", "cpu": "100", "memory": "100Gi"})
    cluster.define(CRD)
    project.write(folder, documents(opens))
    project.berth(folder, "render")
    cluster.apply(folder / "rendered" / "clusters" / "real")
    cluster.wait_for_namespace(NAMESPACE)
    stage.undo.callback(cluster.kubectl, "delete", "namespace", NAMESPACE, "--wait=false")
    schedule = '{"spec": {"schedule": "* * * * *"}}'
    _kubectl(cluster, "patch", "cronjob/berth-sweep", "--patch", schedule)
    sleep_until(opens - MINUTE)  # to ask each second takes much of a small machine
    # After the outage of the faults the CronJob controller waits for up to 82 s before it tries again.
    wait_for(lambda: _has_swept(cluster, opens - MINUTE), 90, "the sweep to run again", interval=1)
    rendered = folder / "rendered" / "clusters" / "real" / "monitoring.yaml"
    rules = folder / "rules.json"
    rules.write_text(json.dumps({"groups": faster(groups(rendered), FACTOR)}))
    direct = Direct()
    series = StateSeries(direct, HOST_ADDRESS, NAMESPACE)
    series.start()
    try:
        server = PrometheusServer(cluster, folder, rules, f"{HOST_ADDRESS}:{series.port}")
        server.start()
        try:
            return _happen(cluster, server, opens, dashboard_queries(rendered))
        finally:
            server.stop()
    finally:
        series.stop()
        direct.close()


def _happen(cluster: Cluster, server: PrometheusServer, opens: int, queries: list[tuple[str, str]]) -> Story:
    begun = time.time()
    sleep_until(opens + 0.5 * MINUTE)
    cluster.apply(failing_job())
    sleep_until(opens + 1.7 * MINUTE)
    answers = {query: len(server.ask(query[1])) for query in queries}
    sleep_until(opens + 2 * MINUTE + GRACE)
    _refuse_jobs(cluster)
    refused = time.time()
    _kubectl(cluster, "scale", "deployment/course-small", "--replicas=8")
    wait_for(lambda: _is_firing(server, "BerthSeatsLeftOver"), 240, "seats to be left over")
    wait_for(lambda: _is_firing(server, "BerthWindowNotOpened"), 240, "a window not to be opened")
    wait_for(lambda: _is_firing(server, "BerthSweepNotRunning"), 240, "the sweep not to run")
    answers = {query: max(number, len(server.ask(query[1]))) for query, number in answers.items()}
    allowed = time.time()
    _kubectl(cluster, "delete", "resourcequota", "no-jobs")
    _kubectl(cluster, "delete", "job", "by-hand")
    wait_for(lambda: not server.ask('ALERTS{alertstate="firing"}'), 300, "all alerts to resolve")
    ended = time.time()
    firing = server.history('ALERTS{alertstate="firing"}', begun, ended)
    return Story(opens, refused, allowed, ended, firing, answers)


def _refuse_jobs(cluster: Cluster) -> None:
    """None runs any more when this returns."""
    cluster.apply(json.dumps(QUOTA))
    _kubectl(cluster, "wait", "--for=jsonpath={.status.hard}", "resourcequota/no-jobs", "--timeout=60s")
    wait_for(lambda: not _running_jobs(cluster), 90, "the Jobs that run to end")


def _running_jobs(cluster: Cluster) -> list[Document]:
    return [one for one in cluster.find("jobs", NAMESPACE) if one["status"].get("active")]


def _has_swept(cluster: Cluster, since: float) -> bool:
    status = cluster.get("cronjob", "berth-sweep", NAMESPACE)["status"]
    last = datetime.fromisoformat(status.get("lastSuccessfulTime", "1970-01-01T00:00:00Z"))
    return last.timestamp() >= since


def _kubectl(cluster: Cluster, *words: str) -> str:
    return cluster.kubectl(*words, f"--namespace={NAMESPACE}")


def _is_firing(server: PrometheusServer, alert: str) -> bool:
    return bool(server.ask(f'ALERTS{{alertname="{alert}", alertstate="firing"}}'))


@pytest.fixture(scope="module")
def story(side_by_side: Stories) -> Iterator[Story]:
    with side_by_side.judged(__name__) as told:
        yield told


def test_seats_that_never_become_ready_alert_until_their_window_ends(story: Story) -> None:
    ((first, last),) = story.spans("BerthSeatsNotReady")
    ((pulling, _),) = story.spans("BerthImageNotPulled", owner="pulled-pulled")

    assert story.opens + 25 <= first <= story.opens + 30 + GRACE
    assert first < last <= story.opens + 2 * MINUTE + GRACE
    assert story.opens + 30 <= pulling <= story.opens + 2 * MINUTE


def test_a_job_that_failed_alerts_until_it_is_gone(story: Story) -> None:
    ((first, last),) = story.spans("BerthJobFailing")

    assert story.opens + 0.5 * MINUTE <= first <= story.opens + MINUTE + GRACE
    assert last <= story.ended


def test_without_jobs_the_sweep_a_window_and_leftovers_alert(story: Story) -> None:
    """In tenths: a window after six minutes, leftovers after ten, the sweep after fifteen."""
    ((unopened, _),) = story.spans("BerthWindowNotOpened", cronjob="late")
    ((left, _),) = story.spans("BerthSeatsLeftOver", label_berth_dev_reservation="course")
    ((unswept, _),) = story.spans("BerthSweepNotRunning")
    ((above, _),) = story.spans("BerthAboveCeiling", ceiling="5 seats of small")

    assert story.opens + 4 * MINUTE + 36 <= unopened <= story.opens + 4 * MINUTE + 36 + GRACE
    assert story.refused + 60 <= left <= story.refused + 60 + GRACE
    assert story.refused + 30 <= above <= story.refused + 30 + GRACE
    assert story.refused + 30 <= unswept <= story.refused + 90 + GRACE


def test_alerts_resolve_when_jobs_run_again(story: Story) -> None:
    """The quota is gone, and the sweep corrects what was scaled by hand."""
    for alert in ("BerthWindowNotOpened", "BerthSeatsLeftOver", "BerthSweepNotRunning", "BerthAboveCeiling"):
        assert all(story.allowed <= last < story.ended for _, last in story.spans(alert)), alert


def test_nothing_else_alerts(story: Story) -> None:
    assert {series.labels["alertname"] for series in story.firing} == {
        "BerthAboveCeiling",
        "BerthImageNotPulled",
        "BerthJobFailing",
        "BerthSeatsLeftOver",
        "BerthSeatsNotReady",
        "BerthSweepNotRunning",
        "BerthWindowNotOpened",
    }
    assert not story.spans("BerthSeatsNotReady", deployment="course-small")


def test_every_query_of_the_dashboard_is_answered(story: Story) -> None:
    assert [query for query, series in story.answers.items() if not series] == []
    assert len(story.answers) >= 15
