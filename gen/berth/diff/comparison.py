"""Compare two projects, base and head: their reservations, shared documents and rendered files."""

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import tee

from berth.backends.backendinterface import backend_of
from berth.checks import ownership, typos
from berth.checks.basenames import BaseNames, base_names
from berth.checks.ceilings import check_ceilings_of_base
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
from berth.checks.project import Item
from berth.dates.exceptions import calendars_of
from berth.diff import risks
from berth.diff.causes import causes_of
from berth.diff.change import Change, ChangeWarning, PlanChange, ReservationChange, SharedChange, SideSummary
from berth.diff.compare import ReservationVersion, Versions, compare_versions, find_renamed, is_same
from berth.diff.comparedfiles import CommitFiles, FolderFiles
from berth.diff.manifests import REMOVED, FileChange, compare_file
from berth.diff.peaks import SideLoads, compare_peaks
from berth.diff.permissions import Permission, new_permissions
from berth.diff.shared import compare_shared
from berth.diff.sharednumbers import most
from berth.findings import ERROR, Finding, Problem
from berth.pipeline import Pipeline
from berth.rendering import files, part_file
from berth.schema.policies import PolicySpec
from berth.schema.values import Cluster

_KIND = "CapacityReservation"
_NOTICE_HOURS = 24  # where no site says how early changes should be made

Policies = Sequence[tuple[PolicySpec, BaseNames | None]]
"""Each policy, with the names of the base if it is one of the base."""


def compare(
    sides: tuple[Pipeline, Pipeline],
    items: Iterable[Item],
    rendered: tuple[CommitFiles | FolderFiles, FolderFiles],
    names: tuple[str, str],
    now: int,
) -> Change:
    """Return all that differs between base and head.

    `items`: those of the head, with all loads. `rendered`: the committed files of the base, and those in the
    working tree. `names`: of base and head. The base is checked on its own, so that only findings that one
    side lacks are shown.
    """
    base, head = sides
    # before the base is checked: files that its Site names may be faulty, too
    doubtful = {one.name for one in head.declared.reservations if base.may_declare(_KIND, one.name)}
    rendered_items, kept_items = tee(items)
    output = _RenderedFiles(*rendered)
    for path, text in files(head, rendered_items):
        output.add(path, text)
    items_of_head = [*kept_items]
    alike = items_of_head if _shares_documents(base, head) else ()
    items_of_base = base.items(all_loads=True, now=now, alike=alike)
    pairs, warnings = _pairs(sides, (items_of_base, items_of_head), doubtful)
    loads = _loads(base, (old for old, _ in pairs)), _loads(head, (new for _, new in pairs))
    shared, policies = compare_shared(base, head), _policies(sides)
    changes, cases = _changes(pairs, sides, policies, shared, now)
    notice = head.site.diff.notice_hours if head.site else _NOTICE_HOURS
    for change, versions in changes:
        warnings += risks.reservation_warnings(change, versions, sides, now, notice * 3600)
    head.problems += _problems_of_change(sides, changes, loads[1], shared, now)
    of_base, of_head = _summaries(sides, names)
    left = risks.clusters_left(base.site, head.site)
    file_changes = output.changes(left, is_valid=of_head.is_valid)
    warnings += output.warnings(is_valid=of_head.is_valid)
    if of_head.is_valid:
        warnings += risks.site_warnings(base.site, head.site)
        warnings += risks.manifest_warnings(file_changes, output.paths, now)
    plan, costs, of_prices = _compare_plans(sides, loads, now, policies, is_valid=of_head.is_valid)
    warnings += of_prices
    judged = [judge(case, costs) for case in count_together(cases)]
    judged += [_result_of_either(policy, one, names) for one in shared for policy, names in policies]
    results = [result for result in judged if result]
    warnings += risks.policy_warnings(results)
    ignored = {finding.without_place() for finding in base.silenced()}
    return Change(
        of_base,
        of_head,
        tuple(sorted((change for change, _ in changes), key=lambda change: change.name)),
        tuple(compare_peaks(*loads)),
        risks.by_urgency(warnings),
        tuple(file_changes),
        plan,
        tuple(result for result in results if not result.lacks_cost),
        tuple(_permissions(sides, items_of_base, file_changes, output.stale)),
        tuple(shared),
        tuple(finding for finding in head.silenced() if finding.without_place() not in ignored),
        is_judged=of_base.is_valid or (base.site is not None and not policies),
        now=now,
    )


