"""A finding points at the very value, by line, column and a path in people's words."""

import pytest
from berth.findings import Finding, Problem
from berth.reading.document import parse
from berth.reading.place import Places, locate
from berth.reading.scalar import IN_QUOTES
from berth.reading.source import Source

from tests.cases import tables

SITE = """\
# é
kind: Site
metadata: {name: "Zürich", labels: {a.b/c: é, "x\\ty": 0900}}
spec:
  clusters:
    - name: prod
      ceilings:
        - {seats: {small: 300}}
    - ceilings: []
    -
    - {name: "a b"}
  seats:
  - resourceClass: small
    placeholderCount: -3
  - {resourceClass: 5, placeholderCount: !!str 7}
  empty:
  text: |
    a
    b
"""

PLACES = tables("reading")["places"]


@pytest.mark.parametrize(("path", "value", "key", "raw", "shown"), PLACES.values(), ids=PLACES)
def test_a_value_has_its_place_and_its_path(
    path: list[str | int], value: str, key: str, raw: str, shown: str
) -> None:
    places = Places(SITE.encode())

    assert "{}:{}".format(*places.at(0, (*path,))) == value
    assert "{}:{}".format(*places.at(0, (*path,), key=True)) == key
    assert places.path_text(0, (*path,)) == shown
    if raw:
        assert places.raw(0, (*path,)) == raw


def test_a_byte_order_mark_and_crlf_do_not_change_places() -> None:
    plain, marked = Places(SITE.encode()), Places(b"\xef\xbb\xbf" + SITE.replace("\n", "\r\n").encode())
    for path, *_ in PLACES.values():
        assert marked.at(0, (*path,)) == plain.at(0, (*path,))


def test_places_use_the_document_index_of_the_parser() -> None:
    text = b"---\n---\na: 1\n---\n---\nb: {c: 2}\n"
    documents, _ = parse(Source("f.yaml", text))
    places = Places(text)

    assert [document.index for document in documents] == [1, 3]
    assert places.at(1, ("a",)) == (3, 4)
    assert places.at(3, ("b", "c")) == (6, 8)


def test_an_alias_has_its_own_place_and_its_content_has_the_place_of_the_anchor() -> None:
    places = Places(b"a: &x\n  b: [1]\nc: *x\nd:\n  <<: *x\n  e: 2\n")

    assert places.at(0, ("c",)) == (3, 4)
    assert places.raw(0, ("c",)) == "*x"
    assert places.at(0, ("c", "b", 0)) == (2, 7)
    assert places.at(0, ("d", "b")) == (2, 6)
    assert places.at(0, ("d", "b"), key=True) == (2, 3)
    assert places.at(0, ("d", "e")) == (6, 6)


def test_a_duplicate_key_has_the_place_of_its_first_occurrence() -> None:
    assert Places(b"a: 1\nb: 2\na: 3\n").at(0, ("a",)) == (1, 4)


def test_json_that_is_not_yaml_has_places() -> None:
    text = (
        '[\n\t{"name": "\\ud83d\\ude00", "\\ud83d\\ude00": {"b": [1, -2.5]}},\n\t{"name": "x", "c": null}\n]'
    )
    places = Places(text.encode())

    assert places.at(0, (0, "😀", "b", 1)) == (2, 53)
    assert places.raw(0, (0, "😀", "b", 1)) == "-2.5"
    assert places.at(0, (1, "c")) == (3, 21)
    assert places.path_text(0, (1, "c")) == "[x].c"
    assert places.path_text(0, (0, "name")) == "[0].name"


@pytest.mark.parametrize("text", ["", "a: [", "\0", "[" * 5000], ids=["empty", "broken", "hidden", "deep"])
def test_an_unreadable_text_has_its_place_at_the_start(text: str) -> None:
    places = Places(text.encode())

    assert places.at(0, ("a", 0)) == (1, 1)
    assert places.at(3, ()) == (1, 1)
    assert places.raw(0, ("a",)) == ""
    assert places.path_text(0, ("a", 0)) == "a[0]"


def test_a_document_before_a_broken_document_has_places() -> None:
    assert Places(b"a: 1\n---\nb: [\n").at(0, ("a",)) == (1, 4)


def severity(code: str) -> str:
    return {"B007": "warning"}.get(code, "error")


def test_problems_become_findings_once_and_in_order() -> None:
    sources = [
        Source("b.yaml", b"a:\n  - {name: x, b: 1}\n"),
        Source("a.yaml", b"c: [\n"),
        Source("c.yaml", b""),
    ]
    _, broken = parse(sources[1])
    _, empty = parse(sources[2])
    value = Problem("B012", "b.yaml", 0, ("a", 0, "b"), "1 is below 2.", "Write 2.")
    problems: list[Problem | Finding] = [
        *empty,
        Problem("B010", "b.yaml", 0, ("a", 0, "b"), "this key is unknown.", "Remove it.", at_key=True),
        value,
        value,
        *broken,
        Problem("B001", "d/e.yaml", 0, (), "it cannot be read.", "Remove it."),
    ]

    findings = locate(problems, sources)

    close, nothing = ((one.message, one.fix) for one in (*broken, *empty))
    assert findings == [
        Finding("a.yaml", 1, 4, "B003", "error", "", *close),
        Finding("b.yaml", 2, 15, "B010", "error", "a[x].b", "this key is unknown.", "Remove it."),
        Finding("b.yaml", 2, 18, "B012", "error", "a[x].b", "1 is below 2.", "Write 2."),
        Finding("c.yaml", 1, 1, "B007", "warning", "", *nothing),
        Finding("d/e.yaml", 1, 1, "B001", "error", "", "it cannot be read.", "Remove it."),
    ]


@pytest.mark.parametrize(
    ("written", "as_read"),
    [("0x1f", "31"), ("0o17", "15"), ("1e3", "1000.0"), ("1.0", "1.0"), ("+5", "5"), ("True", "true")],
)
def test_a_number_in_place_of_a_text_is_shown_as_written(written: str, as_read: str) -> None:
    source = Source("a.yaml", f"a: {written}".encode())
    message = 'profile "It is a": {} is a number, not a name.'
    problem = Problem("B013", "a.yaml", 0, ("a",), message.format(as_read), f'{IN_QUOTES}: "{as_read}".')
    (finding,) = locate([problem], [source])

    assert (finding.message, finding.fix) == (
        message.format(written),
        f'{IN_QUOTES}: "{written}".',
    )


@pytest.mark.parametrize("text", ["{a: &x 31, b: *x}", "{}"], ids=["alias", "missing"])
def test_a_number_that_is_not_written_at_its_place_is_shown_as_parsed(text: str) -> None:
    problem = Problem("B013", "a.yaml", 0, ("b",), "31 is a number, not a name.", f'{IN_QUOTES}: "31".')
    (finding,) = locate([problem], [Source("a.yaml", text.encode())], severity)

    assert (finding.message, finding.fix) == (problem.message, problem.fix)
