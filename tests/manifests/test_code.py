"""How the in-cluster code reaches a pod: in two ConfigMaps that nobody changes, or in an image."""

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from berth.core.labels import PLUGINS
from berth.manifests import code, naming
from berth.rendering import runtime_text

from tests.cli import project
from tests.cli.conftest import ROOT
from tests.manifests.parts import Object, code_of_cluster, of_cluster, of_kind, of_part, pod_specs, small

ANNOTATION = 262_144  # bytes that Kubernetes allows; client-side apply keeps the object in one
DIGEST = f"example.org/berth@sha256:{'0' * 64}"
IMAGE = f"  runtime: {{image: {DIGEST}}}\n"
ENGINES = {
    "prod": {
        "argocd.argoproj.io/compare-options": "IgnoreExtraneous",
        "argocd.argoproj.io/sync-options": "Prune=false",
    },
    "lab": None,
    "flux": {
        "kustomize.toolkit.fluxcd.io/prune": "disabled",
        "kustomize.toolkit.fluxcd.io/substitute": "disabled",
    },
}


def sources(package: str) -> dict[str, str]:
    """The modules of a package as they are in git."""
    return {path.name: path.read_bytes().decode() for path in (ROOT / "gen/berth" / package).glob("*.py")}


def mounted_config_maps(pod: dict[str, Any]) -> list[str]:
    return [one["configMap"]["name"] for one in pod.get("volumes", []) if "configMap" in one]


def jobs(folder: Path, site: str = project.SITE) -> list[Object]:
    """The pods of the sweep and of an occurrence of the cluster lab."""
    found, parts = small(folder, site=site)
    sweep = pod_specs(of_cluster(folder, "lab", site=site))
    return [*sweep, *pod_specs(of_kind("CronJob", of_part(found, parts["rest/lab"])))]


def test_a_config_map_holds_a_package_as_it_is_in_git(tmp_path: Path) -> None:
    for found, package in zip(code_of_cluster(tmp_path, "prod"), code.PACKAGES, strict=True):
        files = sources(package)

        assert found["data"] == files
        assert list(found["data"]) == sorted(files)
        assert found["immutable"] is True
        assert found["metadata"]["labels"]["berth.dev/site"] == "uni"
        assert found["metadata"]["labels"]["berth.dev/role"] == "code"


def test_the_name_of_a_config_map_ends_with_the_hash_of_its_content() -> None:
    for code_map_, package in zip(map(code.code_map, code.PACKAGES), code.PACKAGES, strict=True):
        content = "".join(f"{name}\0{text}\0" for name, text in sorted(sources(package).items()))

        assert code_map_.name == f"berth-{package}-{sha256(content.encode()).hexdigest()[:10]}"


def test_a_config_map_fits_the_annotation_of_client_side_apply(tmp_path: Path) -> None:
    for found in code_of_cluster(tmp_path, "prod"):
        assert len(json.dumps(found).encode()) < 0.9 * ANNOTATION


@pytest.mark.parametrize("cluster", ENGINES)
def test_no_engine_prunes_config_maps_of_code(tmp_path: Path, cluster: str) -> None:
    site = f"{project.SITE}    - {{name: flux, engine: flux}}\n"
    for found in code_of_cluster(tmp_path, cluster, site=site):
        assert found["metadata"].get("annotations") == ENGINES[cluster]


def test_pods_mount_the_code_where_python_finds_it(tmp_path: Path) -> None:
    names = [code_map_.name for code_map_ in map(code.code_map, code.PACKAGES)]
    sweep, occurrence = jobs(tmp_path)

    for pod in (sweep, occurrence):
        assert [name for name in mounted_config_maps(pod) if name in names] == names
    for container in (*sweep["containers"], *occurrence["initContainers"]):
        mounts = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}
        assert container["workingDir"] == "/berth"
        assert (mounts["core"], mounts["runtime"]) == ("/berth/berth/core", "/berth/berth/runtime")


