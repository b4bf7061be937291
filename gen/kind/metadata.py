"""`metadata` of our documents, and the labels and annotations that people may put on what is rendered."""

from collections.abc import Callable
from typing import Any

from gen.finding import Path
from gen.kind import grammar
from gen.kind.shape import INVALID, Field, Fields, Made, MapOf, Report, items, shown
from gen.kind.value import OneOf, Text
from gen.model import Origin

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

NAME = Text("DNS label", grammar.dns_label)
LABELS = MapOf(grammar.label_key, Text("label value", grammar.label_value))
ANNOTATIONS = MapOf(grammar.label_key, Text())


def _agree(made: Made, path: Path, report: Report) -> None:
    for key, _ in items(made["labels"]):
        refuse_our_label(key, (*path, "labels", key), report)
    for key, _ in items(made["annotations"]):
        if type(key) is str and key.startswith(OUR_DOMAIN) and key != IGNORE:
            _refuse(key, (*path, "annotations", key), report)
    refuse_much(made["annotations"], (*path, "annotations"), report)


def refuse_much(annotations: Any, path: Path, report: Report) -> None:
    """Report annotations that are too large together."""
    size = 0
    for key, text in items(annotations):
        size += len(text.encode("utf-8", "replace")) if type(text) is str else 0
        size += len(key) if type(key) is str else 0
    if size > MOST_ANNOTATIONS:
        message = f"the annotations have more than {MOST_ANNOTATIONS // 1024} KiB."
        fix = "Shorten them: they stand on every object."
        report(grammar.LABEL, path, message, fix)


def refuse_our_label(key: object, path: Path, report: Report) -> None:
    """Report a label that we set ourselves; `key` may be INVALID, which is told already."""
    if key in OUR_LABELS or (type(key) is str and key.startswith(OUR_DOMAIN)):
        _refuse(key, path, report)


def _refuse(key: object, path: Path, report: Report) -> None:
    report(RESERVED, path, f"{shown(key)} is set by Berth itself.", "Remove it.", at_key=True)


METADATA = Fields(
    {
        "name": Field(NAME, meaning="unique among the documents of its kind"),
        "labels": Field(LABELS, (), "set on every object rendered for it", "none"),
        "annotations": Field(ANNOTATIONS, (), "set on every object rendered for it", "none"),
    },
    agree=_agree,
)


class Document(Fields):
    """A whole document of one kind. `build` makes the declaration of what was checked."""

    def __init__(self, kind: str, spec: Fields, build: Callable[[Made, Origin], Any]) -> None:
        self.kind = kind
        super().__init__(
            {
                "apiVersion": Field(OneOf(("berth.dev/v1alpha1",))),
                "kind": Field(OneOf((kind,))),
                "metadata": Field(METADATA),
                "spec": Field(spec),
            },
            extensions=True,
        )
        self.build = build

    def read(self, value: dict[str, Any], report: Report) -> Any:
        """The declaration, or INVALID after it was reported why there is none."""
        made = self.check(value, (), report)
        self._tell_unread(made, report)
        return INVALID if report.errors else self.build(made, Origin(report.file, report.index))

    def _tell_unread(self, made: Any, report: Report) -> None:
        """Annotations stand on what is rendered for a document, and never on pods."""
        metadata = made["metadata"] if isinstance(made, dict) else INVALID
        for key, _ in items(metadata["annotations"] if isinstance(metadata, dict) else ()):
            if key in OF_PODS:
                message = f"{key} is read on pods; annotations of a {self.kind} are on none."
                fix = "Remove it: windows hold their nodes by budgets, and placeholders may go at any time."
                report(UNREAD, ("metadata", "annotations", key), message, fix, at_key=True)
