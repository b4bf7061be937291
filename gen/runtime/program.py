"""What both programs of an occurrence's pod are made of: their environment, turned into values."""

import os
import time
from collections.abc import Mapping
from contextlib import suppress

from gen.runtime.api import Api, TimetableText
from gen.runtime.keeper import Hands
from gen.runtime.log import Log
from gen.runtime.share import FOLDER
from gen.runtime.source import Source

MAIN, SCALER = "occurrence", "scaler"


def log_of(environment: Mapping[str, str]) -> Log:
    return Log(_write, time.time, environment.get("BERTH_RESERVATION", ""))


def hands_of(environment: Mapping[str, str], api: Api, log: Log, who: str) -> Hands:
    """Raises KeyError."""
    return Hands(api, environment["BERTH_NAMESPACE"], log, time.time, jitter, who)


def source_of(environment: Mapping[str, str], hands: Hands) -> Source:
    """Raises KeyError."""
    name, file = environment["BERTH_TIMETABLE"], environment["BERTH_TIMETABLE_FILE"]

    def read_copy() -> str:
        with open(file, encoding="utf-8") as copy:  # noqa: PTH123 (pathlib is memory)
            return copy.read()

    def ask_server() -> TimetableText:
        return hands.api.get_timetable(hands.namespace, name)

    return Source(environment["BERTH_RESERVATION"], ask_server, read_copy, hands.log, name)


def shared_path(environment: Mapping[str, str], name: str) -> str:
    return f"{environment.get('BERTH_SHARE', FOLDER)}/{name}"


def jitter() -> float:
    return os.urandom(1)[0] / 256


def _write(line: str) -> None:
    """One system call, so that a signal finds no line half written. Nobody who reads is no reason to stop."""
    with suppress(OSError):
        os.write(1, line.encode())
