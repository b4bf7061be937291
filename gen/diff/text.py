"""A change for a terminal: the verdict, then reservations, peaks, warnings and files."""

from collections.abc import Sequence

from gen import report
from gen.diff import said
from gen.diff.change import Change, Side
from gen.diff.manifests import FileChange
from gen.diff.said import Line

_COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "~": "\x1b[33m", "!": "\x1b[33m", "@": "\x1b[36m"}
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def text(change: Change, zone: str, *, colour: bool, wide: bool) -> str:
    """`zone` is the site's, for what has none of its own. `wide`: with the lines of the manifests."""
    blocks = [f"{_bold(said.verdict(change), colour)}\n{change.base.name} -> {change.head.name}\n"]
    blocks += [_findings(side, colour) for side in (change.base, change.head) if side.findings]
    for one in change.reservations:
        lines = [said.title(one), *(Line(line.sign, f"  {line.text}") for line in said.details(one))]
        blocks.append(_lines(lines, colour))
    blocks += _part("Peaks", [said.peak(one, zone) for one in change.peaks], colour)
    warnings = [
        Line("!", f"{one.subject}: {one.message}" if one.subject else one.message) for one in change.warnings
    ]
    blocks += _part("Think of this before you merge", warnings, colour)
    blocks += _files(change.files, wide, colour)
    return "\n".join(blocks)


def _findings(side: Side, colour: bool) -> str:
    return f"{side.name}:\n{report.text(side.findings, colour=colour)}"


def _part(heading: str, lines: Sequence[Line], colour: bool) -> list[str]:
    return [f"{_bold(heading, colour)}\n{_lines(lines, colour)}"] if lines else []


def _files(files: Sequence[FileChange], wide: bool, colour: bool) -> list[str]:
    lines = []
    for one in files:
        lines.append(said.file(one))
        for item in one.objects if wide else ():
            lines.append(Line(" ", f"  {said.object_title(item)}"))
            lines += [Line(line[:1] if line[:1] in "+-@" else " ", f"    {line}") for line in item.lines()]
    return _part("Manifests", lines, colour)


def _lines(lines: Sequence[Line], colour: bool) -> str:
    return "".join(f"{_line(one, colour)}\n" for one in lines)


def _line(line: Line, colour: bool) -> str:
    shown = f"{line.sign} {line.text}".rstrip()
    if not colour or line.sign not in _COLOURS:
        return shown
    return f"{_COLOURS[line.sign]}{shown}{_PLAIN}"


def _bold(words: str, colour: bool) -> str:
    return f"{_BOLD}{words}{_PLAIN}" if colour else words
