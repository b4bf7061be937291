"""The grammars of texts that people write: names, labels, quantities, durations, images, addresses.

Each takes the text and returns its value, or raises Refusal with what is wrong and what to write. The
rules for names, labels and resources are those of the Kubernetes API server (apimachinery's validation).
"""

import re
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache

from berth.durations import exact_seconds
from berth.notation.days import FIRST_YEAR, LAST_YEAR
from berth.notation.refusal import as_typed
from berth.quantity import NANO
from berth.quantity import parse as parse_quantity
from berth.schema.documentproblems import Refusal, shown
from berth.schema.renkunames import LONGEST_NAME, slug_or_none

LONGEST_LINE = 200  # characters: lines are cells of tables
LONGEST_TITLE = 1200  # it is an annotation of every object
_NEARLY_A_QUANTITY = r"([0-9]+(?:[.,][0-9]{1,2})?)\s*([A-Za-z]*)"
_MEANT_UNITS = {
    **{f"{letter.lower()}{end}": f"{letter}i" for letter in "KMGTPE" for end in ("", "i", "b", "ib")},
    **dict.fromkeys(("b", "byte", "bytes", "cpu", "cpus", "core", "cores", "vcpu", "vcpus"), ""),
    **dict.fromkeys(("mcpu", "millicpu", "millicore", "millicores"), "m"),
}
"""What is meant by units that Kubernetes does not have, in lower case."""
# What containers of a node share, so that a limit may be above the request. The API server takes the last
# four as its own, because of their domain: what Koordinator (and Volcano) lend of what others do not use.
BORROWED = tuple(f"kubernetes.io/{tier}-{what}" for tier in ("batch", "mid") for what in ("cpu", "memory"))
SHARED = ("cpu", "memory", "ephemeral-storage", *BORROWED)
_LARGEST_PAGE = 2**40 * NANO  # far above any; sizes that overflow are refused by the API server

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", re.ASCII)
_DNS_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)
_WORD = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_HOST = r"[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?"
_PART = r"[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*"
# These stay text until somebody needs them: compiling them costs as much as reading ten reservations.
_IMAGE = (
    rf"(({_HOST}(\.{_HOST})*(:[0-9]+)?/)?{_PART}(/{_PART})*)"
    r"(:[A-Za-z0-9_][-A-Za-z0-9_.]{0,127})?(@sha256:[0-9a-f]{64})?"
)
_URL = rf"https?://({_HOST}(\.{_HOST})*\.?|\[[0-9A-Fa-f:.]+\])(:[0-9]{{1,5}})?(/[-\w.~%!$&'()*+,;=:@]*)*"
MOST_HOURS = 2_562_047  # whole hours in Go's 63 bits of nanoseconds
_LONGEST_DURATION = 40  # characters: enough for any that is meant
_GO = r"[-+]?(0|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)[hms])+)"
_LONGER = r"([0-9]{1,5})(d|w)"
_INSTANT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2}Z"


def matching(
    pattern: str, what: str, fix: str, code: str = "B019", longest: int = 500
) -> Callable[[str], str]:
    """Make the grammar of a text that matches a pattern."""

    def read(text: str) -> str:
        if len(text) <= longest and re.fullmatch(pattern, text, re.ASCII):
            return text
        raise Refusal(f"{shown(text)} is not {what}.", fix, code)

    return read


# Line ends, tabs, and what nobody sees or what changes the direction of text. Scripts and emoji need joiners,
# and pasted text has spaces of width zero.
_hidden = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
).search


def title(text: str, most: int = LONGEST_TITLE) -> str:
    is_seen = not text or any(character.isprintable() and character != " " for character in text)
    if len(text) <= most and is_seen and not _hidden(text):
        return text
    message = f"{shown(text)} is not one line of at most {most} characters that people see."
    block = " A YAML block begins with >- so that it has no line end." if text.endswith("\n") else ""
    raise Refusal(message, f"Write one short line, without tabs and invisible characters.{block}", "B012")


def line(text: str) -> str:
    if text:
        return title(text, LONGEST_LINE)
    raise Refusal("the text is empty.", "Write one short line.", "B012")


