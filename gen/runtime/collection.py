"""A collection of objects in the API server: which requests list it and watch it.

Pure values. A list comes in pages; a watch goes on from the version that the list had.
"""

from typing import NamedTuple
from urllib.parse import urlencode

from gen.runtime.api import JSON, Request

_METADATA = "application/json;as={kind};g=meta.k8s.io;v=v1"


class Collection(NamedTuple):
    """`labels` and `fields` are selectors as they stand in a query; empty: all."""

    path: str
    labels: str = ""
    fields: str = ""
    metadata_only: bool = False
    page: int = 100  # objects asked for at once

    def list_request(self, limit: int, token: str) -> Request:
        """The page that `token` of the page before asks for; empty: the first."""
        asked = {"limit": str(limit), "continue": token}
        accept = _METADATA.format(kind="PartialObjectMetadataList") if self.metadata_only else JSON
        return Request("GET", self._path(asked), accept=accept)

    def watch_request(self, version: str, seconds: int) -> Request:
        """What changes after `version`, for so many seconds."""
        asked = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(seconds),
        }
        accept = _METADATA.format(kind="PartialObjectMetadata") if self.metadata_only else JSON
        return Request("GET", self._path(asked), accept=accept)

    def _path(self, asked: dict[str, str]) -> str:
        asked = {"labelSelector": self.labels, "fieldSelector": self.fields, **asked}
        return f"{self.path}?{urlencode({key: value for key, value in asked.items() if value})}"
