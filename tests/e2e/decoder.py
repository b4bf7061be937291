"""Asks Go whether Koordinator's Reservations decode into the types of its API."""

import json
import subprocess
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tests.e2e.binaries import binary
from tests.e2e.errors import E2EError


class Decoded(NamedTuple):
    error: str  # why it does not decode: it breaks every list that it is in
    unknown: tuple[str, ...]  # fields that the types do not have


GOOD = Decoded("", ())


def decoded(reservations: Iterable[Mapping[str, Any]]) -> list[Decoded]:
    """In the same order."""
    lines = "".join(json.dumps(reservation) + "\n" for reservation in reservations)
    done = subprocess.run([binary("koordinator")], input=lines, capture_output=True, text=True, check=False)
    if done.returncode:
        raise E2EError(done.stderr.strip())
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return [Decoded(answer["error"], tuple(answer["unknown"])) for answer in answers]
