"""A pure function over many values, shared with a second process where the machine has a core for it.

The second process is a fork: it has all that is loaded, and nothing that it changes comes back but its
answers. Each takes the next few values when it is done with the last ones, so it matters little how fast the
other is. If the second dies, its share is done here: later, with the same answers. So nobody needs to know of
it.
"""

import marshal
import os
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from fcntl import fcntl
from typing import Any, BinaryIO, Generic, Self, TypeVar

T = TypeVar("T")
R = TypeVar("R")

LEAST = 300  # values; with fewer a fork costs more than it saves
_CHUNK = 16  # values that are taken at once, unless that makes more chunks than a pipe holds the numbers of
_CHUNKS = 4096
_NUMBER = 8  # bytes of a chunk's number, and of the length before its answers
_PIPE = 1024 * 1024  # bytes on their way from process to process: the answers of some chunks
_SET_PIPE_SIZE = 1031  # fcntl's F_SETPIPE_SZ, which not every system has


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
    size = max(_CHUNK, -(-len(values) // _CHUNKS))
    chunks = [values[at : at + size] for at in range(0, len(values), size)]
    with _Turns(len(chunks)) as turns:
        child, packed = _second(work, chunks, turns)
        try:
            following = 0
            while following < len(chunks):
                number = turns.take()
                own = list(map(work.do, chunks[number])) if number < len(chunks) else []
                for theirs in chunks[following:number]:
                    yield from _unpacked(work, theirs, packed)
                yield from own
                following = number + 1
        finally:
            packed.close()
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


class _Turns:
    """The numbers of all chunks, in order, each for whoever takes it first. Both processes read the pipe."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._next, end = os.pipe()
        with os.fdopen(end, "wb") as written:
            written.write(b"".join(i.to_bytes(_NUMBER, "big") for i in range(number)))

    def take(self) -> int:
        """The next number; where none is left, the number of all chunks."""
        data = os.read(self._next, _NUMBER)
        return int.from_bytes(data, "big") if data else self._number

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._next)


def _second(work: Work[T, R], chunks: Sequence[Sequence[T]], turns: _Turns) -> tuple[int, BinaryIO]:
    """The process that takes its turns too, and where its answers come from."""
    ours, theirs = os.pipe()
    with suppress(OSError):
        fcntl(theirs, _SET_PIPE_SIZE, _PIPE)
    child = os.fork()
    if child:
        os.close(theirs)
        return child, os.fdopen(ours, "rb")
    code = 1
    try:
        os.close(ours)
        with os.fdopen(theirs, "wb") as answered:
            while (number := turns.take()) < len(chunks):
                data = marshal.dumps([work.pack(work.do(value)) for value in chunks[number]])
                answered.write(len(data).to_bytes(_NUMBER, "big") + data)
                answered.flush()
        code = 0
    finally:
        os._exit(code)  # whatever happened: the other process does what is missing, and tells of it


def _unpacked(work: Work[T, R], values: Sequence[T], packed: BinaryIO) -> Iterator[R]:
    """The other process's answers for these values; ours, where it has ended too early."""
    size = int.from_bytes(packed.read(_NUMBER), "big")
    data = packed.read(size)
    if not data or len(data) < size:
        return map(work.do, values)
    return map(work.unpack, values, marshal.loads(data))
