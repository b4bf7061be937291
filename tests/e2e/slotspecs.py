"""Specs that Go's types accept, and what they refuse."""

from typing import Any


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
