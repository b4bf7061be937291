"""`clusters[].karpenter` of the site: which Karpenter a cluster has, and what of it is switched on."""

import re

from gen.karpenter.versions import GATES, NEWEST, OLDEST
from gen.kind.shape import Field, Fields, MapOf, Refusal, choice, shown
from gen.kind.value import Flag, Text
from gen.model import Karpenter

OLD_KARPENTER = "B150"
_VERSION = r"v?([0-9]{1,3})\.([0-9]{1,3})(?:\.[0-9]{1,4})?"


def version(text: str) -> tuple[int, int]:
    match = re.fullmatch(_VERSION, text, re.ASCII)
    if match is None:
        raise Refusal(f"{shown(text)} is not a version.", 'Write it as "1.14".', OLD_KARPENTER)
    found = int(match[1]), int(match[2])
    if found < OLDEST:
        message = f"Karpenter {text} does not have the API karpenter.sh/v1."
        raise Refusal(message, "Use Karpenter 1.0 or later.", OLD_KARPENTER)
    return found


def gate(text: str) -> str:
    if text in GATES:
        return text
    raise Refusal(f"{shown(text)} is no feature gate of Karpenter.", choice(text, GATES), OLD_KARPENTER)


KARPENTER = Fields(
    {
        "version": Field(
            Text("version", version), NEWEST, "of Karpenter there", f'`"{NEWEST[0]}.{NEWEST[1]}"`'
        ),
        "gates": Field(MapOf(gate, Flag()), (), "its feature gates, true or false", "Karpenter's own"),
    },
    lambda made: Karpenter(made["version"], made["gates"]),
)
