"""Reservations of Koordinator hold the seats of backend `koordinator`. They are called slots, one a seat."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from berth.core.jsonvalues import parse_instant, part
from berth.core.objects import SLOT
from berth.schema.seatholders import Holder, Persistence

if TYPE_CHECKING:
    from berth.backends.koordinator.slotoptions import SlotOptions


@dataclass(frozen=True, slots=True)
class SlotHolder(Holder):
    """Reservations of Koordinator, one for each seat."""

    backend = "koordinator"
    implementation = "berth.backends.koordinator.koordinatorbackend"
    kind = SLOT
    is_stabilized = False  # a session that leaves its slot frees it at once
    needs_requests = False  # a slot may hold something else

    options: "SlotOptions"
    until: int | None = None  # when its persistent slots end, as their classes say; None: never

    @classmethod
    def options_model(cls) -> "type[SlotOptions]":
        from berth.backends.koordinator.slotoptions import SlotOptions  # noqa: PLC0415 - most sites have no slots

        return SlotOptions

    @classmethod
    def of(cls, options: "SlotOptions") -> "SlotHolder":
        return cls(options)

    @property
    def has_placeholders(self) -> bool:
        return self.options.with_placeholders

    @property
    def adds_nodes(self) -> bool:
        return self.options.with_placeholders

    @property
    def persistence(self) -> Persistence | None:
        return Persistence(self.until) if self.options.standing else None

    def with_mappings(self, mappings: Iterable[Mapping[str, Any]]) -> "SlotHolder":
        ends = [str(part(mapping, "spec").get("expires") or "") for mapping in mappings]
        return replace(self, until=max(map(parse_instant, ends)) if ends and all(ends) else None)

    @property
    def renders_affinity(self) -> bool:
        return self.options.session_affinity

    @property
    def owner_namespaces(self) -> Iterable[str | None]:
        for owner in self.options.owners or ():
            named = (pods.namespace for pods in (owner.object, owner.controller) if pods is not None)
            yield next(filter(None, named), None)
