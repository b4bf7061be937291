"""The machines of a cloud: those that are paid for already, and the shapes of nodes that a cluster has."""

from typing import Annotated, Literal

from berth.findings import Path
from berth.notation.days import ORDER
from berth.quantity import parse
from berth.schema import cloudgrammar
from berth.schema.basemodel import ListOf, Model, NonEmptyUnique, Text, Whole, field
from berth.schema.cloudgrammar import BLOCK, DEFAULT, UNREADABLE, architecture_of
from berth.schema.documentproblems import CONFLICT, MISSING, DocumentProblems
from berth.schema.nodeclass import Tags, refuse_beside
from berth.schema.nodepoolparts import NodeTaint
from berth.schema.pod import check_amounts
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

    def check(self, path: Path, report: DocumentProblems) -> None:
        if self.id is not None:
            refuse_beside({"id": self.id, "tags": self.tags}, "id", path, report)
        elif self.tags is None:
            report(UNREADABLE, path, "Karpenter cannot select it.", "Add id or tags.")
        first, last = self.first, self.until
        if first is not None and last is not None and last <= first:
            report(ORDER, (*path, "until"), "it ends before it begins.", "Write an instant after from.")
        if self.type == BLOCK:
            for name, value in (("from", first), ("until", last)):
                if value is None:
                    message = f"a Capacity Block needs from and until: {name} is missing."
                    report(MISSING, path, message, f"Add {name}: an instant such as 2026-02-01T11:30:00Z.")

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
    allocatable: Resources = field({}, "what of it is left for pods", "the table's")

    def check(self, path: Path, report: DocumentProblems) -> None:
        """Check that what is left for pods is not more than the machine has."""
        whole = dict(self.capacity)
        check_amounts(whole, path, report)
        check_amounts(self.allocatable, (*path, "allocatable"), report)
        for name, amount in self.allocatable.items():
            most = whole.get(name)
            if most is not None and (parse(amount) or 0) > (parse(most) or 0):
                message = f"{amount} is more than the machine has: {most}."
                report(CONFLICT, (*path, "allocatable", name), message, "Write what is left for pods.")

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

    def check(self, path: Path, report: DocumentProblems) -> None:
        check_amounts(self.allocatable, (*path, "allocatable"), report)
        for name in ("cpu", "memory"):
            if name not in self.allocatable:
                fix = f"Add {name}: kubectl describe node shows it under Allocatable."
                report(MISSING, (*path, "allocatable"), f"{name} is missing.", fix)
