"""Rewrite everything in the pages that the program can print: `python -m tests.refresh [PAGE...]`.

These are the outputs of the commands shown, the samples in tests/cases/findings.md, the findings in
docs/status.md and the table of the time rule. Review the difference before you commit it.
"""

import re
import sys

from berth.findings import LIVE_RULES

from tests import findingspage, pages, timetable_rows
from tests.console import ROOT

STATUS = "docs/status.md"


def status_page(text: str) -> str:
    """Return docs/status.md with the findings as the program has them now."""
    rows = "".join(
        f'| <a id="{code.lower()}"></a>{code} | {rule.severity} | {rule.brief} | {rule.meaning} |\n'
        for code, rule in sorted(LIVE_RULES.items())
    )
    return re.sub(r"(?:^\| <a id=.*\n)+", lambda _: rows, text, flags=re.M)


def main(chosen: list[str]) -> None:
    """Rewrite the chosen pages, or all of them."""
    samples = str(findingspage.SAMPLES.relative_to(ROOT))
    for page in chosen or [samples, *pages.pages()]:
        before = pages.text_of(page)
        text = before
        if page in pages.pages_with_commands():
            text = pages.refreshed(page)
        if page == samples:
            text = findingspage.refreshed(text)
        if page == STATUS:
            text = status_page(text)
        if page == timetable_rows.PAGE:
            text = timetable_rows.refreshed(text)
        if text != before:
            (ROOT / page).write_text(text, "utf-8")
            sys.stdout.write(f"{page}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
