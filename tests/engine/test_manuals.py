"""docs/argocd.md and docs/flux.md: their tables are current, their samples good, their commands true."""

from pathlib import Path

import pytest

from tests import fieldtable
from tests.engine.manuals import MANUALS, clusters, commands, sample
from tests.engine.parts import HOME, rendered


@pytest.mark.parametrize("engine", MANUALS)
def test_the_table_of_options_is_made_from_the_shapes(engine: str) -> None:
    """After a change of options: python -m tests.fieldtable."""
    assert fieldtable.updated_options(MANUALS[engine], engine) == MANUALS[engine]


@pytest.mark.parametrize("engine", MANUALS)
def test_the_clusters_that_it_shows_are_good_and_have_what_it_says(engine: str, tmp_path: Path) -> None:
    shown = clusters(engine)
    files = rendered(tmp_path, engine=engine, clusters=shown, repository=HOME)

    assert {f"gitops/{engine}/{one['name']}.yaml" for one in shown} <= set(files)


@pytest.mark.parametrize("engine", MANUALS)
def test_its_commands_name_what_is_rendered(engine: str, tmp_path: Path) -> None:
    apply, get = commands(engine)
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


def test_whatever_makes_the_engine_apply_its_own_objects_finds_them() -> None:
    application = sample("argocd", "Application")["spec"]
    kustomization = sample("flux", "Kustomization")["spec"]

    assert application["source"]["repoURL"] == HOME["url"]
    assert application["source"]["path"] == "rendered/gitops/argocd"
    assert kustomization["path"] == "./rendered/gitops/flux"


def test_an_application_set_makes_the_applications_that_are_rendered(tmp_path: Path) -> None:
    """Of clusters that Argo CD calls like us; its templates are filled for real in tests/e2e."""
    found = sample("argocd", "ApplicationSet")
    template = found["spec"]["template"]
    files = rendered(tmp_path, engine="argocd", clusters=[{"name": "prod", "destination": {"name": "prod"}}])
    (expected,) = files["gitops/argocd/prod.yaml"]
    basename, path = "{{.path.basename}}", "{{.path.path}}"
    expected["spec"]["source"]["path"] = path
    expected["spec"]["destination"]["name"] = basename
    names = ("name", "annotations")

    assert template["spec"] == expected["spec"]
    assert template["metadata"] == {
        **{key: expected["metadata"][key] for key in names},
        "name": expected["metadata"]["name"].replace("prod", basename),
    }
    assert found["metadata"]["namespace"] == expected["metadata"]["namespace"]
    (generator,) = found["spec"]["generators"]
    assert generator["git"] == {
        "repoURL": HOME["url"],
        "revision": HOME["revision"],
        "directories": [{"path": "rendered/clusters/*"}],
    }


def test_the_account_that_applies_may_touch_every_kind_that_is_rendered(tmp_path: Path) -> None:
    """A ClusterRole for both engines; that it is enough is tried in tests/e2e."""
    (project,) = rendered(tmp_path, engine="argocd")["gitops/argocd/project.yaml"]
    lists = (project["spec"][f"{scope}ResourceWhitelist"] for scope in ("cluster", "namespace"))
    kinds = {(one["group"], f"{one['kind'].lower()}s") for found in lists for one in found}
    children = {("", "pods"), ("apps", "replicasets"), ("batch", "jobs")}
    rules = sample("flux", "ClusterRole")["rules"]

    assert {group for group, _ in kinds - children} == set(rules[0]["apiGroups"])
    resources = {resource.replace("classs", "classes") for _, resource in kinds - children}
    assert resources == set(rules[0]["resources"])
