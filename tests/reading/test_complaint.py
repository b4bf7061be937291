"""What is not YAML is told where it is, and in a few words what is wrong."""

import pytest
from berth.reading.document import parse
from berth.reading.source import Source

FAULTS = {
    "conflict": ("a: 1\nb:\n<<<<<<< HEAD\n  - c\n=======\n  - d\n>>>>>>> x\n", "3:1", "conflict"),
    "conflict-at-the-start": ("<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> 12ab\n", "1:1", "conflict"),
    "tab-before-key": ("a:\n\tb: 1", "2:1", "tab"),
    "tab-after-key": ("a: 1\n\tb: 2", "2:1", "tab"),
    "tab-at-the-start": ("\ta: 1", "1:1", "tab"),
    "tab-in-block-text": ("a: |\n  x\n\ty\nb: 1", "3:1", "tab"),
    "bracket-open-to-the-end": ("a:\n  b: [1, 2\n", "2:6", '"[" is never closed'),
    "bracket-open-after-comma": ("a: [1,\n\n", "1:4", '"[" is never closed'),
    "bracket-open-before-next-key": ("a: [1, 2\nb: [3]\n", "1:4", '"[" is never closed'),
    "bracket-open-before-next-item": ("a:\n  - {x: 1\n  - {y: 2}\n", "2:5", '"{" is never closed'),
    "bracket-open-in-a-pair": ("[a: [1, 2", "1:5", '"[" is never closed'),
    "bracket-open-around-a-pair": ("[a: b", "1:1", '"[" is never closed'),
    "bracket-open-around-a-spaced-pair": ("[ a: [b]", "1:1", '"[" is never closed'),
    "comma-missing": ("a: [\n  {x: 1}\n  {y: 2}\n]\n", "3:3", '"," or "]"'),
    "comma-missing-in-json": ('{"a": 1\n"b": 2}', "2:4", '"," or "}"'),
    "comma-twice": ("a: [1, , 2]", "1:8", "before this comma"),
    "bracket-closes-nothing": ("a: [b]\n]\n", "2:1", 'unexpected bracket "]"'),
    "bracket-for-a-value": ("a: }", "1:4", 'unexpected "}"'),
    "bracket-after-the-end": ("{a: 1}}", "1:7", "after the end of the document"),
    "quote-open-to-the-end": ("a: 'b\nc: d\n", "1:4", "quote"),
    "quote-open-to-the-separator": ("a: 'b\n---\nc: d'", "1:4", "quote"),
    "text-after-a-quote": ('a: "b" c', "1:8", "the value is complete"),
    "escape-unknown": ('a: "\\d"', "1:5", "unknown escape"),
    "escape-too-short": ('a: "\\u12"', "1:7", "hexadecimal"),
    "escape-half-a-character": ('a: "\\ud83d\\ude00"', "1:7", "not a whole character"),
    "key-too-far-left": ("a:\n  b: 1\n c: 2", "3:2", "not indented"),
    "key-too-far-right": ("- x: 1\n   y: 2", "2:5", "unexpected key"),
    "key-below-a-value": ("a: 1\n b: 2", "2:3", "unexpected key"),
    "first-key-indented": ("  a: 1\nb: 2", "2:1", "after the end of the document"),
    "key-in-a-list": ("- a\nb: 1", "2:1", "not an item"),
    "item-among-keys": ("a: b\n- c", "2:1", "list item"),
    "two-colons": ("a: b: c", "1:5", "unexpected key"),
    "list-beside-its-key": ("a: - b", "1:4", "unexpected list item"),
    "no-colon": ("a: 1\nb\nc: 1", "2:1", "neither"),
    "at-sign": ("a: @daily", "1:4", '"@"'),
    "block-text-beside-its-key": ("a: | b", "1:6", "the line must end"),
    "star-without-a-name": ("a: */5 * * * *", "1:4", '"*"'),
    "and-without-a-name": ("a: & b", "1:4", '"&"'),
    "text-after-the-end": ("a: 1\n...\nb: 1", "3:1", "after the end of the document"),
    "text-after-a-directive": ("%YAML 1.2\na: 1", "2:1", "after the end of the document"),
    "tag-with-a-handle": ("a: !x!y z", "1:4", "unsupported tag"),
    "tag-broken": ("a: !<x y", "1:4", "unsupported tag"),
    "version-2": ("%YAML 2.0\n---\na: 1", "1:1", "another version"),
    "directive-unknown": ("%FOO\n---\na: 1", "1:1", "directive"),
    "anything-else": ("a: ? b", "1:4", "not valid YAML"),
    "directive-twice": ("%YAML 1.2\n%YAML 1.2\n---\na: 1", "2:1", "directive"),
}


@pytest.mark.parametrize(("text", "place", "word"), FAULTS.values(), ids=FAULTS)
def test_malformed_yaml_gets_one_finding_b003_at_its_place(text: str, place: str, word: str) -> None:
    documents, (problem,) = parse(Source("f.yaml", text.encode()))

    assert (problem.code, f"{problem.line}:{problem.column}") == ("B003", place)
    assert word in problem.message
    assert problem.fix
    assert documents == []
