"""The loader gives the values of the second reading or none, and what people write is read at once."""

import random
from pathlib import Path
from typing import Any

import pytest
from berth.reading.document import UnsupportedText, load
from berth.reading.scalar import Value, ZeroPrefixedNumber
from berth.reading.text import Lines
from berth.reading.tree import trees
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parent.parent

COURSE = """\
# The course
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: data-science-101, labels: {}, annotations: {}}
spec:
  title: Data Science 101 - Spring 2026
  resourceClass: small
  recurrence:
    type: weekly   # once | daily | weekly | dates

    startDate: 2026-02-02
    timeZone: Europe/Zurich
    schedule:
    - {dayOfWeek: 1, startTime: "09:00", endTime: "13:00"}
    - daysOfWeek: [wed, 'thu']
      startTime: 09:00
      endTime: 0900
      placeholderCount: 200
    calendars: [ university-holidays , other ]
    except: [2026-04-06, {from: 2026-04-20, to: 2026-04-24}, {date: 2026-05-04, startTime: "09:00"}]
  provisioning:
    placeholderCount: -25
    scaleDownBehavior:
  sessions: {namespaces: [], "matchLabels": {'a.b/c': "x:y"}}
  suspend: false
--- # the site
kind: Site
"spec":
  'a.b/c': "größer"
  images: {pause: registry.k8s.io/pause:3.10.1, python: "python:3.13-slim", url: https://a.b/c?d=e}
  clusters:
    - name: prod
    - name: test (2)
      ceilings:
        - [a, [b]]
    - {}
---
---
- a
- b: 1
"""

VALUES: list[Value] = [
    {
        "apiVersion": "berth.dev/v1alpha1",
        "kind": "CapacityReservation",
        "metadata": {"name": "data-science-101", "labels": {}, "annotations": {}},
        "spec": {
            "title": "Data Science 101 - Spring 2026",
            "resourceClass": "small",
            "recurrence": {
                "type": "weekly",
                "startDate": "2026-02-02",
                "timeZone": "Europe/Zurich",
                "schedule": [
                    {"dayOfWeek": 1, "startTime": "09:00", "endTime": "13:00"},
                    {
                        "daysOfWeek": ["wed", "thu"],
                        "startTime": "09:00",
                        "endTime": ZeroPrefixedNumber("0900"),
                        "placeholderCount": 200,
                    },
                ],
                "calendars": ["university-holidays", "other"],
                "except": [
                    "2026-04-06",
                    {"from": "2026-04-20", "to": "2026-04-24"},
                    {"date": "2026-05-04", "startTime": "09:00"},
                ],
            },
            "provisioning": {"placeholderCount": -25, "scaleDownBehavior": None},
            "sessions": {"namespaces": [], "matchLabels": {"a.b/c": "x:y"}},
            "suspend": False,
        },
    },
    {
        "kind": "Site",
        "spec": {
            "a.b/c": "größer",
            "images": {
                "pause": "registry.k8s.io/pause:3.10.1",
                "python": "python:3.13-slim",
                "url": "https://a.b/c?d=e",
            },
            "clusters": [{"name": "prod"}, {"name": "test (2)", "ceilings": [["a", ["b"]]]}, {}],
        },
    },
    None,
    ["a", {"b": 1}],
]


def test_what_people_write_is_read() -> None:
    assert typed(load(COURSE)) == typed(VALUES)


LEFT_TO_THE_SECOND_READING = {
    "hidden-character": "a: b\u2028c",
    "alias": "a: &b c\nd: *b",
    "tag": "a: !!str b",
    "merge": "<<: {a: 1}",
    "directive": "%YAML 1.2\n---\na: 1",
    "key-twice": "a: 1\na: 2",
    "key-twice-in-brackets": "a: {b: 1, b: 2}",
    "key-is-not-text": "1: a",
    "key-is-a-list": "? [a]\n: b",
    "no-yaml": "a: b: c",
    "too-deep": f"a: {'[' * 101}{']' * 101}",
    "too-many": f"[{'a,' * 100_001}]",
    "json-with-a-pair": '{"a": "\\ud83d\\ude00"}',
    "json-with-a-key-twice": '{"a": 1, "a": 2}',
    "json-too-deep": "[" * 101 + "]" * 101,
    "json-far-too-deep": "[" * 100_000 + "]" * 100_000,
}


