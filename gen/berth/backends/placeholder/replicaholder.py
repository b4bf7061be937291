"""Replicas of a Deployment of placeholders hold the seats of backend `placeholder`."""

from berth.schema.seatholders import Holder


class ReplicaHolder(Holder):
    """Replicas of a Deployment of placeholders, one for each seat."""

    __slots__ = ()

    backend = "placeholder"
    implementation = "berth.backends.placeholder.placeholderbackend"
    claims_devices = True

    @property
    def has_placeholders(self) -> bool:
        return True
