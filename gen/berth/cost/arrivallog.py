"""Read when sessions of earlier occurrences came: from a log, or from the record of an occurrence."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from berth.core.record import OccurrenceRecord, parse_records
from berth.dates.expansion import Occurrence
from berth.dates.moments import read
from berth.dates.zone import Zone

_EARLIEST = 3600  # seconds before the start of an occurrence that sessions may belong to it
_INSTANT = re.compile(
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)(?:[.,]\d+)?(Z|[+-]\d\d:\d\d)?(?!\d)", re.ASCII
)


def arrivals(
    text: str, occurrences: Sequence[Occurrence], resource_class: str, zone: Zone
) -> tuple[int, ...]:
    """Return when sessions came, in seconds from the start of their occurrence, ascending.

    The text is `records.json` of a reservation, or a log with a line for each session that has its instant,
    in `zone` unless it says otherwise. Instants outside of all occurrences do not count.
    """
    records = parse_records(text)
    if records:
        return tuple(sorted(_of_records(records.values(), occurrences, resource_class)))
    return tuple(sorted(_of_lines(text.splitlines(), occurrences, zone)))


def is_record(text: str) -> bool:
    """Tell whether the text is the record of a reservation."""
    return bool(parse_records(text))


def _of_records(
    records: Iterable[OccurrenceRecord], occurrences: Sequence[Occurrence], resource_class: str
) -> Iterator[int]:
    """Yield an arrival for each seat by which the target fell before the end: a session took it."""
    known = {one.id: one for one in occurrences}
    for record in records:
        occurrence = known.get(record.occurrence)
        for before, (at, target) in pairwise(record.targets.get(resource_class, ())):
            if occurrence is not None and at < occurrence.end:
                yield from [at - occurrence.start] * (before[1] - target)


def _of_lines(lines: Iterable[str], occurrences: Sequence[Occurrence], zone: Zone) -> Iterator[int]:
    for line in lines:
        match = _INSTANT.search(line)
        at = read(f"{match[1]}{match[2] or ''}", zone) if match else None
        if at is None:
            continue
        near = [
            occurrence for occurrence in occurrences if occurrence.start - _EARLIEST <= at < occurrence.end
        ]
        if near:
            yield at - min(near, key=lambda occurrence: abs(at - occurrence.start)).start
