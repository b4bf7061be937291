"""Names that follow from titles, and what Renku answers; it does not import pydantic."""

import re
from typing import NamedTuple

from berth.schema.documentproblems import shown


def is_payload(value: object) -> bool:
    """Tell whether a document without `kind` looks like one of Renku's."""
    return (
        isinstance(value, dict)
        and not {"kind", "apiVersion"} & value.keys()
        and bool({"recurrence", "provisioning", "resource_class_id"} & value.keys())
    )


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


KIND = "B069"  # of a document that is no declaration


class ErrorAnswer(NamedTuple):
    """That Renku answered with an error, and what to do."""

    message: str
    fix: str


def error_answer(value: object) -> ErrorAnswer | None:
    """Return what an error object of Renku's API says; None for anything else."""
    is_answer = isinstance(value, dict) and not {"kind", "apiVersion"} & value.keys()
    error = value.get("error") if isinstance(value, dict) and is_answer else None
    if not isinstance(error, dict) or not {"code", "message"} & error.keys():
        return None
    message = " ".join(
        shown(error[key]) for key in ("code", "message", "detail") if error.get(key) is not None
    )
    fix = "Save the answer again, with a token that may read it."
    return ErrorAnswer(f"this is not an answer with data: Renku answered with the error {message}.", fix)
