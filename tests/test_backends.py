"""Which backend a reservation has is known to the packages in `berth.backends` alone."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from berth.backends.backendinterface import Backend, backend_of
from berth.backends.backendregistry import HOLDERS
from berth.schema.basemodel import Meaning
from berth.schema.reservationspec import Provisioning
from berth.schema.seatholders import Holder

ROOT = Path(__file__).parents[1] / "gen" / "berth"
PACKAGES = {f"berth.backends.{folder.name}" for folder in (ROOT / "backends").iterdir() if folder.is_dir()}
IN_CLUSTER = {"HeldNumber", "SlotSpec"}  # holders of `berth.core`
READERS = {  # of Koordinator's objects, whatever backend a reservation has
    "import of berth.backends.koordinator.slotmapping.SlotMapping",  # a key of a ResourceClass
    "import of berth.backends.koordinator.slottypes.why_unread",  # Reservations in a cluster
}


def questions(source: str) -> Iterator[str]:
    """Yield what in a module depends on one backend: an import, a comparison with its name, its class."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            for name in (f"{node.module}.{alias.name}" for alias in node.names):
                if any(name.startswith(f"{package}.") for package in PACKAGES):
                    yield f"import of {name}"
        elif isinstance(node, ast.Compare):
            for part in (inner for operand in (node.left, *node.comparators) for inner in ast.walk(operand)):
                if isinstance(part, ast.Constant) and part.value in HOLDERS:
                    yield f"comparison with {part.value}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            names = {part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name)}
            yield from (f"isinstance of {name}" for name in sorted(names & IN_CLUSTER))


def modules_outside() -> list[Path]:
    inside = {"backends", "core", "runtime"}
    return [file for file in sorted(ROOT.rglob("*.py")) if file.relative_to(ROOT).parts[0] not in inside]


@pytest.mark.parametrize(
    "source",
    [
        "from berth.backends.koordinator.slotholder import SlotHolder",
        "from berth.backends.koordinator import slotholder",
        "if backend.type == 'nodePool': pass",
        "if holder.backend in ('koordinator', 'nodePool'): pass",
        "if isinstance(pool.holder, (Nodes, SlotSpec)): pass",
    ],
)
def test_each_way_to_ask_for_the_backend_is_found(source: str) -> None:
    assert list(questions(source))


def test_no_code_outside_of_backends_asks_for_the_backend() -> None:
    asked = {
        str(file.relative_to(ROOT)): found
        for file in modules_outside()
        if (found := {*questions(file.read_text("utf-8"))} - READERS)
    }

    assert asked == {}


@pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS)
def test_each_backend_of_the_registry_has_an_implementation(holder: type[Holder]) -> None:
    assert isinstance(backend_of(holder.__new__(holder)), Backend)
    assert holder.implementation.rpartition(".")[0] in PACKAGES


@pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS)
def test_the_described_default_of_each_backend_is_its_own(holder: type[Holder]) -> None:
    defaults = {"scale_down_behavior": holder.behaviors[0], "overlap": holder.overlap}
    for key, default in defaults.items():
        meaning = Provisioning.model_fields[key].json_schema_extra
        assert isinstance(meaning, Meaning)
        usual, *others = meaning.words.split("; ")
        own = next((text for text in others if holder.backend in text), usual)
        assert own.split()[0] == f"`{default}`"