@lru_cache(maxsize=256)
def dns_label(text: str) -> str:
    if _DNS_LABEL.fullmatch(text):
        return text
    raise _no_name(text, "Write at most 63 of a-z, 0-9 and -, with a letter or digit at both ends.")


def own_namespace(text: str) -> str:
    """Read a namespace that Berth may label and set to *restricted*: not one of Kubernetes' own."""
    dns_label(text)
    if text in ("default", "openshift") or text.startswith(("kube-", "openshift-")):
        owner = "OpenShift" if text.startswith("openshift") else "Kubernetes"
        message = f"{shown(text)} belongs to {owner}; Berth needs a namespace of its own."
        raise Refusal(message, "Write another one, for instance berth.", "B019")
    return text


def dns_name(text: str) -> str:
    if len(text) <= 253 and _DNS_NAME.fullmatch(text):
        return text
    advice = "Write at most 253 of a-z, 0-9, - and ., with a letter or digit at both ends of each part."
    raise _no_name(text, advice, ".")


def _no_name(text: str, advice: str, separator: str = "") -> Refusal:
    message = f"{shown(text)} is not a name that Kubernetes allows."
    return Refusal(message, f"{_meant_name(text, separator)}{advice}", "B019")


def _meant_name(text: str, separator: str = "") -> str:
    """Ask for the name that `Small` or `linear algebra` probably means; empty if there is none."""
    parts = as_typed(text).split(separator) if separator else [as_typed(text)]
    meant = separator.join(slug_or_none(part) or "" for part in parts)
    is_name = _DNS_NAME.fullmatch(meant) and len(meant) <= LONGEST_NAME
    return f"Did you mean {meant}? " if is_name else ""


def quantity(text: str) -> str:
    amount = parse_quantity(text)
    if amount is None:
        raise Refusal(
            f"{shown(text)} is not a quantity that Kubernetes reads.",
            _quantity_advice(text),
            "B022",
        )
    if amount < 0:
        raise Refusal(f"{shown(text)} is negative.", "Write 0 or more.", "B022")
    return text


def _quantity_advice(text: str) -> str:
    """Suggest what the author of `4GB`, `4 gi`, `1,5` or `2 cores` meant."""
    match = re.fullmatch(_NEARLY_A_QUANTITY, text.strip(), re.ASCII)
    if match is not None:
        number, unit = match[1].replace(",", "."), match[2]
        for meant in (unit, _MEANT_UNITS.get(unit.lower())):
            if meant is not None and parse_quantity(number + meant) is not None:
                return f'Did you mean "{number}{meant}"?'
    return 'Write a number with a unit, for instance "500m", "2" or "4Gi".'


def is_image(text: str) -> bool:
    """Tell whether a text is the name of a container image."""
    match = re.fullmatch(_IMAGE, text, re.ASCII) if len(text) <= 512 else None
    return match is not None and len(match[1]) <= 255


def image(text: str) -> str:
    if is_image(text):
        return text
    raise Refusal(
        f"{shown(text)} is not the name of a container image.",
        "Write registry/name:tag or registry/name@sha256:digest.",
        "B019",
    )


def image_by_digest(text: str) -> str:
    if "@sha256:" in image(text):
        return text
    raise Refusal(
        f"{shown(text)} names no digest, so the code that runs could change without a review.",
        "Write registry/name@sha256:digest, as the registry shows it.",
        "B019",
    )


def url(text: str) -> str:
    """Read the URL of a web server; slashes at its end are removed, as a path follows."""
    if _is_url(text):
        return text.rstrip("/")
    fix = "Write https:// and the name of the server, for instance https://renkulab.io."
    if _is_url(f"https://{text}"):
        fix = f"Write https://{text}."
    raise Refusal(f"{shown(text)} is not the address of a web server.", fix, "B014")


def _is_url(text: str) -> bool:
    return len(text) <= 500 and re.fullmatch(_URL, text, re.ASCII) is not None


def service_account(text: str) -> str:
    """Read `name` or `namespace:name`."""
    namespace, _, name = text.rpartition(":")
    if namespace or text.startswith(":"):
        dns_label(namespace)
    return text if dns_name(name) else ""


