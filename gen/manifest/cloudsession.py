"""What session pods of a class need so that they run on the nodes of its cloud capacities and nowhere else.

Nobody but who makes these pods can add it, so it is text. Pure.
"""

import json
from collections.abc import Sequence
from typing import Any

from gen.cloud import CloudCapacity
from gen.manifest.cloudpools import Expression, among, in_pools, pools
from gen.model import ResourceClass


def snippet(site: str, found: ResourceClass, clouds: Sequence[CloudCapacity]) -> str:
    """For a pod template, as JSON, which is YAML too. `found` is not led yet; `clouds` are those that it
    names, in its order.
    """
    return json.dumps({"spec": _placement(site, found, clouds)}, indent=2) + "\n"


def _placement(site: str, found: ResourceClass, clouds: Sequence[CloudCapacity]) -> dict[str, Any]:
    """Where placeholders of the class may be, and on whole nodes too: these are known by labels alone. Of the
    class's affinity what concerns nodes; the rest speaks of the labels of placeholders.
    """
    said = found.pod.placement
    pod = {key: said[key] for key in ("nodeSelector", "tolerations") if said.get(key)}
    node = said.get("affinity", {}).get("nodeAffinity")
    if node:
        pod["affinity"] = {"nodeAffinity": node}
    labels = clouds[0].labels
    if labels and all(dict(one.labels) == dict(labels) for one in clouds):
        return {**pod, "nodeSelector": {**pod.get("nodeSelector", {}), **dict(labels)}}
    return among(pod, _alternatives(site, clouds))


def _alternatives(site: str, clouds: Sequence[CloudCapacity]) -> list[list[Expression]]:
    """The labels of each; those without any are known by their pools, all at once."""
    plain = pools(site, [one.name for one in clouds if not one.labels])
    found: list[list[Expression]] = []
    for one in clouds:
        labels = [{"key": key, "operator": "In", "values": [value]} for key, value in one.labels]
        only = labels or [in_pools(plain)]
        if only not in found:
            found.append(only)
    return found
