"""`Site`: the defaults, what a cluster overrides, and what a platform team is told."""

from datetime import date
from typing import Any

import pytest

from gen.model import Ceiling, Cluster, Images, Renku, Site
from gen.version import VERSION
from tests.kind.test_grammar import NAME_RULE, RESOURCE_RULE
from tests.saying import read, site, told

HERE = ("server", "https://kubernetes.default.svc")
JOBS = {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "64Mi"}}
NOT_OURS = (
    "belongs to Kubernetes, and we set the rules of our namespace. Write one of its own, for instance berth."
)


def made(*clusters: dict[str, Any], **spec: object) -> Site:
    declared = read(site(*clusters, **spec))
    assert declared.problems == []
    assert declared.site is not None
    return declared.site


def engine(replicas_in_git: bool) -> dict[str, Any]:
    return {"engine_options": {}, "replicas_in_git": replicas_in_git, "destination": HERE}


def test_whatever_is_left_out_has_its_default() -> None:
    whole = made()
    assert whole[1:10] == (
        "example",
        "UTC",
        (
            Cluster(
                name="prod",
                namespace="berth",
                engine="none",
                **engine(False),
                autoscaler="none",
                ceilings=(),
                priority=-10,
                images=Images("registry.k8s.io/pause:3.10.1", "python:3.13-slim", ()),
                runtime={"resources": JOBS},
            ),
        ),
        False,
        30,
        5,
        None,
        24,
        None,
    )


def test_what_is_empty_says_nothing() -> None:
    empty: dict[str, object] = {"nodeSelector": {}, "tolerations": [], "resources": {}}

    assert made(runtime=empty, images={}) == made()
    assert made({"name": "prod", "runtime": empty, "images": {}, "ceilings": []}) == made()


def test_every_field_can_be_written() -> None:
    whole = made(
        {
            "name": "prod",
            "destination": {"server": "https://kubernetes.default.svc"},
            "autoscaler": "cluster-autoscaler",
            "ceilings": [
                {
                    **{"seats": {"small": 300}, "requests": {"cpu": "800", "nvidia.com/gpu": 16}},
                    **{"from": "2026-02-01", "until": "2026-02-01"},
                }
            ],
            "koordinator": None,
        },
        {"name": "hub", "destination": {"name": "hub"}, "autoscaler": "karpenter"},
        berthVersion=VERSION,
        timeZone="Europe/Zurich",
        namespace="capacity",
        engine={"type": "argocd"},
        repository={"url": "https://git.example.org/capacity.git", "revision": "main", "path": "."},
        priority=-1,
        images={"pause": "a/pause", "python": "a/python", "pullSecrets": ["a", "b.c"]},
        runtime={"nodeSelector": {"a": "b"}, "tolerations": [{"operator": "Exists"}]},
        kustomization=True,
        renku={"url": "https://renkulab.io", "tokenSecret": {"name": "renku.token", "key": "token"}},
        scaler={"stabilizationSeconds": 0, "readyMinutes": 180},
        diff={"noticeHours": 48},
    )
    prod, hub = whole.clusters
    day = date(2026, 2, 1)

    assert (whole.zone, whole.kustomization) == ("Europe/Zurich", True)
    assert (whole.stabilization_seconds, whole.ready_minutes) == (0, 180)
    assert whole.renku == Renku("https://renkulab.io", "renku.token", "token")
    assert prod == Cluster(
        name="prod",
        namespace="capacity",
        engine="argocd",
        **engine(True),
        autoscaler="cluster-autoscaler",
        ceilings=(Ceiling((("small", 300),), (("cpu", "800"), ("nvidia.com/gpu", "16")), day, day),),
        priority=-1,
        images=Images("a/pause", "a/python", ("a", "b.c")),
        runtime={"nodeSelector": {"a": "b"}, "tolerations": ({"operator": "Exists"},), "resources": JOBS},
    )
    assert hub == prod._replace(name="hub", destination=("name", "hub"), autoscaler="karpenter", ceilings=())


