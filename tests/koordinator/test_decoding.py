"""What Go's types refuse, though the API server stores it; and what such an object does to all the others."""

from typing import Any

import pytest

from tests.koordinator import decoding
from tests.koordinator.deciding import Seen, seen
from tests.koordinator.world import node, reservation


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("0s", 0),
        ("-0", 0),
        ("24h", 86_400),
        ("1h30m", 5400),
        ("1.5h", 5400),
        (".5s", 0.5),
        ("1.s", 1),
        ("-3m", -180),
        ("+3m", 180),
        ("100ms", 0.1),
        ("2562047h", 2_562_047 * 3600),
        ("90m30s", 5430),
        ("30m2h", 9000),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert decoding.duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1d",
        "7d",
        "1w",
        "3600",
        "1",
        "-",
        "h",
        "1 h",
        "1h ",
        "1H",
        "1hour",
        "2562048h",
        "1e3s",
        "1,5h",
        ".",
    ],
)
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="is no duration"):
        decoding.duration(text)


def template(**spec: Any) -> dict[str, Any]:
    return {"template": {"spec": spec}}


GOOD = [
    {"ttl": None},
    {"expires": "2026-12-31T23:00:00Z"},
    {"expires": "2026-12-31T23:00:00.5+01:00"},
    template(unknown={"anything": 1}),
    template(containers=[{"resources": {"requests": {"cpu": 1, "memory": "1.5e9"}}}]),
    template(priority=-10, nodeSelector={"a": "b"}),
    template(containers=None),
    template(nodeSelector=None, priority=None, overhead={"cpu": None}),
    {"template": {"metadata": {"labels": {"a": None}}}},
    {"expires": "2026-12-31T23:00:00,5Z"},
    {"ttl": "-2562047h"},
]
POISON = [
    {"ttl": "1d"},
    {"ttl": ""},
    {"ttl": 3600},
    {"expires": "tomorrow"},
    {"expires": "2026-12-31"},
    {"allocateOnce": "false"},
    {"unschedulable": 1},
    {"owners": {}},
    {"owners": [{"labelSelector": {"matchLabels": {"a": 1}}}]},
    {"owners": [{"controller": {"controller": "true"}}]},
    {"taints": [{"key": 1}]},
    {"preAllocationPolicy": {"enableMultiple": "yes"}},
    template(containers=[{"resources": {"requests": {"cpu": "1 core"}}}]),
    template(containers=[{"resources": {"requests": {"cpu": True}}}]),
    template(containers=[{"resources": {"requests": ["cpu"]}}]),
    template(containers={}),
    template(nodeSelector={"a": 1}),
    template(nodeSelector=["a"]),
    template(priority="high"),
    template(priority=2**31),
    template(tolerations=[{"tolerationSeconds": "30"}]),
    template(overhead={"cpu": "much"}),
    {"template": {"metadata": {"labels": {"a": True}}}},
    {"template": "pod"},
    {"ttl": "2562048h"},
    {"expires": "2026-12-31T24:00:00Z"},
    template(affinity=[]),
    template(containers=[{"name": 5}]),
    template(containers=[{"env": [{"name": "A", "value": 1}]}]),
    template(containers=[{"ports": [{"hostPort": "80"}]}]),
    template(hostNetwork="true"),
    template(priority=1.5),
]


@pytest.mark.parametrize("spec", GOOD)
def test_good(spec: dict[str, Any]) -> None:
    assert decoding.poison({"metadata": {}, "spec": spec}) == ""


@pytest.mark.parametrize("spec", POISON)
def test_poison(spec: dict[str, Any]) -> None:
    assert decoding.poison({"metadata": {}, "spec": spec}) != ""


def test_one_poisoned_object_hides_all_reservations() -> None:
    """Who had a list before goes on with that one, and sees nodes and pods; who had none never begins."""
    before = Seen([node()], [], [reservation("old")])
    poisoned = Seen(
        [node(), node("n2")], [], [reservation("old"), reservation("new"), reservation("bad", ttl="7d")]
    )

    assert seen(before, poisoned) == Seen(poisoned.nodes, [], before.reservations)
    assert seen(None, poisoned) is None
    assert seen(before, before) == before
