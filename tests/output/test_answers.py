"""Answers for programs."""

import json

import pytest
import yaml
from berth.output.answers import document, serialize
from berth.output.columns import Items

ANSWER = document(
    "Things",
    {
        "items": Items(
            ["name", "seats", "next", "suspend", "marks", "unit"],
            [
                {
                    "name": "a, b",
                    "seats": {"small": 2},
                    "next": None,
                    "suspend": True,
                    "marks": ["gap", "moved"],
                },
                {"name": "c", "seats": {"gpu": 1, "small": 3}, "next": 1.5, "suspend": False, "marks": []},
                {"name": "d", "seats": {}, "next": {"until": "x"}, "suspend": False, "marks": []},
            ],
        ),
        "other": [],
    },
)


def test_yaml_output_equals_json_output() -> None:
    assert yaml.safe_load(serialize(ANSWER, "yaml")) == json.loads(serialize(ANSWER, "json"))


def test_csv_has_a_line_for_each_item_and_a_column_for_each_key_that_one_may_have() -> None:
    assert serialize(ANSWER, "csv").splitlines() == [
        "name,seats,next,suspend,marks,unit",
        '"a, b",small=2,,true,gap moved,',
        "c,gpu=1 small=3,1.5,false,,",
        "d,,until=x,false,,",
    ]
    assert serialize(document("Things", {"items": Items(["a", "b"], [])}), "csv") == "a,b\n"


@pytest.mark.parametrize("text", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)"])
def test_a_text_in_csv_is_no_formula_of_a_spreadsheet(text: str) -> None:
    items = Items(["text", "number"], [{"text": text, "number": -2}])

    assert serialize(document("Things", {"items": items}), "csv") == f"text,number\n'{text},-2\n"
