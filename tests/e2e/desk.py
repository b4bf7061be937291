"""A person with a kubeconfig of one cluster or of two, called `real` and `far`."""

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
    def __init__(self, cluster: Cluster, folder: Path, *, knows_far: bool = False) -> None:
        """`folder` has the project, and gets the kubeconfig."""
        self._folder = folder
        files = {"admin@real": cluster.kubeconfig}
        if knows_far:
            files["far"] = cluster.far.kubeconfig
        known = {context: yaml.safe_load(file.read_text()) for context, file in files.items()}
        merged = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{**one["clusters"][0], "name": name} for name, one in known.items()],
            "users": [{**one["users"][0], "name": name} for name, one in known.items()],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}} for name in known],
        }
        (folder / "kubeconfig").write_text(json.dumps(merged))

    def ask(self, *words: str) -> Done:
        reach = ["--kubeconfig", "kubeconfig", "--context", "real=admin@real"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "berth", *words, *reach]
        return subprocess.run(
            command, cwd=self._folder, capture_output=True, text=True, check=False, env=environment
        )
