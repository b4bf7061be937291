"""One document of a file is edited; everything else in it stays as it was, byte for byte."""

from random import Random
from typing import Any

import pytest
from berth.edit.edits import Assignment, apply_assignment, parse_assignment
from berth.edit.fieldpaths import FieldPath
from berth.edit.roundtrip import MakeNode, edit_document
from berth.notation.refusal import CommandError
from berth.reading.document import parse
from berth.reading.source import Source

from tests.cases import tabled

FILE = """\
# ours
apiVersion: berth.dev/v1alpha1   # the version
kind: CapacityReservation
metadata: {name: first}
spec:
    title: "First"   # a title
    recurrence:
        type: weekly
        schedule:
        - {dayOfWeek: 1, startTime: "09:00", endTime: '13:00'}   # Mondays
        # the list goes on
        - dayOfWeek: wed
          startTime: 09:00
    provisioning:

        placeholderCount: 25
---
# the second
kind: Other
spec:
  text: |
    --- not a marker
  list: [a,   b]
...
"""


def values(text: str) -> list[Any]:
    documents, faults = parse(Source("", text.encode()))
    assert not faults
    return [document.value for document in documents]


def set_count(tree: Any, make: MakeNode) -> None:
    tree["spec"]["provisioning"]["placeholderCount"] = make(30)


def test_an_edit_changes_only_the_edited_value() -> None:
    assert edit_document(FILE, 0, set_count) == FILE.replace("placeholderCount: 25", "placeholderCount: 30")


def test_another_document_of_the_file_is_edited_in_its_place() -> None:
    def change(tree: Any, make: MakeNode) -> None:
        tree["kind"] = make("Another")

    assert (
        edit_document(FILE, 1, change).partition("---\n# the second")[0]
        == FILE.partition("---\n# the second")[0]
    )
    assert values(edit_document(FILE, 1, change))[1]["kind"] == "Another"


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_an_edit_keeps_the_line_ends(ending: str) -> None:
    text = FILE.replace("\n", ending)
    assert edit_document(text, 0, set_count) == text.replace("placeholderCount: 25", "placeholderCount: 30")


def test_json_keeps_its_indent() -> None:
    text = '{\n   "spec": {\n      "a": 1\n   }\n}\n'

    def change(tree: Any, make: MakeNode) -> None:
        tree["spec"]["a"] = make(2)

    assert edit_document(text, 0, change) == text.replace("1", "2")


