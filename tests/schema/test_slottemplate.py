"""`backend.template`, labels and annotations: nothing that would blind Koordinator's scheduler passes."""

from typing import Any

import pytest
from berth.backends.backendspec import BackendSpec
from berth.backends.koordinator.slotparts import SlotTemplate

from tests.saying import ask, said

GROUP = "scheduling.koordinator.sh"


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def rendered(made: SlotTemplate) -> dict[str, Any]:
    return {"metadata": made.named_metadata(), "spec": made.spec(), "ports": made.container_ports()}


def test_what_is_said_stands_where_a_pod_template_has_it() -> None:
    made, problems = ask(
        SlotTemplate,
        {
            "metadata": {"namespace": "lab", "labels": {"a": "b"}, "annotations": {"c": "any: text\n"}},
            "nodeName": "gpu-1",
            "nodeSelector": {"pool": "gpu"},
            "tolerations": [{"key": "gpu", "operator": "Exists"}],
            "affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": []}]}}},
            "topologySpreadConstraints": [
                {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
            ],
            "priorityClassName": "high",
            "priority": -5,
            "preemptionPolicy": "Never",
            "overhead": {"cpu": 1, "memory": "64Mi"},
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data", "readOnly": True}}],
            "ports": [{"hostPort": 8080}, {"hostPort": 53, "containerPort": 5353, "protocol": "UDP"}],
        },
    )

    assert [problem.split(" ")[0] for problem in problems] == ["B110"]
    assert rendered(made) == {
        "metadata": {"namespace": "lab", "labels": {"a": "b"}, "annotations": {"c": "any: text\n"}},
        "spec": {
            "nodeSelector": {"pool": "gpu"},
            "tolerations": ({"key": "gpu", "operator": "Exists"},),
            "affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": ({"matchExpressions": ()},)}}},
            "topologySpreadConstraints": (
                {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"},
            ),
            "nodeName": "gpu-1",
            "priority": -5,
            "priorityClassName": "high",
            "preemptionPolicy": "Never",
            "overhead": {"cpu": "1", "memory": "64Mi"},
            "volumes": ({"name": "data", "persistentVolumeClaim": {"claimName": "data", "readOnly": True}},),
        },
        "ports": (
            {"containerPort": 8080, "hostPort": 8080},
            {"containerPort": 5353, "hostPort": 53, "protocol": "UDP"},
        ),
    }


def test_what_is_empty_says_nothing() -> None:
    empty: dict[str, Any] = {
        "metadata": {},
        "nodeSelector": {},
        "volumes": [],
        "overhead": {},
        "tolerations": [],
    }

    assert rendered(ask(SlotTemplate, empty)[0]) == {"metadata": {}, "spec": {}, "ports": ()}


TOLD: dict[str, tuple[dict[str, Any], list[str]]] = {
    "keys-that-are-said-elsewhere": (
        {"containers": [], "spec": {"nodeName": "x"}},
        [f"B010 {key} @key" for key in ("containers", "spec")],
    ),
    "poison": (
        {
            "overhead": {"cpu": "1C", "memory": "-1Gi", "gpus": 1},
            "priority": "9000",
            "nodeName": 5,
            "tolerations": [{"key": "a", "effect": "NoExecute", "tolerationSeconds": "30"}],
            "nodeSelector": {"a": True},
        },
        [
            "B013 nodeName",
            "B013 nodeSelector.a",
            "B013 priority",
            "B013 tolerations.0.tolerationSeconds",
            "B022 overhead.cpu",
            "B022 overhead.gpus @key",
            "B022 overhead.memory",
        ],
    ),
    "a-class-of-priority-alone": ({"priorityClassName": "high"}, ["B029 priorityClassName @key"]),
    "claims-of-nowhere": (
        {"volumes": [{"name": "a", "persistentVolumeClaim": {"claimName": "a"}}], "metadata": {"labels": {}}},
        ["B011 volumes"],
    ),
    "volumes": (
        {
            "metadata": {"namespace": "lab"},
            "volumes": [
                {"name": "a", "persistentVolumeClaim": {"claimName": "a"}},
                {"name": "a", "persistentVolumeClaim": {"claimName": "b"}},
            ],
        },
        ["B016 volumes.1.name"],
    ),
    "volumes-of-another-kind": (
        {"metadata": {"namespace": "lab"}, "volumes": [{"name": "b", "emptyDir": {}}]},
        ["B010 volumes.0.emptyDir @key", "B011 volumes.0"],
    ),
    "ports": (
        {"ports": [{"hostPort": 0}, {"protocol": "UDP"}, {"hostPort": 1, "protocol": "tcp", "hostIP": "x"}]},
        ["B011 ports.1", "B012 ports.0.hostPort", "B014 ports.2.protocol", "B019 ports.2.hostIP"],
    ),
    "labels-of-the-slot-win": (
        {"metadata": {"labels": {"berth.dev/site": "x", "app.kubernetes.io/name": "y"}}},
        ["B023 metadata.labels.app.kubernetes.io/name @key", "B023 metadata.labels.berth.dev/site @key"],
    ),
}


