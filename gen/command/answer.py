"""What the commands share: the form that was asked for, where findings go, and which exit code they mean."""

import argparse
import os
import sys
from collections.abc import Sequence

from gen import report
from gen.cli import BAD_INPUT, GOOD, UsageError
from gen.finding import ERROR, NOTE, Finding


def form(asked: argparse.Namespace, *known: str) -> str:
    """The form of the answer; the first known one where none was asked for."""
    wanted: str = asked.output or known[0]
    if wanted not in known:
        raise UsageError(f"{asked.command} cannot answer as {wanted}; it can as {', '.join(known)}.")
    return wanted


def tell(findings: Sequence[Finding], asked: argparse.Namespace, *, on_stdout: bool = False) -> None:
    """Findings in the form that was asked for; elsewhere than `validate` they go to stderr."""
    stream = sys.stdout if on_stdout else sys.stderr
    if asked.output == "json":
        if findings or on_stdout:
            stream.write(report.as_json(findings))
    elif asked.output == "github":
        stream.write(report.github(findings))
    else:
        stream.write(report.text(findings, colour=coloured(stream)))


def coloured(stream: object) -> bool:
    isatty = getattr(stream, "isatty", None)
    return bool(isatty and isatty()) and not os.environ.get("NO_COLOR")


def exit_code(findings: Sequence[Finding], asked: argparse.Namespace) -> int:
    """Errors are bad; with --strict warnings are too. Notes never are."""
    bad = any(f.severity == ERROR or (asked.strict and f.severity != NOTE) for f in findings)
    return BAD_INPUT if bad else GOOD
