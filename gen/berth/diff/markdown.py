"""Format a change as a comment on a pull request of GitHub or GitLab, within a limit of characters.

Each block is complete, so that a shortened comment never leaves a `<details>` or a fence open.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from berth.core.jsonvalues import instant_text
from berth.diff import wording
from berth.diff.causes import (
    Effect,
    course_lines,
    effects,
    effects_by_document,
    joint_line,
    shared_lines,
    shown_whole,
)
from berth.diff.change import Change, ReservationChange, SideSummary
from berth.diff.folding import FEW_RESERVATIONS, deleted_lines, folded_warnings
from berth.diff.headline import summary
from berth.diff.losses import by_effect, loss_lines, titles_line
from berth.diff.manifests import FileChange, ObjectChange
from berth.diff.planwording import plan_lines
from berth.diff.wording import DiffLine, number_of
from berth.output import findinglist
from berth.output.escape import fenced, in_markdown, in_markdown_html
from berth.version import VERSION

LIMIT = 65_000  # characters; GitHub refuses more than 65,536
_MANY = 100  # courses of one cause: above, each has sums instead of dates, so that all of them fit


class _Depth(NamedTuple):
    """How much to show. `context`: lines around a change in a manifest; None: only count the lines."""

    reservations: int  # with their details
    titles: int  # with a title at least
    objects: bool
    files: int
    context: int | None
    peaks: int
    warnings: int


_ALL = 1_000_000
_OPEN, _CLOSE = "<details><summary>{}</summary>\n\n", "\n</details>\n\n"
_SHORTENED = "\nShortened to fit into a comment. For everything, run `berth diff -o wide`.\n"
_LADDER = (
    _Depth(_ALL, _ALL, True, _ALL, 3, _ALL, _ALL),
    _Depth(_ALL, _ALL, True, _ALL, 0, _ALL, _ALL),
    _Depth(_ALL, _ALL, True, _ALL, None, _ALL, _ALL),
    _Depth(_ALL, _ALL, False, _ALL, None, _ALL, _ALL),
    _Depth(_ALL, _ALL, False, 50, None, _ALL, _ALL),
    _Depth(400, _ALL, False, 50, None, 50, 200),
    _Depth(200, _ALL, False, 50, None, 50, 100),
    _Depth(100, 400, False, 50, None, 50, 100),
    _Depth(50, 200, False, 50, None, 50, 100),
    _Depth(50, 100, False, 50, None, 50, 100),
    _Depth(20, 200, False, 20, None, 20, 50),
    _Depth(0, 50, False, 0, None, 10, 20),
    _Depth(0, 10, False, 0, None, 5, 5),
    _Depth(0, 0, False, 0, None, 0, 0),
)


def as_markdown(change: Change, zone: str, limit: int = LIMIT) -> str:
    """Return the most detailed comment within the limit; a shortened one says how to see everything."""
    for depth in _LADDER:
        end = "" if depth == _LADDER[0] else _SHORTENED
        text = _join_within(limit, _blocks(change, zone, depth), end)
        if text is not None:
            return text
    losses = [line.text.partition(":")[0] for line in loss_lines(change)]
    warning = f"### INCOMPLETE: no room for the names of {'; '.join(losses)}\n\n" if losses else ""
    room = max(limit - len(warning) - len(_SHORTENED) - 1, 0)
    return f"{warning}{in_markdown(summary(change))[:room]}\n{_SHORTENED}"


def _join_within(limit: int, blocks: Iterable[str], end: str) -> str | None:
    """Join the blocks; return None as soon as they are too long."""
    size, kept = len(end), []
    for block in blocks:
        size += len(block)
        if size > limit:
            return None
        kept.append(block)
    return "".join([*kept, end])


def _blocks(change: Change, zone: str, depth: _Depth) -> Iterator[str]:
    yield f"### Berth: {in_markdown(summary(change))}\n\n"
    names = f"{in_markdown(change.base.name)} → {in_markdown(change.head.name)}"
    yield f"{names}, by Berth {in_markdown(VERSION)} at {in_markdown(instant_text(change.now))}\n\n"
    for side in (change.base, change.head):
        if side.findings:
            yield _folded(
                in_markdown_html(f"{side.name}: {findinglist.count(side.findings)}"), _findings(side, depth)
            )
    if len(change.reservations) > FEW_RESERVATIONS or depth.titles < _ALL:
        yield from _list(wording.LOSSES, [line.text for line in loss_lines(change)], _ALL)
    policies = [wording.policy_line(result).text for result in change.policies]
    yield from _list(wording.POLICIES, policies, depth.warnings)
    permissions = [line.text for line in wording.permission_lines(change.permissions)]
    yield from _list(wording.PERMISSIONS, permissions, _ALL)
    yield from _shared(change, depth)
    ignored = [wording.ignored_line(finding).text for finding in change.ignored]
    yield from _list(wording.IGNORED, ignored, depth.warnings)
    yield from _reservations(by_effect(change, shown_whole(change)), depth)
    peaks = [wording.peak_line(peak, zone).text for peak in change.peaks]
    yield from _list(wording.PEAKS, peaks, depth.peaks)
    if change.plan:
        lines = [line.text.strip() for line in plan_lines(change.plan, zone)]
        yield from _list(wording.PLAN, lines, depth.peaks)
    yield from _warnings(change, depth)
    yield from _files(change.files, depth)


def _findings(side: SideSummary, depth: _Depth) -> str:
    shown = side.findings[: depth.warnings]
    more = len(side.findings) - len(shown)
    text = fenced(findinglist.text(shown, color=False), "text") if shown else ""
    return text + (f"and {more} more\n" if more else "")


def _shared(change: Change, depth: _Depth) -> Iterator[str]:
    """Yield each shared document with what it does; its reservations are folded unless they are few."""
    if not change.shared:
        return
    yield f"#### {wording.SHARED}\n\n"
    alone, joint = effects_by_document(change.shared, effects(change))
    for document in change.shared[: depth.titles]:
        effect = alone.get(document.key)
        title, *lines = shared_lines(document, change.reservations)
        yield f"**{in_markdown(title.sign)} {in_markdown(title.text)}**\n"
        yield "".join(f"- {_signed(line)}\n" for line in lines[: depth.warnings])
        more = len(lines) - depth.warnings
        yield f"- and {more} more\n\n" if more > 0 else "\n"
        if effect:
            yield from _courses(effect, depth)
    left = len(change.shared) - depth.titles
    if left > 0:
        yield f"and {number_of(left, 'more document')}\n\n"
    for effect in joint[: depth.titles]:
        line = joint_line(effect)
        yield f"**{in_markdown(line.sign)} {in_markdown(line.text)}**\n\n"
        yield from _courses(effect, depth)
    if len(joint) > depth.titles:
        yield f"and {len(joint) - depth.titles} more\n\n"


def _courses(effect: Effect, depth: _Depth) -> Iterator[str]:
    """Yield a folded line for each reservation of an effect."""
    if effect.is_small:
        return
    count = number_of(len(effect.reservations), "reservation")
    is_brief = len(effect.reservations) > _MANY
    lines = course_lines(effect, is_brief=is_brief)[: depth.reservations]
    yield _OPEN.format(count) + "".join(f"- {in_markdown(line.text)}\n" for line in lines)
    more = len(effect.reservations) - len(lines)
    yield (f"- and {more} more\n" if more else "") + _CLOSE


def _reservations(changes: Sequence[ReservationChange], depth: _Depth) -> Iterator[str]:
    """Yield the first reservations whole, and the others folded."""
    if len(changes) <= FEW_RESERVATIONS + 1:
        yield from _reservation_blocks(changes, depth)
        return
    retitled = [change for change in changes if change.is_retitled]
    changes = [change for change in changes if not change.is_retitled]
    yield from _folded_blocks(changes, depth)
    if retitled:
        yield _OPEN.format(in_markdown_html(titles_line(retitled).text))
        yield from _reservation_blocks(retitled, depth)
        yield _CLOSE


def _folded_blocks(changes: Sequence[ReservationChange], depth: _Depth) -> Iterator[str]:
    part = [*_reservation_blocks(changes, depth)]
    if len(part) <= FEW_RESERVATIONS + 1:
        yield from part
        return
    few = FEW_RESERVATIONS // 2
    yield from part[:few]
    yield _OPEN.format(f"and {number_of(len(changes) - few, 'more reservation')}")
    yield from part[few:]
    yield _CLOSE


def _reservation_blocks(changes: Sequence[ReservationChange], depth: _Depth) -> Iterator[str]:
    for number, reservation in enumerate(changes[: depth.titles]):
        title = wording.title_line(reservation)
        head = f"**{in_markdown(title.sign)} {in_markdown(title.text)}**\n"
        lines = wording.detail_lines(reservation) if number < depth.reservations else ()
        yield head + "".join(f"- {_signed(line)}\n" for line in lines) + "\n"
    left = len(changes) - depth.titles
    if left > 0:
        yield f"and {number_of(left, 'more reservation')}\n\n"


def _warnings(change: Change, depth: _Depth) -> Iterator[str]:
    """Yield the warnings; many of one kind are folded."""
    if not change.warnings:
        return
    yield f"#### {wording.WARNINGS}\n\n"
    left = depth.warnings
    for part in folded_warnings(change.warnings):
        lines, rest = part.lines[:left], part.rest[: max(0, left - len(part.lines))]
        yield "".join(f"- {in_markdown(line.text)}\n" for line in lines)
        if rest:
            folded_lines = "".join(f"- {in_markdown(line.text)}\n" for line in rest)
            yield "\n" + _folded(in_markdown_html(part.rest_name), folded_lines)
        left -= len(lines) + len(rest)
    more = len(change.warnings) - depth.warnings
    yield (f"- and {more} more\n" if more > 0 else "") + "\n"


def _signed(line: DiffLine) -> str:
    sign = f"`{line.sign}` " if line.sign.strip() else ""
    return sign + in_markdown(line.text)


def _list(heading: str, texts: Sequence[str], most: int) -> Iterator[str]:
    if texts:
        yield f"#### {heading}\n\n" + "".join(f"- {in_markdown(text)}\n" for text in texts[:most])
        if len(texts) > most:
            yield f"- and {len(texts) - most} more\n"
        yield "\n"


def _files(files: Sequence[FileChange], depth: _Depth) -> Iterator[str]:
    if not files:
        return
    objects = sum(len(file.objects) for file in files)
    title = f"Manifests: {number_of(len(files), 'file')}, {number_of(objects, 'object')}"
    yield _OPEN.format(title)
    for file in files[: depth.files]:
        yield from _file(file, depth)
    more = len(files) - depth.files
    yield f"and {number_of(more, 'more file')}\n" if more > 0 else ""
    yield "".join(f"- {_signed(line)}\n" for line in deleted_lines(files))
    yield _CLOSE


def _file(file: FileChange, depth: _Depth) -> Iterator[str]:
    yield f"- {_signed(wording.file_line(file))}\n"
    if depth.objects:
        yield "\n"
        for item in file.objects:
            yield _object(item, depth.context)


def _object(changed: ObjectChange, context: int | None) -> str:
    title = wording.object_title(changed)
    if context is None:
        return f"  {in_markdown(title)}\n\n"
    return _folded(
        in_markdown_html(title), fenced("".join(f"{line}\n" for line in changed.lines(context)), "diff")
    )


def _folded(summary: str, content: str) -> str:
    return f"{_OPEN.format(summary)}{content}{_CLOSE}"
