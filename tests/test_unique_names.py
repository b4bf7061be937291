"""One of each: no two modules, public classes or checks share a name, and findings are made by places."""

import ast
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from tests.console import ROOT

PACKAGE = ROOT / "gen" / "berth"
TREES = {
    file.relative_to(PACKAGE).with_suffix("").as_posix(): ast.parse(file.read_text("utf-8"))
    for file in sorted(PACKAGE.rglob("*.py"))
    if file.stem not in ("__init__", "__main__")
}


def shared(names: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the names that more than one module has."""
    modules = defaultdict(list)
    for name, module in names:
        modules[name].append(module)
    return {name: found for name, found in modules.items() if len(found) > 1}


def functions(module: str) -> list[ast.FunctionDef]:
    return [node for node in TREES[module].body if isinstance(node, ast.FunctionDef)]


def test_module_names_are_unique() -> None:
    assert shared((Path(module).name, module) for module in TREES) == {}


def test_public_class_names_are_unique() -> None:
    classes = [
        (node.name, module)
        for module, tree in TREES.items()
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]

    assert shared(classes) == {}


def test_check_names_are_unique() -> None:
    names = [(function.name, module) for module in TREES for function in functions(module)]

    assert shared((name, module) for name, module in names if name.startswith("check_")) == {}


def test_the_name_of_a_public_check_starts_with_check() -> None:
    """A check yields problems of declarations; what others in its module call is private."""
    named = [
        (module, function.name)
        for module in TREES
        if module.startswith("checks/")
        for function in functions(module)
        if function.returns is not None and ast.unparse(function.returns).startswith("Iterator[Problem")
    ]
    public = [(module, name) for module, name in named if not name.startswith("_")]

    assert len(public) > 20
    assert [(module, name) for module, name in public if not name.startswith("check_")] == []


def test_only_places_create_findings() -> None:
    """What is wrong is said with a code and texts; the place knows file, cluster and severity."""
    makers = {"Problem": {"findings"}, "Finding": {"findings", "reading/place"}}
    calls = [
        (node.func.id, module)
        for module, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in makers
    ]

    assert {name: {module for made, module in calls if made == name} for name in makers} == makers
