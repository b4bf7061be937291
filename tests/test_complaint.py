"""What is wrong with a text is told where it is, in words that do not need YAML's grammar, with what to do."""

import pytest

from gen.document import parse
from gen.source import Source

QUOTES = 'Put a value with ": " in it in quotes; if this is a key, check the indentation of its line.'
BACKSLASH = 'Write "\\\\" for a backslash, or use single quotes.'
SAME = "Give all keys of a block the same number of spaces."
OUTSIDE = 'Remove it, or begin another document with a line "---".'
WHOLE = "Put the whole value in one pair of quotes, or remove what is too much."
COMMA = "Write it; text with brackets, commas or quotes in it goes in quotes."
CLOSE = "Close it, or put the text in the other kind of quotes."
TOO_DEEP = (
    "more than 100 lists and mappings stand in one another here. "
    "Nothing that can be declared is that deep: remove brackets or indentation."
)
TOO_MANY = (
    "the document has more than 100,000 values, repeated ones counted each time. "
    'Use fewer aliases ("*name"), or split the file.'
)
TAB = "the line is indented with a tab. Indent with spaces."
HIDDEN = 'which cannot be seen. Remove it; if there are many, save the file with the encoding "UTF-8".'
TAG = 'is not understood. Remove it; text that begins with "!" goes in quotes.'
BOMB = "x: &x0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"y{n}: &x{n + 1} [{', '.join([f'*x{n}'] * 9)}]\n" for n in range(9)
)
TALL = "x: &x0 [[[[[[[[[[1]]]]]]]]]]\n" + "".join(
    f"y{n}: &x{n + 1} [[[[[[[[[[*x{n}]]]]]]]]]]\n" for n in range(11)
)

