"""Which files does git ignore? Asked only when somebody else's files stand in our output.

Without git, or outside of a repository, none are ignored: then it is for a person to decide.
"""

import os
from collections.abc import Sequence


def ignored_by_git(folder: str, paths: Sequence[str]) -> frozenset[str]:
    """Those of `paths`, relative to `folder`, that git would leave out. What it tracks it does not ignore."""
    from gen.git import GitError, ask  # noqa: PLC0415 - takes as long to import as it takes to render

    said = b"".join(os.fsencode(path) + b"\0" for path in paths)
    try:
        answer = ask(folder, "check-ignore", "-z", "--stdin", said=said)
    except GitError:
        return frozenset()
    return frozenset(os.fsdecode(path) for path in answer.split(b"\0") if path)
