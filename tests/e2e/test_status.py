"""`berth status` and `berth override` with two real clusters, the second of which loses its API server.

`tell` opens a few windows, breaks some of them, and asks each time; the tests read the answers.
"""

import json
import time
from typing import Any, NamedTuple

from tests.e2e import project, windows
from tests.e2e.cluster import Cluster
from tests.e2e.desk import Desk
from tests.e2e.project import Document, document
from tests.e2e.sidebyside import Stage
from tests.e2e.windows import MINUTE, entry, sleep_until, suspend_sweep

NAMESPACE, HUB = "berth-status", "status-hub"
COURSE = {"course": "taught"}
IMAGE = "registry.invalid/pause:none"
QUICK = 10  # seconds that a look may take longer when one of two clusters refuses


class Answer(NamedTuple):
    code: int
    items: dict[str, Document]  # by reservation and class
    clusters: dict[str, Document]
    seconds: float


class Story(NamedTuple):
    before: Answer
    open: Answer
    unreached: Answer  # while the API server of `far` is down
    reached: Answer
    overridden: Answer
    broken: Answer
    ordered: str  # what `override` said
    text: str


def _status(desk: Desk) -> Answer:
    began = time.monotonic()
    done = desk.ask("status", "-o", "json")
    seconds = time.monotonic() - began
    assert done.returncode in (0, 1), done.stderr
    answer = json.loads(done.stdout)
    items = {f"{load['reservation']}/{load['class']}": load for load in answer["items"]}
    return Answer(done.returncode, items, {load["name"]: load for load in answer["clusters"]}, seconds)


def _documents(opens: int) -> list[Document]:
    def window(name: str, resource_class: str, count: int, behaviour: str) -> Document:
        made = windows.reservation(name, opens, [entry(opens, 0, 9)], lead=0, seats={resource_class: count})
        made["spec"]["provisioning"]["scaleDownBehavior"] = behaviour
        return made

    small = project.resource_class("small")
    small["spec"]["sessions"] = {"source": "pods", "namespaces": [HUB]}
    real = document("ResourceClass", "real", {"cluster": "real", "requests": {"cpu": "1m"}})
    far = document("ResourceClass", "distant", {"cluster": "far", "requests": {"cpu": "1m"}})
    small["spec"]["cluster"] = "real"
    clusters = [{"name": "real"}, {"name": "far"}]
    taught = window("taught", "small", 8, "maintain")
    taught["spec"]["sessions"] = {"matchLabels": COURSE}  # or those of its class would share its sessions
    return [
        project.site("status", namespace=NAMESPACE, clusters=clusters),
        small,
        real,
        far,
        taught,
        window("broken", "small", 4, "none"),
        window("unpulled", "real", 2, "none"),
        window("distant", "distant", 3, "none"),
    ]


def tell(stage: Stage) -> Story:
    cluster, folder, opens = stage.cluster, stage.folder, stage.opens
    cluster.kwok.create_nodes(1, "status", {"pods": "100", "cpu": "50", "memory": "100Gi"})
    cluster.create_namespace(HUB)
    clusters = stage.apply(_documents(opens), NAMESPACE)
    stage.forget(HUB)
    sleep_until(opens - 4 * MINUTE)  # its start takes what the windows of the faults need
    stage.undo.callback(cluster.far.stop)
    cluster.start_far()
    cluster.far.kubectl("apply", "--recursive", "-f", str(clusters / "far"))
    return _happen(cluster, Desk(cluster, folder, knows_far=True), opens)


def _happen(cluster: Cluster, desk: Desk, opens: int) -> Story:
    there = f"--namespace={NAMESPACE}"
    # A sweep would mend what we break; one that has begun, too.
    suspend_sweep(cluster, NAMESPACE)
    sweeps = "--selector=berth.dev/role=sweep"
    cluster.kubectl("delete", "jobs", sweeps, there, "--cascade=foreground")
    cluster.kubectl("set", "image", "deployment/unpulled-real", f"placeholder={IMAGE}", there)
    for name in ("ada", "grace"):
        cluster.apply(json.dumps(_session(name)))
    sleep_until(opens - MINUTE / 2)  # what other stories prepare is over
    before = _status(desk)
    sleep_until(opens + MINUTE + 15)
    opened = _status(desk)
    with cluster.far.control_plane.apiserver.stopped():
        unreached = _status(desk)
    reached = _status(desk)
    cluster.far.stop()
    ordered = desk.ask("override", "taught", "small=9", "--end", "+1h").stdout
    cluster.kubectl("delete", "cronjob/broken", there)
    # Its Job goes in the background, and may be gone before its pod is, which would scale back what we break.
    served = "--selector=batch.kubernetes.io/job-name,berth.dev/reservation=broken"
    cluster.kubectl("wait", "--for=delete", "pods", served, there, "--timeout=60s")
    cluster.kubectl("scale", "deployment/broken-small", "--replicas=0", there)
    sleep_until(opens + 2 * MINUTE + 30)
    overridden = _status(desk)
    cluster.kubectl("delete", "configmaps", "--selector=berth.dev/role=code", there)
    broken = _status(desk)
    return Story(before, opened, unreached, reached, overridden, broken, ordered, desk.ask("status").stdout)


