"""Names and paths of Renku's payloads, for use without validation; it does not import pydantic."""

import re

from berth.findings import Path

_SNAKE = {
    "startDate": "start_date",
    "endDate": "end_date",
    "dayOfWeek": "day_of_week",
    "startTime": "start_time",
    "endTime": "end_time",
    "placeholderCount": "placeholder_count",
    "leadTimeMinutes": "lead_time_minutes",
    "scaleDownBehavior": "scale_down_behavior",
    "sessions": "project_template_id",
    "resourceClass": "resource_class_id",
}


def is_payload(value: object) -> bool:
    """Tell whether a document without `kind` looks like one of Renku's."""
    return (
        isinstance(value, dict)
        and not {"kind", "apiVersion"} & value.keys()
        and bool({"recurrence", "provisioning", "resource_class_id"} & value.keys())
    )


def their_path(path: Path, prefix: Path) -> Path:
    """Return a path of a CapacityReservation as in the payload, to which `prefix` leads."""
    inner = path[1:] if path[:1] == ("spec",) else path
    return (*prefix, *(_SNAKE.get(str(part), part) for part in inner))


def slug(title: str) -> str:
    """Return the name of a title: NFKD, ASCII, lower case, other runs become `-`, trimmed."""
    from unicodedata import normalize  # noqa: PLC0415 - only payloads pay for it

    plain = normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-") or "reservation"


def name(title: str, ulid: str | None) -> str:
    """Return the slug; with an id also `-` and the first six hex digits of the id's SHA-256."""
    if ulid is None:
        return slug(title)
    from hashlib import sha256  # noqa: PLC0415 - only payloads pay for it

    return f"{slug(title)}-{sha256(ulid.encode()).hexdigest()[:6]}"