FAULTS = {
    # tabs, and characters that are none
    "tab-before-key": ("a:\n\tb: 1", f"2:1 B003 {TAB}"),
    "tab-after-key": ("a: 1\n\tb: 2", f"2:1 B003 {TAB}"),
    "tab-at-the-start": ("\ta: 1", f"1:1 B003 {TAB}"),
    "tab-in-block-text": ("a: |\n  x\n\ty\nb: 1", f"3:1 B003 {TAB}"),
    "nul": ("a: b\0c", f"1:5 B002 the character U+0000 stands here, {HIDDEN}"),
    "escape-character": ("a: é\x1b[2J", f"1:5 B002 the character U+001B stands here, {HIDDEN}"),
    "line-separator": ("a: b\u2028c: d", f"1:5 B002 the character U+2028 stands here, {HIDDEN}"),
    "mark-in-the-middle": ("a: 1\n---\n\ufeffb: 1", f"3:1 B002 the character U+FEFF stands here, {HIDDEN}"),
    "half-an-escape": (
        'a: "\\ud83d\\ude00"',
        "1:7 B003 this escape is half of a character, or none. Write the character itself.",
    ),
    # brackets
    "bracket-to-the-end": (
        "a:\n  b: [1, 2\n",
        '2:6 B003 the bracket "[" is never closed. Write "]" after its last value.',
    ),
    "bracket-before-comma-end": (
        "a: [1,\n\n",
        '1:4 B003 the bracket "[" is never closed. Write "]" after its last value.',
    ),
    "bracket-before-next-key": (
        "a: [1, 2\nb: [3]\n",
        '1:4 B003 the bracket "[" is never closed. Write "]" after its last value.',
    ),
    "bracket-before-next-item": (
        "a:\n  - {x: 1\n  - {y: 2}\n",
        '2:5 B003 the bracket "{" is never closed. Write "}" after its last value.',
    ),
    "bracket-in-a-pair": (
        "[a: [1, 2",
        '1:5 B003 the bracket "[" is never closed. Write "]" after its last value.',
    ),
    "bracket-around-a-pair": (
        "[a: b",
        '1:1 B003 the bracket "[" is never closed. Write "]" after its last value.',
    ),
    "comma-missing": (
        "a: [\n  {x: 1}\n  {y: 2}\n]\n",
        f'3:3 B003 a "," or "]" is missing before this, in the bracket of line 1. {COMMA}',
    ),
    "comma-missing-in-json": (
        '{"a": 1\n"b": 2}',
        f'2:4 B003 a "," or "}}" is missing before this, in the bracket of line 1. {COMMA}',
    ),
    "comma-twice": (
        "a: [1, , 2]",
        "1:8 B003 a value is missing before this comma. Write it, or remove the comma.",
    ),
    "bracket-closes-nothing": ("a: [b]\n]\n", '2:1 B003 the bracket "]" closes nothing. Remove it.'),
    "bracket-instead-of-a-value": (
        "a: }",
        '1:4 B003 there can be no "}" here. Remove it, or put the text in quotes.',
    ),
    "bracket-after-the-end": ("{a: 1}}", f"1:7 B003 this stands after the end of the document. {OUTSIDE}"),
    # quotes
    "quote-to-the-end": ("a: 'b\nc: d\n", f"1:4 B003 the quote that begins here is never closed. {CLOSE}"),
    "quote-to-the-separator": (
        "a: 'b\n---\nc: d'",
        f"1:4 B003 the quote that begins here is never closed. {CLOSE}",
    ),
    "text-after-a-quote": ('a: "b" c', f"1:8 B003 the value is complete before this. {WHOLE}"),
    "escape-unknown": (
        'a: "\\d"',
        f'1:5 B003 in double quotes, "\\" begins an escape, and this is none. {BACKSLASH}',
    ),
    "escape-too-short": ('a: "\\u12"', f"1:7 B003 this escape has too few hexadecimal digits. {BACKSLASH}"),
    # indentation
    "key-too-far-left": (
        "a:\n  b: 1\n c: 2",
        f"3:2 B003 the line is not indented like the block that begins in line 1. {SAME}",
    ),
    "key-too-far-right": ("- x: 1\n   y: 2", f"2:5 B003 there can be no key here. {QUOTES}"),
    "key-after-a-value": ("a: 1\n b: 2", f"2:3 B003 there can be no key here. {QUOTES}"),
    "first-key-indented": ("  a: 1\nb: 2", f"2:1 B003 this stands after the end of the document. {OUTSIDE}"),
    "key-in-a-list": (
        "- a\nb: 1",
        '2:1 B003 this is no item of the list that begins in line 1. Begin it with "- ", or check its indentation.',
    ),
    "item-among-keys": (
        "a: b\n- c",
        "2:1 B003 this is a list item, but the block that begins in line 1 has keys. Write the list below a key of its own, or check its indentation.",
    ),
    # one line
    "two-colons": ("a: b: c", f"1:5 B003 there can be no key here. {QUOTES}"),
    "list-on-the-line-of-its-key": (
        "a: - b",
        '1:4 B003 there can be no list item here. Begin a list on a line of its own, or write it as "[a, b]".',
    ),
    "no-colon": (
        "a: 1\nb\nc: 1",
        '2:1 B003 this is neither "key: value" nor "- item". Write ":" and a space after a key, "-" and a space before an item.',
    ),
    "at-sign": ("a: @daily", '1:4 B003 text without quotes cannot begin with "@". Put it in quotes.'),
    "block-text-on-the-line": (
        "a: | b",
        '1:6 B003 after "|" or ">" the line must end. Begin the text in the next line, or put it in quotes.',
    ),
    "star-without-a-name": (
        "a: */5 * * * *",
        '1:4 B003 after "*" a name must follow. Text that begins with "*" goes in quotes.',
    ),
    "and-without-a-name": (
        "a: & b",
        '1:4 B003 after "&" a name must follow. Text that begins with "&" goes in quotes.',
    ),
    "other": (
        "? a\n  ? b",
        "1:1 B003 the text is no YAML from here on. Check quotes, brackets and indentation.",
    ),
    "text-after-the-end": (
        "a: 1\n...\nb: 1",
        f"3:1 B003 this stands after the end of the document. {OUTSIDE}",
    ),
    # YAML that is refused
    "tag-of-a-language": (
        "a: !!python/object:os.system [x]",
        f'1:4 B005 the tag "!!python/object:os.system" {TAG}',
    ),
    "tag-of-binary": ("a: !!binary aGk=", f'1:4 B005 the tag "!!binary" {TAG}'),
    "tag-of-ones-own": ("a:\n  !foo\n  b: 1", f'2:3 B005 the tag "!foo" {TAG}'),
    "tag-without-a-name": ("a: ! b", f'1:4 B005 the tag "!" {TAG}'),
    "tag-with-a-handle": ("a: !x!y z", f"1:4 B003 the tag that begins here {TAG}"),
    "tag-broken": ("a: !<x y", f"1:4 B003 the tag that begins here {TAG}"),
    "version-1.1": (
        "# c\n%YAML 1.1\n---\na: 1",
        '2:1 B005 the file asks for YAML 1.1, but it is read as YAML 1.2. Remove the line that begins with "%YAML".',
    ),
    "version-2": (
        "%YAML 2.0\n---\na: 1",
        '1:1 B003 the file asks for another version of YAML than 1.2. Remove the line that begins with "%YAML".',
    ),
    "directive-unknown": (
        "%FOO\n---\na: 1",
        '1:1 B003 a line that begins with "%" is not understood. Remove it; text that begins with "%" goes in quotes.',
    ),
    "alias-of-nothing": (
        "a: *b",
        '1:4 B005 the alias "*b" repeats nothing: no value before it is marked "&b". Mark one in the same document; text that begins with "*" goes in quotes.',
    ),
    "alias-of-another-document": (
        "a: &b 1\n---\na: *b",
        '3:4 B005 the alias "*b" repeats nothing: no value before it is marked "&b". Mark one in the same document; text that begins with "*" goes in quotes.',
    ),
    "alias-of-itself": (
        "a: &b [1, *b]",
        '1:11 B005 the alias "*b" stands within the value that it repeats. Write the value out here.',
    ),
    "merge-of-text": (
        "a: 1\n<<: b",
        '2:5 B005 "<<" takes over the keys of a mapping, and this is text. Give it the alias of a mapping, as in "<<: *name", or remove it.',
    ),
    "merge-of-a-list-of-numbers": (
        "a: {<<: [{b: 1}, 2]}",
        '1:18 B005 "<<" takes over the keys of a mapping, and this is a number. Give it the alias of a mapping, as in "<<: *name", or remove it.',
    ),
    # keys
    "key-twice": (
        "a: 1\nb: 2\na: 3",
        '3:1 B004 the key "a" stands here again; it is in line 1 already. Keep one of the two.',
    ),
    "key-twice-in-quotes": (
        'é: {b: 1, "b": 2}',
        '1:11 B004 the key "b" stands here again; it is in line 1 already. Keep one of the two.',
    ),
    "key-twice-in-json": (
        '{"a": 1,\n "a": 2}',
        '2:2 B004 the key "a" stands here again; it is in line 1 already. Keep one of the two.',
    ),
    "merge-twice": (
        "<<: {a: 1}\n<<: {b: 1}",
        '2:1 B004 the key "<<" stands here again; it is in line 1 already. Keep one of the two.',
    ),
    "key-is-a-number": ("1: x", '1:1 B005 the key 1 is a number, and keys are text. Put it in quotes: "1".'),
    "key-begins-with-zero": (
        "{0900: x}",
        '1:2 B005 the key 0900 is a number, and keys are text. Put it in quotes: "0900".',
    ),
    "key-is-true": (
        "a:\n  true: x",
        '2:3 B005 the key true is a truth value, and keys are text. Put it in quotes: "true".',
    ),
    "key-is-null": ("~: x", '1:1 B005 the key ~ is empty, and keys are text. Put it in quotes: "~".'),
    "key-is-missing": ("{: x}", '1:2 B005 a key is missing here. Write one before the ":".'),
    "key-is-a-list": (
        "? [a]\n: x",
        '1:3 B005 the key is a list, and keys are text. Put text that begins with "{" or "[" in quotes.',
    ),
    "key-is-a-mapping": (
        "a: {{ name }}",
        '1:5 B005 the key is a mapping, and keys are text. Put text that begins with "{" or "[" in quotes.',
    ),
    # size
    "deep-brackets": ("a: " + "[" * 100_000, f"1:103 B006 {TOO_DEEP}"),
    "deep-json": ("[" * 100_000 + "]" * 100_000, f"1:101 B006 {TOO_DEEP}"),
    "deep-json-a-little": ('{"a":' * 101 + "1" + "}" * 101, f"1:501 B006 {TOO_DEEP}"),
    "deep-items": ("- " * 100_000, f"1:201 B006 {TOO_DEEP}"),
    "deep-indentation": ("".join(" " * n + "a:\n" for n in range(150)), f"101:101 B006 {TOO_DEEP}"),
    "deep-through-aliases": (TALL, f"11:19 B006 {TOO_DEEP}"),
    "many-through-aliases": (BOMB, f"5:38 B006 {TOO_MANY}"),
    "many-in-a-list": ("a: [" + "1," * 100_000 + "]", f"1:199999 B006 {TOO_MANY}"),
    # nothing
    "no-byte": ("", "1:1 B007 the file has no document in it. Write one, or remove the file."),
    "only-comments": (
        "# a\n\n  # b\n",
        "1:1 B007 the file has no document in it. Write one, or remove the file.",
    ),
    "only-empty-documents": (
        "---\n# a\n---\n~\n",
        "1:1 B007 the file has no document in it. Write one, or remove the file.",
    ),
    "only-null": ("null", "1:1 B007 the file has no document in it. Write one, or remove the file."),
}