def _session(name: str) -> dict[str, Any]:
    placement = project.resource_class("small")["spec"]
    container = {"name": "notebook", "image": "registry.k8s.io/pause:3.10.1"}
    spec = {
        "nodeSelector": placement["nodeSelector"],
        "tolerations": placement["tolerations"],
        "containers": [container],
    }
    metadata = {"name": name, "namespace": HUB, "labels": COURSE}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def codes(item: Document) -> list[str]:
    return [one["code"] for one in item["findings"]]


def numbers(item: Document) -> tuple[Any, ...]:
    return tuple(item[key] for key in ("state", "wanted", "ready", "pending", "active"))


def test_a_pool_is_scheduled_and_wants_no_seats_before_it_opens(story: Story) -> None:
    found = story.before.items["taught/small"]

    assert (numbers(found), codes(found)) == (("scheduled", 0, 0, 0, 0), [])


def test_an_open_pool_wants_the_seats_that_its_scaler_set(story: Story) -> None:
    """Eight seats, two of them taken."""
    found = story.open.items["taught/small"]

    assert (numbers(found), codes(found)) == (("active", 6, 6, 0, 2), [])
    assert numbers(story.open.items["broken/small"])[:3] == ("active", 4, 4)


def test_an_unreachable_cluster_does_not_hide_or_delay_other_clusters(story: Story) -> None:
    (finding,) = story.unreached.clusters["far"]["findings"]

    assert story.unreached.code == 1
    assert (finding["code"], finding["message"]) == (
        "S001",
        "the context far does not answer: Connection refused.",
    )
    assert numbers(story.unreached.items["distant/distant"]) == ("unknown", None, None, None, None)
    assert story.unreached.seconds < story.open.seconds + QUICK


def test_windows_of_two_clusters_open_and_stay_while_one_has_no_api_server(story: Story) -> None:
    """As soon as it answers again it is judged like any other."""
    for seen in (story.open, story.reached):
        assert codes(seen.clusters["far"]) == []
        assert numbers(seen.items["distant/distant"]) == ("active", 3, 3, 0, None)
    taught = {numbers(seen.items["taught/small"]) for seen in (story.open, story.unreached, story.reached)}
    assert taught == {("active", 6, 6, 0, 2)}


def test_status_names_the_image_that_cannot_be_pulled(story: Story) -> None:
    found = story.open.items["unpulled/real"]
    told = {item["code"]: item["message"] for item in found["findings"]}

    assert numbers(found)[1:4] == (2, 0, 2)
    assert "S041" in told
    assert IMAGE in told["S041"]


def test_an_open_pool_that_no_pod_serves_is_degraded(story: Story) -> None:
    found = story.broken.items["broken/small"]

    assert numbers(found)[:3] == ("degraded", 4, 0)
    assert codes(found) == ["S022", "S030"]


def test_an_override_is_followed_and_shown(story: Story) -> None:
    found = story.overridden.items["taught/small"]

    assert story.ordered.startswith("real: taught/small gets 9 seats, besides its sessions, until ")
    assert (numbers(found), codes(found)) == (("active", 9, 9, 0, 2), ["S036"])


def test_status_reports_a_suspended_sweep_and_differences_from_git(story: Story) -> None:
    assert codes(story.open.clusters["real"]) == ["S014"]
    assert codes(story.broken.clusters["real"]) == ["S022", "S014"]


def test_the_text_output_shows_the_same_findings(story: Story) -> None:
    """Nobody owns replicas that are zero, so an API server does not tell who has set them."""
    assert "real: error[S030] broken/small: 4 seats missing: 0 of 4 are requested, and no pod" in story.text
    assert "far: error[S001] the context far does not answer: Connection refused." in story.text
