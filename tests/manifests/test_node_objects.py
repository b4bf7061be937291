"""Pools that are whole nodes, as they are rendered, and what the sweep and engines are told of them."""

import json
from pathlib import Path

import yaml

from tests.manifests.cloudparts import Object, mondays, nodes, objects, resource_class, site, texts


def exam(folder: Path, *declared: Object) -> dict[str, Object]:
    return objects(texts(folder, *declared, nodes())["clusters/prod/reservations/exam.yaml"])


def test_without_declared_gates_nothing_of_karpenter_is_rendered(tmp_path: Path) -> None:
    """Neither in a cluster with Karpenter and no such gate, nor in one without."""
    found = texts(tmp_path, site(karpenter=None), resource_class(cloudCapacity=[]), mondays())

    assert not [path for path, text in found.items() if "karpenter.sh" in yaml_without_code(text)]


def yaml_without_code(text: str) -> str:
    """What is rendered, but for the runtime's source."""
    kept = [one for one in yaml.load_all(text, yaml.CSafeLoader) if not is_code(one)]
    return json.dumps(kept)


def is_code(one: Object) -> bool:
    return any(name.endswith(".py") for name in one.get("data", {}))
