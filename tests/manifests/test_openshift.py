"""Every pod passes the rules of OpenShift's SCC restricted-v2, which a namespace has without a word of
anybody.

The rules are those of the manifest that OpenShift installs: openshift/cluster-kube-apiserver-operator,
bindata/bootkube/scc-manifests/0000_20_kube-apiserver-operator_00_scc-restricted-v2.yaml, commit 05211dd.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.cases import tabled
from tests.manifests.cloudparts import mondays, objects, resource_class, site, texts
from tests.manifests.parts import Object

ALLOWED_CAPABILITIES = {"NET_BIND_SERVICE"}
REQUIRED_DROPS = {"ALL"}
VOLUMES = {"configMap", "downwardAPI", "emptyDir", "persistentVolumeClaim", "projected", "secret"}
NEWER_VOLUMES = {*VOLUMES, "csi", "ephemeral", "image"}  # of the same file in 2025
USERS = range(1_000_680_000, 1_000_690_000)  # as OpenShift annotates a namespace with a range of its own


def scc_refusals(pod: Object, volumes: Iterable[str] = VOLUMES) -> Iterator[str]:
    """Yield what the SCC refuses of a pod's spec, as its admission does: what is not set is assigned."""
    for key in ("hostNetwork", "hostPID", "hostIPC"):
        if pod.get(key):
            yield key
    for volume in pod.get("volumes", []):
        yield from (f"volume {kind}" for kind in volume.keys() - {"name", *volumes})
    context = pod.get("securityContext", {})
    yield from _identity(context)
    if context.get("fsGroup", USERS[0]) not in USERS:
        yield "fsGroup"
    for container in (*pod.get("initContainers", []), *pod["containers"]):
        yield from _container(container)


def _identity(context: Object) -> Iterator[str]:
    if context.get("runAsUser", USERS[0]) not in USERS:
        yield "runAsUser"
    if "seLinuxOptions" in context:
        yield "seLinuxOptions"
    if context.get("seccompProfile", {"type": "RuntimeDefault"}) != {"type": "RuntimeDefault"}:
        yield "seccompProfile"


def _container(container: Object) -> Iterator[str]:
    context = container.get("securityContext", {})
    yield from _identity(context)
    if context.get("privileged"):
        yield "privileged"
    if context.get("allowPrivilegeEscalation"):
        yield "allowPrivilegeEscalation"
    capabilities = context.get("capabilities", {})
    if not set(capabilities.get("add", ())) <= ALLOWED_CAPABILITIES:
        yield "capabilities.add"
    if "drop" in capabilities and not set(capabilities["drop"]) >= REQUIRED_DROPS:
        yield "capabilities.drop"
    if any("hostPort" in port for port in container.get("ports", [])):
        yield "hostPort"


class Pod(NamedTuple):
    name: str
    spec: Object


def pods(folder: Path, **cluster: Any) -> list[Pod]:
    """One of each kind of pod: placeholders with images, of Koordinator and of a buffer, scalers, sweep."""
    gates = {"version": "1.14", "gates": {"CapacityBuffer": True}}
    said = site(karpenter=gates, koordinator={}, **cluster)
    said["spec"]["renku"] = {"url": "https://renku.example.org", "tokenSecret": {"name": "a", "key": "b"}}
    sessions = {"source": "renku", "namespaces": ["renku"]}
    plain: Object = {"cloudCapacity": [], "renkuId": 1, "sessions": sessions, "images": ["example.org/a:1"]}
    slots = {"type": "koordinator", "withPlaceholders": True, "owners": [OWNER]}
    seats = {"placeholderCount": 2, "scaleDownBehavior": "maintain"}
    documents = (
        said,
        resource_class(**plain, imageWarmUp="initContainer"),
        mondays("course", provisioning=seats),
        mondays("buffered", provisioning=seats, backend={"type": "capacityBuffer"}),
        mondays("slots", provisioning=seats, backend=slots),
    )
    return list(_pods(texts(folder, *documents)))


OWNER = {"labelSelector": {"matchLabels": {"course": "ml"}}}


def _pods(files: dict[str, str]) -> Iterator[Pod]:
    for path, text in files.items():
        for name, one in objects(text).items() if path.startswith("clusters/") else ():
            if one["kind"] == "Deployment":
                yield Pod(name, one["spec"]["template"]["spec"])
            elif one["kind"] == "CronJob":
                yield Pod(name, one["spec"]["jobTemplate"]["spec"]["template"]["spec"])
            elif one["kind"] == "PodTemplate":
                yield Pod(name, one["template"]["spec"])


def test_the_project_has_a_pod_of_each_kind(tmp_path: Path) -> None:
    assert [pod.name for pod in pods(tmp_path)] == [
        "PodTemplate/buffered-bench",
        "CronJob/buffered",
        "Deployment/course-bench",
        "CronJob/course",
        "Deployment/slots-bench",
        "CronJob/slots",
        "CronJob/berth-sweep",
    ]


def test_openshift_refuses_a_user_that_it_did_not_assign(tmp_path: Path) -> None:
    for name, spec in pods(tmp_path):
        assert list(scc_refusals(spec)) == ["runAsUser"], name


def test_on_openshift_every_pod_passes_restricted_v2(tmp_path: Path) -> None:
    for name, spec in pods(tmp_path, platform="openshift"):
        context = spec["securityContext"]

        assert list(scc_refusals(spec)) == [], name
        assert context == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}


def test_images_as_volumes_need_a_newer_scc(tmp_path: Path) -> None:
    """The list of volumes of restricted-v2 has `image` since 2025."""
    warm = resource_class(cloudCapacity=[], images=["example.org/a:1"], imageWarmUp="volume")
    items = list(_pods(texts(tmp_path, site(platform="openshift"), warm, mondays("course"))))
    (placeholder,) = (spec for name, spec in items if name.startswith("Deployment"))

    assert list(scc_refusals(placeholder)) == ["volume image"]
    assert list(scc_refusals(placeholder, NEWER_VOLUMES)) == []


@tabled("manifests")
def test_the_scc_check_refuses_forbidden_settings(change: Object, refused: str) -> None:
    assert list(scc_refusals({"containers": [{}], **change})) == [refused]
