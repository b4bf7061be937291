"""No file of the repository sends its readers to a package, a repository or an account of a stranger."""

import ast
import re
import tomllib
from collections.abc import Iterator

import pytest
from berth import names

from tests.console import ROOT
from tests.pages import tracked

TELLING = {"gen/berth/names.py", "tests/test_names.py"}
# What each pattern finds, and what it may be.
MENTIONS = {
    # the argument of a program that installs from the package index
    r"(?:pip|pipx|uv tool|uv) (?:install|run|wheel)(?: -\S+)* [\"']?((?:kube-)?berth\b[^\s\"'`=]*)": {
        names.DISTRIBUTION,
        names.CLUSTER_EXTRA,
    },
    r"\buvx (?:--from )?[\"']?((?:kube-)?berth\b[^\s\"'`=]*)": {names.DISTRIBUTION, names.CLUSTER_EXTRA},
    # an action
    r"([\w.<>-]+/berth(?:/[\w/-]+)?@v?\d[\w.]*)": set(),
    # an address
    r"(?:github\.com|ghcr\.io)/([\w.<>-]+/(?:kube-)?berth)\b": {names.REPOSITORY},
    r"pypi\.org/(?:project|p)/([\w-]*berth[\w-]*)": {names.DISTRIBUTION},
    # an account
    r"([\w.+-]*berth[\w.+-]*@users\.noreply\.github\.com)": set(),
}


def texts() -> Iterator[tuple[str, str]]:
    for path in tracked():
        file = ROOT / path
        if path not in TELLING and file.is_file():
            yield path, file.read_text("utf-8", errors="ignore")


@pytest.mark.parametrize(("pattern", "allowed"), MENTIONS.items(), ids=range(len(MENTIONS)))
def test_every_mention_is_a_name_of_the_project(pattern: str, allowed: set[str]) -> None:
    found = {(path, name) for path, text in texts() for name in re.findall(pattern, text)}

    assert sorted(one for one in found if one[1] not in allowed) == []


@pytest.mark.parametrize(
    "text",
    [
        "pip install --quiet berth",
        "pip install 'berth[cluster]'",
        "pipx run berth validate",
        "uvx berth",
        "uses: somebody/berth@v0.1.0",
        "https://github.com/somebody/berth",
        "ghcr.io/somebody/kube-berth:1",
        "https://pypi.org/project/berth",
        "berth@users.noreply.github.com",
    ],
)
def test_a_foreign_name_is_found(text: str) -> None:
    assert [
        name for one, allowed in MENTIONS.items() for name in re.findall(one, text) if name not in allowed
    ]


def test_code_takes_the_names_from_one_module() -> None:
    for path, text in texts():
        if path.startswith("gen/") and path.endswith(".py"):
            literals = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
            said = [literal for literal in literals if isinstance(literal, str)]
            assert [
                literal for literal in said if names.DISTRIBUTION in literal or names.REPOSITORY in literal
            ] == [], path


def test_the_distribution_is_what_the_project_builds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

    assert project["name"] == names.DISTRIBUTION
    assert names.CLUSTER_EXTRA in [f"{project['name']}[{load}]" for load in project["optional-dependencies"]]
