"""Labels, selectors, affinity, wishes and taints: which pods find a machine, and which machine."""

import pytest
from berth.machines.estimate import NodePool, PreferredTerm
from berth.machines.nodelabels import (
    CAPACITY_TYPE,
    INSTANCE_TYPE,
    NODEPOOL,
    ZONE,
    Labels,
    Requirement,
    Taint,
    Toleration,
    requirement,
)

from tests.cases import tabled
from tests.machines.questions import ANY, ask, bought, left, machine, pod

KEY = "test-key"
LABELLED = ANY._replace(labels=((KEY, "test-value"),))
PREFER = Taint("soft", "", "PreferNoSchedule")


def zone(operator: str, *values: str) -> Requirement:
    return requirement(ZONE, operator, values)


@pytest.mark.parametrize(
    ("pool", "operator", "values", "placed"),
    [
        (ANY, "In", ["test-value"], False),
        (ANY, "NotIn", ["test-value"], True),
        (ANY, "Exists", [], False),
        (ANY, "DoesNotExist", [], True),
        (LABELLED, "In", ["test-value", "another-value"], True),
        (LABELLED, "In", ["another-value"], False),
        (LABELLED, "NotIn", ["test-value"], False),
        (LABELLED, "NotIn", ["another-value"], True),
        (LABELLED, "Exists", [], True),
        (LABELLED, "DoesNotExist", [], False),
    ],
)
def test_pods_are_placed_by_the_custom_labels_of_a_node_pool(
    pool: NodePool, operator: str, values: list[str], placed: bool
) -> None:
    answer = ask([pod(required=((requirement(KEY, operator, values),),))], [pool])

    assert bool(answer.bought) == placed
    assert left(answer) == ({} if placed else {"pod": (1, "pools")})


def test_pods_without_constraints_use_labeled_nodes() -> None:
    assert len(ask([pod()], [LABELLED]).bought) == 1


def test_compatible_pods_share_a_node_and_incompatible_pods_do_not() -> None:
    chooses = ANY._replace(requirements=(*ANY.requirements, requirement(KEY, "In", ("a", "b", "c"))))
    a, b, ab = (((requirement(KEY, "In", values),),) for values in (["a"], ["b"], ["a", "b"]))
    together = ask([pod("x", required=ab), pod("y", required=a)], [chooses])
    apart = ask([pod("x", required=a), pod("y", required=b)], [chooses])

    assert [len(together.bought), len(apart.bought)] == [1, 2]


def test_the_operator_exists_does_not_widen_a_chosen_label_value() -> None:
    chooses = ANY._replace(requirements=(*ANY.requirements, requirement(KEY, "In", ("a", "b"))))
    pods = [
        pod("x", required=((requirement(KEY, "In", ["a"]),),)),
        pod("y", required=((requirement(KEY, "Exists"),),)),
    ]

    assert len(ask(pods, [chooses]).bought) == 1


def test_a_label_restricted_by_not_in_is_defined_for_later_pods() -> None:
    """An odd consequence of Karpenter's rule: after a NotIn, the claim has something to say of the label."""
    first = pod("first", {"cpu": "1"}, required=((requirement(KEY, "NotIn", ["a"]),),))
    second = pod("second", {"cpu": "500m"}, required=((requirement(KEY, "In", ["b"]),),))

    assert [len(one.bought) for one in (ask([first, second]), ask([second]))] == [1, 0]
    assert len(ask([first, second]).left) == 0


@pytest.mark.parametrize(
    ("requirements", "node_selector", "expected"),
    [
        ((zone("In", "test-zone-2"),), (), "test-zone-2"),
        ((), ((ZONE, "test-zone-2"),), "test-zone-2"),
        ((zone("In", "test-zone-1"),), ((ZONE, "test-zone-2"),), None),
        ((), ((ZONE, "unknown"),), None),
        ((zone("NotIn", "test-zone-1", "test-zone-2", "unknown"),), (), "test-zone-3"),
    ],
    ids=["of-the-pool", "of-the-pod", "both-differ", "unknown", "not-in"],
)
def test_zones_of_node_pool_and_pod_decide_the_zone_of_the_machine(
    requirements: tuple[Requirement, ...], node_selector: Labels, expected: str | None
) -> None:
    pool = ANY._replace(requirements=(*ANY.requirements, *requirements))
    machines = ask([pod(node_selector=node_selector)], [pool]).bought

    assert [m.zone for m in machines] == ([] if expected is None else [expected])


@tabled("machines")
def test_numeric_bounds_select_instance_types(operator: str, value: str, types: list[str]) -> None:
    asked = requirement("integer", operator, (value,))
    of_pod = ask([pod(required=((asked,),))])
    of_pool = ask([pod()], [ANY._replace(requirements=(*ANY.requirements, asked))])

    assert [m.type for m in of_pod.bought] == [m.type for m in of_pool.bought] == types


@tabled("machines")
def test_labels_of_instance_types_select_the_type(selector: Labels, types: list[str]) -> None:
    assert [m.type for m in ask([pod(node_selector=selector)]).bought] == types


