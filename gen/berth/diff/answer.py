"""Format a change for programs: the answer of kind Change, and findings at the lines of a pull request."""

from berth.checks.policychecks import PROBLEM_CODES, PolicyResult, SharedSubject, result_text
from berth.core.jsonvalues import instant_text
from berth.cost.formatting import machines_json, money_json, use_json
from berth.dates.occurrence import Occurrence
from berth.diff.change import REMOVED, Change, PlanChange, ReservationChange
from berth.diff.wording import detail_lines, title_line
from berth.findings import NOTE, RULES, WARNING, Finding, Problem
from berth.output import report
from berth.output.report import Answer, hours_json
from berth.pipeline import Pipeline
from berth.schema.holders import Unit

_CHANGED, _CHECK = "change", "think"  # codes, which GitHub shows as titles


def annotations(change: Change, head: Pipeline) -> list[Finding]:
    """Return the head's errors and new findings, a note at each changed reservation, and its warnings."""
    origins = {one.name: one.origin for one in head.declared.reservations}
    problems = []
    for one in change.reservations:
        if one.name in origins:
            text = "; ".join(f"{line.sign} {line.text}".strip() for line in detail_lines(one))
            problems.append(
                Problem(_CHANGED, *origins[one.name][:2], (), f"{title_line(one).text}:", f"{text}.")
            )
    present = {one.subject for one in change.shared if one.change != REMOVED}
    for result in change.policies:
        if result.reservation in present or result.subject in origins:
            problems.append(
                Problem(
                    PROBLEM_CODES[result.policy.effect],
                    *result.reservation.origin[:2],
                    (),
                    f"{result_text(result)}.",
                    "",
                )
            )
    for warning in change.warnings:
        if warning.subject in origins:
            problems.append(Problem(_CHECK, *origins[warning.subject][:2], (), warning.message, ""))
    return [
        *change.head.findings,
        *(change.plan.findings if change.plan else ()),
        *head.located(problems, _severity),
    ]


def _severity(code: str) -> str:
    return {_CHANGED: NOTE, _CHECK: WARNING}.get(code) or RULES[code].severity


def as_answer(change: Change) -> Answer:
    """Return the answer of kind Change. It is stable; docs/reference/json.md describes it."""
    occurrences = [one for item in change.reservations for one in _occurrences(item)]
    return report.document(
        "Change",
        {
            "now": instant_text(change.now),
            "base": {"name": change.base.name, "valid": change.base.is_valid},
            "head": {"name": change.head.name, "valid": change.head.is_valid},
            "reservations": [_reservation(one) for one in change.reservations],
            "occurrences": {
                kind: [value for found, value in occurrences if found == kind]
                for kind in ("added", "removed", "changed")
            },
            "peaks": [
                {
                    "cluster": one.cluster,
                    "what": one.what,
                    "during": one.during or None,
                    "before": one.before,
                    "after": one.after,
                    "at": None if one.at is None else instant_text(one.at),
                    "holders": [{"reservation": name, "amount": amount} for name, amount in one.holders],
                    "ceiling": one.ceiling or None,
                }
                for one in change.peaks
            ],
            **({"plan": _plan(change.plan)} if change.plan else {}),
            "permissions": [
                {
                    "kind": one.kind,
                    "name": one.name,
                    "namespace": one.namespace or None,
                    "grants": list(one.grants),
                    "path": one.file,
                }
                for one in change.permissions
            ],
            "shared": [
                {
                    "kind": one.subject.kind,
                    "name": one.subject.name,
                    "change": one.change,
                    "file": one.subject.origin.file,
                    "fields": [field._asdict() for field in one.fields],
                }
                for one in change.shared
            ],
            "ignored": report.items(change.ignored),
            "policiesJudged": change.is_judged,
            "policies": [_policy(one) for one in change.policies],
            "warnings": [one._asdict() for one in change.warnings],
            "files": [
                {
                    "path": one.path,
                    "change": one.change,
                    "objects": [
                        {"kind": item.kind, "name": item.name, "change": item.change} for item in one.objects
                    ],
                }
                for one in change.files
            ],
        },
    )


def _policy(one: PolicyResult) -> dict[str, object]:
    return {
        "policy": one.policy.name,
        "reservation": None if isinstance(one.reservation, SharedSubject) else one.reservation.name,
        "document": one.subject if isinstance(one.reservation, SharedSubject) else None,
        "require": one.policy.effect,
        "approvalBy": one.policy.approver or None,
        "reasons": list(one.reasons),
    }


def _plan(plan: PlanChange) -> dict[str, object]:
    """Return the plan, with money as text as in the kind Plan."""
    return {
        "machines": [
            {
                "cluster": one.cluster,
                "before": dict(zip(("least", "most"), one.before, strict=True)),
                "after": dict(zip(("least", "most"), one.after, strict=True)),
                "at": None if one.at is None else instant_text(one.at),
                "machines": machines_json(one.machines),
            }
            for one in plan.machines
        ],
        "months": [
            {
                "month": one.month,
                "cost": dict(zip(("before", "after"), map(money_json, one.money), strict=True)),
                "machineHours": dict(zip(("before", "after"), map(hours_json, one.seconds), strict=True)),
                "budget": None if one.budget is None else str(one.budget),
            }
            for one in plan.months
        ],
        "reserved": [
            {
                "capacityReservation": one.reserved,
                "cluster": one.cluster,
                "before": use_json(one.before),
                "after": use_json(one.after),
            }
            for one in plan.reserved
        ],
        "findings": report.items(plan.findings),
    }


def _reservation(one: ReservationChange) -> dict[str, object]:
    before, after = one.seat_seconds
    return {
        "name": one.name,
        "was": one.old_name,
        "change": one.kind,
        "title": one.title,
        "timeZone": one.zone,
        "clusters": list(one.clusters),
        "owner": report.owner_json(one.owner),
        "fields": [field._asdict() for field in one.fields],
        "occurrences": {
            "added": len(one.occurrences.added),
            "removed": len(one.occurrences.removed),
            "changed": len(one.occurrences.changed),
            "kept": one.occurrences.kept,
        },
        "seatHours": {"before": _hours(before), "after": _hours(after)},
        **_standing(one),
    }


def _standing(one: ReservationChange) -> dict[str, object]:
    """Return the key `standing`, for a reservation that has no windows on one of the sides."""
    if not any(one.standing):
        return {}
    before, after = (text or None for text in one.standing)
    return {"standing": {"before": before, "after": after}}


def _occurrences(one: ReservationChange) -> list[tuple[str, object]]:
    changes, (old_unit, new_unit) = one.occurrences, one.units
    reasons = dict(changes.reasons)
    return [
        *(("added", _occurrence(item, new_unit)) for item in changes.added),
        *(
            ("removed", {**_occurrence(item, old_unit), "reason": reasons.get(item.id)})
            for item in changes.removed
        ),
        *(
            (
                "changed",
                {
                    "before": _occurrence(before, old_unit),
                    "after": _occurrence(after, new_unit),
                },
            )
            for before, after in changes.changed
        ),
    ]


def _hours(seconds: int | None) -> int | float | None:
    return None if seconds is None else hours_json(seconds)


def _occurrence(item: Occurrence, unit: Unit) -> dict[str, object]:
    return {
        "reservation": item.reservation,
        "id": item.id,
        **report.counts_json(item.seats, unit),
        "open": instant_text(item.open),
        "start": instant_text(item.start),
        "end": instant_text(item.end),
        "timeZone": item.zone,
        "marks": list(item.marks),
    }
