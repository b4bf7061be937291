"""`resourceClaims` of a ResourceClass: devices that each seat gets by dynamic resource allocation (DRA).

A claim counts devices of a DeviceClass, or names a ResourceClaimTemplate that can say anything else. Few
classes have claims, so that the other models import this module only with the first.
"""

from typing import Annotated

from berth.schema.basemodel import Model, Whole, field
from berth.schema.documentproblems import DocumentProblems
from berth.schema.types import DnsLabel, DnsName

MOST_DEVICES = 32  # that Kubernetes allocates for a claim


class DeviceClaim(Model):
    name: DnsLabel = field(meaning="name of the claim in the pod")
    device_class_name: DnsName | None = field(
        None, "DeviceClass of the devices: Berth renders the ResourceClaimTemplate", "none"
    )
    count: Annotated[int, Whole(1, MOST_DEVICES)] | None = field(
        None, "how many devices of `deviceClassName` a seat gets", "`1`"
    )
    resource_claim_template_name: DnsName | None = field(
        None,
        "ResourceClaimTemplate in the Berth namespace that you create, instead of `deviceClassName`",
        "none",
    )

    def check(self, report: DocumentProblems) -> None:
        named = self.resource_claim_template_name is not None
        if not named and self.device_class_name is None:
            message = "a claim needs deviceClassName or resourceClaimTemplateName."
            report("B011", (), message, "Write one of the two.")
        for name, value in (("deviceClassName", self.device_class_name), ("count", self.count)):
            if named and value is not None:
                message = f"resourceClaimTemplateName and {name} exclude each other."
                report("B016", name, message, "Remove one of the two.", at_key=True)

    @property
    def devices(self) -> tuple[int, str] | None:
        """How many devices it has of which DeviceClass; None if only its template says that."""
        return None if self.device_class_name is None else (self.count or 1, self.device_class_name)
