"""SIGTERM and SIGHUP unwind like Ctrl-C, and nothing interrupts the clean-up that follows."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_ENDING = (signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Handlers belong to the main thread; in any other this does nothing."""

    def __init__(self) -> None:
        self._before: dict[int, object] = {}

    def install(self) -> None:
        if threading.current_thread() is threading.main_thread():
            # KeyboardInterrupt and not SystemExit: pytest takes the latter for a failed test and goes on.
            self._before = {number: signal.signal(number, signal.default_int_handler) for number in _ENDING}

    def restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        self._before = {}


@contextmanager
def uninterrupted() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, *_ENDING)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
