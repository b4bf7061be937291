"""The documents do what they say: each is followed from top to bottom in a checkout of its own.

After a change of the examples: python -m tests.test_documents writes the outputs anew.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.console import ROOT, commands, printed

DOCUMENTS = ("docs/from-renku.md", "docs/on-the-day.md", "docs/pull-requests.md")
IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")


def checkout(folder: Path) -> Path:
    """The examples, as the first commit of a branch main."""
    for name in ("reservations", "rendered"):
        shutil.copytree(ROOT / name, folder / name)
    first = ("commit", "--quiet", "--message", "first")
    for words in (("init", "--quiet", "--initial-branch=main"), ("add", "--all"), first):
        subprocess.run(["git", *IDENTITY, *words], cwd=folder, check=True)
    return folder


def followed(text: str, folder: Path) -> list[tuple[str, str]]:
    """The same commands with what they print, one after the other; ids of commits made the same."""
    return [
        (command, re.sub(r"^[0-9a-f]{9} -> ", "1f0c4d2e9 -> ", printed(command, folder), flags=re.M))
        for command, _ in commands(text)
    ]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda name: Path(name).stem)
def test_its_commands_print_what_it_shows(document: str, tmp_path: Path) -> None:
    text = (ROOT / document).read_text("utf-8")
    found = commands(text)
    assert found
    assert followed(text, checkout(tmp_path)) == found


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda name: Path(name).stem)
def test_its_links_lead_somewhere(document: str) -> None:
    file = ROOT / document
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", file.read_text("utf-8"))
    assert [link for link in links if not (file.parent / link).exists()] == []


def test_every_code_of_a_warning_is_told() -> None:
    told = re.findall(r"^\| ((?:`[\w-]+`(?:, )?)+) \|", (ROOT / DOCUMENTS[2]).read_text("utf-8"), re.M)
    code = "".join(file.read_text("utf-8") for file in sorted((ROOT / "gen/diff").glob("*dangers.py")))
    used = {*re.findall(r'Warned\(\s*"([\w-]+)"', code), *re.findall(r'yield "([\w-]+)", ', code)}
    assert {*re.findall(r"[\w-]+", " ".join(told))} == used


def main() -> None:
    for document in DOCUMENTS:
        file = ROOT / document
        text = file.read_text("utf-8")
        with tempfile.TemporaryDirectory() as folder:
            for (command, before), (_, after) in zip(
                commands(text), followed(text, checkout(Path(folder))), strict=True
            ):
                text = text.replace(f"$ {command}\n{before}", f"$ {command}\n{after}", 1)
        file.write_text(text, "utf-8")
        sys.stdout.write(f"{document}\n")


if __name__ == "__main__":
    main()
