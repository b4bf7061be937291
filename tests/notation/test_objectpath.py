"""Paths into objects: each list of steps is written in one way, whatever was quoted in what is read."""

import pytest
from berth.core.holders import Step
from berth.notation.objectpath import matches_pattern, object_path_text, parse_object_path
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import tabled

_PLAIN = st.from_regex(r"[-A-Za-z0-9._/:]{1,12}", fullmatch=True)
_STEPS = st.one_of(
    _PLAIN,
    st.integers(0, 999),
    st.tuples(st.from_regex(r"[A-Za-z]{1,8}", fullmatch=True), _PLAIN),
)


@given(st.lists(_STEPS, min_size=1, max_size=8).map(tuple))
def test_the_text_of_steps_is_parsed_to_the_same_steps(steps: tuple[Step, ...]) -> None:
    assert parse_object_path(object_path_text(steps)) == steps


@given(st.text("""abZ09._-/:=[]"' """, max_size=12))
def test_a_parsed_path_is_written_with_the_same_meaning(text: str) -> None:
    steps = parse_object_path(text)

    assert steps is None or parse_object_path(object_path_text(steps)) == steps
    if steps is not None and "'" not in text and '"' not in text:
        assert object_path_text(steps) == text


@tabled("notation")
def test_quotes_that_are_not_needed_change_nothing(text: str, canonical: str) -> None:
    steps = parse_object_path(text)

    assert steps is not None
    assert (steps, object_path_text(steps)) == (parse_object_path(canonical), canonical)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("spec.minReplicas", ("spec", "minReplicas")),
        ('spec.limits["nvidia.com/gpu"]', ("spec", "limits", "nvidia.com/gpu")),
        ("spec.flavors[name=default].quota", ("spec", "flavors", ("name", "default"), "quota")),
        ("spec.flavors[10].quota", ("spec", "flavors", 10, "quota")),
    ],
    ids=["key", "quoted", "by-name", "by-index"],
)
def test_common_paths_are_parsed_to_their_steps(text: str, steps: tuple[Step, ...]) -> None:
    assert parse_object_path(text) == steps


@pytest.mark.parametrize(
    "text",
    [
        *("", ".", ".spec", "spec.", "spec..a", "spec a", " spec", "spec.a b", "spec.limits.nvidia.com/gpu"),
        *("spec[", "spec[]", "spec[-1]", "spec[01]", "spec[1000]", "spec.[0]", "spec[*]", "spec[a]"),
        *("spec[a=]", "spec[=a]", "spec[a=b=c]", 'spec[a=""]', "spec['a\"]", 'spec[""]', 'spec["a"b"]'),
        *('spec[a="b]', "spec[a=b']", 'spec["a=b"]', 'spec["a"]b', 'spec."a"', 'spec.["a"]', 'spec["*"]'),
        *("spec/limits", "/spec/limits", "$.spec", "spec.é", "spec.a\n"),
        pytest.param("a." * 300 + "a", id="too-long"),
    ],
)
def test_malformed_paths_are_refused(text: str) -> None:
    assert parse_object_path(text) is None


@tabled("notation")
def test_a_pattern_matches_step_by_step(text: str, pattern: str, is_match: bool) -> None:
    path, allowed = parse_object_path(text), parse_object_path(pattern, is_pattern=True)

    assert path is not None
    assert allowed is not None
    assert object_path_text(allowed) == pattern
    assert matches_pattern(path, allowed) is is_match
