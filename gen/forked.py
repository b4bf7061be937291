"""A pure function over many values, most of them in a second process where the machine has a core for it.

The second process is a fork: it has all that is loaded, and nothing that it changes comes back but its
answers. If it dies, its share is done here: later, with the same answers. So nobody needs to know of it.
"""

import marshal
import os
import signal
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from typing import Any, BinaryIO, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

LEAST = 300  # values; with fewer a fork costs more than it saves
_OWN = 2  # every third value is done here, where all answers are put to use meanwhile
_LENGTH = 8  # bytes before each answer


class Work(Generic[T, R]):
    """What is done with a value. An answer crosses between processes packed: in tuples, texts and numbers."""

    def __init__(self, do: Callable[[T], R], pack: Callable[[R], Any], unpack: Callable[[T, Any], R]) -> None:
        self.do = do
        self.pack = pack
        self.unpack = unpack


def answers(work: Work[T, R], values: Sequence[T], least: int = LEAST) -> Generator[R, None, None]:
    """The answer for each value, in order."""
    if len(values) < least or (os.cpu_count() or 1) < 2 or not hasattr(os, "fork"):
        yield from map(work.do, values)
        return
    child, packed = _second(work, [value for i, value in enumerate(values) if i % _OWN])
    try:
        for i, value in enumerate(values):
            answer = _next(packed) if i % _OWN else None
            yield work.do(value) if answer is None else work.unpack(value, answer)
    finally:
        packed.close()
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _second(work: Work[T, R], values: Sequence[T]) -> tuple[int, BinaryIO]:
    """The process that does these values, and where its answers come from."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child:
        os.close(theirs)
        return child, os.fdopen(ours, "rb")
    code = 1
    try:
        os.close(ours)
        with os.fdopen(theirs, "wb") as answered:
            for value in values:
                data = marshal.dumps(work.pack(work.do(value)))
                answered.write(len(data).to_bytes(_LENGTH, "big") + data)
        code = 0
    finally:
        os._exit(code)  # whatever happened: the other process does what is missing, and tells of it


def _next(packed: BinaryIO) -> Any:
    """None where the other process has ended too early."""
    length = packed.read(_LENGTH)
    size = int.from_bytes(length, "big")
    data = packed.read(size) if len(length) == _LENGTH else b""
    return marshal.loads(data) if data and len(data) == size else None
