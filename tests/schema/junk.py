"""Put junk at any place of a document, and find what is wrong with the result."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from berth.findings import ERROR, Finding, Path, Problem, severity
from berth.pipeline import Pipeline
from berth.reading.document import Document
from berth.reading.scalar import ZeroPrefixedNumber
from berth.reading.source import Source
from berth.schema.declared import ReadDocument, read_document

# fmt: off
JUNK: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**299, float("nan"), "", "x", "A b", "a\n\x1b" * 9999,
    ZeroPrefixedNumber("0" * 9999),
    [], ["x"], {}, {"x": "y"}, {"a\n" * 999: "y"}, [[None]],
)
# fmt: on


def everything(documents: list[Any]) -> list[Problem]:
    """What is told of documents, each in a file of its own, from reading to ceilings."""

    def read_value(source: Source) -> tuple[list[ReadDocument], list[Finding]]:
        value = documents[ord(source.file[0]) - 97]
        return [read_document(Document(source.file, 0, value))], []

    sources = [Source(f"{chr(97 + i)}.yaml", b"") for i in range(len(documents))]
    pipeline = Pipeline(sources=sources, file_reader=read_value)
    assert len(pipeline.items()) <= len(documents)
    return [problem for problem in pipeline.problems if isinstance(problem, Problem)]


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    pairs: Any = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, inner in pairs:
        yield from places(inner, (*path, key))


def changed(value: Any, path: Path, junk: Any) -> Any:
    if not path:
        return junk
    made = deepcopy(value)
    holder = made
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = junk
    return made


def misspelt(value: Any, path: Path) -> Any:
    """The last key of the path with a letter too much."""
    made = deepcopy(value)
    holder = made
    for part in path[:-1]:
        holder = holder[part]
    holder[f"{path[-1]}s"] = holder.pop(path[-1])
    return made


def judge(file: int, documents: list[Any]) -> None:
    """Problems are sentences; and a document with an error in it makes no error in others."""
    problems = everything(documents)
    errors = [problem for problem in problems if severity(problem.code) == ERROR]
    for problem in problems:
        assert problem.message.endswith("."), problem
        assert problem.fix.endswith((".", "?", '"')), problem
        assert "object at 0x" not in problem.message + problem.fix, problem
        assert (problem.message + problem.fix).isprintable(), problem
        assert len(problem.message + problem.fix) < 500, problem
    name = f"{chr(97 + file)}.yaml"
    if any(error.file == name for error in errors):
        assert {error.file for error in errors} == {name}, documents[file]
