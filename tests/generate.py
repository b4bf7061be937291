"""Declarations made by chance, from a seed: every feature of the input, odd but mostly allowed.

`validate` says which of them are good; whatever it accepts must render, and a real API server must take it.
"""

import json
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

from berth.dates.zone import known

from tests import generateslots
from tests.awkward import AWKWARD as TEXTS
from tests.awkward import TITLES

Document = dict[str, Any]
WORDS = (
    "course",
    "lab",
    "exam",
    "intro",
    "data",
    "night",
    "a",
    "b-c",
    "x1",
    "seminar-on-very-long-names-indeed",
)
DEVICES = ("nvidia.com/gpu", "amd.com/gpu", "example.org/fpga", "koordinator.sh/gpu-memory-ratio")


def project(folder: Path, seed: int, reservations: int) -> None:
    """A site with two clusters, eight classes and many reservations below folder/reservations, one to a
    file.
    """
    random = Random(seed)
    where = folder / "reservations"
    where.mkdir(parents=True)
    classes = [resource_class(random, i) for i in range(8)]
    write(where, site(random))
    for calendar in calendars(random):
        write(where, calendar)
    for one in classes:
        write(where, one)
    names = [one["metadata"]["name"] for one in classes]
    for i in range(reservations):
        write(where, reservation(random, i, names))


def write(folder: Path, declaration: Document) -> None:
    """A JSON file of its own: what is tested with these is meaning, not notation."""
    name = f"{declaration['kind']}-{declaration['metadata']['name']}.json".lower()
    (folder / name).write_text(json.dumps(declaration, indent=1), encoding="utf-8")


def document(kind: str, name: str, spec: Document, **metadata: Any) -> Document:
    return {
        "apiVersion": "berth.dev/v1alpha1",
        "kind": kind,
        "metadata": {"name": name, **metadata},
        "spec": spec,
    }


def site(random: Random) -> Document:
    clusters: list[Document] = [
        {
            "name": "one",
            "priority": random.choice([-10, -1]),
            "koordinator": generateslots.koordinator(random),
        },
        {"name": "two", "engine": "none", "koordinator": generateslots.koordinator(random)},
    ]
    spec = {
        "timeZone": "Europe/Zurich",
        "engine": "argocd",
        "repository": {"url": "https://git.example.org/capacity.git"},
        "clusters": clusters,
        "calendars": Random(repr(clusters)).choice([[], ["holidays"]]),  # tests name seeds by the rest
    }
    return document("Site", "generated", spec)


def calendars(random: Random) -> list[Document]:
    """Holidays, also half ones; two terms; and two dates on which the site is closed."""
    days = sorted(some_day(random).isoformat() for _ in range(10))
    random = Random(days[0])  # tests name seeds by what follows
    half = [
        {"date": some_day(random).isoformat(), "from": "12:00", "title": some_title(random)},
        {"date": some_day(random).isoformat(), "until": "24:00"},
        {"date": some_day(random).isoformat(), "from": "09:15", "until": "13:00"},
    ]
    terms = [
        {"name": name, "from": first.isoformat(), "to": (first + timedelta(days=60)).isoformat()}
        for name, first in (("spring", some_day(random)), ("autumn", some_day(random)))
    ]
    closed = [some_day(random).isoformat() for _ in range(2)]
    holidays = [*days, {"from": "2026-07-01", "to": "2026-07-09"}, *half]
    return [
        document("Calendar", "holidays", {"dates": holidays}),
        document("Calendar", "terms", {"terms": terms}),
        document("Calendar", "closure", {"dates": closed, "closes": True}),
    ]


def resource_class(random: Random, number: int) -> Document:
    requests: Document = {
        "cpu": random.choice(["1", "250m", 2, 0.5]),
        "memory": random.choice(["1Gi", "500M"]),
    }
    if random.random() < 0.4:
        requests[random.choice(DEVICES)] = random.choice([1, "2"])
    spec: Document = {
        "cluster": random.choice(["one", "two"]),
        "requests": requests,
        "podLabels": labels(random),
        "sessions": sessions(random),
        "renkuId": number,
    }
    optional: Document = {
        "limits": {"cpu": 4, "memory": "8Gi"},
        "nodeSelector": labels(random),
        "tolerations": [toleration(random) for _ in range(random.randint(1, 3))],
        "affinity": affinity(random),
        "topologySpreadConstraints": [spread(random)],
        "schedulerName": "default-scheduler",
    }
    spec.update({key: value for key, value in optional.items() if random.random() < 0.5})
    random = Random(repr(spec))  # tests name seeds by the rest
    if random.random() < 0.5:
        placement = {"affinity": affinity(random), "topologySpreadConstraints": [spread(random)]}
        spec["reservation"] = generateslots.mapping(random, placement, labels)
    return document("ResourceClass", f"class-{number}", spec)


