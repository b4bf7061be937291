"""`Site`: what the platform team owns. `gen.kind.cluster` merges a cluster's own values over the site's."""

from gen.finding import Path
from gen.kind import enginechecks, grammar, resources
from gen.kind.calendar import DATE, ORDER
from gen.kind.cluster import merged
from gen.kind.different import Different
from gen.kind.engine import ENGINE
from gen.kind.karpenter import KARPENTER
from gen.kind.koordinator import KOORDINATOR
from gen.kind.metadata import Document
from gen.kind.pod import PLACEMENT
from gen.kind.price import PRICE
from gen.kind.priority import Priority, agree_on_priority, autoscaler_of
from gen.kind.shape import (
    CONFLICT,
    INVALID,
    MISSING,
    Field,
    Fields,
    ListOf,
    Made,
    MapOf,
    Refusal,
    Report,
    items,
    shown,
)
from gen.kind.value import Flag, OneOf, Text, Whole
from gen.model import Ceiling, Origin, Renku, Repository, Site
from gen.version import VERSION

DUPLICATE_NAME, OTHER_VERSION = "B060", "B027"

LABEL = Text("DNS label", grammar.dns_label)
IMAGE = Text("image", grammar.image)


def _ceiling(made: Made, path: Path, report: Report) -> None:
    first, last = made["from"], made["until"]
    if None not in (first, last) and INVALID not in (first, last) and last < first:
        message = f"{last} is before from {first}."
        report(ORDER, (*path, "until"), message, "Write a date on or after from.")
    if not made["seats"] and not made["requests"]:
        report(MISSING, path, "the ceiling limits nothing.", "Add seats or requests.")


CEILING = Fields(
    {
        "seats": Field(
            MapOf(grammar.dns_label, Whole(0)), (), "most seats open at once, by class", "no ceiling"
        ),
        "requests": Field(
            resources.RESOURCES, (), "most requests of open seats at once, by resource", "no ceiling"
        ),
        "from": Field(DATE, None, "first date it holds, in the site's zone", "always"),
        "until": Field(DATE, None, "last date it holds, inclusive", "always"),
    },
    lambda made: Ceiling(made["seats"], made["requests"], made["from"], made["until"]),
    agree=_ceiling,
)

IMAGES = Fields(
    {
        "pause": Field(IMAGE, None, "image of the placeholders", "`registry.k8s.io/pause:3.10.1`"),
        "python": Field(IMAGE, None, "image of our Jobs", "`python:3.13-slim`"),
        "pullSecrets": Field(
            Different(Text("DNS name", grammar.dns_name)),
            None,
            "names of pull secrets in the namespace",
            "none",
        ),
    }
)
RUNTIME = Fields(
    {
        "nodeSelector": PLACEMENT["nodeSelector"],
        "tolerations": PLACEMENT["tolerations"],
        "resources": Field(
            Fields(
                {
                    "requests": Field(resources.RESOURCES, (), "mapping (quantity for each key)"),
                    "limits": Field(resources.RESOURCES, (), "mapping (quantity for each key)"),
                },
                agree=resources.agree,
            ),
            None,
            "`{requests, limits}` of each container of our Jobs",
            "requests 10m and 32Mi, limit 64Mi",
        ),
    }
)

SCALER = Fields(
    {
        "stabilizationSeconds": Field(
            Whole(0, 3600), 30, "how long a session that left still counts, 0 to 3600"
        ),
        "readyMinutes": Field(
            Whole(0, 180), 5, "before the start: seats that are not ready by then are told, 0 to 180"
        ),
    }
)

RENKU = Fields(
    {
        "url": Field(
            Text("address of a web server", grammar.url), meaning="its address, without /api: http or https"
        ),
        "tokenSecret": Field(
            Fields(
                {
                    "name": Field(Text("DNS name", grammar.dns_name), meaning="its name"),
                    "key": Field(Text("key of a Secret", grammar.secret_key), meaning="the key of the token"),
                }
            ),
            None,
            "a Secret in our namespace, wherever classes of Renku are; read when it is there",
            "no token",
        ),
    }
)

DIFF = Fields(
    {
        "noticeHours": Field(Whole(0, 8760), 24, "warns where a date opens sooner than this"),
        "budget": Field(
            PRICE, None, "most money that a month may cost: a change that makes it more fails", "none"
        ),
    }
)

OVERRIDABLE = {
    "engine": Field(
        ENGINE, None, "what applies `rendered/`: a word, or `{type}` and the options of docs/", "`none`"
    ),
    "namespace": Field(
        Text("DNS label", grammar.own_namespace),
        None,
        "home of all namespaced objects that we render",
        "`berth`",
    ),
    "priority": Field(Priority(-(2**31), 2**31 - 1), None, "of the placeholders, -10 to -1", "-10"),
    "images": Field(IMAGES, None, "container images", "see below"),
    "runtime": Field(RUNTIME, None, "where our own Jobs run, and with what", "see below"),
}


