"""Format a change as a comment on a pull request of GitHub or GitLab, within a limit of characters.

Each block is complete, so that a shortened comment never leaves a `<details>` or a fence open.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from berth.core.jsonvalues import instant_text
from berth.diff import sections, wording
from berth.diff.causes import course_lines, shared_parts, shown_whole
from berth.diff.change import Change, ChangeWarning, ReservationChange
from berth.diff.manifests import FileChange
from berth.diff.sections import FEW_RESERVATIONS, summary
from berth.diff.wording import DiffLine, number_of
from berth.output import findinglist
from berth.output.escape import fenced, in_markdown, in_markdown_html
from berth.version import VERSION

LIMIT = 65_000  # characters; GitHub refuses more than 65,536
_MANY = 100  # courses of one cause: above, each has sums instead of dates, so that all of them fit


class _Size(NamedTuple):
    """How much to show. `lines`: of each other list; `manifests`: whether to show the lines of objects."""

    details: int  # reservations with their details
    titles: int  # reservations and shared documents
    courses: int  # that a shared document changes
    lines: int
    manifests: bool


_ALL = 1_000_000
_OPEN, _CLOSE = "<details><summary>{}</summary>\n\n", "\n</details>\n\n"
_SHORTENED = "\nShortened to fit into a comment. For everything, run `berth diff -o wide`.\n"
_WHOLE = _Size(_ALL, _ALL, _ALL, _ALL, manifests=True)
_CUT = _Size(50, 200, 400, 50, manifests=False)
_SUMMARY = _Size(0, 5, 0, 10, manifests=False)


def as_markdown(change: Change, zone: str, limit: int = LIMIT) -> str:
    """Return the most detailed comment within the limit; a shortened one says how to see everything."""
    for size in (_WHOLE, _CUT, _SUMMARY):
        end = "" if size == _WHOLE else _SHORTENED
        length, kept = len(end), list[str]()
        for block in _blocks(change, zone, size):
            length += len(block)
            if length > limit:
                break
            kept.append(block)
        else:
            return "".join([*kept, end])
    losses = [line.text.partition(":")[0] for line in sections.loss_lines(change)]
    warning = f"### INCOMPLETE: no room for the names of {'; '.join(losses)}\n\n" if losses else ""
    room = max(limit - len(warning) - len(_SHORTENED) - 1, 0)
    return f"{warning}{in_markdown(summary(change))[:room]}\n{_SHORTENED}"


def _blocks(change: Change, zone: str, size: _Size) -> Iterator[str]:
    yield f"### Berth: {in_markdown(summary(change))}\n\n"
    names = f"{in_markdown(change.base.name)} → {in_markdown(change.head.name)}"
    yield f"{names}, by Berth {in_markdown(VERSION)} at {in_markdown(instant_text(change.now))}\n\n"
    for side in (change.base, change.head):
        if side.findings:
            shown = side.findings[: size.lines]
            text = fenced(findinglist.text(shown, color=False), "text") if shown else ""
            text += _more(len(side.findings) - len(shown))
            yield _folded(in_markdown_html(f"{side.name}: {findinglist.count(side.findings)}"), text)
    lists = {
        heading: [in_markdown(line.text.strip()) for line in lines]
        for heading, lines in sections.lists(change, zone).items()
    }
    if len(change.reservations) > FEW_RESERVATIONS or size == _SUMMARY:
        yield _list(sections.LOSSES, lists)
    yield _list(sections.POLICIES, lists, size.lines)
    yield _list(sections.PERMISSIONS, lists)
    yield from _shared(change, size)
    yield _list(sections.IGNORED, lists, size.lines)
    yield from _reservations(sections.by_effect(change, shown_whole(change)), size)
    yield _list(sections.PEAKS, lists, size.lines)
    yield _list(sections.PLAN, lists, size.lines)
    yield from _warnings(change.warnings, size)
    yield from _files(change.files, size)


def _list(heading: str, lists: dict[str, list[str]], most: int = _ALL) -> str:
    texts = lists[heading]
    return f"#### {heading}\n\n{_items(texts, most)}\n" if texts else ""


def _items(texts: Sequence[str], most: int = _ALL) -> str:
    more = _more(len(texts) - most)
    return "".join(f"- {text}\n" for text in texts[:most]) + (f"- {more}" if more else "")


def _more(count: int, noun: str = "") -> str:
    return f"and {number_of(count, f'more {noun}') if noun else f'{count} more'}\n" if count > 0 else ""


def _titled(title: DiffLine, lines: Sequence[DiffLine], most: int = _ALL) -> str:
    items = _items([_signed(line) for line in lines], most)
    return f"**{in_markdown(title.sign)} {in_markdown(title.text)}**\n{items}\n"


def _shared(change: Change, size: _Size) -> Iterator[str]:
    """Yield each shared document with what it does; its reservations are folded unless they are few."""
    parts = [*shared_parts(change)]
    if parts:
        yield f"#### {sections.SHARED}\n\n"
    for (title, *lines), group in parts[: size.titles]:
        yield _titled(title, lines, size.lines)
        if group:
            found = course_lines(group, is_brief=len(group) > _MANY)
            courses = _items([in_markdown(line.text) for line in found], size.courses)
            yield _folded(number_of(len(group), "reservation"), courses)
    more = _more(len(parts) - size.titles, "document")
    yield f"{more}\n" if more else ""


def _reservations(changes: Sequence[ReservationChange], size: _Size) -> Iterator[str]:
    """Yield the first reservations whole, and the others folded."""
    is_long = len(changes) > FEW_RESERVATIONS + 1
    retitled = [change for change in changes if is_long and change.is_retitled]
    others = [change for change in changes if not (is_long and change.is_retitled)]
    blocks = _reservation_blocks(others, size)
    few = FEW_RESERVATIONS // 2 if len(blocks) > FEW_RESERVATIONS + 1 else len(blocks)
    yield from blocks[:few]
    if blocks[few:]:
        yield _folded(f"and {number_of(len(others) - few, 'more reservation')}", "".join(blocks[few:]))
    if retitled:
        title = in_markdown_html(sections.titles_line(retitled).text)
        yield _folded(title, "".join(_reservation_blocks(retitled, size._replace(titles=size.details))))


def _reservation_blocks(changes: Sequence[ReservationChange], size: _Size) -> list[str]:
    blocks = [
        _titled(wording.title_line(change), wording.detail_lines(change) if number < size.details else ())
        for number, change in enumerate(changes[: size.titles])
    ]
    more = _more(len(changes) - size.titles, "reservation")
    return [*blocks, f"{more}\n"] if more else blocks


def _warnings(warnings: Sequence[ChangeWarning], size: _Size) -> Iterator[str]:
    """Yield the warnings; many of one kind are folded."""
    if warnings:
        yield f"#### {sections.WARNINGS}\n\n"
        for code, lines, rest in sections.folded_warnings(warnings[: size.lines]):
            yield _items([in_markdown(line.text) for line in lines])
            if rest:
                items = _items([in_markdown(line.text) for line in rest])
                yield "\n" + _folded(in_markdown_html(f"and {len(rest)} more of {code}"), items)
        more = _more(len(warnings) - size.lines)
        yield f"- {more}\n" if more else "\n"


def _files(files: Sequence[FileChange], size: _Size) -> Iterator[str]:
    if not files:
        return
    objects = sum(len(file.objects) for file in files)
    yield _OPEN.format(f"Manifests: {number_of(len(files), 'file')}, {number_of(objects, 'object')}")
    for file in files[: size.lines]:
        yield _items([_signed(wording.file_line(file))])
        yield "\n" if size.manifests else ""
        for item in file.objects if size.manifests else ():
            text = fenced("".join(f"{line}\n" for line in item.lines()), "diff")
            yield _folded(in_markdown_html(wording.object_title(item)), text)
    yield _more(len(files) - size.lines, "file")
    yield _items([_signed(line) for line in sections.deleted_lines(files)])
    yield _CLOSE


def _signed(line: DiffLine) -> str:
    sign = f"`{line.sign}` " if line.sign.strip() else ""
    return sign + in_markdown(line.text)


def _folded(title: str, content: str) -> str:
    return f"{_OPEN.format(title)}{content}{_CLOSE}"
