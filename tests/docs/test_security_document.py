"""SECURITY.md names the test that proves each of its sentences."""

import re

import pytest

from tests.console import ROOT

PAGE = (ROOT / "SECURITY.md").read_text("utf-8")
LISTS = {
    name: re.findall(
        r"^- .+?(?=^- |^\n(?=\S)|\Z)",
        PAGE.partition(f"{name}:\n")[2].partition("\nA ")[0].partition("\n## ")[0],
        re.M | re.S,
    )
    for name in re.findall(r"^(A .+ can(?:not)?):$", PAGE, re.M)
}
TEST = re.compile(r"`(?:(tests/[\w/]+\.py)::)?(test_\w+)`")
CASES = {
    claim or name
    for path in (ROOT / "tests/cases").glob("*.yaml")
    for claim, name in re.findall(r"^(?:- claim: (.+)|(.+):)$", path.read_text("utf-8"), re.M)
}
WITHOUT = (
    "change the workflow in the own branch"  # GitHub's own behavior: the sentence says what guards against it
)


def test_the_page_lists_what_lecturers_requesters_and_scalers_can_and_cannot_do() -> None:
    assert [*LISTS] == [
        "A lecturer with a pull request can",
        "A lecturer with a pull request cannot",
        "A person with a request can",
        "A person with a request cannot",
        "A taken-over scaler can",
        "A taken-over scaler cannot",
    ]
    assert all(len(sentences) > 4 for sentences in LISTS.values())


@pytest.mark.parametrize(
    "sentence",
    [one for sentences in LISTS.values() for one in sentences if WITHOUT not in one],
    ids=lambda sentence: sentence[2:40].strip(),
)
def test_a_sentence_names_the_test_that_proves_it(sentence: str) -> None:
    named, cases = TEST.findall(sentence), re.findall(r"case\s+`([^`]+)`", sentence)

    assert named or cases
    assert {" ".join(case.split()) for case in cases} <= CASES
    for file, name in named:
        files = [ROOT / file] if file else sorted((ROOT / "tests").rglob("test_*.py"))
        assert any(re.search(rf"^def {name}\(", path.read_text("utf-8"), re.M) for path in files), name
