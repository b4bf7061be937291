"""Whatever is written comes back from every reader as the same value, on the same lines."""

import math
from collections.abc import Callable

import pytest
import yaml
from berth.output.yamltext import block, flow, literal, number, quote
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from tests.awkward import AWKWARD
from tests.cases import tabled

Read = Callable[[str], object]

READERS: dict[str, Read] = {
    "pyyaml-c": lambda text: yaml.load(text, Loader=yaml.CSafeLoader),
    "pyyaml-pure": lambda text: yaml.load(text, Loader=yaml.SafeLoader),
    "ruamel-safe": lambda text: YAML(typ="safe", pure=True).load(text),
    "ruamel-round-trip": lambda text: YAML(typ="rt").load(text),
}
EVERY_READER = pytest.mark.parametrize("read", READERS.values(), ids=READERS)

KEYS = [text for text in AWKWARD if len(quote(text)) <= 1000]

quick = settings(max_examples=60)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.sampled_from(AWKWARD)
whole = st.integers(-(2**63), 2**63 - 1)
scalars = texts | whole | st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False)
keys = st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.sampled_from(KEYS)
trees = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(keys, inner), max_leaves=12)
collections = st.lists(trees) | st.dictionaries(keys, trees)


@EVERY_READER
def test_quoted_values_are_read_back_unchanged(read: Read) -> None:
    document = "\n".join(f"- {quote(text)}" for text in AWKWARD)

    assert read(document) == list(AWKWARD)


@EVERY_READER
def test_quoted_keys_are_read_back_unchanged(read: Read) -> None:
    document = block({text: text for text in KEYS}, 0)

    assert read(document) == {text: text for text in KEYS}


@EVERY_READER
def test_every_unicode_character_is_read_back_unchanged(read: Read) -> None:
    everything = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF)

    assert read(quote(everything)) == everything


@given(st.lists(texts))
@quick
def test_any_quoted_text_is_one_line_and_is_read_back_unchanged(examples: list[str]) -> None:
    lines = [f"- {quote(text)}" for text in examples]

    assert all(len(line.splitlines()) == 1 for line in lines)
    for read in READERS.values():
        assert read("\n".join(lines) or "[]") == examples


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Data Science 101 - Spring 2026", "Data Science 101 - Spring 2026"),
        ("app.kubernetes.io/part-of", "app.kubernetes.io/part-of"),
        ("500m", "500m"),
        ("4Gi", "4Gi"),
        ("25%", "25%"),
        ("https://git.example.org/seats.git", "https://git.example.org/seats.git"),
        ("python:3.13-slim@sha256:7c61", "python:3.13-slim@sha256:7c61"),
        ("Zürich", "Zürich"),
        ("Lab: seats", '"Lab: seats"'),
        ("Lab:", '"Lab:"'),
        ("Lab # 3", '"Lab # 3"'),
        ("a  b", '"a  b"'),
        ("1", '"1"'),
        ("1e3", '"1e3"'),
        ("12:30", '"12:30"'),
        ("2026-02-02", '"2026-02-02"'),
        ("Yes", '"Yes"'),
        ("null", '"null"'),
        ("n", '"n"'),
        ("-a", '"-a"'),
        ("", '""'),
        ("Zürich \U0001f469\u200d\U0001f3eb", '"Zürich \U0001f469\u200d\U0001f3eb"'),
        ('say "x" \\ y', '"say \\"x\\" \\\\ y"'),
        ("a\tb\r\n", '"a\\tb\\r\\n"'),
        ("\x00\x7f\x85", '"\\x00\\x7F\\x85"'),
        ("\u2028\u202e\ufeff\uffff", '"\\u2028\\u202E\\uFEFF\\uFFFF"'),
        ("\U0001fffe\U000e0041", '"\\U0001FFFE\\U000E0041"'),
    ],
    ids=[
        "plain", "key", "amount", "bytes", "percent", "address", "image", "umlaut", "colon", "ending-colon",
        "comment", "spaces", "number", "float", "sexagesimal", "date",
        "truth", "null", "n", "dash", "empty", "printable", "quotes", "line", "controls", "invisible",
        "above-the-first-plane",
    ],
)  # fmt: skip
def test_a_text_is_quoted_only_if_it_is_not_plain(text: str, written: str) -> None:
    assert quote(text) == written


@pytest.mark.parametrize("write", [quote, lambda text: literal(text, 2)], ids=["quote", "literal"])
def test_half_a_surrogate_pair_is_refused(write: Callable[[str], str]) -> None:
    with pytest.raises(
        ValueError, match=r"^the text has half of a surrogate pair \(U\+D83D\), which is not a char"
    ):
        write("a\ud83d")


@pytest.mark.parametrize("value", [None, 1, b"a", ["a"]], ids=repr)
def test_a_value_that_is_not_a_string_is_refused(value: object) -> None:
    for write in (quote, lambda text: literal(text, 2)):
        with pytest.raises(TypeError):
            write(value)  # type: ignore[arg-type]  # that is the claim


@tabled("output")
def test_a_number_has_its_yaml_form(value: float, written: str) -> None:
    assert number(value) == written


