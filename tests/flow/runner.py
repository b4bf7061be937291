"""Runs jobs of GitHub's workflows as its runner does: bash runs their steps, in a clone that checkout makes.

A checkout fetches what `actions/checkout` fetches: one commit and no tags, or with `fetch-depth: 0` all
branches and tags. Local actions are run; other actions do nothing.
"""

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

TOKEN = "a-token-that-may-write"
SERVER = "https://git.example.org"
_WORD = re.compile(r"'(?:[^']|'')*'|[A-Za-z_][\w*-]*(?:\.[\w*-]+)*(\s*\()?|&&|\|\||!=|!|==")
_OPERATORS = {"&&": " and ", "||": " or ", "!": " not ", "true": "True", "false": "False", "null": "None"}
_OF_STATUS = re.compile(r"\b(always|cancelled|failure|success)\(")


class Event(NamedTuple):
    """What starts a workflow: its name and payload, and the commit and ref that its run has."""

    name: str
    payload: dict[str, Any]
    sha: str
    ref: str


class Ran(NamedTuple):
    """What became of a job: the steps that failed, the log, and the outputs of its steps by id."""

    failed: list[str]
    log: str
    outputs: dict[str, dict[str, str]]


class _Scope(NamedTuple):
    """What the steps of a job or of an action see."""

    contexts: dict[str, Any]
    env: dict[str, str]
    failed: list[str]


def evaluate(expression: str, contexts: Mapping[str, Any], *, has_failed: bool = False) -> Any:
    """Return the value of an expression of GitHub, for the operators and functions that ours have."""

    def word(match: re.Match[str]) -> str:
        text = match[0]
        if text in _OPERATORS:
            return _OPERATORS[text]
        is_path = text[0] != "'" and text[0].isalpha() and not match[1]
        return f"_get({text!r})" if is_path else text

    def get(path: str) -> Any:
        value: Any = contexts
        for name in path.split("."):
            if name != "*":
                is_list = isinstance(value, list)
                value = [item.get(name) for item in value] if is_list else (value or {}).get(name)
        return value

    functions = {
        "_get": get,
        "always": lambda: True,
        "cancelled": lambda: False,
        "success": lambda: not has_failed,
        "contains": lambda values, value: value in (values or ""),
        "format": lambda text, *values: text.format(*values),
        "fromJSON": json.loads,
    }
    text = " ".join(_WORD.sub(word, expression).split())
    return eval(text, {"__builtins__": {}}, functions)


def is_met(condition: str | None, contexts: Mapping[str, Any], failed: list[str]) -> bool:
    """Tell whether an `if` holds. Without a function of the status, it means success, too."""
    if condition is None:
        return not failed
    expression = condition.strip().removeprefix("${{").removesuffix("}}")
    is_about_status = _OF_STATUS.search(expression) is not None
    return bool((is_about_status or not failed) and evaluate(expression, contexts, has_failed=bool(failed)))


def _text(value: Any) -> str:
    return (
        {None: "", True: "true", False: "false"}[value]
        if value is None or value is True or value is False
        else str(value)
    )


def filled(text: object, contexts: Mapping[str, Any]) -> str:
    """Return a value of a workflow with its expressions evaluated."""
    return re.sub(
        r"\$\{\{(.*?)\}\}", lambda match: _text(evaluate(match[1], contexts)), _text(text), flags=re.DOTALL
    )


