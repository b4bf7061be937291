"""Know the pages that people read, and follow the commands that they show."""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.console import BEFORE_ALL, PASTED_ON, ROOT, blocks, commands, printed

PASTED = ("README.md", "docs/lecturers.md", "docs/course-file.md")
"""Pages from which people paste commands and reservations for a term of their own."""
_GIT = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")


def pages() -> list[str]:
    """Return the path of every page, relative to the repository."""
    top = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
    return [*top, *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md")))]


def text_of(page: str) -> str:
    """Return the text of a page."""
    return (ROOT / page).read_text("utf-8")


def pages_with_commands() -> list[str]:
    """Return the pages that show commands with their output."""
    return [page for page in pages() if commands(text_of(page))]


def checkout(folder: Path) -> Path:
    """Copy the examples to a folder, as the first commit of a branch named main."""
    for name in ("reservations", "rendered", "tests/examples"):
        shutil.copytree(ROOT / name, folder / name)
    first = ("commit", "--quiet", "--message", "first")
    for words in (("init", "--quiet", "--initial-branch=main"), ("add", "--all"), first):
        subprocess.run(["git", *_GIT, *words], cwd=folder, check=True)
    return folder


def now_of(page: str) -> str:
    """Return the time at which the commands of a page are run."""
    return PASTED_ON if page in PASTED else BEFORE_ALL


def followed(text: str, folder: Path, now: str = BEFORE_ALL) -> Iterator[tuple[str, str]]:
    """Run the commands of a page one after the other, and yield each with its output.

    `cd` changes the folder for the commands after it, and so does a site that readers make by pasting
    `berth init`. Commit ids are replaced by a fixed one.
    """
    for block in re.findall(r"^```console\n.*?^```$", text, re.M | re.S):
        if site := re.match(r"```console\n(berth init .+)\ncd (.+)\n", block):
            printed(site[1], folder, now)
            folder = folder / site[2]
        for command, _ in commands(block):
            if command.startswith("cd "):
                folder = folder / command[3:]
                yield command, ""
                continue
            output = printed(command, folder, now)
            yield command, re.sub(r"\([0-9a-f]{9}(\\?\)) (->|→) ", r"(1f0c4d2e9\1 \2 ", output, flags=re.M)


def refreshed(page: str) -> str:
    """Return a page with the output that its commands print now."""
    text = text_of(page)
    with tempfile.TemporaryDirectory() as folder:
        results = list(followed(text, checkout(Path(folder)), now_of(page)))
    begin = 0
    for (command, before), (_, after) in zip(commands(text), results, strict=True):
        shown = f"$ {command}\n{before}"
        at = text.index(shown, begin)
        text = f"{text[:at]}$ {command}\n{after}{text[at + len(shown) :]}"
        begin = at + len(command)
    return text


def quick_start() -> list[list[str]]:
    """Return the commands of each block in README's quick start."""
    (section,) = re.findall(r"^## Quick start\n(.*?)^## ", text_of("README.md"), re.M | re.S)
    return [block.splitlines() for language, block in blocks(section) if language == "console"]


def tracked() -> list[str]:
    """Every file of the repository, as git lists them, whoever owns the checkout."""
    command = ["git", "-c", f"safe.directory={ROOT}", "ls-files"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()
