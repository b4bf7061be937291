"""Devices by dynamic resource allocation: the real kube-scheduler allocates those of placeholders and sessions.

Nodes pretend, and their ResourceSlices are written by hand, as a driver would: `counted` has two devices for
three seats, `kept` one for a seat that stays until the end, `named` two models, of which a template of the
team selects one. Sessions have claims of their own, and a higher priority than placeholders.
"""

import json
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from tests.e2e import project
from tests.e2e.cluster import Cluster
from tests.e2e.desk import Desk
from tests.e2e.images import PAUSE
from tests.e2e.kwok import TOLERATION
from tests.e2e.project import Document, document
from tests.e2e.sidebyside import Stage, Stories
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
SEATS = {"counted": 3, "kept": 1, "named": 1, "missing": 1}
LENGTH = 4  # minutes
REST = 20  # seconds in which a scheduler that preempts would have done it
HANDED_OVER = 10  # seconds from a session's arrival until it has the device of a placeholder


class Pods(NamedTuple):
    """What a moment looked like: pods by name, with their device and what the scheduler says of them."""

    devices: dict[str, str | None]
    uids: frozenset[str]
    messages: dict[str, str]


class Story(NamedTuple):
    templates: list[str]
    opened: Pods  # placeholders
    first: tuple[Pods, Pods]  # sessions and placeholders, when one session has come and waited
    second: tuple[Pods, Pods]  # when another has come
    seconds: float  # from then until a session has a device
    status: dict[str, Any]
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
    project.write(folder, [site, *map(_resource_class, DEVICES), *reservations])
    project.berth(folder, "render")
    cluster.create_namespace(SESSIONS)
    cluster.apply(json.dumps(_template("device", SESSIONS)))
    cluster.apply(folder / "rendered" / "clusters" / "real")
    stage.undo.callback(cluster.kubectl, "delete", "namespace", NAMESPACE, SESSIONS, "--wait=false")
    cluster.wait_for_namespace(NAMESPACE)
    suspend_sweep(cluster, NAMESPACE)
    cluster.apply(json.dumps(_template(TEMPLATE, NAMESPACE, 'device.attributes["%s"].model == "b"' % DRIVER)))
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
        pod
        for pod in cluster.find("pods", namespace, selector)
        if "deletionTimestamp" not in pod["metadata"]
    ]
    return Pods(
        {pod["metadata"]["name"]: devices.get(pod["metadata"]["uid"]) for pod in found},
        frozenset(pod["metadata"]["uid"] for pod in found),
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


def _happen(cluster: Cluster, folder: Any, opens: int) -> Story:
    sleep_until(opens)
    expected = ["counted-0", "counted-1", "kept-0", "named-1"]
    wait_until(
        lambda: (pods := _placeholders(cluster)) and held(pods) == expected and len(pods.uids) == 6,
        opens + OPENING,
    )
    time.sleep(2)  # until the scheduler has said why the rest waits
    opened = _placeholders(cluster)
    status = json.loads(Desk(cluster, folder).ask("status", "-o", "json").stdout)
    for pool in ("counted", "kept"):
        _session(cluster, pool, f"{pool}-1")
    time.sleep(REST)
    first = _sessions(cluster), _placeholders(cluster)
    came = time.time()
    _session(cluster, "counted", "counted-2")
    wait_until(lambda: bool(held(_sessions(cluster))), came + REST)
    seconds = time.time() - came
    second = _sessions(cluster), _placeholders(cluster)
    templates = [one["metadata"]["name"] for one in cluster.find("resourceclaimtemplates", NAMESPACE)]
    sleep_until(opens + LENGTH * MINUTE + GRACE)
    left = _placeholders(cluster)
    claims = len(cluster.find("resourceclaims", NAMESPACE))
    return Story(templates, opened, first, second, seconds, status, left, claims)


@pytest.fixture(scope="module")
def story(side_by_side: Stories) -> Iterator[Story]:
    with side_by_side.judged(__name__) as told:
        yield told


def test_debug(story: Story) -> None:
    print(json.dumps(story, indent=1, default=str))
    raise SystemExit
