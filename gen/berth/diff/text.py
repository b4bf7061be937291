"""A change for a terminal: the verdict, then reservations, peaks, warnings and files."""

from collections.abc import Sequence
from textwrap import fill
from typing import NamedTuple

from berth.diff import wording
from berth.diff.change import Change, Side
from berth.diff.manifests import FileChange
from berth.diff.wording import Line
from berth.output import report
from berth.output.table import visible

_COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "~": "\x1b[33m", "!": "\x1b[33m", "@": "\x1b[36m"}
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


class Look(NamedTuple):
    """`columns` None: lines are as long as they are."""

    colour: bool
    columns: int | None


def text(change: Change, zone: str, look: Look, *, wide: bool) -> str:
    """`zone` is the site's, for what has none of its own. `wide`: with the lines of the manifests."""
    names = visible(f"{change.base.name} -> {change.head.name}")
    blocks = [f"{_bold(visible(wording.verdict(change)), look)}\n{names}\n"]
    blocks += [_findings(side, look) for side in (change.base, change.head) if side.findings]
    for one in change.reservations:
        lines = [wording.title(one), *(Line(line.sign, f"  {line.text}") for line in wording.details(one))]
        blocks.append(_lines(lines, look))
    blocks += _part("Peaks", [wording.peak(one, zone) for one in change.peaks], look)
    if change.plan:
        blocks += _part(wording.HEADING, [*wording.plan_lines(change.plan, zone)], look)
    warnings = [wording.warning(one) for one in change.warnings]
    blocks += _part("Think of this before you merge", warnings, look)
    blocks += _files(change.files, look, wide=wide)
    return "\n".join(blocks)


def _findings(side: Side, look: Look) -> str:
    return f"{visible(side.name)}:\n{report.text(side.findings, color=look.colour)}"


def _part(heading: str, lines: Sequence[Line], look: Look) -> list[str]:
    return [f"{_bold(heading, look)}\n{_lines(lines, look)}"] if lines else []


def _files(files: Sequence[FileChange], look: Look, *, wide: bool) -> list[str]:
    lines = []
    for one in files:
        lines.append(wording.file(one))
        for item in one.objects if wide else ():
            lines.append(Line(" ", f"  {wording.object_title(item)}"))
            lines += [_manifest_line(line) for line in item.lines()]
    return _part("Manifests", lines, look)


def _manifest_line(line: str) -> Line:
    return Line("@", f"   {line[2:]}") if line.startswith("@@") else Line(line[:1], f"    {line[1:]}")


def _lines(lines: Sequence[Line], look: Look) -> str:
    return "".join(f"{_line(one, look)}\n" for one in lines)


def _line(line: Line, look: Look) -> str:
    shown = f"{line.sign} {visible(line.text)}".rstrip()
    if look.columns is not None and len(shown) > look.columns:
        indent = " " * (len(line.text) - len(line.text.lstrip()) + 6)
        shown = fill(shown, look.columns, subsequent_indent=indent, break_on_hyphens=False)
    if not look.colour or line.sign not in _COLOURS:
        return shown
    return f"{_COLOURS[line.sign]}{shown}{_PLAIN}"


def _bold(words: str, look: Look) -> str:
    return f"{_BOLD}{words}{_PLAIN}" if look.colour else words
