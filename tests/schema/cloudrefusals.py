"""Cloud capacities that `berth validate` refuses; tests/e2e/observed.md says who refuses them, too."""

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

from berth.findings import Origin
from berth.schema.cloudcapacity import CloudCapacity
from berth.schema.cloudmachines import MachineReservation
from berth.schema.nodeclass import NodeClass
from berth.schema.nodepoolparts import Disruption, NodeTaint, PoolRequirement

from tests.built import built

Document = dict[str, Any]
Change = Callable[[Document], object]
SPEC: Document = {
    "nodeClass": {
        "role": "KarpenterNodeRole-prod",
        "subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": "prod"}}],
        "securityGroupSelectorTerms": [{"tags": {"karpenter.sh/discovery": "prod"}}],
        "amiSelectorTerms": [{"alias": "al2023@v20260107"}],
    },
    "reservations": [
        {
            "id": "cr-0123456789abcdef0",
            "instanceType": "m5.xlarge",
            "zone": "us-east-1a",
            "count": 4,
        }
    ],
    "capacityTypes": ["reserved", "on-demand"],
    "requirements": [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["m5.xlarge"]}],
}
_OTHER = {"instanceType": "m5.xlarge", "zone": "us-east-1a", "count": 1}


class Refused(NamedTuple):
    name: str
    change: Change
    code: str  # of the finding


def spec(change: Change) -> Document:
    document = copy.deepcopy(SPEC)
    change(document)
    return document


def unchecked(declared: Document) -> CloudCapacity:
    get = declared.get
    return CloudCapacity.model_construct(
        origin=Origin("refused.yaml", 0),
        name="refused",
        cluster="",
        provider="aws",
        node_class=built(NodeClass, declared["nodeClass"]),
        reservations=tuple(_unchecked(one) for one in get("reservations", ())),
        capacity_types=tuple(declared["capacityTypes"]),
        requirements=tuple(built(PoolRequirement, one) for one in declared["requirements"]),
        weight=get("weight"),
        limits=get("limits", {}),
        taints=tuple(built(NodeTaint, one) for one in get("taints", ())),
        startup_taints=tuple(built(NodeTaint, one) for one in get("startupTaints", ())),
        labels=get("labels", {}),
        expire_after=get("expireAfter"),
        termination_grace_period=get("terminationGracePeriod"),
        disruption=built(Disruption, get("disruption", {})),
    )


def _unchecked(said: Document) -> MachineReservation:
    """Only what tells Karpenter which it is."""
    names = ("id", "tags", "instanceType", "zone", "count")
    return built(MachineReservation, {name: said[name] for name in names if name in said})


def _set(*path: str | int, to: object) -> Change:
    def change(made: Document) -> None:
        *way, last = path
        where: Document = made
        for step in way:
            where = where[step]  # type: ignore[index]
        where[last] = to  # type: ignore[index]

    return change


def _class(**fields: object) -> Change:
    return lambda made: made["nodeClass"].update(fields)


def _terms(*terms: Document) -> Change:
    return _set("reservations", to=[{**_OTHER, **term} for term in terms])


def _asks(*requirements: Document) -> Change:
    return lambda made: made["requirements"].extend(requirements)


def _asked(key: str, operator: str, *values: str, **more: object) -> Change:
    return _asks({"key": key, "operator": operator, "values": list(values), **more})


def _budgets(*budgets: Document) -> Change:
    return _set("disruption", to={"budgets": list(budgets)})


