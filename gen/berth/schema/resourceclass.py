"""`ResourceClass`: the shape of one seat, and how its sessions are recognized."""

from typing import TYPE_CHECKING, Annotated

from berth.findings import Path
from berth.schema.basemodel import ListOf, NonEmpty, UniqueList, Whole, field, lazy
from berth.schema.classsessions import ClassSessions
from berth.schema.documentproblems import IDLE_KEY, MISSING, DocumentProblems
from berth.schema.metadata import OF_PODS, OwnLabels, PodAnnotations, check_sizes
from berth.schema.pod import Placement, check_overhead, check_resources
from berth.schema.types import (
    AnyText,
    DnsLabel,
    DnsName,
    ImageName,
    Resources,
    Taken,
    WarmUp,
)

if TYPE_CHECKING:
    from berth.backends.koordinator.slotmapping import SlotMapping
    from berth.schema.deviceclaims import DeviceClaim
else:
    SlotMapping = lazy("berth.backends.koordinator.slotmapping", "SlotMapping")
    DeviceClaim = lazy("berth.schema.deviceclaims", "DeviceClaim")


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
        (), "devices of a seat by dynamic resource allocation; they are no part of `requests`", "none"
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

    def check(self, path: Path, report: DocumentProblems) -> None:
        super().check(path, report)
        check_sizes(self.pod_labels, self.pod_annotations, path, report, OF_PODS)
        idle = {"imageWarmUp": self.image_warm_up, "imagePullSecrets": self.image_pull_secrets}
        for name in (name for name, value in idle.items() if value and self.images == ()):
            message = f"{name} has no effect without images."
            report(IDLE_KEY, (*path, name), message, "Remove it, or add images.", at_key=True)
        if self.sessions is not None and self.sessions.source == "renku" and self.renku_id is None:
            message = "source renku needs renkuId: Renku's sessions name their class by it."
            report(MISSING, path, message, "Add renkuId: the id of the class in Renku.")
        check_resources(self.requests, self.limits, path, report)
        check_overhead(self.overhead, (*path, "overhead"), report)
        names = [claim.name for claim in self.resource_claims]
        report.repeated("claim ", names, (*path, "resourceClaims"), "name")
