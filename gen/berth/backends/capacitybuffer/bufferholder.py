"""Room that an autoscaler keeps free holds the seats of backend `capacityBuffer`."""

from berth.schema.seatholders import Equipment, Holder


class BufferHolder(Holder):
    """Replicas of a CapacityBuffer: room that an autoscaler keeps free, one pod's for each seat."""

    __slots__ = ()

    backend = "capacityBuffer"
    implementation = "berth.backends.capacitybuffer.capacitybufferbackend"

    @classmethod
    def is_in(cls, cluster: Equipment) -> bool:
        return cluster.has_buffers
