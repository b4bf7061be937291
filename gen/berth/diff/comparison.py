"""Compare base and head, reservation by reservation, while the head is rendered."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from berth.backends.backendinterface import backend_of
from berth.checks import ownership, typos
from berth.checks.basenames import BaseNames, base_names
from berth.checks.ceilings import check_ceilings_of_base, pool_steps
from berth.checks.policychecks import (
    PolicyCase,
    PolicyResult,
    PolicySubject,
    PoolCosts,
    compare_costs,
    count_together,
    judge,
    policy_cases,
    policy_subject,
    shared_result,
)
from berth.dates.exceptions import calendars_of
from berth.diff import risks
from berth.diff.causes import causes_of
from berth.diff.change import Change, ChangeWarning, PlanChange, ReservationChange, SharedChange, SideSummary
from berth.diff.compare import ReservationVersion, Versions, compare_versions, find_renamed, is_same
from berth.diff.comparedfiles import CommitFiles, FolderFiles
from berth.diff.machines import PlanInput, compare_plans
from berth.diff.manifests import REMOVED, compare_file
from berth.diff.peaks import PoolLoads, compare_peaks
from berth.diff.permissions import new_permissions
from berth.diff.prices import judged_prices
from berth.diff.shared import compare_shared
from berth.diff.sharednumbers import most
from berth.findings import ERROR, Finding, Problem
from berth.pipeline import Item, Pipeline
from berth.rendering import files
from berth.schema.policies import PolicySpec

_KIND = "CapacityReservation"

Policies = Sequence[tuple[PolicySpec, BaseNames | None]]
"""Each policy, with the names of the base if it is one of the base."""


class ComparisonOptions(NamedTuple):
    """`names` of base and head; `now` in seconds; `notice` in hours."""

    names: tuple[str, str]
    now: int
    notice: int


def compare(
    sides: tuple[Pipeline, Pipeline],
    items: Iterable[Item],
    rendered: tuple[CommitFiles | FolderFiles, FolderFiles],
    options: ComparisonOptions,
) -> Change:
    """Return all that differs between base and head.

    `items`: those of the head, with texts and all loads. `rendered`: the committed files of the base, and
    those in the working tree. The base is checked on its own, so that only findings that one side lacks are
    shown.
    """
    base, head = sides
    before, after = rendered
    now = options.now
    loads = PoolLoads(base.site, base.declared.classes), PoolLoads(head.site, head.declared.classes)
    shared = compare_shared(base, head)
    known = base_names(base.declared, base.site) if base.site else None
    was, becomes = (side.site.policies if side.site else () for side in sides)
    policies = [
        (policy, known if policy in was else None)
        for policy in (*becomes, *(policy for policy in was if policy not in becomes))
    ]
    pairs, unmatched = list[Versions](), list[ChangeWarning]()
    remaining, stale, changed = set[str](), set[str](), dict[str, str | None]()
    for path, text in files(head, _paired(items, sides, loads, now, (pairs, unmatched))):
        remaining.add(path)
        if not after.has(path, text):
            stale.add(path)
        if not before.has(path, text):
            changed[path] = text

    for pair in pairs:
        for of_side, version in zip(loads, pair, strict=True):
            _add_loads(of_side, version)
    changes, cases, warnings = _compare_pairs(pairs, sides, policies, shared, options)
    warnings += unmatched
    head.problems += _in_owned_files(base, shared)
    if base.site and known and head.site:
        by_name = {reservation.name: reservation for reservation in head.declared.reservations}
        head.problems += check_ceilings_of_base(
            (base.site, known), head.site, head.declared.classes, by_name, loads[1].with_otherwise
        )
    findings = base.findings(), head.findings()
    of_base, of_head = (
        SideSummary(name, _shown(own, other), not any(finding.severity == ERROR for finding in own))
        for name, own, other in zip(options.names, findings, reversed(findings), strict=True)
    )
    is_valid = of_head.is_valid
    if is_valid:
        changed |= dict.fromkeys({*before.paths()} - remaining)
    texts = before.texts(sorted(changed))
    compared = [compare_file(path, texts.get(path), changed[path]) for path in sorted(changed)]
    file_changes = [file for file in compared if file]
    was_lines, lines = before.attributes(), after.attributes()
    attributes = [path for path in was_lines if lines.get(path, was_lines[path]) != was_lines[path]]
    foreign = sorted(after.foreign()) if is_valid else []
    plan, costs = _compare_plans(sides, loads, now, policies, warnings) if is_valid else (None, {})
    if is_valid:
        stale |= {*after.paths()} - remaining - {*foreign}
        stale |= {*after.empty_folders(remaining)}
        warnings += risks.site_warnings(base.site, head.site)
        warnings += risks.manifest_warnings(file_changes, remaining, now)
    warnings += risks.file_warnings(sorted(stale) if is_valid else [], foreign, attributes)
    judged = [judge(case, costs) for case in count_together(cases)]
    judged += [_result_of_either(policy, one, names) for one in shared for policy, names in policies]
    results = [result for result in judged if result]
    warnings += risks.policy_warnings(results)
    ignored = {finding.without_place() for finding in base.silenced()}
    return Change(
        of_base,
        of_head,
        tuple(sorted(changes, key=lambda change: change.name)),
        tuple(compare_peaks(*loads)),
        risks.by_urgency(warnings),
        tuple(file_changes),
        plan,
        tuple(result for result in results if not result.lacks_cost),
        tuple(new_permissions(file_changes, names_clusters=any(len(one.clusters()) > 1 for one in loads))),
        tuple(shared),
        tuple(finding for finding in head.silenced() if finding.without_place() not in ignored),
        is_judged=of_base.is_valid or (base.site is not None and not policies),
        now=now,
    )


def _compare_pairs(
    pairs: Iterable[Versions],
    sides: tuple[Pipeline, Pipeline],
    policies: Policies,
    shared: Sequence[SharedChange],
    options: ComparisonOptions,
) -> tuple[list[ReservationChange], list[PolicyCase], list[ChangeWarning]]:
    """Return what differs, what policies judge, and warnings."""
    base, head = sides
    changes, cases, warnings = list[ReservationChange](), list[PolicyCase](), list[ChangeWarning]()
    by_key = {document.key: document for document in shared}
    for pair in pairs:
        old, new = _with_shared_most(pair[0], base), _with_shared_most(pair[1], head)
        if policies:
            subjects = _policy_subject(old, base), _policy_subject(new, head)
            cases += policy_cases(*subjects, policies, options.now)
        change = compare_versions(old, new)
        if change is None:
            continue
        if old and new:
            change = change._replace(causes=causes_of(old, new, change.occurrences, by_key))
        changes.append(change)
        if new:
            head.problems += typos.check_dates_are_ahead(new.reservation, new.occurrences, options.now)
        warnings += risks.reservation_warnings(change, (old, new), sides, options.now, options.notice * 3600)
    return changes, cases, warnings


def _paired(
    items: Iterable[Item],
    sides: tuple[Pipeline, Pipeline],
    loads: tuple[PoolLoads, PoolLoads],
    now: int,
    collected: tuple[list[Versions], list[ChangeWarning]],
) -> Iterator[Item]:
    """Pass on the items, and collect what may differ; the loads of all else count on both sides.

    A reservation is neither added nor removed if the other side may have it in a faulty file. If what it was
    is not known, it is judged as if it were new.
    """
    base, head = sides
    pairs, warnings = collected
    # before the base is checked: files that its Site names may be faulty, too
    in_faulty = {one.name for one in head.declared.reservations if base.may_declare(_KIND, one.name)}
    names = {reservation.name for reservation in base.declared.reservations}
    before = {item.reservation.name: version_of(item, base) for item in base.items(now=now)}
    added, uncertain = list[ReservationVersion](), list[ReservationVersion]()
    for item in items:
        new, name = version_of(item, head), item.reservation.name
        old = before.pop(name, None)
        if not new.is_complete():
            pass
        elif name not in names:
            (uncertain if name in in_faulty else added).append(new)
        elif old is None or not old.is_complete():
            pairs.append((None, new))
            warnings.append(risks.not_compared(name))
        elif not is_same(old, new):
            pairs.append((old, new))
        else:
            for part, part_loads in zip(item.parts, item.loads, strict=True):
                classes = [resource_class.name for resource_class in part.placed.classes]
                for of_side in loads:
                    of_side.add(part.placed.cluster.name, new.reservation, classes, part_loads)
        yield item
    removed = [
        old
        for old in before.values()
        if old.is_complete() and not head.may_declare(_KIND, old.reservation.name)
    ]
    renamed = find_renamed(removed, added)
    removed = [version for version in removed if not any(version is old for old, _ in renamed)]
    added = [version for version in added if not any(version is new for _, new in renamed)]
    pairs += [*renamed, *((None, new) for new in added), *((old, None) for old in removed)]
    pairs += [(None, new) for new in uncertain]
    warnings += [risks.not_compared(new.reservation.name) for new in uncertain]
    warnings += risks.similarity_warnings(removed, added)


def _in_owned_files(base: Pipeline, shared: Sequence[SharedChange]) -> Iterator[Problem]:
    """Report changed documents that all share where the base gives their files to an owner."""
    contacts = ownership.contacts_of_files(base.declared, (source.file for source in base.sources))
    owned = ownership.owned_paths(contacts)
    for document in shared:
        owner = ownership.owner_of(document.subject.origin.file, owned)
        if owner and document.change != REMOVED:
            yield ownership.owned_problem(*document.subject[:3], owner)


def _compare_plans(
    sides: tuple[Pipeline, Pipeline],
    loads: tuple[PoolLoads, PoolLoads],
    now: int,
    policies: Policies,
    warnings: list[ChangeWarning],
) -> tuple[PlanChange | None, PoolCosts]:
    """Return what differs in the plan, and what pools cost; None and nothing without a CloudCapacity.

    Add warnings of prices.
    """
    before, after = (
        PlanInput(side.declared, side.site, of_side) if side.site else None
        for side, of_side in zip(sides, loads, strict=True)
    )
    least = before.site.diff.budget if before else None
    if after and least is not None:  # a change does not raise it and use it
        budget = {"budget": min(least, after.site.diff.budget or least)}
        diff = after.site.diff.model_copy(update=budget)
        after = after._replace(site=after.site.model_copy(update={"diff": diff}))
    with_costs = compare_costs(policy for policy, _ in policies)
    judged = after
    if before and after:
        prices = judged_prices(before.declared, after.declared)
        judged = after._replace(declared=prices.declared)
        if with_costs or least is not None:
            warnings += risks.price_warnings(prices.texts)
    found = compare_plans(before, after, judged, now, with_costs=with_costs) if after and judged else None
    if found is None:
        return None, {}
    plan, problems, costs = found
    known, findings = (
        side.located([problem for problem in of_side if not side.is_silenced(problem)])
        for side, of_side in zip(sides, problems, strict=True)
    )
    return plan._replace(findings=_shown(findings, known)), costs


def _policy_subject(version: ReservationVersion | None, side: Pipeline) -> PolicySubject | None:
    if version is None or side.site is None:
        return None
    return policy_subject(version.reservation, version.occurrences, side.declared, side.site)


def _result_of_either(policy: PolicySpec, one: SharedChange, names: BaseNames | None) -> PolicyResult | None:
    """Judge a document as it is, and as it was where the policy is not about it any more."""
    result = shared_result(policy, one.subject, names, is_new=one.before is None)
    return result or (shared_result(policy, one.before) if one.before else None)


def _shown(findings: Sequence[Finding], other: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the errors, and the findings that the other side lacks, wherever they are in their file."""
    known = {finding.without_place() for finding in other}
    return tuple(
        finding for finding in findings if finding.severity == ERROR or finding.without_place() not in known
    )