@pytest.mark.parametrize("last", ["# tail", "    # tail", "  text: |+\n    a\n# tail", "  title: x # y"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_the_last_line_stays_without_a_line_end(last: str, ending: str) -> None:
    text = f"spec:\n  provisioning: {{placeholderCount: 25}}\n{last}".replace("\n", ending)

    assert edit_document(text, 0, set_count) == text.replace("25", "30").replace("|+", "|")


MIXED = """\
metadata:
  name: x
spec:
    title: "Course # 1"   # shown
    recurrence:
        schedule:
        - {day: mon}
        # why
        - {day: tue}  # flow
        except:
        - 2027-02-15
    provisioning: {placeholderCount: 25}
"""


def test_a_comment_stays_at_its_item_when_the_indent_changes() -> None:
    assert "    # why\n    - {day: tue}  # flow\n" in edit_document(MIXED, 0, set_count)


def test_a_number_sign_in_quotes_is_no_comment() -> None:
    text = MIXED.replace("        # why\n", "")

    assert 'title: "Course # 1"' in edit_document(text, 0, set_count)


@pytest.mark.parametrize(
    "value", ["[1,  # why\n    2]", "{a: 1,  # why\n    b: 2}", "[\n    1,\n    2,  # why\n  ]"]
)
def test_a_comment_between_brackets_stops_the_edit_and_is_named(value: str) -> None:
    text = f"spec:\n  provisioning: {{placeholderCount: 25}}\n  other: {value}\n"

    with pytest.raises(CommandError, match="# why"):
        edit_document(text, 0, set_count)


@pytest.mark.parametrize(
    "kept",
    [
        "  a: [1, 2]  # behind\n",
        "  a: &x {b: 1}  # anchor\n  c: *x  # alias\n  d:\n    <<: *x  # merged\n    # and more\n    e: 2\n",
        "  a: |  # a text\n    # of it\n\n    b # c\n  # after it\n  d: 'it''s # 1' # one\n",
        "  a:\n    - # no value\n    -  # nor here\n",
        "  # above\n  a: long text  # its own line\n",
    ],
    ids=["brackets", "alias", "text", "nothing", "line"],
)
def test_comments_of_other_values_stay(kept: str) -> None:
    text = f"spec:\n{kept}  provisioning: {{placeholderCount: 25}}\n"
    written = text.replace("[1, 2]", "[1,\n\n    2]").replace("a: long", "a:\n    long")

    assert edit_document(written, 0, set_count) == text.replace("25", "30")


REASONS = """\
# of the file
---
lines:
  # the lecture
  - day: mon
    at: 9  # sharp

  # the lab
  - {day: wed}  # in the basement
dates:
  # first of all
  - 1
  # for the exam
  - a: 5  # begins
    b: 7  # ends
# the end
"""


def test_a_new_item_goes_before_the_comments_of_the_next_one() -> None:
    def change(tree: Any, make: MakeNode) -> None:
        for index in (1, 0):
            tree["lines"][index]["to"] = make(4)
            tree["lines"].insert(index + 1, make({"day": "fri"}))
        tree["dates"].insert(1, make(3))
        tree["dates"].insert(0, make(0))
        tree["dates"].append(make(9))

    expected = REASONS.replace("# sharp\n", "# sharp\n    to: 4\n  - {day: fri}\n")
    expected = expected.replace("wed}  # in the basement", "wed, to: 4}  # in the basement\n  - {day: fri}")
    expected = expected.replace("# first", "- 0\n  # first").replace("# for", "- 3\n  # for")
    assert edit_document(REASONS, 0, change) == expected.replace("# the end", "  - 9\n# the end")


def test_the_comments_of_an_item_go_only_with_all_of_it() -> None:
    def remove(tree: Any, make: MakeNode) -> None:
        del tree["dates"][1]
        tree["dates"].append(make(9))

    def change(tree: Any, make: MakeNode) -> None:
        tree["dates"][1]["a"] = make(6)
        tree["lines"][1] = make({"day": "thu", "at": 8})

    gone = "  - a: 5  # begins\n    b: 7  # ends\n"
    assert edit_document(REASONS, 0, remove) == REASONS.replace(gone, "  - 9\n")
    expected = REASONS.replace("a: 5", "a: 6").replace("{day: wed}", "{day: thu, at: 8}")
    assert edit_document(REASONS, 0, change) == expected


@pytest.mark.parametrize(
    ("path", "refused"),
    [
        (("dates", 1), 'line 15: .*"# ends"'),
        (("dates",), 'line 14: .*"# begins"'),
        (("lines", 0), 'line 6: .*"# sharp"'),
    ],
)
def test_an_edit_that_would_lose_a_comment_of_a_value_is_refused(path: tuple[Any, ...], refused: str) -> None:
    def change(tree: Any, make: MakeNode) -> None:
        for step in path[:-1]:
            tree = tree[step]
        tree[path[-1]] = make({"a": 6, "b": 7})

    with pytest.raises(CommandError, match=refused):
        edit_document(REASONS, 0, change)


def test_a_document_that_cannot_be_edited_safely_is_refused() -> None:
    def change(tree: Any, make: MakeNode) -> None:
        tree["b"] = make("x" if isinstance(tree, dict) and type(tree) is dict else "y")

    with pytest.raises(CommandError, match="edit it by hand"):
        edit_document("a: 1\n", 0, change)


COMMENTED = """\
recurrence:
  # before except
  except:
    # first
    - 2026-01-01  # one
    # second
    - {date: 2026-01-02, startTime: "09:00"}  # two
    # third
    - date: 2026-01-03  # three
      startTime: "09:00"
    # after

  # before moved
  moved:
    # the first
    - {date: 2026-02-02, to: {date: 2026-02-03}}  # it
    # the last
  # before extra
  extra: [{date: 2026-02-02}]  # flow
  # the end
provisioning: {a: 1}
"""


def without_lines(*gone: str) -> str:
    return "".join(line for line in COMMENTED.splitlines(keepends=True) if line.strip() not in gone)


@pytest.mark.parametrize(
    ("key", "index", "after"),
    [
        ("except", 0, without_lines("- 2026-01-01  # one")),
        ("except", 1, without_lines('- {date: 2026-01-02, startTime: "09:00"}  # two')),
        ("except", 2, without_lines("- date: 2026-01-03  # three", 'startTime: "09:00"')),
        ("moved", 0, without_lines("moved:", "- {date: 2026-02-02, to: {date: 2026-02-03}}  # it")),
        ("extra", 0, without_lines("extra: [{date: 2026-02-02}]  # flow")),
    ],
    ids=["first", "middle", "last", "only", "flow"],
)
def test_comment_lines_stay_when_a_value_is_removed(key: str, index: int, after: str) -> None:
    def change(tree: Any, make: MakeNode) -> None:  # noqa: ARG001 - nothing is made
        del tree["recurrence"][key][index]
        if not tree["recurrence"][key]:
            del tree["recurrence"][key]

    assert edit_document(COMMENTED, 0, change) == after


@tabled("edit")
@pytest.mark.parametrize("flush", [False, True], ids=["indented", "flush"])
def test_a_new_value_goes_before_the_comments_of_the_next_key(
    key: str, before: str, line: str, *, flush: bool
) -> None:
    def change(tree: Any, make: MakeNode) -> None:
        if key in tree["recurrence"]:
            tree["recurrence"][key].append(make("2026-09-09"))
        else:
            tree["recurrence"][key] = make(["2026-09-09"])

    text, added = COMMENTED, line
    if flush:
        text = "".join(
            splitline[2:] if splitline.startswith("    ") else splitline
            for splitline in COMMENTED.splitlines(keepends=True)
            if splitline.strip() not in ("# after", "# the last")
        )
        added = line.replace("    -", "  -")
    assert edit_document(text, 0, change) == text.replace(before, added + before)


@pytest.mark.parametrize("said", ["title", "=3", "a..b=1", "a[x]=1", "list=[1"])
def test_a_malformed_assignment_is_refused(said: str) -> None:
    with pytest.raises(CommandError):
        parse_assignment(said)


@tabled("edit")
def test_an_assignment_to_a_path_that_does_not_fit_the_file_is_refused(path: FieldPath, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        edit_document(FILE, 1, lambda tree, make: apply_assignment(tree, Assignment((*path, "z"), 1), make))


def test_any_text_that_is_set_is_read_back_unchanged() -> None:
    random = Random(7)
    for _ in range(300):
        text = "".join(
            random.choice("ab 1:-#'\"\\{}[],&*!|>%@`~é😀=.?") for _ in range(random.randrange(1, 12))
        )

        def change(tree: Any, make: MakeNode, text: str = text) -> None:
            tree["spec"]["title"] = make(text)

        assert values(edit_document(FILE, 0, change))[0]["spec"]["title"] == text
