"""Renku's API, asked for the template of a project: over a kept-alive connection, with the token of a file.

It follows no redirect and uses no proxy. Whatever goes wrong is an `ApiError`.
"""

import os
import ssl
from http.client import HTTPConnection, HTTPSConnection
from urllib.parse import quote, urlsplit

from gen.runtime.api import Answer, ApiError, Request, tree_of
from gen.runtime.connection import Connection
from gen.runtime.session import NO_TEMPLATE

SECONDS = 3.0  # for each part of a look-up
_MOST = 1 << 20  # bytes of an answer


class Renku:
    def __init__(self, url: str, token_file: str) -> None:
        """Without such a file it is asked without a token. ApiError for a URL that is none."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            host = ""
        if not host or parts.scheme not in ("http", "https"):
            raise ApiError(0, "NoAddress", f"{url!r} is no address of Renku")

        def connect() -> HTTPConnection:
            if parts.scheme == "http":
                return HTTPConnection(host, port, timeout=SECONDS)
            return HTTPSConnection(host, port, timeout=SECONDS, context=_trusting_the_system())

        self._base = parts.path.rstrip("/")
        self._token_file = token_file
        self._connections = {
            file: Connection(connect, file, SECONDS, SECONDS, _MOST) for file in {token_file, ""}
        }

    def template_of(self, project: str) -> str:
        file = self._token_file if os.path.exists(self._token_file) else ""  # noqa: PTH110 (pathlib is memory)
        request = Request("GET", f"{self._base}/api/data/projects/{quote(project, safe='')}")
        return template_in(self._connections[file](request), project)

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()


def template_in(answer: Answer, project: str) -> str:
    """A project that was copied from no template has no `template_id`."""
    tree = tree_of(answer)
    template = tree.get("template_id")
    if not tree or tree.get("id", project) != project or not isinstance(template, str | None):
        said = answer.body[:200].decode(errors="replace")
        raise ApiError(answer.status, "Nonsense", f"the answer is not the project {project}: {said}")
    return template or NO_TEMPLATE


def _trusting_the_system() -> ssl.SSLContext:
    """A folder of certificates is looked into when one is needed; a bundle would be in memory as a whole."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    paths = ssl.get_default_verify_paths()
    folder = paths.capath
    if folder and any(name.endswith(".0") for name in os.listdir(folder)):  # noqa: PTH208
        context.load_verify_locations(capath=folder)
    else:
        context.set_default_verify_paths()
    return context
