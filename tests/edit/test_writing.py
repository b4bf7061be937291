"""What we write is read back as the very reservation that was meant."""

from pathlib import Path

import pytest
from berth.backends.backendregistry import DEFAULT_HOLDER
from berth.edit.create import reservation_yaml
from berth.pipeline import Pipeline
from berth.reading.source import Source
from berth.schema.plainfields import plain_settings
from berth.schema.reservation import Reservation

from tests import generate


def plain(one: Reservation) -> Reservation:
    """Without what is not written: how lines scale, and what only platform teams declare."""
    recurrence = one.recurrence._replace(
        schedule=tuple(entry._replace(scaling=()) for entry in one.recurrence.schedule),
        extras=tuple(extra._replace(scaling=()) for extra in one.recurrence.extras),
    )
    return one._replace(
        recurrence=recurrence,
        labels=(),
        annotations=(),
        holder=DEFAULT_HOLDER,
    )


def plain_fields_of(one: Reservation) -> tuple[object, ...]:
    return one.title, one.owner, plain_settings(one)


@pytest.mark.parametrize("seed", range(6))
def test_a_written_reservation_is_read_back_unchanged(seed: int, tmp_path: Path) -> None:
    generate.project(tmp_path, seed, 40)
    project = Pipeline(str(tmp_path))
    others = [source for source in project.sources if "capacityreservation" not in source.file]
    windowed = [
        reservation
        for reservation in project.declared.reservations
        if reservation.recurrence.type != "standing"
    ]
    meant = [one for one in map(plain, windowed) if one.recurrence.schedule]
    assert len(meant) > 20
    files = [Source(f"reservations/{one.name}.yaml", reservation_yaml(one).encode()) for one in meant]
    found = Pipeline(sources=sorted([*others, *files])).declared.reservations
    first = meant[0]
    assert [reservation._replace(origin=first.origin, spec=first.spec) for reservation in found] == [
        one._replace(origin=first.origin, spec=first.spec) for one in meant
    ]
    assert [plain_fields_of(reservation) for reservation in found] == [plain_fields_of(one) for one in meant]
