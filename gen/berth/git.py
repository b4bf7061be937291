"""What git knows of the folder we work in: which commit to compare with, and what stood in it.

The only place that runs git. Nothing in the repository is changed, the index neither.
"""

import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

# A git hook sets these for its own repository, with paths that hold only in its own folder.
_OF_ANOTHER_REPOSITORY = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
_SECONDS = 120
_TRUNKS = ("@{upstream}", "origin/HEAD", "origin/main", "origin/master", "main", "master")


class GitError(Exception):
    """Git is not there, this is no repository, or it does not have what was asked for; for people."""


def ask(folder: str, *words: str, said: bytes = b"") -> bytes:
    """What git answers to `words` in a folder, of the repository around it; `said` is what it is to read."""
    environment = {key: value for key, value in os.environ.items() if key not in _OF_ANOTHER_REPOSITORY}
    try:
        answer = subprocess.run(
            ["git", *words],
            cwd=folder,
            env=environment,
            input=said,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError(f"git cannot be run: {error}") from error
    if answer.returncode != 0:
        raise GitError(os.fsdecode(answer.stderr).strip() or f"git {words[0]} failed")
    return answer.stdout


class Git:
    """The repository around a folder. Paths are relative to that folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._prefix = self._text("rev-parse", "--show-prefix").rstrip("\n")

    def commit(self, name: str) -> str:
        """The full id of what somebody calls a commit."""
        try:
            return self._text(
                "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
            ).strip()
        except GitError:
            raise GitError(f'git knows no commit "{name}"') from None

    def merge_base(self) -> str:
        """Where this branch left the one that it will be merged into: the first of upstream, origin's default
        branch, main and master that there is.
        """
        for trunk in _TRUNKS:
            try:
                return self._text("merge-base", "HEAD", self.commit(trunk)).strip()
            except GitError:
                continue
        raise GitError("git knows no branch that this one will be merged into; name one")

    def blobs(self, commit: str, folders: Sequence[str]) -> dict[str, str]:
        """The id of every file below the folders in a commit, by path."""
        where = [str(PurePosixPath(self._prefix, folder)) for folder in folders]
        listed = ask(self._folder, "ls-tree", "-r", "-z", "--full-tree", commit, "--", *where)
        found = {}
        for line in listed.split(b"\0"):
            about, _, path = line.partition(b"\t")
            if path and about.split()[0] in (b"100644", b"100755"):
                found[os.fsdecode(path).removeprefix(self._prefix)] = about.split()[2].decode()
        return found

    def contents(self, ids: Iterable[str]) -> Mapping[str, bytes]:
        """The bytes of files by their ids."""
        wanted = list(dict.fromkeys(ids))
        answer = ask(self._folder, "cat-file", "--batch", said="".join(f"{one}\n" for one in wanted).encode())
        found, at = {}, 0
        for one in wanted:
            end = answer.index(b"\n", at)
            head = answer[at:end].split()
            if len(head) != 3:
                raise GitError(f"git cannot read {one}; if the clone is shallow, fetch more of it")
            size = int(head[2])
            found[one] = answer[end + 1 : end + 1 + size]
            at = end + 2 + size
        return found

    def _text(self, *words: str) -> str:
        return os.fsdecode(ask(self._folder, *words))
