"""Options that are good by themselves, and what they mean together and beside the rest of the site."""

from typing import Any

import pytest

from tests.saying import site, told

HOME: dict[str, Any] = {"url": "https://git.example.org/capacity.git", "revision": "main"}
NOT_TOLD = "a.yaml B037 spec"


TOGETHER: dict[str, tuple[dict[str, Any], list[str]]] = {
    "argocd-without-a-repository": ({"engine": "argocd"}, [NOT_TOLD.format("Argo CD")]),
    "both-without-a-repository": (
        {"engine": "flux", "clusters": [{"name": "a"}, {"name": "b", "engine": "argocd"}]},
        [NOT_TOLD.format("Argo CD and Flux")],
    ),
    "none-without-a-repository": ({}, []),
    "flux-with-its-own-source": ({"engine": {"type": "flux", "sourceName": "a", "path": "."}}, []),
    "flux-and-HEAD": ({"engine": "flux", "repository": {"url": "https://a/b"}}, ["B038 spec.repository"]),
    "flux-and-scp": (
        {"engine": "flux", "repository": {"url": "git@git.example.org:a/b.git", "revision": "main"}},
        ["B038 spec.repository.url"],
    ),
    "flux-and-a-folder": (
        {"engine": "flux", "repository": {"url": "file:///a", "revision": "main"}},
        ["B038 spec.repository.url"],
    ),
    "an-artifact": (
        {"engine": "flux", "repository": {"url": "oci://a/b", "revision": f"sha256:{'0' * 64}"}},
        [],
    ),
    "an-artifact-without-a-tag": (
        {"engine": "argocd", "repository": {"url": "oci://a/b"}},
        ["B038 spec.repository"],
    ),
    "providers-of-git": (
        {
            "engine": {"type": "flux", "sourceProvider": "gcp"},
            "clusters": [
                {"name": "a"},
                {"name": "b"},
                {"name": "c", "engine": {"type": "flux", "sourceProvider": "github"}},
            ],
            "repository": HOME,
        },
        ["B038 spec.engine.sourceProvider"],
    ),
    "providers-of-artifacts": (
        {
            "engine": {"type": "flux", "sourceProvider": "gcp"},
            "clusters": [
                {"name": "a"},
                {"name": "b", "engine": {"type": "flux", "sourceProvider": "github"}},
            ],
            "repository": {"url": "oci://a/b", "revision": "latest"},
        },
        ["B038 spec.clusters.1.engine.sourceProvider"],
    ),
    "idle-with-a-kubeconfig": (
        {"engine": {"type": "flux", "kubeConfigSecret": "a", "kubeConfigMap": "b"}, "repository": HOME},
        ["B029 spec.engine.kubeConfigMap @key"],
    ),
    "argocd-takes-both": ({"engine": "argocd", "repository": {"url": "git@git.example.org:a/b.git"}}, []),
    "no-addresses": (
        {"engine": "none", "repository": {"url": "a b", "revision": "-x", "path": ".."}},
        ["B038 spec.repository.path", "B038 spec.repository.revision", "B038 spec.repository.url"],
    ),
    "idle-with-a-project": (
        {
            "engine": {"type": "argocd", "project": "own", "serviceAccount": "a", "version": "3.2"},
            "repository": HOME,
        },
        [f"B029 spec.engine.{key} @key" for key in ("version", "serviceAccount")],
    ),
    "idle-by-hand": (
        {
            "engine": {"type": "argocd", "automated": False, "prune": True, "selfHeal": False},
            "repository": HOME,
        },
        [f"B029 spec.engine.{key} @key" for key in ("prune", "selfHeal")],
    ),
    "idle-at-the-layer-that-says-it": (
        {
            "engine": {"type": "flux", "sourceInterval": "5m"},
            "clusters": [
                {"name": "a", "engine": {"type": "flux", "sourceName": "x", "sourceSecret": "y"}},
                {"name": "b", "engine": {"type": "flux", "sourceKind": "Bucket"}},
            ],
            "repository": HOME,
        },
        [
            "B029 spec.clusters.0.engine.sourceSecret @key",
            "B029 spec.clusters.1.engine.sourceKind @key",
            "B029 spec.engine.sourceInterval @key",
        ],
    ),
    "destinations-of-others": (
        {
            "engine": "none",
            "clusters": [
                {"name": "a", "destination": {"name": "a"}},
                {"name": "b", "destination": {"name": "b"}, "engine": "flux"},
                {"name": "c", "destination": {"name": "c"}, "engine": "argocd"},
            ],
            "repository": HOME,
        },
        ["B029 spec.clusters.0.destination @key", "B029 spec.clusters.1.destination @key"],
    ),
    "one-destination": (
        {
            "engine": "argocd",
            "clusters": [
                {"name": "a"},
                {"name": "b", "destination": {"server": "https://kubernetes.default.svc"}},
                {"name": "c", "engine": {"type": "argocd", "namespace": "other"}},
                {"name": "d", "engine": {"type": "flux", "kubeConfigSecret": "x"}},
                {"name": "e", "engine": {"type": "flux", "kubeConfigSecret": "x"}},
                {"name": "f", "engine": "flux"},
                {"name": "g", "engine": "flux"},
                {"name": "h", "engine": {"type": "flux", "kubeConfigMap": "x"}},
                {"name": "i", "engine": {"type": "flux", "kubeConfigMap": "x"}},
            ],
            "repository": HOME,
        },
        [
            f"B039 spec.clusters.{i}.name"
            for i, first, second in ((1, "a", "b"), (4, "d", "e"), (8, "h", "i"))
        ],
    ),
}


@pytest.mark.parametrize(("spec", "problems"), TOGETHER.values(), ids=TOGETHER)
def test_what_options_mean_together_is_told(spec: dict[str, Any], problems: list[str]) -> None:
    assert told(site(**spec)) == sorted(
        problem if problem.startswith("a.yaml") else f"a.yaml {problem}" for problem in problems
    )
