"""Backend `value` holds a number in an object of somebody else."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from berth.schema.seatholders import Equipment, Holder, Unit

if TYPE_CHECKING:
    from berth.backends.value.valueoptions import ValueOptions


@dataclass(frozen=True, slots=True)
class ValueHolder(Holder):
    """A number at a path of an object: at least so many replicas, or at most so many cores."""

    backend = "value"
    implementation = "berth.backends.value.valuebackend"
    behaviors = ("none", "maintain", "reduce", "buffer")
    needs_requests = False
    has_target = True
    overlap = "max"  # a floor or a cap that several have asked for

    options: "ValueOptions"

    @classmethod
    def is_in(cls, cluster: Equipment) -> bool:
        return bool(cluster.held)

    @classmethod
    def options_model(cls) -> "type[ValueOptions]":
        from berth.backends.value.valueoptions import ValueOptions  # noqa: PLC0415 - most sites hold no numbers

        return ValueOptions

    @classmethod
    def of(cls, options: "ValueOptions") -> "ValueHolder":
        return cls(options)

    def allowed_behaviors(self, spare: int, *, is_shared: bool) -> tuple[str, ...]:
        """Leave out what lowers the number below what the API server takes, or below that of others."""
        if is_shared:
            return ("none",)
        least = self.options.target.least if self.options.target else 0
        lowered_to = {"none": least, "buffer": spare}
        return tuple(behavior for behavior in self.behaviors if lowered_to.get(behavior, 0) >= least)

    @property
    def unit(self) -> Unit:
        return self.options.counted

    @property
    def tells_ready(self) -> bool:
        return self.options.target is None or bool(self.options.target.ready_path)

    @property
    def is_cap(self) -> bool:
        return self.options.is_cap

    @property
    def combined(self) -> str:
        from berth.backends.value.valueoptions import OVERLAPS  # noqa: PLC0415 - most sites hold no numbers

        return OVERLAPS[self.options.combine or "largest"]

    @property
    def going_back(self) -> str:
        target, otherwise = self.options.target, self.options.otherwise_text
        return f"Then {target} is what its window wants, or {otherwise} if none is open."

    @property
    def adds_nodes(self) -> bool:
        return False  # nobody knows what its object does with the number

    @property
    def target_text(self) -> str:
        target = self.options.target
        return "/".join(filter(None, (target.kind, target.namespace, target.name))) if target else ""

    @property
    def path_text(self) -> str:
        from berth.notation.objectpath import object_path_text  # noqa: PLC0415 - most sites hold no numbers

        return object_path_text(self.options.target.path) if self.options.target else ""

    @property
    def otherwise_text(self) -> str:
        return self.options.otherwise_text

    @property
    def otherwise_count(self) -> int | None:
        return self.options.otherwise_count

    @property
    def held_text(self) -> str:
        return f"{self.options.target}, otherwise {self.options.otherwise_text}"

    @property
    def shared(self) -> object | None:
        return self.options.target and self.options.target.identity
