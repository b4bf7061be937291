"""Dynamic resource allocation: the real kube-scheduler allocates devices to placeholders and sessions.

Nodes pretend, and their ResourceSlices are written by hand, as a driver would: `counted` has two devices for
three seats, `kept` one for two seats, `named` two models, of which a template of the
team selects one; `missing` names a template that nobody has made. Sessions have claims of their own, and a
higher priority than placeholders.
"""

import json
import time
from pathlib import Path
from typing import Any, NamedTuple

from tests.e2e import project
from tests.e2e.cluster import Cluster
from tests.e2e.desk import Desk
from tests.e2e.images import PAUSE
from tests.e2e.kwok import TOLERATION
from tests.e2e.project import Document, document
from tests.e2e.sidebyside import Stage
from tests.e2e.windows import (
    GRACE,
    MINUTE,
    OPENING,
    entry,
    reservation,
    sleep_until,
    suspend_sweep,
    wait_until,
)

NAMESPACE, SITE, SESSIONS = "berth-devices", "devices", "devices-sessions"
DRIVER = DEVICE_CLASS = "devices.e2e.berth.dev"
TEMPLATE, ABSENT = "model-b", "nobody-made-it"
DEVICES = {"counted": ("a", "a"), "kept": ("a",), "named": ("a", "b"), "missing": ("a",)}  # models by pool
SEATS = {"counted": 3, "kept": 2, "named": 1, "missing": 1}
LENGTH = 4  # minutes
HANDED_OVER = 10  # seconds from a session's arrival until it has the device of a placeholder


class Pods(NamedTuple):
    """What a moment looked like: pods by name, with their device and what the scheduler says of them."""

    devices: dict[str, str | None]
    messages: dict[str, str]


class Story(NamedTuple):
    templates: list[str]
    opened: Pods  # placeholders
    shared: tuple[Pods, Pods]  # sessions and placeholders of `counted`, when two sessions have come
    seconds: float  # from then until a session has a device
    preflight: dict[str, Any]
    status: dict[str, Any]  # two minutes after the opening
    left: Pods  # placeholders after the end
    claims: int  # in the namespace then


def tell(stage: Stage) -> Story:
    cluster, folder, opens = stage.cluster, stage.folder, stage.opens
    _provide_devices(cluster)
    stage.undo.callback(cluster.kubectl, "delete", "deviceclass", DEVICE_CLASS, "--wait=false")
    reservations = [
        reservation(
            name,
            opens,
            [entry(opens, 0, LENGTH)],
            lead=0,
            seats={name: count},
            behaviour="maintain" if name == "counted" else "none",
        )
        for name, count in SEATS.items()
    ]
    site = project.site(SITE, namespace=NAMESPACE, clusters=[{"name": "real", "kubernetes": "1.36"}])
    cluster.create_namespace(SESSIONS)
    cluster.apply(json.dumps(_template("device", SESSIONS)))
    stage.apply([site, *map(_resource_class, DEVICES), *reservations], NAMESPACE)
    stage.forget(SESSIONS)
    cluster.wait_for_namespace(NAMESPACE)
    suspend_sweep(cluster, NAMESPACE)
    expression = f'device.attributes["{DRIVER}"].model == "b"'
    cluster.apply(json.dumps(_template(TEMPLATE, NAMESPACE, expression)))
    return _happen(cluster, folder, opens)


def _provide_devices(cluster: Cluster) -> None:
    """As an administrator and a driver do: a DeviceClass, and the devices of each node."""
    spec = {"selectors": [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]}
    cluster.apply(json.dumps(_object("DeviceClass", DEVICE_CLASS, spec)))
    for pool, models in DEVICES.items():
        (node,) = cluster.kwok.create_nodes(1, f"devices-{pool}", labels={"pool": pool})
        devices = [
            {"name": f"{pool}-{number}", "attributes": {"model": {"string": model}}}
            for number, model in enumerate(models)
        ]
        counted = {"name": node, "generation": 1, "resourceSliceCount": 1}
        slice_spec = {"driver": DRIVER, "nodeName": node, "pool": counted, "devices": devices}
        cluster.apply(json.dumps(_object("ResourceSlice", node, slice_spec)))


def _object(kind: str, name: str, spec: Document, namespace: str = "") -> Document:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": metadata, "spec": spec}


def _template(name: str, namespace: str, expression: str = "") -> Document:
    selectors = [{"cel": {"expression": expression}}] if expression else []
    request = {"name": "device", "exactly": {"deviceClassName": DEVICE_CLASS, "selectors": selectors}}
    return _object("ResourceClaimTemplate", name, {"spec": {"devices": {"requests": [request]}}}, namespace)


def _placement(pool: str) -> Document:
    return {"nodeSelector": {"pool": pool}, "tolerations": [TOLERATION]}


def _resource_class(pool: str) -> Document:
    template = {"named": TEMPLATE, "missing": ABSENT}.get(pool)
    what = {"resourceClaimTemplateName": template} if template else {"deviceClassName": DEVICE_CLASS}
    sessions = {"source": "pods", "namespaces": [SESSIONS], "selector": {"matchLabels": {"pool": pool}}}
    spec = {"requests": {"cpu": "100m", "memory": "64Mi"}, "sessions": sessions}
    claims = {"resourceClaims": [{"name": "device", **what}]}
    return document("ResourceClass", pool, {**spec, **claims, **_placement(pool)})


