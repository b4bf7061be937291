"""What is YAML or JSON, but not for us, is told once, where it is: keys, tags, aliases, sizes, encodings."""

import pytest

from gen.input.document import parse
from gen.input.source import Source

KEEP = "Keep one of the two."
TAG = 'is not understood. Remove it; text that begins with "!" goes in quotes.'
MARK = 'Mark one in the same document; text that begins with "*" goes in quotes.'
NO_ANCHOR = f'B005 the alias "*b" repeats nothing: no value before it is marked "&b". {MARK}'
MERGE = 'Give it the alias of a mapping, as in "<<: *name", or remove it.'
OPENING = 'Put text that begins with "{" or "[" in quotes.'
TOO_DEEP = (
    "B006 more than 100 lists and mappings stand in one another here. "
    "Nothing that can be declared is that deep: remove brackets or indentation."
)
TOO_MANY = (
    "B006 the document has more than 100,000 values, repeated ones counted each time. "
    'Use fewer aliases ("*name"), or split the file.'
)
HIDDEN = 'which cannot be seen. Remove it; if there are many, save the file with the encoding "UTF-8".'
NOTHING = "1:1 B007 the file has no document in it. Write one, or remove the file."
VERSION = (
    'B005 the file asks for YAML 1.1, but it is read as YAML 1.2. Remove the line that begins with "%YAML".'
)
SAVE = 'Save the file with the encoding "UTF-8".'
OPEN_LIST = 'B003 the bracket "[" is never closed. Write "]" after its last value.'

LAUGHS = "x: &x0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"y{n}: &x{n + 1} [{', '.join([f'*x{n}'] * 9)}]\n" for n in range(9)
)
TOWER = "x: &x0 [[[[[[[[[[1]]]]]]]]]]\n" + "".join(
    f"y{n}: &x{n + 1} [[[[[[[[[[*x{n}]]]]]]]]]]\n" for n in range(11)
)

FAULTS = {
    "character-nul": ("a: b\0c", f"1:5 B002 the character U+0000 stands here, {HIDDEN}"),
    "character-escape": ("a: é\x1b[2J", f"1:5 B002 the character U+001B stands here, {HIDDEN}"),
    "character-line-separator": ("a: b\u2028c: d", f"1:5 B002 the character U+2028 stands here, {HIDDEN}"),
    "character-mark": ("a: 1\n---\n\ufeffb: 1", f"3:1 B002 the character U+FEFF stands here, {HIDDEN}"),
    "tag-of-a-language": (
        "a: !!python/object:os.system [x]",
        f'1:4 B005 the tag "!!python/object:os.system" {TAG}',
    ),
    "tag-of-binary": ("a: !!binary aGk=", f'1:4 B005 the tag "!!binary" {TAG}'),
    "tag-of-their-own": ("a:\n  !foo\n  b: 1", f'2:3 B005 the tag "!foo" {TAG}'),
    "tag-without-a-name": ("a: ! b", f'1:4 B005 the tag "!" {TAG}'),
    "version-1.1": ("# c\n%YAML 1.1\n---\na: 1", f"2:1 {VERSION}"),
    "alias-of-nothing": ("a: *b", f"1:4 {NO_ANCHOR}"),
    "alias-of-another-document": ("a: &b 1\n---\na: *b", f"3:4 {NO_ANCHOR}"),
    "alias-of-itself": (
        "a: &b [1, *b]",
        '1:11 B005 the alias "*b" stands within the value that it repeats. Write the value out here.',
    ),
    "merge-of-text": (
        "a: 1\n<<: b",
        f'2:5 B005 "<<" takes over the keys of a mapping, and this is text. {MERGE}',
    ),
    "merge-of-numbers": (
        "a: {<<: [{b: 1}, 2]}",
        f'1:18 B005 "<<" takes over the keys of a mapping, and this is a number. {MERGE}',
    ),
    "merge-twice": (
        "<<: {a: 1}\n<<: {b: 1}",
        f'2:1 B004 the key "<<" stands here again; it is in line 1 already. {KEEP}',
    ),
    "key-twice": (
        "a: 1\nb: 2\na: 3",
        f'3:1 B004 the key "a" stands here again; it is in line 1 already. {KEEP}',
    ),
    "key-twice-in-quotes": (
        'é: {b: 1, "b": 2}',
        f'1:11 B004 the key "b" stands here again; it is in line 1 already. {KEEP}',
    ),
    "key-twice-in-json": (
        '{"a": 1,\n "a": 2}',
        f'2:2 B004 the key "a" stands here again; it is in line 1 already. {KEEP}',
    ),
    "key-is-a-number": (
        "1: x",
        '1:1 B005 the key 1 is a number, and keys are text. Put it in quotes: "1".',
    ),
    "key-begins-with-zero": (
        "{0900: x}",
        '1:2 B005 the key 0900 is a number, and keys are text. Put it in quotes: "0900".',
    ),
    "key-is-true": (
        "a:\n  true: x",
        '2:3 B005 the key true is a truth value, and keys are text. Put it in quotes: "true".',
    ),
    "key-is-null": (
        "~: x",
        '1:1 B005 the key ~ is empty, and keys are text. Put it in quotes: "~".',
    ),
    "key-is-missing": ("? \n: x", '1:2 B005 a key is missing here. Write one before the ":".'),
    "key-is-a-list": ("? [a]\n: x", f"1:3 B005 the key is a list, and keys are text. {OPENING}"),
    "key-is-a-mapping": ("a: {{ b }}", f"1:5 B005 the key is a mapping, and keys are text. {OPENING}"),
    "deep-brackets": ("a: " + "[" * 100_000, f"1:103 {TOO_DEEP}"),
    "deep-json": ("[" * 100_000 + "]" * 100_000, f"1:101 {TOO_DEEP}"),
    "deep-json-by-one": ('{"a":' * 101 + "1" + "}" * 101, f"1:501 {TOO_DEEP}"),
    "deep-json-by-one-and-empty": ("[" * 101 + "]" * 101, f"1:101 {TOO_DEEP}"),
    "deep-items": ("- " * 100_000, f"1:201 {TOO_DEEP}"),
    "deep-indentation": ("".join(" " * n + "a:\n" for n in range(150)), f"101:101 {TOO_DEEP}"),
    "deep-through-aliases": (TOWER, f"10:19 {TOO_DEEP}"),
    "many-through-aliases": (LAUGHS, f"6:10 {TOO_MANY}"),
    "many-in-a-list": ("a: [" + "1," * 100_000 + "]", f"1:199999 {TOO_MANY}"),
    "nothing": ("", NOTHING),
    "nothing-but-comments": ("# a\n\n  # b\n", NOTHING),
    "nothing-but-separators": ("---\n# a\n---\n", NOTHING),
    "nothing-but-null": ("~", NOTHING),
    "nothing-but-null-in-words": ("--- null # a", NOTHING),
}


