"""`backend.template`, labels and annotations: nothing that would blind Koordinator's scheduler passes."""

from typing import Any

import pytest

from gen.kind.backend import BACKEND
from gen.kind.slottemplate import TEMPLATE, template
from tests.saying import ask, said

GROUP = "scheduling.koordinator.sh"


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def test_what_is_said_stands_where_a_pod_template_has_it() -> None:
    made, problems = ask(
        TEMPLATE,
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
    assert template(made) == {
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

    assert template(ask(TEMPLATE, empty)[0]) == template(None) == {"metadata": {}, "spec": {}}


TOLD: dict[str, tuple[dict[str, Any], list[str]]] = {
    "keys-that-are-said-elsewhere": (
        {"containers": [], "spec": {"nodeName": "x"}},
        [
            f"B010 {key} @key: this key is unknown. Known here: metadata, nodeName, nodeSelector, "
            "tolerations, affinity, topologySpreadConstraints, priority, priorityClassName, "
            "preemptionPolicy, overhead, volumes, ports."
            for key in ("containers", "spec")
        ],
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
            'B022 overhead.cpu: "1C" is not a quantity that Kubernetes reads. '
            'Write a number with a unit, for instance "500m", "2" or "4Gi".',
            'B022 overhead.memory: "-1Gi" is negative. Write 0 or more.',
            'B022 overhead.gpus @key: "gpus" is not a resource that a container can request. '
            "Write cpu, memory, ephemeral-storage, or a device such as nvidia.com/gpu.",
            'B013 priority: "9000" is not a whole number from -2147483648 to 2147483647. '
            "Write it without quotes: 9000.",
            'B013 nodeName: 5 is a number, not a node name. Write it in quotes: "5".',
            'B013 tolerations.0.tolerationSeconds: "30" is not a whole number from -2147483648 to '
            "2147483648. Write it without quotes: 30.",
            'B013 nodeSelector.a: true is a truth value, not a label value. Write it in quotes: "true".',
        ],
    ),
    "a-class-of-priority-alone": (
        {"priorityClassName": "high"},
        [
            "B029 priorityClassName @key: the name of a class gives a Reservation no priority. "
            "Remove it, or add priority: the value of the class."
        ],
    ),
    "claims-of-nowhere": (
        {"volumes": [{"name": "a", "persistentVolumeClaim": {"claimName": "a"}}], "metadata": {"labels": {}}},
        [
            "B011 volumes: claims are looked for in namespace default. "
            "Add metadata.namespace: where the claims are."
        ],
    ),
    "volumes": (
        {
            "metadata": {"namespace": "lab"},
            "volumes": [
                {"name": "a", "persistentVolumeClaim": {"claimName": "a"}},
                {"name": "a", "persistentVolumeClaim": {"claimName": "b"}},
                {"name": "b", "emptyDir": {}},
            ],
        },
        [
            "B010 volumes.2.emptyDir @key: this key is unknown. Known here: name, persistentVolumeClaim.",
            "B011 volumes.2: persistentVolumeClaim is missing. Add persistentVolumeClaim: a mapping.",
            "B016 volumes.1.name: a stands twice. Rename one of the two.",
        ],
    ),
    "ports": (
        {"ports": [{"hostPort": 0}, {"protocol": "UDP"}, {"hostPort": 1, "protocol": "tcp", "hostIP": "x"}]},
        [
            "B012 ports.0.hostPort: 0 is below 1. Write a whole number from 1 to 65535.",
            "B011 ports.1: hostPort is missing. Add hostPort: a whole number from 1 to 65535.",
            'B014 ports.2.protocol: "tcp" is not one of TCP, UDP, SCTP. Did you mean TCP?',
            'B019 ports.2.hostIP: "x" is not an IP address. Write one such as 10.0.0.5.',
        ],
    ),
    "labels-of-the-slot-win": (
        {"metadata": {"labels": {"berth.dev/site": "x", "app.kubernetes.io/name": "y"}}},
        [
            'B023 metadata.labels.berth.dev/site @key: "berth.dev/site" is set by Berth itself. Remove it.',
            'B023 metadata.labels.app.kubernetes.io/name @key: "app.kubernetes.io/name" is set by Berth '
            "itself. Remove it.",
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("written", "problems"), TOLD.values(), ids=TOLD)
def test_what_is_told_of_a_template(written: dict[str, Any], problems: list[str]) -> None:
    assert said(TEMPLATE, written) == problems


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
    on_object = [said(BACKEND, {"type": "koordinator", **one}) for one in both]
    in_template = [said(TEMPLATE, {"metadata": one}) for one in both]
    return [[problem.replace("metadata.", "") for problem in told] for told in (*on_object, *in_template)]


@pytest.mark.parametrize(("key", "field"), OF_THE_BACKEND.items())
def test_keys_that_have_a_field_are_refused(key: str, field: str) -> None:
    rest = f"{key} @key: {key} is set by Berth itself. Write backend.{field} instead."

    assert of_both(key) == [[f"B023 {where}.{rest}"] for where in ("labels", "annotations")] * 2


@pytest.mark.parametrize("key", OF_PODS)
def test_keys_that_would_make_something_else_of_a_slot_are_refused(key: str) -> None:
    rest = f"{key} belongs on pods or to Koordinator, and means something else on a slot. Remove it."

    assert of_both(key) == [[f"B112 {where}.{key} @key: {rest}"] for where in ("labels", "annotations")] * 2


@pytest.mark.parametrize("key", TRACKING)
def test_keys_by_which_an_engine_prunes_are_refused_on_the_slot_alone(key: str) -> None:
    rest = f"by {key} an engine knows what is its own: it would remove the slots of a window. Remove it."
    on_object = [[f"B112 {where}.{key} @key: {rest}"] for where in ("labels", "annotations")]

    assert of_both(key) == [*on_object, [], []]


def test_a_quota_would_be_charged_twice() -> None:
    key = "quota.scheduling.koordinator.sh/name"
    rest = (
        f"{key} charges a slot to a quota, and the session that takes it once more. "
        "Remove it, unless the quota has room for both."
    )

    assert of_both(key) == [[f"B113 {where}.{key} @key: {rest}"] for where in ("labels", "annotations")] * 2


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
    told = said(BACKEND, {"type": "koordinator", "annotations": {key: text}})

    assert [one.split(": ")[0] for one in told if not one.startswith("B020")] == (
        [] if good else [f"B114 annotations.{key}"]
    )
    assert all(
        one.endswith("""Write JSON such as '{"resources": {"cpu": "1"}}'.""") for one in told if "B114" in one
    )


def test_annotations_are_not_too_large_together() -> None:
    told = said(TEMPLATE, {"metadata": {"annotations": {"a": "x" * 8192}}})

    assert told == [
        "B020 metadata.annotations: the annotations have more than 8 KiB. "
        "Shorten them: they stand on every object."
    ]
