"""How fast many reservations are rendered, and in how much memory, against other programs in the same run."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.bench import workload
from tests.bench.process import Command, Cost, in_turn, once
from tests.e2e.binaries import binary

RENDER: Command = (sys.executable, "-m", "berth", "render")
CHECK: Command = (*RENDER, "--check")
PLAIN: Command = (sys.executable, "-m", "tests.bench.plain", ".", "plain")
CHART = Path(__file__).with_name("chart")
BARE: Command = (sys.executable, "-c", "pass")
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # what a disk takes is not ours to measure


class Row(NamedTuple):
    """One promise. `most`: None where the row is only told. `fails`: if it is more."""

    what: str
    value: float
    most: float | None
    note: str
    fails: bool = False


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
        shutil.copytree(CHART, folder / "chart")
        (folder / "chart" / "reservations").symlink_to(folder / "reservations")
        once(RENDER, str(folder))
        commands = {"check": CHECK, "render": RENDER, **others}
        names = list(commands)

        def before(i: int) -> None:
            if names[i] == "render":
                shutil.rmtree(folder / "rendered", ignore_errors=True)

        costs = in_turn([(command, str(folder)) for command in commands.values()], runs, before)
        return dict(zip(names, costs, strict=True))


def rows(*, is_short: bool) -> Iterator[Row]:
    helm: dict[str, Command] = {} if is_short else {"helm": (str(binary("helm")), "template", "chart")}
    one = measure(1, 9, {"plain": PLAIN})
    yield _against("1 reservation / a plain script", one, "plain", 1.2)
    thousand = measure(1000, 3 if is_short else 5, {"plain": PLAIN, **helm})
    yield _against("1,000 / a plain script", thousand, "plain", 1.1)
    yield Row("1,000, peak MiB", thousand["render"].mebibytes, 64, "", fails=True)
    check = thousand["check"].seconds / thousand["render"].seconds
    yield Row("1,000 with --check / full render", check, None, f"{thousand['check'].seconds * 1000:.0f} ms")
    if helm:
        yield _against("1,000 / Helm 4", thousand, "helm", 0.8)
        yield _memory("1,000 / Helm 4, peak memory", thousand, 1 / 3)
        yield _memory("10,000 / Helm 4, peak memory", measure(10_000, 1, helm), 1)


def _against(what: str, costs: dict[str, Cost], other: str, most: float) -> Row:
    render, seconds = costs["render"].seconds, costs[other].seconds
    return Row(what, render / seconds, most, f"{render * 1000:.0f} and {seconds * 1000:.0f} ms")


def _memory(what: str, costs: dict[str, Cost], most: float) -> Row:
    render, helm = costs["render"].mebibytes, costs["helm"].mebibytes
    return Row(what, render / helm, most, f"{render:.0f} and {helm:.0f} MiB")
