"""Templates show shapes and compute nothing: our own keep the rules, and each rule is seen to be enforced."""

from pathlib import Path

import pytest
from berth.findings import Fault
from berth.output.templaterules import BROKEN, broken_rules
from berth.output.templates import built_in_folder
from jinja2 import Environment

FOLDER = Path(built_in_folder())
OURS = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.j2"))

UNFILTERED = "A value has none of the filters of Berth, so it could change the structure."
ONE_FILTER = "End it with exactly one of quote, number, block, literal."
ARGUMENTS = "Write quote, number, block(n) or literal(n), where n is a number of spaces."
NOT_WHOLE = "A {{ value }} is not a complete key or value."
ALONE = "Write `key: ` or `- ` before it and nothing after it; in [] and {} separators are enough."
ONLY = "Use only `if`, `for` and {{ value | filter }}."


def rules_broken_by(source: str) -> list[Fault[int]]:
    return broken_rules(Environment().parse(source), source)


@pytest.mark.parametrize("name", OURS)
def test_our_templates_keep_the_rules(name: str) -> None:
    assert rules_broken_by((FOLDER / name).read_text("utf-8")) == []


def test_there_are_templates_to_hold_to_the_rules() -> None:
    assert OURS


GOOD = """\
{# a comment with {{ a hole }}
   over two lines #}
name: {{ name | quote }}
{% if suspended %}
suspend: true
{% elif pool.closed %}
suspend: false
{% else %}
replicas: {{ pool.replicas | number }}
{% endif %}
labels:
  {{ labels | block(2) }}
  app: berth
{% for file in files %}
  {{ file.name | quote }}: {{ file.text | literal(4) }}
{% else %}
  {{ nothing | quote }}:
{% endfor %}
{{ key | quote }}: "constant"
"quoted key": {{ value | quote }}
- {{ item | quote }}
- - name: {{ name | quote }}
  code: {{ code | literal(4) }}
flow: {name: {{ name | quote }}, "x y": [{{ a | quote }}, 5, {{ b | number }}], {{ c | quote }}: "d"}
"""


def test_what_keeps_the_rules_is_accepted() -> None:
    assert rules_broken_by(GOOD) == []


@pytest.mark.parametrize(
    "hole",
    [
        "a",
        "a | tojson",
        "a | safe",
        "a | default('x')",
        "'x'",
        "a ~ 'b'",
        "a.b()",
        "a if b else c",
        "a is defined",
    ],
)
def test_a_hole_without_our_filter_is_refused(hole: str) -> None:
    source = f"x: 1\nname: {{{{ {hole} }}}}\n"

    assert rules_broken_by(source) == [Fault(BROKEN, 2, UNFILTERED, ONE_FILTER)]


@pytest.mark.parametrize(
    "expression", ["a + 1", "a ~ b", "a[0]", "a()", "'text'", "a | lower", "(a if b else c)", "a | quote"]
)
def test_an_expression_before_the_filter_is_refused(expression: str) -> None:
    found = rules_broken_by(f"name: {{{{ ({expression}) | quote }}}}\n")

    assert found == [Fault(BROKEN, 1, "`quote` is given an expression.", "Use the name of a value.")]


@pytest.mark.parametrize(
    ("hole", "name"),
    [
        ("a | quote(1)", "quote"),
        ("a | number(x=1)", "number"),
        ("a | block", "block"),
        ("a | block(n)", "block"),
        ("a | block(2, 3)", "block"),
        ("a | block('2')", "block"),
        ("a | block(true)", "block"),
        ("a | literal(*x)", "literal"),
        ("a | literal(**x)", "literal"),
    ],
)
def test_other_arguments_are_refused(hole: str, name: str) -> None:
    found = rules_broken_by(f"  {{{{ {hole} }}}}\n")

    assert found == [Fault(BROKEN, 1, f"`{name}` has wrong arguments.", ARGUMENTS)]


@pytest.mark.parametrize(
    "test", ["not a", "a == 'b'", "a and b", "a is defined", "a | length", "a.b()", "true", "a[0]"]
)
def test_a_question_that_computes_is_refused(test: str) -> None:
    broken = Fault(BROKEN, 2, "`if` is given an expression.", "Use the name of a boolean.")

    assert rules_broken_by(f"\n{{% if {test} %}}a{{% endif %}}") == [broken]
    assert rules_broken_by(f"{{% if b %}}a\n{{% elif {test} %}}b{{% endif %}}") == [broken]


