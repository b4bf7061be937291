"""A git repository of rendered files, as an engine finds it."""

import hashlib
import subprocess
from pathlib import Path

from tests.e2e.errors import E2EError


class GitFolder:
    """The folder is the repository's only working tree; its branch is `main`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._git("init", "--quiet", "--initial-branch=main")

    @property
    def url(self) -> str:
        return f"file://{self.folder}"

    def commit(self, message: str) -> str:
        """All that is there now; answers the commit's hash."""
        self._git("add", "--all")
        self._git("commit", "--quiet", f"--message={message}")
        return self._git("rev-parse", "HEAD").strip()

    def archive(self, place: Path) -> str:
        """Write HEAD as a tar.gz; answers its digest."""
        place.parent.mkdir(parents=True, exist_ok=True)
        self._git("archive", "--format=tar.gz", f"--output={place}", "HEAD")
        return f"sha256:{hashlib.sha256(place.read_bytes()).hexdigest()}"

    def _git(self, *words: str) -> str:
        who = ("-c", "user.name=e2e", "-c", "user.email=e2e@example.org", "-c", "commit.gpgsign=false")
        done = subprocess.run(
            ["git", *who, *words], cwd=self.folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise E2EError(f"git {words[0]} failed: {done.stderr.strip()}")
        return done.stdout
