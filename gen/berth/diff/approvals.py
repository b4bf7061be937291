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
    selected_classes,
)
from berth.dates.expansion import Occurrence
from berth.diff.change import CHANGED, ReservationChange
from berth.diff.compare import ReservationVersion
from berth.schema.plainfields import plain_settings
from berth.schema.policies import PolicySpec
from berth.schema.reservation import Reservation
from berth.schema.values import ResourceClass


def policy_cases(
    change: ReservationChange | None,
    old: ReservationVersion | None,
    new: ReservationVersion | None,
    policies: Sequence[PolicySpec],
    now: int,
) -> Iterator[PolicyCase]:
    """Yield what each policy looks at. Without a `change`, only classes differ in what they do not show.

    Windows that are over do not count. One that is removed counts only for policies about the notice, and so
    do all of a class that such a policy is not about any more. A reservation that gets permissions counts
    without windows, if all of them would.
    """
    changes_all = bool(change and change.kind != CHANGED) or _differ_on_all_dates(old, new)
    removed, added = _differing_windows(old, new, now, changes_all=changes_all)
    changes_held = changes_all or bool(change and change.standing[0] != change.standing[1])
    holds, held = (changes_held and _holds_now(one, now) for one in (new, old))
    after = _subject(new, added, now, holds_now=holds)
    if after is not None and (changes_all or added):
        after = after._replace(otherwise=after.reservation.holder.otherwise_count or 0)
    if after is not None and changes_all:
        after = after._replace(is_permitted=bool(after.reservation.holder.target_text))
    either = _subject(new, [*removed, *added], now, holds_now=holds or held)
    for policy in policies:
        if policy.when.notice_below is None:
            case = policy_case(policy, after) if after else None
        else:
            found = policy_case(policy, either) if either else None
            case = _joined(found, _case_of_left(policy, old, new, now))
        if case is not None:
            yield case


def _case_of_left(
    policy: PolicySpec, old: ReservationVersion | None, new: ReservationVersion | None, now: int
) -> PolicyCase | None:
    """Return what a policy looks at of the classes that it was about in the old version only.

    For it they are removed on all dates, also where the dates are the same: the target, the owner or a label
    may differ.
    """
    windows = coming_occurrences(old.reservation, old.windows, now) if old else ()
    subject = _subject(old, windows, now, holds_now=_holds_now(old, now))
    if subject is None:
        return None
    left = _classes_of(policy, old) - _classes_of(policy, new)
    return policy_case(
        policy, subject._replace(clusters={name: subject.clusters[name] for name in sorted(left)})
    )


def _classes_of(policy: PolicySpec, version: ReservationVersion | None) -> frozenset[str]:
    """Return the classes of a version that a policy is about."""
    if version is None:
        return frozenset()
    return selected_classes(policy, version.reservation, _clusters(version), _classes_by_name(version))


def _joined(one: PolicyCase | None, other: PolicyCase | None) -> PolicyCase | None:
    """Return both as one, for a reservation of which some classes leave a policy and others change."""
    if one is None or other is None:
        return one or other
    notices = [case.notice for case in (one, other) if case.notice is not None]
    return one._replace(
        classes=one.classes | other.classes,
        seats=max(one.seats, other.seats),
        lead=max(one.lead, other.lead),
        notice=min(notices, default=None),
    )


def _clusters(version: ReservationVersion) -> dict[str, str]:
    """Return the cluster of each class."""
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
    known = _classes_by_name(version)
    subject = PolicySubject(version.reservation, _clusters(version), windows, holds_now, now, coming, known)
    return subject._replace(added=version.added_steps)


def _classes_by_name(version: ReservationVersion) -> dict[str, ResourceClass]:
    return {resource_class.name: resource_class for resource_class in version.classes}


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
