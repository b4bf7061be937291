"""Whole nodes are what backend `nodePool` holds."""

from berth.core.objects import NODE_POOL
from berth.schema.seatholders import Holder, Unit


class NodeHolder(Holder):
    """Nodes of a Karpenter NodePool with a fixed number of them."""

    __slots__ = ()

    backend = "nodePool"
    implementation = "berth.backends.nodepool.nodepoolbackend"
    kind = NODE_POOL
    behaviors = ("none",)

    @property
    def unit(self) -> Unit:
        return Unit.NODE

    def usable_capacity(self, cloud_capacity: tuple[str, ...]) -> tuple[str, ...]:
        """Return the preferred capacity: a NodePool is made from one."""
        return cloud_capacity[:1]
