"""What the containers of a pod have resident, of code that nobody has compiled. A stub answers over TLS."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.rendering import Row
from tests.runtime.fake_cluster import FakeCluster
from tests.runtime.programs import OPEN, environment, make_berth, start, start_main, timetable, wait_until
from tests.runtime.stub_server import StubServer, answered_by, make_account

SETTLED = 12  # seconds: two looks of the loop and more


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="berth-bench-") as folder:
        scaler, main = _of_pod(Path(folder))
    note = f"scaler {scaler:.1f}, occurrence {main:.1f}"
    yield Row("pod, resident MiB", scaler + main, 32, note, fails=True)


def _of_pod(folder: Path) -> tuple[float, float]:
    """Return what the scaler and the main container have resident, in MiB."""
    account, berth = make_account(folder / "account"), make_berth(folder)
    cluster = FakeCluster(timetable(OPEN), {"course-small": 0})
    with StubServer(answered_by(cluster), account) as server:
        programs = [
            start(account, environment(server, folder), folder=berth),
            start_main(folder, folder=berth),
        ]
        wait_until(lambda: len(server.received) >= 3)
        time.sleep(SETTLED)
        scaler, main = (resident(program.pid) for program in programs)
        for program in programs:
            program.kill()
            program.communicate()
    return scaler, main


def resident(process: int) -> float:
    """RssAnon + RssFile, in MiB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    sizes = {key: value for key, _, value in (line.partition(":") for line in lines)}
    return sum(int(sizes[key].split()[0]) for key in ("RssAnon", "RssFile")) / 1024
