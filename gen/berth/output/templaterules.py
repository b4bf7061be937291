"""Check that a template has only text, values with filters of Berth, `if` on a boolean, and plain loops.

So a template cannot compute anything or run forever, and a value cannot change the structure of the result.
The rules apply to the built-in templates and to those of users.
"""

import re
from collections.abc import Iterator

from jinja2 import nodes

from berth.findings import Fault

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


BROKEN = "B096"


def _broken(line: int, message: str, fix: str) -> Fault[int]:
    return Fault(BROKEN, line, message, fix)


def broken_rules(template: nodes.Template, source: str) -> list[Fault[int]]:
    """Return every broken rule, by line. `template` was parsed from `source`, whose lines end in line feeds.

    The layout is only checked if nothing else is wrong, because then every filter belongs to a value.
    """
    return sorted(_in_body(template.body, looping=False)) or sorted(_in_layout(template, source))


def _in_body(body: list[nodes.Node], *, looping: bool) -> Iterator[Fault[int]]:
    for node in body:
        if isinstance(node, nodes.Output):
            for part in node.nodes:
                yield from _in_output(part)
        elif isinstance(node, nodes.If):
            yield from _in_if(node, looping=looping)
        elif isinstance(node, nodes.For):
            yield from _in_for(node, looping=looping)
        else:
            statement = node.body[0] if isinstance(node, nodes.Scope) else node  # a Scope node has no line
            word = _WORDS.get(type(statement).__name__, type(statement).__name__.lower())
            yield _broken(
                statement.lineno, f"`{word}` computes.", "Use only `if`, `for` and {{ value | filter }}."
            )


def _in_output(part: nodes.Node) -> Iterator[Fault[int]]:
    if isinstance(part, nodes.TemplateData):
        return
    if not isinstance(part, nodes.Filter) or part.name not in FILTERS:
        yield _broken(
            part.lineno,
            "A value has none of the filters of Berth, so it could change the structure.",
            f"End it with exactly one of {', '.join(FILTERS)}.",
        )
        return
    if part.node is None or not _is_name(part.node):
        yield _broken(part.lineno, f"`{part.name}` is given an expression.", "Use the name of a value.")
    if not _has_its_arguments(part):
        yield _broken(
            part.lineno,
            f"`{part.name}` has wrong arguments.",
            "Write quote, number, block(n) or literal(n), where n is a number of spaces.",
        )


def _has_its_arguments(part: nodes.Filter) -> bool:
    if part.kwargs or part.dyn_args or part.dyn_kwargs:
        return False
    given = [argument.value if isinstance(argument, nodes.Const) else None for argument in part.args]
    return len(given) == (part.name in _WITH_INDENT) and all(type(value) is int for value in given)


def _in_if(node: nodes.If, *, looping: bool) -> Iterator[Fault[int]]:
    for branch in (node, *node.elif_):
        if not _is_name(branch.test):
            yield _broken(branch.lineno, "`if` is given an expression.", "Use the name of a boolean.")
        yield from _in_body(branch.body, looping=looping)
    yield from _in_body(node.else_, looping=looping)


def _in_for(node: nodes.For, *, looping: bool) -> Iterator[Fault[int]]:
    if looping:
        yield _broken(
            node.lineno, "A loop is inside another loop.", "Use `block` for values with an inner structure."
        )
    if not _is_name(node.iter) or node.test is not None or node.recursive:
        yield _broken(
            node.lineno, "`for` is given an expression.", "Use the name of a list, without a condition."
        )
    yield from _in_body(node.body, looping=True)
    yield from _in_body(node.else_, looping=looping)


def _is_name(node: nodes.Node) -> bool:
    """Tell whether the node is a name or an attribute of one: `pool`, `pool.replicas`."""
    while isinstance(node, nodes.Getattr):
        node = node.node
    return isinstance(node, nodes.Name)


# Layout: a value is rendered as one token of YAML or as a block of lines, so it must be a complete key or
# value at the right column. Tags must be on separate lines. \0 marks a value.
_TAG = re.compile(r"(\{%.*?%\}|\{#.*?#\})", re.DOTALL)
_HOLE = re.compile(r"\{\{ [^{}]* \}\}")
_QUOTED = r'"[^"\\\0]*"'
_KEY = rf"(?:\0|{_QUOTED}|[\w./-]+)"
_IN_FLOW = rf"""(?:(?:(?<=[\[{{])|(?<=[,:][ ]))\0(?=[,:\]}}])|{_QUOTED}|[^\0"'#])*"""
_whole_keys_and_values = re.compile(
    rf" *(?:- )*(?:(?:{_KEY}: )?(?:\0|[\[{{]{_IN_FLOW})|\0:(?: {_QUOTED}| [\w./-]+)?)"
).fullmatch


def _in_layout(template: nodes.Template, source: str) -> Iterator[Fault[int]]:
    yield from _in_tags(_TAG.split(source))
    lines = [_HOLE.sub("\0", line) for line in source.split("\n")]
    holes: dict[int, list[nodes.Filter]] = {}
    for hole in template.find_all(nodes.Filter):
        holes.setdefault(hole.lineno, []).append(hole)
    for number, filters in holes.items():
        line = lines[number - 1]
        if line.count("\0") != len(filters) or not _whole_keys_and_values(line):
            yield _broken(
                number,
                "A {{ value }} is not a complete key or value.",
                "Write `key: ` or `- ` before it and nothing after it; in [] and {} separators are enough.",
            )
        for hole in filters:
            yield from _in_indent(hole, line)


def _in_tags(pieces: list[str]) -> Iterator[Fault[int]]:
    """`pieces` is a source in which every second piece is a tag or a comment."""
    for index in range(1, len(pieces), 2):
        before, tag, after = pieces[index - 1 : index + 2]
        begins = before.rpartition("\n")[2].strip(" ") == ""
        ends = after.startswith("\n") or (not after and index + 2 == len(pieces))
        if not begins or not ends or tag[2] in "+-" or tag[-3] in "+-":
            line = "".join(pieces[:index]).count("\n") + 1
            yield _broken(
                line,
                "A tag or comment shares its line, or takes away space, so lines could be joined.",
                "Put {% ... %} and {# ... #} on separate lines, without - and +.",
            )


def _in_indent(hole: nodes.Filter, line: str) -> Iterator[Fault[int]]:
    indent = hole.args[0].value if hole.args and isinstance(hole.args[0], nodes.Const) else 0
    if hole.name == "block" and line != " " * indent + "\0":
        yield _broken(
            hole.lineno,
            f"`block({indent})` is not alone on a line with {indent} spaces before it.",
            "Put it on a separate line, with that many spaces before it.",
        )
    column = len(line) - len(line.lstrip(" -"))
    if hole.name == "literal" and not (line.endswith(": \0") and indent > column):
        yield _broken(
            hole.lineno,
            f"`literal({indent})` does not end a line `key: ` that begins at less than {indent} spaces.",
            "Write it directly after `key: `, and give it two spaces more than the key has.",
        )
