"""The addresses of a repository's pages on GitHub, GitLab and Gitea: files, their editors, an issue form."""

import re
from posixpath import join, normpath
from typing import NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from berth.schema.site import RepositorySpec

_SHORT = re.compile(r"(?:ssh://)?[\w.-]+@([\w.-]+)(?::\d+(?=/)|:)?/?(\S+)", re.ASCII)  # git@host:owner/name
_WEB = re.compile(r"https?://(?:[^/@]*@)?\S+", re.ASCII)


class IssueFormLink(NamedTuple):
    """Where an issue form opens. `field` precedes the id of a field that an address fills; None: of none."""

    url: str
    field: str | None


class _ForgeKind(NamedTuple):
    """How a forge names the pages of a repository. `form` is the file of the issue form, if it is there."""

    view: str
    edit: str
    form: str
    ask: str
    template: str
    field: str | None


_FORM = ".github/ISSUE_TEMPLATE/seats.yml"
_GITHUB = _ForgeKind("blob", "edit", _FORM, "issues/new", "template=seats.yml", "")
_GITLAB = _ForgeKind(
    "-/blob", "-/edit", ".gitlab/issue_templates/Seats.md", "-/issues/new", "issuable_template=Seats", None
)
_GITEA = _ForgeKind("src/branch", "_edit", _FORM, "issues/new", urlencode({"template": _FORM}), "field:")
_BY_WORD = {"github": _GITHUB, "gitlab": _GITLAB, "gitea": _GITEA, "forgejo": _GITEA, "codeberg": _GITEA}
"""By a word in the name of the host."""
FORMS = (_GITHUB.form, _GITLAB.form)
"""The files of issue forms."""


def file_url(repository: RepositorySpec | None, file: str) -> str:
    """Return the address of a file of the project; empty if it has none. Unknown forges are like GitHub."""
    return "" if repository is None else _page(repository, file, (_kind(repository) or _GITHUB).view)


def edit_url(repository: RepositorySpec | None, file: str) -> str:
    """Return the address where a file is edited; empty on unknown forges, and where there is no branch."""
    kind = None if repository is None else _kind(repository)
    if repository is None or kind is None:
        return ""
    revision = repository.revision
    is_fixed = revision.startswith("refs/") or re.fullmatch(r"[0-9a-f]{40}", revision)  # a tag or a commit
    has_branch = not is_fixed and (revision != "HEAD" or kind is _GITHUB)  # which knows this name
    return _page(repository, file, kind.edit) if has_branch else ""


def issue_form_link(repository: RepositorySpec | None, forms: frozenset[str]) -> IssueFormLink | None:
    """Return where the issue form opens; None on unknown forges, and if its file is not one of `forms`."""
    kind = None if repository is None else _kind(repository)
    if repository is None or kind is None or kind.form not in forms:
        return None
    return IssueFormLink(f"{_web_address(repository.url)}/{kind.ask}?{kind.template}", kind.field)


def _kind(repository: RepositorySpec) -> _ForgeKind | None:
    host = urlsplit(_web_address(repository.url)).hostname or ""
    return next((kind for word, kind in _BY_WORD.items() if word in host), None)


def _page(repository: RepositorySpec, file: str, page: str) -> str:
    address = _web_address(repository.url)
    path = normpath(join(repository.path, file))
    return f"{address}/{page}/{quote(repository.revision)}/{quote(path)}" if address else ""


def _web_address(url: str) -> str:
    short = _SHORT.fullmatch(url)
    if short:
        url = f"https://{short[1]}/{short[2]}"
    if not _WEB.fullmatch(url):
        return ""
    return re.sub(r"//[^/@]*@", "//", url).rstrip("/").removesuffix(".git")
