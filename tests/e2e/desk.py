"""A person with a kubeconfig of two clusters: the real one, and one where nobody listens."""

import json
import os
import subprocess
import sys
from pathlib import Path

import yaml

from tests.e2e.cluster import Cluster
from tests.e2e.project import ROOT

Done = subprocess.CompletedProcess[str]


class Desk:
    def __init__(self, cluster: Cluster, folder: Path) -> None:
        """`folder` has the project, and gets the kubeconfig."""
        self._folder = folder
        known = yaml.safe_load(cluster.kubeconfig.read_text())
        (context,) = known["contexts"]
        known["clusters"].append({"name": "far", "cluster": {"server": "https://127.0.0.1:9"}})
        known["contexts"] = [
            {"name": "admin@real", "context": context["context"]},
            {"name": "far", "context": {"cluster": "far", "user": context["context"]["user"]}},
        ]
        (folder / "kubeconfig").write_text(json.dumps(known))

    def ask(self, *words: str) -> Done:
        reach = ["--kubeconfig", "kubeconfig", "--context", "real=admin@real"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "berth", *words, *reach]
        return subprocess.run(
            command, cwd=self._folder, capture_output=True, text=True, check=False, env=environment
        )
