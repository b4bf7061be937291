"""The quick start of README works."""

import re
from pathlib import Path

import pytest
from berth.version import VERSION

from tests.console import PASTED_ON, ROOT, blocks, printed
from tests.pages import PASTED, checkout, quick_start, text_of


def test_the_badge_has_the_current_version() -> None:
    assert f"/badge/version-{VERSION}-" in text_of("README.md")


def test_the_quick_start_has_the_next_steps_that_init_prints(tmp_path: Path) -> None:
    """tests/e2e/test_quickstart.py runs all of it on a cluster."""
    _, (init, *commands), *_ = quick_start()

    told = printed(f"{init} --now {PASTED_ON}", tmp_path)

    assert [line.strip() for line in told.splitlines() if line.startswith("  ")] == commands
    assert printed("berth render", tmp_path / "seats").startswith("rendered/: 5 written")
    assert (tmp_path / "seats" / commands[2].split()[-1]).is_dir()


def test_the_first_screens_show_the_two_commands_and_their_output(tmp_path: Path) -> None:
    sections = re.split(r"^## ", text_of("README.md"), flags=re.M)
    lines = "".join(sections[:2]).splitlines()
    at = [lines.index(f"$ make {target}") for target in ("render", "test")]
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.M)

    assert sections[1].startswith("Set up: two commands\n")
    assert at[-1] < 80
    assert {"render", "test"} <= {*targets}
    assert lines[at[0] + 1] == printed("berth render", checkout(tmp_path)).splitlines()[0]
    assert re.fullmatch(r"=+ \d+ passed, \d+ skipped in [\d.]+s \(\d:\d\d:\d\d\) =+", lines[at[1] + 1])


@pytest.mark.parametrize("page", PASTED)
def test_dates_that_people_paste_are_in_the_future(page: str) -> None:
    """Else its dates, and warnings about them, would be the first thing that they see."""
    dates = re.findall(r"\b20\d\d-\d\d-\d\d\b", text_of(page))

    assert dates
    assert [day for day in dates if day <= PASTED_ON] == []


def test_a_fresh_repository_has_dates_after_the_day_on_which_it_is_made(tmp_path: Path) -> None:
    for now in (PASTED_ON, "2031-07-01"):
        folder = tmp_path / now
        printed(
            f"berth init {folder} --source pods --cluster prod --time-zone Europe/Zurich --engine none",
            tmp_path,
            now,
        )
        written = "".join(file.read_text("utf-8") for file in (folder / "reservations").rglob("*.yaml"))
        dates = re.findall(r"\b20\d\d-\d\d-\d\d\b", written)

        assert dates
        assert min(dates) >= now[:4] + "-01-01", "the calendar may have holidays of the whole year"
        assert [day for day in re.findall(r"(?:startDate|endDate): (\S+)", written) if day < now] == []
        assert not re.search(r"\b(warning|error)\[", printed("berth validate", folder, now))


def test_the_setup_of_a_clone_names_targets_that_exist() -> None:
    (setup,) = [block for language, block in blocks(text_of("CONTRIBUTING.md")) if language == "console"]
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    make, export = [line.partition("#")[0].split() for line in setup.splitlines()]

    assert make[0] == "make"
    assert make[1] in targets
    assert export == ["export", 'PATH="$PWD/.venv/bin:$PATH"']


def test_the_home_page_starts_with_install_and_a_first_course() -> None:
    """With the commands of the README."""
    home = text_of("docs/index.md")
    install, course = [block.splitlines() for language, block in blocks(home) if language == "sh"]

    assert re.findall(r"^## (.+)$", home, re.M)[:2] == ["Install", "A first course"]
    assert install == quick_start()[0]
    assert f"$ {course[0]}\n" in text_of("README.md")


@pytest.mark.parametrize(
    ("searched", "page"),
    [
        ("skip week", "docs/lecturers.md"),
        ("extra time", "docs/lecturers.md"),
        ("why placeholder go", "docs/why-did-my-placeholder-go.md"),
    ],
)
def test_a_heading_has_the_words_that_people_search_for(searched: str, page: str) -> None:
    """The search of the site counts words of headings most."""
    headings = re.findall(r"^#+ (.+)$", text_of(page), re.M)
    words = [set(re.findall(r"\w+", heading.lower())) for heading in headings]

    assert any({*searched.split()} <= heading for heading in words)
