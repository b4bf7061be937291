"""A team's repository of declarations, and the engine that applies what is rendered of it."""

import json
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.e2e import project
from tests.e2e.appliers import Applier
from tests.e2e.gitfolder import GitFolder
from tests.e2e.project import Document


class Capacity:
    def __init__(self, applier: Applier, folder: Path, namespace: str, held: Sequence[Document] = ()) -> None:
        """`held` is what the cluster says of somebody else's objects."""
        self._applier = applier
        self._folder = folder
        self._namespace = namespace
        self._held = held
        self._git: GitFolder | None = None
        self.commits: list[str] = []  # that were applied

    @property
    def _rendered(self) -> Path:
        return self._folder / "rendered" / "clusters" / self._applier.place

    def write(self, *documents: Document) -> None:
        project.write(self._folder, documents)

    def write_site(self) -> None:
        spec = {"namespace": self._namespace, **self._applier.site(self._folder)}
        if self._held:
            spec["clusters"] = [{**cluster, "held": list(self._held)} for cluster in spec["clusters"]]
        self.write(project.document("Site", self._applier.name, spec))

    def remove(self, names: Iterable[str]) -> None:
        """Reservations."""
        for name in names:
            (self._folder / "reservations" / f"capacityreservation-{name}.json").unlink()

    def commit(self, message: str, upgraded: bool = False) -> tuple[float, float]:
        """Render, commit, and wait until the engine has applied it: when it began, and when that was."""
        project.berth(self._folder, "render")
        if upgraded:
            for file in self._rendered.rglob("*.yaml"):
                file.write_text(_upgraded(file.read_text()))
        is_first = self._git is None
        self._git = self._git or GitFolder(self._folder)
        commit = self._git.commit(message)
        if is_first:
            self._applier.begin(self._folder)
        began = time.time()
        self._applier.bring(self._git, commit)
        self.commits.append(commit)
        return began, time.time()

    def refuse(self) -> None:
        """Commit an object that no API server takes, and wait until people were told."""
        assert self._git is not None
        refused = self._rendered / "refused.yaml"
        metadata = {"name": "Not-A-Name", "namespace": self._namespace}
        refused.write_text(json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}))
        self._applier.be_refused(self._git, self._git.commit("refused"))
        refused.unlink()

    def base(self) -> list[str]:
        """What base.yaml and runtime.yaml have in our namespace, as kind/name, sorted."""
        texts = [(self._rendered / name).read_text() for name in ("base.yaml", "runtime.yaml")]
        found: list[dict[str, Any]] = [one for text in texts for one in yaml.safe_load_all(text)]
        return sorted(
            f"{one['kind']}/{one['metadata']['name']}".lower()
            for one in found
            if one["metadata"].get("namespace") == self._namespace
        )


def _upgraded(text: str) -> str:
    """As a release would that adds a label to everything."""
    lines = [""]
    for line in text.split("\n"):
        before, label, _ = line.partition("berth.dev/site: ")
        if label and lines[-1].strip() != "matchLabels:":  # a selector cannot change
            lines.append(f'{before}example.org/release: "2"')
        lines.append(line)
    return "\n".join(lines[1:])
