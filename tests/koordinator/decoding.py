"""What Go's types refuse: one such Reservation, and the scheduler sees no Reservation at all any more.

The API server stores all of these. An unknown field is no trouble; a wrong type, duration or quantity is.
"""

import json
from collections.abc import Mapping
from typing import Any

from berth.manifests.gotypes import seconds as duration
from berth.manifests.gotypes import why_unread as poison

__all__ = ["duration", "json_object", "poison"]


def json_object(text: str) -> Mapping[str, Any]:
    """Of an annotation. Raises ValueError where it is none."""
    said = json.loads(text)
    if not isinstance(said, dict):
        raise ValueError(f"cannot unmarshal {text}")
    return said
