"""Format a change for programs: the answer of kind Change, and findings at the lines of a pull request."""

from collections.abc import Sequence

from berth.checks.policychecks import PROBLEM_CODES, PolicyResult, SharedSubject, result_text
from berth.core.jsonvalues import instant_text
from berth.dates.expansion import Occurrence
from berth.diff.change import Change, ReservationChange, SideSummary
from berth.diff.manifests import REMOVED
from berth.diff.sections import by_effect
from berth.diff.wording import line_of
from berth.findings import NOTE, RULES, WARNING, Finding
from berth.output import findinglist
from berth.output.answers import Answer, counts_json, document, hours_json, instant_json, owner_json
from berth.pipeline import Pipeline
from berth.schema.seatholders import Unit

_CHANGED, _CHECK = "change", "think"  # codes, which GitHub shows as titles


def annotations(change: Change, head: Pipeline) -> list[Finding]:
    """Return the head's errors and new findings, a note at each changed reservation, and its warnings.

    A removed reservation is a warning at the site.
    """
    origins = {declared.name: declared.origin for declared in head.declared.reservations}
    problems = []
    for item in by_effect(change, change.reservations):
        code, origin = _CHANGED, origins.get(item.name)
        if item.kind == REMOVED and head.site is not None:  # it has no place any more
            code, origin = _CHECK, head.site.origin
        if origin:
            problems.append(origin.problem(code, (), f"{line_of(item).text}.", ""))
    present = {shared.subject for shared in change.shared if shared.change != REMOVED}
    for result in change.policies:
        if result.reservation in present or result.subject in origins:
            code, origin = PROBLEM_CODES[result.policy.effect], result.reservation.origin
            problems.append(origin.problem(code, (), f"{result_text(result)}.", ""))
    for warning in change.warnings:
        if warning.subject in origins:
            problems.append(origins[warning.subject].problem(_CHECK, (), warning.message, ""))
    planned = change.plan.findings if change.plan else ()
    return [*change.head.findings, *planned, *head.located(problems, _severity)]


def _severity(code: str) -> str:
    return {_CHANGED: NOTE, _CHECK: WARNING}.get(code) or RULES[code].severity


def as_answer(change: Change) -> Answer:
    """Return the answer of kind Change. It is stable; docs/reference/json.md describes it."""
    values: Answer = {
        "now": instant_text(change.now),
        "base": _side(change.base),
        "head": _side(change.head),
        "reservations": [_reservation(item) for item in change.reservations],
        "occurrences": _occurrences(change.reservations),
        "peaks": [
            {
                **peak._asdict(),
                "during": peak.during or None,
                "at": instant_json(peak.at),
                "holders": [{"reservation": name, "amount": amount} for name, amount in peak.holders],
                "ceiling": peak.ceiling or None,
            }
            for peak in change.peaks
        ],
        **_plan(change),
        "permissions": [
            {
                "kind": permission.kind,
                "name": permission.name,
                "namespace": permission.namespace or None,
                "cluster": permission.cluster or None,
                "grants": list(permission.grants),
                "path": permission.file,
            }
            for permission in change.permissions
        ],
        "shared": [
            {
                "kind": shared.subject.kind,
                "name": shared.subject.name,
                "change": shared.change,
                "file": shared.subject.origin.file,
                "fields": [field._asdict() for field in shared.fields],
            }
            for shared in change.shared
        ],
        "ignored": findinglist.as_json(change.ignored),
        "policiesJudged": change.is_judged,
        "policies": [_policy(result) for result in change.policies],
        "warningCount": change.warning_count,
        "warnings": [warning._asdict() for warning in change.warnings],
        "files": [
            {
                "path": file.path,
                "change": file.change,
                "objects": [
                    {"kind": item.kind, "name": item.name, "change": item.change} for item in file.objects
                ],
            }
            for file in change.files
        ],
    }
    return document("Change", values)


def _side(side: SideSummary) -> Answer:
    return {"name": side.name, "valid": side.is_valid, "findings": findinglist.as_json(side.findings)}


def _policy(result: PolicyResult) -> Answer:
    is_shared = isinstance(result.reservation, SharedSubject)
    return {
        "policy": result.policy.name,
        "reservation": None if is_shared else result.reservation.name,
        "document": result.subject if is_shared else None,
        "require": result.policy.effect,
        "approvalBy": result.policy.approver or None,
        "reasons": list(result.reasons),
    }


def _plan(change: Change) -> Answer:
    if change.plan is None:
        return {}
    from berth.diff.plans import plan_json  # noqa: PLC0415 - few sites say which nodes there are

    return {"plan": plan_json(change.plan)}


def _sides(before: object, after: object) -> Answer:
    return {"before": before, "after": after}


def _reservation(item: ReservationChange) -> Answer:
    dates = item.occurrences
    hours = (None if seconds is None else hours_json(seconds) for seconds in item.seat_seconds)
    # `holds`: of a number of somebody else's object; `standing`: of a reservation without windows on a side
    rare = {"holds": item.holds, "standing": item.standing}
    return {
        "name": item.name,
        "was": item.old_name,
        "change": item.kind,
        "title": item.title,
        "timeZone": item.zone,
        "clusters": list(item.clusters),
        "owner": owner_json(item.owner),
        "causes": [{"kind": kind, "name": name} for kind, name in item.causes],
        "fields": [field._asdict() for field in item.fields],
        "occurrences": {
            "added": len(dates.added),
            "removed": len(dates.removed),
            "changed": len(dates.changed),
            "kept": dates.kept,
        },
        "seatHours": _sides(*hours),
        **{key: _sides(*(text or None for text in texts)) for key, texts in rare.items() if any(texts)},
    }


def _occurrences(items: Sequence[ReservationChange]) -> Answer:
    added, removed, changed = list[Answer](), list[Answer](), list[Answer]()
    for item in items:
        dates, (old, new) = item.occurrences, item.units
        reasons = dict(dates.reasons)
        added += [_occurrence(one, new) for one in dates.added]
        removed += [{**_occurrence(one, old), "reason": reasons.get(one.id)} for one in dates.removed]
        changed += [_sides(_occurrence(was, old), _occurrence(one, new)) for was, one in dates.changed]
    return {"added": added, "removed": removed, "changed": changed}


def _occurrence(occurrence: Occurrence, unit: Unit) -> Answer:
    return {
        "reservation": occurrence.reservation,
        "id": occurrence.id,
        **counts_json(occurrence.seats, unit),
        "open": instant_text(occurrence.open),
        "start": instant_text(occurrence.start),
        "end": instant_text(occurrence.end),
        "timeZone": occurrence.zone,
        "marks": list(occurrence.marks),
    }
