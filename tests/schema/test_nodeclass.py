"""`nodeClass`: an EC2NodeClass is passed on as it is, and what Berth reads of it is checked."""

import pytest
from berth.schema.nodeclass import NodeClass

from tests.saying import Value, ask, said
from tests.schema.nodeclasses import GOOD, WHOLE, plain

TERMS = "capacityReservationSelectorTerms"
TOLD: dict[str, tuple[Value, list[str]]] = {
    "a-key-that-no-file-can-have": ({"kubelet": {"k" * 254: "v"}}, [f"B012 kubelet.{'k' * 254} @key"]),
    "what-nobody-knows-yet": ({"newField": {"a": [1, None]}, "kubelet": {"newer": True}}, []),
    "terms-that-berth-does-not-read": ({"subnetSelectorTerms": [{}], "amiSelectorTerms": []}, []),
    "reservations": (
        {
            TERMS: [
                {"id": "cr-0"},
                {"tags": {"a": "*"}, "ownerID": "123456789012"},
                {"instanceMatchCriteria": "open"},
            ]
        },
        [],
    ),
    "a-bad-reservation-beside-a-good-one": (
        {TERMS: [{"id": "cr-0"}, {"id": "cr-1", "tags": {"a": "b"}}, {"ownerID": "123456789012"}, {}]},
        [f"B151 {TERMS}.{number}" for number in (1, 2, 3)],
    ),
    "reservations-that-nobody-can-read": (
        {TERMS: [{"id": "CR-0"}, {"tags": {"a": ""}}, {"tags": {}}, {"ids": "cr-0"}]},
        [
            f"B010 {TERMS}.3.ids @key",
            f"B012 {TERMS}.2.tags",
            f"B151 {TERMS}.0.id",
            f"B151 {TERMS}.1.tags.a",
        ],
    ),
    "disks": (
        {"blockDeviceMappings": [{"ebs": {"volumeSize": "60000Gi"}}, {"ebs": {"volumeSize": "10"}}]},
        [f"B022 blockDeviceMappings.{number}.ebs.volumeSize" for number in (0, 1)],
    ),
    "kubelet": (
        {
            "kubelet": {
                "evictionHard": {"nodefs.available": "x"},
                "kubeReserved": {"cpu": "-1"},
                "maxPods": "9",
            }
        },
        [
            "B013 kubelet.maxPods",
            "B022 kubelet.evictionHard.nodefs.available",
            "B022 kubelet.kubeReserved.cpu",
        ],
    ),
    "no-mapping": ({"kubelet": []}, ["B013 kubelet"]),
}


@pytest.mark.parametrize("value", [GOOD, WHOLE], ids=["little", "every-key"])
def test_what_is_good_is_passed_on_as_it_is(value: Value) -> None:
    made, problems = ask(NodeClass, dict(reversed(value.items())))

    assert problems == []
    assert plain(made.dump()) == value
    assert list(made.dump()) == list(value)


@pytest.mark.parametrize(("change", "problems"), TOLD.values(), ids=TOLD)
def test_what_is_told_of_a_node_class(change: Value, problems: list[str]) -> None:
    assert said(NodeClass, {**GOOD, **change}) == problems