def _session(cluster: Cluster, pool: str, name: str) -> None:
    container = {"name": "session", "image": PAUSE, "resources": {"claims": [{"name": "device"}]}}
    claims = [{"name": "device", "resourceClaimTemplateName": "device"}]
    spec = {**_placement(pool), "containers": [container], "resourceClaims": claims}
    metadata = {"name": name, "namespace": SESSIONS, "labels": {"pool": pool}}
    cluster.apply(json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}))


def _pods(cluster: Cluster, namespace: str, selector: str) -> Pods:
    """Those that are not being deleted."""
    claims = cluster.find("resourceclaims", namespace)
    devices = {
        consumer["uid"]: claim["status"]["allocation"]["devices"]["results"][0]["device"]
        for claim in claims
        for consumer in claim.get("status", {}).get("reservedFor", ())
    }
    found = [
        pod for pod in cluster.find("pods", namespace, selector) if "deletionTimestamp" not in pod["metadata"]
    ]
    return Pods(
        {pod["metadata"]["name"]: devices.get(pod["metadata"]["uid"]) for pod in found},
        {
            pod["metadata"]["name"]: condition.get("message", "")
            for pod in found
            for condition in pod["status"].get("conditions", ())
            if condition["type"] == "PodScheduled"
        },
    )


def _placeholders(cluster: Cluster) -> Pods:
    return _pods(cluster, NAMESPACE, "berth.dev/resource-class")


def _sessions(cluster: Cluster) -> Pods:
    return _pods(cluster, SESSIONS, "pool")


def held(pods: Pods) -> list[str]:
    return sorted(device for device in pods.devices.values() if device)


def _happen(cluster: Cluster, folder: Path, opens: int) -> Story:
    sleep_until(opens)
    expected, all_seats = ["counted-0", "counted-1", "kept-0", "named-1"], sum(SEATS.values())
    wait_until(
        lambda: held(_placeholders(cluster)) == expected and len(_placeholders(cluster).devices) == all_seats,
        opens + OPENING,
    )
    time.sleep(2)  # until the scheduler has said why the rest waits
    opened = _placeholders(cluster)
    came = time.time()
    for name in ("counted-1", "counted-2"):
        _session(cluster, "counted", name)
    wait_until(lambda: bool(held(_sessions(cluster))), came + 2 * HANDED_OVER)
    seconds = time.time() - came
    shared = _sessions(cluster), _placeholders(cluster)
    templates = [one["metadata"]["name"] for one in cluster.find("resourceclaimtemplates", NAMESPACE)]
    desk = Desk(cluster, folder)
    preflight = json.loads(desk.ask("preflight", "missing", "-o", "json").stdout)
    sleep_until(opens + 2 * MINUTE)
    status = json.loads(desk.ask("status", "-o", "json").stdout)
    sleep_until(opens + LENGTH * MINUTE + GRACE)
    left = _placeholders(cluster)
    claims = len(cluster.find("resourceclaims", NAMESPACE))
    return Story(templates, opened, shared, seconds, preflight, status, left, claims)


def of(pool: str, pods: Pods) -> dict[str, str | None]:
    return {name: device for name, device in pods.devices.items() if name.startswith(f"{pool}-")}


def test_devices_of_placeholders_are_allocated_by_count_and_by_template(story: Story) -> None:
    assert held(story.opened) == ["counted-0", "counted-1", "kept-0", "named-1"]
    assert story.templates == [f"berth-1.{DEVICE_CLASS}", TEMPLATE]


def test_a_session_gets_the_device_of_a_placeholder_that_is_removed(story: Story) -> None:
    """The first that goes is the one that waits for a device."""
    sessions, placeholders = story.shared
    devices = [*of("counted", sessions).values(), *of("counted", placeholders).values()]

    assert story.seconds < HANDED_OVER
    assert len(of("counted", placeholders)) == 1
    assert sorted(filter(None, devices)) == ["counted-0", "counted-1"]


def test_status_reports_a_missing_device(story: Story) -> None:
    (kept,) = (item for item in story.status["items"] if item["reservation"] == "kept")

    assert (kept["ready"], kept["pending"]) == (1, 1)
    assert [found["code"] for found in kept["findings"]] == ["S040"]
    assert "cannot allocate all claims" in kept["findings"][0]["message"]


def test_preflight_reports_a_missing_template_before_seats_wait_for_it(story: Story) -> None:
    checks = story.preflight["items"]
    told = [(found["code"], found["message"]) for check in checks for found in check["findings"]]

    assert of("missing", story.opened) == dict.fromkeys(of("missing", story.opened))
    assert story.opened.messages.keys().isdisjoint(of("missing", story.opened))
    assert [code for code, _ in told] == ["S020"]
    assert ABSENT in told[0][1]


def test_no_devices_or_claims_are_left_after_the_end(story: Story) -> None:
    assert story.left.devices == {}
    assert story.claims == 0