class _RenderedFiles:
    """What the head renders, against the committed files of the base and those in the working tree."""

    def __init__(self, base: CommitFiles | FolderFiles, tree: FolderFiles) -> None:
        self._base, self._tree = base, tree
        self.paths, self._changed = set[str](), dict[str, str | None]()
        self.stale = set[str]()  # what the working tree has otherwise

    def add(self, path: str, text: str) -> None:
        self.paths.add(path)
        if not self._tree.has(path, text):
            self.stale.add(path)
        if not self._base.has(path, text):
            self._changed[path] = text

    def changes(self, left: Iterable[Cluster], *, is_valid: bool) -> list[FileChange]:
        """Return how the files of the base change; none goes while the head is not valid.

        `left`: clusters that leave the site.
        """
        gone = {*self._base.paths()} - self.paths if is_valid else ()
        changed = {**self._changed, **dict.fromkeys(gone)}
        texts = self._base.texts(sorted(changed))
        compared = (compare_file(path, texts.get(path), changed[path]) for path in sorted(changed))
        unapplied = tuple(
            path
            for cluster in left
            for path in (f"clusters/{cluster.name}/", f"gitops/{cluster.engine}/{cluster.name}.yaml")
        )
        return [file._replace(is_applied=not file.path.startswith(unapplied)) for file in compared if file]

    def warnings(self, *, is_valid: bool) -> Iterator[ChangeWarning]:
        """Warn about files of the working tree."""
        was, lines = self._base.attributes(), self._tree.attributes()
        attributes = [path for path in was if lines.get(path, was[path]) != was[path]]
        if not is_valid:
            return risks.file_warnings([], [], attributes)
        foreign = sorted(self._tree.foreign(self.paths - self.stale))
        there = {*self._tree.paths(), *self._tree.empty_folders(self.paths)}
        left = there - self.paths - {*foreign}
        return risks.file_warnings(sorted(self.stale | left), foreign, attributes)


def _shares_documents(base: Pipeline, head: Pipeline) -> bool:
    """Tell whether what all reservations share is the same and free of problems, as in most changes."""
    old, new = (side.declared for side in (base, head))
    return not (base.problems or head.problems) and all(
        getattr(old, name) == getattr(new, name)
        for name in ("site", "classes", "calendars", "terms", "clouds", "generic")
    )


def _pairs(
    sides: tuple[Pipeline, Pipeline], items: tuple[Sequence[Item], Sequence[Item]], doubtful: Container[str]
) -> tuple[list[Versions], list[ChangeWarning]]:
    """Return the versions of each reservation of which both are known, and warnings.

    A reservation is neither added nor removed if the other side may have it in a faulty file. If what it was
    is not known, it is judged as if it were new. `doubtful`: those that the base may have in one.
    """
    base, head = sides
    names = {reservation.name for reservation in base.declared.reservations}
    before = {item.reservation.name: version_of(item, base) for item in items[0]}
    pairs, added, warnings = list[Versions](), list[ReservationVersion](), list[ChangeWarning]()
    for item in items[1]:
        new, name = version_of(item, head), item.reservation.name
        old = before.pop(name, None)
        if not new.is_complete():
            continue
        if name not in names and name not in doubtful:
            added.append(new)
        elif old is None or not old.is_complete():
            pairs.append((None, new))
            warnings.append(risks.not_compared(name))
        else:
            pairs.append((old, new))
    removed = [
        old
        for old in before.values()
        if old.is_complete() and not head.may_declare(_KIND, old.reservation.name)
    ]
    renamed = find_renamed(removed, added)
    removed = [version for version in removed if not any(version is old for old, _ in renamed)]
    added = [version for version in added if not any(version is new for _, new in renamed)]
    pairs += [*renamed, *((None, new) for new in added), *((old, None) for old in removed)]
    return pairs, [*warnings, *risks.similarity_warnings(removed, added)]


def _loads(side: Pipeline, versions: Iterable[ReservationVersion | None]) -> SideLoads:
    return SideLoads(side.site, side.declared.classes, (version.item for version in versions if version))


def _policies(sides: tuple[Pipeline, Pipeline]) -> Policies:
    """Return the policies of both sides."""
    base = sides[0]
    was, becomes = (side.site.policies if side.site else () for side in sides)
    known = base_names(base.declared, base.site) if base.site else None
    every = (*becomes, *(policy for policy in was if policy not in becomes))
    return [(policy, known if policy in was else None) for policy in every]


