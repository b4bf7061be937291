"""One cluster of the site as a value: what it says itself, else what the site says, else our defaults."""

from collections.abc import Iterable

from gen.kind import engine as engines
from gen.kind.pod import placement
from gen.kind.resources import completed
from gen.kind.shape import Made
from gen.model import Cluster, Images

_DEFAULTS: Made = {"namespace": "berth", "priority": -10}
_IMAGES: Made = {
    "pause": "registry.k8s.io/pause:3.10.1",
    "python": "python:3.13-slim",
    "pullSecrets": (),
}
_RESOURCES = {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "64Mi"}}


def merged(own: Made, site: Made) -> Cluster:
    """`own` and `site` are checked; they have the keys that a cluster may override in common."""
    chosen = _over(_DEFAULTS, {key: site[key] for key in _DEFAULTS}, {key: own[key] for key in _DEFAULTS})
    images = _over(_IMAGES, site["images"], own["images"])
    runtimes = [one for one in (site["runtime"], own["runtime"]) if one]
    engine, options = engines.merged(site["engine"], own["engine"])
    return Cluster(
        name=own["name"],
        namespace=chosen["namespace"],
        engine=engine,
        engine_options=options,
        replicas_in_git=engine == "argocd" or (engine == "flux" and options.get("version") != "2.8"),
        destination=_destination(own["destination"]),
        autoscaler=own["autoscaler"],
        ceilings=own["ceilings"],
        priority=chosen["priority"],
        images=Images(images["pause"], images["python"], images["pullSecrets"]),
        runtime={
            **placement(_over(*runtimes)),
            "resources": _resources(one["resources"] for one in runtimes),
        },
        koordinator=own["koordinator"],
        karpenter=own["karpenter"],
        largest_node=own["largestNode"],
    )


def _destination(said: Made | None) -> tuple[str, str]:
    """Which key of Argo CD, and its value."""
    if said is None:
        return "server", "https://kubernetes.default.svc"
    return ("server", said["server"]) if said["server"] is not None else ("name", said["name"])


def _over(*layers: Made | None) -> Made:
    """Later layers win, key by key, where they say something."""
    made: Made = {}
    for layer in layers:
        made.update({key: value for key, value in (layer or {}).items() if value is not None})
    return made


def _resources(said: Iterable[Made | None]) -> dict[str, dict[str, str]]:
    """Of our Jobs: the last that says something stands alone; an empty mapping says nothing."""
    speaking = [one for one in said if one and (one["requests"] or one["limits"])]
    if not speaking:
        return _RESOURCES
    requests, limits = completed(speaking[-1]["requests"], speaking[-1]["limits"])
    return {"requests": requests, "limits": limits} if limits else {"requests": requests}
