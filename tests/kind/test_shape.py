"""Shapes check a value whole, and tell every fault of it in one go."""

import pytest

from gen.input.scalar import Octalish
from gen.kind.shape import (
    INVALID,
    Either,
    Field,
    Fields,
    ListOf,
    Made,
    MapOf,
    Refusal,
    Report,
    choice,
    close,
    items,
    nearest,
    shown,
)
from gen.kind.value import OneOf, Text, Whole
from tests.saying import ask, said

NUMBERS = ListOf(Whole(1), 1)
ROOM = Fields({"name": Field(Text()), "seats": Field(Whole(1), 20), "floor": Field(Whole(0), None)})


def lower(text: str) -> str:
    if text.islower():
        return text
    raise Refusal(f'"{text}" is not lower case.', "Write small letters.", "B020")


def test_a_sound_list_comes_out_as_a_tuple() -> None:
    assert ask(NUMBERS, [3, 1]) == ((3, 1), [])


def test_a_list_tells_each_faulty_item_and_keeps_the_sound_ones() -> None:
    made, problems = ask(NUMBERS, [0, 5, "x"])

    assert made == (INVALID, 5, INVALID)
    assert problems == [
        "B012 0: 0 is below 1. Write a whole number from 1 up.",
        'B013 2: "x" is not a whole number from 1 up. Write a whole number from 1 up.',
    ]
    assert items(made) == (5,)


def test_a_list_that_is_none_or_too_short_is_told_once() -> None:
    assert said(NUMBERS, []) == ["B012 : the list is empty. Write at least one item."]
    assert said(NUMBERS, {"a": 1}) == [
        'B013 : a mapping is not a list. Write a list: begin each item with "- ".'
    ]
    assert said(NUMBERS, 5) == ["B013 : 5 is not a list. Write a list: [5]."]
    assert said(NUMBERS, "a" * 61) == [
        f'B013 : "{"a" * 60}..." is not a list. Write a list: begin each item with "- ".'
    ]
    assert items(INVALID) == ()
    assert NUMBERS.words() == "list"


def test_a_mapping_with_free_keys_comes_out_as_pairs_in_the_order_of_the_file() -> None:
    assert ask(MapOf(lower, Whole(1)), {"b": 2, "a": 1}) == ((("b", 2), ("a", 1)), [])


def test_keys_and_values_of_such_a_mapping_are_told_each_for_itself() -> None:
    made, problems = ask(MapOf(lower, Whole(1)), {"A": 0, "b": 1})

    assert made == ((INVALID, INVALID), ("b", 1))
    assert problems == [
        'B020 A @key: "A" is not lower case. Write small letters.',
        "B012 A: 0 is below 1. Write a whole number from 1 up.",
    ]


def test_a_mapping_with_free_keys_may_need_one() -> None:
    assert said(MapOf(lower, Text(), 1), {}) == ["B012 : the mapping is empty. Write at least one key."]
    assert said(MapOf(lower, Text()), []) == ["B013 : a list is not a mapping. Write a mapping."]
    assert MapOf(lower, Text()).words() == "mapping"


def test_one_thing_may_be_written_in_two_ways() -> None:
    either = Either(Whole(1), ROOM)

    assert ask(either, 3) == (3, [])
    assert ask(either, {"name": "a"}) == ({"name": "a", "seats": 20, "floor": None}, [])
    assert said(either, "x") == [
        'B013 : "x" is not a whole number from 1 up. Write a whole number from 1 up.'
    ]
    assert either.words() == "whole number from 1 up, or a mapping"


def test_what_is_left_out_or_null_has_its_default() -> None:
    assert ask(ROOM, {"name": "a", "seats": None}) == ({"name": "a", "seats": 20, "floor": None}, [])


def test_what_is_needed_is_told_at_the_mapping_that_lacks_it() -> None:
    made, problems = ask(ROOM, {"name": None, "seats": 0})

    assert made == {"name": INVALID, "seats": INVALID, "floor": None}
    assert problems == [
        "B012 seats: 0 is below 1. Write a whole number from 1 up.",
        "B011 : name is missing. Add name: text.",
    ]


def test_an_unknown_key_is_told_with_the_nearest_known_else_with_all() -> None:
    assert said(ROOM, {"name": "a", "Seat": 1}) == [
        "B010 Seat @key: this key is unknown. Did you mean seats?"
    ]
    assert said(ROOM, {"name": "a", "x-note": 1}) == [
        "B010 x-note @key: this key is unknown. Known here: name, seats, floor."
    ]


