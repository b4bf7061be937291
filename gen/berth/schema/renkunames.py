"""Names that follow from titles; it does not import pydantic."""

import re


def slug(title: str) -> str:
    """Return the name of a title: NFKD, ASCII, lower case, other runs become `-`, trimmed."""
    return slug_or_none(title) or "reservation"


def slug_or_none(title: str) -> str | None:
    """Return the name of a title; None if nothing of it is left."""
    from unicodedata import normalize  # noqa: PLC0415 - only payloads pay for it

    plain = normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-") or None


LONGEST_NAME = 63  # of a DNS label, and of a label's value


def name_of(text: str, otherwise: str) -> str:
    """Return a name that Kubernetes allows, and that is always the same for a text.

    Text without letters and digits of ASCII gets the other name and a part of its SHA-256.
    """
    name = slug_or_none(text)
    return f"{otherwise}-{_digest(text)}" if name is None else fitted(name, text)


def fitted(name: str, text: str) -> str:
    """Return the name, or if it is too long its beginning and a part of the SHA-256 of its text."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 7].rstrip('-')}-{_digest(text)}"


def _digest(text: str) -> str:
    from hashlib import sha256  # noqa: PLC0415 - only payloads pay for it

    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]


def name(title: str, ulid: str | None) -> str:
    """Return the slug; with an id also `-` and the first six hex digits of the id's SHA-256."""
    return slug(title) if ulid is None else f"{slug(title)}-{_digest(ulid)}"
