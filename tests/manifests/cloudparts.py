"""Projects with cloud capacity, from as little as a test needs to say."""

from pathlib import Path
from typing import Any

import yaml
from berth.machines.windowbudgets import WindowBudgets
from berth.manifests import karpenter
from berth.output import findinglist
from berth.output.templates import render
from berth.pipeline import Pipeline
from berth.rendering import files
from berth.schema.cloudcapacity import CloudCapacity

from tests.generate import document, write
from tests.saying import read

Object = dict[str, Any]
NODE_CLASS: Object = {
    "role": "KarpenterNodeRole",
    "subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": "prod"}}],
    "securityGroupSelectorTerms": [{"id": "sg-0123456789abcdef0"}],
    "amiSelectorTerms": [{"alias": "al2023@v20260107"}],
}
MACHINES: Object = {"instanceType": "m7i.4xlarge", "zone": "us-west-2a", "count": 2}
KARPENTER: Object = {"version": "1.14", "gates": {"StaticCapacity": True}}


def capacity(name: str = "odcr", **spec: Any) -> Object:
    return document("CloudCapacity", name, {"nodeClass": NODE_CLASS, **spec})


def resource_class(name: str = "bench", **spec: Any) -> Object:
    asked = {"requests": {"cpu": "1"}, "cloudCapacity": ["odcr"]}
    return document("ResourceClass", name, {**asked, **spec})


def mondays(name: str = "course", **spec: Any) -> Object:
    """Two of February, 08:00 to 10:00 in UTC, with half an hour of lead."""
    recurrence = {
        "type": "weekly",
        "startDate": "2026-02-02",
        "endDate": "2026-02-09",
        "schedule": [{"dayOfWeek": 1, "startTime": "08:00", "endTime": "10:00"}],
    }
    provisioning = {"placeholderCount": 4, "scaleDownBehavior": "none"}
    return document(
        "CapacityReservation",
        name,
        {"resourceClass": "bench", "recurrence": recurrence, "provisioning": provisioning, **spec},
    )


def nodes(name: str = "exam", count: int = 3) -> Object:
    return mondays(name, backend={"type": "nodePool"}, provisioning={"nodeCount": count})


def site(**cluster: Any) -> Object:
    one = {"name": "prod", "autoscaler": "karpenter", "karpenter": KARPENTER, **cluster}
    home = {"url": "https://git.example.org/capacity.git", "revision": "main"}
    return document("Site", "uni", {"engine": "argocd", "repository": home, "clusters": [one]})


def texts(folder: Path, *declared: Object) -> dict[str, str]:
    """Every file that is rendered, by path; with a Site, unless one is among what is declared."""
    where = folder / "reservations"
    where.mkdir(parents=True, exist_ok=True)
    for one in (*([] if any(one["kind"] == "Site" for one in declared) else [site()]), *declared):
        write(where, one)
    pipeline = Pipeline(str(folder))
    found = dict(files(pipeline, pipeline.items()))
    assert not pipeline.has_errors(), findinglist.text(pipeline.findings(), color=False)
    return found


def objects(text: str) -> dict[str, Object]:
    """By kind and name."""
    found = yaml.load_all(text, yaml.CSafeLoader)
    return {f"{one['kind']}/{one['metadata']['name']}": one for one in found}


def of_karpenter(found: CloudCapacity) -> dict[str, Object]:
    """Its EC2NodeClass and its NodePool by kind, whatever is wrong with it, as they are rendered."""
    known = read(site()).site
    assert known is not None
    manifests = karpenter.manifests(known, known.clusters[0], found, WindowBudgets((), exactly=True))
    texts = [render(manifest.template, manifest.values) for manifest in manifests]
    made: list[Object] = [yaml.load(text, yaml.CSafeLoader) for text in texts]
    return {one["kind"]: one for one in made}


ON_DEMAND = {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}
