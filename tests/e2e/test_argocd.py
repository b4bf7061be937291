"""Argo CD applies what we render, and leaves open windows alone, whatever happens to it or in git."""

import json
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e import argocd, enginechecks, project
from tests.e2e.appliers import eventually
from tests.e2e.cluster import Cluster
from tests.e2e.enginestory import Story
from tests.e2e.gitfolder import GitFolder
from tests.manifests.engines import manuals


@pytest.fixture(scope="module")
def story(stories: dict[str, Future[Story]]) -> Story:
    return stories["argocd"].result()


class TestArgoCD(enginechecks.EngineChecks):
    """What holds for every engine."""

    manager = "argocd"
    advice = "ignoreDifferences"


GOOD = {
    "health": "Healthy",
    "sync": "Synced",
    "operation": "Succeeded",
    "conditions": [],
    "seen by kubectl": ["Synced", "Healthy"],
}


def test_pending_placeholders_make_the_application_neither_degraded_nor_stuck(story: Story) -> None:
    """Not even when Kubernetes has given up on them; and later commits are synced."""
    assert story.seen["pending"] == 2
    assert story.seen["state with pending placeholders"] == GOOD


def test_an_application_without_reservations_is_not_refused_as_empty(story: Story) -> None:
    assert story.seen["state at the end"] == GOOD


def test_each_commit_and_a_refused_commit_get_one_message(story: Story) -> None:
    """By the messages of the documentation."""
    told = [one["text"].strip() for one in story.seen["messages"] if "berth-argocd.real" in one["text"]]
    (refused,) = [one for one in told if "Not-A-Name" in one]
    told.remove(refused)

    assert {one["channel"] for one in story.seen["messages"]} == {"capacity"}
    assert refused.startswith("Reservations of berth-argocd.real could not be applied: ")
    assert told == [
        f"Reservations of berth-argocd.real are as in git, commit {commit}."
        for commit in story.seen["commits"]
    ]


def test_a_new_pool_never_had_seats_before_its_window(story: Story) -> None:
    assert story.neighbours.steps("guests-small") == [0, 3]


def test_an_application_that_is_deleted_leaves_everything_unless_it_cascades(story: Story) -> None:
    """The neighbour's does not."""
    assert story.seen["neighbour is left"]
    assert story.seen["sites left"] == {"argocd-afar"}


def test_an_application_set_makes_the_applications_that_are_rendered(
    cluster: Cluster, story: Story, tmp_path: Path
) -> None:
    """That of the manual. Its clusters are known and not there, so that nothing is applied."""
    del story  # Argo CD is there
    repository = {"url": f"file://{tmp_path}", "revision": "main"}
    gates = {"StaticCapacity": True, "CapacityBuffer": True}
    every = {"koordinator": {}, "autoscaler": "karpenter", "karpenter": {"version": "1.15", "gates": gates}}
    clusters = [{"name": name, "destination": {"name": name}, **every} for name in ("east", "west")]
    spec = {"namespace": "berth", "clusters": clusters, "repository": repository}
    spec["engine"] = {"type": "argocd", "version": "3.2"}
    site = project.document("Site", "uni", spec)
    project.write(tmp_path, [site])
    project.berth(tmp_path, "render")
    GitFolder(tmp_path).commit("first")
    gitops = tmp_path / "rendered" / "gitops" / "argocd"
    expected = {}
    for name in ("east", "west"):
        argocd.ArgoCD(cluster).know_cluster(name, f"https://{name}.invalid")
        (one,) = yaml.safe_load_all((gitops / f"{name}.yaml").read_text())
        one["spec"]["source"]["directory"]["jsonnet"] = {}  # as Argo CD itself writes what is not there
        expected[one["metadata"]["name"]] = one["spec"]

    shown = json.dumps(manuals.sample("argocd", "ApplicationSet"))
    cluster.apply(gitops / "project.yaml")
    cluster.apply(shown.replace("https://git.example.org/capacity.git", repository["url"]))

    def made() -> dict[str, Any]:
        found = cluster.find("applications.argoproj.io", "argocd")
        return {
            one["metadata"]["name"]: one["spec"] for one in found if one["spec"]["project"] == "berth-uni"
        }

    eventually("the set to make its Applications", lambda: len(made()) == 2)
    assert made() == expected
