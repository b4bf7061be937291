"""Judge reservations, and changes of them, by the policies of the site.

A policy looks at the occurrences that it is given: of a reservation, those that are not over; of a change,
those that it adds or changes. The current time is always an argument.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from berth.checks.ceilings import ClassSteps, add_steps, named_pool_steps, pool_steps
from berth.dates.expansion import Occurrence
from berth.dates.moments import hours_text
from berth.dates.recurrence import expand
from berth.findings import Origin, Problem
from berth.manifests.placed import Placed, placed
from berth.schema.declared import RESERVATION, Declared
from berth.schema.policies import APPROVAL, REFUSE, WARN, MatchSpec, PolicySpec
from berth.schema.reservation import Reservation
from berth.schema.values import ResourceClass, Site

if TYPE_CHECKING:
    from decimal import Decimal

REFUSED, WARNED, NEEDS_APPROVAL, NO_COST = "B230", "B231", "B232", "B233"
PROBLEM_CODES = {REFUSE: REFUSED, WARN: WARNED, APPROVAL: NEEDS_APPROVAL}
_FIXES = {
    REFUSE: "Change the reservation, or ask the platform team to leave it out of the policy.",
    WARN: "Check that this is meant.",
    APPROVAL: "A pull request that changes these dates needs it.",
}
_FEW = 3  # names that are listed


class PoolCost(NamedTuple):
    """What the machines of one pool cost, in dollars; `is_partial`: at least, because a price is missing."""

    amount: "Decimal"
    is_partial: bool = False


PoolCosts = Mapping[tuple[str, str], PoolCost]
"""By reservation and class; a pool that nothing plans is not in it."""


class SharedSubject(NamedTuple):
    """A document that all reservations share, and that changes.

    `namespaces` are those of its sessions; None: any, by their labels.
    """

    kind: str
    name: str
    origin: Origin
    namespaces: tuple[str, ...] | None = ()


class PolicyCase(NamedTuple):
    """What one policy looks at: classes of a reservation, and their measures.

    `seats` are the most that are open at once, or held outside of windows; `lead` is in minutes. `notice`:
    the seconds until a change takes effect; None: nothing changes.
    """

    policy: PolicySpec
    reservation: Reservation
    classes: frozenset[str]
    seats: int
    lead: int
    notice: int | None = None


class PolicyResult(NamedTuple):
    """A policy whose conditions hold for a reservation, and why.

    `lacks_cost`: all others hold, and whether it costs too much is not known.
    """

    policy: PolicySpec
    reservation: Reservation | SharedSubject
    reasons: tuple[str, ...]
    lacks_cost: bool = False

    @property
    def subject(self) -> str:
        """The name of the reservation, or kind and name of a document that all share."""
        reservation = self.reservation
        return (
            f"{reservation.kind} {reservation.name}"
            if isinstance(reservation, SharedSubject)
            else reservation.name
        )


def selected_classes(
    policy: PolicySpec,
    reservation: Reservation,
    clusters: Mapping[str, str],
    known: Mapping[str, ResourceClass] | None = None,
) -> frozenset[str]:
    """Return the classes of a reservation that a policy is about. `clusters`: the cluster of each class."""
    classes = _matched(policy.match, reservation, clusters, known or {})
    if policy.unless is None:
        return classes
    return classes - _matched(policy.unless, reservation, clusters, known or {}, exempts=True)


def shared_result(policy: PolicySpec, subject: SharedSubject) -> PolicyResult | None:
    """Return the result for a changed document that all share; None if the policy is not about it."""
    if not _is_about(policy.match, subject):
        return None
    if policy.unless is not None and _is_about(policy.unless, subject, exempts=True):
        return None
    return PolicyResult(policy, subject, (f"this {subject.kind} changes",))


def _is_about(match: MatchSpec, subject: SharedSubject, *, exempts: bool = False) -> bool:
    default = (subject.kind,) if exempts else ()
    return (
        subject.kind in (match.kinds or default)
        and _fits(match.names, (subject.name,))
        and _fits_namespaces(match, subject.namespaces, exempts=exempts)
        and not (
            match.owners or match.labels or match.classes or match.clusters or match.backends or match.targets
        )
    )


def _matched(
    match: MatchSpec,
    reservation: Reservation,
    clusters: Mapping[str, str],
    known: Mapping[str, ResourceClass],
    *,
    exempts: bool = False,
) -> frozenset[str]:
    owner = reservation.owner
    is_meant = (
        _fits(match.names, (reservation.name,))
        and _fits(match.owners, (owner.name, owner.contact or "") if owner else ())
        and match.labels.items() <= {*reservation.labels}
        and (not match.kinds or RESERVATION in match.kinds)
        and (not match.backends or reservation.holder.backend in match.backends)
        and _fits(match.targets, tuple(filter(None, (reservation.holder.target_text,))))
    )
    return frozenset(
        name
        for name, cluster in clusters.items()
        if is_meant
        and (not match.classes or name in match.classes)
        and (not match.clusters or cluster in match.clusters)
        and _fits_namespaces(
            match, _namespaces(reservation, known.get(name), exempts=exempts), exempts=exempts
        )
    )


def _namespaces(
    reservation: Reservation,
    resource_class: ResourceClass | None,
    *,
    exempts: bool,
) -> tuple[str, ...] | None:
    """Return the namespaces of those who may take the seats of a class; None: any.

    What a reservation narrows them to does not count: its author writes it, and any session of the class
    takes the seats. What it adds counts, the owners of slots, but leaves nothing out by itself.
    """
    namespaces, owners = class_namespaces(resource_class), [*reservation.holder.owner_namespaces]
    if namespaces is None or None in owners:
        return None
    return () if exempts and not namespaces else (*namespaces, *filter(None, owners))


def class_namespaces(found: ResourceClass | None) -> tuple[str, ...] | None:
    """Return the namespaces of the sessions of a class; None: any, because labels tell which."""
    sessions = found.sessions if found else None
    if sessions is None:
        return ()
    return None if sessions.namespace_labels else sessions.namespace_names


def _fits_namespaces(match: MatchSpec, namespaces: tuple[str, ...] | None, *, exempts: bool) -> bool:
    """Tell whether a policy is about one of these namespaces, or leaves all of them out (`exempts`).

    Any namespace can get a label: a policy about some is then about it, and only `*` leaves it out.
    """
    if namespaces is None:
        return not match.namespaces or not exempts or "*" in match.namespaces
    if exempts and namespaces:
        return all(_fits(match.namespaces, (namespace,)) for namespace in namespaces)
    return _fits(match.namespaces, namespaces)


def _fits(patterns: Sequence[str], words: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(word, pattern) for word in words for pattern in patterns)


class PolicySubject(NamedTuple):
    """What policies look at: a reservation with the cluster of each class, and some of its occurrences.

    `holds_now`: it holds seats without windows. `now`: when a change is judged; None: nothing changes.
    `everything`: all of its dates to come, of which `occurrences` are some; by default all. `known`: its
    classes by name. `otherwise`: what it holds outside of windows. `is_permitted`: it gets permissions on an
    object of somebody else, whatever its dates. `added`: what others add, see `added_steps`.
    """

    reservation: Reservation
    clusters: Mapping[str, str]
    occurrences: Sequence[Occurrence]
    holds_now: bool = False
    now: int | None = None
    everything: Sequence[Occurrence] | None = None
    known: Mapping[str, ResourceClass] = {}
    otherwise: int = 0
    is_permitted: bool = False
    added: ClassSteps = ()


def policy_case(policy: PolicySpec, subject: PolicySubject) -> PolicyCase | None:
    """Return what a policy looks at; None if it is about nothing of the subject.

    A policy without conditions looks at a reservation without dates, too, if that gets permissions.
    """
    reservation, now = subject.reservation, subject.now
    classes = selected_classes(policy, reservation, subject.clusters, subject.known)
    if not classes:
        return None
    selected = [occurrence for item in subject.occurrences if (occurrence := item.of_classes(classes)).seats]
    counts = [_most_at_once(subject, classes, selected)] if selected else []
    opens = [occurrence.open for occurrence in selected]
    if subject.holds_now:
        counts.append(sum(count for name, count in reservation.seats if name in classes))
        opens.append(now or 0)
    if subject.otherwise:
        counts.append(subject.otherwise)
    if not counts and not (subject.is_permitted and policy.when.is_blank):
        return None
    lead = max(((occurrence.start - occurrence.open) // 60 for occurrence in selected), default=0)
    notice = None if now is None else max(min(opens, default=now) - now, 0)
    return PolicyCase(policy, reservation, classes, max(counts, default=0), lead, notice)


def _most_at_once(subject: PolicySubject, classes: frozenset[str], selected: Sequence[Occurrence]) -> int:
    """Return the most seats that are open at one time during the selected dates, those of others included."""
    everything = subject.occurrences if subject.everything is None else subject.everything
    most = max(sum(count for _, count in occurrence.seats) for occurrence in selected)
    pools = [steps for name, steps in subject.added if name in classes]
    for name in classes:
        resource_class = subject.known.get(name)
        has_sessions = resource_class is not None and resource_class.sessions is not None
        pools.append(named_pool_steps(subject.reservation, name, has_sessions, everything))
    changes = add_steps(pools)
    minutes = sorted(changes)
    levels = [*accumulate(changes[minute] for minute in minutes)]
    for occurrence in selected:
        first = max(bisect_right(minutes, occurrence.open // 60) - 1, 0)
        until = bisect_left(minutes, occurrence.end // 60)
        most = max([most, *levels[first:until]])
    return most


def added_steps(place: Placed, declared: Declared, site: Site) -> Iterator[tuple[str, list[int]]]:
    """Yield what other reservations add to the same number in a cluster, each with its leads.

    It counts for the class that the reservation has there.
    """
    if not place.peers or place.reservation.overlap != "sum":
        return
    here = place.classes[0].name
    for other in declared.reservations:
        if other.name not in place.peers or other.suspend:
            continue
        there = [part for part in placed(other, declared, site) if part.cluster.name == place.cluster.name]
        windows = expand(other, declared.calendars).windows
        for resource_class in (found for part in there for found in part.classes):
            yield here, pool_steps(other, resource_class, windows)


def judge(case: PolicyCase, costs: PoolCosts) -> PolicyResult | None:
    """Return the result for one policy; None if a condition does not hold."""
    when, reasons = case.policy.when, []
    unit = case.reservation.holder.unit
    seats = f"{case.seats} {unit.word if case.seats == 1 else unit.plural}"
    for limit, measure, words in (
        (when.seats_above, case.seats, seats),
        (when.lead_above, case.lead, f"lead {case.lead} min"),
    ):
        if limit is None:
            continue
        if measure is None or measure <= limit:
            return None
        reasons.append(f"{words}, above {limit}")
    if when.notice_below is not None:
        if case.notice is None or case.notice >= when.notice_below:
            return None
        reasons.append(f"notice {hours_text(case.notice)} h, below {hours_text(when.notice_below)}")
    lacks_cost = False
    if when.cost_above is not None:
        cost = _cost(case, costs)
        lacks_cost = cost is None or (cost.is_partial and cost.amount <= when.cost_above)
        if cost is not None and not lacks_cost:
            if cost.amount <= when.cost_above:
                return None
            least = "at least " if cost.is_partial else ""
            reasons.append(f"cost {least}{cost.amount:,} USD, above {when.cost_above:,}")
    return PolicyResult(case.policy, case.reservation, tuple(reasons), lacks_cost)


def compare_costs(policies: Iterable[PolicySpec]) -> bool:
    """Tell whether any policy needs to know what reservations cost."""
    return any(policy.when.cost_above is not None for policy in policies)


def _cost(case: PolicyCase, costs: PoolCosts) -> PoolCost | None:
    """Return what all pools of a case cost; None if nothing plans any of them."""
    keys = [(case.reservation.name, name) for name in sorted(case.classes)]
    known = [costs[key] for key in keys if key in costs]
    if not known:
        return None
    is_partial = len(known) < len(keys) or any(cost.is_partial for cost in known)
    return PoolCost(sum((cost.amount for cost in known[1:]), known[0].amount), is_partial)


# `berth validate`: reservations as they are


def cases_of_reservation(site: Site, subject: PolicySubject, now: int) -> Iterator[PolicyCase]:
    """Yield what the policies look at of a reservation, of whose dates those that are over do not count.

    Policies about the notice of a change are left out.
    """
    reservation = subject.reservation
    coming = coming_occurrences(reservation, subject.occurrences, now)
    holds_now = holds_without_windows(reservation, now)
    otherwise = (reservation.holder.otherwise_count or 0) if coming else 0
    subject = subject._replace(
        occurrences=coming,
        holds_now=holds_now,
        otherwise=otherwise,
        is_permitted=bool(reservation.holder.target_text),
    )
    for policy in site.policies:
        case = None if policy.when.notice_below is not None else policy_case(policy, subject)
        if case is not None:
            yield case


def coming_occurrences(
    reservation: Reservation, occurrences: Iterable[Occurrence], now: int
) -> tuple[Occurrence, ...]:
    """Return the occurrences that are not over; a suspended reservation has none."""
    return () if reservation.suspend else tuple(item for item in occurrences if item.end > now)


def holds_without_windows(reservation: Reservation, now: int) -> bool:
    persistence = reservation.holder.persistence
    return persistence is not None and not reservation.suspend and persistence.is_open(now)


def check_policies(site: Site, cases: Iterable[PolicyCase], costs: PoolCosts) -> Iterator[Problem]:
    """Report the policies that hold, at the reservations, and those that cannot be compared, once each."""
    unknown: dict[str, list[str]] = {}
    for result in (judged for case in cases if (judged := judge(case, costs))):
        policy, reservation = result.policy, result.reservation
        assert isinstance(reservation, Reservation)
        if result.lacks_cost:
            unknown.setdefault(policy.name, []).append(reservation.name)
            continue
        code, message, fix = PROBLEM_CODES[policy.effect], f"{result_text(result)}.", _FIXES[policy.effect]
        yield reservation.problem(code, ("spec", "provisioning"), message, fix)
    for i, policy in enumerate(site.policies):
        if policy.name in unknown:
            names = unknown[policy.name]
            more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
            message = (
                f"policy {policy.name} compares the cost of {', '.join(names[:_FEW])}{more}, "
                "which is not known."
            )
            fix = "Let their classes name a cloudCapacity with prices, or leave them out of the policy."
            path = ("spec", "policies", i, "when", "costAbove")
            yield site.origin.problem(NO_COST, path, message, fix)


def result_text(result: PolicyResult) -> str:
    """Return `needs approval by platform, policy large: 300 seats, above 100`."""
    policy = result.policy
    if result.lacks_cost:
        return f"policy {policy.name} compares its cost, which is not known"
    subject = {
        APPROVAL: f"needs approval by {policy.approver}, policy {policy.name}",
        REFUSE: f"refused by policy {policy.name}",
        WARN: f"policy {policy.name}",
    }[policy.effect]
    return f"{subject}: {'; '.join(result.reasons)}" if result.reasons else subject
