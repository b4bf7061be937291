"""Values are those of YAML 1.2 and JSON, each document has its number, and no bytes make reading fail."""

import json
import math
import random

import pytest
from berth.reading.document import Document, parse
from berth.reading.scalar import Value
from berth.reading.source import Source
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import tabled

QUICK = settings(max_examples=400)

TEXTS: dict[str, tuple[str, list[Value]]] = {
    "block": (
        "a:\n- b\n-\n  c: 1\n  d:\n  - [e, {f: g}]",
        [{"a": ["b", {"c": 1, "d": [["e", {"f": "g"}]]}]}],
    ),
    "items-in-items": ("- - a\n  - b\n- - c\n", [[["a", "b"], ["c"]]]),
    "flow-over-lines": ("{a: [1,\n  2], # c\n b: }", [{"a": [1, 2], "b": None}]),
    "key-as-text-of-yaml-1.2": ("on: 1\nyes: 2\n2026-01-01: 3\n", [{"on": 1, "yes": 2, "2026-01-01": 3}]),
    "alias": (
        "a: &x {b: [1]}\nc: *x\nd: [*x, *x]\n",
        [{"a": {"b": [1]}, "c": {"b": [1]}, "d": [{"b": [1]}] * 2}],
    ),
    "alias-of-the-latest": ("[&a 1, *a, &a 2, *a]", [[1, 1, 2, 2]]),
    "alias-as-key": ("[&a k, {*a : 1}]", [["k", {"k": 1}]]),
    "merge": (
        "x: &x {a: 1, b: 2}\ny: &y {b: 3, c: 4}\nz:\n  <<: [*x, *y]\n  a: 0\n",
        [{"x": {"a": 1, "b": 2}, "y": {"b": 3, "c": 4}, "z": {"a": 0, "b": 2, "c": 4}}],
    ),
    "merge-of-a-merge": (
        "[&x {a: 1}, &y {<<: *x, b: 2}, {<<: *y}]",
        [[{"a": 1}, {"b": 2, "a": 1}, {"b": 2, "a": 1}]],
    ),
    "merge-in-quotes-is-a-key": ('{"<<": 1}', [{"<<": 1}]),
    "bracket-first-but-yaml": ("{kind: Site, a: [b]}", [{"kind": "Site", "a": ["b"]}]),
    "json": (
        '{"a": [1, 1.5, true, null, "\\/\\u00e9"], "c": {}}',
        [{"a": [1, 1.5, True, None, "/é"], "c": {}}],
    ),
    "json-with-tabs": ('\t{\n\t"a":\t1\r\n}\t', [{"a": 1}]),
    "json-with-a-pair": ('{"a": "\\ud83d\\ude00", "\\ud83d\\ude00": []}', [{"a": "😀", "😀": []}]),
    "json-with-a-long-key": (f'{{"{"k" * 2000}": 1}}', [{"k" * 2000: 1}]),
    "json-with-a-large-number": (f"[{'9' * 5000}]", [[math.inf]]),
    "json-with-a-separator-of-lines": ('["\u2028"]', [["\u2028"]]),
    "json-but-for-a-constant": ('{"a": NaN}', [{"a": "NaN"}]),
    "json-but-for-a-comma": ('{"a": [1, 2,], "b": NaN,}', [{"a": [1, 2], "b": "NaN"}]),
    "windows": ("a:\r\n  - b\r\n", [{"a": ["b"]}]),
    "old-mac": ("a:\r  - b\r", [{"a": ["b"]}]),
    "several": ("a: 1\n---\nb: 2\n...\n---\nc: 3\n", [{"a": 1}, {"b": 2}, {"c": 3}]),
    "version-1.2": ("%YAML 1.2\n---\na: 09:00\n", [{"a": "09:00"}]),
}


def values(text: str) -> list[Value]:
    documents, problems = parse(Source("f.yaml", text.encode()))
    assert problems == []
    return [document.value for document in documents]


def typed(value: Value) -> object:
    """The value with the type of each part: 1, 1.0 and true are equal, but not the same."""
    if isinstance(value, dict):
        return [(key, typed(inner)) for key, inner in value.items()]
    return [typed(inner) for inner in value] if isinstance(value, list) else (type(value), value)


@pytest.mark.parametrize(("text", "expected"), TEXTS.values(), ids=TEXTS)
def test_a_text_is_parsed_to_its_values(text: str, expected: list[Value]) -> None:
    assert typed(values(text)) == typed(expected)


