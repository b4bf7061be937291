"""What the commands share: how findings are told, and which exit code they mean."""

import os
import sys
from collections.abc import Sequence

from gen import report
from gen.command.asked import Asked
from gen.command.exits import BAD_INPUT, GOOD
from gen.command.say import say
from gen.finding import ERROR, NOTE, Finding


def tell(findings: Sequence[Finding], asked: Asked, *, aside: bool = True) -> int:
    """Tells the findings in the form that was asked for; answers the exit code that they mean."""
    if asked.form == "json":
        text = report.as_json(findings) if findings or not aside else ""
    elif asked.form == "github":
        text = report.github(findings, asked.value("-C") or "")
    else:
        text = report.text(findings, colour=coloured(sys.stderr if aside else sys.stdout))
    say(text, aside=aside)
    return exit_code(findings, strict=asked.has("--strict"))


def coloured(stream: object) -> bool:
    """Only on terminals that can, and only where nobody minds."""
    isatty = getattr(stream, "isatty", None)
    if isatty is None or not isatty():
        return False
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def exit_code(findings: Sequence[Finding], *, strict: bool) -> int:
    """Errors are bad; with `strict` warnings are too. Notes never are."""
    bad = any(found.severity == ERROR or (strict and found.severity != NOTE) for found in findings)
    return BAD_INPUT if bad else GOOD
