"""Runs the workflow of requests that `berth init` writes: bash runs its steps, with git and a forge.

The program `gh` is a small one of its own that knows `gh api`: it calls a forge whose API is like GitHub's.
"""

import json
import sys
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from berth.edit.scaffold import OPTIONAL, part_files
from berth.pipeline import Pipeline

from tests.flow.conftest import Repository
from tests.flow.runner import Event, Ran, Runner, is_met

_TEXT = part_files(["requests"], Pipeline(sources=[]))[OPTIONAL["requests"].path]
WORKFLOW: Any = yaml.safe_load(_TEXT)
JOB: Any = WORKFLOW["jobs"]["request"]
GH = f"""\
exec "{sys.executable}" - "$@" <<'END'
import json, os, pathlib, subprocess, sys, urllib.request
words = sys.argv[2:]
assert sys.argv[1] == "api", sys.argv
fields, flags, path = {{}}, {{}}, ""
while words:
    word = words.pop(0)
    if word in ("--method", "--jq"):
        flags[word] = words.pop(0)
    elif word in ("-f", "-F"):
        key, _, value = words.pop(0).partition("=")
        is_file = word == "-F" and value.startswith("@")
        fields[key] = pathlib.Path(value[1:]).read_text("utf-8") if is_file else value
    elif word.startswith("--"):
        flags[word] = ""
    else:
        path = word
def call(path):
    data = json.dumps(fields).encode() if fields else None
    request = urllib.request.Request(os.environ["FORGE_API"] + "/" + path, data, method=flags.get("--method"))
    request.add_header("Authorization", "token " + os.environ["GH_TOKEN"])
    request.add_header("Content-Type", "application/json")
    return urllib.request.urlopen(request, timeout=30).read().decode()
pages = [call(path)]
while "--paginate" in flags and len(json.loads(pages[-1])) >= int(os.environ.get("FORGE_PAGE", "100")):
    pages.append(call(f"{{path}}&page={{len(pages) + 1}}"))
text = "".join(pages)
if "--jq" in flags:
    text = subprocess.run(["jq", "-r", flags["--jq"]], input=text, text=True, stdout=-1, check=True).stdout
if "--silent" not in flags:
    sys.stdout.write(text)
END
"""


class Forge(NamedTuple):
    """A forge with an API like GitHub's. `token` is that of its user `bot`, which the workflow acts as."""

    api: str
    server: str
    repository: str
    bot: str
    token: str

    def call(self, method: str, path: str, token: str = "", **fields: Any) -> Any:
        """Call the API of the repository, as the bot or as somebody else."""
        url = f"{self.api}/repos/{self.repository}/{path}"
        request = urllib.request.Request(url, json.dumps(fields).encode() if fields else None, method=method)
        request.add_header("Authorization", f"token {token or self.token}")
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def answers(self, number: int) -> list[str]:
        """Return the answers of the workflow to an issue."""
        comments = self.call("GET", f"issues/{number}/comments")
        return [comment["body"] for comment in comments if comment["user"]["login"] == self.bot]

    def pulls(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.call("GET", "pulls?state=all")
        return found


class RequestJob:
    """Runs the steps of the job as GitHub does, in a clone of the default branch.

    `now` replaces the day of the issue, where the forge has a clock.
    """

    def __init__(self, repository: Repository, folder: Path, forge: Forge, now: str = "") -> None:
        self.repository, self.folder, self.forge = repository, folder, forge
        repository.program("gh", GH)
        berth = (repository.programs / "berth").read_text().partition("\n")[2].strip()
        guard = 'if [ -n "${GH_TOKEN:-}" ]; then echo "Berth has a token" >&2; exit 9; fi\n'
        dated = berth.replace('"$@"', f'"$@" --now {now}') if now else berth
        repository.program("berth", f'{guard}case "$1" in new) {dated} ;; *) {berth} ;; esac')

    def run(self, number: int, **changed: str) -> Ran:
        """Run it for an issue. `changed` are variables of the job."""
        git = self.repository.git
        runner = Runner(git("remote", "get-url", "origin"), self.folder, self.repository.path)
        runner.repository, runner.server, runner.token = (
            self.forge.repository,
            self.forge.server,
            self.forge.token,
        )
        runner.environment = {"BOT": self.forge.bot, "FORGE_API": self.forge.api, **changed}
        payload = {"issue": {"number": number}, "repository": {"default_branch": "main"}}
        head = git("ls-remote", "origin", "refs/heads/main").split("\t")[0]
        return runner.run(JOB, Event("issues", payload, head, "refs/heads/main"))


def may_start(event: dict[str, Any], name: str = "issues") -> bool:
    """Evaluate the `if` of the job for an event."""
    return is_met(JOB["if"], {"github": {"event": event, "event_name": name}}, [])
