"""Characters that look like others: named with their column where they do harm, and left alone elsewhere."""

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
import yaml
from berth.findings import Finding
from berth.pipeline import Pipeline
from berth.reading.source import Source

from tests.cases import tabled

CASES = yaml.safe_load((Path(__file__).parents[1] / "cases/world/pasted.yaml").read_text("utf-8"))
PROJECT = """\
apiVersion: berth.dev/v1alpha1
kind: Site
metadata: {name: uni}
spec: {timeZone: Europe/Zurich, clusters: [{name: prod}]}
---
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: small}
spec:
  requests: {cpu: "1", memory: 4Gi}
---
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata:
  name: algebra
  annotations:
    room: the hall
    note: bring "paper"
spec:
  title: Linear algebra # for everybody
  resourceClass: small
  recurrence:
    type: weekly
    startDate: 2027-02-01
    endDate: 2027-05-14
    schedule:
      - {dayOfWeek: mon, startTime: "09:00", endTime: '13:00'}
      - dayOfWeek: tue
        startTime: "10:00"
        endTime: "12:00"
    except: [2027-03-29, 2027-04-05]
  provisioning:
    placeholderCount: 25
    scaleDownBehavior: none
"""
INVISIBLE = {"\u00a0": "no-break space (U+00A0)", "\u202f": "narrow no-break space (U+202F)"} | {
    "\u200b": "zero width space (U+200B)",
    "\u200d": "zero width joiner (U+200D)",
    "\u2060": "word joiner (U+2060)",
    "\ufeff": "byte order mark (U+FEFF)",
}
# Of each, what it is taken for.
LOOKALIKES = {
    "\u2013": ("-", "en dash (U+2013)"),
    "\u2014": ("-", "em dash (U+2014)"),
    "\u201c": ('"', "left double quotation mark (U+201C)"),
    "\u2019": ("'", "right single quotation mark (U+2019)"),
    "\uff1a": (":", "fullwidth colon (U+FF1A)"),
}


def found(text: str) -> list[Finding]:
    pipeline = Pipeline(sources=[Source("a.yaml", text.encode())])
    pipeline.items()
    return pipeline.findings()


def names(findings: list[Finding], name: str, text: str, at: int) -> bool:
    """Whether one of them names the character and its column."""
    line, column = text.count("\n", 0, at) + 1, at - (text.rfind("\n", 0, at) + 1) + 1
    return any(
        (name in finding.message and (finding.line, finding.column) == (line, column))
        or re.search(rf"{re.escape(name)} in (line {line}, )?column {column}\b", finding.fix) is not None
        for finding in findings
    )


def test_the_project_is_valid() -> None:
    assert found(PROJECT) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_pasted_lookalike_is_named_with_its_column(case: dict[str, str]) -> None:
    before, after = case["replace"], case["by"]
    assert PROJECT.count(before) == 1
    text = PROJECT.replace(before, after)
    at = next(i for i, character in enumerate(text) if not character.isascii())

    assert names(found(text), case["named"], text, at), found(text)


PAIRS = [pair for pair in product(INVISIBLE, repeat=2) if "\ufeff" not in pair or len({*pair}) == 1]


@pytest.mark.parametrize("around", PAIRS, ids=ascii)
@pytest.mark.parametrize("value", ["title: Linear algebra", "resourceClass: small", "startDate: 2027-02-01"])
def test_each_of_several_invisible_characters_in_a_value_is_named(
    value: str, around: tuple[str, str]
) -> None:
    first, second = around
    key, _, meant = value.partition(": ")
    for wrong in (f"{meant}{first}{second}", f"{first}{meant}{second}", f"{first}{second}{meant}{second}"):
        text = PROJECT.replace(value, f"{key}: {wrong}")
        places = [at for at, character in enumerate(text) if character in INVISIBLE]
        findings = found(text)
        assert [at for at in places if not names(findings, INVISIBLE[text[at]], text, at)] == [], wrong


