"""`CloudCapacity`: what of a cloud may be used, what is paid for already, and what it costs."""

from typing import Any

from gen.cloud import CloudCapacity
from gen.finding import Path
from gen.kind import grammar
from gen.kind.cloudmachines import INSTANCE_TYPES, RESERVATIONS
from gen.kind.different import Different
from gen.kind.metadata import IGNORE, Document
from gen.kind.nodeclass import NODE_CLASS
from gen.kind.nodepool import DISRUPTION, EXPIRY, GRACE, LIMITS, NODE_LABELS, REQUIREMENTS, TAINT
from gen.kind.resources import AMOUNT
from gen.kind.shape import CONFLICT, INVALID, Field, Fields, ListOf, Made, MapOf, Report
from gen.kind.value import OneOf, Text, Whole
from gen.model import Origin

CAPACITY_TYPES = ("reserved", "on-demand", "spot")


def _daemon_resource(text: str) -> str:
    return text if text == "pods" else grammar.resource_name(text)


def _taints(made: Made, path: Path, report: Report) -> None:
    """Each key and effect once, in both lists together: else the NodePool is never ready."""
    known: dict[tuple[str, str], str] = {}
    for name in ("taints", "startupTaints"):
        for i, one in enumerate(made[name] if isinstance(made[name], tuple) else ()):
            if one is INVALID:
                continue
            where = known.setdefault((one["key"], one["effect"]), f"{name}[{i}]")
            if where != f"{name}[{i}]":
                both = f"key {one['key']} and effect {one['effect']}"
                message = f"{where} has {both} too: such a NodePool is never ready."
                report(CONFLICT, (*path, name, i), message, "Remove one of the two.")


SPEC = Fields(
    {
        "cluster": Field(Text("DNS label", grammar.dns_label), None, "where it is", "the only cluster"),
        "provider": Field(OneOf(("aws",)), "aws", "the cloud"),
        "nodeClass": Field(NODE_CLASS, meaning="spec of the EC2NodeClass, but for its reservations"),
        "reservations": Field(RESERVATIONS, (), "machines that are paid for already", "none"),
        "capacityTypes": Field(
            Different(OneOf(CAPACITY_TYPES), 1),
            None,
            "reserved, on-demand, spot: what may be used, as wished",
            "`[on-demand]`; with reservations `[reserved, on-demand]`",
        ),
        "requirements": Field(REQUIREMENTS, (), "of the NodePools, as in Karpenter", "none"),
        "weight": Field(Whole(1, 100), None, "of the NodePools: the highest is tried first", "none: 0"),
        "limits": Field(
            LIMITS, (), "the most that Karpenter may buy, by resource; nodes counts them", "none"
        ),
        "taints": Field(ListOf(TAINT), (), "of the nodes", "none"),
        "startupTaints": Field(ListOf(TAINT), (), "of the nodes until something removes them", "none"),
        "labels": Field(NODE_LABELS, (), "of the nodes", "none"),
        "expireAfter": Field(EXPIRY, None, "when a node is replaced at the latest, or Never", "`720h`"),
        "terminationGracePeriod": Field(GRACE, None, "how long a node may drain", "as long as it takes"),
        "disruption": Field(DISRUPTION, {}, "when Karpenter may take nodes away", "see docs/karpenter.md"),
        "daemonRequests": Field(
            MapOf(_daemon_resource, AMOUNT),
            (),
            "what DaemonSets ask for on each node, and `pods` of theirs; only `berth plan` reads it",
            "none",
        ),
        "instanceTypes": Field(
            INSTANCE_TYPES, (), "what the cloud sells, where the table that comes with Berth differs"
        ),
    },
    agree=_taints,
)


def _build(made: dict[str, Any], origin: Origin) -> CloudCapacity:
    metadata, spec = made["metadata"], made["spec"]
    return CloudCapacity(
        origin=origin,
        name=metadata["name"],
        cluster=spec["cluster"] or "",
        provider=spec["provider"],
        node_class=spec["nodeClass"],
        reservations=spec["reservations"],
        capacity_types=spec["capacityTypes"]
        or (("reserved",) if spec["reservations"] else ()) + ("on-demand",),
        requirements=spec["requirements"],
        weight=spec["weight"],
        limits=spec["limits"],
        taints=spec["taints"],
        startup_taints=spec["startupTaints"],
        labels=spec["labels"],
        expire_after=spec["expireAfter"],
        termination_grace=spec["terminationGracePeriod"],
        disruption=spec["disruption"],
        instance_types=spec["instanceTypes"],
        daemon_requests=spec["daemonRequests"],
        own_labels=metadata["labels"],
        own_annotations=tuple(pair for pair in metadata["annotations"] if pair[0] != IGNORE),
    )


DOCUMENT = Document("CloudCapacity", SPEC, _build)
