"""Waiting for a condition, with an end."""

import time
from collections.abc import Callable
from typing import TypeVar

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
