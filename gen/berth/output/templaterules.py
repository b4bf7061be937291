"""Check that a template has only text, holes with one of our filters, `if` on a boolean, and plain loops.

Nothing else: values arrive finished, so a template computes nothing, cannot run for ever, and no value can
change the structure of what is rendered. The rules hold for our own templates and for those of a user. Pure.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from jinja2 import nodes

FILTERS = ("quote", "number", "block", "literal")
_WITH_INDENT = ("block", "literal")
_WORDS = {
    "Assign": "set",
    "AssignBlock": "set",
    "CallBlock": "call",
    "FilterBlock": "filter",
    "FromImport": "from",
    "ScopedEvalContextModifier": "autoescape",
}


class Broken(NamedTuple):
    """A rule that a template breaks; `line` counts from 1."""

    line: int
    message: str
    fix: str


def broken_rules(template: nodes.Template, source: str) -> list[Broken]:
    """Return every broken rule, by line. `template` was parsed from `source`, whose lines end in line feeds.

    Layout is looked at when nothing else is wrong: then every filter is that of a hole.
    """
    return sorted(_in_body(template.body, looping=False)) or sorted(_in_layout(template, source))


def _in_body(body: list[nodes.Node], *, looping: bool) -> Iterator[Broken]:
    for node in body:
        if isinstance(node, nodes.Output):
            for part in node.nodes:
                yield from _in_output(part)
        elif isinstance(node, nodes.If):
            yield from _in_if(node, looping=looping)
        elif isinstance(node, nodes.For):
            yield from _in_for(node, looping=looping)
        else:
            statement = node.body[0] if isinstance(node, nodes.Scope) else node  # a scope has no line
            word = _WORDS.get(type(statement).__name__, type(statement).__name__.lower())
            yield Broken(
                statement.lineno, f"`{word}` computes.", "Use only `if`, `for` and {{ value | filter }}."
            )


def _in_output(part: nodes.Node) -> Iterator[Broken]:
    if isinstance(part, nodes.TemplateData):
        return
    if not isinstance(part, nodes.Filter) or part.name not in FILTERS:
        yield Broken(
            part.lineno,
            "A value is written without one of our filters, so it could change the structure.",
            f"End the hole in exactly one of {', '.join(FILTERS)}.",
        )
        return
    if part.node is None or not _is_name(part.node):
        yield Broken(
            part.lineno, f"`{part.name}` is given an expression.", "Give it the name of a finished value."
        )
    if not _has_its_arguments(part):
        yield Broken(
            part.lineno,
            f"`{part.name}` has other arguments than it takes.",
            "Write quote, number, block(n) or literal(n), where n is a number of spaces.",
        )


def _has_its_arguments(part: nodes.Filter) -> bool:
    if part.kwargs or part.dyn_args or part.dyn_kwargs:
        return False
    given = [argument.value if isinstance(argument, nodes.Const) else None for argument in part.args]
    return len(given) == (part.name in _WITH_INDENT) and all(type(value) is int for value in given)


def _in_if(node: nodes.If, *, looping: bool) -> Iterator[Broken]:
    for branch in (node, *node.elif_):
        if not _is_name(branch.test):
            yield Broken(branch.lineno, "`if` is given an expression.", "Ask the name of a prepared boolean.")
        yield from _in_body(branch.body, looping=looping)
    yield from _in_body(node.else_, looping=looping)


def _in_for(node: nodes.For, *, looping: bool) -> Iterator[Broken]:
    if looping:
        yield Broken(
            node.lineno, "A loop stands in a loop.", "Use `block` for values with an inner structure."
        )
    if not _is_name(node.iter) or node.test is not None or node.recursive:
        yield Broken(
            node.lineno, "`for` is given an expression.", "Go through the name of a list, and all of it."
        )
    yield from _in_body(node.body, looping=True)
    yield from _in_body(node.else_, looping=looping)


def _is_name(node: nodes.Node) -> bool:
    """A name, or a named part of one: `pool`, `pool.replicas`."""
    while isinstance(node, nodes.Getattr):
        node = node.node
    return isinstance(node, nodes.Name)


# Layout: a written value is one token of YAML, or a block of lines. It stays one only as a whole key or value
# and at its column. Tags on lines of their own leave nothing else behind. \0 stands for a hole.
_TAG = re.compile(r"(\{%.*?%\}|\{#.*?#\})", re.DOTALL)
_HOLE = re.compile(r"\{\{ [^{}]* \}\}")
_QUOTED = r'"[^"\\\0]*"'
_KEY = rf"(?:\0|{_QUOTED}|[\w./-]+)"
_IN_FLOW = rf"""(?:(?:(?<=[\[{{])|(?<=[,:][ ]))\0(?=[,:\]}}])|{_QUOTED}|[^\0"'#])*"""
_whole_keys_and_values = re.compile(
    rf" *(?:- )*(?:(?:{_KEY}: )?(?:\0|[\[{{]{_IN_FLOW})|\0:(?: {_QUOTED}| [\w./-]+)?)"
).fullmatch


def _in_layout(template: nodes.Template, source: str) -> Iterator[Broken]:
    yield from _in_tags(_TAG.split(source))
    lines = [_HOLE.sub("\0", line) for line in source.split("\n")]
    holes: dict[int, list[nodes.Filter]] = {}
    for hole in template.find_all(nodes.Filter):
        holes.setdefault(hole.lineno, []).append(hole)
    for number, filters in holes.items():
        line = lines[number - 1]
        if line.count("\0") != len(filters) or not _whole_keys_and_values(line):
            yield Broken(
                number,
                "A hole is not a whole key or value.",
                "Write `key: ` or `- ` before it and nothing after it; in [] and {} separators are enough.",
            )
        for hole in filters:
            yield from _in_indent(hole, line)


def _in_tags(pieces: list[str]) -> Iterator[Broken]:
    """`pieces` is a source in which every second piece is a tag or a comment."""
    for index in range(1, len(pieces), 2):
        before, tag, after = pieces[index - 1 : index + 2]
        begins = before.rpartition("\n")[2].strip(" ") == ""
        ends = after.startswith("\n") or (not after and index + 2 == len(pieces))
        if not begins or not ends or tag[2] in "+-" or tag[-3] in "+-":
            line = "".join(pieces[:index]).count("\n") + 1
            yield Broken(
                line,
                "A tag or comment shares its line, or takes away space, so lines could grow together.",
                "Give {% ... %} and {# ... #} lines of their own, without - and +.",
            )


def _in_indent(hole: nodes.Filter, line: str) -> Iterator[Broken]:
    indent = hole.args[0].value if hole.args and isinstance(hole.args[0], nodes.Const) else 0
    if hole.name == "block" and line != " " * indent + "\0":
        yield Broken(
            hole.lineno,
            f"`block({indent})` does not stand alone on a line, {indent} spaces from the left.",
            "Give it a line of its own, and the number of spaces before it.",
        )
    column = len(line) - len(line.lstrip(" -"))
    if hole.name == "literal" and not (line.endswith(": \0") and indent > column):
        yield Broken(
            hole.lineno,
            f"`literal({indent})` does not end a line `key: ` that begins at less than {indent} spaces.",
            "Write it directly after `key: `, and give it two spaces more than the key has.",
        )
