"""One document of a file is edited; everything else in it stays as it was, byte for byte."""

from random import Random
from typing import Any

import pytest
from berth.edit.edits import (
    Assignment,
    NewTimes,
    OccurrenceSelector,
    apply_assignment,
    move_occurrence,
    parse_assignment,
    skip_occurrence,
)
from berth.edit.roundtrip import EditError, MakeNode, edit_document
from berth.reading.document import parse
from berth.reading.source import Source

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
    return [one.value for one in documents]


def set_count(tree: Any, make: MakeNode) -> None:
    tree["spec"]["provisioning"]["placeholderCount"] = make(30)


def test_only_what_is_edited_changes() -> None:
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
def test_line_ends_stay(ending: str) -> None:
    text = FILE.replace("\n", ending)
    assert edit_document(text, 0, set_count) == text.replace("placeholderCount: 25", "placeholderCount: 30")


def test_json_keeps_its_indent() -> None:
    text = '{\n   "spec": {\n      "a": 1\n   }\n}\n'

    def change(tree: Any, make: MakeNode) -> None:
        tree["spec"]["a"] = make(2)

    assert edit_document(text, 0, change) == text.replace("1", "2")


def test_what_cannot_be_edited_safely_is_refused() -> None:
    def change(tree: Any, make: MakeNode) -> None:
        tree["b"] = make("x" if isinstance(tree, dict) and type(tree) is dict else "y")

    with pytest.raises(EditError, match="edit it by hand"):
        edit_document("a: 1\n", 0, change)


@pytest.mark.parametrize(
    ("before", "how", "after"),
    [
        ("recurrence: {type: daily}\n", "skip", "recurrence: {type: daily, except: [2026-02-02]}\n"),
        (
            "recurrence:\n  except:\n  - 2026-01-01  # New Year\n",
            "skip",
            "recurrence:\n  except:\n  - 2026-01-01  # New Year\n  - 2026-02-02\n",
        ),
        (
            "recurrence:\n  moved: [{date: 2026-02-02, to: {date: 2026-02-03}}]\n",
            "skip",
            "recurrence:\n  except: [2026-02-02]\n",
        ),
        (
            'recurrence:\n  a: 1\n  extra: [{date: 2026-02-02, startTime: "09:00"}]\n',
            "skip",
            "recurrence:\n  a: 1\n",
        ),
        (
            "recurrence:\n  a: 1\n",
            "move",
            'recurrence:\n  a: 1\n  moved: [{date: 2026-02-02, to: {date: 2026-02-05, endTime: "14:00"}}]\n',
        ),
        (
            "recurrence:\n  moved:\n    - {date: 2026-02-02, to: {date: 2026-02-03}}\n",
            "move",
            'recurrence:\n  moved:\n    - {date: 2026-02-02, to: {date: 2026-02-05, endTime: "14:00"}}\n',
        ),
        (
            'recurrence:\n  extra:\n    - {date: 2026-02-02, startTime: "09:00", endTime: "10:00"}\n',
            "move",
            'recurrence:\n  extra:\n    - {date: 2026-02-05, startTime: "09:00", endTime: "14:00"}\n',
        ),
    ],
    ids=["new-in-flow", "append", "moved-then-skipped", "extra", "move", "moved-again", "extra-moved"],
)
def test_one_occurrence(before: str, how: str, after: str) -> None:
    which = OccurrenceSelector("2026-02-02", None)

    def change(tree: Any, make: MakeNode) -> None:
        if how == "skip":
            skip_occurrence(tree, which, make)
        else:
            move_occurrence(tree, which, NewTimes("2026-02-05", None, "14:00"), make)

    assert edit_document(before, 0, change) == after


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("provisioning.placeholderCount=30", Assignment(("spec", "provisioning", "placeholderCount"), 30)),
        ("metadata.labels.x=y", Assignment(("metadata", "labels", "x"), "y")),
        (
            "recurrence.schedule[1].startTime=10:00",
            Assignment(("spec", "recurrence", "schedule", 1, "startTime"), "10:00"),
        ),
        ("title=Physics: an introduction", Assignment(("spec", "title"), "Physics: an introduction")),
        ("suspend=true", Assignment(("spec", "suspend"), True)),
        ("recurrence.calendars=[a, b]", Assignment(("spec", "recurrence", "calendars"), ["a", "b"])),
        ("title=", Assignment(("spec", "title"), None)),
    ],
    ids=lambda value: value.partition("=")[0].replace(".", "-") if isinstance(value, str) else "",
)
def test_an_assignment(said: str, expected: Assignment) -> None:
    assert parse_assignment(said) == expected


@pytest.mark.parametrize("said", ["title", "=3", "a..b=1", "a[x]=1", "list=[1"])
def test_what_is_no_assignment(said: str) -> None:
    with pytest.raises(EditError):
        parse_assignment(said)


def test_what_does_not_stand_in_the_file_is_not_reached_into() -> None:
    for path in (("spec", "list", 5), ("spec", "list", "a"), ("kind", "x")):
        with pytest.raises(EditError, match="is not in the file"):
            edit_document(
                FILE,
                1,
                lambda tree, make, path=path: apply_assignment(tree, Assignment((*path, "z"), 1), make),
            )


def test_any_text_that_is_set_comes_out_as_it_is() -> None:
    random = Random(7)
    for _ in range(300):
        text = "".join(
            random.choice("ab 1:-#'\"\\{}[],&*!|>%@`~é😀=.?") for _ in range(random.randrange(1, 12))
        )

        def change(tree: Any, make: MakeNode, text: str = text) -> None:
            tree["spec"]["title"] = make(text)

        assert values(edit_document(FILE, 0, change))[0]["spec"]["title"] == text
