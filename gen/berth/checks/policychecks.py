"""Judge reservations, and changes of them, by the policies of the site.

A change is two sets of windows, before and after. A policy looks at what is new or larger from now on, class
by class: at the peak at any instant, over all that the changed reservations have open then, so that nobody
avoids a policy by several of them. A policy about the notice also looks at what is removed. Without a change,
all of a reservation is new. A rehearsal asks for real seats, so its window counts as that of a date. The
current time is always an argument.
"""

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import chain, pairwise
from typing import TYPE_CHECKING, NamedTuple

from berth.checks.basenames import BaseNames, class_namespaces
from berth.checks.ceilings import NO_END, Steps, pool_steps, step_pairs
from berth.dates.expansion import Occurrence
from berth.dates.moments import hours_text
from berth.dates.recurrence import expand
from berth.findings import Origin, Problem
from berth.manifests.placed import Placed, placed
from berth.schema.declared import RESERVATION, Declared
from berth.schema.plainfields import plain_settings
from berth.schema.policies import APPROVAL, REFUSE, WARN, MatchSpec, PolicySpec
from berth.schema.reservation import Reservation
from berth.schema.seatholders import Unit
from berth.schema.values import ResourceClass, Site

if TYPE_CHECKING:
    from decimal import Decimal

PROBLEM_CODES = {REFUSE: "B230", WARN: "B231", APPROVAL: "B232"}
_FIXES = {
    REFUSE: "Change the reservation, or ask the platform team to leave it out of the policy.",
    WARN: "Check that this is meant.",
    APPROVAL: "A pull request that changes these dates needs it.",
}
_FEW = 3  # names that are listed
_IN_ALL = " in all of this change"


class PoolCost(NamedTuple):
    """What the machines of one pool cost, in dollars; `is_partial`: at least, because a price is missing."""

    amount: "Decimal"
    is_partial: bool = False


PoolKey = tuple[str, str]
"""Reservation and class."""

PoolCosts = Mapping[PoolKey, PoolCost]
"""Without the pools that nothing plans."""


class SharedSubject(NamedTuple):
    """A document that all reservations share, and that changes.

    `namespaces` are those of its sessions; None: any, by their labels.
    """

    kind: str
    name: str
    origin: Origin
    namespaces: tuple[str, ...] | None = ()


class PolicyPool(NamedTuple):
    """A class of a reservation, with the changes of its pool; `added`: by others who hold the same number."""

    resource_class: ResourceClass
    cluster: str
    steps: Steps
    added: Steps = ()


class PolicySubject(NamedTuple):
    """A reservation as policies look at it: its windows, and its pools by class."""

    reservation: Reservation
    windows: Sequence[Occurrence]
    pools: Mapping[str, PolicyPool]


class PolicyCase(NamedTuple):
    """What one policy looks at: pools of a reservation, and their measures.

    `seats` are the most that are open at once, or held outside of windows; `lead` is in minutes.
    `seat_seconds` are those of all dates to come, before and after. `notice`: the seconds until a change
    takes effect. `open_then`: minutes, and the seats before and after. `alone`: the same without the rest of
    the change.
    """

    policy: PolicySpec
    reservation: Reservation
    pools: frozenset[PoolKey]
    seats: int
    lead: int
    seat_seconds: tuple[float, ...] = (0,)
    notice: int = 0
    open_then: tuple[tuple[int, int, tuple[int, ...]], ...] = ()
    alone: "PolicyCase | None" = None


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


def policy_subject(
    reservation: Reservation, windows: Sequence[Occurrence], declared: Declared, site: Site
) -> PolicySubject:
    """Return a reservation as policies look at it. `windows`: all of it."""
    suspended = reservation.suspend
    pools = {
        found.name: PolicyPool(
            found,
            place.cluster.name,
            () if suspended else pool_steps(reservation, found, windows),
            [*_added_steps(place, declared, site)] if found is place.classes[0] else (),
        )
        for place in placed(reservation, declared, site)
        for found in place.classes
    }
    return PolicySubject(reservation, () if suspended else windows, pools)


def _added_steps(place: Placed, declared: Declared, site: Site) -> Iterator[int]:
    """Yield what other reservations add to the same number in a cluster, each with its leads."""
    if not place.peers or place.reservation.overlap != "sum":
        return
    for other in declared.reservations:
        if other.name in place.peers and not other.suspend:
            windows = expand(other, declared.calendars).occurrences
            for there in placed(other, declared, site):
                for found in there.classes if there.cluster.name == place.cluster.name else ():
                    yield from pool_steps(other, found, windows)


# What a policy is about


def selected_pools(
    policy: PolicySpec, subject: PolicySubject | None, base: BaseNames | None = None
) -> dict[str, PolicyPool]:
    """Return the classes of a reservation that a policy is about. `base`: it is a policy of this base."""
    return {
        name: pool
        for name, pool in (subject.pools if subject else {}).items()
        if subject and _applies(policy, _facts(subject.reservation, pool, base), base)
    }


