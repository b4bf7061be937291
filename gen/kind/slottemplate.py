"""`backend.template`: what is added to the pod template of a slot, beyond what the class says.

Koordinator's CRD checks nothing in there, and one value of a wrong type keeps its scheduler from seeing any
Reservation; so only what matters to scheduling can be written, and all of it is checked.
"""

from typing import Any

from gen.finding import Path
from gen.kind import grammar, resources, slotkeys
from gen.kind.metadata import ANNOTATIONS, LABELS
from gen.kind.pod import PLACEMENT, placement
from gen.kind.shape import (
    CONFLICT,
    IDLE_KEY,
    INVALID,
    MISSING,
    Field,
    Fields,
    ListOf,
    Made,
    MapOf,
    Refusal,
    Report,
    shown,
)
from gen.kind.value import Flag, OneOf, Text, Whole

PRIORITY = "B110"
_INT32 = 2**31 - 1


def _ip_address(text: str) -> str:
    from ipaddress import ip_address  # noqa: PLC0415 - hardly anybody writes one

    try:
        ip_address(text)
    except ValueError:
        message = f"{shown(text)} is not an IP address."
        raise Refusal(message, "Write one such as 10.0.0.5.", grammar.NAME) from None
    return text


def _metadata(made: Made, path: Path, report: Report) -> None:
    slotkeys.agree(made, path, report, on_object=False)


METADATA = Fields(
    {
        "namespace": Field(
            Text("DNS label", grammar.dns_label),
            None,
            "the one that pod affinity, spread and claims look into",
            "`default`",
        ),
        "labels": Field(LABELS, None, "that affinity and spread see", "none"),
        "annotations": Field(ANNOTATIONS, None, "that the scheduler sees", "none"),
    },
    agree=_metadata,
)


class _Volumes(ListOf):
    """The API server wants names that differ."""

    def check(self, value: Any, path: Path, report: Report) -> Any:
        checked = ListOf.check(self, value, path, report)
        names: list[str] = []
        for i, one in enumerate(checked if isinstance(checked, tuple) else ()):
            if one is not INVALID and one["name"] in names:
                report(CONFLICT, (*path, i, "name"), f"{one['name']} stands twice.", "Rename one of the two.")
            names += [one["name"]] if one is not INVALID else []
        return checked


def _given(made: Made) -> dict[str, Any]:
    return {key: value for key, value in made.items() if value is not None}


VOLUME = Fields(
    {
        "name": Field(Text("DNS label", grammar.dns_label)),
        "persistentVolumeClaim": Field(
            Fields(
                {
                    "claimName": Field(Text("DNS name", grammar.dns_name)),
                    "readOnly": Field(Flag(), None),
                },
                _given,
            )
        ),
    },
    _given,
)


PORT = Fields(
    {
        "hostPort": Field(Whole(1, 65535)),
        "containerPort": Field(Whole(1, 65535), None),
        "protocol": Field(OneOf(("TCP", "UDP", "SCTP")), None),
        "hostIP": Field(Text("IP address", _ip_address), None),
    },
    lambda made: {"containerPort": made["hostPort"], **_given(made)},
)


def _agree(made: Made, path: Path, report: Report) -> None:
    metadata = made["metadata"]
    has_namespace = metadata is INVALID or (metadata is not None and metadata["namespace"] is not None)
    if made["volumes"] and made["volumes"] is not INVALID and not has_namespace:
        message = "claims are looked for in namespace default."
        report(MISSING, (*path, "volumes"), message, "Add metadata.namespace: where the claims are.")
    if made["priority"] not in (None, INVALID):
        warn_of_priority((*path, "priority"), report)
    elif made["priorityClassName"] is not None and made["priority"] is None:
        message = "the name of a class gives a Reservation no priority."
        fix = "Remove it, or add priority: the value of the class."
        report(IDLE_KEY, (*path, "priorityClassName"), message, fix, at_key=True)


def warn_of_priority(path: Path, report: Report) -> None:
    """Where preemption is off, which is Koordinator's default, a priority does nothing."""
    message = (
        "where preemption is on, a slot with a priority pushes out pods below it, "
        "and pods above it try to push out a slot, which nothing can remove."
    )
    report(PRIORITY, path, message, "Remove it, unless preemption is meant.", at_key=True)


TEMPLATE = Fields(
    {
        "metadata": Field(METADATA, None, "`{namespace, labels, annotations}` of the template", "none"),
        "nodeName": Field(Text("node name", grammar.dns_name), None, "only this node", "any node"),
        **{name: field for name, field in PLACEMENT.items() if name != "schedulerName"},
        "priority": Field(
            Whole(-(2**31), _INT32), None, "of the slot, where preemption is on", "the highest"
        ),
        "priorityClassName": Field(
            Text("DNS name", grammar.dns_name), None, "does nothing without priority", "none"
        ),
        "preemptionPolicy": Field(
            OneOf(("Never", "PreemptLowerPriority")), None, "where preemption is on", "PreemptLowerPriority"
        ),
        "overhead": Field(
            MapOf(grammar.resource_name, resources.AMOUNT), None, "held beside the class's requests", "none"
        ),
        "volumes": Field(
            _Volumes(VOLUME), None, "`{name, persistentVolumeClaim: {claimName}}`: claims to be near", "none"
        ),
        "ports": Field(ListOf(PORT), None, "`{hostPort}`: ports of the node that are held too", "none"),
    },
    agree=_agree,
)


def template(made: Made | None) -> dict[str, Any]:
    """`metadata` and `spec` with what was said, as a pod template has them; with ports, `ports` of its
    container.
    """
    if made is None:
        return {"metadata": {}, "spec": {}}
    said = made["metadata"] or {"namespace": None, "labels": None, "annotations": None}
    metadata = {key: dict(said[key]) for key in ("labels", "annotations") if said[key]}
    if said["namespace"]:
        metadata = {"namespace": said["namespace"], **metadata}
    spec = placement(made)
    for name in ("nodeName", "priority", "priorityClassName", "preemptionPolicy"):
        if made[name] is not None:
            spec[name] = made[name]
    if made["overhead"]:
        spec["overhead"] = dict(made["overhead"])
    if made["volumes"]:
        spec["volumes"] = made["volumes"]
    ports = {"ports": made["ports"]} if made["ports"] else {}
    return {"metadata": metadata, "spec": spec, **ports}
