"""docs/status.md has every finding as the program has it, and each is made to happen in these tests."""

import re
from pathlib import Path

from berth.findings import LIVE_RULES

HERE = Path(__file__).parent
MANUAL = (HERE.parents[1] / "docs" / "status.md").read_text("utf-8")
_ROW = re.compile(r'^\| <a id="s\d{3}"></a>(S\d{3}) \| (\w+) \| (.+) \| (.+) \|$', re.M)


def test_the_manual_lists_every_finding_as_the_program_defines_it() -> None:
    assert _ROW.findall(MANUAL) == [
        (code, rule.severity, rule.brief, rule.meaning) for code, rule in sorted(LIVE_RULES.items())
    ]


def test_every_finding_occurs_in_a_test() -> None:
    texts = [file.read_text("utf-8") for file in (*HERE.glob("test_*.py"), *HERE.glob("*.txt"))]
    shown = {code for text in texts for code in re.findall(r"(?:error|warning|note)\[(S\d{3})\]", text)}

    assert shown == {*LIVE_RULES}
