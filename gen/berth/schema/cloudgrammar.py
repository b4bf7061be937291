"""The grammars of texts that Karpenter and AWS read: spans of time, schedules, ids, tags, sizes.

The patterns are those of the CRDs of Karpenter v1.14.1; where a CRD lets pass what its controller cannot use,
ours does not.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from berth.durations import whole_seconds
from berth.schema import grammar
from berth.schema.documentproblems import Refusal, shown

BLOCK, DEFAULT = "capacity-block", "default"  # reserved instances
GENERIC = "generic"  # the provider of a GenericCapacity
BY_ALIAS = {
    family.lower(): family
    for family in ("AL2", "AL2023", "Bottlerocket", "Windows2019", "Windows2022", "Windows2025")
}
# These stay text until somebody needs them, as in `berth.schema.grammar`.
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
# Up to 59000Gi, 64000G, 58Ti or 64T.
_SIZE = (
    "([1-9][0-9]{0,3}|[1-4][0-9]{4}|5[0-8][0-9]{3}|59000)Gi|([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-3][0-9]{3}|64000)G"
    "|([1-9]|[1-5][0-7]|58)Ti|([1-9]|[1-5][0-9]|6[0-4])T"
)


def _karpenter(pattern: str, what: str, fix: str) -> Callable[[str], str]:
    return grammar.matching(pattern, what, fix, "B151")


_span = _karpenter(
    "([0-9]{1,7}[smh])+", "a duration that Karpenter reads", "Write hours, minutes or seconds: 72h."
)


def span(text: str) -> str:
    """Read whole hours, minutes and seconds, as Karpenter does."""
    if whole_seconds(_span(text)) > _LONGEST:
        raise Refusal(f"{text} is too long.", "Write a shorter one.", "B151")
    return text


def span_or_never(text: str) -> str:
    return text if text == "Never" else span(text)


def lifetime(text: str) -> str:
    """Read how long nodes live, which is some time."""
    if text != "Never" and not whole_seconds(span(text)):
        message = "nodes are replaced as soon as they exist, again and again."
        raise Refusal(message, "Write Never, or a time longer than any window.", "B151")
    return text


_budget_span = _karpenter(
    "(?=.*[1-9])([0-9]{1,7}h)?([0-9]{1,7}m)?(0s)?",
    "the duration of a budget",
    "Write hours and minutes: 8h30m.",
)


def budget_span(text: str) -> str:
    """Read the duration of a budget, in which Karpenter takes no seconds and which is not zero."""
    return span(_budget_span(text))


_ID_ADVICE = "Write it as AWS shows it: cr- and small letters and digits."
reservation_id = _karpenter("cr-[0-9a-z]{1,60}", "the id of a capacity reservation", _ID_ADVICE)
account = _karpenter("[0-9]{12}", "the id of an AWS account", "Write its 12 digits.")
instance_type = _karpenter(_TYPE, "an instance type", "Write it like p5.48xlarge.")
zone = _karpenter(_ZONE, "a zone of AWS", "Write it like us-east-1a.")
tag_key = _karpenter("(?s:.{1,128})", "the key of a tag", "Write 1 to 128 characters.")
# In a selector: an empty value selects nothing.
tag_value = _karpenter("(?s:.{1,256})", "the value of a tag", 'Write 1 to 256 characters; "*" is any value.')
nodes = _karpenter(
    "(100|[0-9]{1,2})%|[0-9]{1,9}", "a number of nodes", 'Write a number or a share: "3" or "10%".'
)
_SIZE_ADVICE = "Write a whole number and Gi, G, Ti or T, such as 100Gi; at most 59000Gi."
size = grammar.matching(_SIZE, "the size of a volume", _SIZE_ADVICE, "B022")


def instant(text: str) -> int:
    """Return the seconds of an instant in UTC."""
    return int(datetime.fromisoformat(grammar.utc(text, "B151")).timestamp())


def threshold(text: str) -> str:
    """Read a threshold of the kubelet's evictions: a quantity, or a share in percent."""
    return text if re.fullmatch(_EVICTION, text, re.ASCII) else grammar.quantity(text)


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
    message = f"{shown(text)} is not a schedule that Karpenter reads: it would stop all disruption forever."
    fix = 'Write five fields in UTC, without a zone, such as "0 8 * * 1-5", or @daily.'
    raise Refusal(message, fix, "B151")


def _place(value: str) -> int:
    """Return the number of a value of a schedule."""
    name = _CRON_NAMES.find(value.lower()) // 4
    return int(value) if value.isdigit() else name if name < 7 else name - 6


def limited(text: str) -> str:
    """Read a resource that a NodePool may limit."""
    return text if text == "nodes" else daemon_resource(text)


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
