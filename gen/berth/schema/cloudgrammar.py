"""The grammars of texts that Karpenter and AWS read: spans of time, schedules, ids, tags, sizes.

The patterns are those of the CRDs of Karpenter v1.14.1; where a CRD lets pass what its controller cannot use,
ours does not.
"""

import re
from contextlib import suppress
from datetime import UTC, datetime

from berth.schema import grammar
from berth.schema.documentproblems import Refusal, shown

BLOCK, DEFAULT = "capacity-block", "default"  # reserved instances
GENERIC = "generic"  # the provider of a GenericCapacity
BY_ALIAS = {
    family.lower(): family
    for family in ("AL2", "AL2023", "Bottlerocket", "Windows2019", "Windows2022", "Windows2025")
}
# These stay text until somebody needs them, as in `berth.schema.grammar`.
_SPAN = r"([0-9]{1,7})(s|m|h)"
_SPANS = r"([0-9]{1,7}[smh])+"
_BUDGET_SPAN = r"(?:[0-9]{1,7}h)?(?:[0-9]{1,7}m)?(?:0s)?"
_SECONDS = {"s": 1, "m": 60, "h": 3600}
_LONGEST = 2**63 // 10**9  # seconds that Go counts
_TYPE = r"[a-z][a-z0-9-]{0,30}\.[a-z0-9-]{1,30}"
_ZONE = r"[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}(-[a-z]+-[0-9]{1,2})?[a-z]"
_EVICTION = r"([0-9]{1,2}(\.[0-9]{1,2})?|100(\.0{1,2})?)%"
# What Karpenter reads, as Kubernetes does; croniter takes more: six fields, L, fri#1, Sunday as 7, 5-2.
_CRON_NAMES = "sun mon tue wed thu fri sat jan feb mar apr may jun jul aug sep oct nov dec"
_CRON_RANGE = r"\b([0-9]+|[A-Za-z]{3})-([0-9]+|[A-Za-z]{3})\b"
_CRON_PART = r"(?:[*?]|(?:[0-9]+|[A-Za-z]{3})(?:-(?:[0-9]+|[A-Za-z]{3}))?)(?:/[0-9]+)?"
_CRON_FIELD = rf"{_CRON_PART}(?:,{_CRON_PART})*"
_CRON = (
    r"@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)"
    rf"|(?:{_CRON_FIELD}\s+){{4}}(?!(?:\S*[,-])?0*7){_CRON_FIELD}"
)
_NODES = r"(100|[0-9]{1,2})%|[0-9]{1,9}"
_SIZE = r"([1-9][0-9]{0,4})(Gi|G|Ti|T)"
_LARGEST = {"Gi": 59_000, "G": 64_000, "Ti": 58, "T": 64}


def seconds(text: str) -> int:
    """Return the seconds of a span that `span` accepts."""
    return sum(int(number) * _SECONDS[unit] for number, unit in re.findall(_SPAN, text, re.ASCII))


def span(text: str) -> str:
    """Read whole hours, minutes and seconds, as Karpenter does."""
    if not re.fullmatch(_SPANS, text, re.ASCII):
        longer = re.fullmatch(r"([0-9]{1,5})d", text, re.ASCII)
        fix = f"Write {int(longer[1]) * 24}h." if longer else "Write hours, minutes or seconds, such as 30m."
        raise Refusal(f"{shown(text)} is not a duration that Karpenter reads.", fix, "B151")
    if seconds(text) > _LONGEST:
        raise Refusal(f"{text} is too long.", "Write a shorter one.", "B151")
    return text


def span_or_never(text: str) -> str:
    return text if text == "Never" else span(text)


def lifetime(text: str) -> str:
    """Read how long nodes live, which is some time."""
    if text != "Never" and not seconds(span(text)):
        message = "nodes are replaced as soon as they exist, again and again."
        raise Refusal(message, "Write Never, or a time longer than any window.", "B151")
    return text


def budget_span(text: str) -> str:
    """Read the duration of a budget, in which Karpenter takes no seconds."""
    if not text or text == "0s" or not re.fullmatch(_BUDGET_SPAN, text, re.ASCII):
        message = f"{shown(text)} is not the duration of a budget."
        raise Refusal(message, "Write hours and minutes, such as 8h30m.", "B151")
    if not seconds(text):
        raise Refusal(f"{text} is zero: the budget would never apply.", "Write at least 1m.", "B151")
    return span(text)


reservation_id = grammar.matching(
    r"cr-[0-9a-z]{1,60}",
    "the id of a capacity reservation",
    "Write it as AWS shows it: cr- and small letters and digits.",
    "B151",
)
account = grammar.matching("[0-9]{12}", "the id of an AWS account", "Write its 12 digits.", "B151")
instance_type = grammar.matching(_TYPE, "an instance type", "Write it like p5.48xlarge.", "B151")
zone = grammar.matching(_ZONE, "a zone of AWS", "Write it like us-east-1a.", "B151")


