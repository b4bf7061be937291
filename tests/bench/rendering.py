"""How fast many reservations are rendered, and in how much memory, against other programs in the same run."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from tests.bench import workload
from tests.bench.process import Command, Cost, in_turn, once

RENDER: Command = (sys.executable, "-m", "berth", "render")
CHECK: Command = (*RENDER, "--check")
PLAIN: Command = (sys.executable, "-m", "tests.bench.plain", ".", "plain")
HELM: Command = (sys.executable, "-m", "tests.bench.helm", ".", "helm.yaml")
BARE: Command = (sys.executable, "-c", "pass")
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # what a disk takes is not ours to measure


class Row(NamedTuple):
    """One promise. `most` is the ratio that we promise, None where the row is only told."""

    what: str
    ratio: float
    most: float | None
    note: str


@contextmanager
def project(number: int) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="berth-bench-", dir=MEMORY))
    try:
        workload.write(folder, number)
        yield folder
    finally:
        shutil.rmtree(folder)


def measure(number: int, runs: int, others: dict[str, Command]) -> dict[str, Cost]:
    """Costs by name: `render` (from nothing), `check` (nothing changed), and the `others`."""
    with project(number) as folder:
        once(RENDER, str(folder))
        commands = {"check": CHECK, "render": RENDER, **others}
        names = list(commands)

        def before(i: int) -> None:
            if names[i] == "render":
                shutil.rmtree(folder / "rendered", ignore_errors=True)

        costs = in_turn([(command, str(folder)) for command in commands.values()], runs, before)
        return dict(zip(names, costs, strict=True))


def rows() -> Iterator[Row]:
    one = measure(1, 9, {"plain": PLAIN, "bare": BARE})
    yield from _against("1 reservation", one, "plain", "a plain script", 1.3)
    yield Row("1 reservation / bare Python", _ratio(one, "bare"), None, "")
    helm: dict[str, Command] = {"helm": HELM} if find_spec("helm_python") else {}
    thousand = measure(1000, 5, {"plain": PLAIN, **helm})
    yield from _against("1,000", thousand, "plain", "a plain script", 1.2)
    yield from _against("1,000", thousand, "helm", "Helm 4", 1)
    if helm:
        memory = thousand["render"].mebibytes / thousand["helm"].mebibytes
        note = f"{thousand['render'].mebibytes:.0f} and {thousand['helm'].mebibytes:.0f} MiB"
        yield Row("1,000 / Helm 4, peak memory", memory, 1 / 3, note)
    check = thousand["check"].seconds / thousand["render"].seconds
    yield Row("1,000 with --check / full render", check, None, _ms(thousand["check"]))
    hundred, many = measure(100, 3, {}), measure(10_000, 3, {})
    note = f"{hundred['render'].mebibytes:.0f} and {many['render'].mebibytes:.0f} MiB"
    yield Row("peak memory, 10,000 / 100", many["render"].mebibytes / hundred["render"].mebibytes, 2, note)


def _against(what: str, costs: dict[str, Cost], other: str, name: str, most: float | None) -> Iterator[Row]:
    """A row where the other program was run."""
    if other in costs:
        note = f"{_ms(costs['render'])} and {_ms(costs[other])}"
        yield Row(f"{what} / {name}", _ratio(costs, other), most, note)


def _ratio(costs: dict[str, Cost], other: str) -> float:
    return costs["render"].seconds / costs[other].seconds


def _ms(cost: Cost) -> str:
    return f"{cost.seconds * 1000:.0f} ms"
