"""Which labels and annotations people may put on what is rendered."""

from typing import Any

from berth.findings import Path
from berth.schema import grammar
from berth.schema.report import INVALID, Report
from berth.schema.suggest import shown

OUR_DOMAIN = "berth.dev/"
IGNORE = "berth.dev/ignore"
OUR_LABELS = (
    "app.kubernetes.io/name",
    "app.kubernetes.io/part-of",
    "app.kubernetes.io/managed-by",
)
RESERVED, UNREAD = "B023", "B176"
DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"
OF_PODS = (
    DO_NOT_DISRUPT,
    "controller.kubernetes.io/pod-deletion-cost",
    "cluster-autoscaler.kubernetes.io/safe-to-evict",
)
MOST_ANNOTATIONS = 8 * 1024  # bytes; client-side apply records them once more, beside a whole timetable


def items(mapping: Any) -> list[tuple[str, Any]]:
    """Return the sound pairs of a mapping that may be missing or faulty."""
    return [] if mapping is INVALID or not mapping else list(mapping.items())


def refuse_our_label(name: str, path: Path, report: Report) -> None:
    """Report a label that Berth sets."""
    if name in OUR_LABELS or name.startswith(OUR_DOMAIN):
        refuse_ours(name, path, report)


def refuse_ours(name: str, path: Path, report: Report) -> None:
    report(RESERVED, path, f"{shown(name)} is set by Berth itself.", "Remove it.", at_key=True)


def refuse_our_labels(labels: Any, path: Path, report: Report) -> None:
    if not labels or labels is INVALID:
        return
    for name in labels:
        refuse_our_label(name, (*path, name), report)


def refuse_much(annotations: Any, path: Path, report: Report) -> None:
    """Report annotations that are too large together."""
    size = sum(
        len(name) + (0 if text is INVALID else len(text.encode("utf-8", "replace")))
        for name, text in items(annotations)
    )
    if size > MOST_ANNOTATIONS:
        message = f"the annotations have more than {MOST_ANNOTATIONS // 1024} KiB."
        report(grammar.LABEL, path, message, "Shorten them: they are on every object.")
