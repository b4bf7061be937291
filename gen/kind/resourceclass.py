"""`ResourceClass`: the shape of one seat, and how its sessions are recognised."""

from gen.finding import Path
from gen.kind import grammar, resources
from gen.kind.different import Different
from gen.kind.metadata import LABELS, Document, refuse_our_label
from gen.kind.pod import PLACEMENT, SELECTOR, placement
from gen.kind.shape import CONFLICT, INVALID, MISSING, Field, Fields, ListOf, Made, MapOf, Report, items
from gen.kind.value import OneOf, Text, Whole
from gen.model import ClassSessions, Origin, ResourceClass

NAMESPACES = ListOf(Text("DNS label", grammar.dns_label), 1)
PLURAL = Text("DNS name", grammar.dns_name)
CLOUDS = Different(Text("DNS label", grammar.dns_label))

NOT_LISTED = "B036"
CUSTOM = ("group", "version", "resource", "matchAnnotations", "inactive")


def _sessions(made: Made, path: Path, report: Report) -> None:
    if made["source"] == "custom":
        for name in ("version", "resource"):
            if made[name] is None:
                report(MISSING, path, f"source custom needs {name}.", f"Add {name}: a DNS name.")
        if made["resource"] == "secrets" and not made["group"]:
            message = "Secrets are no sessions, and our Jobs would be allowed to read them all."
            report(NOT_LISTED, (*path, "resource"), message, "Name the kind that sessions are of.")
    elif made["source"] is not INVALID:
        for name in CUSTOM:
            if made[name] is not None:
                fix = "Remove it, or write source: custom."
                report(CONFLICT, (*path, name), "this key belongs to source custom.", fix, at_key=True)


def _class_sessions(made: Made) -> ClassSessions:
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
            MapOf(grammar.label_key, Text()),
            None,
            "only `custom`: annotations that a session of the class has",
            "none",
        ),
        "inactive": Field(
            ListOf(
                Fields(
                    {"path": Field(Text()), "values": Field(ListOf(Text(), 1), meaning="list (text each)")}
                )
            ),
            None,
            "only `custom`: field values of sessions that do not count",
            "every session counts",
        ),
    },
    _class_sessions,
    agree=_sessions,
)


def _agree(made: Made, path: Path, report: Report) -> None:
    for key, _ in items(made["podLabels"]):
        refuse_our_label(key, (*path, "podLabels", key), report)
    sessions = made["sessions"]
    if isinstance(sessions, ClassSessions) and sessions.source == "renku" and made["renkuId"] is None:
        message = "source renku needs renkuId: Renku's sessions name their class by it."
        report(MISSING, path, message, "Add renkuId: the id of the class in Renku.")
    resources.agree(made, path, report)


SPEC = Fields(
    {
        "cluster": Field(Text("DNS label", grammar.dns_label), None, "where it is", "the only cluster"),
        "renkuId": Field(Whole(0), None, "id of the class in Renku; needed for source renku", "none"),
        "requests": Field(
            MapOf(grammar.resource_name, resources.AMOUNT, 1),
            meaning="resources of one seat; any resource name, amounts as in Kubernetes",
        ),
        "limits": Field(
            resources.RESOURCES, (), "limits of a placeholder", "the request, for devices; else none"
        ),
        **PLACEMENT,
        "podLabels": Field(LABELS, (), "labels of the placeholders", "none"),
        "cloudCapacity": Field(
            CLOUDS, (), "names of the CloudCapacity that its seats may use, the preferred first", "none"
        ),
        "sessions": Field(SESSIONS, None, "how its sessions are recognised", "none: only behaviour `none`"),
    },
    agree=_agree,
)


def _build(made: Made, origin: Origin) -> ResourceClass:
    spec = made["spec"]
    requests, limits = resources.completed(spec["requests"], spec["limits"])
    return ResourceClass(
        origin=origin,
        name=made["metadata"]["name"],
        cluster=spec["cluster"] or "",
        renku_id=spec["renkuId"],
        requests=tuple(requests.items()),
        limits=tuple(limits.items()),
        pod=placement(spec),
        pod_labels=spec["podLabels"],
        sessions=spec["sessions"],
        cloud_capacity=spec["cloudCapacity"],
    )


DOCUMENT = Document("ResourceClass", SPEC, _build)
