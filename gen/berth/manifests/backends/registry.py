"""Every backend by its name in `backend.type`. A new backend is a module, its templates, and a line here."""

from berth.manifests.backends.base import Backend
from berth.manifests.backends.capacitybuffer import CapacityBufferBackend
from berth.manifests.backends.koordinator import KoordinatorBackend
from berth.manifests.backends.nodepool import NodePoolBackend
from berth.manifests.backends.placeholder import PlaceholderBackend
from berth.schema.holders import BufferedSeats, Holder, Nodes, Replicas, Slots

BACKENDS: dict[str, Backend] = {
    Replicas.backend: PlaceholderBackend(),
    Slots.backend: KoordinatorBackend(),
    Nodes.backend: NodePoolBackend(),
    BufferedSeats.backend: CapacityBufferBackend(),
}


def backend_of(holder: Holder) -> Backend:
    return BACKENDS[holder.backend]
