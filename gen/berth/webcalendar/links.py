"""The address of a file on the web page of its repository."""

import re
from posixpath import join, normpath
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from berth.schema.siteparts import RepositorySpec

_SHORT = re.compile(r"(?:ssh://)?[\w.-]+@([\w.-]+)(?::\d+(?=/)|:)?/?(\S+)", re.ASCII)  # git@host:owner/name
_WEB = re.compile(r"https?://(?:[^/@]*@)?\S+", re.ASCII)


def file_url(repository: "RepositorySpec | None", file: str) -> str:
    """Return the address of a file of the project, as GitHub and GitLab have it; empty if it is not known."""
    address = "" if repository is None else _web_address(repository.url)
    if repository is None or not address:
        return ""
    view = "-/blob" if "gitlab" in address else "blob"
    path = normpath(join(repository.path, file))
    return f"{address}/{view}/{quote(repository.revision)}/{quote(path)}"


def _web_address(url: str) -> str:
    short = _SHORT.fullmatch(url)
    if short:
        url = f"https://{short[1]}/{short[2]}"
    if not _WEB.fullmatch(url):
        return ""
    return re.sub(r"//[^/@]*@", "//", url).rstrip("/").removesuffix(".git")
