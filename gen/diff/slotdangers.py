"""What should be thought of before slots change? Pure; `now` is a value."""

from collections.abc import Iterator

from gen.core.instants import instant_text
from gen.diff.change import Warned
from gen.diff.compare import Version
from gen.placed import stands


def of_slots(old: Version | None, new: Version | None, now: int, *, is_open: bool) -> Iterator[Warned]:
    """`is_open`: something of it is open on both sides."""
    if new is None:
        return
    name, until = new.reservation.name, stands(new.reservation)
    if until is not None and not until.at(now):
        over = f"It expired at {instant_text(until.until or 0)}: nothing is held."
        yield Warned("expired", name, f"{over} Write a later expires, or remove the reservation.")
    if old is None:
        return
    before, after = old.reservation.backend, new.reservation.backend
    if before != after:
        told = f"Its seats are held by {after} instead of {before}: what is open then goes and comes again."
        yield Warned("backend", name, told)
        return
    if until is None and not is_open:
        return
    shapes = dict(old.shapes)
    changed = [one for one, shape in new.shapes if shapes.get(one, shape) != shape]
    if changed and (stands(old.reservation) is None) == (until is None):
        yield Warned(
            "slots-replaced", name, f"{', '.join(changed)}: {_replaced(stands_always=until is not None)}"
        )


def _replaced(*, stands_always: bool) -> str:
    if stands_always:
        return (
            "the shape of its slots changes, so the engine deletes them and makes others: until those hold "
            "their seats, whoever comes may take the room."
        )
    return (
        "the shape of its slots changes, so free ones are replaced, each as another one holds its seat; "
        "those in use stay until the end."
    )


def standing_now(version: Version | None, now: int) -> dict[str, int]:
    """Seats by class."""
    if version is None or version.reservation.suspend:
        return {}
    found = stands(version.reservation)
    return dict(version.reservation.seats) if found is not None and found.at(now) else {}