def sessions(random: Random) -> Document:
    namespaces = random.choice([["sessions"], ["hub"], ["hub", "sessions"]])
    made: Document = {
        "source": random.choice(["pods", "jupyterhub", "renku", "custom"]),
        "namespaces": namespaces,
        "selector": random.choice([{}, {"matchLabels": labels(random)}, selector(random)]),
    }
    if made["source"] == "custom":
        made.update(
            {
                "version": "v1",
                "resource": random.choice(["pods", "notebooks"]),
                "matchAnnotations": {"example.org/class": some_title(random)},
                "inactive": [{"path": "spec.suspend", "values": ["true", "1e3"]}],
            }
        )
        if made["resource"] == "notebooks":
            made["group"] = "kubeflow.org"
    return made


def labels(random: Random) -> dict[str, str]:
    keys = ("example.org/team", "course", "a.b/c_d", "X-1", "y", "on")
    values = ("science", "1e3", "y", "on", "017", "0o17", "12e03", "null", "true", "a_b.c-d", "", "25921e05")
    return {random.choice(keys): random.choice(values) for _ in range(random.randint(0, 3))}


def toleration(random: Random) -> Document:
    effect = random.choice([None, "NoSchedule", "PreferNoSchedule", "NoExecute"])
    made: Document = {"key": "example.org/dedicated", "operator": random.choice(["Exists", "Equal"])}
    if random.random() < 0.2:
        made = {"operator": "Exists"}
    if made["operator"] == "Equal":
        made["value"] = random.choice(["users", "1e3", ""])
    if effect:
        made["effect"] = effect
    if effect == "NoExecute" and random.random() < 0.5:
        made["tolerationSeconds"] = random.choice([0, 30, -1])
    return made


def selector(random: Random) -> Document:
    expressions = [
        {"key": "example.org/team", "operator": "In", "values": ["a", "1e3"]},
        {"key": "course", "operator": "Exists"},
        {"key": "other", "operator": "NotIn", "values": ["y"]},
        {"key": "gone", "operator": "DoesNotExist"},
    ]
    return {
        "matchLabels": labels(random),
        "matchExpressions": random.sample(expressions, random.randint(0, 3)),
    }


def affinity(random: Random) -> Document:
    node_term = {"matchExpressions": [{"key": "cpus", "operator": "Gt", "values": ["8"]}]}
    field_term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}
    pod_term = {"labelSelector": selector(random), "topologyKey": "kubernetes.io/hostname"}
    if random.random() < 0.3:
        pod_term["matchLabelKeys"] = ["pod-template-hash"]
    required, preferred = (
        "requiredDuringSchedulingIgnoredDuringExecution",
        "preferredDuringSchedulingIgnoredDuringExecution",
    )
    return {
        "nodeAffinity": {
            required: {"nodeSelectorTerms": [node_term, field_term]},
            preferred: [{"weight": random.randint(1, 100), "preference": node_term}],
        },
        "podAntiAffinity": {preferred: [{"weight": 50, "podAffinityTerm": pod_term}]},
        "podAffinity": {required: [{**pod_term, "namespaces": ["sessions"], "namespaceSelector": {}}]},
    }


def spread(random: Random) -> Document:
    when = random.choice(["DoNotSchedule", "ScheduleAnyway"])
    made = {
        "maxSkew": random.randint(1, 5),
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": when,
        "labelSelector": selector(random),
        "nodeTaintsPolicy": random.choice(["Honor", "Ignore"]),
    }
    return {**made, "minDomains": 2} if when == "DoNotSchedule" else made


def some_title(random: Random) -> str:
    text = random.choice(TEXTS)
    return text if text in TITLES else "A title"


def some_day(random: Random) -> date:
    return date(2026, 1, 1) + timedelta(days=random.randrange(365))


def some_time(random: Random) -> str:
    return f"{random.randrange(24):02}:{random.choice([0, 0, 5, 15, 30, 45, 59]):02}"