@pytest.mark.parametrize(("written", "problems"), TOLD.values(), ids=TOLD)
def test_what_is_told_of_a_template(written: dict[str, Any], problems: list[str]) -> None:
    assert said(SlotTemplate, written) == problems


OF_THE_BACKEND = {
    f"{GROUP}/reservation-order": "order",
    f"{GROUP}/pre-allocation-required": "preAllocationRequired",
    f"{GROUP}/reservation-restricted-options": "restrictedResources",
    "koordinator.sh/priority": "priority",
}
OF_PODS = [
    f"{GROUP}/{name}"
    for name in (
        "reserve-pod",
        "reservation-name",
        "reservation-node",
        "is-pre-allocation",
        "reservation-allocated",
        "reservation-affinity",
        "exact-match-reservation",
        "reservation-ignored",
        "operating-mode",
        "reservation-owners",
        "reservation-current-owner",
    )
]
TRACKING = [
    "app.kubernetes.io/instance",
    "argocd.argoproj.io/tracking-id",
    "kustomize.toolkit.fluxcd.io/name",
    "helm.toolkit.fluxcd.io/namespace",
]


def of_both(key: str, value: str = "x") -> list[list[str]]:
    """What is told of a key as a label and as an annotation of the slot, and of its template."""
    both = [{where: {key: value}} for where in ("labels", "annotations")]
    on_object = [said(BackendSpec, {"type": "koordinator", **one}) for one in both]
    in_template = [said(SlotTemplate, {"metadata": one}) for one in both]
    return [[problem.replace("metadata.", "") for problem in told] for told in (*on_object, *in_template)]


@pytest.mark.parametrize("key", OF_THE_BACKEND)
def test_keys_that_have_a_field_are_refused(key: str) -> None:
    assert of_both(key) == [[f"B023 {where}.{key} @key"] for where in ("labels", "annotations")] * 2


@pytest.mark.parametrize("key", OF_PODS)
def test_keys_that_would_make_something_else_of_a_slot_are_refused(key: str) -> None:
    assert of_both(key) == [[f"B112 {where}.{key} @key"] for where in ("labels", "annotations")] * 2


@pytest.mark.parametrize("key", TRACKING)
def test_keys_by_which_an_engine_prunes_are_refused_on_the_slot_alone(key: str) -> None:
    on_object = [[f"B112 {where}.{key} @key"] for where in ("labels", "annotations")]

    assert of_both(key) == [*on_object, [], []]


def test_a_quota_would_be_charged_twice() -> None:
    key = "quota.scheduling.koordinator.sh/name"
    assert of_both(key) == [[f"B113 {where}.{key} @key"] for where in ("labels", "annotations")] * 2


def test_other_keys_are_the_authors() -> None:
    assert of_both(f"{GROUP}/disable-preemptible", "true") == [[]] * 4
    assert of_both("koordinator.sh/qosClass", "LSR") == [[]] * 4


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ('{"resources": {"cpu": "1", "memory": 1073741824}}', True),
        ('{"reservedCPUs": "0-3", "applyPolicy": "ReservedCPUsOnly"}', True),
        ("{}", True),
        ('{"resources": {"cpu": "1C"}}', False),
        ('{"resource": {"cpu": "1"}}', False),
        ("[]", False),
        ("1 cpu", False),
        ("", False),
        ("[" * 20000, False),
    ],
    ids=["amounts", "cpus", "nothing", "no-quantity", "misspelt", "list", "text", "empty", "deep"],
)
def test_what_is_held_back_inside_of_a_slot_is_json(text: str, good: bool) -> None:
    key = "node.koordinator.sh/reservation"
    told = said(BackendSpec, {"type": "koordinator", "annotations": {key: text}})

    assert [one.split(": ")[0] for one in told if not one.startswith("B020")] == (
        [] if good else [f"B114 annotations.{key}"]
    )


def test_annotations_are_not_too_large_together() -> None:
    told = said(SlotTemplate, {"metadata": {"annotations": {"a": "x" * 8192}}})

    assert told == ["B020 metadata.annotations"]
