"""docs/argocd.md and docs/flux.md: their tables are current, their samples good, their commands true."""

import re
from pathlib import Path

import pytest
import yaml

from tests import fieldtable
from tests.engine.parts import HOME, rendered

MANUALS = {name: page.read_text("utf-8") for name, page in fieldtable.ENGINES.items()}


def blocks(engine: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", MANUALS[engine], re.M | re.S)


@pytest.mark.parametrize("engine", MANUALS)
def test_the_table_of_options_is_made_from_the_shapes(engine: str) -> None:
    """After a change of options: python -m tests.fieldtable."""
    assert fieldtable.updated_options(MANUALS[engine], engine) == MANUALS[engine]


@pytest.mark.parametrize("engine", MANUALS)
def test_the_clusters_that_it_shows_are_good_and_have_what_it_says(engine: str, tmp_path: Path) -> None:
    (sample,) = blocks(engine, "yaml")
    clusters = yaml.safe_load(sample)["clusters"]
    files = rendered(tmp_path, engine=engine, clusters=clusters, repository=HOME)

    assert {f"gitops/{engine}/{one['name']}.yaml" for one in clusters} <= set(files)


@pytest.mark.parametrize("engine", MANUALS)
def test_its_commands_name_what_is_rendered(engine: str, tmp_path: Path) -> None:
    apply, get = (block.split() for block in blocks(engine, "console"))
    files = rendered(tmp_path, engine=engine)
    (one,) = [found for found in files[f"gitops/{engine}/prod.yaml"] if found["kind"] != "GitRepository"]

    assert apply == ["kubectl", "apply", "-f", f"rendered/gitops/{engine}"]
    group, plural = one["apiVersion"].partition("/")[0], f"{one['kind'].lower()}s"
    assert get[:4] == ["kubectl", "get", f"{plural}.{group}", "--namespace"]
    assert get[4] == one["metadata"]["namespace"]
    assert get[5:] == ["--selector", "app.kubernetes.io/name=berth"]
    assert one["metadata"]["labels"]["app.kubernetes.io/name"] == "berth"


@pytest.mark.parametrize("engine", MANUALS)
def test_it_names_the_objects_as_they_are_rendered(engine: str, tmp_path: Path) -> None:
    files = rendered(tmp_path, engine=engine)
    names = {one["metadata"]["name"] for found in files.values() for one in found}

    assert names == ({"berth-uni", "berth-uni.prod"} if engine == "argocd" else {"berth-uni.prod"})
    assert "`berth-<site>.<cluster>`" in MANUALS[engine]
