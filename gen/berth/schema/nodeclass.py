"""`nodeClass` of a CloudCapacity: the spec of an EC2NodeClass, which is rendered as it is.

The API server checks it by its CRD. Here is only what Berth reads of it, and the terms of capacity
reservations, whose rules the CRD means and does not enforce: one good term makes it accept all others.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from berth.findings import Path
from berth.schema import cloudgrammar, grammar
from berth.schema.basemodel import Json, Length, ListOf, Model, Text, Whole, field
from berth.schema.cloudgrammar import BY_ALIAS
from berth.schema.documentproblems import DocumentProblems
from berth.schema.types import INT32, AnyText

MOST_TERMS = 30
LONGEST_KEY = 253  # characters

TagKey = Annotated[str, Text("tag key", cloudgrammar.tag_key)]
TagValue = Annotated[str, Text("tag value", cloudgrammar.tag_value)]
Tags = Annotated[dict[TagKey, TagValue], Length(1, 20)]  # of a selector: more are refused by Karpenter
Threshold = Annotated[str, Text("quantity or share", cloudgrammar.threshold)]
VolumeSize = Annotated[str, Text("size", cloudgrammar.size)]
Amounts = dict[str, Annotated[str, Text("quantity", grammar.quantity)]]
Count = Annotated[int, Whole(0, INT32)]
# How the keys are rendered, whatever their order in the file: these first, then by name.
_FIRST = (
    "role",
    "instanceProfile",
    "subnetSelectorTerms",
    "securityGroupSelectorTerms",
    "amiSelectorTerms",
    "amiFamily",
    "deviceName",
    "rootVolume",
    "networkCardIndex",
    "deviceIndex",
)
_MAPS = ("tags", "evictionHard", "evictionSoft", "evictionSoftGracePeriod", "kubeReserved", "systemReserved")


def refuse_beside(term: Mapping[str, Any], lone: str, report: DocumentProblems) -> None:
    """Report keys of a term next to one that must be alone."""
    beside = [name for name, value in term.items() if name != lone and value is not None]
    if term[lone] is not None and beside:
        message = f"{lone} cannot be combined with {', '.join(beside)}."
        report("B151", (), message, f"Keep {lone} alone, or write two terms, which are alternatives.")


class _Part(Model, extra="allow"):
    """A part of an EC2NodeClass of which only some keys are read."""


class CapacityTerm(Model):
    """What selects capacity reservations that are paid for already."""

    id: Annotated[str, Text("id", cloudgrammar.reservation_id)] | None = field(None)
    instance_match_criteria: AnyText | None = field(None)
    owner_id: Annotated[str, Text("account", cloudgrammar.account)] | None = field(None, alias="ownerID")
    tags: Tags | None = field(None)

    def check(self, report: DocumentProblems) -> None:
        """Report a term that selects no capacity reservation, or none that Karpenter can tell."""
        if self.id is not None:
            refuse_beside(self.dump(), "id", report)
        elif self.tags is None and self.instance_match_criteria is None:
            message = "Karpenter cannot select it."
            if self.owner_id is not None:
                message = "ownerID alone selects nothing."
            report("B151", (), message, "Add id, tags or instanceMatchCriteria.")


class AmiTerm(_Part):
    alias: AnyText | None = field(None)


class Ebs(_Part):
    volume_size: VolumeSize | None = field(None)


class BlockDevice(_Part):
    device_name: AnyText | None = field(None)
    root_volume: bool | None = field(None)
    ebs: Ebs | None = field(None)


class Kubelet(_Part):
    eviction_hard: dict[str, Threshold] | None = field(None)
    kube_reserved: Amounts | None = field(None)
    max_pods: Count | None = field(None)
    pods_per_core: Count | None = field(None)
    system_reserved: Amounts | None = field(None)


class NodeClass(_Part):
    ami_selector_terms: ListOf[AmiTerm] | None = field(None)
    ami_family: AnyText | None = field(None)
    block_device_mappings: ListOf[BlockDevice] | None = field(None)
    capacity_reservation_selector_terms: ListOf[CapacityTerm] | None = field(None)
    instance_store_policy: AnyText | None = field(None)
    kubelet: Kubelet | None = field(None)

    @property
    def family(self) -> str:
        """Return how its machines start: one of Karpenter's AMI families."""
        aliases = (term.alias for term in self.ami_selector_terms or () if term.alias is not None)
        of_alias = next((BY_ALIAS.get(alias.partition("@")[0]) for alias in aliases), None)
        return self.ami_family or of_alias or "Custom"

    @property
    def capacity_terms(self) -> list[Json]:
        """Return what selects capacity reservations beside those of `reservations`."""
        return [term.dump() for term in self.capacity_reservation_selector_terms or ()]

    def dump(self) -> Json:
        spec: Json = _ordered(super().dump())
        return spec

    def check(self, report: DocumentProblems) -> None:
        """Report keys that no file in YAML can have."""
        for place in _long_keys(super().dump()):
            message = f"a key of {len(str(place[-1]))} characters is too long."
            report("B012", place, message, f"Write at most {LONGEST_KEY}.", at_key=True)


def _long_keys(value: Any, path: Path = ()) -> Iterator[Path]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if isinstance(key, str) and len(key) > LONGEST_KEY:
            yield (*path, key)
        yield from _long_keys(item, (*path, key))


def _ordered(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_ordered(item) for item in value]
    if not isinstance(value, dict):
        return value
    keys = sorted(value, key=lambda key: (_FIRST.index(key) if key in _FIRST else len(_FIRST), key))
    return {key: value[key] if key in _MAPS else _ordered(value[key]) for key in keys}
