"""One declaration, read twice: as Karpenter gets it, and as the question that a plan is asked with.

Instance types are told once, in the form of the file that Karpenter's pretending provider reads.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from berth.machines.estimate import APART, NodePool, PreferredTerm, Seats
from berth.machines.instancetypes import ONE, InstanceType, Offering, ResourceList, parse_resources
from berth.machines.nodelabels import (
    ARCH,
    CAPACITY_TYPE,
    HOSTNAME,
    ON_DEMAND,
    OS,
    SPOT,
    WELL_KNOWN,
    ZONE,
    Labels,
    Requirement,
    Taint,
    Toleration,
    requirement,
)

from tests.e2e.project import Document

ZONES = ("us-east-1a", "us-east-1b", "us-east-1c")
_OVERHEAD = parse_resources({"cpu": "100m", "memory": "10Mi"})  # of each type, by the provider
_OWN = "karpenter.kwok.sh/instance-"
_LABELS = tuple(_OWN + name for name in ("size", "family", "cpu", "memory"))
KNOWN = WELL_KNOWN | set(_LABELS)
CPU = f"{_OWN}cpu"


def instance_type(
    name: str, price: float, resources: Mapping[str, str], architecture: str = "amd64"
) -> Document:
    """Dearer from zone to zone, so that there is always one cheapest offering; as spot for a third of it."""
    offerings = [
        {
            "Price": round(price * (1 + place / 100) * share, 6),
            "Available": True,
            "Requirements": [
                {"key": CAPACITY_TYPE, "operator": "In", "values": [capacity_type]},
                {"key": ZONE, "operator": "In", "values": [zone]},
            ],
        }
        for capacity_type, share in ((ON_DEMAND, 1.0), (SPOT, 0.3))
        for place, zone in enumerate(ZONES)
    ]
    return {
        "name": name,
        "offerings": offerings,
        "architecture": architecture,
        "operatingSystems": ["linux"],
        "resources": dict(resources),
    }


TYPES = (
    instance_type("m5.large", 0.096, {"cpu": "2", "memory": "8Gi", "pods": "29"}),
    instance_type("m5.xlarge", 0.192, {"cpu": "4", "memory": "16Gi", "pods": "58"}),
    instance_type("m5.2xlarge", 0.384, {"cpu": "8", "memory": "32Gi", "pods": "58"}),
    instance_type("m5.4xlarge", 0.768, {"cpu": "16", "memory": "64Gi", "pods": "234"}),
    instance_type("r5.large", 0.126, {"cpu": "2", "memory": "16Gi", "pods": "29"}),
    instance_type("r5.2xlarge", 0.504, {"cpu": "8", "memory": "64Gi", "pods": "58"}),
    instance_type("g5.xlarge", 1.006, {"cpu": "4", "memory": "16Gi", "pods": "58", "nvidia.com/gpu": "1"}),
    instance_type(
        "g5.12xlarge", 5.672, {"cpu": "48", "memory": "192Gi", "pods": "234", "nvidia.com/gpu": "4"}
    ),
    instance_type("c7g.xlarge", 0.145, {"cpu": "4", "memory": "8Gi", "pods": "58"}, "arm64"),
)


def write_types(folder: Path) -> Path:
    file = folder / "instance-types.json"
    file.write_text(json.dumps(TYPES))
    return file


def planned_types() -> tuple[InstanceType, ...]:
    return tuple(map(_type, TYPES))


def _type(told: Document) -> InstanceType:
    resources, (family, _, size) = told["resources"], told["name"].partition(".")
    values = (size, family, resources["cpu"], resources["memory"])
    own = [requirement(key, "In", (value,)) for key, value in zip(_LABELS, values, strict=True)]
    own += [requirement(ARCH, "In", (told["architecture"],)), requirement(OS, "In", told["operatingSystems"])]
    return InstanceType(
        told["name"],
        parse_resources(resources),
        tuple(map(_offering, told["offerings"])),
        _OVERHEAD,
        tuple(own),
    )


def _offering(told: Document) -> Offering:
    (capacity_type,), (zone,) = (one["values"] for one in told["Requirements"])
    return Offering(capacity_type, zone, told["Price"])


def planned_pool(manifest: Document) -> NodePool:
    spec, template = manifest["spec"], manifest["spec"]["template"]
    return NodePool(
        manifest["metadata"]["name"],
        _requirements(template["spec"]["requirements"]),
        _labels(template["metadata"]["labels"]),
        tuple(Taint(one["key"], one["value"], one["effect"]) for one in template["spec"]["taints"]),
        weight=spec.get("weight", 0),
        limits=parse_resources(spec.get("limits", {})),
        types=planned_types(),
    )


def planned_seats(name: str, template: Document, count: int) -> Seats:
    """Of the template of a Deployment."""
    spec, affinity = template["spec"], template["spec"].get("affinity", {})
    nodes = affinity.get("nodeAffinity", {})
    own = ((APART + name, ONE),) if "podAntiAffinity" in affinity else ()
    return Seats(
        name,
        (*_requests(spec), *own),
        count,
        _labels(spec.get("nodeSelector", {})),
        _terms(nodes.get("requiredDuringSchedulingIgnoredDuringExecution", {})),
        tuple(
            PreferredTerm(one["weight"], _requirements(one["preference"]["matchExpressions"]))
            for one in nodes.get("preferredDuringSchedulingIgnoredDuringExecution", ())
        ),
        _tolerations(spec),
    )


def _requests(spec: Document) -> ResourceList:
    (container,) = spec["containers"]
    return parse_resources(container["resources"]["requests"])


def _labels(told: Mapping[str, str]) -> Labels:
    return tuple(sorted(told.items()))


def _requirements(told: Iterable[Mapping[str, Any]]) -> tuple[Requirement, ...]:
    return tuple(requirement(one["key"], one["operator"], one.get("values", ())) for one in told)


def _terms(told: Mapping[str, Any]) -> tuple[tuple[Requirement, ...], ...]:
    return tuple(_requirements(one["matchExpressions"]) for one in told.get("nodeSelectorTerms", ()))


def _tolerations(spec: Document) -> tuple[Toleration, ...]:
    return tuple(
        Toleration(
            one.get("key", ""), one.get("operator", "Equal"), one.get("value", ""), one.get("effect", "")
        )
        for one in spec.get("tolerations", ())
    )


def one_of(key: str, *values: str, operator: str = "In") -> Document:
    """A requirement, as NodePools and pods write it."""
    return {"key": key, "operator": operator, "values": list(values)}


def apart(labels: Mapping[str, str]) -> Document:
    """Affinity that keeps such pods on nodes of their own."""
    term = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": dict(labels)}}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def required(*terms: Sequence[Document]) -> Document:
    """Affinity for nodes: one of the terms must hold."""
    told = {"nodeSelectorTerms": [{"matchExpressions": list(term)} for term in terms]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": told}}


def preferred(*expressions: Document) -> Document:
    told = [{"weight": 1, "preference": {"matchExpressions": list(expressions)}}]
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": told}}