def shared_result(
    policy: PolicySpec, subject: SharedSubject, base: BaseNames | None = None, *, is_new: bool = False
) -> PolicyResult | None:
    """Return the result for a changed document that all share; None if the policy is not about it."""
    unknown = ("names",) if is_new and base else ()
    facts = _Facts(subject.kind, {"names": (subject.name,)}, unknown, subject.namespaces)
    if not _applies(policy, facts, base):
        return None
    return PolicyResult(policy, subject, (f"this {subject.kind} changes",))


class _Facts(NamedTuple):
    """What a policy compares: words by key, of which the base does not know some.

    `namespaces`: of those who may take the seats; None: any. `others`: those that do not leave it out.
    """

    kind: str
    words: Mapping[str, Sequence[str]]
    unknown: Collection[str]
    namespaces: tuple[str, ...] | None
    others: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()


def _facts(reservation: Reservation, pool: PolicyPool, base: BaseNames | None) -> _Facts:
    """Return the facts of one class of a reservation.

    What a reservation narrows the namespaces to does not count: its author writes it, and any session of the
    class takes the seats. What it adds counts, the owners of slots, but leaves nothing out by itself.
    """
    owner, holder, found = reservation.owner, reservation.holder, pool.resource_class
    namespaces, owners = class_namespaces(found), [*holder.owner_namespaces]
    words = {
        "names": (reservation.name,),
        "owners": (owner.name, owner.contact or "") if owner else (),
        "classes": (found.name,),
        "clusters": (pool.cluster,),
        "backends": (holder.backend,),
        "targets": (holder.target_text,) if holder.target_text else (),
    }
    unknown = []
    if base is not None:
        unknown += [] if base.knows_class(found) else ["classes"]
        unknown += [] if pool.cluster in base.clusters else ["clusters"]
    others = tuple(filter(None, owners))
    return _Facts(
        RESERVATION, words, unknown, None if None in owners else namespaces, others, reservation.labels
    )


def _applies(policy: PolicySpec, facts: _Facts, base: BaseNames | None) -> bool:
    return _is_about(policy.match, facts, base) and not (
        policy.unless is not None and _is_about(policy.unless, facts, base, exempts=True)
    )


def _is_about(match: MatchSpec, facts: _Facts, base: BaseNames | None, *, exempts: bool = False) -> bool:
    return (
        (facts.kind in match.kinds if match.kinds else exempts or facts.kind == RESERVATION)
        and match.labels.items() <= {*facts.labels}
        and all(
            _fits(getattr(match, key), facts.words.get(key, ()), key in facts.unknown, exempts=exempts)
            for key in ("names", "owners", "classes", "clusters", "backends", "targets")
        )
        and _fits_namespaces(match, facts, base, exempts=exempts)
    )


def _fits_namespaces(match: MatchSpec, facts: _Facts, base: BaseNames | None, *, exempts: bool) -> bool:
    """Tell whether a policy is about one of the namespaces, or leaves all of them out (`exempts`).

    Any namespace can get a label, so with None, and with one that the base does not know, it may be any.
    """
    namespaces = (*(facts.namespaces or ()), *facts.others)
    is_any = facts.namespaces is None or (base is not None and not base.namespaces.issuperset(namespaces))
    if exempts and not is_any and facts.namespaces:
        return all(_fits(match.namespaces, (namespace,)) for namespace in namespaces)
    return _fits(match.namespaces, () if exempts else namespaces, is_any, exempts=exempts)


def _fits(
    patterns: Sequence[str], words: Sequence[str], is_unknown: bool = False, *, exempts: bool = False
) -> bool:
    """Tell whether one of the words fits a pattern, or there is none.

    What is unknown may be anything: it fits what a policy is about, and of what it leaves out only `*`.
    """
    if is_unknown and patterns:
        return not exempts or "*" in patterns
    return not patterns or any(fnmatchcase(word, pattern) for word in words for pattern in patterns)


# What is new or larger


class _Moment(NamedTuple):
    """A range of minutes, with the seats before and after."""

    since: int
    until: int
    seats: tuple[int, int]
    is_larger: bool  # in any pool
    differs: bool

    def seat_seconds(self, side: int) -> float:
        has_end = self.until < NO_END or not self.seats[side]
        return 60 * (self.until - self.since) * self.seats[side] if has_end else math.inf


