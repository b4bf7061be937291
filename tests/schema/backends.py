"""Options of the backend koordinator."""

from typing import Any

LABELS = {"matchLabels": {"course": "ml"}}


OWNERS = [{"labelSelector": LABELS}]


def backend(**said: Any) -> dict[str, Any]:
    return {"type": "koordinator", **said}
