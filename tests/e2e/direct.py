"""Plain requests to the API server: a hundred times quicker than a kubectl for each."""

import http.client
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

from tests.e2e.certificates import PORT
from tests.e2e.errors import E2EError
from tests.e2e.sandbox import CLUSTER_ADDRESS, STATE

Object = dict[str, Any]
MERGE = "application/merge-patch+json"
THREADS = 8
EACH_MINUTE = "* * * * *"  # the schedule of a sweep whose story waits for it


class RefusedError(E2EError):
    """The API server says no; or there is no answer, with status 0."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


Connect = Callable[[float], http.client.HTTPConnection]
"""A connection that waits at most so many seconds for each answer."""


def as_administrator() -> Connect:
    """Of the cluster of these tests."""
    pki = STATE / "pki"
    context = ssl.create_default_context(cafile=str(pki / "ca.crt"))
    context.load_cert_chain(str(pki / "admin.crt"), str(pki / "admin.key"))
    return lambda seconds: http.client.HTTPSConnection(
        CLUSTER_ADDRESS, PORT, timeout=seconds, context=context
    )


class Direct:
    """Any number of threads may use it at once."""

    def __init__(self, connect: Connect | None = None) -> None:
        self._connect = connect or as_administrator()
        self._idle: list[http.client.HTTPConnection] = []  # its own operations need no lock

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def connect(self, timeout: float = 10) -> http.client.HTTPConnection:
        return self._connect(timeout)

    def ask(self, method: str, path: str, body: Object | None = None, content_type: str = "") -> Object:
        kind = content_type or (MERGE if method == "PATCH" else "application/json")
        content = None if body is None else json.dumps(body).encode()
        status, text = self._exchange(method, path, content, {"Content-Type": kind})
        if status >= 300:
            raise RefusedError(status, f"{method} {path}: {status} {text[:300].decode(errors='replace')}")
        answer: Object = json.loads(text)
        return answer

    def text(self, path: str) -> str:
        """Of what answers no JSON, such as metrics."""
        status, text = self._exchange("GET", path, None, {})
        if status >= 300:
            raise RefusedError(status, f"GET {path}: {status}")
        return text.decode()

    def _exchange(
        self, method: str, path: str, content: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes]:
        while True:
            fresh, connection = self._connection()
            try:
                connection.request(method, path, content, dict(headers))
                answer = connection.getresponse()
                found = answer.status, answer.read()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if fresh:  # an old one may just have been closed by the server, and so may all the others
                    raise RefusedError(0, f"{method} {path}: {error!r}") from error
            else:
                self._idle.append(connection)
                return found

    def _connection(self) -> tuple[bool, http.client.HTTPConnection]:
        try:
            return False, self._idle.pop()
        except IndexError:
            return True, self.connect()

    def get(self, path: str) -> Object:
        return self.ask("GET", path)

    def items(self, path: str) -> list[Object]:
        objects: list[Object] = self.get(path)["items"] or []
        return objects

    def create(self, path: str, body: Object) -> Object:
        return self.ask("POST", path, body)

    def patch(self, path: str, body: Object) -> Object:
        return self.ask("PATCH", path, body)

    def delete(self, path: str, **options: Any) -> None:
        """Gone already is as good."""
        try:
            self.ask("DELETE", path, options or None)
        except RefusedError as error:
            if error.status != 404:
                raise

    def exists(self, path: str) -> bool:
        try:
            self.get(path)
        except RefusedError as error:
            if error.status != 404:
                raise
            return False
        return True

    def sweep_each_minute(self, namespace: str) -> None:
        self.patch(
            f"/apis/batch/v1/namespaces/{namespace}/cronjobs/berth-sweep", {"spec": {"schedule": EACH_MINUTE}}
        )

    def say_long_gone(self, namespace: str, reservation: str) -> None:
        """Set the ten minutes that the sweep waits into the past: so long no test can wait."""
        since = datetime.fromtimestamp(time.time() - 11 * 60, UTC)
        annotations = {"berth.dev/gone-since": f"{since:%Y-%m-%dT%H:%M:%SZ}"}
        where = f"/api/v1/namespaces/{namespace}/configmaps/{reservation}"
        self.patch(where, {"metadata": {"annotations": annotations}})

    def watch(self, path: str, version: str, stop: threading.Event) -> Iterator[Object]:
        """Events from a resourceVersion on, until `stop`, the server's end of it, or an error."""
        connection = self.connect(timeout=5)
        try:
            mark = "&" if "?" in path else "?"
            connection.request("GET", f"{path}{mark}watch=true&resourceVersion={version}")
            answer = connection.getresponse()
            if answer.status != http.client.OK:
                raise RefusedError(answer.status, f"watch {path}: {answer.status} {answer.reason}")
            while not stop.is_set():
                try:
                    line = answer.readline()
                except TimeoutError:
                    return  # what has been read of a line is lost: the caller begins anew
                if not line:
                    return
                yield json.loads(line)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise RefusedError(0, f"watch {path}: {error!r}") from error
        finally:
            connection.close()


def at_once(work: list[Callable[[], object]]) -> None:
    """All of it by several threads; the first failure is raised."""
    with ThreadPoolExecutor(max_workers=THREADS) as pool:
        for done in [pool.submit(one) for one in work]:
            done.result()


class Mirror:
    """The objects of a list path as they are now, kept up by a watch."""

    def __init__(self, direct: Direct, path: str, changed: Callable[[], object] = lambda: None) -> None:
        """`changed` is called from its own thread."""
        self._direct = direct
        self._path = path
        self._changed = changed
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._objects: dict[str, Object] = {}

    def start(self) -> None:
        self._thread.start()

    def leave(self) -> None:
        """It ends soon, and nobody waits for it."""
        self._stop.set()

    def stop(self) -> None:
        """Harmless when it has not begun."""
        self.leave()
        if self._thread.is_alive():
            self._thread.join()

    def objects(self) -> list[Object]:
        with self._lock:
            return list(self._objects.values())

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._follow()
            except RefusedError:
                time.sleep(0.3)  # the API server may be away on purpose

    def _follow(self) -> None:
        listed = self._direct.get(self._path)
        with self._lock:
            self._objects = {item["metadata"]["uid"]: item for item in listed["items"] or []}
        self._changed()
        version = listed["metadata"]["resourceVersion"]
        for event in self._direct.watch(self._path, version, self._stop):
            changed = event["object"]
            if event["type"] == "ERROR":
                return
            with self._lock:
                if event["type"] == "DELETED":
                    self._objects.pop(changed["metadata"]["uid"], None)
                elif self._is_news(changed):
                    self._objects[changed["metadata"]["uid"]] = changed
            self._changed()

    def _is_news(self, changed: Object) -> bool:
        known = self._objects.get(changed["metadata"]["uid"])
        return known is None or int(changed["metadata"]["resourceVersion"]) > int(
            known["metadata"]["resourceVersion"]
        )
