"""`sessions` of a class: how its sessions are recognized."""

from typing import TYPE_CHECKING, Literal

from berth.findings import Path
from berth.schema.basemodel import Json, ListOf, Model, NonEmpty, field, lazy
from berth.schema.documentproblems import CONFLICT, MISSING, DocumentProblems
from berth.schema.types import Annotations, AnyText, DnsLabel, DnsName

if TYPE_CHECKING:
    from berth.schema.scheduling import LabelSelector
else:
    LabelSelector = lazy("berth.schema.scheduling", "LabelSelector")

NOT_LISTED = "B036"
CUSTOM = ("group", "version", "resource", "matchAnnotations", "inactive")
_OWN = ("group", "version", "resource", "match_annotations", "inactive")


class InactiveSessions(Model):
    """Sessions that do not count: a field of theirs has one of these values."""

    path: AnyText
    values: NonEmpty[AnyText] = field(meaning="list (text each)")


class ClassSessions(Model):
    source: Literal["renku", "jupyterhub", "pods", "custom"] = field(meaning="what a session is")
    namespaces: NonEmpty[DnsLabel] = field(meaning="where sessions run")
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
            own = (self.group, self.version, self.resource, self.match_annotations, self.inactive)
            for name, given in zip(CUSTOM, own, strict=True):
                if given is not None:
                    fix = "Remove it, or write source: custom."
                    message = "this key belongs to source custom."
                    report(CONFLICT, (*path, name), message, fix, at_key=True)

    @property
    def custom(self) -> Json:
        """Return the API coordinates and rules of source custom, as they were written."""
        return self.model_dump(by_alias=True, exclude_none=True, include={*_OWN})
