"""Find where a character that looks like another keeps a text from being what its author sees.

A character is to blame if the fault is not there, or the values are others, once it is what it looks like.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from berth.findings import Fault
from berth.reading.lookalikes import COLONS, DASHES, LOOKALIKE, MEANT, NOTHING, SPACES, instead, named
from berth.reading.text import Lines
from berth.reading.tree import TextNode, trees

_STRUCTURE = ("B003", "B005")
_QUOTES = ("'", '"')
_NOT_PLAIN = ("'", '"', "|", ">", "*")  # how other scalars than plain ones begin
_MOST_TRIALS = 40  # each reads the text again
_DOUBTFUL = re.compile(f"[{SPACES}{NOTHING}{COLONS}]|^[ \\t]*[{DASHES}]", re.M)


def blame(lines: Lines, faults: Sequence[Fault[int]]) -> list[Fault[int]]:
    """Return the faults; the first of YAML's structure names a character without which it is not there."""
    for i, fault in enumerate(faults):
        at = _culprit(lines, fault) if fault.code in _STRUCTURE else None
        if at is not None:
            mended = Fault(fault.code, at, *_mistaken(lines.text[at]))
            return [*faults[:i], mended, *faults[i + 1 :]]
    return list(faults)


def _mistaken(character: str) -> tuple[str, str]:
    """Return message and fix for one in the structure of the file."""
    if MEANT[character] == "":
        return f"{named(character)}, which is invisible, among the keys and values.", "Remove it."
    meant = MEANT[character].strip() or "a space"
    return f"{named(character)} in place of {meant}.", f"Write {meant}."


def _culprit(lines: Lines, fault: Fault[int]) -> int | None:
    """Return the character near the fault, mostly before it, without which it goes away or moves on."""
    text = lines.text
    line, _ = lines.place(fault.at)
    end = text.find("\n", text.find("\n", fault.at) + 1)  # of the next line
    end = max(end, fault.at + 1) if end >= 0 else len(text)
    near = [match.start() for match in LOOKALIKE.finditer(text, 0, end)][-_MOST_TRIALS:]
    near = [at for at in reversed(near) if _may_be_blamed(text, at, line - lines.place(at)[0])]
    for at in near:
        if _is_gone(text, [at], fault):
            return at
    return near[-1] if near and _is_gone(text, near, fault) else None


def _may_be_blamed(text: str, at: int, lines_before: int) -> bool:
    """Tell whether a character may cause a fault so many lines below.

    A quote that opened in place of it would hide whatever is between; one that is open already ends too late.
    """
    quote = MEANT[text[at]]
    if quote in _QUOTES and lines_before > 0:
        return lines_before == 1 and quote in text[text.rfind("\n", 0, at) + 1 : at]
    return lines_before < _MOST_TRIALS


def _is_gone(text: str, places: Sequence[int], fault: Fault[int]) -> bool:
    """Tell whether the text has no such fault up to there once the characters are what they look like.

    Or, as pasted spaces of an indentation may be too many, once they are not there.
    """
    for with_spaces in (True, False):
        moved = sum(len(_meant(text[at], with_spaces)) - 1 for at in places if at < fault.at)
        _, faults = trees(Lines(_replaced(text, places, with_spaces)))
        if all(other.at > fault.at + moved for other in faults if other.code in _STRUCTURE):
            return True
    return False


def _meant(character: str, with_spaces: bool) -> str:
    meant = MEANT[character]
    return meant if with_spaces or meant != " " else ""


def _replaced(text: str, places: Sequence[int], with_spaces: bool = True) -> str:
    parts, last = [], 0
    for at in sorted(places):
        parts += [text[last:at], _meant(text[at], with_spaces)]
        last = at + 1
    return "".join([*parts, text[last:]])


def misread(lines: Lines) -> list[Fault[int]]:
    """Return a warning for each such character that makes a valid text another one than its author sees.

    For instance, a no-break space after the last letter of a title, or before a comment, belongs to the
    title; and a line that begins with an en dash goes on with the text of the line before.
    """
    if not _DOUBTFUL.search(lines.text):
        return []
    roots, faults = trees(lines)
    places = [at for root in roots for leaf in _leaves(root) for at in _doubtful(lines.text, leaf)]
    if faults or not places:
        return []
    blamed: list[int] = []
    while more := _misleading(lines.text, sorted({*places} - {*blamed}), blamed):
        blamed += more  # without these, others are at the end of a text
    return [
        Fault(
            "B242",
            at,
            f"{named(lines.text[at])} is read as part of the text.",
            f"{instead(lines.text[at])}; or put the text in quotes if it is meant.",
        )
        for at in sorted(blamed)[:_MOST_TRIALS]
    ]


def _misleading(text: str, places: Sequence[int], mended: Sequence[int]) -> list[int]:
    """Return those of the places that change what is read, once others are mended."""
    read = _comparable(trees(Lines(_replaced(text, mended)))[0])

    def changes(some: Sequence[int]) -> bool:
        new, faults = trees(Lines(_replaced(text, [*mended, *some])))
        return bool(faults) or _comparable(new) != read

    return list(islice(_culprits(places, changes), _MOST_TRIALS))


def _leaves(node: TextNode) -> Iterator[TextNode]:
    stack = [node]
    while stack:
        found = stack.pop()
        if isinstance(found.value, dict | list):
            stack += found.children
        else:
            yield found


def _doubtful(text: str, leaf: TextNode) -> Iterator[int]:
    """Yield the characters of a scalar without quotes that may be meant as YAML's own."""
    if text.startswith(_NOT_PLAIN, leaf.at):
        return
    for match in LOOKALIKE.finditer(text, leaf.at, leaf.end):
        at, character = match.start(), match[0]
        line = text[leaf.at : at].rpartition("\n")
        is_first = bool(line[1]) and not line[2].strip()  # in a line that goes on with the text of one before
        if (
            character in SPACES + NOTHING
            or (line[1] and character in COLONS)
            or (is_first and character in DASHES)
        ):
            yield at


def _comparable(roots: Sequence[TextNode]) -> object:
    """Return the values with every such character as what it looks like, and blanks at the ends shown."""

    def plain(value: object) -> object:
        if isinstance(value, dict):
            return [(plain(key), plain(inner)) for key, inner in value.items()]
        if isinstance(value, list):
            return [plain(inner) for inner in value]
        if type(value) is not str:
            return value
        marked = re.sub(f"^[{NOTHING}]+|[{NOTHING}]+$", lambda match: "\0" * len(match[0]), value)
        return re.sub(r"(?<=\S) +(?=\S)", " ", LOOKALIKE.sub(lambda match: MEANT[match[0]], marked))

    return [plain(root.value) for root in roots]


def _culprits(places: Sequence[int], changes: Callable[[Sequence[int]], bool]) -> Iterator[int]:
    """Yield those of the places that change the values, by halves: mostly none does."""
    if not places or not changes(places):
        return
    if len(places) == 1:
        yield places[0]
        return
    half = len(places) // 2
    for some in (places[:half], places[half:]):
        yield from _culprits(some, changes)
