"""`Site`: what the platform team owns. A cluster's own values are merged over the site's here."""

from typing import Any

from gen.finding import Path
from gen.kind import grammar
from gen.kind.calendar import DATE, in_order
from gen.kind.metadata import document
from gen.kind.pod import PLACEMENT, RESOURCES, placement
from gen.kind.shape import (
    CONFLICT,
    INVALID,
    Either,
    Field,
    Fields,
    Flag,
    ListOf,
    MapOf,
    OneOf,
    Refusal,
    Report,
    Text,
    Whole,
    shown,
)
from gen.model import Ceiling, Cluster, Images, Origin, Site
from gen.version import VERSION

PRIORITY, LOW_PRIORITY, DUPLICATE_NAME, OTHER_VERSION = "B025", "B026", "B060", "B027"

LABEL = Text("DNS label", grammar.dns_label)
IMAGE = Text("image", grammar.image)
ENGINES = ("argocd", "flux", "none")
ENGINE = Either(OneOf(ENGINES), Fields({"type": Field(OneOf(ENGINES), meaning="the engine")}))
PRIORITY_VALUE = Whole(-(2**31), 10**9)


def _ceiling(made: dict[str, Any], path: Path, report: Report) -> Any:
    first, last = made["from"], made["until"]
    if first and last and in_order({"from": first, "to": last}, path, report) is INVALID:
        return INVALID
    return Ceiling(made["seats"], made["requests"], first, last)


CEILING = Fields(
    {
        "seats": Field(MapOf(LABEL, Whole(0)), (), "most seats open at once, by class", "no ceiling"),
        "requests": Field(RESOURCES, (), "most requests of open seats at once, by resource", "no ceiling"),
        "from": Field(DATE, None, "first date it holds, in the site's zone", "always"),
        "until": Field(DATE, None, "last date it holds, inclusive", "always"),
    },
    _ceiling,
)

IMAGES = Fields(
    {
        "pause": Field(IMAGE, None, "image of the placeholders", "`registry.k8s.io/pause:3.10.1`"),
        "python": Field(IMAGE, None, "image of our Jobs", "`python:3.13-slim`"),
        "pullSecrets": Field(
            ListOf(Text("DNS name", grammar.dns_name)), None, "names of pull secrets in the namespace", "none"
        ),
    }
)
RUNTIME = Fields(
    {
        "nodeSelector": PLACEMENT["nodeSelector"],
        "tolerations": PLACEMENT["tolerations"],
        "resources": Field(
            Fields({"requests": Field(RESOURCES, ()), "limits": Field(RESOURCES, ())}),
            None,
            "`{requests, limits}` of our Jobs' containers",
            "requests 10m and 32Mi, limit 64Mi",
        ),
    }
)

OVERRIDABLE = {
    "engine": Field(ENGINE, None, "what applies `rendered/`: argocd, flux or none", "`none`"),
    "namespace": Field(LABEL, None, "home of all namespaced objects that we render", "`berth`"),
    "priority": Field(PRIORITY_VALUE, None, "of the placeholders, -10 to -1", "-10"),
    "images": Field(IMAGES, None, "container images", "see below"),
    "runtime": Field(RUNTIME, None, "where our own Jobs run, and with what", "see below"),
}

CLUSTER = Fields(
    {
        "name": Field(LABEL, meaning="a folder below `rendered/clusters/`"),
        "destination": Field(
            Fields({"server": Field(Text(), None), "name": Field(Text(), None)}),
            None,
            "argocd's destination: `{server}` or `{name}`",
            "the engine's own cluster",
        ),
        "autoscaler": Field(OneOf(("cluster-autoscaler", "karpenter", "none")), "none", "tightens checks"),
        "ceilings": Field(ListOf(CEILING), (), "the most that may be reserved at once", "none"),
        "koordinator": Field(
            Fields(
                {
                    "schedulerName": Field(Text("DNS name", grammar.dns_name), "koord-scheduler"),
                    "allocatePolicy": Field(OneOf(("Default", "Aligned", "Restricted")), "Restricted"),
                }
            ),
            None,
            "Koordinator's scheduler there",
            "none",
        ),
        **OVERRIDABLE,
    }
)


def _version(text: str) -> str:
    if text != VERSION:
        raise Refusal(
            f"these files are for Berth {text}; this is Berth {VERSION}.",
            f"Install berth=={text}, or change berthVersion.",
            OTHER_VERSION,
        )
    return text


