"""Backends of Koordinator made by chance, for `tests.generate`: odd, sometimes wrong, mostly allowed."""

from collections.abc import Callable
from random import Random
from typing import Any

from tests.awkward import AWKWARD as TEXTS

Document = dict[str, Any]
Labels = Callable[[Random], dict[str, str]]


def koordinator(random: Random) -> Document:
    """Of a cluster."""
    document: Document = {
        "schedulerName": random.choice(["koord-scheduler", "koord.two"]),
        "allocatePolicy": random.choice(["Restricted", "Restricted", "Aligned"]),
        "colocationProfiles": random.random() < 0.5,
    }
    return {key: value for key, value in document.items() if random.random() < 0.7}


def backend(random: Random, labels: Labels) -> Document:
    optional: Document = {
        "owners": owners(random, labels),
        "allocateOnce": random.random() < 0.3,
        "taints": [{"key": "exam", "value": random.choice(["1e3", ""]), "effect": "NoExecute"}],
        "sessionAffinity": random.random() < 0.9,
        "withPlaceholders": random.random() < 0.5,
    }
    often = {"owners": 0.6, "sessionAffinity": 0.5, "allocateOnce": 0.5}
    made = {key: value for key, value in optional.items() if random.random() < often.get(key, 0.25)}
    if random.random() < 0.4:
        made["standing"] = True
    return {"type": "koordinator", **made}


def mapping(random: Random, placement: Document, labels: Labels) -> Document:
    """`reservation` of a class. `placement`: affinity and such of a pod."""
    more = {"name": "more", "resources": {"requests": {"cpu": random.choice([1, "10m", 0.5])}}}
    seat = {"name": "seat", "ports": [{"hostPort": 8080, "containerPort": 8080}]}
    optional: Document = {
        "unschedulable": random.random() < 0.5,
        "preAllocationPolicy": {"mode": random.choice(["Default", "Cluster"]), "enableMultiple": True},
        "allocatePolicy": random.choice(["Restricted", "Aligned", "Default", None]),
        "template": template(random, placement, labels),
    }
    spec = {key: value for key, value in optional.items() if random.random() < 0.3}
    if "template" in spec and random.random() < 0.5:
        spec["template"].setdefault("spec", {})["containers"] = random.sample([more, seat], 2)
    order = {"scheduling.koordinator.sh/reservation-order": str(random.choice([1, 2**63 - 1]))}
    notes = {"example.org/note": random.choice(TEXTS)}
    return {
        "metadata": {"labels": random.choice([labels(random), order]), "annotations": notes},
        "spec": spec,
    }


def owners(random: Random, labels: Labels) -> list[Document]:
    exists = [{"key": "course", "operator": "Exists"}, {"key": "a", "operator": "In", "values": ["y", "1e3"]}]
    choices: list[Document] = [
        {"labelSelector": {"matchLabels": {"course": random.choice(["ml", "1e3", "on", "017"])}}},
        {"labelSelector": {"matchLabels": labels(random), "matchExpressions": exists}},
        {"object": {"namespace": "sessions", "name": "1e3", "uid": "017", "kind": "Pod"}},
        {"controller": {"kind": "StatefulSet", "namespace": "sessions"}, "object": {"namespace": "sessions"}},
        {"controller": {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "x", "controller": True}},
        {"object": {"namespace": "hub"}, "labelSelector": {"matchExpressions": exists}},
        {"object": {"apiVersion": "v1"}} if random.random() < 0.1 else {"object": {"namespace": "hub"}},
    ]
    return random.sample(choices, random.randint(1, 3))


def template(random: Random, placement: Document, labels: Labels) -> Document:
    optional: Document = {
        **placement,
        "nodeName": random.choice(["node-1", "1e3", "017"]),
        "nodeSelector": labels(random),
        "priority": random.choice([-(2**31), 0, 2**31 - 1]),
        "priorityClassName": "system-node-critical",
        "preemptionPolicy": "Never",
        "overhead": {"cpu": random.choice([1, "10m", 0.5]), "memory": "64Mi"},
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data", "readOnly": True}}],
    }
    notes = {"example.org/note": random.choice(TEXTS)}
    metadata = {"namespace": "sessions", "labels": labels(random), "annotations": notes}
    spec = {key: value for key, value in optional.items() if random.random() < 0.3}
    return {"metadata": metadata, "spec": spec}
