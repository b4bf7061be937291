"""How fast many reservations are rendered, and in how much memory, against the baselines of the same run."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.bench import baseline, workload
from tests.bench.process import CACHE, Command, Cost, in_turn, once

RENDER: Command = (sys.executable, "-m", "berth", "render")
CHECK: Command = (*RENDER, "--check")
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # what a disk takes is not ours to measure
BARE: Command = (sys.executable, "-c", "pass")


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


def measure(number: int, runs: int, *, baselines: bool = False) -> dict[str, Cost]:
    """Costs by name: `render` (from nothing), `check` (nothing changed), `first` (the same where nothing is
    remembered, as in a fresh clone), and the baselines.
    """
    with project(number) as folder:
        where = str(folder)
        once(RENDER, where)
        commands: dict[str, Command] = {"bare": BARE, "first": CHECK, "render": RENDER, "check": CHECK}
        if baselines:
            baseline.prepare(folder / "rendered", folder / "objects")
            dump = (sys.executable, "-m", "tests.bench.baseline")
            commands["cat"] = (
                "sh",
                "-c",
                "cat reservations/* rendered/clusters/prod/reservations/* > copied",
            )
            commands["pyyaml"] = (*dump, "pyyaml", "objects", "dumped")
            if number <= 100:
                commands["ruamel"] = (*dump, "ruamel", "objects", "dumped")
        names = list(commands)

        def before(i: int) -> None:
            if names[i] == "render":
                shutil.rmtree(folder / "rendered", ignore_errors=True)
            elif names[i] == "first":
                shutil.rmtree(folder / CACHE, ignore_errors=True)

        costs = in_turn([(commands[name], where) for name in names], runs, before)
        return dict(zip(names, costs, strict=True))


def rows() -> Iterator[Row]:
    one = measure(1, 9)
    yield Row(
        "1 reservation / bare Python", one["render"].seconds / one["bare"].seconds, 15, _ms(one["render"])
    )
    hundred = measure(100, 5, baselines=True)
    yield Row("100 / PyYAML's C dumper", _ratio(hundred, "pyyaml"), None, _ms(hundred["render"]))
    yield Row("100 / ruamel.yaml", _ratio(hundred, "ruamel"), None, "")
    thousand = measure(1000, 5, baselines=True)
    yield Row("1,000 / PyYAML's C dumper", _ratio(thousand, "pyyaml"), 1 / 5, _ms(thousand["render"]))
    yield Row("1,000 / cat", _ratio(thousand, "cat"), None, "")
    yield Row(
        "1,000 unchanged with --check / full render",
        thousand["check"].seconds / thousand["render"].seconds,
        1 / 2,
        _ms(thousand["check"]),
    )
    yield Row(
        "the same in a fresh clone",
        thousand["first"].seconds / thousand["render"].seconds,
        None,
        _ms(thousand["first"]),
    )
    many = measure(5000, 3)
    later = (many["render"].seconds - thousand["render"].seconds) / 4000
    sooner = (thousand["render"].seconds - hundred["render"].seconds) / 900
    yield Row("a reservation beyond 1,000 / one beyond 100", later / sooner, 1, f"{later * 1e6:.0f} us")
    memory = f"{hundred['render'].mebibytes:.0f} to {many['render'].mebibytes:.0f} MiB"
    yield Row("peak memory, 5,000 / 100", many["render"].mebibytes / hundred["render"].mebibytes, 2, memory)


def _ratio(costs: dict[str, Cost], other: str) -> float:
    return costs["render"].seconds / costs[other].seconds


def _ms(cost: Cost) -> str:
    return f"{cost.seconds * 1000:.0f} ms"