def _moments(
    before: Mapping[str, PolicyPool], after: Mapping[str, PolicyPool], same: Collection[str], first: int
) -> Iterator[_Moment]:
    """Yield what is open of the pools of each side, by time, from the first minute on.

    What is not the same on both sides goes and comes. What others add is not compared.
    """
    sides = before, after
    pairs: list[Sequence[Steps]] = [[[*chain(*(pool.added for pool in side.values()))] for side in sides]]
    for name in {*before, *after}:
        was, becomes = (side[name].steps if name in side else () for side in sides)
        pairs += [(was, becomes)] if name in same else [(was, ()), ((), becomes)]
    events: dict[int, list[tuple[int, int, int]]] = {}
    for pool, pair in enumerate(pairs):
        for side, steps in enumerate(pair):
            for minute, change in step_pairs(steps):
                events.setdefault(minute, []).append((pool, side, change))
    counts = [[0, 0] for _ in pairs]
    for since, until in pairwise([*sorted(events), NO_END]):
        for pool, side, change in events[since]:
            counts[pool][side] += change
        if until > first:
            seats = sum(pair[0] for pair in counts), sum(pair[1] for pair in counts)
            is_larger, differs = any(a > b for b, a in counts[1:]), any(a != b for b, a in counts[1:])
            yield _Moment(max(since, first), until, seats, is_larger, differs)


