"""docs/architecture.md: whatever lies at the top of the tree is told there, and what it names is there."""

import re
import subprocess

import yaml

from tests.console import ROOT

DOCUMENT = (ROOT / "docs/architecture.md").read_text("utf-8")
KNOWN_BY_THEIR_NAMES = {".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md"}


def tracked() -> list[str]:
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def test_it_tells_what_everything_at_the_top_of_the_tree_is_for() -> None:
    top = {path.partition("/")[0] for path in tracked()} - KNOWN_BY_THEIR_NAMES - {"pyproject.toml", "docs"}

    assert len(top) > 8
    assert sorted(name for name in top if not re.search(rf"`{re.escape(name)}[/`]", DOCUMENT)) == []


def test_it_tells_what_everything_that_is_no_code_of_the_tests_is_for() -> None:
    folders = {
        path.split("/")[1] for path in tracked() if path.startswith("tests/") and path.endswith(".yaml")
    }

    assert {"cases", "examples"} <= folders
    assert sorted(name for name in folders if f"`tests/{name}/" not in DOCUMENT) == []


def test_the_paths_that_it_names_are_there() -> None:
    named = set(re.findall(r"`((?:\.github|\.ci|docs|tests|gen|preview-of-forks)/[\w./-]*)`", DOCUMENT))

    assert len(named) > 25
    assert sorted(path for path in named if not (ROOT / path).exists()) == []


def test_actions_are_where_workflows_and_manuals_look_for_them() -> None:
    ours = [ROOT / path for path in tracked() if path.startswith(".github/workflows/")]
    steps = [
        step
        for path in ours
        for job in yaml.safe_load(path.read_text("utf-8"))["jobs"].values()
        for step in job["steps"]
    ]
    local = {step["uses"] for step in steps if step.get("uses", "").startswith("./")}
    local.discard("./base")  # the action as the main branch has it, checked out there
    manual = (ROOT / "docs/pull-requests.md").read_text("utf-8")
    told = {f"./{path.strip('/')}" for path in re.findall(r"berth-dev/berth(/[\w/-]+)?@v[\d.]+", manual)}

    assert local == told == {"./", "./preview-of-forks"}
    assert [name for name in local if not (ROOT / name / "action.yml").is_file()] == []
