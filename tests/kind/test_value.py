"""Single values: what is sound, and what is said of the rest."""

import pytest

from gen.input.scalar import Octalish
from gen.kind import grammar
from gen.kind.shape import INVALID, Shape
from gen.kind.value import Flag, OneOf, Text, Whole
from tests.saying import ask, said

NAME = Text("DNS label", grammar.dns_label)
DAY = Text("date", grammar.day)
WORD = OneOf(("once", "daily", "weekly"))


@pytest.mark.parametrize(
    ("shape", "value", "made"),
    [
        (Text(), "", ""),
        (Text(), "09:00", "09:00"),
        (NAME, "a-1", "a-1"),
        (Whole(1), 1, 1),
        (Whole(1, 7), 7, 7),
        (Flag(), True, True),
        (Flag(), False, False),
        (WORD, "daily", "daily"),
    ],
)
def test_a_sound_value_comes_out(shape: Shape, value: object, made: object) -> None:
    assert ask(shape, value) == (made, [])


@pytest.mark.parametrize(
    ("shape", "value", "message"),
    [
        (Text(), 5, 'B013 : 5 is a number, not text. Write it in quotes: "5".'),
        (Text(), True, 'B013 : true is a truth value, not text. Write it in quotes: "true".'),
        (Text(), 1e3, "B013 : 1000.0 is a number, not text. Write it in quotes."),
        (Text(), Octalish("017"), 'B013 : 017 is a number, not text. Write it in quotes: "017".'),
        (Text(), None, "B013 : null is not text. Write text."),
        (Text(), ["a"], "B013 : a list is not text. Write text."),
        (NAME, 5, 'B013 : 5 is a number, not a DNS label. Write it in quotes: "5".'),
        (NAME, {}, "B013 : a mapping is not a DNS label. Write a DNS label."),
        (NAME, "a_b", 'B019 : "a_b" is not a name that Kubernetes allows. '
         "Write at most 63 of a-z, 0-9 and -, with a letter or digit at both ends."),
        (DAY, 20260202, "B017 : 20260202 is not a date. Write year-month-day, for instance 2026-02-28."),
        (Whole(1), 0, "B012 : 0 is below 1. Write a whole number from 1 up."),
        (Whole(1, 7), 8, "B012 : 8 is above 7. Write a whole number from 1 to 7."),
        (Whole(1), "25", 'B013 : "25" is not a whole number from 1 up. Write it without quotes: 25.'),
        (Whole(1), 2.5, "B013 : 2.5 is not a whole number from 1 up. Write a whole number from 1 up."),
        (Whole(1), True, "B013 : true is not a whole number from 1 up. Write a whole number from 1 up."),
        (Whole(1), None, "B013 : null is not a whole number from 1 up. Write a whole number from 1 up."),
        (Whole(1), Octalish("025"), "B013 : 025 is not a whole number from 1 up. "
         "Write it without zeros in front: 25."),
        (Flag(), "yes", 'B013 : "yes" is text, not true or false. Write true.'),
        (Flag(), "Off", 'B013 : "Off" is text, not true or false. Write false.'),
        (Flag(), "true", 'B013 : "true" is text, not true or false. Write true.'),
        (Flag(), "maybe", 'B013 : "maybe" is not true or false. Write true or false.'),
        (Flag(), 1, "B013 : 1 is not true or false. Write true or false."),
        (WORD, "weekley", 'B014 : "weekley" is not one of once, daily, weekly. Did you mean weekly?'),
        (WORD, "x", 'B014 : "x" is not one of once, daily, weekly. Write one of once, daily, weekly.'),
        (WORD, 5, "B013 : 5 is not one of once, daily, weekly. Write one of once, daily, weekly."),
    ],
)  # fmt: skip
def test_what_is_not_sound_is_told_with_what_to_write(shape: Shape, value: object, message: str) -> None:
    assert ask(shape, value) == (INVALID, [message])


def test_an_unquoted_number_is_judged_by_the_grammar_that_it_would_meet_in_quotes() -> None:
    assert said(Text("time of day", grammar.start_time), Octalish("0900")) == [
        'B018 : 0900 is not a time of day. Write "09:00".'
    ]
    assert said(Text("label value", grammar.label_value), 1e3) == [
        "B013 : 1000.0 is a number, not a label value. Write it in quotes."
    ]