@pytest.mark.parametrize("text", LEFT_TO_THE_SECOND_READING.values(), ids=LEFT_TO_THE_SECOND_READING)
def test_what_only_the_second_reading_knows_is_left_to_it(text: str) -> None:
    assert loaded(text) is None


def loaded(text: str) -> list[Value] | None:
    try:
        return load(text)
    except UnsupportedText:
        return None


@pytest.mark.parametrize("text", ["", "\n", "# a", "  # a\n \n"], ids=["none", "line", "comment", "comments"])
def test_a_text_without_documents_has_none(text: str) -> None:
    assert load(text) == []


def test_lines_may_end_as_windows_has_it() -> None:
    assert typed(load(COURSE.replace("\n", "\r\n"))) == typed(VALUES)


def test_no_two_values_share_a_part() -> None:
    text = "a: [1]\nb: {c: 1}\nd: {e: [1]}\n"
    first: Any = load(text)
    second = load(text)
    first[0]["a"].append(2)
    first[0]["b"]["c"] = 2
    first[0]["d"]["e"].append(2)

    assert second == load(text) == [{"a": [1], "b": {"c": 1}, "d": {"e": [1]}}]


def typed(value: object) -> object:
    """The value with the type of each part and the order of its keys."""
    if isinstance(value, dict):
        return [(key, typed(inner)) for key, inner in value.items()]
    return [typed(inner) for inner in value] if isinstance(value, list) else (type(value), repr(value))


def agrees(text: str) -> bool:
    quick = loaded(text)
    if quick is None:
        return True
    nodes, faults = trees(Lines(text))
    return faults == [] and typed(quick) == typed([node.value for node in nodes])


@pytest.mark.parametrize("text", [COURSE, *LEFT_TO_THE_SECOND_READING.values()])
def test_examples_agree_with_the_second_reading(text: str) -> None:
    assert agrees(text)


def test_every_yaml_file_of_the_project_agrees_with_the_second_reading() -> None:
    texts = {
        path: path.read_text()
        for folder in ("reservations", "rendered", "tests", "docs")
        for path in (ROOT / folder).rglob("*.yaml")
    }

    assert [path for path, text in texts.items() if not agrees(text)] == []


PIECES = [
    *"\n :-#,[]{}\"'a1~&*!|>%@`?\t\r/_+=<\\é",
    *(
        "- ",
        ": ",
        ", ",
        " #",
        "---\n",
        "\n  ",
        "\n    ",
        "a: ",
        "b:\n",
        "  - ",
        "\n- ",
        "- - ",
        "? ",
        "...\n",
    ),
    *(
        "null",
        "true",
        "0x1",
        "1e3",
        "09",
        "-1",
        "''",
        '""',
        "{}",
        "[]",
        "{a: 1}",
        "[a, b]",
        "{a: ",
        "[ ",
        " ]",
    ),
    *(":a", "a:b", "a#b", "# c", "'k': ", '"k": ', "<<: ", "\u00a0", "\u2028", "…"),
]


@settings(max_examples=1500)
@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_any_mixture_of_pieces_agrees_with_the_second_reading(text: str) -> None:
    assert agrees(text)


def test_any_small_change_of_an_example_agrees_with_the_second_reading() -> None:
    dice = random.Random(11)
    lines = COURSE.split("\n")
    accepted = 0
    for _ in range(20_000):
        at = dice.randrange(len(lines))
        text = "\n".join(lines[at : at + dice.randint(1, 8)])
        for _ in range(dice.randint(0, 3)):
            at = dice.randrange(len(text) + 1)
            text = text[:at] + dice.choice(PIECES) + text[at + dice.choice([0, 0, 1, 3]) :]

        assert agrees(text), text

        accepted += loaded(text) is not None
    assert accepted > 4000  # else the test says little
