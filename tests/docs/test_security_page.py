"""SECURITY.md names the test that tries each of its sentences."""

import re

from tests.console import ROOT

PAGE = (ROOT / "SECURITY.md").read_text("utf-8")
NAMED = sorted({*re.findall(r"`(test_\w+)`", PAGE)})


def test_each_test_that_the_page_names_exists() -> None:
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    defined = {*re.findall(r"^def (test_\w+)\(", sources, re.MULTILINE)}

    assert NAMED
    assert [name for name in NAMED if name not in defined] == []


def test_each_sentence_about_what_a_lecturer_cannot_do_names_a_test() -> None:
    part = PAGE.partition("A lecturer with a pull request cannot:")[2].partition("\n## ")[0]
    sentences = re.findall(r"^- .+?(?=^- |\Z)", part, re.MULTILINE | re.DOTALL)

    assert len(sentences) > 10
    assert [one for one in sentences if "`test_" not in one] == []
