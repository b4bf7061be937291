"""Every backend by its name in `backend.type`. A new backend is a module, its templates, and a line here."""

from berth.manifests.backends.backendinterface import Backend
from berth.manifests.backends.capacitybuffer import CapacityBufferBackend
from berth.manifests.backends.koordinator import KoordinatorBackend
from berth.manifests.backends.nodepool import NodePoolBackend
from berth.manifests.backends.placeholder import PlaceholderBackend
from berth.schema.seatholders import BufferHolder, Holder, NodeHolder, ReplicaHolder, SlotHolder

BACKENDS: dict[str, Backend] = {
    ReplicaHolder.backend: PlaceholderBackend(),
    SlotHolder.backend: KoordinatorBackend(),
    NodeHolder.backend: NodePoolBackend(),
    BufferHolder.backend: CapacityBufferBackend(),
}


def backend_of(holder: Holder) -> Backend:
    return BACKENDS[holder.backend]
