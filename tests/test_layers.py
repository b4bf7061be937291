"""The floors of the architecture: who may import whom."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# The modules of the schema that read a backend, or what has one.
DECLARING = (
    "(calendar|datechanges|declared|describe|entry|policies|recurrence|renku|reservation|reservationspec"
    "|resourceclass|site|values)"
)
RESOLVED = "(project|ceilings|numberlevels|basenames|cloudmatching)"  # what checks are given
# Ground floor first. A module imports from floors below its own, or from its own package without a circle.
FLOORS = [
    r"berth\.(version|plugins\.numbers\.quantities)",
    r"berth\.(names|findings|quantity|durations|git)",
    r"berth\.core\.\w+",
    r"berth\.runtime\.\w+",
    # Imported by the two above only where a cluster uses them.
    r"berth\.plugins\.(?!numbers\.quantities$)\w+\.\w+",
    r"berth\.reading\.\w+",
    r"berth\.machines\.(nodelabels|instancetypes|windowbudgets|versions|estimate)",
    r"berth\.dates\.(zone|moments)",  # the time rule; the schema checks zones by it
    r"berth\.notation\.\w+",
    rf"berth\.schema\.(?!{DECLARING}$)\w+",
    r"berth\.backends\.(backendregistry|backendspec|\w+\.(\w+holder|slotoptions|slotmapping|slottypes|valueoptions))",
    rf"berth\.schema\.{DECLARING}",
    r"berth\.dates\.(?!(zone|moments)$)\w+",
    r"berth\.output\.\w+",
    r"berth\.simulation",
    r"berth\.sessiontext",
    r"berth\.manifests\.(placed|nodeaffinity|naming)",  # which objects there are, and their names
    rf"berth\.checks\.{RESOLVED}",
    r"berth\.backends\.backendinterface",
    r"berth\.manifests\.(engines\.)?(?!(placed|nodeaffinity|naming)$)\w+",
    rf"berth\.checks\.(?!{RESOLVED}$)\w+",
    r"berth\.backends\.\w+\.(?!(\w+holder|slotoptions|slotmapping|slottypes|valueoptions)$)\w+",
    r"berth\.machines\.(?!(nodelabels|instancetypes|windowbudgets|versions|estimate)$)\w+",
    r"berth\.cost\.\w+",
    r"berth\.webcalendar\.\w+",
    r"berth\.pipeline",
    r"berth\.rendering",
    r"berth\.diff\.\w+",
    r"berth\.edit\.\w+",
    r"berth\.live\.\w+",
    r"berth\.cli\.\w+",
    r"berth\.__main__",
]
# The modules that may import a library, or what only an edge may touch.
GATES = {
    "jinja2": r"berth\.output\.templates",
    "yaml": r"berth\.reading\.(document|tree)",
    "tzdata": r"berth\.dates\.zone",
    "zoneinfo": r"berth\.dates\.zone",
    "subprocess": r"berth\.(git|edit\.installation)",
    "socket": r"berth\.runtime\.apiclient",
    "http": r"berth\.(runtime\.apiclient|plugins\.renku\.projecttemplates)",
    "ssl": r"berth\.(runtime\.apiclient|plugins\.renku\.projecttemplates)",
    "threading": r"berth\.(runtime\.watch|plugins\.(renku\.projecttemplates|slots\.slotwrites)"
    r"|live\.(client|access))",
    "time": r"berth\.(runtime\.(occurrence|scaler|sweep|program|watch)"
    r"|live\.(client|access)|cli\.\w+)",
    "click": r"berth\.cli\.\w+",
    "pydantic": r"berth\.(schema\.\w+|backends\.koordinator\.slotoptions)",
    "pydantic_core": r"berth\.schema\.\w+",
    "croniter": r"berth\.(schema\.cloudgrammar|diff\.risks)",
    "icalendar": r"berth\.(output\.calendarfile|notation\.zones|edit\.feed(clocks)?)",
    "dateutil": r"berth\.edit\.feeddates",
    "ruamel": r"berth\.edit\.roundtrip",
    "kubernetes": r"berth\.live\.client",
    "urllib3": r"berth\.live\.client",
}


def modules() -> dict[str, Path]:
    files = sorted((ROOT / "gen" / "berth").rglob("*.py"))
    return {
        ".".join(f.relative_to(ROOT / "gen").with_suffix("").parts): f for f in files if f.stem != "__init__"
    }


MODULES = modules()
SHIPPED = ("berth.core.", "berth.runtime.", "berth.plugins.")  # to clusters


@cache
def imports(module: str) -> list[str]:
    """Every module that it imports, wherever in the file; those of ours by their full name."""
    return [*_imports(module)]


def _imports(module: str) -> Iterator[str]:
    tree = ast.parse(MODULES[module].read_text("utf-8"))
    always = {id(node) for node in tree.body}
    for node in ast.walk(tree):
        if module.startswith(SHIPPED) and id(node) not in always and is_plugin(node):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module} imports relatively"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in MODULES else str(node.module)


def is_plugin(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and str(node.module).startswith("berth.plugins.")


@cache
def floor(module: str) -> int:
    found = [number for number, pattern in enumerate(FLOORS) if re.fullmatch(pattern, module)]
    assert len(found) == 1, f"{module} stands on {len(found)} floors"
    return found[0]


def test_modules_import_only_from_below() -> None:
    for module in MODULES:
        for other in imports(module):
            if other in MODULES:
                same_package = module.count(".") > 1 and module.split(".")[1] == other.split(".")[1]
                assert floor(other) < floor(module) or same_package, f"{module} imports {other}"


def test_imports_have_no_cycles() -> None:
    below = {m: {o for o in imports(m) if o in MODULES} for m in MODULES}
    while free := [module for module, others in below.items() if not others & below.keys()]:
        for module in free:
            del below[module]

    assert below == {}


@pytest.mark.parametrize(("library", "allowed"), GATES.items(), ids=list(GATES))
def test_a_library_is_imported_by_its_gate_alone(library: str, allowed: str) -> None:
    users = [m for m in MODULES if any(o.partition(".")[0] == library for o in imports(m))]

    assert [user for user in users if not re.fullmatch(allowed, user)] == []


def test_the_runtime_imports_only_the_standard_library_and_itself() -> None:
    for module in MODULES:
        if module.startswith(SHIPPED):
            for other in imports(module):
                top = other.partition(".")[0]
                own = module.rpartition(".")[0]
                known = ("berth.core", own, *(["berth.runtime", "berth.plugins"] if "plugins" in own else []))
                assert other.startswith(known) or top in sys.stdlib_module_names, (
                    module,
                    other,
                )


@pytest.mark.parametrize(
    ("argument", "completed", "libraries"),
    [("--version", "", set()), ("--help", "", {"click"}), ("", "berth re", {"click"})],
)
def test_small_commands_load_only_the_library_of_the_command_line(
    argument: str, completed: str, libraries: set[str]
) -> None:
    """What a person waits for: the schema takes longer to load than all else."""
    program = [sys.executable, "-X", "importtime", "-m", "berth", *filter(None, [argument])]
    shell = {"_BERTH_COMPLETE": "bash_complete", "COMP_WORDS": completed, "COMP_CWORD": "1"}
    environment = {**os.environ, **(shell if completed else {})}
    done = subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    known = {
        "click",
        "croniter",
        "icalendar",
        "jinja2",
        "kubernetes",
        "pydantic",
        "ruamel.yaml",
        "tzdata",
        "yaml",
        "zoneinfo",
    }

    assert done.stdout
    assert "berth.cli.process" in loaded
    assert loaded & known == libraries
    assert not [name for name in loaded if re.fullmatch(r"berth\.(pipeline|schema\.(?!seatholders).*)", name)]


def code_files() -> list[Path]:
    return [f for folder in ("gen", "tests") for f in sorted((ROOT / folder).rglob("*.py"))]


def test_no_test_module_imports_another() -> None:
    """What they share is in a module that has no tests."""
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names = [*str(node.module).split("."), *(alias.name for alias in node.names)]
                assert not [name for name in names if name.startswith("test_")], file


def test_no_file_has_a_generic_name() -> None:
    names = {file.stem for file in code_files()}

    assert not names & {"utils", "util", "helpers", "helper", "common", "misc", "manager"}
