"""Find what the policies of the site look at in a change: the dates that it adds, changes or removes."""

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

    Dates that are over do not count. A date that is removed counts only for policies about the notice.
    Rehearsals are no dates, but cost: only policies about the cost count those that come or change.
    """
    changes_all = change.kind != CHANGED or _differ_on_all_dates(old, new)
    removed, added = _differing_dates(old, new, now, changes_all=changes_all)
    changes_held = changes_all or change.standing[0] != change.standing[1]
    holds, held = (changes_held and _holds_now(one, now) for one in (new, old))
    after = _subject(new, added, now, holds_now=holds)
    either = _subject(new or old, [*removed, *added], now, holds_now=holds or held)
    if either is not None:
        either = either._replace(clusters={**_clusters(old), **_clusters(new)})
    rehearsals = [*change.rehearsals.added, *(one for _, one in change.rehearsals.changed)]
    costing = _subject(new, [*added, *_coming(new, rehearsals, now)], now, holds_now=holds)
    for policy in policies:
        subject = after if policy.when.notice_below is None else either
        if policy.when.cost_above is not None and policy.when.notice_below is None:
            subject = costing
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
    version: ReservationVersion | None, dates: Sequence[Occurrence], now: int, *, holds_now: bool
) -> PolicySubject | None:
    """Return what policies look at: these dates, beside all others that the version has at the same time."""
    if version is None:
        return None
    coming = coming_occurrences(version.reservation, version.occurrences, now)
    known = {resource_class.name: resource_class for resource_class in version.classes}
    return PolicySubject(version.reservation, _clusters(version), dates, holds_now, now, coming, known)


def _coming(
    version: ReservationVersion | None, rehearsals: Sequence[Occurrence], now: int
) -> Sequence[Occurrence]:
    return () if version is None else coming_occurrences(version.reservation, rehearsals, now)


def _holds_now(version: ReservationVersion | None, now: int) -> bool:
    """Tell whether this version holds seats without windows now."""
    return version is not None and holds_without_windows(version.reservation, now)


def _differing_dates(
    old: ReservationVersion | None, new: ReservationVersion | None, now: int, *, changes_all: bool
) -> tuple[list[Occurrence], list[Occurrence]]:
    """Return the dates to come that only the old version has as they are, and those of the new one."""
    before, after = (
        coming_occurrences(one.reservation, one.occurrences, now) if one else () for one in (old, new)
    )
    if changes_all:
        return [*before], [*after]
    known = {_values(item) for item in before}, {_values(item) for item in after}
    removed = [item for item in before if _values(item) not in known[1]]
    return removed, [item for item in after if _values(item) not in known[0]]


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