def test_one_word_of_the_scaler_leaves_the_other_its_default() -> None:
    first, second = made(scaler={"readyMinutes": 0}), made(scaler={"stabilizationSeconds": 7})
    assert (first.stabilization_seconds, first.ready_minutes) == (30, 0)
    assert (second.stabilization_seconds, second.ready_minutes) == (7, 5)


def test_renkus_api_needs_no_token_and_a_slash_at_its_end_says_nothing() -> None:
    found = made(renku={"url": "http://renku.svc:8080/base/"})

    assert found.renku == Renku("http://renku.svc:8080/base", "", "")


def test_a_cluster_overrides_the_site_key_by_key() -> None:
    whole = made(
        {
            "name": "hub",
            "engine": "flux",
            "namespace": "hub-berth",
            "priority": -3,
            "images": {"python": "b/python", "pullSecrets": []},
            "runtime": {"tolerations": [], "resources": {"requests": {"memory": "128Mi"}}},
        },
        engine="argocd",
        repository={"url": "https://git.example.org/capacity.git", "revision": "main"},
        images={"pause": "a/pause", "python": "a/python", "pullSecrets": ["a"]},
        runtime={"nodeSelector": {"a": "b"}, "tolerations": [{"operator": "Exists"}]},
    )

    assert whole.clusters == (
        Cluster(
            name="hub",
            namespace="hub-berth",
            engine="flux",
            **engine(True),
            autoscaler="none",
            ceilings=(),
            priority=-3,
            images=Images("a/pause", "b/python", ()),
            runtime={"nodeSelector": {"a": "b"}, "resources": {"requests": {"memory": "128Mi"}}},
        ),
    )


def test_resources_of_our_jobs_are_completed_and_an_empty_mapping_leaves_the_sites() -> None:
    of_site = {"resources": {"limits": {"memory": "128Mi"}}}
    whole = made({"name": "prod", "runtime": {"resources": {}}}, runtime=of_site)

    assert whole.clusters[0].runtime == {
        "resources": {"requests": {"memory": "128Mi"}, "limits": {"memory": "128Mi"}}
    }


