"""The flags of `berth new` as names of `berth set`: `lead=45`, `class=gpu`, `owner=Physics`."""

from collections.abc import Callable
from typing import Any

from berth.edit.create import read_flag
from berth.edit.fieldpaths import FieldPath
from berth.notation.days import DateSpan

_STRUCTURED = ("[", "{", '"', "'")  # a value in YAML is that of the field of this name
_RECURRENCE, _PROVISIONING = ("spec", "recurrence"), ("spec", "provisioning")


def _text(value: Any) -> str:
    return str(value)


def _spans(value: tuple[DateSpan, ...]) -> list[str]:
    return [str(span.first) if span.first == span.last else f"{span.first}..{span.last}" for span in value]


_FIELDS: dict[str, tuple[FieldPath, Callable[[Any], Any]]] = {
    "class": (("spec", "resourceClass"), ",".join),
    "owner": (("spec", "owner", "name"), _text),
    "contact": (("spec", "owner", "contact"), _text),
    "match-labels": (("spec", "sessions", "matchLabels"), dict),
    "from": ((*_RECURRENCE, "startDate"), _text),
    "until": ((*_RECURRENCE, "endDate"), _text),
    "within": ((*_RECURRENCE, "within"), list),
    "dates": ((*_RECURRENCE, "dates"), _spans),
    "time-zone": ((*_RECURRENCE, "timeZone"), _text),
    "calendars": ((*_RECURRENCE, "calendars"), list),
    "lead": ((*_PROVISIONING, "leadTimeMinutes"), int),
    "behavior": ((*_PROVISIONING, "scaleDownBehavior"), _text),
}


def flag_assignment(name: str, text: str, today: int) -> tuple[FieldPath, Any] | None:
    """Return the field that a flag of `new` is for, and its value: None for an empty one.

    Return None for what is no such flag. Raise CommandError for a value that the flag refuses.
    """
    if name not in _FIELDS or text.startswith(_STRUCTURED):
        return None
    path, plain = _FIELDS[name]
    return path, plain(read_flag(name, text, today)) if text else None
