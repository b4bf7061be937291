"""From values to models: what each error of a value becomes, and which models are asked beside it."""

from typing import Annotated, Any, Literal

import pytest
from berth.findings import Origin
from berth.reading.scalar import ZeroPrefixedNumber
from berth.schema import validate
from berth.schema.basemodel import OR_MAPPING, Length, ListOf, Model, NonEmpty, Text, UniqueList, Whole, field
from berth.schema.documentproblems import DocumentProblems, Refusal

from tests.cases import tabled
from tests.saying import ask, said


def lower(text: str) -> str:
    if text.islower():
        return text
    raise Refusal(f'"{text}" is not lower case.', "Write small letters.", "B019")


Name = Annotated[str, Text("name", lower)]
Seats = Annotated[int, Whole(1, 9)]


class Window(Model):
    start: Name
    end: Name | None = field(None)


class Room(Model):
    name: Name
    seats: Seats = field(5)
    kind: Literal["lab", "hall"] = field("lab")
    is_open: bool | None = field(None)
    windows: ListOf[Annotated[Name | Window, OR_MAPPING]] = field(())
    tags: UniqueList[Name] = field(())
    rows: NonEmpty[Seats] | None = field(None)
    labels: Annotated[dict[Name, Name], Length(0, 2)] = field({})

    def check(self, report: DocumentProblems) -> None:
        if self.seats == 9 and self.kind == "lab":
            report("B016", "seats", "a lab has no 9 seats.", "Write fewer.")


FAULTS: dict[str, tuple[Any, list[str]]] = {
    "no-mapping": ("lab", ["B013"]),
    "missing": ({}, ["B011"]),
    "null-is-missing": ({"name": None}, ["B011"]),
    "unknown": ({"name": "a", "zzz": 1}, ["B010 zzz @key"]),
    "unknown-and-null": ({"name": "a", "zzz": None}, ["B010 zzz @key"]),
    "misspelled-is-not-missing": ({"nam": "a"}, ["B010 nam @key"]),
    "grammar": ({"name": "A"}, ["B019 name"]),
    "number-for-text": ({"name": 5}, ["B019 name"]),
    "truth-for-text": ({"name": True}, ["B013 name"]),
    "range": ({"name": "a", "seats": 10}, ["B012 seats"]),
    "quoted-number": ({"name": "a", "seats": "5"}, ["B013 seats"]),
    "zeros-in-front": ({"name": "a", "seats": ZeroPrefixedNumber("05")}, ["B013 seats"]),
    "fraction": ({"name": "a", "seats": 5.0}, ["B013 seats"]),
    "truth-for-number": ({"name": "a", "seats": True}, ["B013 seats"]),
    "word": ({"name": "a", "kind": "labs"}, ["B014 kind"]),
    "number-for-word": ({"name": "a", "kind": 1}, ["B013 kind"]),
    "text-for-truth": ({"name": "a", "isOpen": "yes"}, ["B013 isOpen"]),
    "no-list": ({"name": "a", "rows": 1}, ["B013 rows"]),
    "empty-list": ({"name": "a", "rows": []}, ["B012 rows"]),
    "faulty-items-only": ({"name": "a", "rows": [0, "x"]}, ["B012 rows.0", "B013 rows.1"]),
    "twice": ({"name": "a", "tags": ["a", "b", "a"]}, ["B016 tags.2"]),
    "both-ways": (
        {"name": "a", "windows": ["X", {"start": "X", "end": None}, {}]},
        ["B011 windows.2", "B019 windows.0", "B019 windows.1.start"],
    ),
    "key-and-value": ({"name": "a", "labels": {"A": "B"}}, ["B019 labels.A", "B019 labels.A @key"]),
    "too-many-keys": ({"name": "a", "labels": dict.fromkeys("abc", "x")}, ["B012 labels"]),
    "rule": ({"name": "a", "seats": 9}, ["B016 seats"]),
    "no-rule-of-a-faulty-mapping": ({"name": "A", "seats": 9, "zzz": 1}, ["B010 zzz @key", "B019 name"]),
}


@pytest.mark.parametrize(("value", "problems"), FAULTS.values(), ids=FAULTS)
def test_each_fault_has_its_code_and_place(value: Any, problems: list[str]) -> None:
    assert said(Room, value) == problems


def test_a_null_key_is_read_as_omitted() -> None:
    assert ask(Room, {"name": "a", "seats": None, "windows": None}) == ask(Room, {"name": "a"})


class House(Model):
    name: Name
    rooms: ListOf[Room] = field(())
    hall: Room | None = field(None)
    doors: UniqueList[Name] = field(())

    def check(self, report: DocumentProblems) -> None:
        if self.hall is None:
            report("B029", "name", "no hall.", "Build one.", at_key=True)


LAB = {"name": "lab", "seats": 9}


@tabled("schema")
def test_checks_of_a_model_run_only_if_its_fields_are_valid(value: Any, problems: list[str]) -> None:
    assert said(House, value) == problems


def test_a_value_is_returned_unless_there_is_an_error() -> None:
    assert ask(House, {"name": "a"})[0].name == "a"
    assert ask(House, {"name": "a", "rooms": [LAB]})[0] is None
    assert ask(House, {"name": "A"})[0] is None


def test_a_problem_recommends_a_correction() -> None:
    report = DocumentProblems(Origin("a.yaml"))
    value = {"name": 5, "seats": "7", "kind": "hal", "isOpen": "off", "rows": 3, "windos": []}
    validate.read(Room, value, report)

    assert {problem.path[-1]: problem.fix for problem in report.problems} == {
        "name": "Write small letters.",
        "seats": "Write it without quotes: 7.",
        "kind": "Did you mean hall?",
        "isOpen": "Write false.",
        "rows": "Write a list: [3].",
        "windos": "Did you mean windows or kind?",
    }