@tabled("reading")
def test_a_lookalike_in_an_unknown_key_is_named_with_its_column(key: str, name: str, column: int) -> None:
    findings = found(PROJECT.replace("placeholderCount", key))

    assert [finding.code for finding in findings] == ["B010"]
    assert f"{name} in column {column}." in findings[0].fix


def test_only_a_word_of_two_scripts_has_lookalikes() -> None:
    """A word of one script is meant; a word of two is not."""
    fixes = [
        found(PROJECT.replace("resourceClass: small", f"resourceClass: {word}"))[0].fix
        for word in ("\u043e\u0441\u043d\u043e\u0432\u044b", "sm\u0430ll")
    ]
    assert ["U+04" in fix for fix in fixes] == [False, True]


def structural() -> Iterator[int]:
    """The places around the marks of YAML and in the indentation, but not those inside of a free text."""
    for match in re.finditer(r"(?m)^ *|[:,{}\[\]\"'#]|- |$", PROJECT):
        yield from {match.start(), match.end()}


def is_comment(at: int) -> bool:
    return "#" in PROJECT[PROJECT.rfind("\n", 0, at) + 1 : at]


PLACES = sorted({at for at in structural() if not is_comment(at)})


@pytest.mark.parametrize("character", INVISIBLE, ids=INVISIBLE.values())
def test_an_invisible_character_anywhere_in_the_structure_is_named(character: str) -> None:
    silent = []
    for at in PLACES[character == "\ufeff" :]:  # at the very beginning it is one
        text = PROJECT[:at] + character + PROJECT[at:]
        if not names(found(text), INVISIBLE[character], text, at):
            silent.append(text[text.rfind("\n", 0, at) + 1 : at + 20])

    # What is between the words of a text belongs to it.
    assert [one for one in silent if "note: bring" not in one] == []


@pytest.mark.parametrize("character", LOOKALIKES, ids=[name for _, name in LOOKALIKES.values()])
def test_a_lookalike_in_place_of_a_yaml_mark_is_named(character: str) -> None:
    meant, name = LOOKALIKES[character]
    places = [
        match.start() for match in re.finditer(re.escape(meant), PROJECT) if not is_comment(match.start())
    ]
    silent = []
    for at in places:
        text = PROJECT[:at] + character + PROJECT[at + 1 :]
        if not names(found(text), name, text, at):
            silent.append(text[text.rfind("\n", 0, at) + 1 : at + 20])

    assert [one for one in silent if "note: bring" not in one] == []


FINE = {
    "title-in-french": "title: Alg\xe8bre\u00a0\xab lin\xe9aire\u00a0\xbb \u2013 1re\u202fann\xe9e",
    "quoted-title-in-french": 'title: "Alg\xe8bre\u00a0: \xab lin\xe9aire\u00a0\xbb\u00a0"',
    "typographic-quotes": "title: \u201cLinear\u201d algebra\u2019s",
    "dash-in-front": "title: \u2013 algebra",
    "in-chinese": "title: \u7ebf\u6027\u4ee3\u6570\uff1a\u7b2c\u4e00\u90e8\u5206\uff0c\u4e0a",
    "family-of-emoji": "title: \U0001f469\u200d\U0001f4bb hour",
    "persian": "title: \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "comment": "title: Linear algebra #\u00a0\u2013 for \u201ceverybody\u201d\u200b",
    "block": "title: |-\n    Linear\u00a0\u2013 algebra\u200b\u00a0",
}


@pytest.mark.parametrize("line", FINE.values(), ids=FINE)
def test_ordinary_typography_in_a_title_gets_no_finding(line: str) -> None:
    assert found(PROJECT.replace("title: Linear algebra # for everybody", line)) == []


@pytest.mark.parametrize("line", FINE.values(), ids=FINE)
def test_ordinary_typography_does_not_change_findings_elsewhere(line: str) -> None:
    text = PROJECT.replace("title: Linear algebra # for everybody", line)
    for good, bad in (("resourceClass: small", "resourceClass: small: x"), ("Count: 25", "Count: x")):
        assert found(text.replace(good, bad)) == [
            one._replace(line=one.line + line.count("\n")) for one in found(PROJECT.replace(good, bad))
        ]
