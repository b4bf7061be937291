"""One program of the cluster: start, stop, restart, and what it said when it died."""

import contextlib
import http.client
import os
import signal
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tests.e2e.errors import E2EError, WaitTimeoutError
from tests.e2e.sandbox import Sandbox, children


class Component:
    def __init__(  # noqa: PLR0913 - a program has as many
        self,
        sandbox: Sandbox,
        argv: list[str],
        logs: Path,
        is_ready: Callable[[], bool] | None = None,
        grace: float = 20,
        *,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.name = Path(argv[0]).name  # also of the log; change it where a program runs twice
        self.argv = argv
        self._logs = logs
        self._sandbox = sandbox
        self._is_ready = is_ready
        self._grace = grace
        self._environment = environment
        self._lock = threading.Lock()  # two stories may take the same program away
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        return self._logs / f"{self.name}.log"

    @property
    def running(self) -> bool:
        process = self._process  # another thread may take it away
        return process is not None and process.poll() is None

    def start(self, wait: bool = True, again: bool = False) -> None:
        """`again`: it may run already, because another story has started it."""
        with self._lock:
            if not self.running:
                self.log.parent.mkdir(parents=True, exist_ok=True)
                with self.log.open("ab") as log:
                    self._process = self._sandbox.spawn(*self.argv, log=log, environment=self._environment)
            elif not again:
                raise E2EError(f"{self.name} runs already: stop it first")
        if wait:
            self.wait_ready()

    def wait_ready(self, timeout: float = 60) -> None:
        deadline = time.monotonic() + timeout
        while True:
            if not self.running:
                raise E2EError(f"{self.name} ended: {self.last_words()}; see {self.log}")
            if self._is_ready is None or self._is_ready():
                return
            if time.monotonic() >= deadline:
                raise WaitTimeoutError(f"{self.name} is not ready after {timeout:g} s; see {self.log}")
            time.sleep(0.05)

    def stop(self) -> None:
        """SIGTERM, and SIGKILL after the grace; its port is free when this returns. Harmless when it is not
        running.
        """
        self._end(signal.SIGTERM, self._grace)

    def kill(self) -> None:
        """A crash."""
        self._end(signal.SIGKILL, 10)

    def restart(self) -> None:
        self.stop()
        self.start()

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """An outage: it runs again afterwards, also when what happens inside fails."""
        self.stop()
        try:
            yield
        finally:
            if not self.running:
                self.start()

    def _end(self, how: signal.Signals, grace: float) -> None:
        with self._lock:
            if self._process is None:
                return
            deadline = time.monotonic() + grace
            self._signal(how)
            while self._process.poll() is None:
                if time.monotonic() >= deadline:
                    self._signal(signal.SIGKILL)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(timeout=0.2)
            self._process = None

    def _signal(self, how: signal.Signals) -> None:
        """To the program itself: our own child is nsenter, which waits for it and passes nothing on."""
        assert self._process is not None
        for _ in range(100):
            programs = children(self._process.pid)
            if programs or self._process.poll() is not None:
                break
            time.sleep(0.01)
        for pid in programs:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, how)

    def reap(self) -> None:
        """After the sandbox has gone: its programs are dead, only our children wait to be collected."""
        if self._process is not None:
            self._process.wait(timeout=20)
            self._process = None

    def last_words(self) -> str:
        try:
            lines = self.log.read_text(errors="replace").strip().splitlines()
        except FileNotFoundError:
            lines = []
        return lines[-1][:300] if lines else "it said nothing"


def https_ok(host: str, port: int, path: str) -> bool:
    """Whether a health endpoint answers 200. No proxy, and any certificate: only the answer matters here."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    connection = http.client.HTTPSConnection(host, port, timeout=2, context=context)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
