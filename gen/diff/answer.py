"""A change as JSON: kind Change. Stable, and documented in README."""

from gen import report
from gen.dates.occurrence import Occurrence
from gen.diff.change import Change, ReservationChange
from gen.runtime.instant import instant_text


def as_json(change: Change) -> str:
    occurrences = [one for item in change.reservations for one in _occurrences(item)]
    return report.document(
        "Change",
        {
            "base": {"name": change.base.name, "valid": change.base.is_sound},
            "head": {"name": change.head.name, "valid": change.head.is_sound},
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


def _reservation(one: ReservationChange) -> dict[str, object]:
    before, after = one.seat_seconds
    return {
        "name": one.name,
        "was": one.was,
        "change": one.kind,
        "title": one.title,
        "timeZone": one.zone,
        "clusters": list(one.clusters),
        "fields": [field._asdict() for field in one.fields],
        "occurrences": {
            "added": len(one.occurrences.added),
            "removed": len(one.occurrences.removed),
            "changed": len(one.occurrences.changed),
            "kept": one.occurrences.kept,
        },
        "seatHours": {"before": before / 3600, "after": after / 3600},
        **_standing(one),
    }


def _standing(one: ReservationChange) -> dict[str, object]:
    """Only of what stands without windows."""
    if not any(one.standing):
        return {}
    before, after = (said or None for said in one.standing)
    return {"standing": {"before": before, "after": after}}


def _occurrences(one: ReservationChange) -> list[tuple[str, object]]:
    dates = one.occurrences
    return [
        *(("added", _occurrence(item)) for item in dates.added),
        *(("removed", _occurrence(item)) for item in dates.removed),
        *(
            ("changed", {"before": _occurrence(before), "after": _occurrence(after)})
            for before, after in dates.changed
        ),
    ]


def _occurrence(item: Occurrence) -> dict[str, object]:
    return {
        "reservation": item.reservation,
        "id": item.id,
        "seats": dict(item.seats),
        "open": instant_text(item.open),
        "start": instant_text(item.start),
        "end": instant_text(item.end),
        "timeZone": item.zone,
        "marks": list(item.marks),
    }
