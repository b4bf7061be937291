"""`ResourceClass`: the shape of one seat, and how its sessions are recognized."""

from typing import TYPE_CHECKING, Annotated, Literal

from berth.schema.basemodel import (
    OR_MAPPING,
    Json,
    Length,
    ListOf,
    Model,
    NonEmpty,
    UniqueList,
    Whole,
    field,
    lazy,
)
from berth.schema.documentproblems import DocumentProblems
from berth.schema.metadata import OF_PODS, OwnLabels, PodAnnotations, check_sizes
from berth.schema.pod import Placement, check_overhead, check_resources
from berth.schema.types import (
    Annotations,
    AnyText,
    DnsLabel,
    DnsName,
    ImageName,
    Labels,
    Resources,
    Taken,
    WarmUp,
)

if TYPE_CHECKING:
    from berth.backends.koordinator.slotmapping import SlotMapping
    from berth.schema.scheduling import DeviceClaim, LabelSelector
else:
    SlotMapping = lazy("berth.backends.koordinator.slotmapping", "SlotMapping")
    DeviceClaim = lazy("berth.schema.scheduling", "DeviceClaim")
    LabelSelector = lazy("berth.schema.scheduling", "LabelSelector")

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

    def check(self, report: DocumentProblems) -> None:
        if self.source == "custom":
            for name, value in (("version", self.version), ("resource", self.resource)):
                if value is None:
                    report("B011", (), f"source custom needs {name}.", f"Add {name}: a DNS name.")
            if self.resource == "secrets" and not self.group:
                message = "Secrets are not sessions, and the Jobs of Berth would be allowed to read them all."
                report("B036", "resource", message, "Name the kind that sessions are of.")
        else:
            for key in self.custom:
                fix, message = "Remove it, or write source: custom.", "this key belongs to source custom."
                report("B016", key, message, fix, at_key=True)

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


class ResourceClassSpec(Placement):
    cluster: DnsLabel | None = field(None, "name of the cluster", "the only cluster")
    renku_id: Annotated[int, Whole(0)] | None = field(
        None, "id of the class in Renku; needed for source renku", "none"
    )
    requests: Taken = field(meaning="what one seat requests, with names and amounts as in Kubernetes")
    limits: Resources = field({}, "limits of a placeholder", "the request, for devices; else none")
    overhead: Resources = field(
        {},
        "`overhead.podFixed` of the RuntimeClass of its sessions, which each seat takes besides the requests",
        "none",
    )
    resource_claims: ListOf[DeviceClaim] = field(
        (), "devices of a seat by dynamic resource allocation; `requests` do not contain them", "none"
    )
    pod_labels: OwnLabels = field({}, "labels of the placeholders", "none")
    pod_annotations: PodAnnotations = field({}, "annotations of the placeholders", "none")
    volumes: Annotated[int, Whole(0, 100)] = field(
        0, "volumes that each session attaches to its node; only `berth plan` and `berth size` count them"
    )
    cloud_capacity: UniqueList[DnsLabel] = field(
        (), "names of the CloudCapacity that its seats may use, the preferred first", "none"
    )
    images: UniqueList[ImageName] = field(
        (), "what its sessions run: a placeholder is ready once they are on its node", "none"
    )
    image_warm_up: WarmUp | None = field(
        None,
        "how placeholders get `images`: volume, background, initContainer or none",
        "`volume` from Kubernetes 1.35 on, else `initContainer`",
    )
    warm_up_command: NonEmpty[AnyText] = field(
        ("true",), "what an initContainer runs in each of the images", "`[true]`"
    )
    image_pull_secrets: UniqueList[DnsName] = field(
        (), "Secrets in the Berth namespace for `images`", "only those of the site"
    )
    reservation: SlotMapping | None = field(
        None, "with backend koordinator: what is merged into each Reservation, `{metadata, spec}`", "none"
    )
    sessions: ClassSessions | None = field(
        None, "how its sessions are recognized", "none: only behavior `none`"
    )

    def check(self, report: DocumentProblems) -> None:
        super().check(report)
        check_sizes(self.pod_labels, self.pod_annotations, report, OF_PODS)
        idle = {"imageWarmUp": self.image_warm_up, "imagePullSecrets": self.image_pull_secrets}
        for name in (name for name, value in idle.items() if value and self.images == ()):
            message = f"{name} has no effect without images."
            report("B029", name, message, "Remove it, or add images.", at_key=True)
        if self.sessions is not None and self.sessions.source == "renku" and self.renku_id is None:
            message = "source renku needs renkuId: Renku's sessions name their class by it."
            report("B011", (), message, "Add renkuId: the id of the class in Renku.")
        check_resources(self.requests, self.limits, report)
        check_overhead(self.overhead, report.below("overhead"))
        names = [claim.name for claim in self.resource_claims]
        report.below("resourceClaims").repeated("claim ", names, "name")
