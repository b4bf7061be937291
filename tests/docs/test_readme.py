"""README is short, and its quick start works."""

import re
from pathlib import Path

from tests.console import ROOT, blocks, printed
from tests.pages import quick_start, text_of


def test_it_is_short() -> None:
    assert len(text_of("README.md").splitlines()) <= 160


def test_the_quick_start_is_what_init_tells_to_do_next(tmp_path: Path) -> None:
    """tests/e2e/test_quickstart.py runs all of it on a cluster."""
    _, (init, *commands), *_ = quick_start()

    told = printed(f"{init} --now 2026-01-10", tmp_path)

    assert [line.strip() for line in told.splitlines() if line.startswith("  ")] == commands
    assert printed("berth render", tmp_path / "seats").startswith("rendered/: 5 written")
    assert (tmp_path / "seats" / commands[2].split()[-1]).is_dir()


def test_the_setup_of_a_clone_names_targets_that_exist() -> None:
    (setup,) = [block for language, block in blocks(text_of("CONTRIBUTING.md")) if language == "console"]
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    make, export = [line.partition("#")[0].split() for line in setup.splitlines()]

    assert make[0] == "make"
    assert make[1] in targets
    assert export == ["export", 'PATH="$PWD/.venv/bin:$PATH"']
