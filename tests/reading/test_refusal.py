"""What is YAML or JSON, but not for us, is told once, where it is: keys, tags, aliases, sizes, encodings."""

import pytest
from berth.reading.document import parse
from berth.reading.source import Source

from tests.saying import Line, finding

NOTHING = "1:1 B007"

LAUGHS = "x: &x0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"y{n}: &x{n + 1} [{', '.join([f'*x{n}'] * 9)}]\n" for n in range(9)
)
TOWER = "x: &x0 [[[[[[[[[[1]]]]]]]]]]\n" + "".join(
    f"y{n}: &x{n + 1} [[[[[[[[[[*x{n}]]]]]]]]]]\n" for n in range(11)
)

FAULTS = {
    "character-nul": ("a: b\0c", finding("1:5 B002", "U+0000")),
    "character-escape": ("a: é\x1b[2J", finding("1:5 B002", "U+001B")),
    "character-line-separator": ("a: b\u2028c: d", finding("1:5 B002", "U+2028")),
    "character-mark": ("a: 1\n---\n\ufeffb: 1", "3:1 B002"),
    "tag-of-a-language": (
        "a: !!python/object:os.system [x]",
        finding("1:4 B005", "!!python/object:os.system"),
    ),
    "tag-of-binary": ("a: !!binary aGk=", finding("1:4 B005", "!!binary")),
    "tag-of-their-own": ("a:\n  !foo\n  b: 1", finding("2:3 B005", "!foo")),
    "tag-without-a-name": ("a: ! b", finding("1:4 B005", "!")),
    "version-1.1": ("# c\n%YAML 1.1\n---\na: 1", finding("2:1 B005", "1.1", "1.2")),
    "alias-of-nothing": ("a: *b", finding("1:4 B005", "*b", "&b")),
    "alias-of-another-document": ("a: &b 1\n---\na: *b", finding("3:4 B005", "*b", "&b")),
    "alias-of-itself": ("a: &b [1, *b]", finding("1:11 B005", "*b")),
    "merge-of-text": ("a: 1\n<<: b", "2:5 B005"),
    "merge-of-numbers": ("a: {<<: [{b: 1}, 2]}", "1:18 B005"),
    "merge-twice": ("<<: {a: 1}\n<<: {b: 1}", finding("2:1 B004", "<<", "1")),
    "key-twice": ("a: 1\nb: 2\na: 3", finding("3:1 B004", "a", "1")),
    "key-twice-in-quotes": ('é: {b: 1, "b": 2}', finding("1:11 B004", "b", "1")),
    "key-twice-in-json": ('{"a": 1,\n "a": 2}', finding("2:2 B004", "a", "1")),
    "key-is-a-number": ("1: x", finding("1:1 B005", "1")),
    "key-begins-with-zero": ("{0900: x}", finding("1:2 B005", "0900")),
    "key-is-true": ("a:\n  true: x", finding("2:3 B005", "true")),
    "key-is-null": ("~: x", finding("1:1 B005", "~")),
    "key-is-missing": ("? \n: x", "1:2 B005"),
    "key-is-a-list": ("? [a]\n: x", "1:3 B005"),
    "key-is-a-mapping": ("a: {{ b }}", "1:5 B005"),
    "deep-brackets": ("a: " + "[" * 100_000, "1:103 B006"),
    "deep-json": ("[" * 100_000 + "]" * 100_000, "1:101 B006"),
    "deep-json-by-one": ('{"a":' * 101 + "1" + "}" * 101, "1:501 B006"),
    "deep-json-by-one-and-empty": ("[" * 101 + "]" * 101, "1:101 B006"),
    "deep-items": ("- " * 100_000, "1:201 B006"),
    "deep-indentation": ("".join(" " * n + "a:\n" for n in range(150)), "101:101 B006"),
    "deep-through-aliases": (TOWER, "10:19 B006"),
    "many-through-aliases": (LAUGHS, finding("6:10 B006", "000")),
    "many-in-a-list": ("a: [" + "1," * 100_000 + "]", finding("1:199999 B006", "000")),
    "nothing": ("", NOTHING),
    "nothing-but-comments": ("# a\n\n  # b\n", NOTHING),
    "nothing-but-separators": ("---\n# a\n---\n", NOTHING),
    "nothing-but-null": ("~", NOTHING),
    "nothing-but-null-in-words": ("--- null # a", NOTHING),
}


def told(data: bytes) -> list[str]:
    _, problems = parse(Source("f.yaml", data))
    assert {problem.file for problem in problems} <= {"f.yaml"}
    return [Line(f"{at.line}:{at.column} {at.code}", f"{at.message} {at.fix}") for at in problems]


@pytest.mark.parametrize(("text", "expected"), FAULTS.values(), ids=FAULTS)
def test_unsupported_yaml_gets_one_finding_at_its_place(text: str, expected: str) -> None:
    assert told(text.encode()) == [expected]


@pytest.mark.parametrize("depth", [99, 100])
def test_a_hundred_levels_are_read(depth: int) -> None:
    for text in (
        "[" * depth + "]" * depth,
        "[" * depth + "1" + "]" * depth,
        "- " * depth + "x",
        "{a: " * depth + "}" * depth,
    ):
        assert told(text.encode()) == []


@pytest.mark.parametrize("end", ["\r\n", "\r"], ids=["windows", "old-mac"])
def test_line_numbers_do_not_depend_on_the_line_ends(end: str) -> None:
    text = "# c\na: é\nb:\n  c: [1, 2\nd: 1\n".replace("\n", end)

    assert told(text.encode()) == [finding("4:6 B003", "]")]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("a: 1".encode("utf-16"), finding("1:1 B002", "UTF-16")),
        (b"\xfe\xff\0a", finding("1:1 B002", "UTF-16")),
        ("a: 1".encode("utf-32"), finding("1:1 B002", "UTF-32")),
        (b"a: 1\nb: \xc3\xa9 \xe9", finding("2:6 B002", "0xE9")),
        (b"\xef\xbb\xbfa: \xe9", finding("1:4 B002", "0xE9")),
        (b"a: \xed\xa0\x80", finding("1:4 B002", "0xED")),
        (b"\xef\xbb\xbfa: [", finding("1:4 B003", "]")),
    ],
    ids=["utf-16", "utf-16-big", "utf-32", "latin-1", "latin-1-after-a-mark", "half-a-pair", "mark"],
)
def test_columns_count_characters_and_other_encodings_are_named(data: bytes, expected: str) -> None:
    assert told(data) == [expected]


def test_half_a_surrogate_pair_in_json_gets_the_finding_b002() -> None:
    text = '{"a": "\\ud83d\\ude00", "b": ["\\ud800"]}'

    assert told(text.encode()) == [finding("1:29 B002", "\\ud800")]


def test_all_faults_of_a_file_are_reported() -> None:
    text = "a: 1\na: 2\nb: !x 1\n---\n1: 2\n---\nc: [\n"

    assert told(text.encode()) == [
        finding("3:4 B005", "!x"),
        finding("2:1 B004", "a", "1"),
        finding("5:1 B005", "1"),
        finding("7:4 B003", "]"),
    ]


def test_messages_escape_and_shorten_the_quoted_text() -> None:
    long = "k" * 100
    text = f'"\\e[2J": 1\n"\\e[2J": 2\n{long}: 1\n{long}: 2\n'

    assert told(text.encode()) == [
        finding("2:1 B004", "\\x1b[2J"),
        finding("4:1 B004", "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk…", "3"),
    ]
