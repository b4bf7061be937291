"""Compare base and head reservation by reservation, so that neither is kept in memory as a whole.

The head is rendered meanwhile; of the base only those reservations are expanded that may differ.
"""

from collections.abc import Iterator, Sequence
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
from berth.dates.expansion import Expansion, Occurrence
from berth.dates.recurrence import expand
from berth.diff import risks
from berth.diff.causes import causes_of
from berth.diff.change import (
    REMOVED,
    Change,
    ChangeWarning,
    PlanChange,
    ReservationChange,
    SharedChange,
    SideSummary,
)
from berth.diff.compare import ReservationVersion, compare_versions, find_renamed, find_similar, is_same
from berth.diff.comparedfiles import FolderFiles, RenderedFiles
from berth.diff.machines import PlanInput, compare_plans
from berth.diff.manifests import FileChange, compare_file
from berth.diff.peaks import PoolLoads, compare_peaks
from berth.diff.permissions import new_permissions
from berth.diff.prices import judged_prices
from berth.diff.shared import compare_shared
from berth.diff.sharednumbers import most
from berth.findings import ERROR, Finding, Problem
from berth.manifests.placed import Placed, placed
from berth.pipeline import Item, Pipeline
from berth.schema.policies import PolicySpec
from berth.schema.reservation import Reservation

_HOUR = 3600
_KIND = "CapacityReservation"


class ComparisonOptions(NamedTuple):
    """`names` of base and head; `now` in seconds; `notice` in hours."""

    names: tuple[str, str]
    now: int
    notice: int


