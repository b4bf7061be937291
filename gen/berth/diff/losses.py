"""Order the reservations of a change by what it does to people, and name those that lose something.

What people lose is named before any fold: many harmless changes never hide it.
"""

from collections.abc import Iterable, Iterator

from berth.diff.change import ADDED, REMOVED, Change, ReservationChange
from berth.diff.wording import DiffLine, number_of
from berth.schema.policies import REFUSE

_FEW_NAMES = 5  # of reservations with another title


def by_effect(change: Change, reservations: Iterable[ReservationChange]) -> list[ReservationChange]:
    """Sort: refused, removed, with lost dates or seats, changed otherwise, new, and with another title."""
    refused = _refused(change)

    def rank(reservation: ReservationChange) -> int:
        ranks = (
            reservation.name in refused,
            reservation.kind == REMOVED,
            loses_dates_or_seats(reservation),
            reservation.kind != ADDED and not reservation.is_retitled,
            reservation.kind == ADDED,
            True,
        )
        return ranks.index(True)

    return sorted(reservations, key=rank)


def loses_dates_or_seats(reservation: ReservationChange) -> bool:
    """Tell whether a reservation that stays has fewer dates, seats or seat-hours, or holds other seats."""
    before, after = reservation.seat_seconds
    dates = reservation.occurrences
    return reservation.kind not in (ADDED, REMOVED) and (
        bool(dates.removed)
        or any(_is_fewer(dict(old.seats), dict(new.seats)) for old, new in dates.changed)
        or (before is not None and after is not None and after < before)
        or (bool(reservation.standing[0]) and reservation.standing[0] != reservation.standing[1])
    )


def loss_lines(change: Change) -> Iterator[DiffLine]:
    """Name what is refused, removed, and what loses dates or seats by its own document.

    What shared documents do is counted with these.
    """
    refused = _refused(change)
    own = [reservation for reservation in change.reservations if not reservation.causes]
    for sign, words, names in (
        ("!", "refused", list(refused)),
        ("-", "removed", [item.name for item in own if item.kind == REMOVED]),
        ("-", "with fewer dates or seats", [item.name for item in own if loses_dates_or_seats(item)]),
    ):
        if names:
            yield DiffLine(sign, f"{number_of(len(names), 'reservation')} {words}: {', '.join(names)}")


def titles_line(retitled: list[ReservationChange]) -> DiffLine:
    """Return `118 titles change: a, b, c, d, e and 113 more`."""
    names = ", ".join(item.name for item in retitled[:_FEW_NAMES])
    left = len(retitled) - _FEW_NAMES
    more = f" and {left} more" if left > 0 else ""
    return DiffLine("~", f"{number_of(len(retitled), 'title')} change: {names}{more}")


def _refused(change: Change) -> dict[str, None]:
    return dict.fromkeys(result.subject for result in change.policies if result.policy.effect == REFUSE)


def _is_fewer(before: dict[str, int], after: dict[str, int]) -> bool:
    return any(after.get(name, 0) < count for name, count in before.items())