@given(st.floats(allow_nan=False, allow_infinity=False) | whole)
@quick
def test_any_number_is_read_back_unchanged(value: float) -> None:
    for read in READERS.values():
        again = read(number(value))

        assert again == value
        assert isinstance(again, type(value))


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (True, TypeError("True is not a number")),
        ("1", TypeError("'1' is not a number")),
        (None, TypeError("None is not a number")),
        (math.nan, ValueError("nan is not finite")),
        (-math.inf, ValueError("-inf is not finite")),
        (2**63, ValueError("9223372036854775808 does not fit in 64 bits")),
    ],
    ids=["bool", "text", "none", "nan", "infinite", "too-large"],
)
def test_a_value_that_is_not_a_portable_number_is_refused(value: object, error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        number(value)

    assert str(caught.value) == str(error)


def test_a_block_keeps_its_order_and_its_indentation() -> None:
    value = {
        "b": "1",
        "a": {"x": True, "y": None, "n": -1, "f": 0.5},
        "list": ["on", {"key": "k", "values": ["v", "w"]}, [["deep"], []], {}],
        "none": {},
        "nothing": (),
    }

    assert block(value, 4) == (
        """b: "1"
    a:
      x: true
      "y": null
      "n": -1
      f: 0.5
    list:
      - "on"
      - key: k
        values: [v, w]
      - - [deep]
        - []
      - {}
    none: {}
    nothing: []"""
    )


def test_long_lists_and_mappings_are_written_on_several_lines() -> None:
    long, short = "word " * 20 + "word", {"key": "k", "seconds": 30}

    assert block({"a": [long], "b": [long, long], "c": [short, {**short, "value": long}]}, 0) == (
        f"a: [{long}]\n"
        f"b:\n  - {long}\n  - {long}\n"
        f"c:\n  - {{key: k, seconds: 30}}\n  - key: k\n    seconds: 30\n    value: {long}"
    )


@tabled("output")
def test_a_value_is_written_on_one_line(value: object, written: str) -> None:
    assert flow(value) == written


@pytest.mark.parametrize(("value", "written"), [({}, "{}"), ([], "[]"), ((), "[]"), (["a"], "- a")], ids=repr)
def test_a_small_block_is_written_in_its_short_form(value: object, written: str) -> None:
    assert block(value, 2) == written


@given(collections)
@quick
def test_any_block_is_read_back_unchanged(value: object) -> None:
    document = f"a:\n  b:\n    {block(value, 4)}\n  c: {flow(value)}\n"

    for read in READERS.values():
        assert read(document) == {"a": {"b": value, "c": value}}


@pytest.mark.parametrize(
    "value", ["text", None, 5, {1: "a"}, {"a": {None: "b"}}, {"a": b"b"}, [{"a"}]], ids=repr
)
def test_a_block_refuses_scalars_and_unsupported_types(value: object) -> None:
    with pytest.raises(TypeError):
        block(value, 2)


@pytest.mark.parametrize("value", ["text", {"a": "b"}, 1], ids=["text", "mapping", "number"])
def test_a_key_of_999_characters_is_refused(value: object) -> None:
    with pytest.raises(
        ValueError, match=r"^a key of 999 characters is longer than readers look for its colon$"
    ):
        block({"k" * 999: value}, 0)


CODE = """\
\"\"\"Says # what: 'it' does.\"\"\"


def f(x: int) -> str:
    if x:
        return "\\n" + f"{x}: ü 🚀"

    return "---"
"""


@tabled("output")
def test_a_literal_block_is_used_only_where_its_lines_are_exact(text: str, written: str) -> None:
    assert literal(text, 2) == written


@EVERY_READER
def test_code_in_a_literal_is_read_back_unchanged(read: Read) -> None:
    written = literal(CODE, 4)

    assert written.startswith("|\n")
    assert read(f'data:\n  "code.py": {written}\n  "next": "x"\n') == {"data": {"code.py": CODE, "next": "x"}}


@EVERY_READER
def test_awkward_literals_are_read_back_unchanged(read: Read) -> None:
    document = "\n".join(f"k{n}: {literal(text, 2)}" for n, text in enumerate(AWKWARD)) + "\n"

    assert read(document) == {f"k{n}": text for n, text in enumerate(AWKWARD)}


@given(st.lists(texts | st.sampled_from([" ", "", "  x", "- a", "# b"])), st.integers(1, 6))
@quick
def test_any_literal_is_read_back_unchanged(lines: list[str], indent: int) -> None:
    text = "\n".join(lines)
    document = f"a: {literal(text, indent)}\nb: end\n"

    for read in READERS.values():
        assert read(document) == {"a": text, "b": "end"}


def test_a_literal_without_indentation_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^a literal block needs an indentation of at least 1, not 0$"):
        literal("a", 0)


words = st.text(st.sampled_from("aeinoyxYNTFüÜ019 .-_/+()~:#,[]{}%@`'\"!&*?|>=<"), max_size=8)


@given(st.lists(words, min_size=1, max_size=8))
@settings(max_examples=100)
def test_plain_texts_are_read_back_unchanged_in_every_position(examples: list[str]) -> None:
    mapping = {text: text for text in examples}
    documents = {
        "\n".join(f"- {quote(text)}" for text in examples): examples,
        flow(examples): examples,
        flow(mapping): mapping,
        block(mapping, 0): mapping,
        block([mapping], 0): [mapping],
    }

    for read in READERS.values():
        for document, value in documents.items():
            assert read(document) == value
