"""What the occurrence's container has resident, against a bare interpreter. A stub answers it over TLS."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.rendering import Row
from tests.runtime.fake_cluster import FakeCluster
from tests.runtime.programs import OPEN, environment, start, timetable, wait_until
from tests.runtime.stub_server import StubServer, answered_by, make_account

SETTLED = 12  # seconds: two looks of the loop and more


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="berth-bench-") as folder:
        occurrence = _occurrence(Path(folder))
    bare = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    time.sleep(1)
    nothing = resident(bare.pid)
    bare.kill()
    bare.wait()
    yield Row(
        "occurrence / bare Python, resident", occurrence / nothing, None, f"{occurrence:.1f} MiB, at most 24"
    )


def _occurrence(folder: Path) -> float:
    account = make_account(folder / "account")
    cluster = FakeCluster(timetable(OPEN), {"course-small": 0})
    with StubServer(answered_by(cluster), account) as server:
        process = start(account, environment(server, folder))
        wait_until(lambda: len(server.received) >= 3)
        time.sleep(SETTLED)
        found = resident(process.pid)
        process.kill()
        process.communicate()
    return found


def resident(process: int) -> float:
    """RssAnon + RssFile, in MiB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    sizes = {key: value for key, _, value in (line.partition(":") for line in lines)}
    return sum(int(sizes[key].split()[0]) for key in ("RssAnon", "RssFile")) / 1024