SPEC = Fields(
    {
        "berthVersion": Field(Text("version", _version), None, "another version refuses to work", "any"),
        "timeZone": Field(Text("time zone", grammar.zone), "UTC", "of reservations that name none"),
        **OVERRIDABLE,
        "repository": Field(
            Fields(
                {
                    "url": Field(Text(), meaning="where the engine finds `rendered/`"),
                    "revision": Field(Text(), "HEAD", "branch or tag"),
                    "path": Field(Text(), ".", "folder of the repository"),
                }
            ),
            None,
            "the git repository of this site",
            "none",
        ),
        "clusters": Field(ListOf(CLUSTER, 1), meaning="one or more clusters"),
        "kustomization": Field(Flag(), False, "render a kustomization.yaml for each cluster too"),
        "renku": Field(
            Fields(
                {
                    "url": Field(Text()),
                    "tokenSecret": Field(Fields({"name": Field(LABEL), "key": Field(Text())}), None),
                }
            ),
            None,
            "Renku's API, for project templates",
            "none",
        ),
        "scaler": Field(
            Fields({"stabilizationSeconds": Field(Whole(0, 3600), 30)}), None, "see below", "30 seconds"
        ),
        "diff": Field(Fields({"noticeHours": Field(Whole(0, 8760), 24)}), None, "see below", "24 hours"),
    }
)

_DEFAULTS: dict[str, Any] = {"engine": "none", "namespace": "berth", "priority": -10}
_IMAGES: dict[str, Any] = {
    "pause": "registry.k8s.io/pause:3.10.1",
    "python": "python:3.13-slim",
    "pullSecrets": (),
}
_RESOURCES = {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "64Mi"}}


def _over(*layers: dict[str, Any] | None) -> dict[str, Any]:
    """Later layers win, key by key, where they say something."""
    merged: dict[str, Any] = {}
    for layer in layers:
        merged.update({key: value for key, value in (layer or {}).items() if value is not None})
    return merged


def _priority(value: int, autoscaler: str, path: Path, report: Report) -> Any:
    if value >= 0:
        message = f"{value} is not below 0: placeholders would not give way to sessions."
        return report(PRIORITY, path, message, "Write a number from -10 to -1.")
    if value < -10 and autoscaler == "cluster-autoscaler":
        message = f"{value} is below -10: cluster-autoscaler adds no node for such pods."
        return report(PRIORITY, path, message, "Write a number from -10 to -1.")
    if value < -10:
        message = f"{value} is below -10: many autoscalers ignore such pods."
        report(LOW_PRIORITY, path, message, "Write a number from -10 to -1, unless you know yours does not.")
    return value


def _cluster(i: int, spec: dict[str, Any], path: Path, report: Report) -> Cluster:
    own = spec["clusters"][i]
    merged = _over(_DEFAULTS, {key: spec[key] for key in OVERRIDABLE}, {key: own[key] for key in OVERRIDABLE})
    at = (*path, "clusters", i, "priority") if own["priority"] is not None else (*path, "priority")
    _priority(merged["priority"], own["autoscaler"], at, report)
    images = _over(_IMAGES, spec["images"], own["images"])
    runtime = _over(spec["runtime"], own["runtime"])
    resources = runtime.get("resources")
    pod = placement(runtime, (*path, "runtime"), report)
    pod = {} if pod is INVALID else pod
    pod["resources"] = {k: dict(v) for k, v in resources.items() if v} if resources else _RESOURCES
    engine = merged["engine"]
    return Cluster(
        name=own["name"],
        namespace=merged["namespace"],
        engine=engine["type"] if isinstance(engine, dict) else engine,
        autoscaler=own["autoscaler"],
        ceilings=own["ceilings"],
        priority=merged["priority"],
        images=Images(images["pause"], images["python"], images["pullSecrets"]),
        runtime=pod,
    )


def _make(made: dict[str, Any], path: Path, report: Report) -> Any:
    spec, at = made["spec"], (*path, "spec")
    names = [cluster["name"] for cluster in spec["clusters"]]
    for i, name in enumerate(names):
        if name in names[:i]:
            message = f"{shown(name)} names two clusters."
            report(DUPLICATE_NAME, (*at, "clusters", i, "name"), message, "Give each its own name.")
        destination = spec["clusters"][i]["destination"]
        if destination and (destination["server"] is None) == (destination["name"] is None):
            message, fix = "write either server or name.", "Keep one of the two."
            report(CONFLICT, (*at, "clusters", i, "destination"), message, fix)
    clusters = tuple(_cluster(i, spec, at, report) for i in range(len(names)))
    return Site(
        Origin(report.file, report.index),
        made["metadata"]["name"],
        spec["timeZone"],
        clusters,
        spec["kustomization"],
    )


DOCUMENT = document("Site", SPEC, _make)