class Comparison:
    """Compares both sides in one pass: feed it every reservation and file of the head, then ask for `change`.

    The base is checked on its own, after the head, so that only findings that one side lacks are shown.
    """

    def __init__(
        self,
        base: Pipeline,
        head: Pipeline,
        rendered: tuple[RenderedFiles, FolderFiles],
        options: ComparisonOptions,
    ) -> None:
        """`rendered`: the committed files of the base, and those in the working tree."""
        self._base, self._head = base, head
        (self._rendered, self._committed), self._options = rendered, options
        self._loads = (
            PoolLoads(base.site, base.declared.classes),
            PoolLoads(head.site, head.declared.classes),
        )
        self._shared = compare_shared(base, head)
        self._found: list[ReservationChange] = []
        self._warnings: list[ChangeWarning] = []
        self._changed: dict[str, str] = {}
        self._remaining: set[str] = set()
        self._stale: list[str] = []
        was, becomes = (side.site.policies if side.site else () for side in (base, head))
        self._known = base_names(base.declared, base.site) if base.site else None
        self._policies = [
            (policy, self._known if policy in was else None)
            for policy in (*becomes, *(policy for policy in was if policy not in becomes))
        ]
        self._policy_cases: list[PolicyCase] = []

    def reservations(self, items: Iterator[Item]) -> Iterator[Item]:
        """Compare the reservations and pass on the items, which are the head's, with texts and all loads."""
        before = {reservation.name: reservation for reservation in self._base.declared.reservations}
        added: list[ReservationVersion] = []
        for item in items:
            new = version_of(item, self._head)
            old = before.pop(item.reservation.name, None)
            if old is None:
                added.append(_with_dates(new, self._head))
            else:
                self._compare(_without_dates(old, self._base), new, item)
            yield item
        removed = [_with_dates(_without_dates(one, self._base), self._base) for one in before.values()]
        self._compare_unmatched(removed, added)

    def file(self, path: str, text: str) -> None:
        """Compare one file of the head as it is rendered now."""
        self._remaining.add(path)
        if not self._committed.has(path, text):
            self._stale.append(path)
        if not self._rendered.has(path, text):
            self._changed[path] = text

    def change(self) -> Change:
        """Return all that differs."""
        shared = self._shared
        self._head.problems += self._in_owned_files(shared)
        self._head.problems += self._above_ceilings_of_base()
        base, head = self._summaries()
        before, after = self._rendered.attributes(), self._committed.attributes()
        changed = [path for path in before if path in after and before[path] != after[path]]
        self._warnings += risks.attributes_warnings(changed)
        files = self._file_changes(with_removed=head.is_valid)
        if head.is_valid:
            foreign = self._committed.foreign()
            self._stale += {*self._committed.paths()} - self._remaining - {*foreign}
            self._stale += self._committed.empty_folders(self._remaining)
            self._warnings += risks.foreign_warnings(sorted(foreign))
            self._warnings += risks.site_warnings(self._base.site, self._head.site)
            self._warnings += risks.manifest_warnings(files, self._remaining, self._options.now)
            self._warnings += risks.stale_warnings(sorted(self._stale))
        plan, costs = self._plan() if head.is_valid else (None, {})
        cases = count_together(self._policy_cases)
        results = [policy_result for case in cases if (policy_result := judge(case, costs))]
        results += [
            policy_result
            for one in shared
            for policy, known in self._policies
            if (policy_result := _result_of_either(policy, one, known))
        ]
        self._warnings += risks.policy_warnings(results)
        return Change(
            base,
            head,
            tuple(sorted(self._found, key=lambda one: one.name)),
            tuple(compare_peaks(*self._loads)),
            risks.by_urgency(self._warnings),
            tuple(files),
            plan,
            tuple(result for result in results if not result.lacks_cost),
            tuple(new_permissions(files, names_clusters=self._has_clusters)),
            tuple(shared),
            self._ignored(),
            is_judged=base.is_valid or (self._base.site is not None and not self._policies),
            now=self._options.now,
        )

    def _compare_unmatched(self, removed: list[ReservationVersion], added: list[ReservationVersion]) -> None:
        # A reservation is neither added nor removed if the other side may have it in a faulty file.
        removed = [
            reservation_version
            for reservation_version in removed
            if reservation_version.is_complete() and not _may_declare(self._head, reservation_version)
        ]
        added = [reservation_version for reservation_version in added if reservation_version.is_complete()]
        uncertain = [
            reservation_version
            for reservation_version in added
            if _may_declare(self._base, reservation_version)
        ]
        added = [reservation_version for reservation_version in added if reservation_version not in uncertain]
        pairs = find_renamed(removed, added)
        for old, new in pairs:
            self._add(old, new)
        old_names = {old.reservation.name for old, _ in pairs}
        new_names = {new.reservation.name for _, new in pairs}
        removed = [
            reservation_version
            for reservation_version in removed
            if reservation_version.reservation.name not in old_names
        ]
        added = [
            reservation_version
            for reservation_version in added
            if reservation_version.reservation.name not in new_names
        ]
        for new in added:
            self._add(None, new)
        for old in removed:
            self._add(old, None)
        for new in uncertain:
            self._add_uncertain(new)
        self._warnings += risks.similarity_warnings(find_similar(removed, added))

    def _add_uncertain(self, new: ReservationVersion) -> None:
        """Judge a reservation as if it were new, because what it was is in a faulty file of the base."""
        self._warnings.append(risks.not_compared(new.reservation.name))
        self._add(None, _with_dates(new, self._head))

    def _plan(self) -> tuple[PlanChange | None, PoolCosts]:
        """Return what differs in the plan, and what pools cost; None and nothing without a CloudCapacity."""
        before, after = (
            PlanInput(side.declared, side.site, loads) if side.site else None
            for side, loads in zip((self._base, self._head), self._loads, strict=True)
        )
        if before and after and before.site.budget is not None:  # a change does not raise it and use it
            budget = min(before.site.budget, after.site.budget or before.site.budget)
            after = after._replace(site=after.site._replace(budget=budget))
        with_costs = compare_costs(policy for policy, _ in self._policies)
        judged = after
        if before and after:
            prices = judged_prices(before.declared, after.declared)
            judged = after._replace(declared=prices.declared)
            if with_costs or before.site.budget is not None:
                self._warnings += risks.price_warnings(prices.texts)
        found = (
            compare_plans(before, after, judged, self._options.now, with_costs=with_costs)
            if after and judged
            else None
        )
        if found is None:
            return None, {}
        known, findings = (
            side.located([problem for problem in problems if not side.is_silenced(problem)])
            for side, problems in ((self._base, found.before), (self._head, found.after))
        )
        plan = PlanChange(found.machines, found.months, found.reserved, _shown(findings, known))
        return plan, found.costs

    def _file_changes(self, *, with_removed: bool) -> list[FileChange]:
        """Return the files that differ, by path; with those that are not rendered any more if asked."""
        removed = {*self._rendered.paths()} - self._remaining if with_removed else set()
        paths = sorted({*self._changed, *removed})
        before = self._rendered.texts(paths)
        found = [compare_file(path, before.get(path), self._changed.get(path)) for path in paths]
        return [one for one in found if one]

    def _summaries(self) -> tuple[SideSummary, SideSummary]:
        """Summarize both sides."""
        for _ in self._base.items(now=self._options.now):  # checks them
            pass
        before, after = self._base.findings(), self._head.findings()
        names = self._options.names
        return _summary(names[0], before, after), _summary(names[1], after, before)

    def _in_owned_files(self, shared: Sequence[SharedChange]) -> Iterator[Problem]:
        """Report changed documents that all share where the base gives their files to an owner."""
        sources = (source.file for source in self._base.sources)
        owned = ownership.owned_paths(ownership.contacts_of_files(self._base.declared, sources))
        for shared_change in shared:
            contacts = (
                ownership.owner_of(shared_change.subject.origin.file, owned)
                if shared_change.change != REMOVED
                else ()
            )
            if contacts:
                yield ownership.owned_problem(*shared_change.subject[:3], contacts)

    def _above_ceilings_of_base(self) -> Iterator[Problem]:
        """Report what exceeds ceilings that the change raises or avoids."""
        before, head = self._base.site, self._head
        if before is not None and head.site is not None and self._known is not None:
            reservations = {reservation.name: reservation for reservation in head.declared.reservations}
            pools_of = self._loads[1].with_otherwise
            yield from check_ceilings_of_base(
                (before, self._known), head.site, head.declared.classes, reservations, pools_of
            )

    def _ignored(self) -> tuple[Finding, ...]:
        """Return what the head ignores and the base does not."""
        known = {finding.without_place() for finding in self._base.silenced()}
        return tuple(finding for finding in self._head.silenced() if finding.without_place() not in known)

    def _compare(self, old: ReservationVersion, new: ReservationVersion, item: Item) -> None:
        if not new.is_complete():
            return
        if not old.is_complete():
            self._add_uncertain(new)
            return
        if not is_same(old, new):
            self._add(_with_dates(old, self._base), _with_dates(new, self._head))
            return
        for part, part_loads in zip(item.parts, item.loads, strict=True):
            names = [resource_class.name for resource_class in part.placed.classes]
            for loads in self._loads:
                loads.add(part.placed.cluster.name, new.reservation, names, part_loads)

    def _add(self, old: ReservationVersion | None, new: ReservationVersion | None) -> None:
        for loads, version in zip(self._loads, (old, new), strict=True):
            if version:
                _add_loads(loads, version)
        old, new = _with_shared_most(old, self._base), _with_shared_most(new, self._head)
        reservation_change = compare_versions(old, new)
        if self._policies:
            judged = _policy_subject(old, self._base), _policy_subject(new, self._head)
            self._policy_cases += policy_cases(*judged, self._policies, self._options.now)
        if reservation_change:
            if old and new:
                changed = {document.key: document for document in self._shared}
                reservation_change = reservation_change._replace(
                    causes=causes_of(old, new, reservation_change.occurrences, changed)
                )
            self._found.append(reservation_change)
            if new:
                self._head.problems += typos.check_dates_are_ahead(
                    new.reservation, new.occurrences, self._options.now
                )
            now, notice = self._options.now, self._options.notice * _HOUR
            sides = _active_windows(old), _active_windows(new)
            pipelines = self._base, self._head
            held = risks.held_now((old, new), pipelines, now, goes_back=self._goes_back(old))
            self._warnings += risks.date_warnings(reservation_change, sides, now, notice, held)
            is_open = all(any(one.open <= now < one.end for one in side) for side in sides)
            self._warnings += risks.slot_warnings(old, new, now, is_open=is_open)
            was_open = any(one.open <= now < one.end for one in sides[0])
            if self._goes_back(old):
                self._warnings += risks.number_warnings(old, new, self._head, now, was_open=was_open)

    @property
    def _has_clusters(self) -> bool:
        """Whether one of the sides has several clusters."""
        sites = (side.site for side in (self._base, self._head))
        return any(site is not None and len(site.clusters) > 1 for site in sites)

    def _goes_back(self, old: ReservationVersion | None) -> bool:
        """Tell whether the head lets Berth give back what a reservation of the base holds."""
        if old is None or self._head.site is None:
            return True
        clusters = [cluster for cluster in self._head.site.clusters if cluster.name in old.clusters]
        holder = old.reservation.holder
        return all(backend_of(holder).can_give_back(holder, cluster) for cluster in clusters)


