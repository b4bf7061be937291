"""docs/architecture.md names every folder and everything at the top of the tree, and its paths exist."""

import re

import yaml

from tests.console import ROOT
from tests.pages import text_of, tracked

PAGE = text_of("docs/architecture.md")
KNOWN_BY_THEIR_NAMES = {
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "SECURITY.md",
}


def test_the_page_names_everything_at_the_top_of_the_tree() -> None:
    top = {path.partition("/")[0] for path in tracked()} - KNOWN_BY_THEIR_NAMES - {"pyproject.toml", "docs"}

    assert len(top) > 8
    assert sorted(name for name in top if not re.search(rf"`{re.escape(name)}[/`]", PAGE)) == []


def test_the_page_names_every_folder_of_the_package() -> None:
    """The table lists each floor once."""
    folders = {path.split("/")[2] for path in tracked() if re.match(r"gen/berth/\w+/\w+\.py$", path)}
    listed = re.findall(r"^\| `(\w+)` \| ", PAGE.partition("## Folders")[2].partition("## ")[0], re.M)

    assert len(listed) == len(set(listed))
    assert sorted(folders - set(listed)) == []


def test_the_page_names_every_folder_of_test_data() -> None:
    folders = {
        path.split("/")[1] for path in tracked() if path.startswith("tests/") and path.endswith(".yaml")
    }

    assert {"cases", "examples"} <= folders
    assert sorted(name for name in folders if f"`tests/{name}/" not in PAGE) == []


def test_the_paths_on_the_page_exist() -> None:
    named = set(re.findall(r"`((?:\.github|\.ci|docs|tests|templates)/[\w./-]*)`", PAGE))

    assert len(named) > 10
    assert sorted(path for path in named if not (ROOT / path).exists()) == []


def test_actions_are_where_workflows_look_for_them() -> None:
    ours = [ROOT / path for path in tracked() if path.startswith(".github/workflows/")]
    steps = [
        step
        for path in ours
        for job in yaml.safe_load(path.read_text("utf-8"))["jobs"].values()
        for step in job["steps"]
    ]
    local = {step["uses"] for step in steps if step.get("uses", "").startswith("./")}

    assert len(local) == 2
    assert [name for name in local if not (ROOT / name / "action.yml").is_file()] == []