TOLD = {
    "no-cluster": (
        {"clusters": []},
        ["B012 spec.clusters: the list is empty. Write at least one item."],
    ),
    "no-clusters": (
        {"clusters": None},
        ["B011 spec: clusters is missing. Add clusters: a list."],
    ),
    "clusters-with-one-name": (
        {"clusters": [{"name": "a"}, {"name": "b"}, {"name": "a"}, {"name": "A"}, {"name": "A"}]},
        [
            f'B019 spec.clusters.3.name: "A" is not a name that Kubernetes allows. {NAME_RULE}',
            f'B019 spec.clusters.4.name: "A" is not a name that Kubernetes allows. {NAME_RULE}',
            'B060 spec.clusters.0.name: "a" names two clusters. Give each its own name.',
            'B060 spec.clusters.2.name: "a" names two clusters. Give each its own name.',
        ],
    ),
    "no-mapping-among-the-clusters": (
        {"clusters": ["prod"], "priority": -11},
        [
            'B013 spec.clusters.0: "prod" is not a mapping. Write a mapping.',
            "B026 spec.priority: -11 is below -10: many autoscalers ignore such pods. "
            "Write a whole number from -10 to -1, unless you know that yours does not.",
        ],
    ),
    "version": (
        {"berthVersion": "9.9.9"},
        [
            f"B027 spec.berthVersion: these files are for Berth 9.9.9; this is Berth {VERSION}. "
            "Install berth==9.9.9, or change berthVersion."
        ],
    ),
    "namespace-of-kubernetes": (
        {"clusters": [{"name": "a", "namespace": "kube-system"}], "namespace": "default"},
        [
            f'B019 spec.clusters.0.namespace: "kube-system" {NOT_OURS}',
            f'B019 spec.namespace: "default" {NOT_OURS}',
        ],
    ),
    "destinations": (
        {
            "clusters": [
                {"name": "a", "destination": {}},
                {"name": "b", "destination": {"server": "x", "name": "y"}},
            ]
        },
        [
            "B011 spec.clusters.0.destination: it says neither server nor name. Add one of the two.",
            "B016 spec.clusters.1.destination: server and name both say where it is. Keep one of the two.",
        ],
    ),
    "ceilings": (
        {
            "clusters": [
                {
                    "name": "a",
                    "ceilings": [
                        {"from": "2026-02-02"},
                        {"seats": {"small": -1}, "from": "2026-02-02", "until": "2026-02-01"},
                        {"requests": {"cpus": 1}, "from": "x", "until": "2026-02-01"},
                    ],
                }
            ]
        },
        [
            "B011 spec.clusters.0.ceilings.0: the ceiling limits nothing. Add seats or requests.",
            "B012 spec.clusters.0.ceilings.1.seats.small: -1 is below 0. Write a whole number from 0 up.",
            "B024 spec.clusters.0.ceilings.1.until: 2026-02-01 is before from 2026-02-02. "
            "Write a date on or after from.",
            'B022 spec.clusters.0.ceilings.2.requests.cpus @key: "cpus" is not a resource that a container '
            f"can request. {RESOURCE_RULE}",
            'B017 spec.clusters.0.ceilings.2.from: "x" is not a date. '
            "Write year-month-day, for instance 2026-02-28.",
        ],
    ),
    "pull-secrets": (
        {"images": {"pullSecrets": ["a", "A", "A", "a"]}},
        [
            *(
                f'B019 spec.images.pullSecrets.{i}: "A" is not a name that Kubernetes allows. '
                "Write at most 253 of a-z, 0-9, - and ., with a letter or digit at both ends of each part."
                for i in (1, 2)
            ),
            'B016 spec.images.pullSecrets.3: "a" stands twice. Remove one of the two.',
        ],
    ),
    "no-list-of-pull-secrets": (
        {"images": {"pullSecrets": "a"}},
        ['B013 spec.images.pullSecrets: "a" is not a list. Write a list: ["a"].'],
    ),
    "resources-of-jobs": (
        {"runtime": {"resources": {"requests": {"memory": "1Gi"}, "limits": {"memory": "64Mi"}}}},
        [
            "B016 spec.runtime.resources.limits.memory: the limit 64Mi is below the request 1Gi. "
            "Raise it, or remove it."
        ],
    ),
    "scaler": (
        {"scaler": {"stabilizationSeconds": 3601, "readyMinutes": -1}},
        [
            "B012 spec.scaler.stabilizationSeconds: 3601 is above 3600. Write a whole number from 0 to 3600.",
            "B012 spec.scaler.readyMinutes: -1 is below 0. Write a whole number from 0 to 180.",
        ],
    ),
    "renku": (
        {"renku": {"url": "ftp://renkulab.io", "tokenSecret": {"name": "Renku", "key": "to ken"}}},
        [
            'B034 spec.renku.url: "ftp://renkulab.io" is not the address of a web server. '
            "Write https:// and the name of the server, for instance https://renkulab.io.",
            'B019 spec.renku.tokenSecret.name: "Renku" is not a name that Kubernetes allows. '
            "Write at most 253 of a-z, 0-9, - and ., with a letter or digit at both ends of each part.",
            'B019 spec.renku.tokenSecret.key: "to ken" is not a key that a Secret may have. '
            "Write at most 253 letters, digits, -, _ and ., for instance token.",
        ],
    ),
    "renku-without-its-address": (
        {"renku": {"tokenSecret": {"key": "token"}}},
        [
            "B011 spec.renku.tokenSecret: name is missing. Add name: a DNS name.",
            "B011 spec.renku: url is missing. Add url: an address of a web server.",
        ],
    ),
    "engines": (
        {"engine": "argo", "clusters": [{"name": "a", "engine": {"type": "fluxcd"}}]},
        [
            'B014 spec.clusters.0.engine.type: "fluxcd" is not one of argocd, flux, none. Did you mean flux?',
            'B014 spec.engine: "argo" is not one of argocd, flux, none. Did you mean argocd?',
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("spec", "problems"), TOLD.values(), ids=TOLD)
def test_what_a_platform_team_is_told(spec: dict[str, object], problems: list[str]) -> None:
    assert [f"a.yaml {problem}" for problem in problems] == told(site(**spec))