class Runner:
    """Runs jobs in new clones of a remote. `path` has the programs that the steps call."""

    def __init__(self, remote: str, folder: Path, path: str, repository: str = "uni/seats") -> None:
        self.remote, self.folder, self.repository = remote, folder, repository
        self.path, self.server, self.token = path, SERVER, TOKEN
        self.secrets: dict[str, str] = {}
        self.variables: dict[str, str] = {}
        self.environment: dict[str, str] = {}  # of all steps

    def run(self, job: Mapping[str, Any], event: Event) -> Ran:
        """Run a job. Nothing of the environment of this process is in that of its steps."""
        self.workspace = Path(tempfile.mkdtemp(dir=self.folder, prefix="workspace-"))
        self.temporary = Path(tempfile.mkdtemp(dir=self.folder, prefix="temporary-"))
        self.log = ""
        github = {
            "event_name": event.name,
            "event": event.payload,
            "sha": event.sha,
            "ref": event.ref,
            "base_ref": event.payload.get("pull_request", {}).get("base", {}).get("ref", ""),
            "repository": self.repository,
            "token": self.token,
            "workspace": str(self.workspace),
        }
        status = {"status": "success"}
        contexts = {
            "github": github,
            "runner": {"temp": str(self.temporary)},
            "secrets": self.secrets,
            "vars": self.variables,
            "job": status,
            "steps": {},
        }
        scope = _Scope(contexts, {}, [])
        scope.env.update({name: filled(value, contexts) for name, value in job.get("env", {}).items()})
        scope.env.update(self.environment)
        for step in job["steps"]:
            self._step(step, scope, event)
            status["status"] = "failure" if scope.failed else "success"
        outputs = {name: step["outputs"] for name, step in contexts["steps"].items()}
        return Ran(scope.failed, self.log, outputs)

    def _step(self, step: Mapping[str, Any], scope: _Scope, event: Event) -> None:
        outcome, outputs = "skipped", {}
        if is_met(step.get("if"), scope.contexts, scope.failed):
            env = {name: filled(value, scope.contexts) for name, value in step.get("env", {}).items()}
            given = {name: filled(value, scope.contexts) for name, value in step.get("with", {}).items()}
            inner = scope._replace(env={**scope.env, **env}, failed=[])
            if "run" in step:
                outputs = self._bash(step, inner)
            elif step["uses"].startswith("./"):
                outputs = self._action(step["uses"], given, inner, event)
            elif step["uses"].startswith("actions/checkout@"):
                self._checkout(given, event)
            outcome = "failure" if inner.failed else "success"
            scope.failed.extend([] if step.get("continue-on-error") else inner.failed)
        if "id" in step:
            scope.contexts["steps"][step["id"]] = {"outcome": outcome, "outputs": outputs}

    def _bash(self, step: Mapping[str, Any], scope: _Scope) -> dict[str, str]:
        assert "${{" not in step["run"], "what people choose would be code"
        output = self.temporary / "output"
        output.write_text("")
        known = {
            "GITHUB_OUTPUT": str(output),
            "GITHUB_SERVER_URL": self.server,
            "GITHUB_SHA": scope.contexts["github"]["sha"],
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
            "HOME": str(self.temporary),
            "PATH": self.path,
            "RUNNER_TEMP": str(self.temporary),
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.workspace,
            env={**known, **scope.env},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        self.log += done.stdout
        if done.returncode:
            scope.failed.append(step.get("name", step["run"].strip().splitlines()[-1]))
        return dict(line.split("=", 1) for line in output.read_text("utf-8").splitlines())

    def _action(self, name: str, given: dict[str, str], scope: _Scope, event: Event) -> dict[str, str]:
        folder = self.workspace / name
        action: Any = yaml.safe_load((folder / "action.yml").read_text("utf-8"))
        assert given.keys() <= action.get("inputs", {}).keys()
        defaults = {key: value["default"] for key, value in action["inputs"].items()}
        contexts = {
            **scope.contexts,
            "github": {**scope.contexts["github"], "action_path": str(folder)},
            "inputs": {**defaults, **given},
            "steps": {},
        }
        inner = scope._replace(contexts=contexts)
        for step in action["runs"]["steps"]:
            self._step(step, inner, event)
        return {key: filled(output["value"], contexts) for key, output in action.get("outputs", {}).items()}

    def _checkout(self, given: dict[str, str], event: Event) -> None:
        commit = given.get("ref") or event.sha
        self._git("init", "--quiet")
        self._git("remote", "add", "origin", self.remote)
        if given.get("fetch-depth") == "0":
            self._git(
                "fetch",
                "--quiet",
                "origin",
                "+refs/heads/*:refs/remotes/origin/*",
                "+refs/tags/*:refs/tags/*",
            )
        self._git(
            "fetch", "--quiet", "--no-tags", "--depth=1", "origin", f"+{commit}:refs/remotes/checked/out"
        )
        self._git("checkout", "--quiet", "--detach", "refs/remotes/checked/out")

    def _git(self, *words: str) -> None:
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
        subprocess.run(["git", *words], cwd=self.workspace, env=environment, check=True, capture_output=True)
