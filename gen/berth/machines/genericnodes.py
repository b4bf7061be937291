"""Plan generic capacity with the rules of the estimate: each shape of nodes as a NodePool with one type.

The rules that decide where a pod fits are those of kube-scheduler for any autoscaler: requests, pods of a
node, taints, selectors, affinity and spread. Shapes are tried in the order of the file, and each has as many
nodes as it may. cluster-autoscaler removes a node ten minutes after its last pod.
"""

from collections.abc import Iterable, Iterator

from berth.karpenter.nodelabels import ARCH, ZONE
from berth.quantity import parse, text
from berth.schema.cloudmachines import NodeShapeSpec
from berth.schema.cloudvalues import GENERIC, CloudCapacity, GenericCapacity, SoldInstanceType
from berth.schema.nodeclass import NodeClass
from berth.schema.nodepoolparts import Budget, Disruption, PoolRequirement

_UNNEEDED = "10m"  # scale-down-unneeded-time
_HEAVIEST = 100
_NODE_CLASS = NodeClass.model_construct()
_DISRUPTION = Disruption.model_construct(
    consolidate_after=_UNNEEDED, budgets=(Budget.model_construct(nodes="100%"),)
)


def shape_names(capacity: GenericCapacity) -> list[str]:
    """Return the names of its shapes in a plan."""
    return [f"{capacity.name}/{shape.name}" for shape in capacity.nodes]


def document_name(name: str) -> str:
    """Return the name of the CloudCapacity document of a capacity in a plan."""
    return name.partition("/")[0]


def as_clouds(capacities: Iterable[GenericCapacity]) -> Iterator[CloudCapacity]:
    """Yield a capacity for each shape."""
    for capacity in capacities:
        for place, (name, shape) in enumerate(zip(shape_names(capacity), capacity.nodes, strict=True)):
            yield _cloud(capacity, name, shape, max(_HEAVIEST - place, 1))


def _cloud(one: GenericCapacity, name: str, shape: NodeShapeSpec, weight: int) -> CloudCapacity:
    cpu = parse(shape.allocatable["cpu"]) or 0
    zones = PoolRequirement.model_construct(key=ZONE, operator="In", values=shape.zones)
    return CloudCapacity(
        origin=one.origin,
        name=name,
        cluster=one.cluster,
        provider=GENERIC,
        node_class=_NODE_CLASS,
        reservations=(),
        capacity_types=("on-demand",),
        requirements=(zones,) if shape.zones else (),
        weight=weight,
        # All nodes of a pool have one type, so that its limit of cores is one of nodes.
        limits=() if shape.max_count is None else (("cpu", text(cpu * shape.max_count)),),
        taints=shape.taints,
        startup_taints=(),
        labels=tuple(shape.labels.items()),
        expire_after="Never",
        termination_grace=None,
        disruption=_DISRUPTION,
        instance_types=(
            SoldInstanceType(
                name=shape.name,
                capacity=shape.resources,
                allocatable=shape.resources,
                zones=shape.zones,
                architecture=shape.labels.get(ARCH, "amd64"),
                on_demand=shape.hourly_price,
                spot=None,
            ),
        ),
        daemon_requests=one.daemon_requests,
        startup=one.startup,
        volumes_per_node=shape.volumes,
    )
