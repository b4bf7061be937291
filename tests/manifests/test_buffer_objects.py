"""Pools of a CapacityBuffer as they are rendered, and what the sweep and engines are told of them."""

from pathlib import Path
from typing import Any

import pytest

from tests.manifests.cloudparts import Object, mondays, objects, resource_class, site, texts

GATES = {"version": "1.14", "gates": {"CapacityBuffer": True}}


def rendered(folder: Path, **more: Any) -> dict[str, str]:
    seat = resource_class(cloudCapacity=[], nodeSelector={"pool": "users"})
    said = site(karpenter=GATES)
    said["spec"] |= more
    return texts(folder, said, seat, mondays("exam", backend={"type": "capacityBuffer"}))


def exam(folder: Path) -> dict[str, Object]:
    return objects(rendered(folder)["clusters/prod/reservations/exam.yaml"])


@pytest.mark.parametrize("gates", [{}, {"CapacityBuffer": False}], ids=["gate-not-declared", "gate-off"])
def test_without_the_gate_nothing_of_capacity_buffers_is_rendered(tmp_path: Path, gates: Object) -> None:
    seat = resource_class(cloudCapacity=[])
    found = texts(tmp_path, site(karpenter={"version": "1.14", "gates": gates}), seat, mondays())
    written = [text for path, text in found.items() if not path.endswith("runtime.yaml")]

    assert not [text for text in written if "autoscaling.x-k8s.io" in text or "CAPACITY_BUFFERS" in text]
