"""The grammars of texts that people write: dates, times, names, labels, quantities, images.

Each takes the text and answers what it means, or raises Refusal with what is wrong and what to write. The rules for
names, labels and resources are those of the Kubernetes API server (apimachinery's validation).
"""

import re
from calendar import monthrange
from datetime import date
from functools import lru_cache

from gen.dates.zone import known as known_zones
from gen.kind.shape import Refusal, nearest, shown
from gen.quantity import parse as parse_quantity

ZONE, DATE, TIME, NAME, LABEL, QUANTITY = "B021", "B017", "B018", "B019", "B020", "B022"
FIRST_YEAR, LAST_YEAR = 2000, 2099

_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", re.ASCII)
_TIME = re.compile(r"([0-9]{2}):([0-9]{2})", re.ASCII)
_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", re.ASCII)
_DNS_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)
_WORD = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", re.ASCII)
_IMAGE = re.compile(r"[a-z0-9]([-a-zA-Z0-9._/:]*[a-zA-Z0-9])?(@sha256:[0-9a-f]{64})?", re.ASCII)
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", re.ASCII)


@lru_cache(maxsize=4096)
def day(text: str) -> date:
    match = _DATE.fullmatch(text)
    if match is None:
        raise Refusal(f"{shown(text)} is not a date.", "Write year-month-day, for instance 2026-02-28.", DATE)
    year, month, number = int(match[1]), int(match[2]), int(match[3])
    if not FIRST_YEAR <= year <= LAST_YEAR:
        raise Refusal(
            f"{text} is outside of the years {FIRST_YEAR} to {LAST_YEAR}.", "Write a date within them.", DATE
        )
    if not 1 <= month <= 12 or not 1 <= number <= monthrange(year, month)[1]:
        raise Refusal(f"{text} does not exist in the calendar.", "Write a date that exists.", DATE)
    return date(year, month, number)


@lru_cache(maxsize=4096)
def end_time(text: str) -> int:
    """Minutes after midnight; 24:00 is 1440, the midnight at the end of the day."""
    if text == "24:00":
        return 1440
    return start_time(text)


@lru_cache(maxsize=4096)
def start_time(text: str) -> int:
    """Minutes after midnight, 0 to 1439."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise Refusal(f"{shown(text)} is not a time of day.", 'Write HH:MM, for instance "09:00".', TIME)
    hours, minutes = int(match[1]), int(match[2])
    if hours > 23 or minutes > 59:
        if text == "24:00":
            raise Refusal("24:00 can end a window, not start one.", "Write 00:00 of the next day.", TIME)
        raise Refusal(f"{shown(text)} is not a time of day.", "Write a time from 00:00 to 23:59.", TIME)
    return hours * 60 + minutes


def zone(text: str) -> str:
    names = known_zones()
    if text in names:
        return text
    raise Refusal(
        f"{shown(text)} is not a time zone of the tz database.",
        nearest(text, tuple(sorted(names)), "")
        if len(text) < 40 and _close_zone(text)
        else "Write a name such as Europe/Zurich or UTC.",
        ZONE,
    )


def _close_zone(text: str) -> bool:
    from difflib import get_close_matches  # noqa: PLC0415 - only a faulty file pays for it

    return bool(get_close_matches(text.lower(), [n.lower() for n in known_zones()], n=1, cutoff=0.6))


@lru_cache(maxsize=4096)
def dns_label(text: str) -> str:
    if _DNS_LABEL.fullmatch(text):
        return text
    raise Refusal(
        f"{shown(text)} is not a name that Kubernetes allows.",
        "Write at most 63 of a-z, 0-9 and -, with a letter or digit at both ends.",
        NAME,
    )


def dns_name(text: str) -> str:
    if len(text) <= 253 and _DNS_NAME.fullmatch(text):
        return text
    raise Refusal(
        f"{shown(text)} is not a name that Kubernetes allows.",
        "Write at most 253 of a-z, 0-9, - and ., with a letter or digit at both ends of each part.",
        NAME,
    )


def label_key(text: str) -> str:
    prefix, slash, name = text.rpartition("/")
    if _WORD.fullmatch(name) and (not slash or (len(prefix) <= 253 and _DNS_NAME.fullmatch(prefix))):
        return text
    raise Refusal(
        f"{shown(text)} is not a key that Kubernetes allows.",
        "Write at most 63 letters, digits, -, _ and ., if need be after a domain and a slash: example.org/course.",
        LABEL,
    )


def label_value(text: str) -> str:
    if text == "" or _WORD.fullmatch(text):
        return text
    raise Refusal(
        f"{shown(text)} is not a label value that Kubernetes allows.",
        "Write at most 63 letters, digits, -, _ and ., with a letter or digit at both ends.",
        LABEL,
    )


def quantity(text: str) -> str:
    amount = parse_quantity(text)
    if amount is None:
        raise Refusal(
            f"{shown(text)} is not a quantity that Kubernetes reads.",
            'Write a number with a unit, for instance "500m", "2" or "4Gi".',
            QUANTITY,
        )
    if amount < 0:
        raise Refusal(f"{shown(text)} is negative.", "Write 0 or more.", QUANTITY)
    return text


def image(text: str) -> str:
    if _IMAGE.fullmatch(text) and "//" not in text and len(text) <= 512:
        return text
    raise Refusal(
        f"{shown(text)} is not the name of a container image.",
        "Write registry/name:tag or registry/name@sha256:digest.",
        NAME,
    )


def ulid(text: str) -> str:
    if _ULID.fullmatch(text):
        return text
    raise Refusal(f"{shown(text)} is not a ULID.", "Write the 26 characters that Renku shows.", NAME)


def resource_name(text: str) -> str:
    """What a container may request: the kubelet's own resources, huge pages, or an extended resource."""
    if text in ("cpu", "memory", "ephemeral-storage"):
        return text
    domain, slash, _ = text.partition("/")
    native = domain == "kubernetes.io" or domain.endswith(".kubernetes.io")
    huge = text.startswith("hugepages-") and parse_quantity(text[10:]) not in (None, 0)
    if huge or (slash and not native and not text.startswith("requests.") and _is_key(text)):
        return text
    raise Refusal(
        f"{shown(text)} is not a resource that a container can request.",
        "Write cpu, memory, ephemeral-storage, or a device such as nvidia.com/gpu.",
        QUANTITY,
    )


def _is_key(text: str) -> bool:
    try:
        label_key(text)
    except Refusal:
        return False
    return True