def _policy_subject(version: ReservationVersion | None, side: Pipeline) -> PolicySubject | None:
    if version is None or side.site is None:
        return None
    return policy_subject(version.reservation, version.occurrences, side.declared, side.site)


def _result_of_either(policy: PolicySpec, one: SharedChange, base: BaseNames | None) -> PolicyResult | None:
    """Judge a document as it is, and as it was where the policy is not about it any more."""
    result = shared_result(policy, one.subject, base, is_new=one.before is None)
    return result or (shared_result(policy, one.before) if one.before else None)


def _summary(name: str, findings: Sequence[Finding], other: Sequence[Finding]) -> SideSummary:
    is_valid = not any(finding.severity == ERROR for finding in findings)
    return SideSummary(name, _shown(findings, other), is_valid)


def _shown(findings: Sequence[Finding], other: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the errors, and the findings that the other side lacks, wherever they are in their file."""
    known = {finding.without_place() for finding in other}
    return tuple(
        finding for finding in findings if finding.severity == ERROR or finding.without_place() not in known
    )


def _add_loads(loads: PoolLoads, version: ReservationVersion) -> None:
    reservation = version.reservation
    for resource_class in version.classes:
        name, dates = resource_class.name, version.occurrences
        steps = [] if reservation.suspend else [(name, pool_steps(reservation, resource_class, dates))]
        loads.add(version.cluster_of(name), reservation, [name], steps)


def _with_shared_most(version: ReservationVersion | None, side: Pipeline) -> ReservationVersion | None:
    """Return a version with the most that its number is by all who hold it."""
    if version is None or not version.peers:
        return version
    number = version.reservation.holder.shared
    counts = [most(number, cluster, side) for cluster in dict.fromkeys(version.clusters)]
    return version._replace(shared_most=max(counts, default=0))


def _may_declare(side: Pipeline, version: ReservationVersion) -> bool:
    return side.may_declare(_KIND, version.reservation.name)


def _active_windows(version: ReservationVersion | None) -> tuple[Occurrence, ...]:
    return () if version is None or version.reservation.suspend else version.occurrences


def version_of(item: Item, pipeline: Pipeline) -> ReservationVersion:
    """Return the version of a reservation that an item of this pipeline describes."""
    places = [part.placed for part in item.parts]
    return _version(item.reservation, places, pipeline, item.expansion)


def _with_dates(version: ReservationVersion, pipeline: Pipeline) -> ReservationVersion:
    expansion = expand(version.reservation, pipeline.declared.calendars)
    return version._replace(occurrences=expansion.occurrences, skipped=expansion.skipped)


def _without_dates(reservation: Reservation, pipeline: Pipeline) -> ReservationVersion:
    site = pipeline.site
    places = placed(reservation, pipeline.declared, site) if site else ()
    return _version(reservation, places, pipeline, Expansion((), (), ()))


def _version(
    reservation: Reservation, places: Sequence[Placed], pipeline: Pipeline, expansion: Expansion
) -> ReservationVersion:
    return ReservationVersion(
        reservation,
        tuple(resource_class for place in places for resource_class in place.classes),
        tuple(place.cluster.name for place in places for _ in place.classes),
        calendars_of(reservation.recurrence, pipeline.declared.calendars),
        expansion.occurrences,
        _slot_hashes(reservation, places, pipeline),
        expansion.skipped,
        tuple(sorted({name for place in places for name in place.peers})),
    )


def _slot_hashes(
    reservation: Reservation, places: Sequence[Placed], pipeline: Pipeline
) -> tuple[tuple[str, str], ...]:
    site, backend = pipeline.site, backend_of(reservation.holder)
    return (
        ()
        if site is None
        else tuple(shape_hash_ for place in places for shape_hash_ in backend.shape_hashes(site, place))
    )