def sync_option(text: str) -> str:
    """Read an option of Argo CD, except those that reset seats or make a sync wait for placeholders."""
    if not re.fullmatch(r"[A-Za-z]+=[A-Za-z,]+", text, re.ASCII):
        raise Refusal(f"{shown(text)} is not a sync option.", "Write it like Validate=false.", "B038")
    if text in ("Replace=true", "Force=true", "RespectIgnoreDifferences=false"):
        message = f"{text} would reset the seats of open windows to 0."
        raise Refusal(message, "Remove it.", "B038")
    if text == "PruneLast=true":
        message = "PruneLast=true would make a sync wait for placeholders that find no node."
        raise Refusal(message, "Remove it.", "B038")
    return text


def folder(text: str) -> str:
    """Read a folder of a repository, without slashes at its ends; empty for all of it."""
    inside = _inside(text)
    if inside is not None:
        return inside
    raise Refusal(f"{shown(text)} is not a folder of a repository.", "Write it without .. in it.", "B038")


def file(text: str) -> str:
    """Read the path of a file in the project."""
    inside = _inside(text)
    if inside and not text.startswith("/"):
        return inside
    fix = "Write its path from the folder that contains reservations/, without .. in it."
    raise Refusal(f"{shown(text)} is not the path of a file in the project.", fix, "B014")


def _inside(text: str) -> str | None:
    """Return a path in a repository without its needless parts; None if it may lead out of it."""
    parts = [part for part in text.split("/") if part not in ("", ".")]
    return None if ".." in parts or re.search(r"[\x00-\x1f\x7f]", text) else "/".join(parts)


def is_artifact(repository: str) -> bool:
    """Tell whether a repository is in a registry of images, not in git."""
    return repository.startswith("oci://")


def resource_name(text: str) -> str:
    """Read a resource that a container may request: one that containers share, huge pages, or a device."""
    if text in SHARED or page_size(text) or _is_device(text):
        return text
    raise Refusal(
        f"{shown(text)} is not a resource that a container can request.",
        "Write cpu, memory, ephemeral-storage, or a device such as nvidia.com/gpu.",
        "B022",
    )


def page_size(resource: str) -> int:
    """Return the page size of `hugepages-2Mi`, in billionths of a byte; 0 for other resources."""
    if not resource.startswith("hugepages-") or not accepts(label_key, resource):
        return 0
    size = parse_quantity(resource[10:]) or 0
    return size if 0 < size <= _LARGEST_PAGE and size % NANO == 0 else 0


def _is_device(text: str) -> bool:
    """Tell whether it is an extended resource. With `requests.` in front, as in quotas, it must fit too."""
    domain, slash, _ = text.partition("/")
    native = domain == "kubernetes.io" or domain.endswith(".kubernetes.io")
    return (
        bool(slash)
        and not native
        and not domain.startswith("requests.")
        and accepts(label_key, f"requests.{text}")
    )


def accepts(read: Callable[[str], object], text: str) -> bool:
    """Tell whether a grammar takes a text."""
    try:
        read(text)
    except Refusal:
        return False
    return True


def go_duration(text: str) -> str:
    """Read hours, minutes and seconds in Go's grammar, and return them as Go writes them: `720h0m0s`.

    The sum must be whole seconds, from 0 to 2562047 hours.
    """
    if len(text) > _LONGEST_DURATION or not re.fullmatch(_GO, text, re.ASCII):
        raise Refusal(f"{shown(text)} is not a duration that Go reads.", _longer_advice(text), "B107")
    total = exact_seconds(text)
    if total < 0:
        raise Refusal(f"{text} is negative: it would end at once.", "Write 0s or more.", "B107")
    if total > MOST_HOURS * 3600:
        raise Refusal(f"{text} is too long.", f"Write at most {MOST_HOURS}h.", "B107")
    if total.denominator != 1:
        raise Refusal(f"{text} is not a whole number of seconds.", "Write whole seconds.", "B107")
    from berth.plugins.slots.slots import go_duration as canonical_duration  # noqa: PLC0415 - few reservations have one

    return canonical_duration(int(total))