def told(data: bytes) -> list[str]:
    _, problems = parse(Source("f.yaml", data))
    assert {problem.file for problem in problems} <= {"f.yaml"}
    return [f"{at.line}:{at.column} {at.code} {at.message} {at.fix}" for at in problems]


@pytest.mark.parametrize(("text", "finding"), FAULTS.values(), ids=FAULTS)
def test_what_is_not_for_us_is_told_once_where_it_is(text: str, finding: str) -> None:
    assert told(text.encode()) == [finding]


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
def test_lines_count_the_same_whatever_ends_them(end: str) -> None:
    text = "# c\na: é\nb:\n  c: [1, 2\nd: 1\n".replace("\n", end)

    assert told(text.encode()) == [f"4:6 {OPEN_LIST}"]


@pytest.mark.parametrize(
    ("data", "finding"),
    [
        ("a: 1".encode("utf-16"), f"1:1 B002 the file is encoded as UTF-16, not as UTF-8. {SAVE}"),
        (b"\xfe\xff\0a", f"1:1 B002 the file is encoded as UTF-16, not as UTF-8. {SAVE}"),
        ("a: 1".encode("utf-32"), f"1:1 B002 the file is encoded as UTF-32, not as UTF-8. {SAVE}"),
        (b"a: 1\nb: \xc3\xa9 \xe9", f"2:6 B002 the byte 0xE9 is not UTF-8. {SAVE}"),
        (b"\xef\xbb\xbfa: \xe9", f"1:4 B002 the byte 0xE9 is not UTF-8. {SAVE}"),
        (b"a: \xed\xa0\x80", f"1:4 B002 the byte 0xED is not UTF-8. {SAVE}"),
        (b"\xef\xbb\xbfa: [", f"1:4 {OPEN_LIST}"),
    ],
    ids=["utf-16", "utf-16-big", "utf-32", "latin-1", "latin-1-after-a-mark", "half-a-pair", "mark"],
)
def test_columns_count_characters_and_other_encodings_are_named(data: bytes, finding: str) -> None:
    assert told(data) == [finding]


def test_half_a_character_in_json_is_told() -> None:
    text = '{"a": "\\ud83d\\ude00", "b": ["\\ud800"]}'

    message = 'the text has the escape "\\ud800", which is half of a character. Write the character itself.'
    assert told(text.encode()) == [f"1:29 B002 {message}"]


def test_all_faults_of_a_file_are_told() -> None:
    text = "a: 1\na: 2\nb: !x 1\n---\n1: 2\n---\nc: [\n"

    assert told(text.encode()) == [
        f'3:4 B005 the tag "!x" {TAG}',
        f'2:1 B004 the key "a" stands here again; it is in line 1 already. {KEEP}',
        '5:1 B005 the key 1 is a number, and keys are text. Put it in quotes: "1".',
        f"7:4 {OPEN_LIST}",
    ]


def test_what_is_told_of_a_text_cannot_spoil_the_screen() -> None:
    long = "k" * 100
    text = f'"\\e[2J": 1\n"\\e[2J": 2\n{long}: 1\n{long}: 2\n'

    assert told(text.encode()) == [
        f'2:1 B004 the key "\\x1b[2J" stands here again; it is in line 1 already. {KEEP}',
        f'4:1 B004 the key "{"k" * 59}…" stands here again; it is in line 3 already. {KEEP}',
    ]