def _destination(made: Made, path: Path, report: Report) -> None:
    server, name = made["server"] is not None, made["name"] is not None
    if server and name:
        report(CONFLICT, path, "server and name both say where it is.", "Keep one of the two.")
    if not server and not name:
        report(MISSING, path, "it says neither server nor name.", "Add one of the two.")


CLUSTER = Fields(
    {
        "name": Field(LABEL, meaning="a folder below `rendered/clusters/`"),
        "destination": Field(
            Fields({"server": Field(Text(), None), "name": Field(Text(), None)}, agree=_destination),
            None,
            "only Argo CD: `{server}` or `{name}`, as it knows them",
            "the engine's own cluster",
        ),
        "autoscaler": Field(OneOf(("cluster-autoscaler", "karpenter", "none")), "none", "tightens checks"),
        "largestNode": Field(
            resources.RESOURCES, (), "what pods may have of its largest node: a seat must fit", "not known"
        ),
        "ceilings": Field(ListOf(CEILING), (), "the most that may be reserved at once", "none"),
        "koordinator": Field(KOORDINATOR, None, "Koordinator there; `{}` is enough", "the cluster has none"),
        "karpenter": Field(
            KARPENTER, None, "Karpenter there: its version and gates", "nothing is said of it"
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


def _clusters(made: Made, path: Path, report: Report) -> None:
    """Names are their own; a priority fits the autoscaler of each cluster that has it."""
    clusters = made["clusters"] if isinstance(made["clusters"], tuple) else ()
    names = [one["name"] for one in items(clusters)]
    inherited = set()
    for i, one in enumerate(clusters):
        if one is INVALID:
            continue
        at = (*path, "clusters", i)
        if one["name"] is not INVALID and names.count(one["name"]) > 1:
            fix = "Give each its own name."
            report(DUPLICATE_NAME, (*at, "name"), f"{shown(one['name'])} names two clusters.", fix)
        if one["priority"] is None:
            inherited.add(autoscaler_of(one))
        else:
            agree_on_priority(one["priority"], {autoscaler_of(one)}, (*at, "priority"), report)
    agree_on_priority(made["priority"], inherited, (*path, "priority"), report)
    enginechecks.agree(made, path, report)


SPEC = Fields(
    {
        "berthVersion": Field(Text("version", _version), None, "another version refuses to work", "any"),
        "timeZone": Field(Text("time zone", grammar.zone), "UTC", "of reservations that name none"),
        **OVERRIDABLE,
        "repository": Field(
            Fields(
                {
                    "url": Field(
                        Text("address of a repository", grammar.repository),
                        meaning="where the engine finds `rendered/`",
                    ),
                    "revision": Field(
                        Text("revision", grammar.revision),
                        "HEAD",
                        "branch, tag as refs/tags/NAME, or commit; of `oci://` tag or digest; Flux wants one",
                    ),
                    "path": Field(
                        Text("folder", grammar.folder), "", "folder of it where `rendered/` is", "`.`"
                    ),
                }
            ),
            None,
            "the git repository of this site",
            "none",
        ),
        "clusters": Field(ListOf(CLUSTER, 1), meaning="one or more clusters"),
        "kustomization": Field(Flag(), False, "render a kustomization.yaml for each cluster too"),
        "renku": Field(RENKU, None, "Renku's API, for project templates", "none"),
        "scaler": Field(
            SCALER, {"stabilizationSeconds": 30, "readyMinutes": 5}, "how windows are kept", "see below"
        ),
        "diff": Field(DIFF, {"noticeHours": 24, "budget": None}, "what `berth diff` warns of", "24 hours"),
    },
    agree=_clusters,
)


def _build(made: Made, origin: Origin) -> Site:
    spec = made["spec"]
    clusters = tuple(merged(own, spec) for own in spec["clusters"])
    return Site(
        origin,
        made["metadata"]["name"],
        spec["timeZone"],
        clusters,
        spec["kustomization"],
        spec["scaler"]["stabilizationSeconds"],
        spec["scaler"]["readyMinutes"],
        _renku(spec["renku"]),
        spec["diff"]["noticeHours"],
        Repository(**spec["repository"]) if spec["repository"] else None,
        spec["diff"]["budget"],
    )


def _renku(made: Made | None) -> Renku | None:
    if made is None:
        return None
    secret = made["tokenSecret"] or {"name": "", "key": ""}
    return Renku(made["url"], secret["name"], secret["key"])


DOCUMENT = Document("Site", SPEC, _build)