def _longer_advice(text: str) -> str:
    longer = re.fullmatch(_LONGER, text, re.ASCII)
    if longer is None:
        return "Write hours, minutes or seconds, for instance 720h."
    return f"Write {int(longer[1]) * (24 if longer[2] == 'd' else 168)}h."


def utc(text: str, code: str = "B107") -> str:
    """Read an instant in UTC, to the second, that exists."""
    if not re.fullmatch(_INSTANT, text, re.ASCII):
        raise Refusal(f"{shown(text)} is not an instant in UTC.", "Write it as 2026-12-31T23:00:00Z.", code)
    try:
        year = datetime.fromisoformat(text).year
    except ValueError:
        raise Refusal(f"{text} does not exist.", "Write a date and a time that exist.", code) from None
    if not FIRST_YEAR <= year <= LAST_YEAR:
        message = f"{text} is outside of the years {FIRST_YEAR} to {LAST_YEAR}."
        raise Refusal(message, "Write one within.", code)
    return text


def optional(grammar: Callable[[str], str]) -> Callable[[str], str]:
    """Make the grammar of a text that may be empty, too."""
    return lambda text: text if text == "" else grammar(text)


_WORD_ADVICE = "Write at most 63 letters, digits, -, _ and ., with a letter or digit at both ends."
label_value = matching(rf"({_WORD})?", "a label value that Kubernetes allows", _WORD_ADVICE)
taint_value = matching(_WORD, "the value of a taint", "Write a label value; without one, leave it out.")
_KEY = rf"((?=[^/]{{1,253}}/){_DNS_NAME.pattern}/)?{_WORD}"
_KEY_ADVICE = (
    "Write at most 63 letters, digits, -, _ and ., if need be after a domain and a slash: example.org/course."
)
label_key = matching(_KEY, "a key that Kubernetes allows", _KEY_ADVICE)
ulid = matching(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", "a ULID", "Write the 26 characters that Renku shows.")
_SECRET_ADVICE = "Write at most 253 letters, digits, -, _ and ., for instance token."
secret_key = matching(r"(?!\.{1,2}$)[-._A-Za-z0-9]{1,253}", "a key that a Secret may have", _SECRET_ADVICE)
_SPAN = r"(?=.)(?:[0-9]+h)?(?:[0-9]+m)?(?:[0-9]+s)?"  # whole hours, minutes and seconds, as Go reads them
duration = matching(_SPAN, "a duration", "Write hours, minutes or seconds, for instance 10m.", "B018", 30)
_URL_ADVICE = "Write one such as https://git.example.org/capacity.git."
# In any form that git takes, or of an artifact (`oci://`).
repository = matching(r"[!-~]+[:/][!-~]+", "the address of a repository", _URL_ADVICE, "B038")
# A branch, tag, commit or reference of git, or the tag or digest of an artifact.
_REVISION = r"(?!-)(?u:(?:sha256:)?[\w./#+@=-]+)"
revision = matching(_REVISION, "a revision", "Write a branch, for instance main.", "B038", 250)
_CONTACT = r"@\w[\w.-]*(/[\w.-]+)*|(?u:[^@\s#]+@[^@\s#]+\.[^@\s#]+)"  # what CODEOWNERS can name
_CONTACT_ADVICE = "Write an e-mail address, @user or @organization/team."
_contact = matching(_CONTACT, "a contact", _CONTACT_ADVICE, "B014")
_NOTICE = "Write hours or days, for instance 48h or 7d."
_notice = matching("[0-9]{1,4}[hd]", "a time such as 48h or 7d", _NOTICE, "B018")
_minor_version = matching("1[.][1-9][0-9]?", "a version of Kubernetes", 'Write it as "1.36".')


def contact(text: str) -> str:
    return _contact(line(text))


def notice(text: str) -> int:
    """Read whole hours or days before something, such as 48h or 7d, as seconds."""
    return int(_notice(text)[:-1]) * {"h": 3600, "d": 86_400}[text[-1]]


def kubernetes_version(text: str) -> tuple[int, int]:
    """Read a minor version, such as 1.36."""
    return 1, int(_minor_version(text)[2:])
