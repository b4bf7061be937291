"""What is rendered of clouds made by chance is what the definitions of Karpenter take, with nothing dropped.

Their rules in CEL are for a real API server; those that we could break are told here in other words.
"""

from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.manifests.cloudparts import (
    MACHINES,
    NODE_CLASS,
    Object,
    capacity,
    mondays,
    nodes,
    objects,
    resource_class,
    texts,
)
from tests.manifests.schemas import strict
from tests.seeds import seeds

CRDS = Path(__file__).parents[1] / "e2e" / "crds"


def definition(name: str) -> Draft202012Validator:
    (version,) = yaml.safe_load((CRDS / f"karpenter-{name}.yaml").read_text("utf-8"))["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return Draft202012Validator(with_quantities(strict(spec)))


def with_quantities(schema: Any) -> Any:
    """The keyword of Kubernetes as JSON Schema has it."""
    if isinstance(schema, list):
        return [with_quantities(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: with_quantities(value) for key, value in schema.items()}
    if made.pop("x-kubernetes-int-or-string", False):
        made["type"] = ["integer", "string"]
    return made


SPECS = {"EC2NodeClass": definition("ec2nodeclass"), "NodePool": definition("nodepool")}


def by_chance(random: Random) -> Object:
    """A capacity with some of all that may be said."""
    selected: list[Object] = [
        {"id": f"cr-{random.randrange(16**8):017x}"},
        {"tags": {"course": random.choice(["*", "ml", "on", "1e3"])}},
        {"tags": {"a": "b", "c": "d"}},
    ]
    reservations = [{**MACHINES, **one} for one in random.sample(selected, random.randint(0, 3))]
    types = random.sample(["reserved", "spot", "on-demand"], random.randint(1, 3))
    if not reservations and "reserved" in types:
        types = ["spot", "on-demand"]
    optional: Object = {
        "requirements": [{"key": "karpenter.k8s.aws/instance-cpu", "operator": "Gt", "values": ["3"]}],
        "weight": random.randint(1, 100),
        "limits": random.choice([{"cpu": random.choice([64, "64", "40.5"])}, {"nodes": 3, "cpu": "1k"}]),
        "taints": [{"key": "example.org/a", "effect": random.choice(["NoSchedule", "NoExecute"])}],
        "startupTaints": [{"key": "example.org/b", "value": "yes", "effect": "NoSchedule"}],
        "labels": {"example.org/room": random.choice(["on", "1e3", "a.b"])},
        "expireAfter": random.choice(["Never", "720h", "1h30m"]),
        "terminationGracePeriod": random.choice(["1h", "90m"]),
        "disruption": random.choice(
            [
                {},
                {"consolidateAfter": "Never"},
                {"consolidationPolicy": "WhenEmpty", "budgets": [{"nodes": "0", "reasons": ["Drifted"]}]},
                {"budgets": [{"nodes": "100%", "schedule": "@daily", "duration": "1h30m"}]},
            ]
        ),
    }
    kept = {key: value for key, value in optional.items() if random.random() < 0.5}
    parts: Object = {
        "tags": {"course": "ml"},
        "userData": "#!/bin/sh\necho '{{ x }}' \"$@\"\n",
        "kubelet": {"maxPods": 42, "systemReserved": {"cpu": "100m"}},
        "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": "100Gi"}}],
        "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 1},
        "associatePublicIPAddress": False,
    }
    more = {key: value for key, value in parts.items() if random.random() < 0.4}
    return capacity(nodeClass={**NODE_CLASS, **more}, capacityTypes=types, reservations=reservations, **kept)


def windows(random: Random) -> Object:
    """A course of a term, or one that never ends for more than a year."""
    if random.random() < 0.2:
        schedule = [{"startTime": "00:00", "endTime": "24:00"}]
        return {"type": "once", "startDate": "2026-01-01", "endDate": "2027-12-31", "schedule": schedule}
    hour = random.randint(0, 20)
    entries = [
        {"dayOfWeek": day, "startTime": f"{hour:02}:00", "endTime": f"{hour + 3:02}:00"} for day in (1, 3, 6)
    ]
    return {
        "type": "weekly",
        "startDate": "2026-01-05",
        "endDate": "2026-12-20",
        "timeZone": "Europe/Zurich",
        "schedule": entries[: random.randint(1, 3)],
    }


@pytest.mark.parametrize("seed", seeds(5, 25))
def test_what_is_rendered_is_what_the_definitions_take(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    tolerations = [{"operator": "Exists"}]
    seat = resource_class(tolerations=tolerations)
    found = texts(tmp_path, by_chance(random), seat, mondays(recurrence=windows(random)), nodes(count=2))

    made = [
        object_
        for path, text in found.items()
        if path.startswith("clusters/")
        for object_ in objects(text).values()
        if object_["kind"] in SPECS
    ]
    assert [one["kind"] for one in made] == ["NodePool", "EC2NodeClass", "NodePool"]
    for one in made:
        errors = [error.message for error in SPECS[one["kind"]].iter_errors(one["spec"])]
        assert errors == [], one
        keeps_rules(one["spec"])


def keeps_rules(spec: Object) -> None:
    """Of CEL."""
    assert spec.get("capacityReservationSelectorTerms") != []
    for term in spec.get("capacityReservationSelectorTerms", ()):
        assert term.keys() == {"id"} or ("id" not in term and term.keys() - {"ownerID"})
    budgets = spec.get("disruption", {}).get("budgets", ())
    assert all(("schedule" in budget) == ("duration" in budget) for budget in budgets)
    if "disruption" in spec:
        assert "consolidateAfter" in spec["disruption"]
    if "replicas" in spec:
        assert spec["replicas"] == 0
        assert "weight" not in spec
        assert spec.get("limits", {}).keys() <= {"nodes"}
    assert all(isinstance(amount, str) for amount in spec.get("limits", {}).values())
