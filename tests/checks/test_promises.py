"""What Koordinator cannot promise: told where it is so, and nowhere else."""

from typing import Any

import pytest

from gen.checks.slotchecks import limits_of_reservation, of_classes, of_profiles, of_sizes
from tests.saying import Value, lines, read, reservation, resource_class, site

HUB = {"source": "jupyterhub", "namespaces": ["hub"], "selector": {"matchLabels": {"size": "small"}}}
NODE = {"nodeSelector": {"kubernetes.io/hostname": "gpu-1"}}


def told(
    backend: dict[str, Any], cluster: Value | None = None, count: int = 5, **spec: Any
) -> tuple[list[str], list[str]]:
    """What is said of the class, and of the reservation."""
    spec = {"schedulerName": "koord-scheduler", **spec}
    standing: Value = {"recurrence": None} if backend.get("standing") else {}
    provisioning: Value = {"placeholderCount": count}
    if not standing:
        provisioning["scaleDownBehavior"] = "none"
    found = read(
        resource_class(sessions=HUB, **{key: value for key, value in spec.items() if value}),
        reservation(backend=backend, provisioning=provisioning, **standing),
        site({"name": "prod", "koordinator": {}, **(cluster or {})}),
    )
    assert [one.message for one in found.problems if one.code not in ("B119",)] == []
    assert found.site is not None
    (one,) = found.reservations
    return lines(of_classes(found, found.site)), lines(limits_of_reservation(one, found, found.site))


KOORDINATOR = {"type": "koordinator"}
NO_NODES = (
    "B140 spec.backend: karpenter in cluster prod does not see slots: it adds no node for one that waits, "
    "and takes away a node that has nothing else. "
)


def test_an_autoscaler_adds_no_nodes_for_slots() -> None:
    assert told(KOORDINATOR, {"autoscaler": "karpenter"}) == (
        [],
        [f"{NO_NODES}Write withPlaceholders: true: placeholders come first and make it add nodes."],
    )
    assert told({**KOORDINATOR, "standing": True}, {"autoscaler": "karpenter"}) == (
        [],
        [
            f"{NO_NODES}Keep nodes for them (a node group of a fixed size), and annotate berth.dev/ignore "
            "with the reason."
        ],
    )


@pytest.mark.parametrize(
    ("backend", "autoscaler"),
    [
        (KOORDINATOR, "none"),
        ({**KOORDINATOR, "withPlaceholders": True}, "karpenter"),
        ({"type": "placeholder"}, "karpenter"),
    ],
    ids=["no-autoscaler", "placeholders-come-first", "placeholders-alone"],
)
def test_where_nodes_come_nothing_is_told(backend: dict[str, Any], autoscaler: str) -> None:
    assert told(backend, {"autoscaler": autoscaler}) == ([], [])


FIX = (
    "Write schedulerName: koord-scheduler, if its sessions have it; or, where Koordinator may change pods "
    "(koordinator.colocationProfiles), sessionAffinity: true in the reservation."
)


def test_sessions_of_another_scheduler_see_no_slots() -> None:
    assert told(KOORDINATOR, schedulerName="kube") == (
        [
            "B141 spec.schedulerName: its sessions are placed by kube: only koord-scheduler knows the slots "
            f"of reservation course. {FIX}"
        ],
        [],
    )
    assert told(KOORDINATOR, schedulerName=None) == (
        [
            "B141 spec: it does not say which scheduler places its sessions: only koord-scheduler knows the "
            f"slots of reservation course. {FIX}"
        ],
        [],
    )


@pytest.mark.parametrize(
    ("backend", "cluster", "scheduler"),
    [
        (KOORDINATOR, {}, "koord-scheduler"),
        (KOORDINATOR, {"koordinator": {"schedulerName": "ours"}}, "ours"),
        ({**KOORDINATOR, "sessionAffinity": True}, {"koordinator": {"colocationProfiles": True}}, None),
        ({"type": "placeholder"}, {}, None),
    ],
    ids=["koordinators", "koordinators-by-another-name", "sent-by-a-profile", "no-slots"],
)
def test_sessions_that_see_slots_are_in_order(
    backend: dict[str, Any], cluster: Value, scheduler: str | None
) -> None:
    assert told(backend, cluster, schedulerName=scheduler) == ([], [])


def test_two_flags_make_no_profile() -> None:
    """Where the webhook cannot tell the pods by labels, people have to lead them."""
    backend = {**KOORDINATOR, "sessionAffinity": True, "owners": [{"object": {"namespace": "lab"}}]}

    assert told(backend, {"koordinator": {"colocationProfiles": True}}, schedulerName=None) == (
        [
            "B141 spec: it does not say which scheduler places its sessions: only koord-scheduler knows the "
            "slots of reservation course. Write schedulerName: koord-scheduler, if its sessions have it: "
            "ConfigMap course-session-affinity has what gives it to them."
        ],
        [],
    )