def reservation(random: Random, number: int, classes: list[str]) -> Document:
    listed = random.random() < 0.3
    spec: Document = {
        "title": some_title(random),
        "recurrence": recurrence(random, classes, listed=listed),
        "provisioning": scaling(random),
        "sessions": {
            "matchAnnotations": {"example.org/project": some_title(random)},
            "earlier": random.choice(["count", "ignore"]),
        },
        "suspend": random.random() < 0.1,
    }
    if listed:
        spec["provisioning"]["seats"] = seats(random, classes)
    else:
        spec["resourceClass"] = random.choice(classes)
        spec["provisioning"]["placeholderCount"] = random.randint(1, 500)
    if random.random() < 0.3:
        spec["backend"] = generateslots.backend(random, labels)
        if "standing" in spec["backend"]:
            del spec["recurrence"]
    name = f"{random.choice(WORDS)}-{random.choice(WORDS)}-{number}"
    spec |= owner(Random(name))  # tests name seeds by the rest
    annotations = {"example.org/note": some_title(random), "berth.dev/ignore": "B031: made by chance"}
    return document("CapacityReservation", name, spec, labels=labels(random), annotations=annotations)


def owner(random: Random) -> Document:
    """Return the key and its value, or nothing."""
    lines = [text for text in TEXTS if text and text.isprintable()]
    contacts = ["@ada", "@uni/physics", "o'brien+lab@example.org"]
    both = {"name": random.choice(lines), "contact": random.choice(contacts)}
    return random.choice([{}, {"owner": {"name": both["name"]}}, {"owner": both}])


def scaling(random: Random) -> Document:
    return {
        "leadTimeMinutes": random.choice([0, 1, 15, 30, 61, 180, 1440]),
        "scaleDownBehavior": random.choice(["maintain", "reduce", "none"]),
    }


def some_scaling(random: Random) -> Document:
    """Usually none, else one of the keys or both."""
    return {key: value for key, value in scaling(random).items() if random.random() < 0.2}


def seats(random: Random, classes: list[str]) -> list[Document]:
    chosen = random.sample(classes, random.randint(1, 4))
    return [
        {"resourceClass": name, "placeholderCount": random.randint(1, 50), **some_scaling(random)}
        for name in chosen
    ]


def recurrence(random: Random, classes: list[str], *, listed: bool) -> Document:
    kind = random.choice(["once", "daily", "weekly", "weekly", "weekly", "dates"])
    first = some_day(random)
    length = {"once": random.randrange(3), "daily": random.randrange(40), "weekly": random.randrange(7, 200)}
    made: Document = {"type": kind, "timeZone": random.choice(known())}
    if kind == "dates":
        made["dates"] = sorted({some_day(random).isoformat() for _ in range(random.randint(1, 12))})
        if random.random() < 0.3:
            hours = entry(random, classes, kind=kind, listed=listed)
            made["dates"].append({"date": some_day(random).isoformat(), **hours})
    elif kind != "once" and first.day % 3 == 0:
        made["within"] = ["spring", "autumn"] if first.day % 2 else ["autumn"]
    else:
        made["startDate"] = first.isoformat()
        made["endDate"] = (first + timedelta(days=length[kind])).isoformat()
    if kind == "weekly":
        made["interval"] = random.choice([1, 1, 1, 2, 3])
    made["schedule"] = [
        entry(random, classes, kind=kind, listed=listed) for _ in range(random.choice([1, 1, 2, 3]))
    ]
    if kind in ("daily", "weekly") and random.random() < 0.2 and "endDate" in made:
        made["schedule"][0][random.choice(["from", "until"])] = made["endDate"]
    if kind == "weekly" and made["interval"] == 1 and random.random() < 0.3:
        rules = [{"weeks": "odd"}, {"weeks": "even"}, {"monthly": {"week": random.choice([1, 2, -1])}}]
        made["schedule"][0].update(random.choice(rules))
    if random.random() < 0.4:
        made["calendars"] = ["holidays"]
    if random.random() < 0.3:
        day = some_day(random).isoformat()
        times = {"startTime": some_time(random), "endTime": some_time(random)}
        made["extra"] = [{"date": day, **times, **some_scaling(random)}]
    return made


def entry(random: Random, classes: list[str], *, kind: str, listed: bool) -> Document:
    made: Document = {"startTime": some_time(random), "endTime": random.choice([some_time(random), "24:00"])}
    if kind == "weekly":
        days = random.sample(["mon", "tue", "wed", "thu", "fri", "sat", "sun"], random.randint(1, 3))
        made["daysOfWeek"] = days
    if kind != "once" and random.random() < 0.1:
        made["endDay"] = random.choice([1, 2])
    if random.random() < 0.2:
        made["name"] = random.choice(WORDS)
    if random.random() < 0.2:
        own = {"seats": seats(random, classes)} if listed else {"placeholderCount": random.randint(1, 99)}
        made.update(own)
    return made | some_scaling(random)
