"""The only way out for words: results on stdout, everything else on stderr.

A reader that went away (`berth occurrences | head`) changes neither what a command does nor its exit code:
what nobody reads is dropped.
"""

import os
import sys
from typing import IO


class OutputLostError(Exception):
    """What should have been said could not be; the message is the operating system's."""


def say(text: str, *, aside: bool = False) -> None:
    stream = sys.stderr if aside else sys.stdout
    if stream is None:  # closed before we began: nobody wants to hear it
        return
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        silence(stream)
    except OSError as error:
        silence(stream)
        raise OutputLostError(error.strerror) from error


def silence(stream: IO[str] | None) -> None:
    """Whatever else is written there goes nowhere, also what waits in its buffer."""
    if stream is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
