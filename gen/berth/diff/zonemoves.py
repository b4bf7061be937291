"""Describe by how much windows move when the time zone changes in which they are written."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date

from berth.dates.expansion import Occurrence
from berth.dates.moments import hours_text, local_day, named
from berth.dates.zone import DAY, Zone, day_of, local, number, resolve

Pair = tuple[Occurrence, Occurrence]
"""An occurrence before and after."""

_WINTER, _SUMMER = "in winter", "in summer"


def has_other_zone(pair: Pair) -> bool:
    return pair[0].zone != pair[1].zone


def move_text(pairs: Sequence[Pair], *, is_whole: bool) -> str:
    """Return `opens 1 h later in winter, 2 h later in summer`; empty if no occurrence has another zone.

    Most dates of a season move by the same time; the others are counted. `is_whole`: the pairs are all
    dates, so a season is named only where the two differ.
    """
    moved: dict[str, Counter[int]] = {}
    for pair in pairs:
        if has_other_zone(pair):
            moved.setdefault(_season(pair), Counter())[_shift(pair)] += 1
    most = {season: shifts.most_common(1)[0][0] for season, shifts in moved.items()}
    if not most:
        return ""
    if len({*most.values()}) == 1 and (is_whole or len(most) > 1 or "" in most):
        text = shift_text(next(iter(most.values())))
    else:
        seasons = [season for season in (_WINTER, _SUMMER, "") if season in most]
        text = ", ".join(f"{shift_text(most[season])} {season}".strip() for season in seasons)
    return "; ".join([f"opens {text}", *_others(moved, most)])


def _others(moved: dict[str, Counter[int]], most: dict[str, int]) -> Iterator[str]:
    rest: Counter[int] = Counter()
    for season, shifts in moved.items():
        rest += Counter({shift: count for shift, count in shifts.items() if shift != most[season]})
    for shift, count in sorted(rest.items()):
        yield f"{count} {'date' if count == 1 else 'dates'} {shift_text(shift)}"


def shift_of(pair: Pair) -> str:
    """Return `1 h later` for one occurrence."""
    return shift_text(_shift(pair))


def shift_text(seconds: int) -> str:
    """Return `1 h later`, `30 min earlier` or `at the same time`."""
    if not seconds:
        return "at the same time"
    amount = abs(seconds)
    text = f"{amount // 60} min" if amount < 3600 else f"{hours_text(amount)} h"
    return f"{text} {'later' if seconds > 0 else 'earlier'}"


def _shift(pair: Pair) -> int:
    return pair[1].open - pair[0].open


def _season(pair: Pair) -> str:
    """Return the half of the year by the clocks of the new zone, or of the old one if it never changes."""
    for occurrence in reversed(pair):
        zone = named(occurrence.zone)
        year = day_of(local_day(occurrence.start, zone) * DAY).year
        offsets = [_offset(zone, resolve(zone, number(date(year, month, 1)) * DAY)) for month in (1, 7)]
        if offsets[0] != offsets[1]:
            return _SUMMER if _offset(zone, occurrence.start) == max(offsets) else _WINTER
    return ""


def _offset(zone: Zone, instant: int) -> int:
    """Return minutes ahead of UTC."""
    return local(zone, instant) - instant // 60
