"""What is no YAML is told where it is, in words that need no grammar, with what to write instead."""

import pytest

from gen.input.document import parse
from gen.input.source import Source

QUOTES = 'Put a value with ": " in it in quotes; if this is a key, check the indentation of its line.'
NO_KEY = f"B003 there can be no key here. {QUOTES}"
OPEN_LIST = 'B003 the bracket "[" is never closed. Write "]" after its last value.'
OPEN_MAPPING = 'B003 the bracket "{" is never closed. Write "}" after its last value.'
TOO_MUCH = (
    'B003 this stands after the end of the document. Remove it, or begin another document with a line "---".'
)
COMMA = "Write it; text with brackets, commas or quotes in it goes in quotes."
NO_COMMA = f'B003 a "," or "]" is missing before this, in the bracket of line 1. {COMMA}'
OPEN_QUOTE = (
    "B003 the quote that begins here is never closed. Close it, or put the text in the other kind of quotes."
)
BACKSLASH = 'Write "\\\\" for a backslash, or use single quotes.'
AFTER_VALUE = (
    "B003 the value is complete before this. "
    "Put the whole value in one pair of quotes, or remove what is too much."
)
OTHER_INDENT = "B003 the line is not indented like the block that begins in line 1."
NO_ITEM = (
    'B003 this is no item of the list that begins in line 1. Begin it with "- ", or check its indentation.'
)
ITEM = (
    "B003 this is a list item, but the block that begins in line 1 has keys. "
    "Write the list below a key of its own, or check its indentation."
)
NO_LIST = 'B003 there can be no list item here. Begin a list on a line of its own, or write it as "[a, b]".'
NO_COLON = (
    'B003 this is neither "key: value" nor "- item". '
    'Write ":" and a space after a key, "-" and a space before an item.'
)
BLOCK_TEXT = 'B003 after "|" or ">" the line must end. Begin the text in the next line, or put it in quotes.'
TAB = "B003 the line is indented with a tab. Indent with spaces."
TAG = 'B003 the tag that begins here is not understood. Remove it; text that begins with "!" goes in quotes.'
HALF = "B003 this escape is half of a character, or none. Write the character itself."
VERSION = 'B003 the file asks for another version of YAML than 1.2. Remove the line that begins with "%YAML".'
DIRECTIVE = (
    'B003 a line that begins with "%" is not understood. Remove it; text that begins with "%" goes in quotes.'
)

