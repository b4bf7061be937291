"""What Renku's API exported, as reservations of ours that can be edited. Pure."""

from typing import NamedTuple

from gen.dates.zone import DAY, Zone, load, local, number
from gen.edit.roundtrip import EditError
from gen.finding import ERROR, Finding
from gen.input.source import Source
from gen.model import Entry, Recurrence, Reservation
from gen.pipeline import Pipeline


class Imported(NamedTuple):
    """`findings`: the errors of the file; with any, there are no reservations."""

    reservations: tuple[Reservation, ...]
    findings: tuple[Finding, ...]


def imported(source: Source, project: Pipeline, zone_name: str | None) -> Imported:
    """By name. The project says which class a payload means. Raises EditError.

    Renku's times are UTC. In a zone they become what clocks there show on the first date, and stay so:
    after a clock change the class is then at the same time of day, and no longer at the same time in UTC.
    """
    others = [one for one in project.sources if one.file != source.file]
    both = Pipeline(sources=sorted([*others, source]))
    findings = tuple(one for one in both.findings() if one.file == source.file and one.severity == ERROR)
    if findings:
        return Imported((), findings)
    found = [one for one in both.declared.reservations if one.renku and one.origin.file == source.file]
    if not found:
        raise EditError("there is no reservation of Renku in it")
    zone = _zone(zone_name) if zone_name else None
    return Imported(tuple(_in_zone(one, zone) if zone else one for one in found), ())


def _zone(name: str) -> Zone:
    zone = load(name)
    if zone is None:
        raise EditError(f'there is no time zone "{name}"')
    return zone


def _in_zone(one: Reservation, zone: Zone) -> Reservation:
    recurrence = one.recurrence
    schedule = tuple(_entry(one.name, entry, recurrence, zone) for entry in recurrence.schedule)
    return one._replace(recurrence=recurrence._replace(zone=zone.name, schedule=schedule))


def _entry(name: str, entry: Entry, recurrence: Recurrence, zone: Zone) -> Entry:
    assert recurrence.first is not None  # Renku has no recurrence without
    midnight = number(recurrence.first) * DAY
    start = local(zone, (midnight + entry.start) * 60) - midnight
    end = local(zone, (midnight + entry.end) * 60) - midnight
    if not (0 <= start < DAY and 0 < end <= DAY):
        raise EditError(
            f"{name}: in {zone.name} its times fall on another day; import it without --time-zone and edit it"
        )
    return entry._replace(start=start, end=end)