@pytest.mark.parametrize(
    "loop",
    ["x in range(9)", "x in a | sort", "x in a if x", "x in a recursive", "x in 'abc'", "x in a.items()"],
)
def test_a_loop_that_computes_is_refused(loop: str) -> None:
    found = rules_broken_by(f"{{% for {loop} %}}a{{% endfor %}}")

    assert found == [
        Fault(BROKEN, 1, "`for` is given an expression.", "Use the name of a list, without a condition.")
    ]


@pytest.mark.parametrize(
    "inside", ["{% for y in x %}a{% endfor %}", "{% if a %}{% for y in x %}a{% endfor %}{% endif %}"]
)
def test_a_loop_in_a_loop_is_refused(inside: str) -> None:
    found = rules_broken_by(f"{{% for x in a %}}\n{inside}{{% endfor %}}")

    assert found == [
        Fault(BROKEN, 2, "A loop is inside another loop.", "Use `block` for values with an inner structure.")
    ]


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("{% set a = 1 %}", "set"),
        ("{% set a %}b{% endset %}", "set"),
        ("{% include 'a' %}", "include"),
        ("{% import 'a' as a %}", "import"),
        ("{% from 'a' import b %}", "from"),
        ("{% extends 'a' %}", "extends"),
        ("{% block a %}{% endblock %}", "block"),
        ("{% macro a() %}{% endmacro %}", "macro"),
        ("{% call a() %}{% endcall %}", "call"),
        ("{% filter quote %}a{% endfilter %}", "filter"),
        ("{% with a = 1 %}{% endwith %}", "with"),
        ("{% autoescape true %}{% endautoescape %}", "autoescape"),
    ],
)
def test_a_statement_that_computes_is_refused(statement: str, word: str) -> None:
    assert rules_broken_by("a: b\n" + statement) == [Fault(BROKEN, 2, f"`{word}` computes.", ONLY)]


@pytest.mark.parametrize(
    "line",
    [
        "{{ a | quote }}{{ b | quote }}",
        "a: {{ b | quote }} {{ c | quote }}",
        "a: x{{ b | quote }}",
        "a: {{ b | number }}m",
        'a: "{{ b | quote }}"',
        'a: "b: {{ c | quote }}"',
        "a: 'b: {{ c | quote }}'",
        "a: b, {{ c | quote }}",
        "a: b - {{ c | quote }}",
        "a: [{{ b | quote }}{{ c | quote }}]",
        'a: ["x: {{ b | quote }}"]',
        "# {{ a | quote }}",
        "a: |  # {{ b | quote }}",
        "{{ a | quote }}: 'b",
        "a:{{ b | quote }}",
        "a: {{b|quote}}",
        "a: {{- b | quote }}",
        "a: {{ b\n| quote }}",
    ],
)
def test_a_hole_beside_something_else_is_refused(line: str) -> None:
    found = rules_broken_by(line)

    assert found == [Fault(BROKEN, line.count("\n") + 1, NOT_WHOLE, ALONE)]


@pytest.mark.parametrize(
    "tags",
    [
        "a: {% if b %}",
        "{% if b %} c",
        "{% if b %}{# c #}",
        "{%- if b %}",
        "{% if b -%}",
        "{%+ if b %}",
        "{# a -#}\n{% if b %}",
        "c {# a #}\n{% if b %}",
    ],
)
def test_a_tag_that_could_glue_lines_together_is_refused(tags: str) -> None:
    source = f"x: 1\n{tags}\ny: 2\n{{% endif %}}\n"

    assert rules_broken_by(source) == [
        Fault(
            BROKEN,
            2,
            "A tag or comment shares its line, or takes away space, so lines could be joined.",
            "Put {% ... %} and {# ... #} on separate lines, without - and +.",
        )
    ]


@pytest.mark.parametrize(
    "line", ["  {{ a | block(4) }}", "  a: {{ a | block(2) }}", "  - {{ a | block(4) }}"]
)
def test_a_block_away_from_its_column_is_refused(line: str) -> None:
    indent = line[line.index("(") + 1]

    assert rules_broken_by(line) == [
        Fault(
            BROKEN,
            1,
            f"`block({indent})` is not alone on a line with {indent} spaces before it.",
            "Put it on a separate line, with that many spaces before it.",
        )
    ]


@pytest.mark.parametrize(
    "line", ["  {{ a | literal(4) }}", "  a: {{ a | literal(2) }}", "- b: {{ a | literal(2) }}"]
)
def test_a_literal_that_is_not_deeper_than_its_key_is_refused(line: str) -> None:
    indent = line[line.index("(") + 1]

    assert rules_broken_by(line) == [
        Fault(
            BROKEN,
            1,
            f"`literal({indent})` does not end a line `key: ` that begins at less than {indent} spaces.",
            "Write it directly after `key: `, and give it two spaces more than the key has.",
        )
    ]
