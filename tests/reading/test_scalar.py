"""Plain scalars have the values of YAML 1.2's core schema."""

import math

import pytest
from berth.reading.document import parse
from berth.reading.scalar import Value, ZeroPrefixedNumber
from berth.reading.source import Source

SCALARS: dict[str, Value] = {
    # text that YAML 1.1 takes for something else
    "09:00": "09:00",
    "17:30": "17:30",
    "1:30:00": "1:30:00",
    "no": "no",
    "on": "on",
    "yes": "yes",
    "y": "y",
    "off": "off",
    "2026-02-02": "2026-02-02",
    "2026-02-02T09:00:00Z": "2026-02-02T09:00:00Z",
    "1_000": "1_000",
    "0b11": "0b11",
    "0o8": "0o8",
    "0x": "0x",
    "=": "=",
    "1e": "1e",
    "1.2.3": "1.2.3",
    "12e03x": "12e03x",
    "tRUE": "tRUE",
    "nULL": "nULL",
    "Infinity": "Infinity",
    "NaN": "NaN",
    "+": "+",
    ".": ".",
    "...x": "...x",
    "a b # c": "a b",
    "a#b": "a#b",
    "a:b": "a:b",
    "über": "über",
    "-x": "-x",
    # whole numbers
    "0": 0,
    "-0": 0,
    "25": 25,
    "+25": 25,
    "-3": -3,
    "0o17": 15,
    "0x1F": 31,
    "9" * 300: int("9" * 300),
    "9" * 400: math.inf,
    # numbers
    "1.5": 1.5,
    "5.": 5.0,
    ".5": 0.5,
    "-.5": -0.5,
    "1e3": 1000.0,
    "12e03": 12000.0,
    "1E+2": 100.0,
    "09.5": 9.5,
    "1e999": math.inf,
    ".inf": math.inf,
    "+.INF": math.inf,
    "-.Inf": -math.inf,
    # words
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "FALSE": False,
    "~": None,
    "null": None,
    "Null": None,
    "": None,
    # neither text nor number
    "0900": ZeroPrefixedNumber("0900"),
    "017": ZeroPrefixedNumber("017"),
    "-00": ZeroPrefixedNumber("-00"),
    "08": ZeroPrefixedNumber("08"),
    # quotes and tags
    '"09:00"': "09:00",
    "'25'": "25",
    '"true"': "true",
    "'it''s'": "it's",
    '"a\\tb\\u00e9\\U0001F600\\/"': "a\tbé😀/",
    "!!str 25": "25",
    "&a 25": 25,
    "&a !!str 25": "25",
    "!!str": "",
    "|\n  b\n  c\n": "b\nc\n",
    ">-\n  b\n  c\n": "b c",
    "b\n  c": "b c",
}


def in_a_block(text: str) -> Value:
    return value_of(f"a: {text}")


def value_of(text: str) -> Value:
    documents, problems = parse(Source("f.yaml", text.encode()))
    assert problems == []
    value = documents[0].value
    assert isinstance(value, dict)
    return value["a"]


@pytest.mark.parametrize(("text", "value"), SCALARS.items(), ids=[f"scalar-{n}" for n in range(len(SCALARS))])
def test_a_scalar_has_the_value_of_yaml_1_2(text: str, value: Value) -> None:
    found = in_a_block(text)

    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize("text", [".nan", ".NaN", ".NAN"], ids=["lower", "mixed", "upper"])
def test_not_a_number_is_a_number(text: str) -> None:
    value = in_a_block(text)

    assert isinstance(value, float)
    assert math.isnan(value)
