"""Whatever text a person writes in a title, label, annotation or selector, every reader gets it back."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from berth.checks.project import Part
from berth.schema.pod import Placement
from berth.schema.values import Site
from ruamel.yaml import YAML

from tests.awkward import AWKWARD
from tests.built import built
from tests.cli import project
from tests.manifests.parts import Object, small, text_of

SHARED = {f"example.org/n{i}": text for i, text in enumerate(AWKWARD)}
LABELS = {
    f"example.org/l{i}": text
    for i, text in enumerate(AWKWARD)
    if len(text) < 64 and re.fullmatch(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?", text, re.ASCII)
}
RUAMEL = YAML(typ="safe", pure=True)
READERS: dict[str, Callable[[str], Any]] = {
    "pyyaml-c": partial(yaml.load, Loader=yaml.CSafeLoader),
    "pyyaml": partial(yaml.load, Loader=yaml.SafeLoader),
    "ruamel": RUAMEL.load,
}


@pytest.fixture
def world(tmp_path: Path) -> tuple[Site, Part]:
    site, parts = small(tmp_path, classes=project.CLASSES)
    return site, parts["rest/lab"]


def documents(site: Site, part: Part, **changes: Any) -> list[str]:
    """The objects' texts of the reservation with other values, one by one."""
    reservation = part.placed.reservation
    if "title" in changes:
        changes["spec"] = reservation.spec.model_copy(update={"title": changes.pop("title")})
    changed = part.placed._replace(reservation=reservation._replace(**changes))
    return text_of(site, part._replace(placed=changed)).split("\n---\n")[1:]


@pytest.mark.parametrize("reader", READERS)
def test_annotations_and_labels_are_read_back(world: tuple[Site, Part], reader: str) -> None:
    site, part = world
    own = {"annotations": tuple(SHARED.items()), "labels": tuple(LABELS.items())}
    objects: list[Object] = [READERS[reader](text) for text in documents(site, part, **own)]

    assert len(LABELS) > 30
    assert [one["kind"] for one in objects] == [
        *("ConfigMap", "Deployment", "ServiceAccount", "Role", "RoleBinding", "CronJob")
    ]
    for one in objects:
        if one["kind"] in ("ServiceAccount", "Role", "RoleBinding"):
            assert not {*LABELS} & {*one["metadata"]["labels"]}
            continue
        assert SHARED.items() <= one["metadata"]["annotations"].items(), one["kind"]
        assert LABELS.items() <= one["metadata"]["labels"].items(), one["kind"]


def test_a_title_is_read_back_and_changes_nothing_else(world: tuple[Site, Part]) -> None:
    site, part = world
    plain = documents(site, part, title="plain")[0]
    before = yaml.load(plain, yaml.CSafeLoader)

    for title in AWKWARD:
        text = documents(site, part, title=title)[0]
        after = yaml.load(text, yaml.CSafeLoader)

        assert after["metadata"]["annotations"].pop("berth.dev/title") == title, ascii(title)
        assert after == {**before, "metadata": {**before["metadata"], "annotations": {}}}
        assert len(text.splitlines()) == len(plain.splitlines()), ascii(title)


@pytest.mark.parametrize("reader", READERS)
def test_placement_and_pod_labels_are_read_back(world: tuple[Site, Part], reader: str) -> None:
    """Node selectors, tolerations and the labels of pods are written by people too."""
    site, part = world
    (only,) = part.placed.classes
    pod = {
        "nodeSelector": LABELS,
        "tolerations": [{"key": "a", "operator": "Equal", "value": v} for v in LABELS.values()],
    }
    changed = only.model_copy(update={**dict(built(Placement, pod)), "pod_labels": LABELS})
    text = text_of(site, part._replace(placed=part.placed._replace(classes=(changed,))))
    template = READERS[reader](text.split("\n---\n")[2])["spec"]["template"]

    assert template["spec"]["nodeSelector"] == LABELS
    assert template["spec"]["tolerations"][: len(LABELS)] == pod["tolerations"]
    assert LABELS.items() <= template["metadata"]["labels"].items()
