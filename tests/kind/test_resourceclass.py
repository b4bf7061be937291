"""`ResourceClass`: the shape of a seat, and how its sessions are recognised."""

from typing import Any

import pytest

from gen.model import ClassSessions, Origin, ResourceClass
from tests.saying import read, resource_class, site, told

RENKU = {"source": "renku", "namespaces": ["renku"]}


def made(**spec: Any) -> ResourceClass:
    declared = read(site(), resource_class(**spec))
    assert declared.problems == []
    return declared.classes["small"]


def test_whatever_is_left_out_has_its_default() -> None:
    assert made(requests={"cpu": "1", "memory": "4Gi"}, sessions=None) == ResourceClass(
        origin=Origin("b.yaml", 0),
        name="small",
        cluster="",
        renku_id=None,
        requests=(("cpu", "1"), ("memory", "4Gi")),
        limits=(),
        pod={},
        pod_labels=(),
        sessions=None,
    )


def test_every_field_can_be_written() -> None:
    term = {"topologyKey": "a", "labelSelector": {"matchLabels": {"b": "c"}}}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    spread = {"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "ScheduleAnyway"}
    found = made(
        cluster="prod",
        renkuId=12,
        requests={"cpu": 4, "memory": "32Gi", "nvidia.com/gpu": 1},
        limits={"memory": "33Gi"},
        nodeSelector={"pool": "gpu"},
        tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        affinity=affinity,
        topologySpreadConstraints=[spread],
        schedulerName="koord-scheduler",
        podLabels={"example.org/team": "ml", "app.kubernetes.io/component": "seat"},
        sessions={**RENKU, "selector": {"matchLabels": {}}},
    )

    assert found == ResourceClass(
        origin=Origin("b.yaml", 0),
        name="small",
        cluster="prod",
        renku_id=12,
        requests=(("cpu", "4"), ("memory", "32Gi"), ("nvidia.com/gpu", "1")),
        limits=(("memory", "33Gi"), ("nvidia.com/gpu", "1")),
        pod={
            "nodeSelector": {"pool": "gpu"},
            "tolerations": ({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},),
            "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": (term,)}},
            "topologySpreadConstraints": (spread,),
            "schedulerName": "koord-scheduler",
        },
        pod_labels=(("example.org/team", "ml"), ("app.kubernetes.io/component", "seat")),
        sessions=ClassSessions("renku", ("renku",), {"matchLabels": {}}, {}),
    )


def test_sessions_of_any_other_kind_are_told_by_their_place_in_the_api() -> None:
    custom = {
        "source": "custom",
        "namespaces": ["a", "b"],
        "group": "kubeflow.org",
        "version": "v1",
        "resource": "notebooks",
        "matchAnnotations": {"example.org/class": "small"},
        "inactive": [{"path": "spec.suspend", "values": ["true"]}],
    }

    assert made(sessions=custom).sessions == ClassSessions(
        "custom",
        ("a", "b"),
        {},
        {
            "group": "kubeflow.org",
            "version": "v1",
            "resource": "notebooks",
            "matchAnnotations": {"example.org/class": "small"},
            "inactive": ({"path": "spec.suspend", "values": ("true",)},),
        },
    )
    core = made(sessions={"source": "custom", "namespaces": ["a"], "version": "v1", "resource": "pods"})
    assert core.sessions == ClassSessions("custom", ("a",), {}, {"version": "v1", "resource": "pods"})


TOLD = {
    "no-requests": (
        {"requests": {}},
        ["B012 spec.requests: the mapping is empty. Write at least one key."],
    ),
    "requests-missing": (
        {"requests": None},
        ["B011 spec: requests is missing. Add requests: a mapping."],
    ),
    "our-labels": (
        {"podLabels": {"berth.dev/site": "x", "app.kubernetes.io/part-of": "x"}, "requests": {"gpu": 1}},
        [
            'B022 spec.requests.gpu @key: "gpu" is not a resource that a container can request. '
            "Write cpu, memory, ephemeral-storage, or a device such as nvidia.com/gpu.",
            'B023 spec.podLabels.berth.dev/site @key: "berth.dev/site" is set by Berth itself. Remove it.',
            'B023 spec.podLabels.app.kubernetes.io/part-of @key: "app.kubernetes.io/part-of" '
            "is set by Berth itself. Remove it.",
        ],
    ),
    "amounts": (
        {"requests": {"cpu": 2, "nvidia.com/gpu": 0.5}, "limits": {"cpu": 1}},
        [
            "B016 spec.limits.cpu: the limit 1 is below the request 2. Raise it, or remove it.",
            "B016 spec.requests.nvidia.com/gpu: 0.5 is no whole number of devices. Write a whole number.",
        ],
    ),
    "sessions-without-namespaces": (
        {"sessions": {"source": "renku"}},
        ["B011 spec.sessions: namespaces is missing. Add namespaces: a list."],
    ),
    "sessions-in-no-namespace": (
        {"sessions": {"source": "slurm", "namespaces": []}},
        [
            'B014 spec.sessions.source: "slurm" is not one of renku, jupyterhub, pods, custom. '
            "Write one of renku, jupyterhub, pods, custom.",
            "B012 spec.sessions.namespaces: the list is empty. Write at least one item.",
        ],
    ),
    "custom-without-a-place": (
        {"sessions": {"source": "custom", "namespaces": ["a"], "group": "kubeflow.org"}},
        [
            "B011 spec.sessions: source custom needs version. Add version: a DNS name.",
            "B011 spec.sessions: source custom needs resource. Add resource: a DNS name.",
        ],
    ),
    "renku-without-its-id": (
        {"sessions": RENKU},
        [
            "B011 spec: source renku needs renkuId: Renku's sessions name their class by it. "
            "Add renkuId: the id of the class in Renku."
        ],
    ),
    "renku-with-an-id-that-is-none": (
        {"sessions": RENKU, "renkuId": "x"},
        ['B013 spec.renkuId: "x" is not a whole number from 0 up. Write a whole number from 0 up.'],
    ),
    "a-place-without-custom": (
        {"renkuId": 5, "sessions": {**RENKU, "group": "a", "inactive": []}},
        [
            "B016 spec.sessions.group @key: this key belongs to source custom. "
            "Remove it, or write source: custom.",
            "B016 spec.sessions.inactive @key: this key belongs to source custom. "
            "Remove it, or write source: custom.",
        ],
    ),
    "renku-id": (
        {"renkuId": -1},
        ["B012 spec.renkuId: -1 is below 0. Write a whole number from 0 up."],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("spec", "problems"), TOLD.values(), ids=TOLD)
def test_what_is_told_of_a_class(spec: dict[str, Any], problems: list[str]) -> None:
    assert [f"a.yaml {problem}" for problem in problems] == told(resource_class(**spec), site())
