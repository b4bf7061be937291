"""`reservation` of a ResourceClass: what is merged into each Reservation of Koordinator that holds its seats.

It reaches all of its API that matters to scheduling. The CRD of Koordinator checks nothing of a template, and
one value of a wrong type keeps its scheduler from seeing any Reservation of the cluster, so types are checked
here.
"""

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from berth.backends.koordinator.slottypes import Misfit, misfits
from berth.core.jsonvalues import part, parts
from berth.findings import Path
from berth.schema.basemodel import Json, Model, Parsed, Text, field
from berth.schema.documentproblems import DocumentProblems, Refusal, nearest, shown
from berth.schema.grammar import go_duration, utc
from berth.schema.metadata import check_sizes, refusal_of_ours
from berth.schema.types import INT32, INT64, Annotations, Labels

SEAT = "seat"  # the container that holds the requests of the class
_SCHEDULING = "scheduling.koordinator.sh/"
RESTRICTED = f"{_SCHEDULING}reservation-restricted-options"
PRE_ALLOCATION_REQUIRED = f"{_SCHEDULING}pre-allocation-required"
HELD_BACK = "node.koordinator.sh/reservation"
CHARGED = "quota.scheduling.koordinator.sh/name"
# Written by Koordinator itself, or meant for the pods of sessions.
_OF_PODS = frozenset(
    _SCHEDULING + name
    for name in (
        "reserve-pod",
        "reservation-name",
        "reservation-node",
        "is-pre-allocation",
        "reservation-allocated",
        "reservation-affinity",
        "exact-match-reservation",
        "reservation-ignored",
        "operating-mode",
        "reservation-owners",
        "reservation-current-owner",
    )
)
ORDER, PRIORITY = f"{_SCHEDULING}reservation-order", "koordinator.sh/priority"
# They change what a slot is, so that labels of a class's pods may not be among them.
_OF_SLOTS = (ORDER, PRIORITY, PRE_ALLOCATION_REQUIRED, RESTRICTED)
_TRACKING = (
    "app.kubernetes.io/instance",
    "argocd.argoproj.io/tracking-id",
    "argocd.argoproj.io/instance",
    "kustomize.toolkit.fluxcd.io/",
    "helm.toolkit.fluxcd.io/",
)
# What the mapping may not set, by its path, and where it is written.
_OWNED: dict[Path, str] = {
    **{(key,): f"backend.{key} in the reservation" for key in ("owners", "allocateOnce", "taints")},
    ("template", "spec", "schedulerName"): "koordinator.schedulerName in the Site",
    ("template", "spec", "containers", SEAT, "resources", "requests"): "requests in the class",
}
_ENDS = {"ttl": Text("duration", go_duration), "expires": Text("instant in UTC", utc)}
_CHOICES: dict[tuple[str, ...], tuple[str, ...]] = {
    ("allocatePolicy",): ("Restricted", "Aligned", "Default"),
    ("preAllocationPolicy", "mode"): ("Default", "Cluster"),
}


class SlotMetadata(Model):
    labels: Labels = field({}, "labels of each Reservation", "none")
    annotations: Annotations = field({}, "annotations of each Reservation", "none")

    def check(self, report: DocumentProblems) -> None:
        _check_keys(self.labels, self.annotations, report, on_object=True)


class SlotMapping(Model):
    """Merged as a strategic merge patch: null removes a key, and containers are merged by name."""

    metadata: SlotMetadata = field(SlotMetadata.model_construct(), "`{labels, annotations}`", "none")
    spec: Annotated[Json, Parsed("mapping", None, {"type": "object"}, dict)] = field(
        {}, "as in the Reservation of Koordinator, but for what Berth sets", "none"
    )

    @property
    def patch(self) -> Json:
        """Return what is merged, with its nulls."""
        return {"metadata": self.metadata.dump(), "spec": self.spec}

    def check(self, report: DocumentProblems) -> None:
        report = report.below("spec")
        wrong = [misfit for misfit in misfits(self.spec) if misfit.path[0] not in _ENDS]
        for misfit in wrong:
            _report_misfit(misfit, report)
        self._check_owned(report)
        self._check_end(report)
        if wrong:
            return
        for where, choices in _CHOICES.items():
            *above, key = where
            value = part(self.spec, *above).get(key)
            if value is not None and value not in choices:
                message = f"{shown(value)} is not one of {', '.join(choices)}."
                report("B014", where, message, f"Write {' or '.join(choices)}.")
        pod, metadata = part(self.spec, "template", "spec"), part(self.spec, "template", "metadata")
        in_template = report.below("template", "metadata")
        _check_keys(metadata.get("labels"), metadata.get("annotations"), in_template, on_object=False)
        if pod.get("priorityClassName") is not None and pod.get("priority") is None:
            message = "a Reservation does not get its priority from the name of a class."
            fix = "Remove it, or add priority: the value of the class."
            report("B029", ("template", "spec", "priorityClassName"), message, fix, at_key=True)

    def _check_owned(self, report: DocumentProblems) -> None:
        """Report what Berth or a reservation sets."""
        for owned, where in _OWNED.items():
            at = _touched(self.spec, owned)
            if at is not None:
                message = f"it replaces or removes {owned[-1]}, which Berth sets."
                report("B023", (*at,), message, f"Remove it, and write {where}.", at_key=True)

    def _check_end(self, report: DocumentProblems) -> None:
        """Check when standing slots end."""
        read: dict[str, str] = {}
        for key, text in _ENDS.items():
            try:
                if self.spec.get(key) is not None:
                    read[key] = text.read(self.spec[key])
            except Refusal as refusal:
                report.refuse(refusal, (key,))
        ttl = read.get("ttl")
        if ttl == "0s" and "expires" in read:
            message = "ttl 0 means never: Koordinator would ignore expires."
            fix = "Remove ttl: Berth sets one that lets expires decide."
            report("B107", "ttl", message, fix)
        elif ttl not in (None, "0s"):
            message = f"a slot ends {ttl} after its creation, and is created again from git a day later."
            report("B109", "ttl", message, "Write expires, and remove ttl.")


