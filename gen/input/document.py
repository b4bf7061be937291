"""Which documents a file holds, as plain values; and what is wrong with its text.

Good files are read quickly and need no place. Whatever is not plainly good is read once more by the whole
grammar, which is imported only then. Reading never raises, whatever the bytes are.
"""

from typing import TYPE_CHECKING, NamedTuple

from gen.input import subset
from gen.input.scalar import Value
from gen.input.source import Source
from gen.input.text import Fault, Lines, Syntax, decode

if TYPE_CHECKING:
    from gen.input.node import Node  # needless for good files


class Document(NamedTuple):
    """A document that is not empty. `index` counts from 0 among all of the file, empty ones too."""

    file: str
    index: int  # type: ignore[assignment] # hides tuple.index, which nobody misses
    value: Value


def parse(source: Source) -> tuple[list[Document], list[Syntax]]:
    """The documents before the first that cannot be read, and everything that is wrong with the text.

    A document whose fault leaves no doubt about the rest (a key twice, a tag) is among them, so that one run
    tells all that is wrong with it.
    """
    text, fault = decode(source.text)
    lines = Lines(text)
    faults = [] if fault is None else [fault]
    values = [] if faults else _quickly(text)
    if values is None:
        nodes, faults = trees(lines)
        values = [node.value for node in nodes]
    documents = [Document(source.file, at, value) for at, value in enumerate(values) if value is not None]
    if not documents and not faults:
        faults = [Fault("B007", 0, "the file has no document in it.", "Write one, or remove the file.")]
    return documents, [Syntax(f.code, source.file, *lines.place(f.at), f.message, f.fix) for f in faults]


def trees(lines: Lines) -> "tuple[list[Node], list[Fault]]":
    """The documents as trees, empty ones too, up to where reading cannot go on; and all faults."""
    if _may_be_json(lines.text):
        from gen.input import jsontree  # noqa: PLC0415 - most files are YAML

        found = jsontree.tree(lines)
        if found is not None:
            return found
    from gen.input import yamltree  # noqa: PLC0415 - dear, and needless for good files

    return yamltree.trees(lines)


def _quickly(text: str) -> list[Value] | None:
    """The values of a text that is plainly good; `None` says nothing about the text."""
    if not _may_be_json(text):
        return subset.read(text)
    from gen.input import jsontree  # noqa: PLC0415 - most files are YAML

    try:
        return [jsontree.value(text)]
    except ValueError:
        return None


def _may_be_json(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[")
