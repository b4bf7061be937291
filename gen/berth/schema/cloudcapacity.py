"""`CloudCapacity`: what of a cloud may be used, what is paid for already, and what it costs."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from berth.findings import Origin
from berth.quantity import parse
from berth.schema import cloudgrammar
from berth.schema.basemodel import ListOf, Model, NonEmpty, NonEmptyUnique, Switch, Text, Whole, field
from berth.schema.cloudgrammar import BLOCK, DEFAULT, GENERIC, architecture_of
from berth.schema.documentproblems import DocumentProblems
from berth.schema.metadata import KindDocument
from berth.schema.nodeclass import MOST_TERMS, NodeClass, Tags, refuse_beside
from berth.schema.nodepoolparts import Disruption, Lifetime, Limits, NodeLabels, NodeTaint, Requirements, Span
from berth.schema.pod import check_amounts, check_least
from berth.schema.types import Amount, DnsLabel, Labels, LabelValue, NodeCount, Price, Resources

Utc = Annotated[int, Text("instant in UTC", cloudgrammar.instant)]
TypeName = Annotated[str, Text("instance type", cloudgrammar.instance_type)]
Zone = Annotated[str, Text("zone", cloudgrammar.zone)]
NodeResources = dict[Annotated[str, Text("resource", cloudgrammar.node_resource)], Amount]
VolumeCount = Annotated[int, Whole(1, 1000)]
_DRAINED = 40 * 60  # seconds before its end that Karpenter has emptied a block


class MachineReservation(Model):
    """Instances that are paid for already."""

    id: Annotated[str, Text("id", cloudgrammar.reservation_id)] | None = field(
        None, "its id, alone", "none: then tags"
    )
    tags: Tags | None = field(None, "tags that it has, all of them; `*` is any value", "none")
    instance_type: TypeName = field(meaning="type of its machines")
    zone: Zone = field(meaning="where they are")
    count: Annotated[int, Whole(1, 100_000)] = field(meaning="how many machines")
    type: Literal["default", "capacity-block"] = field(DEFAULT, "default or capacity-block")
    first: Utc | None = field(
        None, "when it begins, in UTC; needed for capacity-block", "it is there", alias="from"
    )
    until: Utc | None = field(None, "when it ends, in UTC; needed for capacity-block", "it has no end")
    hourly_price: Price | None = field(None, "of one machine, whether it runs or not", "not known")

    def check(self, report: DocumentProblems) -> None:
        if self.id is not None:
            refuse_beside({"id": self.id, "tags": self.tags}, "id", report)
        elif self.tags is None:
            report("B151", (), "Karpenter cannot select it.", "Add id or tags.")
        first, last = self.first, self.until
        if first is not None and last is not None and last <= first:
            report("B024", "until", "it ends before it begins.", "Write an instant after from.")
        if self.type == BLOCK:
            for name, value in (("from", first), ("until", last)):
                if value is None:
                    message = f"a Capacity Block needs from and until: {name} is missing."
                    report("B011", (), message, f"Add {name}: an instant such as 2026-02-01T11:30:00Z.")

    @property
    def key(self) -> str:
        """Return the same text for entries that mean the same machines.

        It is the id, or `tags course=ml` with sorted tags, instance type and zone.
        """
        if self.id:
            return self.id
        tags = ",".join(f"{key}={value}" for key, value in sorted((self.tags or {}).items()))
        return f"tags {tags} {self.instance_type} {self.zone}"

    @property
    def last_safe(self) -> int | None:
        """Return until when its machines exist, in seconds; None if it has no end."""
        if self.until is None or self.type != BLOCK:
            return self.until
        return self.until - _DRAINED

    @property
    def usable(self) -> tuple[int, int] | None:
        """Return the whole minutes in which its machines exist, as instants; None if it has no such span."""
        last = self.last_safe
        if self.first is None or last is None:
            return None
        first, last = -(-self.first // 60) * 60, last // 60 * 60
        return (first, last) if first < last else None

    def there(self, now: int) -> bool:
        """Tell whether Karpenter launches into it at that second."""
        last = self.last_safe
        return (self.first is None or self.first <= now) and (last is None or now < last)


class InstanceTypeSpec(Model):
    """A type of machines that the cloud sells."""

    name: TypeName = field(meaning="as AWS names it")
    cpu: Amount | None = field(None, "of the machine", "the table's")
    memory: Amount | None = field(None, "of the machine", "the table's")
    gpus: Resources = field({}, "devices, by resource", "the table's")
    pods: Annotated[int, Whole(1, 10_000)] | None = field(None, "most pods on it", "the table's")
    zones: NonEmptyUnique[Zone] = field((), "where it is sold", "wherever it is asked for")
    architecture: Literal["amd64", "arm64"] | None = field(None, "amd64 or arm64", "as its name says")
    on_demand_price: Price | None = field(None, "an hour", "the table's")
    spot_price: Price | None = field(None, "an hour", "not known")
    allocatable: Resources = field({}, "what it leaves for pods", "the table's")

    def check(self, report: DocumentProblems) -> None:
        """Check that what is left for pods is not more than the machine has."""
        whole = dict(self.capacity)
        check_amounts(whole, report)
        check_amounts(self.allocatable, report.below("allocatable"))
        for name, amount in self.allocatable.items():
            most = whole.get(name)
            if most is not None and (parse(amount) or 0) > (parse(most) or 0):
                message = f"{amount} is more than the machine has: {most}."
                report("B016", ("allocatable", name), message, "Write what is left for pods.")

    @property
    def capacity(self) -> tuple[tuple[str, str], ...]:
        pods = None if self.pods is None else str(self.pods)
        own = {"cpu": self.cpu, "memory": self.memory, **self.gpus, "pods": pods}
        return tuple((name, amount) for name, amount in own.items() if amount is not None)

    @property
    def sold_architecture(self) -> str:
        return self.architecture or architecture_of(self.name)


class NodeShapeSpec(Model):
    """Equal nodes, as `kubectl describe node` shows them."""

    name: DnsLabel = field(meaning="unique in this capacity")
    allocatable: NodeResources = field(meaning="of one node, as Kubernetes shows it: cpu, memory, devices")
    pods: Annotated[int, Whole(1, 10_000)] = field(110, "most pods on a node")
    volumes: VolumeCount | None = field(
        None, "most volumes of sessions on a node; see `volumes` of a ResourceClass", "not counted"
    )
    max_count: NodeCount | None = field(None, "most nodes of this shape", "no limit")
    labels: Labels = field({}, "of the nodes", "none")
    taints: ListOf[NodeTaint] = field((), "of the nodes", "none")
    zones: NonEmptyUnique[LabelValue] = field((), "where the nodes are", "one, without a name")
    hourly_price: Price | None = field(None, "of one node, in US dollars", "not known")

    def check(self, report: DocumentProblems) -> None:
        check_amounts(self.allocatable, report.below("allocatable"))
        for name in ("cpu", "memory"):
            if name not in self.allocatable:
                fix = f"Add {name}: kubectl describe node shows it under Allocatable."
                report("B011", "allocatable", f"{name} is missing.", fix)


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


class CapacitySpec(Model):
    """What is said of any capacity."""

    cluster: DnsLabel | None = field(None, "where it is", "the only cluster")
    daemon_requests: DaemonRequests = field(
        {}, "what DaemonSets request on each node, and how many `pods` they have; for `berth plan`", "none"
    )
    node_start_minutes: Minutes = field(2, "from the launch of an instance until its node is Ready")
    image_pull_minutes: Minutes = field(0, "to pull the images of its sessions on a new node")

    @property
    def startup_seconds(self) -> int:
        """Return how long a node takes until seats on it are ready, from when it is asked for."""
        return 60 * (self.node_start_minutes + self.image_pull_minutes)

    def check(self, report: DocumentProblems) -> None:
        check_least(self.daemon_requests, report.below("daemonRequests"))


class CloudSpec(CapacitySpec):
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
    volumes_per_node: VolumeCount | None = field(
        None,
        "most volumes of sessions on a node, for `volumes` of a ResourceClass: `kubectl get csinode -o yaml` "
        "shows it; only `berth plan` and `berth size` read it",
        "not counted",
    )
    instance_types: ListOf[InstanceTypeSpec] = field(
        (), "what the cloud sells, where the table that comes with Berth differs"
    )

    def check(self, report: DocumentProblems) -> None:
        super().check(report)
        check_least(self.limits, report.below("limits"))
        own = self.node_class.capacity_terms
        many = len(own) + sum(term not in own for term in terms(self.reservations))
        if many > MOST_TERMS:
            fix = f"Write at most {MOST_TERMS}: tags select several at once."
            report("B012", "reservations", f"it takes {many} terms to select these.", fix)
        self._check_taints(report)

    def _check_taints(self, report: DocumentProblems) -> None:
        """Report duplicate taints in both lists together: such a NodePool is never ready."""
        known: dict[tuple[str, str], str] = {}
        for name, taints in (("taints", self.taints), ("startupTaints", self.startup_taints)):
            for i, taint in enumerate(taints):
                where = known.setdefault((taint.key, taint.effect), f"{name}[{i}]")
                if where != f"{name}[{i}]":
                    both = f"key {taint.key} and effect {taint.effect}"
                    message = f"duplicate taint: {where} has {both} too, and such a NodePool is never ready."
                    report("B016", (name, i), message, "Remove one of the two.")


class GenericSpec(CapacitySpec):
    provider: Literal["generic"] = field(meaning="any cloud, or machines of your own; nothing is rendered")
    nodes: NonEmpty[NodeShapeSpec] = field(meaning="the shapes of its nodes, the preferred first")
    node_start_minutes: Minutes = field(meaning="from a Pending pod until its new node is Ready: measure")

    def check(self, report: DocumentProblems) -> None:
        super().check(report)
        report.below("nodes").repeated("name ", [shape.name for shape in self.nodes], "name")


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
    def says_volumes(self) -> bool:
        return all(shape.volumes is not None for shape in self.nodes)


def _provider(value: Any) -> int:
    """Return the position of the model that a spec is held to."""
    return int(isinstance(value, dict) and value.get("provider") == GENERIC)


class CloudDocument(KindDocument):
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
