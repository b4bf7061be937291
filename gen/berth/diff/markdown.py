"""A change as a comment on a pull request, for GitHub and GitLab, never longer than a limit.

Whatever people wrote stays text: it becomes no markup, no mention, no link. Blocks are made whole, so a
shorter form leaves no `<details>` or fence open.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from berth.diff import wording
from berth.diff.change import Change, ReservationChange, Side
from berth.diff.manifests import FileChange, ObjectChange
from berth.diff.wording import Line, number_of
from berth.output import report
from berth.version import VERSION

LIMIT = 65_000  # characters; GitHub refuses more than 65,536
_INVISIBLE = "\u200b"  # breaks what would be a mention, a reference or a link
_special = re.compile(r"[\\`*_{}\[\]<>()#+\-.!|~]")
_reference = re.compile(
    r"([@#!$%&~])(?=\w)|(?<=[a-z])(:)(?=//)|(?<=\bwww)(\.)|(?<=\bGH)(-)|(:)(?=[a-z]\w*:)", re.IGNORECASE
)


class _Depth(NamedTuple):
    """How much is told. `context`: lines around a change in a manifest; None: only their numbers."""

    reservations: int  # that are told in full; the others by their title
    titles: int  # that are told at all
    objects: bool
    files: int
    context: int | None
    peaks: int
    warnings: int


_ALL = 1_000_000
_OPEN, _CLOSE = "<details><summary>{}</summary>\n\n", "\n</details>\n\n"
_SHORTENED = "\nShortened to fit into a comment. All of it: `berth diff -o wide`.\n"
_LADDER = (
    _Depth(_ALL, _ALL, True, _ALL, 3, _ALL, _ALL),
    _Depth(_ALL, _ALL, True, _ALL, 0, _ALL, _ALL),
    _Depth(_ALL, _ALL, True, _ALL, None, _ALL, _ALL),
    _Depth(_ALL, _ALL, False, _ALL, None, _ALL, _ALL),
    _Depth(400, _ALL, False, 400, None, 50, 200),
    _Depth(200, _ALL, False, 200, None, 50, 100),
    _Depth(100, 400, False, 100, None, 50, 100),
    _Depth(50, 200, False, 50, None, 50, 100),
    _Depth(20, 200, False, 20, None, 20, 50),
    _Depth(0, 50, False, 0, None, 10, 20),
    _Depth(0, 10, False, 0, None, 5, 5),
    _Depth(0, 0, False, 0, None, 0, 0),
)


def markdown(change: Change, zone: str, limit: int = LIMIT) -> str:
    """The fullest form that fits. What was left out is said, with where it is."""
    for depth in _LADDER:
        text = _within(limit, _blocks(change, zone, depth), "" if depth == _LADDER[0] else _SHORTENED)
        if text is not None:
            return text
    return f"{escaped(wording.verdict(change))[: max(limit - 60, 0)]}\n\nAll of it: `berth diff -o wide`.\n"


def _within(limit: int, blocks: Iterable[str], end: str) -> str | None:
    """All of it, or None as soon as it is too long: what is not looked at costs nothing."""
    size, found = len(end), []
    for block in blocks:
        size += len(block)
        if size > limit:
            return None
        found.append(block)
    return "".join([*found, end])


def escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    plain = _special.sub(lambda match: f"\\{match.group(0)}", _broken(text))
    return _entities(plain).replace("\\&lt;", "&lt;").replace("\\&gt;", "&gt;")


def escaped_in_html(text: str) -> str:
    """The same between tags, where a backslash would be shown."""
    return _entities(_broken(text))


def _broken(text: str) -> str:
    """Without what cannot be seen, and with whatever would become a mention, a link or an emoji broken."""
    told = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return _reference.sub(lambda match: match.group(0) + _INVISIBLE, told.replace(" -> ", " → "))


def _entities(text: str) -> str:
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("$", "&#36;")):
        text = text.replace(character, entity)
    return text


def _blocks(change: Change, zone: str, depth: _Depth) -> Iterator[str]:
    yield f"### Berth: {escaped(wording.verdict(change))}\n\n"
    yield f"{escaped(change.base.name)} → {escaped(change.head.name)}, by Berth {escaped(VERSION)}\n\n"
    for side in (change.base, change.head):
        if side.findings:
            yield _folded(
                escaped_in_html(f"{side.name}: {report.count(side.findings)}"), _findings(side, depth)
            )
    yield from _reservations(change.reservations, depth)
    yield from _list("Peaks", [wording.peak(one, zone).text for one in change.peaks], depth.peaks)
    if change.plan:
        told = [line.text.strip() for line in wording.plan_lines(change.plan, zone)]
        yield from _list(wording.HEADING, told, depth.peaks)
    warnings = [wording.warning(one).text for one in change.warnings]
    yield from _list("Think of this before you merge", warnings, depth.warnings)
    yield from _files(change.files, depth)


def _findings(side: Side, depth: _Depth) -> str:
    told = side.findings[: depth.warnings]
    more = len(side.findings) - len(told)
    text = _fenced(report.text(told, color=False), "text") if told else ""
    return text + (f"and {more} more\n" if more else "")


def _reservations(changes: Sequence[ReservationChange], depth: _Depth) -> Iterator[str]:
    for number, one in enumerate(changes[: depth.titles]):
        title = wording.title(one)
        head = f"**{escaped(title.sign)} {escaped(title.text)}**\n"
        lines = wording.details(one) if number < depth.reservations else ()
        yield head + "".join(f"- {_signed(line)}\n" for line in lines) + "\n"
    left = len(changes) - depth.titles
    if left > 0:
        yield f"and {number_of(left, 'more reservation')}\n\n"


def _signed(line: Line) -> str:
    sign = f"`{line.sign}` " if line.sign.strip() else ""
    return sign + escaped(line.text)


def _list(heading: str, texts: Sequence[str], most: int) -> Iterator[str]:
    if texts:
        yield f"#### {heading}\n\n" + "".join(f"- {escaped(text)}\n" for text in texts[:most])
        if len(texts) > most:
            yield f"- and {len(texts) - most} more\n"
        yield "\n"


def _files(files: Sequence[FileChange], depth: _Depth) -> Iterator[str]:
    if not files:
        return
    objects = sum(len(one.objects) for one in files)
    summary = f"Manifests: {number_of(len(files), 'file')}, {number_of(objects, 'object')}"
    yield _OPEN.format(summary)
    for one in files[: depth.files]:
        yield from _file(one, depth)
    more = len(files) - depth.files
    yield f"and {number_of(more, 'more file')}\n" if more > 0 else ""
    yield _CLOSE


def _file(one: FileChange, depth: _Depth) -> Iterator[str]:
    yield f"- {_signed(wording.file(one))}\n"
    if depth.objects:
        yield "\n"
        for item in one.objects:
            yield _object(item, depth.context)


def _object(one: ObjectChange, context: int | None) -> str:
    title = wording.object_title(one)
    if context is None:
        return f"  {escaped(title)}\n\n"
    return _folded(
        escaped_in_html(title), _fenced("".join(f"{line}\n" for line in one.lines(context)), "diff")
    )


def _folded(summary: str, content: str) -> str:
    return f"{_OPEN.format(summary)}{content}{_CLOSE}"


def _fenced(content: str, language: str) -> str:
    """Behind a fence that is longer than any in the content."""
    longest = max((len(run) for run in re.findall("`+", content)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{content}{fence}\n"