def merged(base: Mapping[str, Any], patch: Mapping[str, Any]) -> Json:
    """Merge as a strategic merge patch: null removes a key, containers are merged by name, lists replaced."""
    made = dict(base)
    for key, value in patch.items():
        if value is None:
            made.pop(key, None)
        elif isinstance(value, dict):
            made[key] = merged(part(made, key), value)
        elif key == "containers":
            made[key] = _by_name(parts(made, key), value)
        else:
            made[key] = value
    return made


def _by_name(base: list[Json], patch: list[Json]) -> list[Json]:
    named = {container.get("name"): container for container in patch}
    known = [merged(container, named.pop(container["name"], {})) for container in base]
    return [*known, *(merged({}, container) for container in named.values())]


def _touched(value: Any, path: Path) -> Path | None:
    """Return where the patch replaces or removes what the path leads to; None: nowhere."""
    if value is None or not path:
        return ()
    key, below = path[0], None
    if isinstance(value, list):
        named = {item.get("name"): item for item in value if isinstance(item, dict)}
        return None if key not in named or _touched(named[key], path[1:]) is None else ()
    if isinstance(value, dict) and key in value:
        below = _touched(value[key], path[1:])
    return None if below is None else (key, *below)


def _report_misfit(misfit: Misfit, report: DocumentProblems) -> None:
    if misfit.words:
        message = (
            f"{shown(misfit.value)} is not {misfit.words}: Koordinator would read no Reservation at all."
        )
        report("B013", misfit.path, message, f"Write {misfit.words}.")
    else:
        fix = nearest(str(misfit.path[-1]), misfit.fields)
        report("B010", misfit.path, "a slot has no such key.", fix, at_key=True)


def _check_keys(
    labels: Labels | None,
    annotations: Annotations | None,
    report: DocumentProblems,
    *,
    on_object: bool,
) -> None:
    """Report keys that would break what a slot is for.

    `on_object`: they are on the Reservation itself, which an engine may see, not in its template. Koordinator
    copies both onto the pod that its scheduler sees, where many keys mean something else.
    """
    check_sizes(labels, annotations, report)
    for where, pairs in (("labels", labels), ("annotations", annotations)):
        for name, value in (pairs or {}).items():
            at = (where, name)
            refusal = refusal_of_ours(name)
            if refusal is not None:
                report.refuse(refusal, at)
            elif name in _OF_PODS:
                message = f"{name} belongs on pods or to Koordinator, and means something else on a slot."
                report("B112", at, message, "Remove it.", at_key=True)
            elif on_object and name.startswith(_TRACKING):
                message = (
                    f"{name} tells an engine which objects it owns: it would remove the slots of a window."
                )
                report("B112", at, message, "Remove it.", at_key=True)
            elif name == CHARGED:
                message = f"{name} counts a slot in a quota, and the session that uses it once more."
                fix = "Remove it, unless the quota is large enough for both."
                report("B113", at, message, fix, at_key=True)
            elif name in _READ and not _READ[name][0](value or ""):
                message = f"Koordinator cannot read {shown(value)}, and ignores it."
                report("B112", at, message, f"Write {_READ[name][1]}.")


def is_foreign(name: str) -> bool:
    """Tell whether a label makes something else of a slot, also where a class puts it on its pods."""
    return name in _OF_PODS or name in _OF_SLOTS


def restricted_resources(annotations: Mapping[str, str]) -> tuple[str, ...]:
    """Return the resources that come from the slot alone; empty: all of it."""
    found = _json(annotations.get(RESTRICTED, "")).get("resources", ())
    return tuple(name for name in found if isinstance(name, str)) if isinstance(found, list) else ()


def _json(text: str) -> Json:
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return tree if isinstance(tree, dict) else {}


def _is_number(least: int, most: int) -> Callable[[str], bool]:
    return lambda text: text.isascii() and text.isdecimal() and least <= int(text) <= most


# The texts that Koordinator parses: whether it can, and how they are written.
_READ: dict[str, tuple[Callable[[str], bool], str]] = {
    ORDER: (_is_number(1, INT64), "a whole number from 1 up"),
    PRIORITY: (_is_number(0, INT32), "a whole number from 0 up"),
    RESTRICTED: (lambda text: bool(restricted_resources({RESTRICTED: text})), """'{"resources": ["cpu"]}'"""),
    HELD_BACK: (
        lambda text: bool(_json(text)),
        """JSON such as '{"resources": {"cpu": "1"}}'""",
    ),
}
