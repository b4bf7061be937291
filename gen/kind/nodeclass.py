"""`nodeClass` of a CloudCapacity: the spec of an EC2NodeClass, as its CRD of Karpenter v1.14.1 has it.

It is stricter where the CRD is not as strict as it means to be: one good term makes its rules for selector
terms let pass whatever the others say.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from gen.finding import Path
from gen.kind import cloudtext
from gen.kind.nodeparts import BLOCK_DEVICE, KUBELET, NETWORK_INTERFACE, network_interfaces, root_volumes
from gen.kind.plainmap import PlainMap, Tags, given
from gen.kind.shape import (
    CONFLICT,
    INVALID,
    MISSING,
    RANGE,
    Field,
    Fields,
    ListOf,
    Made,
    Refusal,
    Report,
    shown,
)
from gen.kind.value import Flag, OneOf, Text, Whole

TERM = "B152"
FAMILIES = ("AL2", "AL2023", "Bottlerocket", "Custom", "Windows2019", "Windows2022", "Windows2025")
_BY_ALIAS = {family.lower(): family for family in FAMILIES if family != "Custom"}
MOST_TERMS = 30
TAGS = Tags(cloudtext.tag_key, Text("tag value", cloudtext.tag_value), 1)


def refuse_beside(made: Made, lone: str, path: Path, report: Report) -> None:
    """Report keys of a term that stand beside one that must be alone."""
    beside = [name for name, value in made.items() if name != lone and value is not None]
    if made[lone] is not None and beside:
        message = f"{lone} says all; {', '.join(beside)} beside it would select more than that."
        report(TERM, path, message, f"Keep {lone} alone, or write two terms: one of them is enough.")


def require_one(made: Made, names: tuple[str, ...], path: Path, report: Report) -> None:
    if all(made[name] is None for name in names):
        message = f"the term has none of {', '.join(names)}: it selects nothing."
        report(TERM, path, message, f"Add {' or '.join(names)}.")


def _subnet(made: Made, path: Path, report: Report) -> None:
    require_one(made, ("tags", "id"), path, report)
    refuse_beside(made, "id", path, report)


def _security_group(made: Made, path: Path, report: Report) -> None:
    require_one(made, ("tags", "id", "name"), path, report)
    for lone in ("id", "name"):
        if made["id"] is None or lone == "id":
            refuse_beside(made, lone, path, report)


def _ami(made: Made, path: Path, report: Report) -> None:
    require_one(made, ("tags", "id", "name", "alias", "ssmParameter"), path, report)
    for lone in ("id", "alias", "ssmParameter"):
        if made[lone] is not None:
            refuse_beside(made, lone, path, report)
            return


def _is_word(text: str) -> bool:
    return text.isprintable() and " " not in text


def _alias(text: str) -> str:
    family, at, version = text.partition("@")
    if not at or not version or len(text) > 30 or not _is_word(version):
        fix = "Write family@version, such as al2023@v20260107."
        raise Refusal(f"{shown(text)} is not an alias of AMIs.", fix, cloudtext.UNREADABLE)
    if family not in _BY_ALIAS:
        fix = f"Write one of {', '.join(_BY_ALIAS)} before the @."
        raise Refusal(f"{shown(family)} is no family of AMIs.", fix, cloudtext.UNREADABLE)
    if family.startswith("windows") and version != "latest":
        fix = f"Write {family}@latest."
        raise Refusal(
            f"{family} has no version {version}: it has only the latest.", fix, cloudtext.UNREADABLE
        )
    return text


class _Terms(ListOf):
    """At least one term, and no more than Karpenter takes."""

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) is list and not value:
            fix = "Write at least one term, or leave it out where it may be."
            return report(TERM, path, "a list of no terms is refused by the API server.", fix)
        if type(value) is list and len(value) > MOST_TERMS:
            return report(RANGE, path, f"there are {len(value)} terms.", f"Write at most {MOST_TERMS}.")
        return ListOf.check(self, value, path, report)


SUBNET = Fields(
    {
        "id": Field(Text("subnet id", cloudtext.prefixed("subnet", "a subnet")), None),
        "tags": Field(TAGS, None),
    },
    given,
    agree=_subnet,
)
SECURITY_GROUP = Fields(
    {
        "id": Field(Text("security group id", cloudtext.prefixed("sg", "a security group")), None),
        "name": Field(Text("name", cloudtext.some), None),
        "tags": Field(TAGS, None),
    },
    given,
    agree=_security_group,
)
AMI = Fields(
    {
        "alias": Field(Text("alias", _alias), None),
        "id": Field(Text("AMI id", cloudtext.prefixed("ami", "an AMI")), None),
        "name": Field(Text("name", cloudtext.some), None),
        "owner": Field(Text("owner", cloudtext.some), None),
        "ssmParameter": Field(Text("SSM parameter", cloudtext.some), None),
        "tags": Field(TAGS, None),
    },
    given,
    agree=_ami,
)


def _agree(made: Made, path: Path, report: Report) -> None:
    if made["role"] is None and made["instanceProfile"] is None:
        report(MISSING, path, "it says neither role nor instanceProfile.", "Add one of the two.")
    elif made["role"] is not None and made["instanceProfile"] is not None:
        message = "role and instanceProfile both say what the machines may do."
        report(CONFLICT, (*path, "instanceProfile"), message, "Keep one of the two.", at_key=True)
    _images(made, path, report)
    for name in ("connectionTracking", "placementGroupSelector"):
        if made[name] == {}:
            report(MISSING, (*path, name), "it says nothing.", "Say something, or remove it.")
    group = made["placementGroupSelector"]
    if isinstance(group, dict) and len(group) > 1:
        at = (*path, "placementGroupSelector")
        report(CONFLICT, at, "name and id both say which group.", "Keep one of the two.")
    root_volumes(made["blockDeviceMappings"], (*path, "blockDeviceMappings"), report)
    network_interfaces(made["networkInterfaces"], (*path, "networkInterfaces"), report)


def _images(made: Made, path: Path, report: Report) -> None:
    """An alias stands alone and says the family, unless that is Custom."""
    terms, family = made["amiSelectorTerms"], made["amiFamily"]
    if not isinstance(terms, tuple) or INVALID in (*terms, family):
        return
    aliases = [term["alias"] for term in terms if "alias" in term]
    if aliases and len(terms) > 1:
        message = "an alias must be the only term."
        report(TERM, (*path, "amiSelectorTerms"), message, "Keep the alias alone, or remove it.")
    if not aliases and family is None:
        message = "no term has an alias, so amiFamily must say how machines start."
        report(MISSING, path, message, f"Add amiFamily: one of {', '.join(FAMILIES)}.")
    for alias in aliases[:1]:
        meant = _BY_ALIAS[alias.partition("@")[0]]
        if family not in (None, "Custom", meant):
            message = f"amiFamily {family} is not that of the alias {alias}."
            report(CONFLICT, (*path, "amiFamily"), message, f"Write {meant}, or leave it out.")


class _Elsewhere(NamedTuple):
    """A key of the CRD that is not written here."""

    where: str

    def check(self, _: Any, path: Path, report: Report) -> Any:
        message = f"{self.where} says this; Berth writes these terms of it."
        return report(CONFLICT, path, message, f"Remove it, and write {self.where}.", at_key=True)

    def words(self) -> str:
        return f"said by {self.where}"


def family(node_class: Mapping[str, Any]) -> str:
    """How its machines start: one of FAMILIES."""
    aliases = [term["alias"] for term in node_class.get("amiSelectorTerms") or () if "alias" in term]
    said: str = node_class.get("amiFamily") or ""
    return said or next((_BY_ALIAS[alias.partition("@")[0]] for alias in aliases), "Custom")


_SWITCH = OneOf(("enabled", "disabled"))
NODE_CLASS = Fields(
    {
        "role": Field(Text("role", cloudtext.some), None),
        "instanceProfile": Field(Text("instance profile", cloudtext.some), None),
        "subnetSelectorTerms": Field(_Terms(SUBNET)),
        "securityGroupSelectorTerms": Field(_Terms(SECURITY_GROUP)),
        "amiSelectorTerms": Field(_Terms(AMI)),
        "amiFamily": Field(OneOf(FAMILIES), None),
        "associatePublicIPAddress": Field(Flag(), None),
        "blockDeviceMappings": Field(ListOf(BLOCK_DEVICE), None),
        "capacityReservationSelectorTerms": Field(_Elsewhere("reservations"), None),
        "connectionTracking": Field(
            Fields(
                {
                    "tcpEstablishedTimeout": Field(Whole(60, 432_000), None),
                    "udpStreamTimeout": Field(Whole(60, 180), None),
                    "udpTimeout": Field(Whole(30, 60), None),
                },
                given,
            ),
            None,
        ),
        "context": Field(Text(), None),
        "cpuOptions": Field(Fields({"nestedVirtualization": Field(_SWITCH, None)}, given), None),
        "detailedMonitoring": Field(Flag(), None),
        "instanceStorePolicy": Field(OneOf(("RAID0",)), None),
        "ipPrefixCount": Field(Whole(0, 2**31 - 1), None),
        "kubelet": Field(KUBELET, None),
        "metadataOptions": Field(
            Fields(
                {
                    "httpEndpoint": Field(_SWITCH, None),
                    "httpProtocolIPv6": Field(_SWITCH, None),
                    "httpPutResponseHopLimit": Field(Whole(1, 64), None),
                    "httpTokens": Field(OneOf(("required", "optional")), None),
                },
                given,
            ),
            None,
        ),
        "networkInterfaces": Field(ListOf(NETWORK_INTERFACE), None),
        "placementGroupSelector": Field(
            Fields(
                {
                    "id": Field(
                        Text("placement group id", cloudtext.prefixed("pg", "a placement group")), None
                    ),
                    "name": Field(Text("name", cloudtext.some), None),
                },
                given,
            ),
            None,
        ),
        "tags": Field(PlainMap(cloudtext.own_tag, Text("tag value")), None),
        "userData": Field(Text(), None),
    },
    given,
    agree=_agree,
)
