"""How findings about clusters look, as a line of text and in JSON."""

from collections.abc import Sequence

from berth.findings import ERROR, NOTE, WARNING
from berth.live.findings import LiveFinding

_COLORS, _PLAIN = {ERROR: "\x1b[31m", WARNING: "\x1b[33m", NOTE: "\x1b[36m"}, "\x1b[0m"


def finding_line(found: LiveFinding, *, color: bool) -> str:
    """Return a finding about a cluster in one line."""
    kind = f"{found.severity}[{found.code}]"
    if color:
        kind = f"{_COLORS[found.severity]}{kind}{_PLAIN}"
    subject = f"{found.subject}: " if found.subject else ""
    return f"{found.cluster}: {kind} {subject}{found.message} {found.fix}"


def findings_json(found: Sequence[LiveFinding]) -> list[dict[str, str]]:
    return [
        {"severity": one.severity, "code": one.code, "message": one.message, "fix": one.fix} for one in found
    ]
