"""`CloudCapacity`: what of a cloud may be used, what is paid for already, and what it costs."""

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal

from berth.findings import Origin, Path
from berth.schema import cloudgrammar
from berth.schema.basemodel import ListOf, Model, NonEmpty, NonEmptyUnique, Switch, Text, Whole, field
from berth.schema.cloudgrammar import GENERIC
from berth.schema.cloudmachines import (
    InstanceTypeSpec,
    MachineReservation,
    NodeShapeSpec,
    VolumeCount,
)
from berth.schema.documentproblems import CONFLICT, RANGE, DocumentProblems
from berth.schema.metadata import KindDocument
from berth.schema.nodeclass import MOST_TERMS, NodeClass
from berth.schema.nodepoolparts import (
    Disruption,
    Lifetime,
    Limits,
    NodeLabels,
    NodeTaint,
    Requirements,
    Span,
)
from berth.schema.pod import check_least
from berth.schema.types import Amount, DnsLabel

DaemonRequests = dict[Annotated[str, Text("resource", cloudgrammar.daemon_resource)], Amount]
Minutes = Annotated[int, Whole(0, 240)]
CapacityType = Literal["reserved", "on-demand", "spot"]


def terms(reservations: Iterable[MachineReservation]) -> list[dict[str, Any]]:
    """Return what selects them, each term once, in their order: several entries may be machines of one."""
    unique: list[dict[str, Any]] = []
    for reservation in reservations:
        term = {"id": reservation.id} if reservation.id else {"tags": reservation.tags}
        if term not in unique:
            unique.append(term)
    return unique


class CloudSpec(Model):
    cluster: DnsLabel | None = field(None, "where it is", "the only cluster")
    provider: Literal["aws", "generic"] = field("aws", "aws; the keys of generic are below")
    node_class: NodeClass = field(meaning="spec of the EC2NodeClass, as it is")
    reservations: ListOf[MachineReservation] = field((), "machines that are paid for already", "none")
    capacity_types: NonEmptyUnique[CapacityType] | None = field(
        None,
        "reserved, on-demand, spot: what may be used, as wished",
        "`[on-demand]`; with reservations `[reserved, on-demand]`",
    )
    requirements: Requirements = field((), "of the NodePools, as in Karpenter", "none")
    weight: Annotated[int, Whole(1, 100)] | None = field(
        None, "of the NodePools: the highest is tried first", "none: 0"
    )
    limits: Limits = field({}, "the most that Karpenter may buy, by resource; nodes counts them", "none")
    taints: ListOf[NodeTaint] = field((), "of the nodes", "none")
    startup_taints: ListOf[NodeTaint] = field((), "of the nodes until something removes them", "none")
    labels: NodeLabels = field({}, "of the nodes", "none")
    expire_after: Lifetime | None = field(None, "when a node is replaced at the latest, or Never", "`720h`")
    termination_grace_period: Span | None = field(None, "how long a node may drain", "as long as it takes")
    disruption: Disruption = field(
        Disruption.model_construct(), "when Karpenter may take nodes away", "see docs/karpenter.md"
    )
    daemon_requests: DaemonRequests = field(
        {}, "what DaemonSets ask for on each node, and `pods` of theirs; only `berth plan` reads it", "none"
    )
    volumes_per_node: VolumeCount | None = field(
        None,
        "most volumes of sessions on a node, for `volumes` of a ResourceClass: `kubectl get csinode -o yaml` "
        "shows it; only `berth plan` and `berth size` read it",
        "not counted",
    )
    node_start_minutes: Minutes = field(2, "from the launch of an instance until its node is Ready")
    image_pull_minutes: Minutes = field(0, "to pull the images of its sessions on a new node")
    instance_types: ListOf[InstanceTypeSpec] = field(
        (), "what the cloud sells, where the table that comes with Berth differs"
    )

    @property
    def startup_seconds(self) -> int:
        """Return how long a node takes until seats on it are ready, from when it is asked for."""
        return 60 * (self.node_start_minutes + self.image_pull_minutes)

    def check(self, path: Path, report: DocumentProblems) -> None:
        check_least(self.limits, (*path, "limits"), report)
        check_least(self.daemon_requests, (*path, "daemonRequests"), report)
        self._check_terms(path, report)
        self._check_taints(path, report)

    def _check_terms(self, path: Path, report: DocumentProblems) -> None:
        """Check that no more terms select the reservations than an EC2NodeClass takes."""
        own = self.node_class.capacity_terms
        many = len(own) + sum(term not in own for term in terms(self.reservations))
        if many > MOST_TERMS:
            fix = f"Write at most {MOST_TERMS}: tags select several at once."
            report(RANGE, (*path, "reservations"), f"it takes {many} terms to select these.", fix)

    def _check_taints(self, path: Path, report: DocumentProblems) -> None:
        """Report duplicate taints in both lists together: such a NodePool is never ready."""
        known: dict[tuple[str, str], str] = {}
        for name, taints in (("taints", self.taints), ("startupTaints", self.startup_taints)):
            for i, taint in enumerate(taints):
                where = known.setdefault((taint.key, taint.effect), f"{name}[{i}]")
                if where != f"{name}[{i}]":
                    both = f"key {taint.key} and effect {taint.effect}"
                    message = f"duplicate taint: {where} has {both} too, and such a NodePool is never ready."
                    report(CONFLICT, (*path, name, i), message, "Remove one of the two.")


