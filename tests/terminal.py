"""Berth as a program of its own on a terminal, beside a person who answers."""

import os
import pty
import select
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
PATIENCE = 60.0  # seconds that a question may take on a busy machine


def on_terminal(
    folder: Path, words: Sequence[str], answers: Iterable[tuple[str, str]] = (), /, **environment: str
) -> tuple[int, str]:
    """Run berth and give each answer after its question; return its exit code and all that it shows then."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "berth", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "dumb", **environment},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    for question, answer in answers:
        while not shown.endswith(question.encode()):
            assert select.select([ours], [], [], PATIENCE)[0], f"no question {question!r}: {shown!r}"
            shown += os.read(ours, 1024)
        shown = b""
        os.write(ours, answer.encode())
    try:  # to the end, not until the process is gone: what it wrote last may still be there
        while data := os.read(ours, 65536):
            shown += data
    except OSError:
        pass  # how Linux says that nobody writes any more
    os.close(ours)
    return process.wait(), shown.decode().replace("\r\n", "\n")
