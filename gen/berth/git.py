"""Run git: find the commit to compare with, and read files from it.

No other module runs git. Nothing in the repository is changed, not even the index.
"""

import os
import posixpath
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from posixpath import normpath

# A git hook sets these, and they may refer to another repository.
_HOOK_VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
_SECONDS = 120
_UPSTREAM = "@{upstream}"
_TRUNKS = (
    _UPSTREAM,
    "refs/remotes/origin/HEAD",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
)
_MAIN = ("main", "master")
# What a name may mean to git, in its order.
_REFS = ("refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD")
_FILES = ("100644", "100755")  # modes
_SPECIAL = {"120000": "link", "160000": "submodule"}


class GitError(Exception):
    """Git is missing, the folder is not in a repository, or git failed. The message is for people."""


def run_git(folder: str, *arguments: str, stdin: bytes = b"", index: str = "") -> bytes:
    """Run git in a folder, with another index if one is given, and return its output.

    Raise GitError if it fails.
    """
    environment = {key: value for key, value in os.environ.items() if key not in _HOOK_VARIABLES}
    if index:
        environment["GIT_INDEX_FILE"] = index
    try:
        answer = subprocess.run(
            ["git", "--literal-pathspecs", *arguments],
            cwd=folder,
            env=environment,
            input=stdin,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError(f"git cannot be run: {error}") from error
    if answer.returncode != 0:
        raise GitError(os.fsdecode(answer.stderr).strip() or f"git {arguments[0]} failed")
    return answer.stdout


def staged_text(path: str) -> bytes | None:
    """Return what the index has of a file; None if git does not know it."""
    try:
        return run_git(".", "show", f":./{path}")
    except GitError:
        return None


def origin(folder: Path) -> str | None:
    """Return the address of the remote `origin` if the folder is the top of a repository.

    Without the credentials of an https address; as ssh:// where git's short form `git@host:path` is used,
    which not every program takes; None for a path on this machine.
    """
    try:
        if run_git(str(folder), "rev-parse", "--show-prefix").strip():
            return None
        url = os.fsdecode(run_git(str(folder), "remote", "get-url", "origin")).strip()
    except GitError:
        return None
    short = re.fullmatch(r"([\w.-]+@[\w.-]+):(?!/)(\S+)", url)
    if short:
        return f"ssh://{short[1]}/{short[2]}"
    return re.sub(r"^(https?://)[^/@]*@", r"\1", url) if re.match(r"(https?|ssh)://", url) else None


def top_of(folder: Path) -> tuple[str, str]:
    """Return the paths from a folder up to the top of its repository and back; empty outside of one."""
    try:
        answer = os.fsdecode(run_git(str(folder), "rev-parse", "--show-cdup", "--show-prefix"))
    except GitError:
        return "", ""
    up, down = answer.split("\n")[:2]
    return up, down


def unstaged(folder: str, paths: Sequence[str]) -> list[str]:
    """Return the files at or below the paths that differ from git's index, except ignored ones.

    In a hook, the index is that of the commit to be made: `git commit FILE` commits from another one.
    """
    if not paths:
        return []
    options = ("-z", "--modified", "--deleted", "--others", "--exclude-standard")
    listed = run_git(folder, "ls-files", *options, "--", *paths, index=_index_of_commit(folder))
    return sorted({os.fsdecode(path) for path in listed.split(b"\0") if path})


def _index_of_commit(folder: str) -> str:
    """Return the index that git gave to this hook, if it is one of the folder's repository."""
    given = os.environ.get("GIT_INDEX_FILE", "")
    if not given:
        return ""
    answer = os.fsdecode(run_git(folder, "rev-parse", "--show-toplevel", "--absolute-git-dir"))
    top, repository = answer.split("\n")[:2]
    index = Path(top, given)
    return str(index) if index.parent.resolve() == Path(repository).resolve() else ""


def commit_time(folder: str) -> int | None:
    """Return when the commit was made that is checked out, in seconds; None outside of a repository."""
    try:
        return int(run_git(folder, "log", "-1", "--no-show-signature", "--format=%ct"))
    except GitError:
        return None


class Git:
    """The repository around a folder. Paths are relative to that folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._prefix = self._text("rev-parse", "--show-prefix").rstrip("\n")

    @property
    def depth(self) -> int:
        """The number of folders from the top of the repository to the folder."""
        return self._prefix.count("/")

    def commit(self, name: str) -> str:
        """Return the full id of a commit. Raise GitError if there is none, or the name is ambiguous."""
        named = f"{name}^{{commit}}"
        try:
            commit = self._text("rev-parse", "--verify", "--quiet", "--end-of-options", named).strip()
        except GitError:
            commit = ""
        if not re.fullmatch("[0-9a-f]+", commit):
            raise GitError(f'no commit named "{name}"')
        meanings = [] if name == commit else self._meanings(name)
        if len(meanings) > 1:
            raise GitError(f'"{name}" is ambiguous: {", ".join(meanings)}')
        return commit

    def _meanings(self, name: str) -> list[str]:
        """Return the refs that a name may mean, and the ids if there are such refs: git takes the first."""
        start = re.split(r"[~^:]|@{", name, maxsplit=1)[0]
        if not start or start.startswith("refs/"):
            return []
        known = [ref.format(start) for ref in _REFS]
        listed = self._text("for-each-ref", "--format=%(refname)", *known).split()
        refs = [ref for ref in known if ref in listed]
        is_id = refs and re.fullmatch("[0-9a-fA-F]{4,}", start)
        return refs + (self._text("rev-parse", f"--disambiguate={start}").split() if is_id else [])

    def is_submodule(self) -> bool:
        """Tell whether the repository is a submodule of another one."""
        return bool(self._text("rev-parse", "--show-superproject-working-tree").strip())

    def merge_base(self) -> tuple[str, str]:
        """Return the commit at which this branch left its target branch, and the name of that branch.

        That is the first that exists of upstream, the default branch of origin, main and master. An upstream
        of the same name is where this branch was pushed, which is no target unless it is a main branch.
        """
        for trunk in _TRUNKS:
            try:
                commit = self._text("merge-base", "HEAD", self.commit(trunk)).strip()
                name = self._text("rev-parse", "--abbrev-ref", trunk).strip()
            except GitError:
                continue
            if trunk != _UPSTREAM or not self._is_pushed_copy(name):
                return commit, name
        try:
            self.commit("HEAD")
        except GitError:
            raise GitError("nothing is committed yet, so there is nothing to compare with") from None
        raise GitError("no branch found that this one will be merged into")

    def _is_pushed_copy(self, upstream: str) -> bool:
        branch = self._text("rev-parse", "--abbrev-ref", "HEAD").strip()
        return branch not in _MAIN and upstream.endswith(f"/{branch}")

    def subject(self, commit: str) -> str:
        """Return the first line of the message of a commit."""
        return self._text("log", "-1", "--no-show-signature", "--format=%s", commit, "--").rstrip("\n")

    def blobs(self, commit: str, folders: Sequence[str]) -> dict[str, str]:
        """Return the id of every file below the folders in a commit, by path."""
        where = [self._prefix + folder for folder in folders]
        listed = self._entries("ls-tree", "-r", "-z", "--full-tree", commit, "--", *where)
        return {path.removeprefix(self._prefix): words[2] for words, path in listed if words[0] in _FILES}

    def specials(self, commit: str, folder: str) -> dict[str, str]:
        """Return the links and submodules in a folder in a commit, and on the way to it, by path.

        Each is a `link` or a `submodule`. Paths above the project begin with `../`.
        """
        way = PurePosixPath(self._prefix, folder)
        above = [str(path) for path in way.parents][:-1]
        listed = self._entries("ls-tree", "-r", "-z", "--full-tree", commit, "--", str(way))
        if above:
            listed += self._entries("ls-tree", "-z", "--full-tree", commit, "--", *above)
        kinds = [(path, _SPECIAL.get(words[0])) for words, path in listed]
        return {self._seen_from_here(path): kind for path, kind in kinds if kind is not None}

    def submodules(self, folder: str) -> list[str]:
        """Return the submodules in a folder in the index."""
        listed = self._entries("ls-files", "-z", "--stage", "--", folder)
        return [path for words, path in listed if _SPECIAL.get(words[0]) == "submodule"]

    def file(self, commit: str, path: str) -> str | None:
        """Return the id of a file in a commit, or None if there is no such file or a link leads to it."""
        full = normpath(self._prefix + path)
        if full.startswith(("/", "../")):
            return None
        listed = self._entries("ls-tree", "-z", "--full-tree", commit, "--", full)
        return next((words[2] for words, _ in listed if words[0] in _FILES), None)

    def _entries(self, *arguments: str) -> list[tuple[list[str], str]]:
        """Return what git says of each path that it lists: first its mode."""
        lines = self._text(*arguments).split("\0")
        return [(words.split(), path) for words, _, path in (line.partition("\t") for line in lines) if path]

    def _seen_from_here(self, path: str) -> str:
        """Return a path in the repository as seen from the folder."""
        above, name = posixpath.split(path)
        return normpath(posixpath.join(posixpath.relpath(above or ".", self._prefix or "."), name))

    def contents(self, ids: Iterable[str]) -> Mapping[str, bytes]:
        """Return the bytes of files by their ids."""
        wanted = list(dict.fromkeys(ids))
        answer = run_git(
            self._folder, "cat-file", "--batch", stdin="".join(f"{id_}\n" for id_ in wanted).encode()
        )
        found, at = {}, 0
        for id_ in wanted:
            end = answer.index(b"\n", at)
            head = answer[at:end].split()
            if len(head) != 3:
                raise GitError(f"git cannot read {id_}; if the clone is shallow, run git fetch --unshallow")
            size = int(head[2])
            found[id_] = answer[end + 1 : end + 1 + size]
            at = end + 2 + size
        return found

    def _text(self, *arguments: str) -> str:
        return os.fsdecode(run_git(self._folder, *arguments))
