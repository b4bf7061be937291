"""Judge reservations, and changes of them, by the policies of the site.

A policy looks at the occurrences that it is given: of a reservation, those that are not over; of a change,
those that it adds or changes. The current time is always an argument.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from berth.dates.moments import hours_text
from berth.dates.occurrence import Occurrence
from berth.findings import Problem
from berth.schema.values import (
    APPROVAL,
    REFUSE,
    WARN,
    Policy,
    PolicyMatch,
    Reservation,
    Site,
)

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


class PolicyCase(NamedTuple):
    """What one policy looks at: classes of a reservation, and their measures.

    `seats` are the most of one occurrence, `lead` is in minutes. `notice`: the seconds until a change takes
    effect; None: nothing changes.
    """

    policy: Policy
    reservation: Reservation
    classes: frozenset[str]
    seats: int
    lead: int
    notice: int | None = None


class PolicyResult(NamedTuple):
    """A policy whose conditions hold for a reservation, and why.

    `lacks_cost`: all others hold, and whether it costs too much is not known.
    """

    policy: Policy
    reservation: Reservation
    reasons: tuple[str, ...]
    lacks_cost: bool = False


def selected_classes(policy: Policy, reservation: Reservation, clusters: Mapping[str, str]) -> frozenset[str]:
    """Return the classes of a reservation that a policy is about. `clusters`: the cluster of each class."""
    found = _matched(policy.match, reservation, clusters)
    if policy.unless is None:
        return found
    return found - _matched(policy.unless, reservation, clusters)


def _matched(match: PolicyMatch, reservation: Reservation, clusters: Mapping[str, str]) -> frozenset[str]:
    owner = reservation.owner
    is_meant = (
        _fits(match.names, (reservation.name,))
        and _fits(match.owners, (owner.name, owner.contact) if owner else ())
        and {*match.labels} <= {*reservation.labels}
    )
    return frozenset(
        name
        for name, cluster in clusters.items()
        if is_meant
        and (not match.classes or name in match.classes)
        and (not match.clusters or cluster in match.clusters)
    )


def _fits(patterns: Sequence[str], words: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(word, pattern) for word in words for pattern in patterns)


class PolicySubject(NamedTuple):
    """What policies look at: a reservation with the cluster of each class, and some of its occurrences.

    `holds_now`: it holds seats without windows. `now`: when a change is judged; None: nothing changes.
    """

    reservation: Reservation
    clusters: Mapping[str, str]
    occurrences: Sequence[Occurrence]
    holds_now: bool = False
    now: int | None = None


def policy_case(policy: Policy, subject: PolicySubject) -> PolicyCase | None:
    """Return what a policy looks at; None if it is about nothing of the subject."""
    reservation, now = subject.reservation, subject.now
    classes = selected_classes(policy, reservation, subject.clusters)
    if not classes:
        return None
    selected = [one for item in subject.occurrences if (one := item.of_classes(classes)).seats]
    counts = [sum(count for _, count in one.seats) for one in selected]
    opens = [one.open for one in selected]
    if subject.holds_now:
        counts.append(sum(count for name, count in reservation.seats if name in classes))
        opens.append(now or 0)
    if not counts:
        return None
    lead = max(((one.start - one.open) // 60 for one in selected), default=0)
    notice = None if now is None else max(min(opens) - now, 0)
    return PolicyCase(policy, reservation, classes, max(counts), lead, notice)


def judge(case: PolicyCase, costs: PoolCosts) -> PolicyResult | None:
    """Return the result for one policy; None if a condition does not hold."""
    when, reasons = case.policy.when, []
    unit = case.reservation.holder.unit
    if when.seats is not None:
        if case.seats <= when.seats:
            return None
        reasons.append(f"{case.seats} {unit.word if case.seats == 1 else unit.plural}, above {when.seats}")
    if when.lead is not None:
        if case.lead <= when.lead:
            return None
        reasons.append(f"lead {case.lead} min, above {when.lead}")
    if when.notice is not None:
        if case.notice is None or case.notice >= when.notice:
            return None
        reasons.append(f"notice {hours_text(case.notice)} h, below {hours_text(when.notice)}")
    lacks_cost = False
    if when.cost is not None:
        cost = _cost(case, costs)
        lacks_cost = cost is None or (cost.is_partial and cost.amount <= when.cost)
        if cost is not None and not lacks_cost:
            if cost.amount <= when.cost:
                return None
            least = "at least " if cost.is_partial else ""
            reasons.append(f"cost {least}{cost.amount:,} USD, above {when.cost:,}")
    return PolicyResult(case.policy, case.reservation, tuple(reasons), lacks_cost)


def compare_costs(policies: Iterable[Policy]) -> bool:
    """Tell whether any policy needs to know what reservations cost."""
    return any(policy.when.cost is not None for policy in policies)


def _cost(case: PolicyCase, costs: PoolCosts) -> PoolCost | None:
    """Return what all pools of a case cost; None if nothing plans any of them."""
    keys = [(case.reservation.name, name) for name in sorted(case.classes)]
    known = [costs[key] for key in keys if key in costs]
    if not known:
        return None
    is_partial = len(known) < len(keys) or any(one.is_partial for one in known)
    return PoolCost(sum((one.amount for one in known[1:]), known[0].amount), is_partial)


# `berth validate`: reservations as they are


def cases_of_reservation(
    site: Site,
    reservation: Reservation,
    clusters: Mapping[str, str],
    occurrences: Sequence[Occurrence],
    now: int,
) -> Iterator[PolicyCase]:
    """Yield what the policies look at of a reservation.

    Policies about the notice of a change are left out.
    """
    coming = coming_occurrences(reservation, occurrences, now)
    subject = PolicySubject(reservation, clusters, coming, holds_without_windows(reservation, now))
    for policy in site.policies:
        case = None if policy.when.notice is not None else policy_case(policy, subject)
        if case is not None:
            yield case


def coming_occurrences(
    reservation: Reservation, occurrences: Iterable[Occurrence], now: int
) -> tuple[Occurrence, ...]:
    """Return the occurrences that are not over; a suspended reservation has none."""
    return () if reservation.suspend else tuple(item for item in occurrences if item.end > now)


def holds_without_windows(reservation: Reservation, now: int) -> bool:
    found = reservation.holder.persistence
    return found is not None and not reservation.suspend and found.is_open(now)


def policy_problems(site: Site, cases: Iterable[PolicyCase], costs: PoolCosts) -> Iterator[Problem]:
    """Report the policies that hold, at the reservations, and those that cannot be compared, once each."""
    unknown: dict[str, list[str]] = {}
    for result in (found for case in cases if (found := judge(case, costs))):
        policy, reservation = result.policy, result.reservation
        if result.lacks_cost:
            unknown.setdefault(policy.name, []).append(reservation.name)
            continue
        path = (*reservation.origin.prefix, "provisioning") if reservation.renku else ("spec", "provisioning")
        at = *reservation.origin[:2], path
        yield Problem(PROBLEM_CODES[policy.effect], *at, f"{result_text(result)}.", _FIXES[policy.effect])
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
            yield Problem(NO_COST, *site.origin[:2], path, message, fix)


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