def test_a_byte_order_mark_is_not_part_of_the_text() -> None:
    documents, problems = parse(Source("f.yaml", b"\xef\xbb\xbfa: 1\n"))

    assert (documents, problems) == ([Document("f.yaml", 0, {"a": 1})], [])


@pytest.mark.parametrize("odd", ["", "# &\n&x "], ids=["plain", "with-an-anchor"])
def test_empty_documents_are_left_out_but_counted(odd: str) -> None:
    text = f"---\n---\n{odd}{{a: 1}}\n---\n# nothing\n---\nb: 2\n---\n"

    documents, problems = parse(Source("f.yaml", text.encode()))

    assert documents == [Document("f.yaml", 1, {"a": 1}), Document("f.yaml", 3, {"b": 2})]
    assert problems == []


@pytest.mark.parametrize("odd", ["b: [", "b: 'x", "\tb: 1", "[" * 200, "b: 1\n c: 2"])
def test_documents_before_an_unreadable_document_are_kept(odd: str) -> None:
    documents, problems = parse(Source("f.yaml", f"a: 1\n---\n{odd}\n---\nc: 3\n".encode()))

    assert documents == [Document("f.yaml", 0, {"a": 1})]
    assert len(problems) == 1


def test_a_document_with_text_after_its_end_is_not_read_in_part() -> None:
    documents, problems = parse(Source("f.yaml", b"a: 1\n---\n[1, 2]]\n"))

    assert documents == [Document("f.yaml", 0, {"a": 1})]
    assert len(problems) == 1


def test_a_document_with_recoverable_faults_is_kept() -> None:
    text = b"a: 1\na: 2\nb: !x y\n1: z\n? [q]\n: 0\nc: *d\n<<: 5\n"

    documents, problems = parse(Source("f.yaml", text))

    assert documents == [Document("f.yaml", 0, {"a": 1, "b": "y", "1": "z", "c": "*d"})]
    assert [problem.code for problem in problems] == ["B005", "B005", "B004", "B005", "B005", "B005"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@QUICK
@given(
    value=st.lists(JSON, max_size=4),
    ascii_only=st.booleans(),
    indent=st.sampled_from([None, 1, "\t"]),
)
def test_json_has_the_values_that_were_written(
    value: Value, ascii_only: bool, indent: str | int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)

    assert typed(values(text)[0]) == typed(value)


GOOD = """\
# a reservation
kind: CapacityReservation
metadata: {name: data-science-101, labels: {}}
spec:
  title: "Data: Science"
  recurrence: &r
    schedule:
      - {dayOfWeek: 1, startTime: "09:00", endTime: '13:00'}
    except: [2026-04-06, {from: 2026-04-20, to: 2026-04-24}]
  again: *r
---
{"kind": "Site", "x": ["\\u00e9", 1.5e3, -0, true]}
"""


def is_told_or_read(data: bytes) -> bool:
    documents, problems = parse(Source("f.yaml", data))
    lines = data.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert all(
        1 <= at.line <= len(lines) and 1 <= at.column <= len(lines[at.line - 1]) + 1 for at in problems
    )
    return bool(documents or problems)


@QUICK
@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_reported(data: bytes) -> None:
    assert is_told_or_read(data)


@QUICK
@given(
    st.lists(
        st.sampled_from(
            [
                *"\n -:?,[]{}#&*!|>'\"%@`~<a0\t\r\\",
                "- ",
                ": ",
                "---\n",
                "a: ",
                "é",
                "\0",
                "\ufeff",
                "%YAML 1.2\n",
                "%TAG ! a\n",
                "...\n",
            ]
        )
    )
)
def test_any_mixture_of_yaml_marks_is_read_or_reported(pieces: list[str]) -> None:
    assert is_told_or_read("".join(pieces).encode())


def test_any_damaged_file_is_read_or_reported() -> None:
    dice = random.Random(7)
    good = GOOD.encode()
    for _ in range(5000):
        data = bytearray(good)
        for _ in range(dice.randint(1, 4)):
            at = dice.randrange(len(data) + 1)
            new = (
                bytes([dice.randrange(256)])
                if dice.random() < 0.3
                else dice.choice(b"\n\t :-#&*!|>'\"%@`[]{},a0").to_bytes()
            )
            data[at : at + dice.choice([0, 0, 1, 5, 40])] = new * dice.choice([0, 1, 1, 3])

        assert is_told_or_read(bytes(data)), bytes(data)


@tabled("reading")
def test_a_large_file_of_one_repeated_piece_is_read_or_reported(piece: str) -> None:
    for start in ("", "a: ", "- b: "):
        assert is_told_or_read((start + piece * (200_000 // len(piece))).encode())
