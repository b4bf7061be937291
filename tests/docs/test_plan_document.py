"""docs/plan.md lists the findings of a plan as the program has them."""

import re

from berth.findings import RULES

from tests.pages import text_of


def test_its_table_has_the_severities_of_the_program() -> None:
    listed = re.findall(r"^\| (B\d{3}) \| (\w+) \|", text_of("docs/plan.md"), re.M)

    assert listed == [(code, RULES[code].severity) for code in sorted(RULES) if "B195" <= code <= "B199"]
