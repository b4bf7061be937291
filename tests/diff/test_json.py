"""`berth diff -o json`: the kind Change, whole."""

from typing import Any

from tests.diff.conftest import NOW, Pair

FIRST = {
    "reservation": "course",
    "id": "course/2026-02-02T09:00",
    "seats": {"small": 25},
    "open": "2026-02-02T07:30:00Z",
    "start": "2026-02-02T08:00:00Z",
    "end": "2026-02-02T12:00:00Z",
    "timeZone": "Europe/Zurich",
    "marks": [],
}
RESERVATION = {
    "name": "course",
    "was": "course",
    "change": "changed",
    "title": "Zürich, Café | Lab",
    "timeZone": "Europe/Zurich",
    "clusters": ["prod"],
    "owner": None,
    "causes": [],
    "fields": [{"what": "seats", "before": "25 small", "after": "30 small"}],
    "occurrences": {"added": 0, "removed": 0, "changed": 2, "kept": 0},
    "seatHours": {"before": 225.0, "after": 270.0},
}
WARNING = {
    "code": "open-now",
    "subject": "course",
    "message": "small grows as soon as this is applied: 25 seats now, 30 then.",
}
FILE = {
    "path": "clusters/prod/reservations/course.yaml",
    "change": "changed",
    "objects": [{"kind": "ConfigMap", "name": "course", "change": "changed"}],
}


def peak(what: str, before: str, after: str) -> dict[str, object]:
    return {
        "cluster": "prod",
        "what": what,
        "during": None,
        "before": before,
        "after": after,
        "at": "2026-02-02T07:30:00Z",
        "holders": [{"reservation": "course", "amount": after}],
        "ceiling": None,
    }


def test_json_output_has_the_whole_change(pair: Pair) -> None:
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")
    change: dict[str, Any] = pair.change()
    changed = change["occurrences"].pop("changed")
    assert changed[0] == {"before": FIRST, "after": {**FIRST, "seats": {"small": 30}}}
    assert change == {
        "apiVersion": "berth.dev/v1alpha1",
        "kind": "Change",
        "now": NOW,
        "permissions": [],
        "shared": [],
        "ignored": [],
        "policiesJudged": True,
        "base": {"name": "../was", "valid": True, "findings": []},
        "head": {"name": "working tree", "valid": True, "findings": []},
        "reservations": [RESERVATION],
        "occurrences": {"added": [], "removed": []},
        "peaks": [
            peak("seats of small", "25", "30"),
            peak("of cpu", "25", "30"),
            peak("of memory", "100Gi", "120Gi"),
        ],
        "warningCount": 1,
        "warnings": [WARNING],
        "policies": [],
        "files": [FILE],
    }