def policy_cases(
    old: PolicySubject | None,
    new: PolicySubject | None,
    policies: Iterable[tuple[PolicySpec, BaseNames | None]],
    now: int,
    *,
    is_change: bool = True,
) -> Iterator[PolicyCase]:
    """Yield what each policy looks at. A policy of the base of a change comes with what the base knows.

    Without windows count what a number is otherwise, and, for a policy without conditions, a reservation that
    gets permissions, if none of the classes stays as it was.
    """
    same = _unchanged_classes(old, new) if old and new else frozenset()
    for policy, base in policies:
        sides = selected_pools(policy, old, base), selected_pools(policy, new, base)
        with_removed = policy.when.notice_below is not None
        subject = new if sides[1] else old
        if subject is None or not (sides[1] or (with_removed and sides[0])):
            continue
        measured = (0, 1) if with_removed else (1,)
        moments = [*_moments(*sides, same, now // 60)]
        judged = [moment for moment in moments if moment.is_larger or (with_removed and moment.differs)]
        counts = [moment.seats[side] for moment in judged for side in measured]
        holder = subject.reservation.holder
        is_anew = bool(sides[1]) and not same & sides[0].keys() & sides[1].keys()
        is_larger = any(moment.is_larger for moment in judged)
        if holder.otherwise_count and (is_larger or (is_anew and is_change)):
            counts.append(holder.otherwise_count)
        if not counts and not (is_anew and holder.target_text and policy.when.is_blank):
            continue
        windows = [
            window for side in measured for window in _windows_during(judged, (old, new)[side], sides[side])
        ]
        opens = min((window.open for window in windows), default=60 * judged[0].since if judged else now)
        yield PolicyCase(
            policy,
            subject.reservation,
            frozenset((subject.reservation.name, name) for side in measured for name in sides[side]),
            max(counts, default=0),
            max(((window.start - window.open) // 60 for window in windows), default=0),
            tuple(sum(moment.seat_seconds(side) for moment in moments) for side in measured),
            max(opens - now, 0),
            tuple((one.since, one.until, tuple(one.seats[side] for side in measured)) for one in judged),
        )


def count_together(cases: Sequence[PolicyCase]) -> Iterator[PolicyCase]:
    """Yield the cases of one change, each with what the others of its policy have open at the same time.

    Seats are added to seats, nodes to nodes, and the cost of all. Numbers are counted by who holds the same.
    """
    by_policy: dict[int, set[PoolKey]] = {}
    by_unit: dict[tuple[int, Unit], list[PolicyCase]] = {}
    for case in cases:
        by_policy.setdefault(id(case.policy), set()).update(case.pools)
        by_unit.setdefault((id(case.policy), case.reservation.holder.unit), []).append(case)
    levels = {key: _levels(group) for key, group in by_unit.items() if len(group) > 1}
    for case in cases:
        key = id(case.policy), case.reservation.holder.unit
        together = case._replace(pools=frozenset(by_policy[key[0]]), alone=case)
        if key in levels and not key[1].is_number:
            minutes, counts = levels[key]
            spans = (
                slice(bisect_right(minutes, since) - 1, bisect_left(minutes, until))
                for since, until, _ in case.open_then
            )
            together = together._replace(
                seats=max(chain([case.seats], *(counts[span] for span in spans))),
                seat_seconds=tuple(map(sum, zip(*(one.seat_seconds for one in by_unit[key]), strict=True))),
            )
        yield together


def _levels(cases: Iterable[PolicyCase]) -> tuple[list[int], list[int]]:
    """Return minutes, and how many seats of all cases are open from each of them on, on the larger side."""
    changes: dict[int, Counter[int]] = {}
    for since, until, seats in chain(*(case.open_then for case in cases)):
        for side, count in enumerate(seats):
            changes.setdefault(since, Counter())[side] += count
            changes.setdefault(until, Counter())[side] -= count
    level, counts, minutes = Counter[int](), [], sorted(changes)
    for minute in minutes:
        level.update(changes[minute])
        counts.append(max(level.values(), default=0))
    return minutes, counts


def _windows_during(
    moments: Sequence[_Moment], subject: PolicySubject | None, classes: Collection[str]
) -> Iterator[Occurrence]:
    """Yield the windows of some classes that are open in one of these moments."""
    ends = [60 * moment.until for moment in moments]
    for window in (one.of_classes(classes) for one in (subject.windows if subject else ())):
        i = bisect_right(ends, window.open)
        if window.seats and i < len(ends) and 60 * moments[i].since < window.end:
            yield window


def _unchanged_classes(old: PolicySubject, new: PolicySubject) -> frozenset[str]:
    """Return the classes of both that differ neither themselves nor by how the reservation holds them."""

    def values(subject: PolicySubject) -> tuple[object, ...]:
        """Return what is neither text for people nor seen in the dates."""
        one = subject.reservation
        return one.name, one.behavior, one.sessions, one.holder, one.overlap, plain_settings(one)

    both = old.pools.keys() & new.pools.keys() if values(old) == values(new) else ()
    pairs = ((name, old.pools[name], new.pools[name]) for name in both)
    return frozenset(
        name
        for name, was, becomes in pairs
        if was.cluster == becomes.cluster
        and was.resource_class.without_place == becomes.resource_class.without_place
    )


def judge(case: PolicyCase, costs: PoolCosts) -> PolicyResult | None:
    """Return the result for one policy; None if a condition does not hold."""
    when, reasons = case.policy.when, []
    unit, alone, seconds = case.reservation.holder.unit, case.alone or case, max(case.seat_seconds)
    hours = "without end" if seconds == math.inf else hours_text(int(seconds))
    for limit, measure, own, words in (
        (when.seats_above, case.seats, alone.seats, unit.amount(case.seats)),
        (when.hours_above, seconds / 3600, max(alone.seat_seconds) / 3600, f"{unit.value}-hours {hours}"),
        (when.lead_above, case.lead, case.lead, f"lead {case.lead} min"),
    ):
        if limit is None:
            continue
        if measure <= limit:
            return None
        reasons.append(f"{words}{_IN_ALL if measure != own else ''}, above {limit}")
    if when.notice_below is not None:
        if case.notice >= when.notice_below:
            return None
        reasons.append(f"notice {hours_text(case.notice)} h, below {hours_text(when.notice_below)}")
    lacks_cost = False
    if when.cost_above is not None:
        cost, own_cost = _cost(case, costs), _cost(alone, costs)
        if cost is not None and cost.amount > when.cost_above:
            least, in_all = "at least " if cost.is_partial else "", _IN_ALL if cost != own_cost else ""
            reasons.append(f"cost {least}{cost.amount:,} USD{in_all}, above {when.cost_above:,}")
        elif own_cost is None or own_cost.is_partial:
            lacks_cost = True
        else:
            return None
    return PolicyResult(case.policy, case.reservation, tuple(reasons), lacks_cost)


def compare_costs(policies: Iterable[PolicySpec]) -> bool:
    """Tell whether any policy needs to know what reservations cost."""
    return any(policy.when.cost_above is not None for policy in policies)


def _cost(case: PolicyCase, costs: PoolCosts) -> PoolCost | None:
    """Return what all pools of a case cost; None if nothing plans any of them."""
    known = [costs[key] for key in sorted(case.pools) if key in costs]
    if not known:
        return None
    is_partial = len(known) < len(case.pools) or any(cost.is_partial for cost in known)
    return PoolCost(sum((cost.amount for cost in known[1:]), known[0].amount), is_partial)


# `berth validate`: reservations as they are


def cases_of_reservation(site: Site, subject: PolicySubject, now: int) -> Iterator[PolicyCase]:
    """Yield what the policies look at of a reservation, without those about the notice of a change."""
    policies = [(policy, None) for policy in site.policies if policy.when.notice_below is None]
    yield from policy_cases(None, subject, policies, now, is_change=False)


def check_policies(site: Site, cases: Iterable[PolicyCase], costs: PoolCosts | None) -> Iterator[Problem]:
    """Report the policies that hold, at the reservations, and those that cannot be compared, once each.

    `costs` are None where other errors keep them from being calculated, which say enough.
    """
    unknown: dict[str, list[str]] = {}
    for result in (judged for case in cases if (judged := judge(case, costs or {}))):
        policy, reservation = result.policy, result.reservation
        assert isinstance(reservation, Reservation)
        if result.lacks_cost:
            if costs is not None:
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
            yield site.origin.problem("B233", path, message, fix)


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
