"""`ResourceClass`: the shape of one seat, and how its sessions are recognized."""

from typing import Annotated, ClassVar, Literal

from gen.finding import Path
from gen.model import ClassSessions, Origin, ResourceClass
from gen.schema.base import ListOf, Model, NonEmpty, UniqueList, Whole, field
from gen.schema.metadata import Document, refuse_our_labels
from gen.schema.pod import LabelSelector, Placement
from gen.schema.report import CONFLICT, INVALID, MISSING, Report
from gen.schema.resources import check_resources, completed
from gen.schema.types import Annotations, AnyText, DnsLabel, DnsName, Labels, Resources, Taken

NOT_LISTED = "B036"
CUSTOM = ("group", "version", "resource", "matchAnnotations", "inactive")


class Inactive(Model):
    """Sessions that do not count: a field of theirs has one of these values."""

    path: AnyText
    values: NonEmpty[AnyText] = field(meaning="list (text each)")


class ClassSessionsSpec(Model):
    source: Literal["renku", "jupyterhub", "pods", "custom"] = field(meaning="what a session is")
    namespaces: NonEmpty[DnsLabel] = field(meaning="where sessions run")
    selector: LabelSelector | None = field(None, "labels that a session of the class has", "every session")
    group: DnsName | None = field(None, "only `custom`: API group", "the core group")
    version: DnsName | None = field(None, "only `custom`: API version", "none")
    resource: DnsName | None = field(None, "only `custom`: plural name of the kind", "none")
    match_annotations: Annotations | None = field(
        None, "only `custom`: annotations that a session of the class has", "none"
    )
    inactive: ListOf[Inactive] | None = field(
        None, "only `custom`: field values of sessions that do not count", "every session counts"
    )

    def check(self, path: Path, report: Report) -> None:
        if self.source == "custom":
            for name, value in (("version", self.version), ("resource", self.resource)):
                if value is None:
                    report(MISSING, path, f"source custom needs {name}.", f"Add {name}: a DNS name.")
            if self.resource == "secrets" and not self.group:
                message = "Secrets are not sessions, and the Jobs of Berth would be allowed to read them all."
                report(NOT_LISTED, (*path, "resource"), message, "Name the kind that sessions are of.")
        elif self.source is not INVALID:
            own = (self.group, self.version, self.resource, self.match_annotations, self.inactive)
            for name, given in zip(CUSTOM, own, strict=True):
                if given is not None:
                    fix = "Remove it, or write source: custom."
                    message = "this key belongs to source custom."
                    report(CONFLICT, (*path, name), message, fix, at_key=True)

    @property
    def declared(self) -> ClassSessions:
        selector = {} if self.selector is None else self.selector.dump()
        own = self.model_dump(by_alias=True, exclude_none=True, exclude={"source", "namespaces", "selector"})
        return ClassSessions(self.source, self.namespaces, selector, own)


class ResourceClassSpec(Placement):
    cluster: DnsLabel | None = field(None, "where it is", "the only cluster")
    renku_id: Annotated[int, Whole(0)] | None = field(
        None, "id of the class in Renku; needed for source renku", "none"
    )
    requests: Taken = field(meaning="resources of one seat; any resource name, amounts as in Kubernetes")
    limits: Resources = field({}, "limits of a placeholder", "the request, for devices; else none")
    pod_labels: Labels = field({}, "labels of the placeholders", "none")
    cloud_capacity: UniqueList[DnsLabel] = field(
        (), "names of the CloudCapacity that its seats may use, the preferred first", "none"
    )
    sessions: ClassSessionsSpec | None = field(
        None, "how its sessions are recognized", "none: only behavior `none`"
    )

    def check(self, path: Path, report: Report) -> None:
        super().check(path, report)
        refuse_our_labels(self.pod_labels, (*path, "podLabels"), report)
        sessions = self.sessions
        is_sound = report.is_sound((*path, "sessions"), sessions)
        if sessions is not None and is_sound and sessions.source == "renku" and self.renku_id is None:
            message = "source renku needs renkuId: Renku's sessions name their class by it."
            report(MISSING, path, message, "Add renkuId: the id of the class in Renku.")
        check_resources(self.requests, self.limits, path, report)


class ResourceClassDocument(Document):
    kind_of: ClassVar = "ResourceClass"
    kind: Literal["ResourceClass"]
    spec: ResourceClassSpec

    def declared(self, origin: Origin) -> ResourceClass:
        spec = self.spec
        requests, limits = completed(spec.requests, spec.limits)
        return ResourceClass(
            origin=origin,
            name=self.metadata.name,
            cluster=spec.cluster or "",
            renku_id=spec.renku_id,
            requests=tuple(requests.items()),
            limits=tuple(limits.items()),
            pod=spec.placement,
            pod_labels=tuple(spec.pod_labels.items()),
            sessions=None if spec.sessions is None else spec.sessions.declared,
            cloud_capacity=spec.cloud_capacity,
        )
