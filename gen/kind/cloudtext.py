"""Texts that Karpenter and AWS read: spans of time, schedules, ids, tags, prices' neighbours.

The patterns are those of the CRDs of Karpenter v1.14.1; where a CRD lets pass what its controller cannot use,
ours does not.
"""

import re
from datetime import UTC, datetime

from gen.kind import grammar
from gen.kind.duration import utc
from gen.kind.shape import Grammar, Refusal, shown

UNREADABLE, RESTRICTED = "B151", "B153"
# These stay text until somebody needs them, as in `gen.kind.grammar`.
_SPAN = r"([0-9]{1,7})(s|m|h)"
_SPANS = r"([0-9]{1,7}[smh])+"
_BUDGET_SPAN = r"(?:[0-9]{1,7}h)?(?:[0-9]{1,7}m)?(?:0s)?"
_SECONDS = {"s": 1, "m": 60, "h": 3600}
_LONGEST = 2**63 // 10**9  # seconds that Go counts
_RESERVATION_ID = r"cr-[0-9a-z]{1,60}"
_OWNER = r"[0-9]{12}"
_TYPE = r"[a-z][a-z0-9-]{0,30}\.[a-z0-9-]{1,30}"
_ZONE = r"[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}(-[a-z]+-[0-9]{1,2})?[a-z]"
_EVICTION = r"([0-9]{1,2}(\.[0-9]{1,2})?|100(\.0{1,2})?)%"
_KEPT_TAGS = (
    "eks:eks-cluster-name",
    "karpenter.sh/nodepool",
    "karpenter.sh/nodeclaim",
    "karpenter.k8s.aws/ec2nodeclass",
)


def seconds(text: str) -> int:
    """Of a span that `span` accepts."""
    return sum(int(number) * _SECONDS[unit] for number, unit in re.findall(_SPAN, text, re.ASCII))


def span(text: str) -> str:
    """Hours, minutes and seconds, whole numbers, as Karpenter takes it."""
    if not re.fullmatch(_SPANS, text, re.ASCII):
        longer = re.fullmatch(r"([0-9]{1,5})d", text, re.ASCII)
        fix = f"Write {int(longer[1]) * 24}h." if longer else "Write hours, minutes or seconds, such as 30m."
        raise Refusal(f"{shown(text)} is not a duration that Karpenter reads.", fix, UNREADABLE)
    if seconds(text) > _LONGEST:
        raise Refusal(f"{text} is more than Go counts.", "Write a shorter one.", UNREADABLE)
    return text


def span_or_never(text: str) -> str:
    return text if text == "Never" else span(text)


def budget_span(text: str) -> str:
    """Karpenter takes no seconds here."""
    if not text or text == "0s" or not re.fullmatch(_BUDGET_SPAN, text, re.ASCII):
        message = f"{shown(text)} is not the duration of a budget."
        raise Refusal(message, "Write hours and minutes, such as 8h30m.", UNREADABLE)
    if not seconds(text):
        raise Refusal(f"{text} is no time: the budget would never hold.", "Write at least 1m.", UNREADABLE)
    return span(text)


def reservation_id(text: str) -> str:
    if re.fullmatch(_RESERVATION_ID, text, re.ASCII):
        return text
    message = f"{shown(text)} is not the id of a capacity reservation."
    raise Refusal(message, "Write it as AWS shows it: cr- and small letters and digits.", UNREADABLE)


def account(text: str) -> str:
    if re.fullmatch(_OWNER, text, re.ASCII):
        return text
    raise Refusal(f"{shown(text)} is not the id of an AWS account.", "Write its 12 digits.", UNREADABLE)


def instance_type(text: str) -> str:
    if re.fullmatch(_TYPE, text, re.ASCII):
        return text
    raise Refusal(f"{shown(text)} is not an instance type.", "Write it as p5.48xlarge.", UNREADABLE)


def zone(text: str) -> str:
    if re.fullmatch(_ZONE, text, re.ASCII):
        return text
    raise Refusal(f"{shown(text)} is not a zone of AWS.", "Write it as us-east-1a.", UNREADABLE)


def instant(text: str) -> int:
    """Seconds of an instant in UTC."""
    try:
        return int(datetime.fromisoformat(utc(text)).astimezone(UTC).timestamp())
    except Refusal as refusal:  # which speaks of Koordinator
        raise Refusal(refusal.message, refusal.fix, UNREADABLE) from None


def tag_key(text: str) -> str:
    if 0 < len(text) <= 128:
        return text
    message = f"the key of a tag has {len(text)} characters." if text else "a tag has no key."
    raise Refusal(message, "Write its key, at most 128 characters.", UNREADABLE)


def tag_value(text: str) -> str:
    """In a selector: it may be `*`, but not nothing."""
    if 0 < len(text) <= 256:
        return text
    if text:
        message = f"the value of a tag has {len(text)} characters."
        raise Refusal(message, "Write at most 256 characters.", UNREADABLE)
    message = "a tag without value selects nothing."
    raise Refusal(message, 'Write its value, or "*" for any.', UNREADABLE)


def own_tag(text: str) -> str:
    """The key of a tag that machines get."""
    if text in _KEPT_TAGS or text.startswith("kubernetes.io/cluster"):
        raise Refusal(f"{shown(text)} is a tag that Karpenter sets itself.", "Remove it.", RESTRICTED)
    return tag_key(text)


def threshold(text: str) -> str:
    """Of the kubelet's evictions: a quantity, or a share in percent."""
    return text if re.fullmatch(_EVICTION, text, re.ASCII) else grammar.quantity(text)


def some(text: str) -> str:
    if text:
        return text
    raise Refusal("it is empty.", "Write it, or remove the key.", UNREADABLE)


def prefixed(prefix: str, what: str) -> Grammar:
    """The grammar of an id that begins with `prefix`."""

    def read(text: str) -> str:
        if re.fullmatch(rf"{prefix}-[0-9a-z]{{1,60}}", text, re.ASCII):
            return text
        message = f"{shown(text)} is not the id of {what}."
        raise Refusal(
            message, f"Write it as AWS shows it: {prefix}- and small letters and digits.", UNREADABLE
        )

    return read
