"""The only way to a cluster from outside: kubeconfig files and one request, by the Kubernetes client.

Its import takes as long as fifteen starts of Python, so this module is imported by those who are asked to
look at a cluster, and then only.
"""

import json
import logging
import math
import os
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from berth.live.kubeobject import ClusterError
from berth.names import CLUSTER_EXTRA
from berth.runtime.apiclient import JSON, JSON_PATCH, MERGE_PATCH

try:
    import urllib3
    from kubernetes import client, config
    from kubernetes.client.rest import RESTClientObject
    from kubernetes.config.kube_config import KUBE_CONFIG_DEFAULT_LOCATION, KubeConfigMerger
except ModuleNotFoundError:  # it comes with the extra `cluster`
    HAS_CLIENT = False
else:
    HAS_CLIENT = True


class KubeContexts(NamedTuple):
    """The contexts of a kubeconfig. `current` may be empty. `inside`: in a cluster, without kubeconfig."""

    names: tuple[str, ...]
    current: str
    inside: bool = False


def read_contexts(kubeconfig: str | None) -> KubeContexts:
    """Read the contexts of the file, $KUBECONFIG or ~/.kube/config. Raises ClusterError."""
    if not HAS_CLIENT:
        install = f'Run: pip install "{CLUSTER_EXTRA}"'
        raise ClusterError(0, "the package kubernetes is not installed", install)
    where = kubeconfig or KUBE_CONFIG_DEFAULT_LOCATION
    try:
        tree = KubeConfigMerger(where).config
    except Exception as error:  # a kubeconfig is anybody's text, and the client raises what it meets
        raise ClusterError(0, f"the kubeconfig {where} cannot be read: {error}") from error
    if tree is None:
        if kubeconfig:
            raise ClusterError(0, f"no kubeconfig {where}")
        return KubeContexts((), "", inside="KUBERNETES_SERVICE_HOST" in os.environ)
    value = tree.value
    names = tuple(str(context["name"]) for context in value.get("contexts") or ())
    current = value.get("current-context") or ""
    return KubeContexts(names, current if current in names else "")


class ClusterClient:
    """A client of one cluster. Not thread-safe. Every failure raises ClusterError."""

    def __init__(self, kubeconfig: str | None, context: str | None) -> None:
        """`context` None: the cluster this process runs in."""
        self.deadline = math.inf  # of every answer, on the monotonic clock
        settings = client.Configuration()
        settings.retries = False
        complaints = _LogCapture()
        logging.getLogger().addHandler(complaints)
        try:
            if context is None:
                config.load_incluster_config(settings)
            else:
                config.load_kube_config(kubeconfig, context, settings)
        except Exception as error:
            raise ClusterError(0, f"{type(error).__name__}: {error}") from error
        finally:
            logging.getLogger().removeHandler(complaints)
        self._settings = settings
        self._rest = RESTClientObject(settings)
        self._complaints = complaints.texts

    def get(self, path: str, query: Mapping[str, str], accept: str = JSON) -> Any:
        """Return the object at the path."""
        return self._ask("GET", path, query, {"Accept": accept})

    def merge(self, path: str, patch: Mapping[str, object], query: Mapping[str, str]) -> Any:
        """Apply a merge patch and return the object."""
        return self._ask("PATCH", path, query, {"Accept": JSON, "Content-Type": MERGE_PATCH}, dict(patch))

    def edit(self, path: str, patch: Sequence[Mapping[str, object]], query: Mapping[str, str]) -> Any:
        """Apply a JSON patch and return the object."""
        return self._ask("PATCH", path, query, {"Accept": JSON, "Content-Type": JSON_PATCH}, list(patch))

    def create(self, path: str, body: Mapping[str, object], query: Mapping[str, str]) -> Any:
        """Create an object in the collection at the path, and return it."""
        return self._ask("POST", path, query, {"Accept": JSON, "Content-Type": JSON}, dict(body))

    def delete(self, path: str, options: Mapping[str, object]) -> Any:
        """Delete the object at the path."""
        return self._ask("DELETE", path, {}, {"Accept": JSON, "Content-Type": JSON}, dict(options))

    def _ask(
        self, method: str, path: str, query: Mapping[str, str], headers: dict[str, str], body: Any = None
    ) -> Any:
        url = f"{self._settings.host}{path}"
        if query:
            url += f"?{urlencode(query)}"
        seconds = max(self.deadline - time.monotonic(), 0.1)
        try:
            headers |= {"User-Agent": "berth"}
            for auth in self._settings.auth_settings().values():  # renews what a login program has given
                headers[auth["key"]] = auth["value"]
            answer = self._rest.request(
                method,
                url,
                headers=headers,
                body=body,
                _request_timeout=None if math.isinf(seconds) else seconds,
            )
            text = answer.read()
        except (urllib3.exceptions.HTTPError, client.ApiException, OSError, ValueError) as error:
            raise ClusterError(0, self._explained(_reason(error))) from error
        return self._read(answer.status, text)

    def _read(self, status: int, body: bytes) -> Any:
        try:
            tree = _parsed(body)
        except ValueError:
            tree = None
        if 200 <= status < 300 and isinstance(tree, dict):
            return tree
        message = tree.get("message") if isinstance(tree, dict) else None
        message = message if isinstance(message, str) and message else body[:200].decode(errors="replace")
        raise ClusterError(
            status, self._explained(f"HTTP {status}: {message}" if message else f"HTTP {status}")
        )

    def _explained(self, message: str) -> str:
        """Add what the library only logs, such as a failed login program."""
        return "; ".join([message, *self._complaints])


_DEEPEST = 200  # levels, which no object of Kubernetes has but one that somebody wrote to be in the way
_STRING_OR_BRACKET = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)


def _parsed(body: bytes) -> Any:
    """Parse JSON; what nests too deep to be read is null. Raises ValueError."""
    try:
        return json.loads(body)
    except RecursionError:
        return json.loads(b"".join(_shallow(body)))


def _shallow(body: bytes) -> Iterator[bytes]:
    depth = begin = 0
    for match in _STRING_OR_BRACKET.finditer(body):
        if match[0] in {b"[", b"{"}:
            depth += 1
            if depth == _DEEPEST:
                yield body[begin : match.start()] + b"null"
        elif match[0] in {b"]", b"}"}:
            if depth == _DEEPEST:
                begin = match.end()
            depth -= 1
    if depth < _DEEPEST:
        yield body[begin:]


class _LogCapture(logging.Handler):
    """Captures what the library logs in this thread while it reads a kubeconfig."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._thread = threading.get_ident()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._thread:
            self.texts.append(record.getMessage())


def _reason(error: BaseException) -> str:
    """Return the message of the operating system if there is one, such as `Connection refused`."""
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, OSError) and inner.strerror:
            return inner.strerror
        inner = inner.__cause__ or inner.__context__
    return str(error.reason if isinstance(error, client.ApiException) else error) or type(error).__name__
