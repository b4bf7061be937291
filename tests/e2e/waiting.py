"""Waiting for a condition, with an end."""

import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from tests.e2e.errors import E2EError, WaitTimeoutError

T = TypeVar("T")


def wait_for(predicate: Callable[[], T], timeout: float, what: str, interval: float = 0.2) -> T:
    """The first true value of `predicate`; an E2EError inside it means `not yet`."""
    deadline = time.monotonic() + timeout
    while True:
        reason = ""
        try:
            value = predicate()
            if value:
                return value
        except E2EError as error:
            reason = f" (last: {error})"
        if time.monotonic() >= deadline:
            raise WaitTimeoutError(f"waited {timeout:g} s in vain for {what}{reason}")
        time.sleep(interval)


def is_ready(found: Mapping[str, Any]) -> bool:
    """Whether an object has the condition `Ready`."""
    conditions = found.get("status", {}).get("conditions", ())
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
