"""Keep the documents that all reservations share out of the files that belong to a reservation's owner."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

from berth.checks.project import Project
from berth.findings import Origin, Problem
from berth.schema.declared import Declared

Contacts = tuple[str, ...]


def owned_paths(contacts: Mapping[str, Contacts]) -> dict[str, Contacts]:
    """Return the contacts of each file, or of a folder in which all files have the same.

    `contacts` are those of each file of the project, none for most.
    """
    by_folder: dict[str, set[Contacts]] = {}
    for file, mine in contacts.items():
        for folder in _folders(file):
            by_folder.setdefault(folder, set()).add(mine)
    owners: dict[str, Contacts] = {}
    for file, mine in sorted(contacts.items()):
        if mine:
            owners[next((folder for folder in _folders(file) if len(by_folder[folder]) == 1), file)] = mine
    return owners


def contacts_of_files(declared: Declared, files: Iterable[str]) -> dict[str, Contacts]:
    """Return the contacts of each file, for CODEOWNERS."""
    by_file: dict[str, Contacts] = dict.fromkeys(files, ())
    for reservation in declared.reservations:
        if reservation.owner is not None and reservation.owner.contact:
            contacts = (*by_file.get(reservation.origin.file, ()), reservation.owner.contact)
            by_file[reservation.origin.file] = tuple(dict.fromkeys(contacts))
    return by_file


def _folders(file: str) -> Iterator[str]:
    """Yield the folders of a file below reservations/, the largest first: `reservations/physics/`."""
    yield from [*accumulate(f"{part}/" for part in file.split("/")[:-1])][1:]


def check_shared_documents(project: Project) -> Iterator[Problem]:
    """Report shared documents that are in one file with a reservation of an owner."""
    contacts = contacts_of_files(project.declared, ())
    for kind, name, origin in project.declared.shared():
        if origin.file in contacts:
            yield owned_problem(kind, name, origin, contacts[origin.file])


def owner_of(file: str, owned: Mapping[str, Contacts]) -> Contacts:
    """Return who owns a file, by the paths of `owned_paths`; nobody for most."""
    return next((mine for path, mine in owned.items() if file == path or _is_in(file, path)), ())


def _is_in(file: str, path: str) -> bool:
    return path.endswith("/") and file.startswith(path)


def owned_problem(kind: str, name: str, origin: Origin, contacts: Contacts) -> Problem:
    message = f"{kind} {name} serves all reservations, and {origin.file} belongs to {', '.join(contacts)}."
    return origin.problem("B270", ("kind",), message, "Move it to a file of the platform team.")
