"""What a grammar says of a text that it refuses."""

from collections.abc import Callable
from typing import Any

import pytest
from berth.notation.refusal import Refusal


def refused(read: Callable[..., Any], *arguments: Any) -> str:
    """Return the code, the message and the advice of a refusal."""
    with pytest.raises(Refusal) as caught:
        read(*arguments)
    return f"{caught.value.code} {caught.value.message} {caught.value.fix}"