def test_base_yaml_has_no_code_and_is_short(tmp_path: Path) -> None:
    base = of_cluster(tmp_path, "prod")

    assert not of_kind("ConfigMap", base)
    assert len((ROOT / "rendered/clusters/prod/base.yaml").read_bytes()) < 20_000


def test_an_image_replaces_the_config_maps(tmp_path: Path) -> None:
    site, _ = small(tmp_path, site=project.SITE + IMAGE)

    assert [runtime_text(site, cluster, ("slots",)) for cluster in site.clusters] == ["", ""]
    for pod in jobs(tmp_path, project.SITE + IMAGE):
        containers = [*pod["containers"], *pod.get("initContainers", [])]
        assert {container["image"] for container in containers} == {DIGEST}
        assert not [name for name in mounted_config_maps(pod) if name.startswith("berth-")]
        volumes = {one["name"] for one in pod.get("volumes", [])}
        mounts = {mount["name"] for container in containers for mount in container.get("volumeMounts", [])}
        assert mounts == volumes
        assert not volumes & {"core", "runtime"}


def test_programs_start_the_same_way_from_an_image_and_from_config_maps(tmp_path: Path) -> None:
    def started(pods: list[Object]) -> list[tuple[object, object]]:
        return [
            (one["command"], one.get("workingDir"))
            for pod in pods
            for one in (*pod["containers"], *pod.get("initContainers", []))
        ]

    assert started(jobs(tmp_path, project.SITE + IMAGE)) == started(jobs(tmp_path))


def test_one_cluster_may_use_an_image_and_another_config_maps(tmp_path: Path) -> None:
    text = project.SITE.replace("- name: prod", f"- {{name: prod, runtime: {{image: {DIGEST}}}}}")
    site, _ = small(tmp_path, site=text)

    assert {cluster.name: cluster.runtime.image for cluster in site.clusters} == {"prod": DIGEST, "lab": None}


def test_the_containerfile_copies_exactly_the_code_of_the_config_maps() -> None:
    text = (ROOT / "Containerfile").read_text("utf-8")
    copied = re.findall(r"^COPY (?:--\S+ )*(.+)$", text, re.MULTILINE)

    assert [one.split() for one in copied if "/" in one and not one.startswith("/")] == [
        *([f"gen/berth/{package}/*.py", f"/berth/berth/{package}/"] for package in code.PACKAGES),
        ["gen/berth/plugins", "/berth/berth/plugins"],
    ]


def test_the_image_has_the_user_folder_and_python_of_the_pods(tmp_path: Path) -> None:
    text = (ROOT / "Containerfile").read_text("utf-8")
    (sweep, _) = jobs(tmp_path)
    context = sweep["securityContext"]

    assert re.findall(r"^USER (.+)$", text, re.MULTILINE) == [
        f"{context['runAsUser']}:{context['runAsGroup']}"
    ]
    assert re.findall(r"^WORKDIR (.+)$", text, re.MULTILINE)[-1] == sweep["containers"][0]["workingDir"]
    assert sweep["containers"][0]["image"] in text


def test_the_list_of_plugins_matches_the_packages_in_their_folder() -> None:
    folders = {path.parent.name for path in (ROOT / "gen/berth/plugins").glob("*/__init__.py")}

    assert folders == set(PLUGINS)


@pytest.mark.parametrize(
    ("keys", "plugins"),
    [
        ("", set()),
        ("      koordinator: {schedulerName: koord-scheduler}\n", {"slots"}),
        ("      engine: none\n", {"pruning"}),
    ],
    ids=["plain", "koordinator", "none"],
)
def test_a_cluster_gets_only_the_plugins_that_its_sweep_uses(
    tmp_path: Path, keys: str, plugins: set[str]
) -> None:
    text = project.SITE.replace("    - name: prod\n", f"    - name: prod\n{keys}")
    site, _ = small(tmp_path, site=text)
    cluster = next(one for one in site.clusters if one.name == "prod")
    names = {str(naming.of_code(found.name)[1]) for found in code.of_cluster(cluster)}  # type: ignore[index]

    assert names - {"berth-core", "berth-runtime"} == {f"berth-{name}" for name in plugins}
