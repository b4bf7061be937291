"""Find the line and column of a value, and write its path with the names of list items, not their numbers.

Only findings need this: it reads the file a second time, with the place of every value.
"""

import re
from collections.abc import Callable, Iterable

from berth.findings import ERROR, Finding, Path, Problem, in_order, severity
from berth.reading.lookalikes import advice
from berth.reading.scalar import IN_QUOTES, plain
from berth.reading.source import Source
from berth.reading.text import Lines, decode, visible
from berth.reading.tree import TextNode, trees

_NAMES = ("name", "resourceClass")
_LONGEST_VALUE = 60  # that a message shows
_WORD = re.compile(r"[A-Za-z0-9_-]+")
_NAME = re.compile(r"[A-Za-z0-9_.-]+")

_Step = tuple[TextNode | None, TextNode]
"""The key, if the value is in a mapping; and the value."""


class Places:
    """The places of one file. Documents count from 0; lines and columns from 1, columns in characters."""

    def __init__(self, data: bytes) -> None:
        text, _ = decode(data)
        self._lines = Lines(text)
        self._roots, _ = trees(self._lines)

    def at(self, index: int, path: Path, key: bool = False) -> tuple[int, int]:
        """Return line and column of a value, or with `key` of its key; of a missing one, those of its parent.

        A value that begins in a line below its key has the place of the key. An alias has the place where it
        is used; values in it have the place where they are written.
        """
        steps = self._steps(index, path)
        if not steps:
            return 1, 1
        name, node = steps[-1]
        is_empty = node.at == node.end
        if name is None:
            return self._lines.place(max(node.at - is_empty, 0))  # an empty item has the place of its dash
        at_key, at_value = self._lines.place(name.at), self._lines.place(node.at)
        is_wanted = key and len(steps) > len(path)
        return at_key if is_wanted or is_empty or at_key[0] < at_value[0] else at_value

    def raw(self, index: int, path: Path) -> str:
        """Return the value as it is written, quotes included; nothing if it is missing."""
        steps = self._steps(index, path)
        return self._lines.text[steps[-1][1].at : steps[-1][1].end] if len(steps) > len(path) else ""

    def lookalikes(
        self, index: int, path: Path, fix: str, key: bool = False
    ) -> tuple[str, list[tuple[int, int]]]:
        """Return what to do about lookalikes in a scalar, or with `key` in its key, and their places."""
        if self._lines.text.isascii():
            return "", []
        steps = self._steps(index, path)
        name, node = steps[-1] if steps else (None, None)
        node = name if key and len(steps) > len(path) else node
        if node is None or isinstance(node.value, dict | list):
            return "", []
        told_at, _ = self.at(index, path, key)
        text, places = advice(self._lines, node.at, node.end, told_at, fix)
        return text, [self._lines.place(at) for at in places]

    def path_text(self, index: int, path: Path) -> str:
        """Return the path as text: `spec.clusters[prod].ceilings[0]`, `metadata.labels["a.b/c"]`."""
        steps = self._steps(index, path)
        parts = []
        for depth, step in enumerate(path, start=1):
            node = steps[depth][1] if depth < len(steps) else None
            parts.append(_item(step, node) if isinstance(step, int) else _key(step))
        return "".join(parts).removeprefix(".")

    def _steps(self, index: int, path: Path) -> list[_Step]:
        """Return the nodes on the path, from the root, as far as they exist."""
        if index >= len(self._roots):
            return []
        steps: list[_Step] = [(None, self._roots[index])]
        for part in path:
            step = self._child(steps[-1][1], part)
            if step is None:
                break
            steps.append(step)
        return steps

    @staticmethod
    def _child(node: TextNode, part: str | int) -> _Step | None:
        if isinstance(part, int):
            is_there = isinstance(node.value, list) and part < len(node.children)
            return (None, node.children[part]) if is_there else None
        if isinstance(node.value, dict):
            return next(((key, value) for name, key, value in node.pairs() if name == part), None)
        return None


def locate(
    problems: Iterable[Problem | Finding],
    sources: Iterable[Source],
    severity_of: Callable[[str], str] = severity,
) -> list[Finding]:
    """Turn problems into findings with places, in order, each once."""
    texts = {source.file: source.text for source in sources}
    places: dict[str, Places] = {}
    findings = []
    noted: set[tuple[str, int, int]] = set()
    for problem in problems:
        if isinstance(problem, Finding):
            findings.append(problem)
            continue
        level, message, fix = severity_of(problem.code), problem.message, problem.fix
        if problem.file not in places:
            places[problem.file] = Places(texts.get(problem.file, b""))
        there = places[problem.file]
        at = (problem.file, *there.at(problem.index, problem.path, problem.at_key))
        path = there.path_text(problem.index, problem.path)
        if fix.startswith(IN_QUOTES) and not problem.at_key:
            message, fix = _as_written(message, fix, there.raw(problem.index, problem.path))
        if level == ERROR:
            note, lookalikes = there.lookalikes(problem.index, problem.path, fix, problem.at_key)
            fix = f"{fix} {note}".rstrip()
            noted.update((problem.file, *character) for character in lookalikes)
        findings.append(Finding(*at, problem.code, level, path, message, fix))
    # An error at the same value has named the character.
    return in_order(finding for finding in findings if finding.code != "B242" or finding[:3] not in noted)


def _as_written(message: str, fix: str, raw: str) -> tuple[str, str]:
    """Return message and fix for a value without quotes, as it is written: `0x1f`, not 31."""
    value = plain(raw)
    if len(raw) > _LONGEST_VALUE or isinstance(value, str | None):
        return message, fix
    as_read = f"{str(value).lower() if isinstance(value, bool) else value} is a "
    before, found, after = message.rpartition(as_read)
    return f"{before}{raw} is a {after}" if found else message, f'{IN_QUOTES}: "{raw}".'


def _item(number: int, node: TextNode | None) -> str:
    values = node.value if node is not None and isinstance(node.value, dict) else {}
    for name in map(values.get, _NAMES):
        if isinstance(name, str) and _NAME.fullmatch(name):
            return f"[{name}]"
    return f"[{number}]"


def _key(name: str) -> str:
    if _WORD.fullmatch(name):
        return f".{name}"
    quoted = visible(name).replace("\\", "\\\\").replace('"', '\\"')
    return f'["{quoted}"]'
