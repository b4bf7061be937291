"""What a cluster has once: it stands whether or not there are reservations."""

import json
from pathlib import Path

from tests.cli import project
from tests.manifests.parts import of_cluster, of_kind

KOORDINATOR = project.SITE.replace("- name: prod", "- {name: prod, koordinator: {}}")


def test_objects_are_in_the_namespace_of_their_cluster(tmp_path: Path) -> None:
    """The site's is berth; the cluster lab says seats."""
    for name, namespace in (("prod", "berth"), ("lab", "seats")):
        first, _, *others = of_cluster(tmp_path, name)

        assert first["metadata"]["name"] == namespace
        assert first["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
        assert {other["metadata"]["namespace"] for other in others} == {namespace}


def test_the_priority_class_has_the_value_of_the_cluster_and_never_preempts(tmp_path: Path) -> None:
    text = project.SITE.replace("- name: prod", "- {name: prod, priority: -5}") + "  priority: -3\n"

    for name, priority in (("prod", -5), ("lab", -3)):
        (found,) = of_kind("PriorityClass", of_cluster(tmp_path, name, site=text))

        assert found["value"] == priority
        assert ("globalDefault" in found, found["preemptionPolicy"]) == (False, "Never")
        assert found["metadata"]["annotations"] == {"argocd.argoproj.io/sync-wave": "-1"}


def test_objects_of_a_cluster_without_koordinator_never_mention_koordinator(tmp_path: Path) -> None:
    """Not in the other cluster of the site either."""
    for one in (*of_cluster(tmp_path, "prod"), *of_cluster(tmp_path, "lab", site=KOORDINATOR)):
        assert "koordinator" not in json.dumps(one).lower(), one["metadata"]["name"]