ML: Value = {"labelSelector": {"matchLabels": {"course": "ml"}}}
HERE, THERE = ({**ML, "object": {"namespace": name}} for name in ("here", "there"))


def met(
    first: list[Value], second: list[Value], cluster: Value | None = None, *, affinity: bool = True
) -> list[str]:
    """What is told of two reservations with these owners."""
    made = [
        reservation(name, backend={**KOORDINATOR, "owners": owners, "sessionAffinity": wanted})
        for name, owners, wanted in (("monday", first, True), ("thursday", second, affinity))
    ]
    profiles = {"koordinator": {"colocationProfiles": True}}
    found = read(
        resource_class(schedulerName="koord-scheduler"),
        *made,
        site({"name": "prod", **(cluster or profiles)}),
    )
    assert found.site is not None
    return lines(of_profiles(found, found.site))


@pytest.mark.parametrize(
    ("first", "second"),
    [([ML], [ML]), ([ML], [HERE]), ([HERE], [ML]), ([HERE, THERE], [THERE])],
    ids=["everywhere", "all-of-one", "one-of-all", "one-in-common"],
)
def test_the_same_pods_are_led_to_one_pool_alone(first: list[Value], second: list[Value]) -> None:
    assert met(first, second) == [
        "B120 spec.backend.sessionAffinity: the same pods would be led to the slots of class small and to "
        "those of class small of reservation monday: each requires the slots of one alone, and waits while "
        "only the other has some. Give each owners of its own (a label that only its sessions have), or "
        "remove one sessionAffinity."
    ]


def test_other_pods_and_other_ways_are_no_conflict() -> None:
    other = {"labelSelector": {"matchLabels": {"course": "ai"}}}

    assert met([ML], [other]) == met([HERE], [THERE]) == met([ML], [ML], affinity=False) == []
    assert met([ML], [ML], {"koordinator": {}}) == []  # people lead them, one by one


def test_more_slots_on_one_node_than_it_takes_pods() -> None:
    message = (
        "111 slots of class small are to be on node {}: each takes the place of a pod, and a node has 110 "
        "unless its kubelet says otherwise. Spread them over several nodes, or make sure of the kubelet's "
        "maxPods."
    )

    assert told({**KOORDINATOR, "template": {"nodeName": "big"}}, count=111) == (
        [],
        [f"B142 spec.backend.template: {message.format('big')}"],
    )
    assert told(KOORDINATOR, count=111, **NODE) == ([], [f"B142 spec.backend: {message.format('gpu-1')}"])
    assert told(KOORDINATOR, count=110, **NODE) == told(KOORDINATOR, count=111) == ([], [])


LARGEST: Value = {"name": "prod", "koordinator": {}, "largestNode": {"cpu": 4, "memory": "16Gi"}}


def sizes(backend: dict[str, Any], **requests: str) -> list[str]:
    """What is told of a class that requests so much, and of the slots of its reservation."""
    found = read(
        resource_class(requests=requests, sessions=HUB, schedulerName="koord-scheduler"),
        reservation(backend=backend),
        site(LARGEST),
    )
    assert found.site is not None
    (one,) = found.reservations
    return lines(of_sizes(found, found.site)) + lines(limits_of_reservation(one, found, found.site))


@pytest.mark.parametrize("backend", [KOORDINATOR, {"type": "placeholder"}], ids=["slots", "placeholders"])
def test_a_seat_that_is_larger_than_the_largest_node(backend: dict[str, Any]) -> None:
    assert (
        sizes(backend, cpu="4", memory="16Gi") == sizes(backend, **{"cpu": "1", "nvidia.com/gpu": "9"}) == []
    )
    assert sizes(backend, cpu="4001m", memory="16Gi") == [
        "B143 spec.requests.cpu: 4001m of cpu fits on no node: the largest has 4 for pods. "
        "Ask for less, or correct largestNode of the cluster in the Site."
    ]


def test_a_slot_that_is_larger_than_the_largest_node() -> None:
    def with_overhead(memory: str) -> dict[str, Any]:
        return {**KOORDINATOR, "template": {"overhead": {"memory": memory}}}

    assert sizes(with_overhead("1Gi"), cpu="1", memory="15Gi") == []
    assert sizes(with_overhead("2Gi"), cpu="1", memory="15Gi") == [
        "B143 spec.backend.template.overhead.memory: 15Gi + 2Gi of memory fits on no node: the largest has "
        "16Gi for pods. Ask for less, or correct largestNode of the cluster in the Site."
    ]