def instant(text: str) -> int:
    """Return the seconds of an instant in UTC."""
    try:
        return int(datetime.fromisoformat(grammar.utc(text)).astimezone(UTC).timestamp())
    except Refusal as refusal:  # its code is that of Koordinator
        raise Refusal(refusal.message, refusal.fix, "B151") from None


def tag_key(text: str) -> str:
    if 0 < len(text) <= 128:
        return text
    message = f"the key of a tag has {len(text)} characters." if text else "a tag has no key."
    raise Refusal(message, "Write its key, at most 128 characters.", "B151")


def tag_value(text: str) -> str:
    """Read the value of a tag in a selector: it may be `*`, but not empty."""
    if 0 < len(text) <= 256:
        return text
    if text:
        message = f"the value of a tag has {len(text)} characters."
        raise Refusal(message, "Write at most 256 characters.", "B151")
    message = "a tag without value selects nothing."
    raise Refusal(message, 'Write its value, or "*" for any.', "B151")


def threshold(text: str) -> str:
    """Read a threshold of the kubelet's evictions: a quantity, or a share in percent."""
    return text if re.fullmatch(_EVICTION, text, re.ASCII) else grammar.quantity(text)


def size(text: str) -> str:
    """Read the size of a volume."""
    match = re.fullmatch(_SIZE, text, re.ASCII)
    if match is None:
        fix = "Write a whole number and Gi, G, Ti or T, such as 100Gi."
        raise Refusal(f"{shown(text)} is not the size of a volume.", fix, "B022")
    if int(match[1]) > _LARGEST[match[2]]:
        fix = f"Write at most {_LARGEST[match[2]]}{match[2]}."
        raise Refusal(f"{text} is more than AWS allows.", fix, "B022")
    if match[2] == "Ti" and len(match[1]) == 2 and match[1][1] in "89" and match[1] != "58":
        fix = f"Write {int(match[1]) * 1024}Gi."
        raise Refusal(f"{text} is a size that Karpenter's CRD does not accept.", fix, "B022")
    return text


def taint_value(text: str) -> str:
    if text:
        return grammar.label_value(text)
    raise Refusal(
        "a taint's value may not be empty here.",
        "Remove it: a taint without value has an empty one.",
        "B019",
    )


def nodes(text: str) -> str:
    """Read the number or share of nodes of a budget."""
    if re.fullmatch(_NODES, text, re.ASCII):
        return text
    message = f"{shown(text)} is not a number of nodes."
    raise Refusal(message, 'Write a number or a share: "3" or "10%".', "B151")


def schedule(text: str) -> str:
    """Read the schedule of a budget."""
    from croniter import CroniterBadDateError, croniter  # noqa: PLC0415 - only who writes budgets needs it

    is_backward = any(_place(first) > _place(last) for first, last in re.findall(_CRON_RANGE, text))
    if re.fullmatch(_CRON, text, re.ASCII) and croniter.is_valid(text) and not is_backward:
        with suppress(CroniterBadDateError):
            croniter(text, 0).get_next(float)
            return text
        message = f"{shown(text)} never occurs, and Karpenter always applies such a budget."
        fix = "Write a date that exists, or leave out schedule and duration."
        raise Refusal(message, fix, "B151")
    if text.startswith(("TZ=", "CRON_TZ=")):
        message = "a budget's schedule is in UTC; it takes no time zone."
        raise Refusal(message, "Remove the zone, and write the hours of UTC.", "B151")
    message = f"{shown(text)} is not a schedule that Karpenter reads: it would stop all disruption forever."
    fix = 'Write five fields in UTC, such as "0 8 * * 1-5", or @daily.'
    raise Refusal(message, fix, "B151")


def _place(value: str) -> int:
    """Return the number of a value of a schedule."""
    name = _CRON_NAMES.find(value.lower()) // 4
    return int(value) if value.isdigit() else name if name < 7 else name - 6


def limited(text: str) -> str:
    """Read a resource that a NodePool may limit."""
    return text if text in ("nodes", "pods") else grammar.resource_name(text)


def node_resource(text: str) -> str:
    """Read a resource that a node has for containers; how many pods it takes has a key of its own."""
    if text == "pods":
        message = "pods is not a resource of containers."
        raise Refusal(message, "Write pods beside allocatable, with the same number.", "B022")
    return grammar.resource_name(text)


def daemon_resource(text: str) -> str:
    """Read a resource that DaemonSets take of a node."""
    return text if text == "pods" else grammar.resource_name(text)


def architecture_of(instance_type: str) -> str:
    """Derive the architecture from the name: a g after the generation is Graviton, -gb is Grace."""
    arm = re.match(r"a1\.|[a-z]+[0-9]+(g|[a-z]*-gb)", instance_type, re.ASCII)
    return "arm64" if arm else "amd64"
