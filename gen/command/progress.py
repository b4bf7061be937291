"""How far a long run is, on a terminal and nowhere else. Work of less than a second is done in silence."""

import sys
import time
from collections.abc import Callable, Generator, Iterable
from typing import IO, TypeVar

T = TypeVar("T")

_PATIENCE = 1.0  # seconds before the first word, and between words


def watched(
    items: Iterable[T], total: int, stream: IO[str] | None = None, clock: Callable[[], float] = time.monotonic
) -> Generator[T, None, None]:
    """The items, of which there should be `total`. `stream` is stderr unless told otherwise."""
    stream = stream or sys.stderr
    if stream is None or not stream.isatty():
        yield from items
        return
    last, told = clock(), False
    try:
        for number, item in enumerate(items):
            now = clock()
            if now - last >= _PATIENCE:
                stream.write(f"\r{number} of {total} reservations")
                stream.flush()
                last, told = now, True
            yield item
    finally:
        if told:
            stream.write("\r\x1b[K")
            stream.flush()
