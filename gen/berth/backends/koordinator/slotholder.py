"""Reservations of Koordinator hold the seats of backend `koordinator`. They are called slots, one a seat."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from berth.core.jsonvalues import parse_instant
from berth.schema.seatholders import Equipment, Holder, Persistence

if TYPE_CHECKING:
    from berth.backends.koordinator.slotoptions import SlotOptions


@dataclass(frozen=True, slots=True)
class SlotHolder(Holder):
    """Reservations of Koordinator, one for each seat."""

    backend = "koordinator"
    has_priority = True
    implementation = "berth.backends.koordinator.koordinatorbackend"
    is_stabilized = False  # a session that leaves its slot frees it at once
    needs_requests = False  # a slot may hold something else

    options: "SlotOptions"

    @classmethod
    def is_in(cls, cluster: Equipment) -> bool:
        return cluster.koordinator is not None

    @classmethod
    def options_model(cls) -> "type[SlotOptions]":
        from berth.backends.koordinator.slotoptions import SlotOptions  # noqa: PLC0415 - most sites have no slots

        return SlotOptions

    @classmethod
    def of(cls, options: "SlotOptions") -> "SlotHolder":
        return cls(options.resolved)

    @property
    def has_placeholders(self) -> bool:
        return self.options.with_placeholders

    @property
    def adds_nodes(self) -> bool:
        return self.options.with_placeholders

    @property
    def persistence(self) -> Persistence | None:
        if not self.options.standing:
            return None
        return Persistence(None if self.options.expires is None else parse_instant(self.options.expires))

    @property
    def renders_affinity(self) -> bool:
        return self.options.session_affinity

    @property
    def highest_priority(self) -> int | None:
        given = [one for one in (self.options.priority, self.options.template.priority) if one is not None]
        return max(given, default=None)

    @property
    def owner_namespaces(self) -> Iterable[str | None]:
        for owner in self.options.owners or ():
            named = (pods.namespace for pods in (owner.object, owner.controller) if pods is not None)
            yield next(filter(None, named), None)