_ID, _OTHER_ID = "cr-0123456789abcdef0", "cr-0123456789abcdef1"
_TAGGED = {"tags": {"course": "ml"}}
_SELECTED = "capacityReservationSelectorTerms"
BY_BOTH = (
    Refused("owner-alone", _class(**{_SELECTED: [{"ownerID": "123456789012"}]}), "B151"),
    Refused("owner-too-short", _class(**{_SELECTED: [{**_TAGGED, "ownerID": "12345678901"}]}), "B151"),
    Refused("id-of-nothing", _terms({"id": "0123456789abcdef0"}), "B151"),
    Refused("tag-without-value", _terms({"tags": {"course": ""}}), "B151"),
    Refused("in-without-values", _asked("example.org/a", "In"), "B151"),
    Refused("above-two-numbers", _asked("example.org/a", "Gt", "1", "2"), "B151"),
    Refused("below-a-word", _asked("example.org/a", "Lt", "many"), "B151"),
    Refused("too-few-to-choose", _asked("example.org/a", "In", "x", minValues=2), "B151"),
    Refused("label-of-karpenters", _set("labels", to={"karpenter.sh/course": "ml"}), "B151"),
    Refused("label-that-is-their-domain", _set("labels", to={"karpenter.sh": "a"}), "B151"),
    Refused("101-labels", _set("labels", to={f"a{number}": "" for number in range(101)}), "B012"),
    Refused("hostname", _set("labels", to={"kubernetes.io/hostname": "a"}), "B151"),
    Refused("label-that-aws-has-not", _asked("karpenter.k8s.aws/instance-colour", "Exists"), "B151"),
    Refused("domain-that-aws-keeps", _asked("eu.karpenter.k8s.aws", "Exists"), "B151"),
    Refused("weight-of-nothing", _set("weight", to=0), "B012"),
    Refused("days", _set("expireAfter", to="30d"), "B151"),
    Refused("grace-without-end", _set("terminationGracePeriod", to="Never"), "B151"),
    Refused("no-such-effect", _set("taints", to=[{"key": "a", "effect": "NoEntry"}]), "B014"),
    Refused("schedule-without-duration", _budgets({"nodes": "0", "schedule": "0 8 * * *"}), "B151"),
    Refused("share-above-all", _budgets({"nodes": "150%"}), "B151"),
    Refused("budget-of-seconds", _budgets({"nodes": "0", "schedule": "@daily", "duration": "30s"}), "B151"),
    Refused("51-budgets", _budgets(*[{"nodes": str(i)} for i in range(51)]), "B151"),
    Refused("no-such-reason", _budgets({"nodes": "0", "reasons": ["Expired"]}), "B014"),
    Refused(
        "owner-alone-beside-a-good-one",
        _class(**{_SELECTED: [{"id": _ID}, {"ownerID": "123456789012"}]}),
        "B151",
    ),
    Refused("31-reservations", _terms(*[{"id": f"cr-{number:02}"} for number in range(31)]), "B012"),
    Refused("volume-of-no-size", _class(blockDeviceMappings=[{"ebs": {"volumeSize": "0Gi"}}]), "B022"),
)
ONLY_BY_US = (
    Refused("reservation-by-id-and-tags", _terms({"id": _ID, **_TAGGED}), "B151"),
    Refused("less-than-nothing-kept", _class(kubelet={"kubeReserved": {"cpu": "-1"}}), "B022"),
    Refused("bad-reservation-beside-a-good-one", _terms({"id": _OTHER_ID}, {"id": _ID, **_TAGGED}), "B151"),
    Refused("volume-of-no-number", _class(blockDeviceMappings=[{"ebs": {"volumeSize": "Ti"}}]), "B022"),
    Refused("tags-that-are-none", _terms({"tags": {}}), "B012"),
    Refused("tag-of-a-long-key", _terms({"tags": {"a" * 129: "b"}}), "B151"),
    Refused("limit-below-nothing", _set("limits", to={"cpu": "-1"}), "B022"),
    Refused("limit-of-no-resource", _set("limits", to={"gpu": "1"}), "B022"),
    Refused("capacity-type-as-label", _set("labels", to={"karpenter.sh/capacity-type": "spot"}), "B151"),
    Refused("capacity-type-as-requirement", _asked("karpenter.sh/capacity-type", "In", "spot"), "B151"),
    Refused("label-of-no-key", _set("labels", to={"a b": "c"}), "B019"),
    Refused("not-in-nothing", _asked("example.org/a", "NotIn"), "B151"),
    Refused("value-that-is-none", _asked("example.org/a", "In", "a b"), "B019"),
    Refused("same-twice-to-choose", _asked("example.org/a", "In", "x", "x", minValues=2), "B151"),
    Refused("91-requirements", _asks(*[{"key": "a", "operator": "Exists"}] * 90), "B012"),
    Refused("no-budgets", _budgets(), "B012"),
    Refused("values-of-exists", _asked("example.org/a", "Exists", "x"), "B151"),
    Refused("architecture-of-others", _asked("kubernetes.io/arch", "In", "x86_64"), "B151"),
    Refused(
        "budget-in-a-zone",
        _budgets({"nodes": "0", "schedule": "TZ=Europe/Zurich 0 8 * * *", "duration": "8h"}),
        "B151",
    ),
    Refused(
        "schedule-of-an-hour-that-is-none",
        _budgets({"nodes": "0", "schedule": "0 25 * * *", "duration": "8h"}),
        "B151",
    ),
    Refused(
        "schedule-that-never-comes",
        _budgets({"nodes": "0", "schedule": "0 0 30 2 *", "duration": "8h"}),
        "B151",
    ),
    Refused(
        "taint-twice",
        _set("startupTaints", to=[{"key": "a", "effect": "NoExecute", "value": value} for value in "ab"]),
        "B016",
    ),
    Refused("budget-of-no-time", _budgets({"nodes": "0", "schedule": "@daily", "duration": "0m"}), "B151"),
    Refused("longer-than-go-counts", _set("expireAfter", to="9999999h"), "B151"),
)
