"""What is said to autoscalers: versions, gates, and words in places where they are read."""

import pytest

from gen.checks import autoscalers
from tests.checks.clouds import KARPENTER, RESERVED, of_cloud, of_documents, sound
from tests.saying import Value, resource_class, site


def has(version: str, **gates: bool) -> Value:
    return {**KARPENTER, "karpenter": {"version": version, "gates": gates}}


OLD = "does not know reserved machines. Use Karpenter 1.6 or later."
OFF = "B156 spec.reservations: reserved machines need the gate ReservedCapacity, which"
ON = "Switch it on, and write karpenter.gates.ReservedCapacity: true"
RESERVED_CAPACITY: dict[str, tuple[Value, list[str]]] = {
    "nothing-said": (KARPENTER, []),
    "newest": (has("1.14"), []),
    "on-by-itself": (has("1.6"), []),
    "off-by-itself": (
        has("1.5"),
        [f"{OFF} is off in Karpenter 1.5 unless it is switched on. {ON} for cluster prod."],
    ),
    "switched-on": (has("1.3", ReservedCapacity=True), []),
    "switched-off": (
        has("1.14", ReservedCapacity=False),
        [f"{OFF} cluster prod has off. {ON} in the Site."],
    ),
    "before-its-time": (has("1.2"), [f"B156 spec.reservations: Karpenter 1.2 in cluster prod {OLD}"]),
}


@pytest.mark.parametrize(("cluster", "problems"), RESERVED_CAPACITY.values(), ids=RESERVED_CAPACITY)
def test_reserved_machines_need_a_gate(cluster: Value, problems: list[str]) -> None:
    assert of_cloud(cluster=cluster, reservations=[RESERVED]) == problems
    assert of_cloud(cluster=cluster) == []


@pytest.mark.parametrize(
    ("cluster", "there"),
    [
        *((cluster, not problems) for cluster, problems in RESERVED_CAPACITY.values()),
        (has("1.2", ReservedCapacity=True), False),
    ],
    ids=[*RESERVED_CAPACITY, "switched-on-before-its-time"],
)
def test_whoever_plans_knows_it_too(cluster: Value, there: bool) -> None:
    _, known = sound(site(cluster))

    assert autoscalers.has_feature("reserved", known.clusters[0]) == there


BY_LUCK = (
    "B158 spec.capacityTypes: capacityTypes has no reserved: its 4 reserved machines are paid for, and the "
    "Karpenter of cluster prod uses them only by luck, where they are open and an on-demand machine fits. "
    "Use Karpenter 1.6 or later with the gate ReservedCapacity, and add reserved to capacityTypes; or remove "
    "the reservations."
)
NEVER = (
    "B158 spec.capacityTypes: capacityTypes has no reserved: its 4 reserved machines stay idle and are paid "
    "for, for Karpenter launches nothing into a reservation by luck. Add reserved to capacityTypes, or "
    "remove the reservations."
)


@pytest.mark.parametrize(
    ("cluster", "problem"),
    [
        (has("1.2"), BY_LUCK),
        (has("1.5"), BY_LUCK),
        (has("1.14", ReservedCapacity=False), BY_LUCK),
        (has("1.5", ReservedCapacity=True), NEVER),
        (has("1.6"), NEVER),
        (KARPENTER, NEVER),
    ],
    ids=["too-old", "off-by-itself", "switched-off", "switched-on", "on-by-itself", "nothing-said"],
)
def test_what_is_not_wished_for_is_used_by_luck_at_most(cluster: Value, problem: str) -> None:
    assert of_cloud(cluster=cluster, capacityTypes=["on-demand"], reservations=[RESERVED]) == [problem]


def test_some_words_came_later() -> None:
    soon: Value = {"reservations": [{**RESERVED, "type": "interruptible"}]}
    balanced: Value = {"disruption": {"consolidationPolicy": "Balanced"}}

    assert [one[:4] for one in of_cloud(cluster=has("1.10"), **soon)] == ["B179"]
    assert of_cloud(cluster=has("1.9"), **soon)[0] == (
        "B156 spec.reservations.0.type: Karpenter 1.9 in cluster prod does not know interruptible "
        "reservations. Use Karpenter 1.10 or later."
    )
    assert of_cloud(cluster=has("1.14"), **balanced) == []
    assert of_cloud(cluster=has("1.13"), **balanced) == [
        "B156 spec.disruption.consolidationPolicy: Karpenter 1.13 in cluster prod does not know "
        "consolidationPolicy Balanced. Use Karpenter 1.14 or later."
    ]


def of_site(*clusters: Value) -> list[str]:
    return of_documents(site(*clusters))


def test_gates_are_those_of_the_version() -> None:
    assert of_site(has("1.8", StaticCapacity=True)) == []
    assert of_site(has("1.13", CapacityBuffer=False)) == [
        "B156 spec.clusters.0.karpenter.gates.CapacityBuffer @key: the gate CapacityBuffer came with "
        "Karpenter 1.14; 1.13 does not start with it. Use Karpenter 1.14, or remove the gate."
    ]


def test_who_speaks_of_karpenter_has_it() -> None:
    assert of_site({"name": "prod", "karpenter": {}}) == [
        "B157 spec.clusters.0.karpenter @key: the autoscaler of cluster prod is none, not karpenter. "
        "Write autoscaler: karpenter, or remove this."
    ]


def test_buffers_are_no_placeholders() -> None:
    assert of_site(has("1.14", CapacityBuffer=False)) == []
    assert of_site(has("1.14", CapacityBuffer=True)) == [
        "B178 spec.clusters.0.karpenter.gates.CapacityBuffer: a CapacityBuffer holds room for nobody, fills "
        "up again as sessions arrive, and knows no windows; in Karpenter Provisioning=True says that it fits "
        "on nodes that stand, in cluster-autoscaler that nodes are asked for. For the same seats use "
        "placeholders or a buffer, not both; judge a buffer by its reason."
    ]


def test_do_not_disrupt_is_no_label() -> None:
    assert of_documents(site(), resource_class(podLabels={"karpenter.sh/do-not-disrupt": "true"})) == [
        "B176 spec.podLabels.karpenter.sh/do-not-disrupt @key: karpenter.sh/do-not-disrupt is an annotation: "
        "as a label of pods it does nothing. Remove it: windows hold their nodes by budgets."
    ]


def test_cluster_autoscaler_knows_no_wish_for_even_spread() -> None:
    hard = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    found = resource_class(topologySpreadConstraints=[hard, {**hard, "whenUnsatisfiable": "ScheduleAnyway"}])

    assert of_documents(site(KARPENTER), found) == []
    assert of_documents(site({"name": "prod", "autoscaler": "cluster-autoscaler"}), found) == [
        "B185 spec.topologySpreadConstraints.1.whenUnsatisfiable: cluster-autoscaler does not look at "
        "ScheduleAnyway, and sessions take no placeholder's room for it: seats may stand unevenly. "
        "Write DoNotSchedule where it matters."
    ]
