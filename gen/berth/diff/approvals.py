"""Find what the policies of the site look at in a change: the windows that it adds, changes or removes.

A rehearsal asks for real seats, so its window counts as that of a date.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

from berth.checks.policychecks import (
    PolicyCase,
    PolicySubject,
    coming_occurrences,
    holds_without_windows,
    policy_case,
)
from berth.dates.expansion import Occurrence
from berth.diff.change import CHANGED, ReservationChange
from berth.diff.compare import ReservationVersion
from berth.schema.plainfields import plain_settings
from berth.schema.policies import PolicySpec
from berth.schema.reservation import Reservation


def policy_cases(
    change: ReservationChange,
    old: ReservationVersion | None,
    new: ReservationVersion | None,
    policies: Sequence[PolicySpec],
    now: int,
) -> Iterator[PolicyCase]:
    """Yield what each policy looks at.

    Windows that are over do not count. One that is removed counts only for policies about the notice. A
    reservation that gets permissions counts without windows, if all of them would.
    """
    changes_all = change.kind != CHANGED or _differ_on_all_dates(old, new)
    removed, added = _differing_windows(old, new, now, changes_all=changes_all)
    changes_held = changes_all or change.standing[0] != change.standing[1]
    holds, held = (changes_held and _holds_now(one, now) for one in (new, old))
    after = _subject(new, added, now, holds_now=holds)
    if after is not None and (changes_all or added):
        after = after._replace(otherwise=after.reservation.holder.otherwise_count or 0)
    if after is not None and changes_all:
        after = after._replace(is_permitted=bool(after.reservation.holder.target_text))
    either = _subject(new or old, [*removed, *added], now, holds_now=holds or held)
    if either is not None:
        either = either._replace(clusters={**_clusters(old), **_clusters(new)})
    for policy in policies:
        subject = after if policy.when.notice_below is None else either
        case = policy_case(policy, subject) if subject else None
        if case is not None:
            yield case


def _clusters(version: ReservationVersion | None) -> dict[str, str]:
    """Return the cluster of each class."""
    if version is None:
        return {}
    return dict(
        zip((resource_class.name for resource_class in version.classes), version.clusters, strict=True)
    )


def _subject(
    version: ReservationVersion | None, windows: Sequence[Occurrence], now: int, *, holds_now: bool
) -> PolicySubject | None:
    """Return what policies look at: these windows, beside all others of the version at the same time."""
    if version is None:
        return None
    coming = coming_occurrences(version.reservation, version.windows, now)
    known = {resource_class.name: resource_class for resource_class in version.classes}
    subject = PolicySubject(version.reservation, _clusters(version), windows, holds_now, now, coming, known)
    return subject._replace(added=version.added_dates)


def _holds_now(version: ReservationVersion | None, now: int) -> bool:
    """Tell whether this version holds seats without windows now."""
    return version is not None and holds_without_windows(version.reservation, now)


def _differing_windows(
    old: ReservationVersion | None, new: ReservationVersion | None, now: int, *, changes_all: bool
) -> tuple[list[Occurrence], list[Occurrence]]:
    """Return the windows to come that only the old version has as they are, and those of the new one."""
    before, after = (
        coming_occurrences(one.reservation, one.windows, now) if one else () for one in (old, new)
    )
    if changes_all:
        return [*before], [*after]
    return _missing(before, after), _missing(after, before)


def _missing(windows: Sequence[Occurrence], others: Sequence[Occurrence]) -> list[Occurrence]:
    """Return the windows that the others lack. Equal ones are counted: their seats add up."""
    left = Counter(_values(item) for item in others)
    missing = []
    for item in windows:
        values = _values(item)
        if left[values]:
            left[values] -= 1
        else:
            missing.append(item)
    return missing


def _values(item: Occurrence) -> Hashable:
    return item.start, item.end, item.open, item.seats, item.scaling


def _differ_on_all_dates(old: ReservationVersion | None, new: ReservationVersion | None) -> bool:
    """Tell whether something changes that matters for every date: the behavior, or a class of both."""
    if old is None or new is None:
        return True
    before, after = _classes(old), _classes(new)
    is_other_class = any(before[name] != after[name] for name in before if name in after)
    return is_other_class or _settings(old.reservation) != _settings(new.reservation)


def _classes(version: ReservationVersion) -> dict[str, Hashable]:
    """Return the values of each class, and its cluster."""
    pairs = zip(version.classes, version.clusters, strict=True)
    return {
        resource_class.name: (resource_class[1:], cluster) for resource_class, cluster in pairs
    }  # but not its place in a file


def _settings(one: Reservation) -> tuple[object, ...]:
    """Return what is neither text for people nor seen in the dates."""
    return one.behavior, one.sessions, one.holder, one.overlap, plain_settings(one)
