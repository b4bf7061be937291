"""Where do templates lie, which of them does a user's folder replace, what stands in them, and how is told
that one cannot be used?

Never reads outside of the two folders: a link in a user's folder that leads out of it is refused.
"""
# Nothing else that a render imports needs pathlib.
# ruff: noqa: PTH100, PTH112, PTH118, PTH120, PTH123

import os
from collections.abc import Iterable, Iterator

from gen.finding import ERROR, Finding

_SUFFIX = ".j2"


class TemplateError(Exception):
    """Templates that cannot be used, or not with these values; `findings` is never empty."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__(*self.findings)


def built_in_folder() -> str:
    """In a wheel the templates lie in the package, in a checkout beside it."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = os.path.join(package, "templates")
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(package), "templates")


def find_overrides(folder: str, built_in: str) -> tuple[list[str], list[Finding]]:
    """The names of the templates in a user's folder, sorted, and what is wrong with them.

    Other files, and everything whose name begins with a dot, are the user's own.
    """
    known = list(_names_in(built_in))
    names: list[str] = []
    findings: list[Finding] = []
    try:
        given = list(_names_in(folder))
    except OSError as error:
        fix = "Name a folder of templates that you may read after --templates."
        return [], [unreadable(folder, f"{error.filename} cannot be read: {error.strerror}.", fix)]
    for name in given:
        shown = os.path.join(folder, name)
        if name not in known:
            findings.append(_overrides_nothing(name, shown, known))
        elif not _lies_within(shown, folder):
            findings.append(
                unreadable(shown, f"{shown} leads out of {folder}.", "Copy the file into the folder.")
            )
        else:
            names.append(name)
    return names, findings


def read_template(path: str, shown: str) -> str | Finding:
    """The text of a template with plain line feeds and without a byte order mark, or why there is none."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            return file.read()
    except UnicodeDecodeError as error:
        return unreadable(shown, f"Byte {error.start} is not UTF-8.", "Save the file as UTF-8.")
    except OSError as error:
        return unreadable(shown, f"It cannot be read: {error.strerror}.", "Make it a file that you may read.")


def unreadable(shown: str, message: str, fix: str) -> Finding:
    return Finding(shown, 1, 1, "B095", ERROR, "", message, fix)


def _overrides_nothing(name: str, shown: str, known: list[str]) -> Finding:
    message = f"There is no template {name} to override."
    return Finding(shown, 1, 1, "B098", ERROR, "", message, f"Name it as one of {', '.join(known)}.")


def _names_in(folder: str) -> Iterator[str]:
    for path, folders, files in os.walk(folder, onerror=_stop):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        inner = os.path.relpath(path, folder)
        for name in sorted(files):
            if name.endswith(_SUFFIX) and not name.startswith("."):
                yield name if inner == "." else f"{inner}/{name}"


def _stop(error: OSError) -> None:
    raise error


def _lies_within(path: str, folder: str) -> bool:
    return os.path.realpath(path).startswith(os.path.realpath(folder) + "/")
