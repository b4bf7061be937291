"""Texts at the edges: nothing acts, and what programs read stays the same."""

import json

import pytest
from berth.output.escape import in_json, in_markdown, printed, visible, workflow_data
from hypothesis import given
from hypothesis import strategies as st

from tests.awkward import AWKWARD
from tests.hostile import WHATEVER, acts_in_markdown, acts_on_a_log, acts_on_a_terminal

texts = st.one_of(st.text(), st.sampled_from(AWKWARD), st.text("\x1b[3189;m\r\n\x85\u2028 :#a@`*_<&"))


@given(texts)
def test_escaped_texts_have_no_effect_on_terminals_logs_and_markdown(text: str) -> None:
    assert acts_on_a_terminal(printed(text)) == []
    assert [line for line in acts_on_a_log(printed(text)) if not line.strip().startswith("BROKEN")] == []
    assert "\n" not in visible(text) + workflow_data(text) + in_markdown(text)
    assert acts_in_markdown(in_markdown(f"a{text}")) == []


@given(texts)
def test_a_value_in_json_stays_the_same(text: str) -> None:
    written = in_json(json.dumps({"a": text}, ensure_ascii=False, indent=2))

    assert json.loads(written) == {"a": text}
    assert acts_on_a_terminal(written) == []
    assert "##[" not in written


@pytest.mark.parametrize("color", ["\x1b[31m", "\x1b[0m", "\x1b[1m", "\x1b[m"])
def test_our_colors_stay_on_a_terminal_with_color(color: str) -> None:
    assert printed(f"a{color}b\n", has_color=True) == f"a{color}b\n"
    assert "\x1b" not in printed(f"a{color}b\n") + printed(f"a\x1b[8m{WHATEVER}\n", has_color=True)


@pytest.mark.parametrize("text", ["授業 Café שלום", "न\u200dम 👩\u200d🏫", "a\u00a0: b", "a: b # c (d) -e"])
def test_ordinary_text_is_shown_unchanged(text: str) -> None:
    assert printed(text) == visible(text) == in_markdown(text) == text
