"""Each sentence of SECURITY.md about a taken-over pod names a test that there is."""

import re

import pytest

from tests.console import ROOT

PAGE = (ROOT / "SECURITY.md").read_text("utf-8")
SECTION = PAGE.partition("## What a taken-over pod can do\n")[2].partition("\n## ")[0]
_SENTENCE = re.compile(r"^- (.+?[;.])$(?=\n- |\n\n)", re.M | re.S)
SENTENCES = [re.sub(r"\s+", " ", one) for one in _SENTENCE.findall(SECTION)]
TEST = re.compile(r"`(tests/\w+/test_\w+\.py)::(test_\w+)`")


def test_the_section_says_what_it_can_and_what_it_cannot() -> None:
    assert len(SENTENCES) == len(re.findall(r"^- ", SECTION, re.M)) > 9
    assert [line for line in SECTION.splitlines() if line.endswith(":")] == [
        "A taken-over scaler can:",
        "A taken-over scaler cannot:",
    ]


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda sentence: sentence[:40])
def test_a_sentence_names_the_test_that_proves_it(sentence: str) -> None:
    found = TEST.findall(sentence)

    assert found
    for file, name in found:
        assert re.search(rf"^def {name}\(", (ROOT / file).read_text("utf-8"), re.M), name
