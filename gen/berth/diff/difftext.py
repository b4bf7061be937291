"""Format a change for a terminal: the summary, then reservations, peaks, warnings and files."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from berth.diff import sections, wording
from berth.diff.causes import course_lines, shared_parts, shown_whole
from berth.diff.change import Change, ReservationChange
from berth.diff.manifests import FileChange
from berth.diff.sections import FEW_RESERVATIONS, summary
from berth.diff.wording import DiffLine
from berth.output import findinglist
from berth.output.escape import visible
from berth.output.table import wrapped

_COLORS = {"+": "\x1b[32m", "-": "\x1b[31m", "~": "\x1b[33m", "!": "\x1b[33m", "@": "\x1b[36m"}
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_FEW_COURSES = 5  # of one cause
_FEW_TITLES = 20  # of reservations that are not shown whole
_FEW_LINES = 6  # of a section
_HINT = "; berth diff -o wide shows all"


class TextStyle(NamedTuple):
    """How to print. `columns` is the width of the terminal; None: do not wrap lines."""

    color: bool
    columns: int | None


def as_text(change: Change, zone: str, style: TextStyle, *, wide: bool) -> str:
    """Format a change. `zone` is the site's.

    With `wide`, show everything, also the lines of the manifests that differ; without, fold what is long.
    """
    names = visible(f"{change.base.name} -> {change.head.name}")
    blocks = [f"{_bold(wrapped(visible(summary(change)), style.columns, 0), style)}\n{names}\n"]
    for side in (change.base, change.head):
        if side.findings:
            most = None if wide else _FEW_LINES
            shown = findinglist.text(side.findings, color=style.color, columns=style.columns, most=most)
            blocks.append(f"{visible(side.name)}:\n{shown}")
    lists = sections.lists(change, zone)
    few = None if wide else _FEW_LINES
    warnings = [
        line
        for code, lines, rest in sections.folded_warnings(change.warnings)
        for line in (*lines, *(rest if wide else _more(rest, f" of {code}")))
    ]
    reservations = _reservations(sections.by_effect(change, shown_whole(change)), wide=wide)
    files = _manifests(change.files) if wide else sections.file_lines(change.files)
    has_losses = not wide and len(change.reservations) > FEW_RESERVATIONS
    for heading, lines in (
        (sections.LOSSES, lists[sections.LOSSES] if has_losses else []),
        (sections.POLICIES, _shortened(lists[sections.POLICIES], few)),
        (sections.PERMISSIONS, lists[sections.PERMISSIONS]),
        (sections.SHARED, [*_shared(change, None if wide else _FEW_COURSES)]),
        (sections.IGNORED, _shortened(lists[sections.IGNORED], few)),
        *(("", lines) for lines in reservations),
        (sections.PEAKS, _shortened(lists[sections.PEAKS], few)),
        (sections.PLAN, _shortened(lists[sections.PLAN], few)),
        (sections.WARNINGS, warnings),
        (sections.MANIFESTS, [*files]),
    ):
        title = f"{_bold(heading, style)}\n" if heading else ""
        blocks += [title + "".join(f"{_line(line, style)}\n" for line in lines)] if lines else []
    return "\n".join(blocks)


def _shortened(lines: Sequence[DiffLine], most: int | None, of: str = "") -> Sequence[DiffLine]:
    """Fold the lines after the first ones. `most`: None for all of them."""
    shown, rest = sections.folded(lines, len(lines) if most is None else most)
    return [*shown, *_more(rest, of)]


def _more(rest: Sequence[DiffLine], of: str) -> list[DiffLine]:
    return [DiffLine(" ", f"and {len(rest)} more{of}{_HINT}")] if rest else []


def _shared(change: Change, most: int | None) -> Iterator[DiffLine]:
    """Yield the shared documents with what they do, and their reservations unless these are shown whole."""
    for lines, group in shared_parts(change):
        yield from lines
        yield from _indented(_shortened(course_lines(group), most)) if group else ()


def _indented(lines: Sequence[DiffLine]) -> list[DiffLine]:
    return [DiffLine(line.sign, f"  {line.text}") for line in lines]


def _reservations(changes: Sequence[ReservationChange], *, wide: bool) -> list[Sequence[DiffLine]]:
    if wide or len(changes) <= FEW_RESERVATIONS:
        return [[wording.title_line(change), *_indented(wording.detail_lines(change))] for change in changes]
    retitled = [change for change in changes if change.is_retitled]
    lines = [wording.line_of(change) for change in changes if not change.is_retitled]
    titles = [sections.titles_line(retitled)] if retitled else []
    return [[*_shortened(lines, _FEW_TITLES, " reservations"), *titles]]


def _manifests(files: Sequence[FileChange]) -> Iterator[DiffLine]:
    for file in files:
        yield wording.file_line(file)
        for item in file.objects:
            yield DiffLine(" ", f"  {wording.object_title(item)}")
            yield from map(_manifest_line, item.lines())
    yield from sections.deleted_lines(files)


def _manifest_line(line: str) -> DiffLine:
    if line.startswith("@@"):
        return DiffLine("@", f"   {line[2:]}")
    return DiffLine(line[:1], f"    {line[1:]}")


def _line(line: DiffLine, style: TextStyle) -> str:
    shown = f"{line.sign} {visible(line.text)}".rstrip()
    if line.sign != "@":
        indent = len(line.text) - len(line.text.lstrip()) + 6
        shown = wrapped(shown, style.columns, indent)
    if not style.color or line.sign not in _COLORS:
        return shown
    return f"{_COLORS[line.sign]}{shown}{_PLAIN}"


def _bold(text: str, style: TextStyle) -> str:
    return f"{_BOLD}{text}{_PLAIN}" if style.color else text
