"""Compare rendered files, object by object.

In every file that Berth has ever rendered, an object begins after a line of three dashes and has its kind and
name on lines of their own. Other text is compared as a whole.
"""

import re
from collections.abc import Iterable
from difflib import unified_diff
from typing import NamedTuple

from berth.core.labels import CODE, ROLE, TARGET
from berth.manifests import naming

ADDED, CHANGED, REMOVED = "added", "changed", "removed"
CONTEXT = 3  # lines around a change

_kind = re.compile(r"^kind: [\"']?([\w.-]+)", re.MULTILINE).search
_namespace = re.compile(r"^metadata:\n(?:  .*\n)*?  namespace: [\"']?([^\"'\n]+)", re.MULTILINE).search
_name = re.compile(r"^metadata:\n(?:  .*\n)*?  name: [\"']?([^\"'\n]+)", re.MULTILINE).search


class ObjectChange(NamedTuple):
    """An object that differs. `before` and `after` are its texts; empty where it does not exist."""

    kind: str
    name: str
    change: str
    before: str
    after: str
    namespace: str = ""

    def lines(self, context: int = CONTEXT) -> list[str]:
        """Return a unified diff without its header."""
        before, after = self.before.splitlines(), self.after.splitlines()
        return list(unified_diff(before, after, n=context, lineterm=""))[2:]


class FileChange(NamedTuple):
    """A file that differs: `path` is relative to the output folder; removed objects are last.

    `is_applied`: whether somebody applies the change; nobody does where a cluster has left the site.
    """

    path: str
    change: str
    objects: tuple[ObjectChange, ...]
    is_applied: bool = True


def compare_file(path: str, before: str | None, after: str | None) -> FileChange | None:
    """Compare two versions of a file; a text is None if the file does not exist. Return None if equal."""
    if before == after:
        return None
    old, new = objects(before or ""), objects(after or "")
    changes = [
        ObjectChange(*key[:2], CHANGED if key in old else ADDED, old.get(key, ""), text, key[2])
        for key, text in new.items()
        if old.get(key) != text
    ]
    changes += [
        ObjectChange(*key[:2], REMOVED, text, "", key[2]) for key, text in old.items() if key not in new
    ]
    change = ADDED if before is None else REMOVED if after is None else CHANGED
    return FileChange(path, change, tuple(changes))


def objects(text: str) -> dict[tuple[str, str, str], str]:
    """Return the text of each object by kind, name and namespace, in order; no piece of comments only."""
    found: dict[tuple[str, str, str], str] = {}
    for number, piece in enumerate(re.split(r"^---\n", text, flags=re.MULTILINE)):
        kind, name = _kind(piece), _name(piece)
        if kind and name:
            # the code is named by its content: compare it with that of the other version
            home = _namespace(piece)
            key = (
                kind.group(1),
                (naming.of_code(name.group(1)) or name).group(1),
                home.group(1) if home else "",
            )
        elif piece and not all(line.startswith("#") for line in piece.splitlines()):
            key = "text", str(number), ""
        else:
            continue
        found[key] = found.get(key, "") + piece
    return found


def section(text: str, *keys: str) -> list[str]:
    """Return the lines of the value at `keys` in the text of a rendered object; empty if it is not set."""
    lines = text.splitlines()
    for depth, key in enumerate(keys):
        begins = tuple(f"{'  ' * depth}{name}:" for name in (key, f'"{key}"'))
        at = next((n for n, line in enumerate(lines) if line.partition(":")[0] + ":" in begins), None)
        if at is None:
            return []
        end = at + 1
        while end < len(lines) and lines[end].startswith("  " * (depth + 1)):
            end += 1
        lines = lines[at:end] if depth == len(keys) - 1 else lines[at + 1 : end]
    return lines


def deleted_objects(files: Iterable[FileChange]) -> dict[str, int]:
    """Count by kind the objects that an engine deletes: all that are removed but those that stay."""
    kinds = [
        item.kind
        for file in files
        for item in file.objects
        if file.is_applied and item.change == REMOVED and not _is_kept(item.before)
    ]
    return {kind: kinds.count(kind) for kind in sorted({*kinds})}


def _is_kept(text: str) -> bool:
    """Tell whether an object stays when it leaves git: code, or which number is held; also in quotes."""
    labels = section(text, "metadata", "labels")
    roles = [f"{ROLE}: {role}" for role in (CODE, TARGET)]
    return any(line.strip().replace('"', "") in roles for line in labels)
