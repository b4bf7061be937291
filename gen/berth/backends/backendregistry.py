"""Every backend by its name in `backend.type`. A new backend is a package, its templates, and a line here."""

from typing import TYPE_CHECKING, Literal

from berth.backends.capacitybuffer.bufferholder import BufferHolder
from berth.backends.koordinator.slotholder import SlotHolder
from berth.backends.nodepool.nodeholder import NodeHolder
from berth.backends.placeholder.replicaholder import ReplicaHolder
from berth.backends.value.valueholder import ValueHolder
from berth.schema.seatholders import Holder

HOLDERS: dict[str, type[Holder]] = {
    holder.backend: holder for holder in (ReplicaHolder, SlotHolder, NodeHolder, BufferHolder, ValueHolder)
}
"""The first is the default."""

DEFAULT_HOLDER: Holder = ReplicaHolder()

if TYPE_CHECKING:
    BackendType = str
else:
    BackendType = Literal[tuple(HOLDERS)]