FAULTS = {
    "tab-before-key": ("a:\n\tb: 1", f"2:1 {TAB}"),
    "tab-after-key": ("a: 1\n\tb: 2", f"2:1 {TAB}"),
    "tab-at-the-start": ("\ta: 1", f"1:1 {TAB}"),
    "tab-in-block-text": ("a: |\n  x\n\ty\nb: 1", f"3:1 {TAB}"),
    "bracket-open-to-the-end": ("a:\n  b: [1, 2\n", f"2:6 {OPEN_LIST}"),
    "bracket-open-after-comma": ("a: [1,\n\n", f"1:4 {OPEN_LIST}"),
    "bracket-open-before-next-key": ("a: [1, 2\nb: [3]\n", f"1:4 {OPEN_LIST}"),
    "bracket-open-before-next-item": ("a:\n  - {x: 1\n  - {y: 2}\n", f"2:5 {OPEN_MAPPING}"),
    "bracket-open-in-a-pair": ("[a: [1, 2", f"1:5 {OPEN_LIST}"),
    "bracket-open-around-a-pair": ("[a: b", f"1:1 {OPEN_LIST}"),
    "bracket-open-around-a-spaced-pair": ("[ a: [b]", f"1:1 {OPEN_LIST}"),
    "comma-missing": ("a: [\n  {x: 1}\n  {y: 2}\n]\n", f"3:3 {NO_COMMA}"),
    "comma-missing-in-json": ('{"a": 1\n"b": 2}', f"2:4 {NO_COMMA.replace(']', '}')}"),
    "comma-twice": (
        "a: [1, , 2]",
        "1:8 B003 a value is missing before this comma. Write it, or remove the comma.",
    ),
    "bracket-closes-nothing": ("a: [b]\n]\n", '2:1 B003 the bracket "]" closes nothing. Remove it.'),
    "bracket-for-a-value": (
        "a: }",
        '1:4 B003 there can be no "}" here. Remove it, or put the text in quotes.',
    ),
    "bracket-after-the-end": ("{a: 1}}", f"1:7 {TOO_MUCH}"),
    "quote-open-to-the-end": ("a: 'b\nc: d\n", f"1:4 {OPEN_QUOTE}"),
    "quote-open-to-the-separator": ("a: 'b\n---\nc: d'", f"1:4 {OPEN_QUOTE}"),
    "text-after-a-quote": ('a: "b" c', f"1:8 {AFTER_VALUE}"),
    "escape-unknown": (
        'a: "\\d"',
        f'1:5 B003 in double quotes, "\\" begins an escape, and this is none. {BACKSLASH}',
    ),
    "escape-too-short": (
        'a: "\\u12"',
        f"1:7 B003 this escape has too few hexadecimal digits. {BACKSLASH}",
    ),
    "escape-half-a-character": ('a: "\\ud83d\\ude00"', f"1:7 {HALF}"),
    "key-too-far-left": (
        "a:\n  b: 1\n c: 2",
        f"3:2 {OTHER_INDENT} Give all keys of a block the same number of spaces.",
    ),
    "key-too-far-right": ("- x: 1\n   y: 2", f"2:5 {NO_KEY}"),
    "key-below-a-value": ("a: 1\n b: 2", f"2:3 {NO_KEY}"),
    "first-key-indented": ("  a: 1\nb: 2", f"2:1 {TOO_MUCH}"),
    "key-in-a-list": ("- a\nb: 1", f"2:1 {NO_ITEM}"),
    "item-among-keys": ("a: b\n- c", f"2:1 {ITEM}"),
    "two-colons": ("a: b: c", f"1:5 {NO_KEY}"),
    "list-beside-its-key": ("a: - b", f"1:4 {NO_LIST}"),
    "no-colon": ("a: 1\nb\nc: 1", f"2:1 {NO_COLON}"),
    "at-sign": (
        "a: @daily",
        '1:4 B003 text without quotes cannot begin with "@". Put it in quotes.',
    ),
    "block-text-beside-its-key": ("a: | b", f"1:6 {BLOCK_TEXT}"),
    "star-without-a-name": (
        "a: */5 * * * *",
        '1:4 B003 after "*" a name must follow. Text that begins with "*" goes in quotes.',
    ),
    "and-without-a-name": (
        "a: & b",
        '1:4 B003 after "&" a name must follow. Text that begins with "&" goes in quotes.',
    ),
    "text-after-the-end": ("a: 1\n...\nb: 1", f"3:1 {TOO_MUCH}"),
    "text-after-a-directive": ("%YAML 1.2\na: 1", f"2:1 {TOO_MUCH}"),
    "tag-with-a-handle": ("a: !x!y z", f"1:4 {TAG}"),
    "tag-broken": ("a: !<x y", f"1:4 {TAG}"),
    "version-2": ("%YAML 2.0\n---\na: 1", f"1:1 {VERSION}"),
    "directive-unknown": ("%FOO\n---\na: 1", f"1:1 {DIRECTIVE}"),
    "anything-else": (
        "a: ? b",
        "1:4 B003 the text is no YAML from here on. Check quotes, brackets and indentation.",
    ),
    "directive-twice": ("%YAML 1.2\n%YAML 1.2\n---\na: 1", f"2:1 {DIRECTIVE}"),
}


@pytest.mark.parametrize(("text", "finding"), FAULTS.values(), ids=FAULTS)
def test_what_is_no_yaml_is_told_once_where_it_is(text: str, finding: str) -> None:
    documents, problems = parse(Source("f.yaml", text.encode()))

    assert [f"{at.line}:{at.column} {at.code} {at.message} {at.fix}" for at in problems] == [finding]
    assert documents == []
