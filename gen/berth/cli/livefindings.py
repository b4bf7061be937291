"""How findings about clusters look, as a line of text and in JSON."""

from collections.abc import Sequence

from berth.live.findings import LiveFinding
from berth.output.findinglist import severity_text


def finding_line(finding: LiveFinding, *, color: bool) -> str:
    """Return a finding about a cluster in one line."""
    kind = severity_text(finding.severity, finding.code, color=color)
    subject = f"{finding.subject}: " if finding.subject else ""
    return f"{finding.cluster}: {kind} {subject}{finding.message} {finding.fix}"


def findings_json(findings: Sequence[LiveFinding]) -> list[dict[str, str]]:
    return [
        {"severity": finding.severity, "code": finding.code, "message": finding.message, "fix": finding.fix}
        for finding in findings
    ]