def test_an_optional_label_may_be_refused() -> None:
    answer = ask([pod(required=((requirement("special", "DoesNotExist"),),))])

    assert [m.type for m in answer.bought] == ["small-instance-type"]


def test_required_terms_are_tried_in_order_and_the_last_one_remains() -> None:
    one_of = (
        (zone("In", "invalid"),),
        (zone("In", "invalid"),),
        (zone("In", "test-zone-1"),),
        (zone("In", "x"),),
    )

    assert [m.zone for m in ask([pod(required=one_of)]).bought] == ["test-zone-1"]
    assert left(ask([pod(required=((zone("In", "invalid"),),))])) == {"pod": (1, "pools")}


WISHES = {
    "all-in-vain": ((1, zone("In", "invalid")), (1, requirement(INSTANCE_TYPE, "In", ("invalid",)))),
    "the-heavier-first": (
        (1, zone("In", "test-zone-1")),
        (50, zone("In", "test-zone-2")),
        (100, requirement(INSTANCE_TYPE, "In", ("test-zone-3",))),
    ),
}


@pytest.mark.parametrize(
    ("wishes", "expected"), [("all-in-vain", None), ("the-heavier-first", "test-zone-2")]
)
def test_unsatisfiable_preferences_are_dropped_and_the_heaviest_one_wins(
    wishes: str, expected: str | None
) -> None:
    preferred = tuple(PreferredTerm(weight, (asked,)) for weight, asked in WISHES[wishes])
    machines = ask([pod(preferred=preferred)]).bought

    assert len(machines) == 1
    assert expected in (None, machines[0].zone)


def test_a_preference_that_contradicts_a_requirement_is_dropped() -> None:
    preferred = (PreferredTerm(1, (zone("NotIn", "test-zone-3"),)),)
    answer = ask([pod(required=((zone("In", "test-zone-3"),),), preferred=preferred)])

    assert [m.zone for m in answer.bought] == ["test-zone-3"]


@pytest.mark.parametrize(
    ("toleration", "placed"),
    [
        (None, False),
        (Toleration("test-key", "Equal", "test-value", "NoSchedule"), True),
        (Toleration("test-key", "Exists", "", "NoSchedule"), True),
        (Toleration("test-key", "Exists"), True),
        (Toleration("", "Exists"), True),
        (Toleration("unknown", "Exists"), False),
        (Toleration("test-key", "Equal", "other"), False),
        (Toleration("test-key", "Exists", "", "NoExecute"), False),
    ],
)
def test_taints_of_a_node_pool_need_a_toleration(toleration: Toleration | None, placed: bool) -> None:
    pool = ANY._replace(taints=(Taint("test-key", "test-value"),))
    answer = ask([pod(tolerations=() if toleration is None else (toleration,))], [pool])

    assert bool(answer.bought) == placed
    assert left(answer) == ({} if placed else {"pod": (1, "pools")})


def test_a_node_pool_tainted_prefer_no_schedule_is_used_last() -> None:
    soft = ANY._replace(name="soft", taints=(PREFER,))

    assert [m.pool for m in ask([pod()], [soft]).bought] == ["soft"]
    assert [m.pool for m in ask([pod()], [soft, ANY]).bought] == ["default"]


def test_preferences_are_dropped_before_a_prefer_no_schedule_taint_is_tolerated() -> None:
    soft = ANY._replace(name="soft", taints=(PREFER,), weight=10)
    wish = (PreferredTerm(1, (requirement(NODEPOOL, "In", ("soft",)),)),)

    assert [m.pool for m in ask([pod(preferred=wish)], [soft, ANY]).bought] == ["default"]


@tabled("machines")
def test_the_node_pool_of_the_highest_weight_and_first_name_wins(
    weights: dict[str, int], expected: str
) -> None:
    pools = [ANY._replace(name=name, weight=weight) for name, weight in weights.items()]

    assert [m.pool for m in ask([pod()], pools).bought] == [expected]


def test_a_pod_may_choose_a_pool_of_less_weight() -> None:
    pools = [ANY._replace(name="a", weight=1), ANY._replace(name="b", weight=100)]

    assert [m.pool for m in ask([pod(node_selector=((NODEPOOL, "a"),))], pools).bought] == ["a"]


def test_the_next_pool_is_used_when_the_first_has_nothing_large_enough() -> None:
    first = ANY._replace(name="first", weight=9, types=(machine("tiny", {"cpu": "1"}),))
    answer = ask([pod("big", {"cpu": "3"}), pod("little", {"cpu": "500m"})], [first, ANY])

    assert [(m.pool, m.seats) for m in answer.bought] == [("default", (("big", 1), ("little", 1)))]


def test_capacity_types_of_node_pool_and_pod_must_match() -> None:
    spot = NodePool("spot", (requirement(CAPACITY_TYPE, "In", ("spot",)),))

    assert bought(ask([pod(node_selector=((CAPACITY_TYPE, "spot"),))], [spot])) == [
        ("small-instance-type", "test-zone-1", 1)
    ]
    assert left(ask([pod(node_selector=((CAPACITY_TYPE, "on-demand"),))], [spot])) == {"pod": (1, "pools")}
