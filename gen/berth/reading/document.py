"""Read the documents of a file as plain values, and find what is wrong with its text.

Reading never raises an exception, whatever the bytes are.
"""

from typing import NamedTuple

from berth.findings import Fault, FilePlace, Finding, Origin
from berth.reading.scalar import Value
from berth.reading.source import Source
from berth.reading.text import Lines, decode
from berth.reading.tree import trees


class Document(NamedTuple):
    """A document that is not empty. `index` counts from 0 among all of the file, empty ones too."""

    file: str
    index: int  # type: ignore[assignment] # hides tuple.index
    value: Value

    @property
    def origin(self) -> Origin:
        return Origin(self.file, self.index)


def parse(source: Source) -> tuple[list[Document], list[Finding]]:
    """Return the documents before the first that cannot be read, and everything that is wrong.

    A document is among them if the rest of it is certain despite its fault, such as a duplicate key. So one
    run reports all of its problems.
    """
    text, fault = decode(source.text)
    lines = Lines(text)
    faults: list[Fault[int]] = []
    values: list[Value] = []
    if fault is not None:
        faults = [fault]
    else:
        roots, faults = trees(lines)
        values = [root.value for root in roots]
        if not text.isascii():
            from berth.reading.misreading import blame, misread  # noqa: PLC0415 - most files are ASCII

            faults = blame(lines, faults) if faults else misread(lines)
    documents = [Document(source.file, at, value) for at, value in enumerate(values) if value is not None]
    if not documents and not faults:
        faults = [Fault("B007", 0, "the file is empty.", "Write a document, or remove the file.")]
    return documents, [
        FilePlace(source.file, *lines.place(fault.at)).finding(fault.code, fault.message, fault.fix)
        for fault in faults
    ]
