"""A person with a kubeconfig of two clusters: the real one, and one that cannot be reached.

Behind both is the one API server that a machine has. A test may give them different namespaces.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from tests.e2e.cluster import Cluster
from tests.e2e.project import ROOT

Done = subprocess.CompletedProcess[str]
NOWHERE = "https://127.0.0.1:9"


class Desk:
    def __init__(self, cluster: Cluster, folder: Path) -> None:
        """`folder` has the project, and gets the kubeconfig."""
        self._folder = folder
        known = yaml.safe_load(cluster.kubeconfig.read_text())
        (context,), (real,) = known["contexts"], known["clusters"]
        known["clusters"].append({"name": "far", "cluster": {**real["cluster"], "server": NOWHERE}})
        known["contexts"] = [
            {"name": "admin@real", "context": context["context"]},
            {"name": "far", "context": {"cluster": "far", "user": context["context"]["user"]}},
        ]
        self._server = real["cluster"]["server"]
        (folder / "kubeconfig").write_text(json.dumps(known))

    @contextmanager
    def reaching_far(self) -> Iterator[None]:
        """The second cluster can be reached meanwhile."""
        kubeconfig = self._folder / "kubeconfig"
        text = kubeconfig.read_text()
        kubeconfig.write_text(text.replace(NOWHERE, self._server))
        yield
        kubeconfig.write_text(text)

    def ask(self, *words: str) -> Done:
        reach = ["--kubeconfig", "kubeconfig", "--context", "real=admin@real"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "berth", *words, *reach]
        return subprocess.run(
            command, cwd=self._folder, capture_output=True, text=True, check=False, env=environment
        )