class GenericSpec(Model):
    provider: Literal["generic"] = field(meaning="any cloud, or machines of your own; nothing is rendered")
    cluster: DnsLabel | None = field(None, "where it is", "the only cluster")
    nodes: NonEmpty[NodeShapeSpec] = field(meaning="the shapes of its nodes, the preferred first")
    node_start_minutes: Minutes = field(meaning="from a Pending pod until its new node is Ready: measure")
    image_pull_minutes: Minutes = field(0, "to pull the images of its sessions on a new node")
    daemon_requests: DaemonRequests = field(
        {}, "what DaemonSets ask for on each node, and `pods` of theirs", "none"
    )

    def check(self, path: Path, report: DocumentProblems) -> None:
        check_least(self.daemon_requests, (*path, "daemonRequests"), report)
        known: set[str] = set()
        for i, shape in enumerate(self.nodes):
            if shape.name in known:
                report(CONFLICT, (*path, "nodes", i, "name"), f"duplicate name {shape.name}.", "Rename it.")
            known.add(shape.name)


class CloudCapacity(CloudSpec):
    """What may be used of a cloud, as it is declared: one EC2NodeClass and the NodePools on it."""

    origin: Origin
    name: str
    cluster: str  # empty: the only one
    capacity_types: tuple[CapacityType, ...]
    own_labels: dict[str, str] = field({})  # of the objects themselves, not of nodes
    own_annotations: dict[str, str] = field({})

    @property
    def capacity_terms(self) -> list[dict[str, Any]]:
        """Return what selects its capacity reservations, each term once."""
        own = self.node_class.capacity_terms
        return own + [term for term in terms(self.reservations) if term not in own]

    @property
    def usable(self) -> tuple[tuple[int, int], ...]:
        """Return when its reserved machines may be used, each span once, by time."""
        return tuple(sorted({span for machines in self.reservations if (span := machines.usable)}))

    @property
    def expiry(self) -> str:
        """Return a span, or Never; by default Karpenter's default."""
        return self.expire_after or "720h"

    @property
    def empty_after(self) -> str:
        """Return a span, or Never; the CRD requires it, so the default is rendered too."""
        return self.disruption.consolidate_after or "0s"

    @property
    def says_volumes(self) -> bool:
        """Tell whether it says how many volumes of sessions a node takes."""
        return self.volumes_per_node is not None

    @property
    def operating_system(self) -> str:
        """Return the operating system of its AMI family, as Kubernetes names it."""
        return "windows" if self.node_class.family.lower().startswith("windows") else "linux"


class GenericCapacity(GenericSpec):
    """The nodes that a cluster has or may add, whatever adds them. Nothing is rendered for it."""

    origin: Origin
    name: str
    cluster: str  # empty: the only one

    @property
    def startup_seconds(self) -> int:
        return 60 * (self.node_start_minutes + self.image_pull_minutes)

    @property
    def says_volumes(self) -> bool:
        return all(shape.volumes is not None for shape in self.nodes)


def _provider(value: Any) -> int:
    """Return the position of the model that a spec is held to."""
    return int(isinstance(value, dict) and value.get("provider") == GENERIC)


class CloudDocument(KindDocument):
    kind_of: ClassVar = "CloudCapacity"
    kind: Literal["CloudCapacity"]
    spec: Annotated[CloudSpec | GenericSpec, Switch(_provider)]

    @property
    def renders_metadata(self) -> bool:
        return not isinstance(self.spec, GenericSpec)

    def declared(self, origin: Origin) -> CloudCapacity | GenericCapacity:
        metadata, spec = self.metadata, self.spec
        own = {"origin": origin, "name": metadata.name, "cluster": spec.cluster or ""}
        if isinstance(spec, GenericSpec):
            return GenericCapacity.model_construct(**dict(spec) | own)
        is_reserved = spec.reservations or spec.node_class.capacity_terms
        default = (("reserved",) if is_reserved else ()) + ("on-demand",)
        own["capacity_types"] = spec.capacity_types or default
        metadata_of_objects = {
            "own_labels": dict(metadata.label_pairs),
            "own_annotations": dict(metadata.annotation_pairs),
        }
        return CloudCapacity.model_construct(**dict(spec) | own | metadata_of_objects)
