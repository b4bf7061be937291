"""Sum up a change in one line: what refuses it, then people, then money, and how many warnings there are."""

from collections.abc import Sequence

from berth.checks.policychecks import PolicyResult
from berth.diff.change import ADDED, REMOVED, Change, PlanChange
from berth.diff.permissions import Permission
from berth.diff.planwording import month_sums
from berth.diff.wording import number_of
from berth.findings import ERROR
from berth.machines.formatting import money_or_unknown
from berth.schema.policies import APPROVAL, REFUSE


def summary(change: Change) -> str:
    """Return `1 reservation added, 2 changed; peak seats of small in prod 200 -> 230; 2 warnings`.

    What refuses the change is first, then people, then money; all warnings are counted.
    """
    parts = [f"{side.name} is not valid" for side in (change.base, change.head) if not side.is_valid]
    parts += [] if change.is_judged else ["policies cannot be judged"]
    parts += _plan_errors(change.plan) if change.plan else []
    parts += _policies_summary(change.policies)
    parts += _permissions_summary(change.permissions)
    parts += [_count_reservations(change)] if change.reservations else []
    parts += [f"{number_of(len(change.shared), 'shared document')} changed"] if change.shared else []
    peaks = [peak for peak in change.peaks if not (peak.what.startswith("of ") or peak.during)]
    parts += [f"peak {peak.what} in {peak.cluster} {peak.before} -> {peak.after}" for peak in peaks[:2]]
    parts += [f"{number_of(len(peaks) - 2, 'more peak')}"] if len(peaks) > 2 else []
    is_known = change.base.is_valid and change.head.is_valid
    if not change.reservations and not change.shared and change.files and is_known:
        parts.append(f"dates and seats are the same; {number_of(len(change.files), 'rendered file')} changed")
    parts += _plan_summary(change.plan) if change.plan else []
    parts += [number_of(change.warning_count, "warning")] if change.warning_count else []
    return "; ".join(parts) or "Nothing changes."


def _policies_summary(results: Sequence[PolicyResult]) -> list[str]:
    """Return who must approve, and what refuses."""
    refusing = dict.fromkeys(result.policy.name for result in results if result.policy.effect == REFUSE)
    approvers = dict.fromkeys(
        result.policy.approver for result in results if result.policy.effect == APPROVAL
    )
    parts = [f"refused by policy {', '.join(refusing)}"] if refusing else []
    return [*parts, f"needs approval by {' and '.join(approvers)}"] if approvers else parts


def _permissions_summary(permissions: Sequence[Permission]) -> list[str]:
    places = ", ".join(dict.fromkeys(permission.where for permission in permissions))
    return [f"new permissions in {places}"] if places else []


def _count_reservations(change: Change) -> str:
    kinds = [reservation.kind for reservation in change.reservations]
    added, removed = kinds.count(ADDED), kinds.count(REMOVED)
    counts = {"added": added, "changed": len(kinds) - added - removed, "removed": removed}
    (first, count), *others = [(kind, count) for kind, count in counts.items() if count]
    return ", ".join(
        [f"{number_of(count, 'reservation')} {first}", *(f"{count} {kind}" for kind, count in others)]
    )


def _plan_summary(plan: PlanChange) -> list[str]:
    before, after = month_sums(plan.months)
    if plan.months:
        return [f"cost {money_or_unknown(before)} -> {money_or_unknown(after)} USD"]
    if plan.machines:
        return ["other machines"]
    return ["other use of reserved machines"] if plan.reserved else []


def _plan_errors(plan: PlanChange) -> list[str]:
    errors = sum(finding.severity == ERROR for finding in plan.findings)
    return [f"the plan has {number_of(errors, 'error')}"] if errors else []
