"""Every page does what it says: its commands print what it shows, and its links work.

After a change of outputs: python -m tests.refresh
"""

import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.console import ROOT, commands
from tests.pages import checkout, followed, now_of, pages, pages_with_commands, text_of
from tests.reference import MADE

PAGES = pages()


@pytest.mark.parametrize("page", pages_with_commands())
def test_the_commands_on_a_page_print_the_shown_output(page: str, tmp_path: Path) -> None:
    text = text_of(page)

    assert list(followed(text, checkout(tmp_path), now_of(page))) == commands(text)


def anchors(text: str) -> set[str]:
    """Return the anchors of a page: its own, and those that GitHub makes of headings."""
    plain = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    headings = re.findall(r"^#+ (.+)$", plain, re.M)
    made = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return made | {*re.findall(r'<a id="([\w-]+)">', text)}


@pytest.mark.parametrize("page", PAGES)
def test_the_links_of_a_page_work(page: str) -> None:
    folder = (ROOT / page).parent
    broken = []
    for target in re.findall(r"\]\((?!https?:|\.\./\.\./actions/)([^)\s]+)\)", text_of(page)):
        name, _, anchor = target.partition("#")
        path = folder / name if name else ROOT / page
        name = os.path.relpath(path, ROOT)
        text = MADE[name]() if name in MADE else text_of(name) if path.suffix == ".md" else ""
        if not path.exists() or (anchor and anchor not in anchors(text)):
            broken.append(target)

    assert broken == []


@pytest.mark.parametrize("page", PAGES)
def test_every_table_has_a_line_below_its_header(page: str) -> None:
    """A row after an empty line is a table of its own, and then the next line separates its head."""
    code = r"^ *```.*?^ *```$"
    first_rows = re.findall(r"(?<=\n\n)\|.*\n(.*)", re.sub(code, "", text_of(page), flags=re.M | re.S))

    assert [row for row in first_rows if not re.fullmatch(r"(\|-+)+\|", row)] == []


@pytest.mark.parametrize("picture", sorted((ROOT / "docs/img").glob("*.svg")), ids=lambda path: path.name)
def test_a_picture_has_a_title_a_description_and_dark_colors(picture: Path) -> None:
    text = picture.read_text("utf-8")
    names = [child.tag.rpartition("}")[2] for child in ET.fromstring(text)]

    assert names[:2] == ["title", "desc"]
    assert "prefers-color-scheme: dark" in text


def test_every_page_can_be_reached_from_a_front_page() -> None:
    fronts = ["README.md", "docs/index.md"]
    found, waiting = {*fronts}, fronts
    while waiting:
        page = waiting.pop()
        for target in re.findall(r"\]\((?!https?:)([^)#\s]+\.md)", text_of(page)):
            name = str(((ROOT / page).parent / target).resolve().relative_to(ROOT))
            if name not in found and (ROOT / name).exists():
                found.add(name)
                waiting.append(name)

    assert sorted(set(PAGES) - found) == []


def test_every_code_of_a_warning_in_a_diff_is_documented() -> None:
    table = re.findall(r"^\| ((?:`[\w-]+`(?:, )?)+) \|", text_of("docs/pull-requests.md"), re.M)
    files = (ROOT / "gen/berth/diff" / name for name in ("risks.py", "comparison.py"))
    code = "".join(file.read_text("utf-8") for file in files)
    used = {*re.findall(r'Warning\(\s*"([\w-]+)"', code), *re.findall(r'yield "([\w-]+)", ', code)}

    assert {*re.findall(r"[\w-]+", " ".join(table))} == used
