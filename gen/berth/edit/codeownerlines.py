"""Lines of a CODEOWNERS file for the reservations whose owners it can name, and the block that has them."""

import re
from collections.abc import Iterable, Mapping, Sequence

from berth.checks.ownership import Contacts, is_contact, owned_paths
from berth.findings import Path, Problem
from berth.notation.refusal import CommandError
from berth.schema.documentproblems import shown
from berth.schema.reservation import Reservation

UNNAMED = "B235"
BEGIN = "# Begin of berth codeowners. Do not edit: change spec.owner of the reservations."
END = "# End of berth codeowners."
_SPECIAL = re.compile(r"[#!*?\[\]\\]")  # a pattern has another meaning with these, or ends
_BLOCK = re.compile(rf"^{re.escape(BEGIN)}\n(?:.*\n)*?{re.escape(END)}\n", re.MULTILINE)


def code_owners(
    reservations: Iterable[Reservation], files: Iterable[str]
) -> tuple[dict[str, Contacts], list[Problem]]:
    """Return the contacts of each file, none for most, and what CODEOWNERS cannot name."""
    found: dict[str, Contacts] = dict.fromkeys(files, ())
    problems = []
    for reservation in reservations:
        problem = _problem(reservation)
        if problem is not None:
            problems.append(problem)
        elif reservation.owner is not None:
            contacts = found.get(reservation.origin.file, ())
            found[reservation.origin.file] = tuple(
                dict.fromkeys((*contacts, reservation.owner.contact or ""))
            )
    return found, problems


def _problem(one: Reservation) -> Problem | None:
    owner, file = one.owner, one.origin.file
    if owner is None:
        return None
    fix = "Write @user, @organization/team or an e-mail address."
    if not owner.contact:
        return _unnamed(one, (), "the owner has no contact for CODEOWNERS.", fix)
    if not is_contact(owner.contact):
        message = f"{shown(owner.contact)} is not a contact for CODEOWNERS."
        return _unnamed(one, ("contact",), message, fix)
    if _SPECIAL.search(file):
        fix = "Rename it: without #, !, *, ?, [, ] and \\."
        return _unnamed(one, (), f"CODEOWNERS cannot name the file {file}.", fix)
    return None


def _unnamed(one: Reservation, at: Path, message: str, fix: str) -> Problem:
    return one.origin.problem(UNNAMED, ("spec", "owner", *at), message, fix)


def owner_lines(contacts: Mapping[str, Contacts], top: str) -> list[str]:
    """Return a line for each file with contacts, or for a folder in which all files have the same.

    `top` leads to the project from the top of its repository.
    """
    return [f"/{top}{_escaped(path)} {' '.join(mine)}" for path, mine in owned_paths(contacts).items()]


def _escaped(path: str) -> str:
    return path.replace(" ", "\\ ")


def with_block(text: str, lines: Sequence[str]) -> str:
    """Return the text of a CODEOWNERS file with these lines in its block; a new block is at the end."""
    block = "".join(f"{line}\n" for line in (BEGIN, *lines, END)) if lines else ""
    if BEGIN not in text and END not in text:
        before = text if not text or text.endswith("\n") else f"{text}\n"
        return before + ("\n" if before and block else "") + block
    found = _BLOCK.search(text if text.endswith("\n") else f"{text}\n")
    if found is None or text.count(BEGIN) > 1 or text.count(END) > 1:
        raise CommandError("the lines around the block of berth codeowners are not one pair; repair them")
    return text[: found.start()] + block + text[found.end() :]
