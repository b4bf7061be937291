"""Every backend by its name in `backend.type`. A new backend is a package, its templates, and a line here."""

from collections.abc import Callable
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


def default_text(default: Callable[[type[Holder]], str]) -> str:
    """Return a default in words: that of the default backend, and which others have another one."""
    usual = default(type(DEFAULT_HOLDER))
    others: dict[str, list[str]] = {}
    for name, holder in HOLDERS.items():
        if default(holder) != usual:
            others.setdefault(default(holder), []).append(name)
    exceptions = [f"`{value}` for backend {' or '.join(names)}" for value, names in others.items()]
    return "; ".join([f"`{usual}`", *exceptions])


if TYPE_CHECKING:
    BackendType = str
else:
    BackendType = Literal[tuple(HOLDERS)]
