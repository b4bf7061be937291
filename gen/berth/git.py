"""Run git: find the commit to compare with, and read files from it.

No other module runs git. Nothing in the repository is changed, not even the index.
"""

import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from posixpath import normpath

# A git hook sets these, and they may refer to another repository.
_HOOK_VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
_SECONDS = 120
_TRUNKS = ("@{upstream}", "origin/HEAD", "origin/main", "origin/master", "main", "master")


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
            ["git", *arguments],
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
        """Return the full id of a commit."""
        try:
            return self._text(
                "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
            ).strip()
        except GitError:
            raise GitError(f'no commit named "{name}"') from None

    def merge_base(self) -> tuple[str, str]:
        """Return the commit at which this branch left its target branch, and the name of that branch.

        That is the first that exists of upstream, the default branch of origin, main and master.
        """
        for trunk in _TRUNKS:
            try:
                commit = self._text("merge-base", "HEAD", self.commit(trunk)).strip()
                return commit, self._text("rev-parse", "--abbrev-ref", trunk).strip()
            except GitError:
                continue
        try:
            self.commit("HEAD")
        except GitError:
            raise GitError("nothing is committed yet, so there is nothing to compare with") from None
        raise GitError("no branch found that this one will be merged into")

    def subject(self, commit: str) -> str:
        """Return the first line of the message of a commit."""
        return self._text("log", "-1", "--no-show-signature", "--format=%s", commit).rstrip("\n")

    def blobs(self, commit: str, folders: Sequence[str]) -> dict[str, str]:
        """Return the id of every file below the folders in a commit, by path."""
        where = [str(PurePosixPath(self._prefix, folder)) for folder in folders]
        listed = run_git(self._folder, "ls-tree", "-r", "-z", "--full-tree", commit, "--", *where)
        found = {}
        for line in listed.split(b"\0"):
            metadata, _, path = line.partition(b"\t")
            if path and metadata.split()[0] in (b"100644", b"100755"):
                found[os.fsdecode(path).removeprefix(self._prefix)] = metadata.split()[2].decode()
        return found

    def links(self, commit: str, folder: str) -> list[str]:
        """Return the symbolic links below a folder in a commit, and the folder itself if it is one."""
        where = str(PurePosixPath(self._prefix, folder))
        listed = run_git(self._folder, "ls-tree", "-r", "-z", "--full-tree", commit, "--", where)
        entries = (line.partition(b"\t") for line in listed.split(b"\0") if line)
        found = [os.fsdecode(path) for metadata, _, path in entries if metadata.startswith(b"120000")]
        return [path.removeprefix(self._prefix) for path in found]

    def linked(self, commit: str, path: str) -> tuple[str, str] | None:
        """Return the kind and id of what is at a path, links followed; None if that is not in the commit."""
        name = f"{commit}:{normpath(self._prefix + path)}"
        if "\n" in name:
            return None
        arguments = ("cat-file", "--batch-check=%(objecttype) %(objectname)", "--follow-symlinks")
        words = run_git(self._folder, *arguments, stdin=os.fsencode(f"{name}\n")).split()
        return (words[0].decode(), words[1].decode()) if words[0] in (b"blob", b"tree") else None

    def tree(self, commit: str, folder: str) -> str:
        """Return the id of a folder in a commit; empty if there is none."""
        try:
            return self._text("rev-parse", "--verify", "--quiet", f"{commit}:{self._prefix}{folder}").strip()
        except GitError:
            return ""

    def ids(self, commit: str, folder: str) -> set[str]:
        """Return the ids of a folder in a commit and of everything below it; none if there is none."""
        tree = self.tree(commit, folder)
        if not tree:
            return set()
        listed = run_git(self._folder, "ls-tree", "-r", "-t", "-z", "--full-tree", tree)
        entries = (line.partition(b"\t")[0].split() for line in listed.split(b"\0") if line)
        return {tree, *(entry[2].decode() for entry in entries)}

    def entries(self, tree: str) -> dict[str, tuple[str, str]]:
        """Return the mode and id of everything below a tree, by path."""
        listed = run_git(self._folder, "ls-tree", "-r", "-z", "--full-tree", tree)
        found = {}
        for line in listed.split(b"\0"):
            metadata, _, path = line.partition(b"\t")
            if path:
                mode, _, blob = metadata.decode().split()
                found[os.fsdecode(path)] = (mode, blob)
        return found

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