def test_a_misspelt_key_is_not_missing_too() -> None:
    assert said(ROOM, {"nmae": "a"}) == ["B010 nmae @key: this key is unknown. Did you mean name?"]
    assert said(ROOM, {"nmae": "a", "name": "b"}) == [
        "B010 nmae @key: this key is unknown. Did you mean name?"
    ]


def test_a_mapping_that_is_none_is_told() -> None:
    assert said(ROOM, "a") == ['B013 : "a" is not a mapping. Write a mapping.']
    assert said(ROOM, None) == ["B013 : null is not a mapping. Write a mapping."]


def test_keys_of_the_authors_own_begin_with_x_where_they_are_allowed() -> None:
    open_room = Fields({"name": Field(Text())}, extensions=True)

    assert ask(open_room, {"name": "a", "x-note": [1]}) == ({"name": "a"}, [])
    assert said(open_room, {"name": "a", "y-note": 1}) == [
        "B010 y-note @key: this key is unknown. Known here: name."
    ]


def test_fields_are_held_against_each_other_whatever_else_is_wrong() -> None:
    def agree(made: Made, path: tuple[str | int, ...], report: Report) -> None:
        if INVALID not in (made["least"], made["most"]) and made["most"] < made["least"]:
            report("B016", (*path, "most"), "it is too little.", "Write more.")

    span = Fields({"least": Field(Whole(0)), "most": Field(Whole(0)), "note": Field(Text(), "")}, agree=agree)

    assert said(span, {"least": 3, "most": 2, "note": 5}) == [
        'B013 note: 5 is a number, not text. Write it in quotes: "5".',
        "B016 most: it is too little. Write more.",
    ]
    assert said(span, {"least": 3, "most": "2"}) == [
        'B013 most: "2" is not a whole number from 0 up. Write it without quotes: 2.'
    ]


def test_a_value_is_made_of_a_mapping_only_if_all_of_it_is_sound() -> None:
    pair = Fields({"a": Field(Whole(0)), "b": Field(Whole(0), 0)}, lambda made: made["a"] + made["b"])

    assert ask(ListOf(pair), [{"a": 1, "b": 2}, {"a": -1}, {"a": 4}]) == (
        (3, INVALID, 4),
        ["B012 1.a: -1 is below 0. Write a whole number from 0 up."],
    )


def test_a_warning_does_not_make_a_value_unsound() -> None:
    def warn(made: Made, path: tuple[str | int, ...], report: Report) -> None:
        report("B029", (*path, "a"), f"{made['a']} does nothing.", "Remove it.")

    report = Report("a.yaml", 2, ("list", 0))

    assert Fields({"a": Field(Whole(0))}, lambda made: made["a"], agree=warn).check({"a": 1}, (), report) == 1
    assert report.errors == 0
    assert report.problems[0][1:4] == ("a.yaml", 2, ("list", 0, "a"))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", '"a"'),
        ("a\n\x1b", '"a\\n\\x1b"'),
        ("a" * 61, f'"{"a" * 60}..."'),
        (Octalish("0900"), "0900"),
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        ({}, "a mapping"),
        ([], "a list"),
    ],
    ids=["text", "control-characters", "long", "leading-zero", "null", "true", "number", "mapping", "list"],
)
def test_a_message_shows_values_as_their_author_knows_them(value: object, text: str) -> None:
    assert text == shown(value)


def test_advice_names_at_most_three_near_words_else_all_of_them() -> None:
    known = ("prod-1", "prod-2", "prod-3", "prod-4", "other")

    assert close("PROD-2", known) == ["prod-2", "prod-4", "prod-3"]
    assert nearest("PROD-2", known, "Write") == "Did you mean prod-2 or prod-4 or prod-3?"
    assert nearest("x", known, "Known:") == "Known: prod-1, prod-2, prod-3, prod-4, other."
    assert choice("x", known) == "Write one of prod-1, prod-2, prod-3, prod-4, other."
    assert choice("x", ("prod-1",)) == "Write prod-1."
    assert choice("x", ()) == "Declare it, or remove it."


def test_single_words_are_told_in_quotes() -> None:
    assert said(OneOf(("placeholder",)), "koordinator") == [
        'B014 : "koordinator" is not "placeholder". Write placeholder.'
    ]