def told(data: bytes) -> list[str]:
    _, problems = parse(Source("f.yaml", data))
    assert all(problem.file == "f.yaml" for problem in problems)
    return [f"{at.line}:{at.column} {at.code} {at.message} {at.fix}" for at in problems]


@pytest.mark.parametrize(("text", "finding"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_told_once_where_it_is(text: str, finding: str) -> None:
    assert told(text.encode()) == [finding]


@pytest.mark.parametrize("end", ["\r\n", "\r"], ids=["windows", "old-mac"])
def test_lines_count_the_same_whatever_ends_them(end: str) -> None:
    text = "# c\na: é\nb:\n  c: [1, 2\nd: 1\n".replace("\n", end)

    assert told(text.encode()) == [
        '4:6 B003 the bracket "[" is never closed. Write "]" after its last value.'
    ]


SAVE = 'Save the file with the encoding "UTF-8".'


@pytest.mark.parametrize(
    ("data", "finding"),
    [
        ("a: 1".encode("utf-16"), f"1:1 B002 the file is encoded as UTF-16, not as UTF-8. {SAVE}"),
        (b"\xfe\xff\0a", f"1:1 B002 the file is encoded as UTF-16, not as UTF-8. {SAVE}"),
        ("a: 1".encode("utf-32"), f"1:1 B002 the file is encoded as UTF-32, not as UTF-8. {SAVE}"),
        (b"a: 1\nb: \xc3\xa9 \xe9", f"2:6 B002 the byte 0xE9 is not UTF-8. {SAVE}"),
        (b"\xef\xbb\xbfa: \xe9", f"1:4 B002 the byte 0xE9 is not UTF-8. {SAVE}"),
        (b"a: \xed\xa0\x80", f"1:4 B002 the byte 0xED is not UTF-8. {SAVE}"),
        (b"\xef\xbb\xbfa: [", '1:4 B003 the bracket "[" is never closed. Write "]" after its last value.'),
    ],
    ids=["utf-16", "utf-16-big", "utf-32", "latin-1", "latin-1-after-a-mark", "half-a-pair", "mark"],
)
def test_bytes_that_are_no_utf8_are_told(data: bytes, finding: str) -> None:
    assert told(data) == [finding]


def test_half_a_character_in_json_is_told() -> None:
    text = '{"a": "\\ud83d\\ude00", "b": ["\\ud800"]}'

    message = 'the text has the escape "\\ud800", which is half of a character. Write the character itself.'
    assert told(text.encode()) == [f"1:30 B002 {message}"]


def test_all_faults_of_a_file_are_told() -> None:
    text = "a: 1\na: 2\nb: !x 1\n---\n1: 2\n---\nc: [\n"

    assert told(text.encode()) == [
        f'3:4 B005 the tag "!x" {TAG}',
        '2:1 B004 the key "a" stands here again; it is in line 1 already. Keep one of the two.',
        '5:1 B005 the key 1 is a number, and keys are text. Put it in quotes: "1".',
        '7:4 B003 the bracket "[" is never closed. Write "]" after its last value.',
    ]


def test_what_is_told_of_a_text_cannot_spoil_the_screen() -> None:
    text = '"\\e[2J": 1\n"\\e[2J": 2\n' + f"{'k' * 100}: 1\n{'k' * 100}: 2\n"

    assert told(text.encode()) == [
        '2:1 B004 the key "\\x1b[2J" stands here again; it is in line 1 already. Keep one of the two.',
        f'4:1 B004 the key "{"k" * 59}…" stands here again; it is in line 3 already. Keep one of the two.',
    ]