def _changes(
    pairs: Iterable[Versions],
    sides: tuple[Pipeline, Pipeline],
    policies: Policies,
    shared: Sequence[SharedChange],
    now: int,
) -> tuple[list[tuple[ReservationChange, Versions]], list[PolicyCase]]:
    """Return the reservations that differ, with both versions, and what policies judge."""
    changes, cases = list[tuple[ReservationChange, Versions]](), list[PolicyCase]()
    by_key = {document.key: document for document in shared}
    for pair in pairs:
        if pair[0] and pair[1] and is_same(pair[0], pair[1]):
            continue
        old, new = (_with_shared_most(version, side) for version, side in zip(pair, sides, strict=True))
        if policies:
            subjects = _policy_subject(old, sides[0]), _policy_subject(new, sides[1])
            cases += policy_cases(*subjects, policies, now)
        change = compare_versions(old, new)
        if change is None:
            continue
        if old and new:
            change = change._replace(causes=causes_of(old, new, change.occurrences, by_key))
        changes.append((change, (old, new)))
    return changes, cases


def _problems_of_change(
    sides: tuple[Pipeline, Pipeline],
    changes: Iterable[tuple[ReservationChange, Versions]],
    loads: SideLoads,
    shared: Sequence[SharedChange],
    now: int,
) -> Iterator[Problem]:
    """Report what is wrong with the head only as a change of the base. `loads`: of the head."""
    base, head = sides
    for _, (_, new) in changes:
        if new:
            yield from typos.check_dates_are_ahead(new.reservation, new.occurrences, now)
    # Changed documents that all share, where the base gives their files to an owner.
    contacts = ownership.contacts_of_files(base.declared, (source.file for source in base.sources))
    owned = ownership.owned_paths(contacts)
    for document in shared:
        owner = ownership.owner_of(document.subject.origin.file, owned)
        if owner and document.change != REMOVED:
            yield ownership.owned_problem(*document.subject[:3], owner)
    if base.site and head.site:
        known = base.site, base_names(base.declared, base.site)
        yield from check_ceilings_of_base(known, head.site, head.declared.classes, loads)


def _summaries(sides: tuple[Pipeline, Pipeline], names: tuple[str, str]) -> Iterator[SideSummary]:
    findings = [side.findings() for side in sides]
    for name, own, other in zip(names, findings, reversed(findings), strict=True):
        is_valid = not any(finding.severity == ERROR for finding in own)
        yield SideSummary(name, _shown(own, other), is_valid)


def _permissions(
    sides: tuple[Pipeline, Pipeline], items: Iterable[Item], changes: Sequence[FileChange], stale: set[str]
) -> list[Permission]:
    """Return what the head allows and the base does not.

    What the working tree has in `stale` files is not what the head means, and may be as old in the base:
    there it counts what the base means, too. `items`: those of the base.
    """
    base = sides[0]
    names_clusters = any(len(side.site.clusters) > 1 for side in sides if side.site)
    found = new_permissions(changes, {}, names_clusters=names_clusters)
    paths = {permission.file for permission in found} & stale
    if not paths or base.has_errors():
        return found
    concerned = (item for item in items if any(part_file(part) in paths for part in item.parts))
    meant = {path: text for path, text in files(base, concerned) if path in paths}
    return new_permissions(changes, meant, names_clusters=names_clusters)


def _compare_plans(
    sides: tuple[Pipeline, Pipeline],
    loads: tuple[SideLoads, SideLoads],
    now: int,
    policies: Policies,
    *,
    is_valid: bool,
) -> tuple[PlanChange | None, PoolCosts, list[ChangeWarning]]:
    """Return what differs in the plan, what pools cost, and warnings of prices; nothing where no side says
    which nodes there are, or the head is not valid.
    """
    if not is_valid or not any(side.declared.capacities for side in sides if side.site):
        return None, {}, []
    from berth.diff.plans import compare_plans  # noqa: PLC0415 - the estimate takes time to load

    with_costs = compare_costs(policy for policy, _ in policies)
    plan, problems, costs, prices = compare_plans(sides, loads, now, with_costs=with_costs)
    known, findings = (
        side.located([problem for problem in of_side if not side.is_silenced(problem)])
        for side, of_side in zip(sides, problems, strict=True)
    )
    warnings = [ChangeWarning("price", name, f"{text}.") for name, text in prices.items()]
    return plan._replace(findings=_shown(findings, known)), costs, warnings


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
        item,
        item.reservation,
        tuple(resource_class for place in places for resource_class in place.classes),
        tuple(place.cluster.name for place in places for _ in place.classes),
        calendars_of(item.reservation.recurrence, side.declared.calendars),
        item.expansion.occurrences,
        tuple(found for place in places for found in shape_hashes(side.site, place)) if side.site else (),
        item.expansion.skipped,
        tuple(sorted({name for place in places for name in place.peers})),
    )
