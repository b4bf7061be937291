"""The months of a zone, to cut spans into."""

from collections.abc import Iterator
from datetime import date

from gen.cost.ledger import Months
from gen.dates.moment import local_day
from gen.dates.zone import DAY, Zone, day_of, number, resolve


def months_of(zone: Zone) -> Months:
    """`2026-02`, on the clock of the zone."""
    ends: dict[tuple[int, int], int] = {}

    def cut(first: int, end: int) -> Iterator[tuple[str, int, int]]:
        while first < end:
            day = day_of(local_day(first, zone) * DAY)
            month = day.year, day.month
            if month not in ends:
                after = date(day.year + day.month // 12, day.month % 12 + 1, 1)
                ends[month] = resolve(zone, number(after) * DAY)
            until = min(end, ends[month])
            yield f"{day.year}-{day.month:02}", first, until
            first = until

    return cut
