"""Options that are good by themselves, and what they mean together and beside the rest of the site."""

from typing import Any

import pytest

from tests.saying import site, told

HOME: dict[str, Any] = {"url": "https://git.example.org/capacity.git", "revision": "main"}
NOT_TOLD = (
    "a.yaml B037 spec: there is no repository, so nothing is rendered that makes {} apply the rest. "
    "Add repository.url, or make those objects yourself."
)


TOGETHER: dict[str, tuple[dict[str, Any], list[str]]] = {
    "argocd-without-a-repository": ({"engine": "argocd"}, [NOT_TOLD.format("Argo CD")]),
    "both-without-a-repository": (
        {"engine": "flux", "clusters": [{"name": "a"}, {"name": "b", "engine": "argocd"}]},
        [NOT_TOLD.format("Argo CD and Flux")],
    ),
    "none-without-a-repository": ({}, []),
    "flux-with-its-own-source": ({"engine": {"type": "flux", "sourceName": "a", "path": "."}}, []),
    "flux-and-HEAD": (
        {"engine": "flux", "repository": {"url": "https://a/b"}},
        ["B038 spec.repository: Flux follows no HEAD. Add revision: a branch, for instance main."],
    ),
    "flux-and-scp": (
        {"engine": "flux", "repository": {"url": "git@git.example.org:a/b.git", "revision": "main"}},
        [
            'B038 spec.repository.url: Flux does not take "git@git.example.org:a/b.git". '
            "Write ssh://git@git.example.org/a/b.git."
        ],
    ),
    "flux-and-a-folder": (
        {"engine": "flux", "repository": {"url": "file:///a", "revision": "main"}},
        [
            'B038 spec.repository.url: Flux does not take "file:///a". '
            "Write an address with https://, ssh:// or oci://."
        ],
    ),
    "an-artifact": (
        {"engine": "flux", "repository": {"url": "oci://a/b", "revision": f"sha256:{'0' * 64}"}},
        [],
    ),
    "an-artifact-without-a-tag": (
        {"engine": "argocd", "repository": {"url": "oci://a/b"}},
        ["B038 spec.repository: a registry has no HEAD. Add revision: a tag, for instance latest."],
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
        [
            "B038 spec.engine.sourceProvider: a GitRepository knows no gcp. "
            "Write one of generic, aws, azure, github."
        ],
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
        [
            "B038 spec.clusters.1.engine.sourceProvider: an OCIRepository knows no github. "
            "Write one of generic, aws, azure, gcp."
        ],
    ),
    "idle-with-a-kubeconfig": (
        {"engine": {"type": "flux", "kubeConfigSecret": "a", "kubeConfigMap": "b"}, "repository": HOME},
        [
            "B029 spec.engine.kubeConfigMap @key: it has no effect where kubeConfigSecret is given. "
            "Remove one of the two."
        ],
    ),
    "argocd-takes-both": ({"engine": "argocd", "repository": {"url": "git@git.example.org:a/b.git"}}, []),
    "no-addresses": (
        {"engine": "none", "repository": {"url": "a b", "revision": "-x", "path": ".."}},
        [
            'B038 spec.repository.url: "a b" is not the address of a repository. '
            "Write one such as https://git.example.org/capacity.git.",
            'B038 spec.repository.revision: "-x" is not a revision. Write a branch, for instance main.',
            'B038 spec.repository.path: ".." is no folder of a repository. Write it without .. in it.',
        ],
    ),
    "idle-with-a-project": (
        {
            "engine": {"type": "argocd", "project": "own", "serviceAccount": "a", "version": "3.2"},
            "repository": HOME,
        },
        [
            f"B029 spec.engine.{key} @key: it has no effect where project is given. Say it in that project."
            for key in ("version", "serviceAccount")
        ],
    ),
    "idle-by-hand": (
        {
            "engine": {"type": "argocd", "automated": False, "prune": True, "selfHeal": False},
            "repository": HOME,
        },
        [
            f"B029 spec.engine.{key} @key: it has no effect where automated is false. "
            "Leave automated true, or remove this."
            for key in ("prune", "selfHeal")
        ],
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
            "B029 spec.clusters.0.engine.sourceSecret @key: it has no effect where sourceName is given. "
            "Say it at that source.",
            "B029 spec.engine.sourceInterval @key: it has no effect where sourceName is given. "
            "Say it at that source.",
            "B029 spec.clusters.1.engine.sourceKind @key: it has no effect where sourceName is not given. "
            "Add sourceName, or remove this.",
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
        [
            "B029 spec.clusters.0.destination @key: engine none knows no destinations: this has no effect. "
            "Remove it.",
            "B029 spec.clusters.1.destination @key: Flux knows no destinations: this has no effect. "
            "To apply elsewhere, add engine.kubeConfigSecret.",
        ],
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
            f"B039 spec.clusters.{i}.name: clusters {first} and {second} have one destination. "
            "Give each its own, unless each has an engine of its own that runs in it."
            for i, first, second in ((1, "a", "b"), (4, "d", "e"), (8, "h", "i"))
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("spec", "problems"), TOGETHER.values(), ids=TOGETHER)
def test_what_options_mean_together_is_told(spec: dict[str, Any], problems: list[str]) -> None:
    assert told(site(**spec)) == [
        problem if problem.startswith("a.yaml") else f"a.yaml {problem}" for problem in problems
    ]
