"""docs/reference/json.md: its keys are those of every kind of answer, and it names every exit code."""

import re

from berth.cli import console

from tests import answerkeys
from tests.console import ROOT
from tests.pages import text_of

TEXT = text_of("docs/reference/json.md")


def test_every_kind_of_answer_has_its_keys_on_the_page() -> None:
    code = "".join(path.read_text("utf-8") for path in sorted((ROOT / "gen/berth").rglob("*.py")))
    kinds = set(re.findall(r'\bdocument\(\s*"([A-Z]\w+)"', code))

    assert len(kinds) > 5
    assert {*answerkeys.by_kind()} == kinds


def test_the_page_lists_every_exit_code() -> None:
    exit_codes = {int(code) for code in re.findall(r"^\| (\d+) \|", TEXT, re.M)}

    assert exit_codes == {value for name, value in vars(console).items() if name.startswith("EXIT_")}
