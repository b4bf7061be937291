"""What people write is read, and where PyYAML's own composer knows a text's values, they are the same."""

import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from berth.reading.scalar import Value, plain
from berth.reading.text import HIDDEN, Lines, may_be_json
from berth.reading.tree import trees
from hypothesis import given, settings
from hypothesis import strategies as st
from yaml.nodes import MappingNode, Node, ScalarNode

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


def load(text: str) -> list[Value]:
    roots, faults = trees(Lines(text))
    assert faults == []
    return [root.value for root in roots]


@pytest.mark.parametrize("text", ["", "\n", "# a", "  # a\n \n"], ids=["none", "line", "comment", "comments"])
def test_a_text_without_documents_gives_an_empty_list(text: str) -> None:
    assert load(text) == []


def test_crlf_line_ends_give_the_same_values() -> None:
    assert typed(load(COURSE.replace("\n", "\r\n"))) == typed(load(COURSE))


def test_parsed_values_share_no_objects() -> None:
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


class OnlyInBerth(Exception):  # noqa: N818 - not an error
    """A text with a key that is not text or occurs twice, which only Berth reports."""


def composed(text: str) -> list[object] | None:
    """The values by PyYAML's composer; None if it refuses the text, or if Berth goes beyond it."""
    if may_be_json(text) or HIDDEN.search(text) or any(mark in text for mark in ("*", "!", "%", "<<")):
        return None
    try:
        return [value_of(node) for node in yaml.compose_all(text, yaml.CBaseLoader)]
    except (yaml.YAMLError, OnlyInBerth):
        return None


def value_of(node: Node | None) -> object:
    if isinstance(node, ScalarNode):
        return node.value if node.style else plain(node.value)
    assert node is not None
    if not isinstance(node, MappingNode):
        return [value_of(item) for item in node.value]
    values = {}
    for key, value in node.value:
        name = value_of(key)
        if type(name) is not str or name in values:
            raise OnlyInBerth
        values[name] = value_of(value)
    return values


def agrees(text: str) -> bool:
    expected = composed(text)
    if expected is None:
        return True
    roots, faults = trees(Lines(text))
    return faults == [] and typed(expected) == typed([root.value for root in roots])


def test_what_people_write_has_the_values_of_the_composer() -> None:
    assert composed(COURSE) is not None
    assert agrees(COURSE)


def test_every_yaml_file_of_the_project_has_the_values_of_the_composer() -> None:
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
def test_any_mixture_of_pieces_has_the_values_of_the_composer(text: str) -> None:
    assert agrees(text)


def test_any_small_change_of_an_example_has_the_values_of_the_composer() -> None:
    dice = random.Random(11)
    lines = COURSE.split("\n")
    compared = 0
    for _ in range(20_000):
        at = dice.randrange(len(lines))
        text = "\n".join(lines[at : at + dice.randint(1, 8)])
        for _ in range(dice.randint(0, 3)):
            at = dice.randrange(len(text) + 1)
            text = text[:at] + dice.choice(PIECES) + text[at + dice.choice([0, 0, 1, 3]) :]

        assert agrees(text), text

        compared += composed(text) is not None
    assert compared > 4000  # else the test says little
