"""`metadata` of all documents, and what documents of every kind have in common."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from berth.findings import Path
from berth.schema import validate
from berth.schema.base import Model, field
from berth.schema.labels import (
    IGNORE,
    OF_PODS,
    OUR_DOMAIN,
    UNREAD,
    items,
    refuse_much,
    refuse_our_labels,
    refuse_ours,
)
from berth.schema.model import Origin
from berth.schema.report import INVALID, Report
from berth.schema.types import Annotations, DnsLabel, Labels

Pairs = tuple[tuple[str, str], ...]


class Metadata(Model):
    name: DnsLabel = field(meaning="unique among the documents of its kind")
    labels: Labels = field({}, "set on every object rendered for it", "none")
    annotations: Annotations = field({}, "set on every object rendered for it", "none")

    def check(self, path: Path, report: Report) -> None:
        if not self.labels and not self.annotations:
            return
        refuse_our_labels(self.labels, (*path, "labels"), report)
        for name, _ in items(self.annotations):
            if name.startswith(OUR_DOMAIN) and name != IGNORE:
                refuse_ours(name, (*path, "annotations", name), report)
        refuse_much(self.annotations, (*path, "annotations"), report)

    @property
    def label_pairs(self) -> Pairs:
        return tuple(self.labels.items())

    @property
    def annotation_pairs(self) -> Pairs:
        """Return the annotations, but for what they say to Berth."""
        return tuple(pair for pair in self.annotations.items() if pair[0] != IGNORE)


class Document(Model):
    """A whole document of one kind; each kind adds its `kind` and `spec`."""

    api_version: Literal["berth.dev/v1alpha1"]
    metadata: Metadata
    kind_of: ClassVar[str]

    @classmethod
    def read(cls, value: Mapping[str, Any], report: Report) -> Any:
        """Return the declaration, or INVALID after it was reported why there is none."""
        # Keys that begin with x- are the author's own.
        made = validate.read(cls, {k: v for k, v in value.items() if not k.startswith("x-")}, report)
        return INVALID if report.errors else made.declared(Origin(report.file, report.index))

    def declared(self, origin: Origin) -> Any:
        """Return the declaration as the rest of the program uses it."""
        raise NotImplementedError

    def check(self, path: Path, report: Report) -> None:
        """Report annotations that are read on pods only; those of documents are on other objects."""
        if self.metadata is INVALID or not self.metadata.annotations:
            return
        for name, _ in items(self.metadata.annotations):
            if name in OF_PODS:
                message = f"{name} is read on pods; annotations of a {self.kind_of} are on none."
                fix = "Remove it: windows hold their nodes by budgets, and placeholders may go at any time."
                report(UNREAD, (*path, "metadata", "annotations", name), message, fix, at_key=True)
