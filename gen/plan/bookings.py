"""Free machines of reservations during one loop: each claim books one of every reservation it may use."""

from collections.abc import Collection, Iterable


class Bookings:
    """`version` grows with every booking and release: who was refused need not ask again before."""

    def __init__(self, free: dict[str, int]) -> None:
        self._free = free
        self.version = 0

    def bookable(self, reservations: Iterable[str], held: Collection[str]) -> tuple[str, ...]:
        """Those that a claim that holds `held` may hold next, each once, in order."""
        return tuple(dict.fromkeys(r for r in reservations if r in held or self._free[r] != 0))

    def change(self, held: Collection[str], wanted: Collection[str]) -> None:
        """Book what is `wanted` and not yet held, release what is not wanted any more."""
        for reservation in wanted:
            if reservation not in held:
                self._free[reservation] -= 1
                self.version += 1
        for reservation in held:
            if reservation not in wanted:
                self._free[reservation] += 1
                self.version += 1
