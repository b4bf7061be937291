"""An edit of one reservation in a project: what the file says then, and whether the project allows it.

Nothing is written here.
"""

from typing import NamedTuple

from gen.diff.change import ReservationChange
from gen.diff.compare import compared
from gen.diff.sides import version_of
from gen.edit.roundtrip import Edit, EditError, edited
from gen.finding import ERROR, Finding
from gen.input.source import Source
from gen.model import Reservation
from gen.pipeline import Item, Pipeline


class Edited(NamedTuple):
    """`findings`: the errors that the edit brings; with any, it must not be written."""

    file: str
    text: str
    findings: tuple[Finding, ...]
    change: ReservationChange | None


def edit(pipeline: Pipeline, name: str, how: Edit) -> Edited:
    """Raises EditError. `name` may change by it."""
    before = pipeline.declared
    reservation = next((one for one in before.reservations if one.name == name), None)
    if reservation is None:
        raise EditError(f'no reservation is named "{name}"')
    if reservation.renku:
        raise EditError(
            f"{name} is a Renku payload, which is read as it is. Make a file of ours of it first: "
            f"berth import renku {reservation.origin.file}"
        )
    source = next(one for one in pipeline.sources if one.file == reservation.origin.file)
    text = _decoded(source)
    found = edited(text, reservation.origin.index, how)
    return check(pipeline, source.file, found, reservation)


def check(pipeline: Pipeline, file: str, text: str, was: Reservation | None) -> Edited:
    """What the project says to a file with this text; `was` stood there before."""
    changed = Source(file, text.encode())
    sources = [one for one in pipeline.sources if one.file != file]
    after = Pipeline(sources=sorted([*sources, changed]))
    old = {item.reservation.name: item for item in pipeline.items()}
    told = {_without_place(one) for one in pipeline.findings()}
    new: list[Item] = [item for item in after.items() if _is_new(item, old)]
    findings = [one for one in after.findings() if one.severity == ERROR and _without_place(one) not in told]
    version = version_of(new[0], after) if new and not findings else None
    before = version_of(old[was.name], pipeline) if was and was.name in old else None
    return Edited(file, text, tuple(findings), compared(before, version) if version else None)


def _is_new(item: Item, old: dict[str, Item]) -> bool:
    one = old.get(item.reservation.name)
    return one is None or one.reservation != item.reservation


def _without_place(one: Finding) -> Finding:
    """A finding is the same one where an edit above it moved its line."""
    return one._replace(line=0, column=0)


def _decoded(source: Source) -> str:
    try:
        return source.text.decode("utf-8")
    except UnicodeDecodeError:
        raise EditError(f"{source.file} is not UTF-8") from None