def _add_loads(loads: PoolLoads, version: ReservationVersion | None) -> None:
    if version is not None:
        one, dates = version.reservation, version.occurrences
        for cluster, found in zip(version.clusters, version.classes, strict=True):
            steps = [] if one.suspend else [(found.name, pool_steps(one, found, dates))]
            loads.add(cluster, one, [found.name], steps)


def _with_shared_most(version: ReservationVersion | None, side: Pipeline) -> ReservationVersion | None:
    """Return a version with the most that its number is by all who hold it."""
    if version is None or not version.peers:
        return version
    counts = [most(version.reservation.holder.shared, cluster, side) for cluster in {*version.clusters}]
    return version._replace(shared_most=max(counts, default=0))


def version_of(item: Item, side: Pipeline) -> ReservationVersion:
    """Return the version of a reservation that an item of this pipeline describes."""
    places = [part.placed for part in item.parts]
    shape_hashes = backend_of(item.reservation.holder).shape_hashes
    return ReservationVersion(
        item.reservation,
        tuple(resource_class for place in places for resource_class in place.classes),
        tuple(place.cluster.name for place in places for _ in place.classes),
        calendars_of(item.reservation.recurrence, side.declared.calendars),
        item.expansion.occurrences,
        tuple(found for place in places for found in shape_hashes(side.site, place)) if side.site else (),
        item.expansion.skipped,
        tuple(sorted({name for place in places for name in place.peers})),
    )
