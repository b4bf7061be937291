"""The floors of the architecture: who may import whom, and how large anything may grow."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Models of whole documents make values; the models of their parts are in values.
DOCUMENTS = (
    r"(backend|calendar|cloudcapacity|fieldtable|kinds|metadata|recurrence|renku|reservation|resourceclass|"
    r"site)"
)
# Ground floor first. A module imports from floors below its own, or from its own package without a circle.
FLOORS = [
    r"gen\.(version|finding|quantity|table|forked|git)",
    r"gen\.runtime\.\w+",
    r"gen\.(rules|report|simulation)",
    r"gen\.(plan\.\w+|dates\.zone)",
    r"gen\.input\.\w+",
    rf"gen\.schema\.(?!{DOCUMENTS}$)\w+",
    r"gen\.model",
    r"gen\.cloud",
    r"gen\.dates\.(?!zone$)\w+",
    r"gen\.(sessiontext|chart\.\w+)",
    r"gen\.output\.\w+",
    rf"gen\.schema\.{DOCUMENTS}",
    r"gen\.(declared|manifest\.(naming|cloudpools))",
    r"gen\.(placed|jsonschema)",
    r"gen\.manifest\.(?!(naming|cloudpools)$)\w+",
    r"gen\.(check|backend)\.\w+",
    r"gen\.(engine|cost)\.\w+",
    r"gen\.(pipeline|remembered)",
    r"gen\.render",
    r"gen\.diff\.\w+",
    r"gen\.edit\.\w+",
    r"gen\.live\.\w+",
    r"gen\.command\.\w+",
    r"gen\.cli",
    r"gen\.__main__",
]
# The modules that may import a library, or what only an edge may touch.
GATES = {
    "jinja2": r"gen\.output\.(template|templaterules)",
    "yaml": r"gen\.input\.yamltree",
    "tzdata": r"gen\.dates\.zone",
    "zoneinfo": r"gen\.dates\.zone",
    "subprocess": r"gen\.git",
    "socket": r"gen\.runtime\.connection",
    "http": r"gen\.runtime\.(connection|renku)",
    "ssl": r"gen\.runtime\.(connection|renku)",
    "threading": r"gen\.(runtime\.(watcher|lookout|templates)|live\.(client|together))",
    "time": r"gen\.(runtime\.(occurrence|scaler|sweep|program|alive|connection|lookout)"
    r"|live\.(client|reach)|command\.\w+)",
    "pydantic": r"gen\.(schema\.(base|outline|validate|slots|nodeclass|nodepool|renku)|jsonschema)",
    "pydantic_core": r"gen\.(schema\.base|jsonschema)",
    "ruamel": r"gen\.edit\.roundtrip",
    "kubernetes": r"gen\.live\.client",
    "urllib3": r"gen\.live\.client",
}
LONGEST_FILE, LONGEST_FUNCTION, MOST_PARAMETERS = 400, 50, 7


def modules() -> dict[str, Path]:
    files = sorted((ROOT / "gen").rglob("*.py"))
    return {".".join(f.relative_to(ROOT).with_suffix("").parts): f for f in files if f.stem != "__init__"}


MODULES = modules()


def imports(module: str) -> Iterator[str]:
    """Every module that it imports, wherever in the file; those of ours by their full name."""
    for node in ast.walk(ast.parse(MODULES[module].read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module} imports relatively"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in MODULES else str(node.module)


def floor(module: str) -> int:
    found = [number for number, pattern in enumerate(FLOORS) if re.fullmatch(pattern, module)]
    assert len(found) == 1, f"{module} stands on {len(found)} floors"
    return found[0]


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_from_below(module: str) -> None:
    for other in imports(module):
        if other in MODULES:
            same_package = module.rpartition(".")[0] == other.rpartition(".")[0] != "gen"
            assert floor(other) < floor(module) or same_package, f"{module} imports {other}"


def test_no_imports_go_in_a_circle() -> None:
    below: dict[str, set[str]] = {m: {o for o in imports(m) if o in MODULES} for m in MODULES}
    while free := [module for module, others in below.items() if not others & below.keys()]:
        for module in free:
            del below[module]

    assert below == {}


@pytest.mark.parametrize(("library", "allowed"), GATES.items(), ids=list(GATES))
def test_a_library_is_imported_by_its_gate_alone(library: str, allowed: str) -> None:
    users = [m for m in MODULES if any(o.partition(".")[0] == library for o in imports(m))]

    assert [user for user in users if not re.fullmatch(allowed, user)] == []


def test_the_runtime_needs_the_standard_library_and_itself() -> None:
    for module in MODULES:
        if module.startswith("gen.runtime."):
            for other in imports(module):
                top = other.partition(".")[0]
                assert other.startswith("gen.runtime") or top in sys.stdlib_module_names, (module, other)


def test_small_commands_load_no_big_library() -> None:
    """What `--version`, `--help` and completion would wait for."""
    code = "import sys; from gen.cli import run; run(['--version']); print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1]

    assert not [name for name in ("jinja2", "ruamel.yaml", "yaml", "zoneinfo") if f"'{name}'" in loaded]


def code_files() -> list[Path]:
    return [f for folder in ("gen", "tests") for f in sorted((ROOT / folder).rglob("*.py"))]


@pytest.mark.parametrize("file", code_files(), ids=lambda f: str(f.relative_to(ROOT)).replace("/", "-"))
def test_files_and_functions_stay_small(file: Path) -> None:
    text = file.read_text("utf-8")
    assert text.count("\n") <= LONGEST_FILE
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            parameters = len(node.args.posonlyargs) + len(node.args.args) + len(node.args.kwonlyargs)
            assert lines <= LONGEST_FUNCTION, f"{node.name} has {lines} lines"
            assert parameters <= MOST_PARAMETERS, f"{node.name} has {parameters} parameters"


def test_no_file_is_named_after_nothing() -> None:
    names = {file.stem for file in code_files()}

    assert not names & {"utils", "util", "helpers", "helper", "common", "misc", "manager"}
