"""Format a change for a terminal: the summary, then reservations, peaks, warnings and files."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from berth.diff import wording
from berth.diff.causes import (
    course_lines,
    effects,
    effects_by_document,
    joint_line,
    shared_lines,
    shown_whole,
)
from berth.diff.change import Change, ReservationChange, SideSummary
from berth.diff.folding import FEW_RESERVATIONS, deleted_lines, file_lines, folded, folded_warnings
from berth.diff.headline import summary
from berth.diff.losses import by_effect, loss_lines, titles_line
from berth.diff.manifests import FileChange
from berth.diff.planwording import plan_lines
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
    blocks = [f"{_bold(_wrapped(visible(summary(change)), style), style)}\n{names}\n"]
    blocks += [_findings(side, style, wide=wide) for side in (change.base, change.head) if side.findings]
    policies = [wording.policy_line(result) for result in change.policies]
    permissions = wording.permission_lines(change.permissions)
    ignored = [wording.ignored_line(finding) for finding in change.ignored]
    peaks = [wording.peak_line(peak, zone) for peak in change.peaks]
    plan = [*plan_lines(change.plan, zone)] if change.plan else []
    if not wide and len(change.reservations) > FEW_RESERVATIONS:
        blocks += _part(wording.LOSSES, [*loss_lines(change)], style)
    blocks += _folded_part(wording.POLICIES, policies, style, wide=wide)
    blocks += _part(wording.PERMISSIONS, permissions, style)
    blocks += _part(wording.SHARED, [*_shared(change, wide=wide)], style)
    blocks += _folded_part(wording.IGNORED, ignored, style, wide=wide)
    blocks += _reservations(by_effect(change, shown_whole(change)), style, wide=wide)
    blocks += _folded_part(wording.PEAKS, peaks, style, wide=wide)
    blocks += _folded_part(wording.PLAN, plan, style, wide=wide)
    warnings = [
        line
        for part in folded_warnings(change.warnings)
        for line in (part.whole() if wide else part.shortened(_HINT))
    ]
    blocks += _part(wording.WARNINGS, warnings, style)
    blocks += _files(change.files, style, wide=wide)
    return "\n".join(blocks)


def _findings(side: SideSummary, style: TextStyle, *, wide: bool) -> str:
    most = None if wide else _FEW_LINES
    shown = findinglist.text(side.findings, color=style.color, columns=style.columns, most=most)
    return f"{visible(side.name)}:\n{shown}"


def _part(heading: str, lines: Sequence[DiffLine], style: TextStyle) -> list[str]:
    return [f"{_bold(heading, style)}\n{_lines(lines, style)}"] if lines else []


def _folded_part(heading: str, lines: Sequence[DiffLine], style: TextStyle, *, wide: bool) -> list[str]:
    shown = lines if wide else folded(lines, _FEW_LINES).shortened(_HINT)
    return _part(heading, shown, style)


def _shared(change: Change, *, wide: bool) -> Iterator[DiffLine]:
    """Yield the shared documents with what they do, and their reservations unless these are shown whole."""
    alone, joint = effects_by_document(change.shared, effects(change))
    pairs = [
        (shared_lines(document, change.reservations), alone.get(document.key)) for document in change.shared
    ]
    pairs += [(iter([joint_line(effect)]), effect) for effect in joint]
    for lines, effect in pairs:
        yield from lines
        if effect and not effect.is_small:
            courses = [DiffLine(line.sign, f"  {line.text}") for line in course_lines(effect)]
            part = folded(courses, _FEW_COURSES)
            part = part._replace(rest_name=f"  {part.rest_name}")
            yield from part.whole() if wide else part.shortened(_HINT)


def _reservations(changes: Sequence[ReservationChange], style: TextStyle, *, wide: bool) -> list[str]:
    if wide or len(changes) <= FEW_RESERVATIONS:
        return [_lines([wording.title_line(change), *_details(change)], style) for change in changes]
    retitled = [change for change in changes if change.is_retitled]
    lines = [wording.line_of(change) for change in changes if not change.is_retitled]
    part = folded(lines, _FEW_TITLES, "reservation")
    titles = [titles_line(retitled)] if retitled else []
    return [_lines([*part.shortened(_HINT), *titles], style)]


def _details(one: ReservationChange) -> Iterator[DiffLine]:
    return (DiffLine(line.sign, f"  {line.text}") for line in wording.detail_lines(one))


def _files(files: Sequence[FileChange], style: TextStyle, *, wide: bool) -> list[str]:
    if not wide:
        return _part(wording.MANIFESTS, [*file_lines(files, is_whole=False)], style)
    lines = []
    for file in files:
        lines.append(wording.file_line(file))
        for item in file.objects:
            lines.append(DiffLine(" ", f"  {wording.object_title(item)}"))
            lines += [_manifest_line(line) for line in item.lines()]
    lines += deleted_lines(files)
    return _part(wording.MANIFESTS, lines, style)


def _manifest_line(line: str) -> DiffLine:
    if line.startswith("@@"):
        return DiffLine("@", f"   {line[2:]}")
    return DiffLine(line[:1], f"    {line[1:]}")


def _lines(lines: Sequence[DiffLine], style: TextStyle) -> str:
    return "".join(f"{_line(line, style)}\n" for line in lines)


def _line(line: DiffLine, style: TextStyle) -> str:
    shown = f"{line.sign} {visible(line.text)}".rstrip()
    if line.sign != "@":
        indent = len(line.text) - len(line.text.lstrip()) + 6
        shown = _wrapped(shown, style, indent)
    if not style.color or line.sign not in _COLORS:
        return shown
    return f"{_COLORS[line.sign]}{shown}{_PLAIN}"


def _wrapped(text: str, style: TextStyle, indent: int = 0) -> str:
    return wrapped(text, style.columns, indent)


def _bold(text: str, style: TextStyle) -> str:
    return f"{_BOLD}{text}{_PLAIN}" if style.color else text
