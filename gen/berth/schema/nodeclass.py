"""`nodeClass` of a CloudCapacity: the spec of an EC2NodeClass, as its CRD of Karpenter v1.14.1 has it.

It is stricter where the CRD is not as strict as it means to be: one good term makes its rules for selector
terms accept whatever the others say.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Strict

from berth.findings import Path
from berth.schema import cloudgrammar, grammar
from berth.schema.basemodel import Length, ListOf, Model, Parsed, Text, Whole, field
from berth.schema.cloudgrammar import BY_ALIAS, FAMILIES
from berth.schema.documentproblems import CONFLICT, MISSING, RANGE, DocumentProblems, Refusal
from berth.schema.pod import check_least
from berth.schema.types import INT32, INT64, AnyText

TERM = "B152"
MOST_TERMS, MOST_INTERFACES, MOST_VOLUMES = 30, 150, 50
SIGNALS = (
    "memory.available",
    "nodefs.available",
    "nodefs.inodesFree",
    "imagefs.available",
    "imagefs.inodesFree",
    "pid.available",
)
KEPT_FROM_PODS = ("cpu", "memory", "ephemeral-storage", "pid")
T = TypeVar("T")

TagKey = Annotated[str, Text("tag key", cloudgrammar.tag_key)]
TagValue = Annotated[str, Text("tag value", cloudgrammar.tag_value)]
Tags = Annotated[dict[TagKey, TagValue], Length(1, 20)]  # of a selector: more are refused by Karpenter
OwnTags = Annotated[
    dict[Annotated[str, Text("tag key", cloudgrammar.own_tag)], Annotated[str, Text("tag value")]],
    Length(0, 100),
]
Signal = Annotated[str, Text("signal", grammar.one_of(SIGNALS))]
Threshold = Annotated[str, Text("quantity or share", cloudgrammar.threshold)]
Thresholds = Annotated[dict[Signal, Threshold], Length(0, 100)]
Kept = Annotated[str, Text("resource", grammar.one_of(KEPT_FROM_PODS))]
KeptAmounts = Annotated[dict[Kept, Annotated[str, Text("quantity", grammar.quantity)]], Length(0, 100)]
VolumeSize = Annotated[str, Text("size", cloudgrammar.size)]
Switched = Literal["enabled", "disabled"]
Count = Annotated[int, Whole(0, INT32)]
Percent = Annotated[int, Whole(0, 100)]


def some(what: str) -> Text:
    """Return the type of a text that must not be empty."""
    return Text(what, cloudgrammar.some)


def _id(prefix: str, what: str) -> Text:
    return Text(f"{what} id", cloudgrammar.prefixed(prefix, f"a{'n' * (what[0] in 'aAeE')} {what}"))


TermsOf = Annotated[tuple[T, ...], Strict(False), Length(0, MOST_TERMS)]


def refuse_beside(term: Mapping[str, Any], lone: str, path: Path, report: DocumentProblems) -> None:
    """Report keys of a term next to one that must be alone."""
    beside = [name for name, value in term.items() if name != lone and value is not None]
    if term[lone] is not None and beside:
        message = f"{lone} cannot be combined with {', '.join(beside)}."
        report(TERM, path, message, f"Keep {lone} alone, or write two terms, which are alternatives.")


class _Term(Model):
    """What selects subnets, security groups or images."""

    def said(self) -> dict[str, Any]:
        """Return the values by key; None for keys that are left out."""
        return {
            str(known.alias): getattr(self, attribute) for attribute, known in type(self).model_fields.items()
        }

    def require_one(self, names: tuple[str, ...], path: Path, report: DocumentProblems) -> None:
        values = self.said()
        if all(values[name] is None for name in names):
            message = f"the term has none of {', '.join(names)}: it selects nothing."
            report(TERM, path, message, f"Add {' or '.join(names)}.")


class SubnetTerm(_Term):
    id: Annotated[str, _id("subnet", "subnet")] | None = field(None)
    tags: Tags | None = field(None)

    def check(self, path: Path, report: DocumentProblems) -> None:
        self.require_one(("tags", "id"), path, report)
        refuse_beside(self.said(), "id", path, report)


class SecurityGroupTerm(_Term):
    id: Annotated[str, _id("sg", "security group")] | None = field(None)
    name: Annotated[str, some("name")] | None = field(None)
    tags: Tags | None = field(None)

    def check(self, path: Path, report: DocumentProblems) -> None:
        self.require_one(("tags", "id", "name"), path, report)
        refuse_beside(self.said(), "name" if self.id is None else "id", path, report)


class AmiTerm(_Term):
    alias: Annotated[str, Text("alias", cloudgrammar.alias)] | None = field(None)
    id: Annotated[str, _id("ami", "AMI")] | None = field(None)
    name: Annotated[str, some("name")] | None = field(None)
    owner: Annotated[str, some("owner")] | None = field(None)
    ssm_parameter: Annotated[str, some("SSM parameter")] | None = field(None)
    tags: Tags | None = field(None)

    def check(self, path: Path, report: DocumentProblems) -> None:
        self.require_one(("tags", "id", "name", "alias", "ssmParameter"), path, report)
        values = self.said()
        for lone in ("id", "alias", "ssmParameter"):
            if values[lone] is not None:
                refuse_beside(values, lone, path, report)
                return


class Ebs(Model):
    delete_on_termination: bool | None = field(None)
    encrypted: bool | None = field(None)
    iops: Annotated[int, Whole(0, INT64)] | None = field(None)
    kms_key_id: AnyText | None = field(None, alias="kmsKeyID")
    snapshot_id: Annotated[str, some("snapshot")] | None = field(None, alias="snapshotID")
    throughput: Annotated[int, Whole(0, INT64)] | None = field(None)
    volume_initialization_rate: Annotated[int, Whole(100, 300)] | None = field(None)
    volume_size: VolumeSize | None = field(None)
    volume_type: Literal["standard", "io1", "io2", "gp2", "sc1", "st1", "gp3"] | None = field(None)

    def check(self, path: Path, report: DocumentProblems) -> None:
        if self.snapshot_id is None and self.volume_size is None:
            report(MISSING, path, "it has neither snapshotID nor volumeSize.", "Add one of the two.")
        if self.volume_initialization_rate is not None and self.snapshot_id is None:
            message = "only a volume made from a snapshot is initialized."
            report(MISSING, path, message, "Add snapshotID, or remove volumeInitializationRate.")


class BlockDevice(Model):
    device_name: Annotated[str, some("device")] | None = field(None)
    root_volume: bool | None = field(None)
    ebs: Ebs | None = field(None)


class NetworkInterface(Model):
    network_card_index: Count
    device_index: Count
    interface_type: Literal["interface", "efa-only"]


class Kubelet(Model):
    cluster_dns: ListOf[Annotated[str, some("address")]] | None = field(None, alias="clusterDNS")
    cpu_cfs_quota: bool | None = field(None, alias="cpuCFSQuota")
    eviction_hard: Thresholds | None = field(None)
    eviction_max_pod_grace_period: Annotated[int, Whole(-INT32 - 1, INT32)] | None = field(None)
    eviction_soft: Thresholds | None = field(None)
    eviction_soft_grace_period: (
        Annotated[dict[Signal, Annotated[str, Text("duration", cloudgrammar.span)]], Length(0, 100)] | None
    ) = field(None)
    image_gc_high_threshold_percent: Percent | None = field(None, alias="imageGCHighThresholdPercent")
    image_gc_low_threshold_percent: Percent | None = field(None, alias="imageGCLowThresholdPercent")
    kube_reserved: KeptAmounts | None = field(None)
    max_pods: Count | None = field(None)
    pods_per_core: Count | None = field(None)
    system_reserved: KeptAmounts | None = field(None)

    def check(self, path: Path, report: DocumentProblems) -> None:
        for name, kept in (("kubeReserved", self.kube_reserved), ("systemReserved", self.system_reserved)):
            check_least(kept, (*path, name), report)
        high, low = self.image_gc_high_threshold_percent, self.image_gc_low_threshold_percent
        if high is not None and low is not None and high <= low:
            message = f"imageGCHighThresholdPercent {high} is not above imageGCLowThresholdPercent {low}."
            report(CONFLICT, (*path, "imageGCHighThresholdPercent"), message, "Write a higher one.")
        soft, grace = self.eviction_soft or {}, self.eviction_soft_grace_period or {}
        for name, signals, missing, other in (
            ("evictionSoft", soft, "evictionSoftGracePeriod", grace),
            ("evictionSoftGracePeriod", grace, "evictionSoft", soft),
        ):
            for signal in signals:
                if signal not in other:
                    message = f"{signal} is not in {missing}."
                    at = (*path, name, signal)
                    report(CONFLICT, at, message, "Write it in both, or in none.", at_key=True)


class ConnectionTracking(Model):
    tcp_established_timeout: Annotated[int, Whole(60, 432_000)] | None = field(None)
    udp_stream_timeout: Annotated[int, Whole(60, 180)] | None = field(None)
    udp_timeout: Annotated[int, Whole(30, 60)] | None = field(None)


class CpuOptions(Model):
    nested_virtualization: Switched | None = field(None)


class MetadataOptions(Model):
    http_endpoint: Switched | None = field(None)
    http_protocol_ipv6: Switched | None = field(None, alias="httpProtocolIPv6")
    http_put_response_hop_limit: Annotated[int, Whole(1, 64)] | None = field(None)
    http_tokens: Literal["required", "optional"] | None = field(None)


class PlacementGroup(Model):
    id: Annotated[str, _id("pg", "placement group")] | None = field(None)
    name: Annotated[str, some("name")] | None = field(None)


def _elsewhere(_: Any) -> Any:
    message = "Berth writes these terms from reservations."
    raise Refusal(message, "Remove it, and write reservations.", CONFLICT, at_key=True)


class NodeClass(Model):
    role: Annotated[str, some("role")] | None = field(None)
    instance_profile: Annotated[str, some("instance profile")] | None = field(None)
    subnet_selector_terms: TermsOf[SubnetTerm]
    security_group_selector_terms: TermsOf[SecurityGroupTerm]
    ami_selector_terms: TermsOf[AmiTerm]
    ami_family: (
        Literal["AL2", "AL2023", "Bottlerocket", "Custom", "Windows2019", "Windows2022", "Windows2025"] | None
    ) = field(None)
    associate_public_ip_address: bool | None = field(None, alias="associatePublicIPAddress")
    block_device_mappings: ListOf[BlockDevice] | None = field(None)
    capacity_reservation_selector_terms: Annotated[Any, Parsed("set by reservations", _elsewhere, {})] = (
        field(None)
    )
    connection_tracking: ConnectionTracking | None = field(None)
    context: AnyText | None = field(None)
    cpu_options: CpuOptions | None = field(None)
    detailed_monitoring: bool | None = field(None)
    instance_store_policy: Literal["RAID0"] | None = field(None)
    ip_prefix_count: Count | None = field(None)
    kubelet: Kubelet | None = field(None)
    metadata_options: MetadataOptions | None = field(None)
    network_interfaces: ListOf[NetworkInterface] | None = field(None)
    placement_group_selector: PlacementGroup | None = field(None)
    tags: OwnTags | None = field(None)
    user_data: AnyText | None = field(None)

    @property
    def family(self) -> str:
        """Return how its machines start: one of FAMILIES."""
        aliases = (term.alias for term in self.ami_selector_terms if term.alias is not None)
        of_alias = next((BY_ALIAS[alias.partition("@")[0]] for alias in aliases), "Custom")
        return self.ami_family or of_alias

    def check(self, path: Path, report: DocumentProblems) -> None:
        if self.role is None and self.instance_profile is None:
            report(MISSING, path, "it has neither role nor instanceProfile.", "Add one of the two.")
        elif self.role is not None and self.instance_profile is not None:
            message = "role and instanceProfile are both given."
            report(CONFLICT, (*path, "instanceProfile"), message, "Keep one of the two.", at_key=True)
        self._check_terms(path, report)
        self._check_images(path, report)
        self._check_groups(path, report)
        self._check_volumes((*path, "blockDeviceMappings"), report)
        self._check_interfaces((*path, "networkInterfaces"), report)

    def _check_terms(self, path: Path, report: DocumentProblems) -> None:
        pairs = (
            ("subnetSelectorTerms", self.subnet_selector_terms),
            ("securityGroupSelectorTerms", self.security_group_selector_terms),
            ("amiSelectorTerms", self.ami_selector_terms),
        )
        for name, terms in pairs:
            if terms == ():
                fix = "Write at least one term, or leave the key out if it is optional."
                report(TERM, (*path, name), "the list is empty, which the API server refuses.", fix)

    def _check_images(self, path: Path, report: DocumentProblems) -> None:
        """Check that an alias is alone and matches the family, unless that is Custom."""
        terms, named = self.ami_selector_terms, self.ami_family
        at = (*path, "amiSelectorTerms")
        if not terms:
            return
        aliases = [term.alias for term in terms if term.alias is not None]
        if aliases and len(terms) > 1:
            report(TERM, at, "an alias must be the only term.", "Keep the alias alone, or remove it.")
        if not aliases and named is None:
            message = "amiFamily is missing, and no term has an alias."
            report(MISSING, path, message, f"Add amiFamily: one of {', '.join(FAMILIES)}.")
        for alias in aliases[:1]:
            meant = BY_ALIAS[alias.partition("@")[0]]
            if named not in (None, "Custom", meant):
                message = f"amiFamily {named} does not match the alias {alias}."
                report(CONFLICT, (*path, "amiFamily"), message, f"Write {meant}, or leave it out.")

    def _check_groups(self, path: Path, report: DocumentProblems) -> None:
        for name, value in (
            ("connectionTracking", self.connection_tracking),
            ("placementGroupSelector", self.placement_group_selector),
        ):
            if value is not None and value.is_blank:
                report(MISSING, (*path, name), "it is empty.", "Add a key, or remove it.")
        group, at = self.placement_group_selector, (*path, "placementGroupSelector")
        if group is not None and None not in (group.id, group.name):
            report(CONFLICT, at, "name and id are both given.", "Keep one of the two.")

    def _check_volumes(self, path: Path, report: DocumentProblems) -> None:
        volumes = self.block_device_mappings or ()
        roots = sum(volume.root_volume is True for volume in volumes)
        if roots > 1:
            report(CONFLICT, path, f"{roots} volumes have rootVolume: true.", "Keep it on one.")
        if len(volumes) > MOST_VOLUMES:
            message = f"there are more than {MOST_VOLUMES} volumes."
            report(RANGE, path, message, f"Write at most {MOST_VOLUMES}.")

    def _check_interfaces(self, path: Path, report: DocumentProblems) -> None:
        interfaces = self.network_interfaces
        if not interfaces:
            return
        if len(interfaces) > MOST_INTERFACES:
            fix = f"Write at most {MOST_INTERFACES}."
            report(RANGE, path, f"there are {len(interfaces)} network interfaces.", fix)
            return
        keys = [(interface.network_card_index, interface.device_index) for interface in interfaces]
        cards = [
            interface.network_card_index for interface in interfaces if interface.interface_type == "efa-only"
        ]
        pairs = zip(keys, interfaces, strict=True)
        if not any(key == (0, 0) and interface.interface_type == "interface" for key, interface in pairs):
            message = "the first interface is missing: card 0, device 0, type interface."
            report(MISSING, path, message, "Add it.")
        for i, key in enumerate(keys):
            if key in keys[:i]:
                message = f"duplicate card {key[0]}, device {key[1]}."
                report(CONFLICT, (*path, i), message, "Remove one of the two.")
        if len(set(cards)) < len(cards):
            report(CONFLICT, path, "a card has two interfaces of type efa-only.", "Keep one for each card.")
