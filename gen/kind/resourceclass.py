"""`ResourceClass`: the shape of one seat, and how its sessions are recognised."""

from typing import Any

from gen.finding import Path
from gen.kind import grammar
from gen.kind.metadata import LABELS, OUR_DOMAIN, OUR_LABELS, document, refuse_our_key
from gen.kind.pod import PLACEMENT, RESOURCES, SELECTOR, placement
from gen.kind.shape import CONFLICT, INVALID, Field, Fields, ListOf, MapOf, OneOf, Report, Text, Whole
from gen.model import ClassSessions, Origin, ResourceClass
from gen.quantity import NANO, parse

NAMESPACES = ListOf(Text("DNS label", grammar.dns_label), 1)
PLURAL = Text("DNS name", grammar.dns_name)

CUSTOM = ("group", "version", "resource", "matchAnnotations", "inactive")


def _sessions(made: dict[str, Any], path: Path, report: Report) -> Any:
    custom = made["source"] == "custom"
    for name in CUSTOM:
        if made[name] is not None and not custom:
            fix = "Remove it, or write source: custom."
            report(CONFLICT, (*path, name), "this key belongs to source custom.", fix, at_key=True)
            return INVALID
    if custom and not (made["version"] and made["resource"]):
        return report(CONFLICT, path, "source custom needs version and resource.", "Add both.")
    own = {name: made[name] for name in CUSTOM if made[name] is not None}
    if "matchAnnotations" in own:
        own["matchAnnotations"] = dict(own["matchAnnotations"])
    return ClassSessions(made["source"], made["namespaces"], made["selector"] or {}, own)


SESSIONS = Fields(
    {
        "source": Field(OneOf(("renku", "jupyterhub", "pods", "custom")), meaning="what a session is"),
        "namespaces": Field(NAMESPACES, meaning="where sessions run"),
        "selector": Field(SELECTOR, None, "labels that a session of the class has", "every session"),
        "group": Field(PLURAL, None, "only `custom`: API group", "the core group"),
        "version": Field(PLURAL, None, "only `custom`: API version", "none"),
        "resource": Field(PLURAL, None, "only `custom`: plural name of the kind", "none"),
        "matchAnnotations": Field(
            MapOf(Text("annotation key", grammar.label_key), Text()),
            None,
            "only `custom`: annotations that a session of the class has",
            "none",
        ),
        "inactive": Field(
            ListOf(Fields({"path": Field(Text()), "values": Field(ListOf(Text(), 1))})),
            None,
            "only `custom`: field values of sessions that do not count",
            "every session counts",
        ),
    },
    _sessions,
)

SPEC = Fields(
    {
        "cluster": Field(Text("DNS label", grammar.dns_label), None, "where it is", "the only cluster"),
        "renkuId": Field(Whole(0), None, "id of the class in Renku", "none"),
        "requests": Field(
            MapOf(RESOURCES.key, RESOURCES.item, 1),
            meaning="resources of one seat; any resource name, amounts as in Kubernetes",
        ),
        "limits": Field(RESOURCES, (), "limits of a placeholder", "the request, for devices; else none"),
        **PLACEMENT,
        "podLabels": Field(LABELS, (), "labels of the placeholders", "none"),
        "sessions": Field(SESSIONS, None, "how its sessions are recognised", "none: only behaviour `none`"),
    },
)

_SHARED = ("cpu", "memory", "ephemeral-storage")


def _amounts(spec: dict[str, Any], path: Path, report: Report) -> Any:
    """Requests and limits as Kubernetes completes them: a limit without a request is one; a device has both."""
    requests: dict[str, str] = dict(spec["requests"])
    limits: dict[str, str] = dict(spec["limits"])
    for name, limit in limits.items():
        request = requests.setdefault(name, limit)
        if (parse(limit) or 0) < (parse(request) or 0):
            message, fix = f"the limit {limit} is below the request {request}.", "Raise it, or remove it."
            return report(CONFLICT, (*path, "limits", name), message, fix)
    for name, request in requests.items():
        if name in _SHARED:
            continue
        at, amount = (*path, "requests", name), parse(request) or 0
        if not name.startswith("hugepages-") and amount % NANO:
            return report(CONFLICT, at, f"{request} of a device.", "Write a whole number of devices.")
        if parse(limits.setdefault(name, request)) != amount:
            message = f"the limit {limits[name]} differs from the request {request}."
            return report(CONFLICT, (*path, "limits", name), message, "Kubernetes wants them equal here.")
    if any(name.startswith("hugepages-") for name in requests) and not {"cpu", "memory"} & set(requests):
        return report(
            CONFLICT, (*path, "requests"), "huge pages need cpu or memory too.", "Add cpu or memory."
        )
    return tuple(requests.items()), tuple(limits.items())


def _make(made: dict[str, Any], path: Path, report: Report) -> Any:
    spec = made["spec"]
    at = (*path, "spec")
    for key, _ in spec["podLabels"]:
        if key in OUR_LABELS or key.startswith(OUR_DOMAIN):
            refuse_our_key(key, (*at, "podLabels", key), report)
            return INVALID
    amounts, pod = _amounts(spec, at, report), placement(spec, at, report)
    if amounts is INVALID or pod is INVALID:
        return INVALID
    return ResourceClass(
        origin=Origin(report.file, report.index),
        name=made["metadata"]["name"],
        cluster=spec["cluster"] or "",
        renku_id=spec["renkuId"],
        requests=amounts[0],
        limits=amounts[1],
        pod=pod,
        pod_labels=spec["podLabels"],
        sessions=spec["sessions"],
    )


DOCUMENT = document("ResourceClass", SPEC, _make)
