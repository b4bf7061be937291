"""Which files does git ignore? Asked only when somebody else's files stand in our output.

Without git, or outside of a repository, none are ignored: then it is for a person to decide.
"""

import os
from collections.abc import Sequence

_OF_ANOTHER_REPOSITORY = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
_SECONDS = 60


def ignored_by_git(folder: str, paths: Sequence[str]) -> frozenset[str]:
    """Those of `paths`, relative to `folder`, that git would leave out. What it tracks it does not ignore."""
    import subprocess  # noqa: PLC0415 - takes as long to import as it takes to render

    # A git hook sets these for its own repository, with paths that hold only in its own folder.
    environment = {key: value for key, value in os.environ.items() if key not in _OF_ANOTHER_REPOSITORY}
    try:
        answer = subprocess.run(
            ["git", "check-ignore", "-z", "--stdin"],
            cwd=folder,
            env=environment,
            input=b"".join(os.fsencode(path) + b"\0" for path in paths),
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return frozenset()
    if answer.returncode != 0:
        return frozenset()
    return frozenset(os.fsdecode(path) for path in answer.stdout.split(b"\0") if path)
