"""What makes Flux apply the rest: for each cluster a source and a Kustomization."""

from pathlib import Path
from typing import Any

import pytest

from tests.cases import tabled
from tests.manifests.engines.parts import HOME, rendered
from tests.manifests.parts import OURS, Object, of_kind


def of_prod(folder: Path, **spec: Any) -> list[Object]:
    files = rendered(folder, **{"engine": "flux", **spec})
    assert list(files) == ["gitops/flux/prod.yaml"]
    return files["gitops/flux/prod.yaml"]


def kustomization(folder: Path, **options: Any) -> Object:
    (found,) = of_kind("Kustomization", of_prod(folder, engine={"type": "flux", **options}))
    spec: Object = found["spec"]
    return spec


def metadata(**more: Any) -> Object:
    return {"name": "berth-uni.prod", "namespace": "flux-system", "labels": OURS, **more}


def test_a_kustomization_ignores_replicas_and_does_not_wait(tmp_path: Path) -> None:
    spec = kustomization(tmp_path)
    (ignored,) = spec["ignore"]

    assert (ignored["paths"], ignored["target"]["kind"]) == (["/spec/replicas"], "Deployment")
    assert spec["wait"] is False


def test_flux_before_2_9_gets_no_field_ignore(tmp_path: Path) -> None:
    expected = kustomization(tmp_path / "plain")
    del expected["ignore"]

    assert kustomization(tmp_path, version="2.8") == expected


@tabled("manifests")
def test_an_option_changes_the_fields_that_it_names(
    options: dict[str, Any], changes: dict[str, Any], tmp_path: Path
) -> None:
    assert kustomization(tmp_path, **options) == {**kustomization(tmp_path / "plain"), **changes}


def test_both_objects_have_the_labels_annotations_and_namespace_of_the_engine(tmp_path: Path) -> None:
    engine = {"type": "flux", "namespace": "gitops", "labels": {"team": "y"}, "annotations": {"a/b": "1e3"}}
    expected = metadata(labels={**OURS, "team": "y"}, annotations={"a/b": "1e3"})

    objects = of_prod(tmp_path, engine=engine)

    assert [one["metadata"] for one in objects] == [{**expected, "namespace": "gitops"}] * 2


def test_the_rendered_source_has_its_interval_and_secret(tmp_path: Path) -> None:
    engine = {"type": "flux", "sourceInterval": "30s", "sourceSecret": "deploy-key"}
    (found,) = of_kind("GitRepository", of_prod(tmp_path, engine=engine))

    assert (found["spec"]["interval"], found["spec"]["secretRef"]) == ("30s", {"name": "deploy-key"})
    assert "provider" not in found["spec"]


def test_the_source_has_the_provider_of_the_engine(tmp_path: Path) -> None:
    (found,) = of_kind(
        "GitRepository", of_prod(tmp_path, engine={"type": "flux", "sourceProvider": "github"})
    )

    assert found["spec"]["provider"] == "github"


DIGEST = f"sha256:{'0123456789abcdef' * 4}"


@pytest.mark.parametrize(
    ("revision", "reference"),
    [("latest", {"tag": "latest"}), (DIGEST, {"digest": DIGEST})],
    ids=["tag", "digest"],
)
def test_an_artifact_is_read_from_its_registry(
    tmp_path: Path, revision: str, reference: dict[str, str]
) -> None:
    """Its Kustomization is that of git."""
    repository = {"url": "oci://ghcr.io/uni/capacity", "revision": revision}
    engine = {"type": "flux", "sourceProvider": "gcp", "sourceSecret": "a", "sourceInterval": "3m"}
    source, found = of_prod(tmp_path, repository=repository, engine=engine)

    assert source == {
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "OCIRepository",
        "metadata": metadata(),
        "spec": {
            "url": "oci://ghcr.io/uni/capacity",
            "ref": reference,
            "interval": "3m",
            "provider": "gcp",
            "secretRef": {"name": "a"},
        },
    }
    assert found["spec"] == {
        **kustomization(tmp_path / "plain"),
        "sourceRef": {"kind": "OCIRepository", "name": "berth-uni.prod"},
    }


@tabled("manifests")
def test_a_revision_is_taken_as_the_reference_that_it_looks_like(
    revision: str, reference: dict[str, str], tmp_path: Path
) -> None:
    (found,) = of_kind("GitRepository", of_prod(tmp_path, repository={**HOME, "revision": revision}))

    assert found["spec"]["ref"] == reference


def test_files_of_several_clusters_have_no_object_in_common(tmp_path: Path) -> None:
    """A Kustomization over the folder itself would refuse two objects of one name."""
    files = rendered(tmp_path, engine="flux", clusters=[{"name": "a"}, {"name": "b"}])
    names = [(one["kind"], one["metadata"]["name"]) for file in files.values() for one in file]

    assert list(files) == ["gitops/flux/a.yaml", "gitops/flux/b.yaml"]
    assert len(names) == len(set(names)) == 4


def test_an_existing_source_needs_no_repository(tmp_path: Path) -> None:
    engine = {"type": "flux", "sourceName": "own", "sourceKind": "Bucket", "path": "prod"}
    (found,) = of_prod(tmp_path, engine=engine, repository=None)

    assert found["spec"]["sourceRef"] == {"kind": "Bucket", "name": "own"}
    assert found["spec"]["path"] == "./prod"


@pytest.mark.parametrize("engine", ["flux", "none"], ids=["flux-without-a-repository", "none"])
def test_nothing_is_rendered_for_flux_without_a_repository_or_for_no_engine(
    tmp_path: Path, engine: str
) -> None:
    repository = HOME if engine == "none" else None

    assert rendered(tmp_path, engine=engine, repository=repository) == {}
