"""Runs the workflow of requests that `berth init` writes: bash runs its steps, with git and a forge.

The program `gh` is a small one of its own that knows `gh api`: it calls a forge whose API is like GitHub's.
"""

import json
import re
import shutil
import sys
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from berth.edit.workflow import REQUESTS, workflow

from tests.flow.conftest import Repository

WORKFLOW: Any = yaml.safe_load(workflow(REQUESTS, "kube-berth"))
JOB: Any = WORKFLOW["jobs"]["request"]
STEPS: list[dict[str, Any]] = [
    step
    for step in JOB["steps"]
    if step.get("name", "Install") in {"Request", "Reservation", "Pull request", "Answer"}
]
MARK = "<!-- berth request -->"
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


class Ran(NamedTuple):
    """What became of the steps: those that failed, and all their output."""

    failed: list[str]
    out: str


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
    """Runs the steps of the job as GitHub does, in a clone of the default branch."""

    def __init__(self, repository: Repository, folder: Path, forge: Forge, now: str = "2026-01-01") -> None:
        self.repository, self.folder, self.forge = repository, folder, forge
        repository.program("gh", GH)
        berth = (repository.programs / "berth").read_text().partition("\n")[2].strip()
        guard = 'if [ -n "$GH_TOKEN" ]; then echo "Berth has a token" >&2; exit 9; fi\n'
        dated = berth.replace('"$@"', f'"$@" --now {now}')  # tests have no clock
        repository.program("berth", f'{guard}case "$1" in new) {dated} ;; *) {berth} ;; esac')

    def run(self, number: int, **changed: str) -> Ran:
        repository = self.repository
        repository.git("fetch", "--quiet", "origin")
        repository.git("checkout", "--quiet", "--force", "--detach", "origin/main")
        repository.git("clean", "--quiet", "--force", "-d")
        temporary = self.folder / "runner"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir()
        env = {
            **{name: str(value) for name, value in JOB["env"].items() if "${{" not in str(value)},
            "BOT": self.forge.bot,
            "DEFAULT": "main",
            "FORGE_API": self.forge.api,
            "GITHUB_SERVER_URL": self.forge.server,
            "GH_TOKEN": "",
            "NUMBER": str(number),
            "REPOSITORY": self.forge.repository,
            "RUNNER_TEMP": str(temporary),
            **changed,
        }
        failed: list[str] = []
        out = ""
        for step in STEPS:
            if failed and "if" not in step:
                continue
            own = {"STATE": "failure" if failed else "success"}
            own |= {"GH_TOKEN": self.forge.token} if "GH_TOKEN" in step.get("env", {}) else {}
            shell = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"])
            done = repository.run(*shell, **{**env, **own})
            out += done.out + done.err
            if done.code:
                failed.append(step["name"])
        return Ran(failed, out)


def may_start(event: dict[str, Any], name: str = "issues") -> bool:
    """Evaluate the `if` of the job for an event, as GitHub's expressions do."""
    text = re.sub(r"github(?:\.[\w*]+)+", lambda match: f"_get({match[0]!r})", JOB["if"])
    text = text.replace("&&", " and ").replace("||", " or ").replace("true", "True")
    text = re.sub(r"!(?!=)", " not ", text)

    def get(path: str) -> Any:
        values: Any = {"event": event, "event_name": name}
        for step in path.split(".")[1:]:
            if step == "*":
                continue
            values = (
                [value[step] for value in values] if isinstance(values, list) else (values or {}).get(step)
            )
        return values

    names = {"_get": get, "fromJSON": json.loads, "contains": lambda all_of, one: one in (all_of or "")}
    return bool(eval(text.replace("\n", " "), {"__builtins__": {}}, names))
