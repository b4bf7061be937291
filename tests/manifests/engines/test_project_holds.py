"""Whatever we render, the rendered project allows it: by kind, by name and by place."""

from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from berth.backends.backendinterface import Manifest
from berth.manifests.engines import argocd
from berth.pipeline import Pipeline
from berth.rendering import base_text, engine_texts, reservation_text

from tests import generate
from tests.manifests.parts import Object, objects

NAMESPACED = ("ConfigMap", "ServiceAccount", "Deployment", "CronJob", "Role", "RoleBinding")


@pytest.mark.parametrize(
    ("seed", "kind"),
    [(34, "ClusterColocationProfile"), (15, "Reservation"), (13, "Deployment")],
    ids=["profiles", "standing-slots", "placeholders"],
)
def test_the_project_allows_every_object_that_its_application_applies(
    tmp_path: Path, seed: int, kind: str
) -> None:
    """Each seed has made something of the kind."""
    generate.project(tmp_path, seed, 12)
    pipeline = Pipeline(str(tmp_path))
    parts = [part for item in pipeline.items() for part in item.parts]
    site, classes = pipeline.site, list(pipeline.declared.classes.values())
    assert site is not None
    files = dict(engine_texts(site, pipeline.declared))
    (project,) = objects(files["gitops/argocd/project.yaml"])
    cluster = next(one for one in site.clusters if one.name == "one")
    texts = [base_text(site, cluster, classes)]
    texts += [
        text
        for part in parts
        if part.placed.cluster is cluster and isinstance(text := reservation_text(site, part), str)
    ]

    found = [object_ for text in texts for object_ in objects(text)]

    assert len(found) > 15
    assert kind in {one["kind"] for one in found}
    assert [one for one in found if not allows(project["spec"], one)] == []


def allows(project: Object, one: Object) -> bool:
    group = one["apiVersion"].rpartition("/")[0]
    kind, name = one["kind"], one["metadata"]["name"]
    if kind not in NAMESPACED:
        allowed = project["clusterResourceWhitelist"]
        return any((a["group"], a["kind"]) == (group, kind) and fnmatchcase(name, a["name"]) for a in allowed)
    place = {"server": "https://kubernetes.default.svc", "namespace": one["metadata"]["namespace"]}
    return {"group": group, "kind": kind} in project["namespaceResourceWhitelist"] and place in project[
        "destinations"
    ]


def test_the_project_allows_only_rendered_kinds_and_their_children(tmp_path: Path) -> None:
    """Each kind is one that we render, or the child of one."""
    generate.project(tmp_path, 11, 10)
    pipeline = Pipeline(str(tmp_path))
    assert pipeline.site is not None
    clusters = [cluster for cluster in pipeline.site.clusters if cluster.engine == "argocd"]
    found = argocd.of_site(pipeline.site, clusters, pipeline.declared)
    ((project,),) = found.values()

    assert isinstance(project, Manifest)
    kinds = {value["kind"] for value in project.values["kinds"]}
    assert kinds == {*NAMESPACED, "Pod", "ReplicaSet", "Job"}
