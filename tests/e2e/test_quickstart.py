"""README's quick start leads from an empty folder to placeholders on the real cluster, as it is written."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from tests.console import blocks
from tests.e2e.cluster import Cluster
from tests.e2e.project import ROOT
from tests.e2e.sidebyside import Stage
from tests.e2e.waiting import wait_for
from tests.e2e.windows import MINUTE, sleep_until, wait_until
from tests.pages import quick_start, text_of

NAMESPACE = "berth"
SELECTOR = "berth.dev/reservation=demo,berth.dev/resource-class"
LATEST = 4 * MINUTE  # from the first command to the pods
EARLY = 20  # seconds: two minutes after that the next minute begins soon
STARTING = ("Pending", "Init:", "PodInitializing", "ContainerCreating")


class Terminal:
    """A shell whose PATH has berth, and kubectl for the cluster at hand."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.folder = folder / "home"
        self._log = folder / "watched"
        programs = folder / "bin"
        for one in (self.folder, programs):
            one.mkdir()
        berth = programs / "berth"
        berth.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m berth "$@"\n')
        berth.chmod(0o755)
        path = f"{programs}:{cluster.bin_dir}:{os.environ['PATH']}"
        self._environment = {**os.environ, "PATH": path, "KUBECONFIG": str(cluster.kubeconfig)}

    def run(self, commands: list[str]) -> None:
        for command in commands:
            if command.startswith("cd "):
                self.folder /= command[3:]
                continue
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=self.folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"

    def watched(self, command: str, seconds: float) -> list[str]:
        """Run a command that does not end until it has shown two running placeholders; return their names.

        Pods that the watch shows while they start have a minute to be ready.
        """
        with self._log.open("w") as log:
            process = subprocess.Popen(
                ["bash", "-c", f"exec {command}"], cwd=self.folder, env=self._environment, stdout=log
            )
            try:
                shown = wait_for(self._running, seconds, "two placeholders to run")
                wait_until(lambda: not self._starting(), time.time() + MINUTE)
                return shown
            finally:
                process.kill()
                process.wait()

    @property
    def last_states(self) -> dict[str, str]:
        """Return what the watch showed last of each pod: READY and STATUS by its name."""
        shown = [line.split() for line in self._log.read_text().splitlines()]
        return {words[0]: " ".join(words[1:3]) for words in shown if len(words) > 3 and words[0] != "NAME"}

    def _running(self) -> list[str]:
        names = [
            name
            for name, state in self.last_states.items()
            if name.startswith("demo-small-") and state == "1/1 Running"
        ]
        return names if len(names) == 2 else []

    def _starting(self) -> list[str]:
        shown = {name: state.replace("/", " ").split() for name, state in self.last_states.items()}
        return [
            name
            for name, (ready, containers, status, *_) in shown.items()
            if status.startswith(STARTING) or (status == "Running" and ready != containers)
        ]


class Story(NamedTuple):
    shown: list[str]  # the placeholders that the last command of the first block showed
    states: dict[str, str]  # the last READY and STATUS of each pod that it showed
    left: list[str]  # beside the session
    namespaces: list[str]  # after cleaning up
    pods: list[str]  # of the default namespace, then


def tell(stage: Stage) -> Story:
    cluster, terminal = stage.cluster, Terminal(stage.cluster, stage.folder)
    stage.forget(NAMESPACE)
    _, (*commands, watch), session, cleaning = quick_start()
    sleep_until(stage.opens - EARLY)
    terminal.run(commands)
    shown = terminal.watched(watch, stage.opens - EARLY + LATEST - time.time())
    terminal.run(session)
    wait_for(lambda: len(_placeholders(cluster)) == 1, MINUTE, "a placeholder to give way")
    left = _placeholders(cluster)
    terminal.run(cleaning)
    return Story(
        shown, terminal.last_states, left, _names(cluster.find("namespaces")), _names(cluster.find("pods"))
    )


def _placeholders(cluster: Cluster) -> list[str]:
    found = cluster.find("pods", NAMESPACE, SELECTOR)
    return _names([one for one in found if "deletionTimestamp" not in one["metadata"]])


def _names(objects: list[dict[str, Any]]) -> list[str]:
    return [object_["metadata"]["name"] for object_ in objects]


def test_the_quick_start_leads_to_two_placeholders_within_four_minutes(story: Story) -> None:
    assert len(story.shown) == 2


def test_the_pods_are_those_that_the_page_shows(story: Story) -> None:
    """Also those that the first sweep removed, if the watch saw them: each Deployment starts with one."""
    (page,) = (text for _, text in blocks(text_of("README.md")) if text.startswith("NAME "))
    expected = [line.split() for line in page.splitlines()[1:]]
    removed = [name for name in story.states if name not in story.shown and "-small-" in name]
    removed += [name for name in story.states if name.startswith("berth-sweep-")]  # one in five minutes

    assert sorted((_kind(words[0]), " ".join(words[1:3])) for words in expected) == sorted(
        (_kind(name), state) for name, state in story.states.items() if name not in removed
    )


def _kind(pod: str) -> str:
    """Return the name of a pod without what Kubernetes chose."""
    return re.sub(r"(-[0-9]{8})?(-[a-z0-9]{8,10})?-[a-z0-9]{5}$", "", pod)


def test_a_session_takes_the_place_of_a_placeholder(story: Story) -> None:
    assert len(story.left) == 1
    assert set(story.left) < set(story.shown)


def test_cleaning_up_leaves_nothing(story: Story) -> None:
    assert NAMESPACE not in story.namespaces
    assert "alice" not in story.pods


def test_the_first_block_installs_the_package() -> None:
    """.ci/package runs it. Nobody has to have the package on an index."""
    (_, install, path), *_ = quick_start()

    assert install == '~/.berth/bin/pip install ".[cluster]"'
    assert path == 'export PATH="$HOME/.berth/bin:$PATH"'
