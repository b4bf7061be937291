"""Parts of an EC2NodeClass: disks, network interfaces, kubelet; as its CRD of Karpenter v1.14.1."""

import re
from typing import Any

from gen.finding import Path
from gen.kind import cloudtext, grammar
from gen.kind.plainmap import PlainMap, given
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
    items,
    shown,
)
from gen.kind.value import Flag, OneOf, Text, Whole

_INT32, _INT64 = 2**31 - 1, 2**63 - 1
MOST_INTERFACES = 150
_SIZE = r"([1-9][0-9]{0,4})(Gi|G|Ti|T)"
_MOST = {"Gi": 59_000, "G": 64_000, "Ti": 58, "T": 64}
SIGNALS = (
    "memory.available",
    "nodefs.available",
    "nodefs.inodesFree",
    "imagefs.available",
    "imagefs.inodesFree",
    "pid.available",
)
KEPT_FROM_PODS = ("cpu", "memory", "ephemeral-storage", "pid")


def _size(text: str) -> str:
    match = re.fullmatch(_SIZE, text, re.ASCII)
    if match is None:
        fix = "Write a whole number and Gi, G, Ti or T, such as 100Gi."
        raise Refusal(f"{shown(text)} is not the size of a volume.", fix, grammar.QUANTITY)
    if int(match[1]) > _MOST[match[2]]:
        fix = f"Write at most {_MOST[match[2]]}{match[2]}."
        raise Refusal(f"{text} is more than AWS has.", fix, grammar.QUANTITY)
    if match[2] == "Ti" and len(match[1]) == 2 and match[1][1] in "89" and match[1] != "58":
        fix = f"Write {int(match[1]) * 1024}Gi."
        raise Refusal(f"{text} is a size that Karpenter's definition forgets.", fix, grammar.QUANTITY)
    return text


def _one_of(words: tuple[str, ...]) -> Any:
    def read(text: str) -> str:
        if text in words:
            return text
        raise Refusal(f"{shown(text)} is not known here.", f"Write one of {', '.join(words)}.", "B014")

    return read


SIZE = Text("size", _size)


def _ebs(made: Made, path: Path, report: Report) -> None:
    if made["snapshotID"] is None and made["volumeSize"] is None:
        report(MISSING, path, "it says neither snapshotID nor volumeSize.", "Add one of the two.")
    if made["volumeInitializationRate"] is not None and made["snapshotID"] is None:
        message = "only a volume made from a snapshot is initialized."
        report(MISSING, path, message, "Add snapshotID, or remove volumeInitializationRate.")


BLOCK_DEVICE = Fields(
    {
        "deviceName": Field(Text("device", cloudtext.some), None),
        "rootVolume": Field(Flag(), None),
        "ebs": Field(
            Fields(
                {
                    "deleteOnTermination": Field(Flag(), None),
                    "encrypted": Field(Flag(), None),
                    "iops": Field(Whole(0, _INT64), None),
                    "kmsKeyID": Field(Text(), None),
                    "snapshotID": Field(Text("snapshot", cloudtext.some), None),
                    "throughput": Field(Whole(0, _INT64), None),
                    "volumeInitializationRate": Field(Whole(100, 300), None),
                    "volumeSize": Field(SIZE, None),
                    "volumeType": Field(OneOf(("standard", "io1", "io2", "gp2", "sc1", "st1", "gp3")), None),
                },
                given,
                agree=_ebs,
            ),
            None,
        ),
    },
    given,
)


def root_volumes(devices: Any, path: Path, report: Report) -> None:
    found = [one for one in items(devices) if one.get("rootVolume") is True]
    if len(found) > 1:
        report(CONFLICT, path, f"{len(found)} volumes are rootVolume.", "Keep it on one.")
    if len(items(devices)) > 50:
        report(RANGE, path, "there are more than 50 volumes.", "Write at most 50.")


NETWORK_INTERFACE = Fields(
    {
        "networkCardIndex": Field(Whole(0, _INT32)),
        "deviceIndex": Field(Whole(0, _INT32)),
        "interfaceType": Field(OneOf(("interface", "efa-only"))),
    }
)


def network_interfaces(found: Any, path: Path, report: Report) -> None:
    if not isinstance(found, tuple) or not found or INVALID in found:
        return
    if len(found) > MOST_INTERFACES:
        fix = f"Write at most {MOST_INTERFACES}."
        report(RANGE, path, f"there are {len(found)} network interfaces.", fix)
        return
    keys = [(one["networkCardIndex"], one["deviceIndex"]) for one in found]
    if INVALID in [part for key in keys for part in key]:
        return
    cards = [one["networkCardIndex"] for one in found if one["interfaceType"] == "efa-only"]
    if not any(
        key == (0, 0) and one["interfaceType"] == "interface" for key, one in zip(keys, found, strict=True)
    ):
        message = "none is the first: card 0, device 0, of type interface."
        report(MISSING, path, message, "Add it.")
    for i, key in enumerate(keys):
        if key in keys[:i]:
            message = f"card {key[0]}, device {key[1]} stands twice."
            report(CONFLICT, (*path, i), message, "Remove one of the two.")
    if len(set(cards)) < len(cards):
        report(CONFLICT, path, "a card has two of type efa-only.", "Keep one a card.")


def _kubelet(made: Made, path: Path, report: Report) -> None:
    high, low = made["imageGCHighThresholdPercent"], made["imageGCLowThresholdPercent"]
    if type(high) is int and type(low) is int and high <= low:
        message = f"imageGCHighThresholdPercent {high} is not above imageGCLowThresholdPercent {low}."
        report(CONFLICT, (*path, "imageGCHighThresholdPercent"), message, "Write a higher one.")
    soft, grace = made["evictionSoft"] or {}, made["evictionSoftGracePeriod"] or {}
    if INVALID in (soft, grace):
        return
    for name, one, other in (
        ("evictionSoft", soft, grace),
        ("evictionSoftGracePeriod", grace, soft),
    ):
        for signal in one:
            if signal not in other:
                missing = "evictionSoftGracePeriod" if one is soft else "evictionSoft"
                message = f"{signal} is not in {missing}."
                report(CONFLICT, (*path, name, signal), message, "Write it in both, or in none.", at_key=True)


_THRESHOLDS = PlainMap(_one_of(SIGNALS), Text("quantity or share", cloudtext.threshold))
_AMOUNTS = PlainMap(_one_of(KEPT_FROM_PODS), Text("quantity", grammar.quantity))
KUBELET = Fields(
    {
        "clusterDNS": Field(ListOf(Text("address", cloudtext.some)), None),
        "cpuCFSQuota": Field(Flag(), None),
        "evictionHard": Field(_THRESHOLDS, None),
        "evictionMaxPodGracePeriod": Field(Whole(-_INT32 - 1, _INT32), None),
        "evictionSoft": Field(_THRESHOLDS, None),
        "evictionSoftGracePeriod": Field(PlainMap(_one_of(SIGNALS), Text("duration", cloudtext.span)), None),
        "imageGCHighThresholdPercent": Field(Whole(0, 100), None),
        "imageGCLowThresholdPercent": Field(Whole(0, 100), None),
        "kubeReserved": Field(_AMOUNTS, None),
        "maxPods": Field(Whole(0, _INT32), None),
        "podsPerCore": Field(Whole(0, _INT32), None),
        "systemReserved": Field(_AMOUNTS, None),
    },
    given,
    agree=_kubelet,
)
