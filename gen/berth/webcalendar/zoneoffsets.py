"""By how much a time zone is ahead of UTC, for pages whose readers may have other zone rules, or none."""

from bisect import bisect_left
from typing import NamedTuple

from berth.dates.zone import DAY, Zone, local


class ZoneOffsets(NamedTuple):
    """Minutes that a zone is ahead of UTC: an instant, the offset from then on, and so on; up to `until`.

    Instants are minutes since the epoch.
    """

    offsets: tuple[int, ...]
    until: int


def zone_offsets(zone: Zone, first: int, until: int) -> ZoneOffsets:
    """Return the offsets of a zone in [first, until). At most one change a day is found."""

    def ahead(minute: int) -> int:
        return local(zone, minute * 60) - minute

    found = [first, ahead(first)]
    for day in range(first, until, DAY):
        minutes, before = range(day, day + DAY + 1), found[-1]
        if ahead(minutes[-1]) != before:
            at = minutes[bisect_left(minutes, True, key=lambda minute: ahead(minute) != before)]
            found += (at, ahead(at))
    return ZoneOffsets(tuple(found), until)
