"""What makes a file ours, and how is told what stands in the way of writing one?

Every file that Berth renders begins with a header line; without it a file is somebody else's. Pure.
"""

import os
import re
from collections.abc import Iterable

from gen.finding import ERROR, Finding

MARK = "# Rendered by berth"
OWNED = ("clusters", "gitops")
"""The folders below an output folder that are Berth's alone."""

FOREIGN, IN_THE_WAY, UNUSABLE, BUSY = "B090", "B091", "B092", "B093"

_is_label = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?").fullmatch
_is_path = re.compile(rf"(?:{'|'.join(OWNED)})(?:/[a-z0-9][a-z0-9.-]*)+").fullmatch
_is_temporary = re.compile(r"\.berth-[0-9a-f]{8}-.+\.tmp").fullmatch


class OutputError(Exception):
    """An output folder that cannot be used as it is; `findings` is never empty."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__(*self.findings)


def header(site: str) -> str:
    """The first line of every file: how we know it again, and what people are to do instead of editing it."""
    if not _is_label(site):
        raise ValueError(f"{site!r} is not a DNS label")
    return f"{MARK} for site {site} from reservations/. Edit those files and run: berth render\n"


def is_ours(path: str, text: str) -> bool:
    """Does the path, relative to an output folder, stay within what we own, and has the text the header?"""
    return text.startswith(MARK) and _is_path(path) is not None


def temporary_name(token: str, name: str) -> str:
    """Hidden and not `.yaml`, so that no engine applies what a crash leaves behind. `token`: 8 hex digits."""
    return f".berth-{token}-{name}.tmp"


def is_temporary(name: str) -> bool:
    return _is_temporary(name) is not None


def finding(code: str, shown: str, path: str, message: str, fix: str) -> Finding:
    """`shown` is what people call the output folder; `path` is relative to it, and empty for itself."""
    printable = os.fsencode(path).decode("utf-8", "backslashreplace")
    file = f"{shown.rstrip('/')}/{printable}" if path else shown
    return Finding(file, 1, 1, code, ERROR, "", message, fix)


def refusal(shown: str, path: str, error: OSError, fix: str) -> OutputError:
    """What the operating system refused, told as a finding."""
    where = "" if path or not error.filename else f" ({error.filename})"
    message = f"It cannot be read or written: {error.strerror or error}{where}."
    return OutputError([finding(UNUSABLE, shown, path, message, fix)])
