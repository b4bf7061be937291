"""`sessions` of a class: how its sessions are recognized."""

from typing import TYPE_CHECKING, Annotated, Literal

from berth.findings import Path
from berth.schema.basemodel import OR_MAPPING, Json, Length, ListOf, Model, NonEmpty, field, lazy
from berth.schema.documentproblems import CONFLICT, MISSING, DocumentProblems
from berth.schema.types import Annotations, AnyText, DnsLabel, DnsName, Labels

if TYPE_CHECKING:
    from berth.schema.scheduling import LabelSelector
else:
    LabelSelector = lazy("berth.schema.scheduling", "LabelSelector")

NOT_LISTED = "B036"
BY_LABEL = "every namespace with"  # with which the words for such namespaces begin
_CUSTOM = ("group", "version", "resource", "match_annotations", "inactive")


class InactiveSessions(Model):
    """Sessions that do not count: a field of theirs has one of these values."""

    path: AnyText
    values: NonEmpty[AnyText] = field(meaning="list (text each)")


class NamespaceLabels(Model):
    """The namespaces that have these labels, now or later."""

    match_labels: Annotated[Labels, Length(1)] = field(meaning="labels that the namespace must have")


class ClassSessions(Model):
    source: Literal["renku", "jupyterhub", "pods", "custom"] = field(meaning="what a session is")
    namespaces: Annotated[NonEmpty[DnsLabel] | NamespaceLabels, OR_MAPPING] = field(
        meaning="where sessions run: names; or `{matchLabels}`, which lets the Jobs read the whole cluster"
    )
    selector: LabelSelector | None = field(
        None, "labels that a session of the class must have", "every session"
    )
    group: DnsName | None = field(None, "only `custom`: API group", "the core group")
    version: DnsName | None = field(None, "only `custom`: API version", "none")
    resource: DnsName | None = field(None, "only `custom`: plural name of the kind", "none")
    match_annotations: Annotations | None = field(
        None, "only `custom`: annotations that a session of the class has", "none"
    )
    inactive: ListOf[InactiveSessions] | None = field(
        None, "only `custom`: field values of sessions that do not count", "every session counts"
    )

    def check(self, path: Path, report: DocumentProblems) -> None:
        if self.source == "custom":
            for name, value in (("version", self.version), ("resource", self.resource)):
                if value is None:
                    report(MISSING, path, f"source custom needs {name}.", f"Add {name}: a DNS name.")
            if self.resource == "secrets" and not self.group:
                message = "Secrets are not sessions, and the Jobs of Berth would be allowed to read them all."
                report(NOT_LISTED, (*path, "resource"), message, "Name the kind that sessions are of.")
        else:
            for key in self.custom:
                fix, message = "Remove it, or write source: custom.", "this key belongs to source custom."
                report(CONFLICT, (*path, key), message, fix, at_key=True)

    @property
    def namespace_names(self) -> tuple[str, ...]:
        """The namespaces by name; empty if labels tell them, which any namespace may get."""
        return () if isinstance(self.namespaces, NamespaceLabels) else self.namespaces

    @property
    def namespace_labels(self) -> dict[str, str]:
        """The labels that tell the namespaces; empty if they are named."""
        return self.namespaces.match_labels if isinstance(self.namespaces, NamespaceLabels) else {}

    @property
    def where(self) -> str:
        """The namespaces in words: `namespace a, b` or `every namespace with team=x`."""
        pairs = ", ".join(f"{key}={value}" for key, value in self.namespace_labels.items())
        if not pairs:
            return f"namespace {', '.join(self.namespace_names)}"
        return f"{BY_LABEL} {pairs}"

    @property
    def custom(self) -> Json:
        """Return the API coordinates and rules of source custom, as they were written."""
        return self.model_dump(by_alias=True, exclude_none=True, include={*_CUSTOM})
