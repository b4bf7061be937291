"""Plain scalars have the values of YAML 1.2's core schema."""

import math

import pytest
from berth.reading.document import parse
from berth.reading.scalar import Value, ZeroPrefixedNumber
from berth.reading.source import Source

# Text, of which YAML 1.1 takes some for something else.
# fmt: off
TEXTS = (
    "09:00", "17:30", "1:30:00", "no", "on", "yes", "y", "off", "2026-02-02", "2026-02-02T09:00:00Z", "1_000",
    "0b11", "0o8", "0x", "=", "1e", "1.2.3", "12e03x", "tRUE", "nULL", "Infinity", "NaN", "+", ".", "...x",
    "a#b", "a:b", "über", "-x",
)
# fmt: on
WHOLE = {"0": 0, "-0": 0, "25": 25, "+25": 25, "-3": -3, "0o17": 15, "0x1F": 31, "9" * 300: int("9" * 300)}
NUMBERS = {"1.5": 1.5, "5.": 5.0, ".5": 0.5, "-.5": -0.5, "1e3": 1000.0, "12e03": 12000.0, "1E+2": 100.0} | {
    **{"09.5": 9.5, "-.Inf": -math.inf},
    **dict.fromkeys(("9" * 400, "1e999", ".inf", "+.INF"), math.inf),
}
WORDS = {**dict.fromkeys(("true", "True", "TRUE"), True), **dict.fromkeys(("false", "FALSE"), False)}
NEITHER = {text: ZeroPrefixedNumber(text) for text in ("0900", "017", "-00", "08")}
SCALARS: dict[str, Value] = {
    **{text: text for text in TEXTS},
    **WHOLE,
    **NUMBERS,
    **WORDS,
    **dict.fromkeys(("~", "null", "Null", ""), None),
    **NEITHER,
    # comments, quotes and tags
    "a b # c": "a b",
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
def test_nan_is_read_as_a_float(text: str) -> None:
    value = in_a_block(text)

    assert isinstance(value, float)
    assert math.isnan(value)
