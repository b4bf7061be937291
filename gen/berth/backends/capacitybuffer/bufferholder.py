"""Room that an autoscaler keeps free holds the seats of backend `capacityBuffer`."""

from berth.core.objects import CAPACITY_BUFFER
from berth.schema.seatholders import Holder


class BufferHolder(Holder):
    """Replicas of a CapacityBuffer: room that an autoscaler keeps free, one pod's for each seat."""

    __slots__ = ()

    backend = "capacityBuffer"
    implementation = "berth.backends.capacitybuffer.capacitybufferbackend"
    kind = CAPACITY_BUFFER
