"""Objects of somebody else whose numbers are held: the kinds that are known, and `held` of a cluster."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, NamedTuple

from berth.core.holders import Step
from berth.core.objects import ObjectKind, group_of
from berth.core.quantities import parse_quantity
from berth.findings import Path
from berth.notation.objectpath import (
    ANY_ITEM,
    ANY_KEY,
    matches_pattern,
    object_path_text,
    parse_object_path,
    yaml_path,
)
from berth.schema.basemodel import Model, NonEmptyUnique, Text, field
from berth.schema.documentproblems import CONFLICT, MISSING, DocumentProblems, Refusal, close, shown
from berth.schema.grammar import page_size
from berth.schema.seatholders import Unit
from berth.schema.types import DnsLabel

NOT_HELD = "B300"


class KnownKind(NamedTuple):
    """What Berth knows of a kind.

    `paths`: the numbers that may be held unless the Site lists others. `ready`: where its status counts what
    a number of its spec asks for. `above_zero`: the numbers of its spec that the API server refuses to be 0.
    `has_quantities`: whether its spec has amounts such as 64Gi. `bounds`: the least and the largest number of
    the same things. `item_keys`: by the name of a list, the key that names its items; empty: they have none.
    """

    plural: str
    paths: tuple[tuple[Step, ...], ...]
    has_scale: bool = False
    of_cluster: bool = False
    ready: tuple[tuple[Step, ...], tuple[Step, ...]] = ((), ())
    above_zero: tuple[tuple[Step, ...], ...] = ()
    has_quantities: bool = False
    bounds: tuple[tuple[Step, ...], ...] = ()
    item_keys: Mapping[Step, str] = {}


REPLICAS: tuple[Step, ...] = ("spec", "replicas")
_SCALED: tuple[tuple[Step, ...], tuple[Step, ...]] = (REPLICAS, ("status", "readyReplicas"))
_AUTOSCALED: tuple[tuple[Step, ...], ...] = (("spec", "minReplicas"), ("spec", "maxReplicas"))
_KEDA: tuple[tuple[Step, ...], ...] = (("spec", "minReplicaCount"), ("spec", "maxReplicaCount"))
_RUNNERS: tuple[tuple[Step, ...], ...] = (("spec", "minRunners"), ("spec", "maxRunners"))
_QUOTAS: tuple[Step, ...] = (
    *("spec", "resourceGroups", ANY_ITEM),
    *("flavors", ANY_ITEM, "resources", ANY_ITEM),
)
KNOWN_KINDS = {
    ("apps", "Deployment"): KnownKind("deployments", (REPLICAS,), has_scale=True, ready=_SCALED),
    ("apps", "ReplicaSet"): KnownKind("replicasets", (REPLICAS,), has_scale=True, ready=_SCALED),
    ("apps", "StatefulSet"): KnownKind("statefulsets", (REPLICAS,), has_scale=True, ready=_SCALED),
    ("autoscaling", "HorizontalPodAutoscaler"): KnownKind(
        "horizontalpodautoscalers",
        _AUTOSCALED,
        ready=(("spec", "minReplicas"), ("status", "currentReplicas")),
        above_zero=_AUTOSCALED,  # a minReplicas of 0 needs the feature gate HPAScaleToZero
        bounds=_AUTOSCALED,
    ),
    ("keda.sh", "ScaledObject"): KnownKind(
        "scaledobjects", _KEDA, above_zero=(("spec", "maxReplicaCount"),), bounds=_KEDA
    ),
    ("actions.github.com", "AutoscalingRunnerSet"): KnownKind(
        "autoscalingrunnersets",
        _RUNNERS,
        ready=(("spec", "minRunners"), ("status", "currentRunners")),
        bounds=_RUNNERS,
    ),
    ("actions.summerwind.dev", "HorizontalRunnerAutoscaler"): KnownKind(
        "horizontalrunnerautoscalers", _AUTOSCALED, bounds=_AUTOSCALED
    ),
    ("karpenter.sh", "NodePool"): KnownKind(
        "nodepools", (("spec", "limits", ANY_KEY),), of_cluster=True, has_quantities=True
    ),
    ("kueue.x-k8s.io", "ClusterQueue"): KnownKind(
        "clusterqueues",
        tuple((*_QUOTAS, name) for name in ("nominalQuota", "borrowingLimit", "lendingLimit")),
        of_cluster=True,
        has_quantities=True,
        item_keys={"resourceGroups": "", "flavors": "name", "resources": "name"},
    ),
}
"""By group and kind."""

_CORE_KINDS = (
    "ReplicationController",
    "ResourceQuota",
)  # others of the core group have no number worth holding
_NEVER_GROUPS = (
    *("admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io"),
    *("authentication.k8s.io", "authorization.k8s.io", "certificates.k8s.io", "rbac.authorization.k8s.io"),
    *("argoproj.io/Application", "argoproj.io/ApplicationSet", "argoproj.io/AppProject"),
    *("apps/ControllerRevision", "apps/DaemonSet", "batch/CronJob"),
    *("helm.toolkit.fluxcd.io", "kustomize.toolkit.fluxcd.io", "source.toolkit.fluxcd.io"),
)
"""Groups, and kinds of groups: a patch of such an object can give rights or run code."""


def is_never_held(api_version: str, kind: str) -> bool:
    """Return whether a patch of such an object could give rights or run code, whatever number it is for."""
    group = group_of(api_version)
    if not group:
        return kind not in _CORE_KINDS
    return group in _NEVER_GROUPS or f"{group}/{kind}" in _NEVER_GROUPS


_BYTES = ("memory", "storage", "hugepages", "bytes")
_BYTES_RESOURCE = re.compile(
    r"((requests|limits)\.)?(memory|storage|ephemeral-storage|hugepages-[a-z0-9]+)", re.ASCII
)
_RESOURCES = (
    *("cpu", "memory", "ephemeral-storage", "storage", "pods", "nodes"),
    *("hugepages-2Mi", "hugepages-1Gi", "nvidia.com/gpu", "amd.com/gpu"),
)
"""Names of resources that many nodes have."""
_WORDS = (("replica", Unit.REPLICA), ("runner", Unit.RUNNER), ("cpu", Unit.CORE))
_CAPS = ("max", "maximum", "limit", "limits", "quota", "quotas", "hard")


def near_kinds(kind: str, listed: Iterable[str] = ()) -> list[str]:
    """Return the kinds that are probably meant by one that is neither known nor listed."""
    kinds = {*listed, *(name for _, name in KNOWN_KINDS)}
    return [] if kind in kinds else close(kind, sorted(kinds), 0.85)


def plural_of(kind: str) -> str:
    """Guess the name of a kind in paths of the API."""
    return kind.lower() + ("es" if kind.endswith("s") else "s")


def known_kind(api_version: str, kind: str) -> KnownKind | None:
    return KNOWN_KINDS.get((group_of(api_version), kind))


def unit_of(path: tuple[Step, ...]) -> Unit:
    """Return what the number at a path counts, by the last step that says so."""
    for step in reversed(path):
        text = (step[1] if isinstance(step, tuple) else str(step)).lower()
        for word, unit in _WORDS:
            if word in text:
                return unit
    return Unit.UNIT


def counts_bytes(path: tuple[Step, ...]) -> bool:
    """Return whether the number at a path is of bytes, by its key or the item that it is of.

    An extended resource, whose name has a slash, is counted in devices.
    """
    name = _counted_name(path)
    return "/" not in name and any(word in name for word in _BYTES)


def names_bytes(path: tuple[Step, ...]) -> bool:
    """Return whether the number at a path is of a resource that Kubernetes counts in bytes.

    A key such as maxBytes or memoryMiB says so too, but may be a plain number.
    """
    return _BYTES_RESOURCE.fullmatch(_counted_name(path)) is not None


def _counted_name(path: tuple[Step, ...]) -> str:
    """Return which resource the number at a path is of; a quota may be for one StorageClass alone."""
    step = _resource_step(path)
    name = (step[1] if isinstance(step, tuple) else str(step)).lower()
    return name.partition(".storageclass.storage.k8s.io/")[2] or name


def _resource_step(path: tuple[Step, ...]) -> Step:
    """Return the step that names the resource: the item that the number is of, or its key."""
    return path[-2] if len(path) > 1 and isinstance(path[-2], tuple) else path[-1]


def meant_resources(path: tuple[Step, ...]) -> list[str]:
    """Return the resources that are probably meant by a name in a path that is none of Kubernetes.

    Devices of nodes begin with a domain, so such names pass, and lists may have items of other names.
    """
    step = _resource_step(path)
    name = step[1] if isinstance(step, tuple) else str(step)
    if name in _RESOURCES or "/" in name or page_size(name):
        return []
    devices = [each for each in _RESOURCES if isinstance(step, str) and each.endswith(f"/{name.lower()}")]
    return devices or close(name, _RESOURCES, 0.8)[:1]


def is_cap(path: tuple[Step, ...]) -> bool:
    """Return whether the number at a path limits others, so that a window may take something from them."""
    keys = (step for step in path if isinstance(step, str))
    return any(word.lower() in _CAPS for key in keys for word in re.findall("[A-Za-z][a-z]*", key))


def _api_version(text: str) -> str:
    if re.fullmatch(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[0-9][a-z0-9]*", text, re.ASCII):
        return text
    raise Refusal(f"{shown(text)} is not an apiVersion.", "Write it as autoscaling/v2.", NOT_HELD)


def _kind(text: str) -> str:
    if re.fullmatch(r"[A-Z][A-Za-z0-9]*", text, re.ASCII):
        return text
    raise Refusal(f"{shown(text)} is not a kind.", "Write it as HorizontalPodAutoscaler.", NOT_HELD)


def _pattern(text: str) -> tuple[Step, ...]:
    """Read which numbers may be held. What runs in pods is never one of them."""
    steps = parse_object_path(text, is_pattern=True)
    fix = "Write it as spec.minReplicas, spec.limits.* or spec.groups[*].quota."
    if steps is None:
        raise Refusal(f"{shown(text)} is not a pattern of paths.", fix, NOT_HELD)
    if steps[0] != "spec" or not isinstance(steps[-1], str) or len(steps) < 2:
        raise Refusal(f"{shown(text)} is not a number below spec.", fix, NOT_HELD)
    if holds_code(steps):
        message = f"{shown(text)} is in a template or metadata: who changes that can run other code."
        raise Refusal(message, fix, NOT_HELD)
    return steps


def holds_code(path: tuple[Step, ...]) -> bool:
    """Return whether a path leads into a template of pods, or into metadata."""
    return any(
        step == "metadata" or step.lower().endswith(("template", "templates"))
        for step in path
        if isinstance(step, str)
    )


PathPattern = Annotated[tuple[Step, ...], Text("path", _pattern)]
ApiVersion = Annotated[str, Text("apiVersion", _api_version)]
Kind = Annotated[str, Text("kind", _kind)]


def _filled(step: Step, allowed: Step) -> Step:
    """Return the step of a pattern, or that of a path in place of a wildcard that it matches."""
    is_wildcard = allowed in (ANY_KEY, ANY_ITEM)
    return step if is_wildcard and isinstance(step, str) == (allowed == ANY_KEY) else allowed


def _with_steps_of(path: tuple[Step, ...], patterns: Iterable[tuple[Step, ...]]) -> list[str]:
    """Return patterns with the steps of a path where they have wildcards, as YAML."""
    filled = [
        tuple(_filled(step, allowed) for step, allowed in zip(path, pattern, strict=False))
        + pattern[len(path) :]
        for pattern in patterns
    ]
    return [yaml_path(steps) for steps in filled]


class HeldSpec(Model):
    """Objects of somebody else whose numbers reservations may hold."""

    api_version: ApiVersion = field(meaning="their apiVersion")
    kind: Kind = field(meaning="their kind")
    namespaces: NonEmptyUnique[DnsLabel] | None = field(
        None, "where they are", "none: the kind has no namespace"
    )
    plural: DnsLabel | None = field(
        None, "name of the kind in paths of the API", "that of known kinds; else required"
    )
    scale: bool | None = field(
        None, "whether the kind has the subresource scale, to write spec.replicas by", "that of known kinds"
    )
    paths: NonEmptyUnique[PathPattern] | None = field(
        None,
        "numbers that may be held, such as spec.limits.*; `*` is any key, `[*]` any item",
        "those of known kinds; spec.replicas with `scale`; else required",
    )

    def check(self, path: Path, report: DocumentProblems) -> None:
        known = known_kind(self.api_version, self.kind)
        if is_never_held(self.api_version, self.kind):
            message = (
                f"no number of {self.kind} {self.api_version} is ever held: a patch of one gives rights."
            )
            report(NOT_HELD, (*path, "kind"), message, "Remove the entry.")
        self._check_known(known, path, report)
        self._check_paths(path, report)
        if known is None and self.plural is None:
            fix = f"Add plural, as kubectl api-resources has it, such as {plural_of(self.kind)}."
            if meant := near_kinds(self.kind):
                fix = f"Did you mean {' or '.join(meant)}?"
            report(MISSING, path, f"the plural of kind {self.kind} is not known.", fix)
        elif known is not None and known.of_cluster and self.namespaces is not None:
            message = f"{self.kind} has no namespace."
            report(CONFLICT, (*path, "namespaces"), message, "Remove namespaces.", at_key=True)
        elif known is not None and not known.of_cluster and self.namespaces is None:
            report(MISSING, path, "namespaces is missing.", "Add namespaces: where these objects are.")

    def _check_known(self, known: KnownKind | None, path: Path, report: DocumentProblems) -> None:
        """Report a name or a subresource that a known kind does not have."""
        facts = (
            {"plural": (self.plural, known.plural), "scale": (self.scale, known.has_scale)} if known else {}
        )
        for key, (written, fact) in facts.items():
            if written is not None and written != fact:
                shown_fact = str(fact).lower() if isinstance(fact, bool) else fact
                message = f"{shown(written)} is not the {key} of {self.kind}, which is {shown_fact}."
                report(CONFLICT, (*path, key), message, "Remove it.")

    def _check_paths(self, path: Path, report: DocumentProblems) -> None:
        if not self.allowed and not is_never_held(self.api_version, self.kind):
            fix = "Add paths: the numbers that may be held, such as [spec.replicas]."
            report(MISSING, path, f"which numbers of {self.kind} may be held is not known.", fix)
        for i, pattern in enumerate(self.paths or ()):
            if self.object_kind.has_scale and pattern != REPLICAS:
                message = f"of {self.kind} only spec.replicas is held, by its scale."
                report(CONFLICT, (*path, "paths", i), message, "Remove it.")

    @property
    def allowed(self) -> tuple[tuple[Step, ...], ...]:
        """Return the patterns of the numbers that may be held."""
        known = known_kind(self.api_version, self.kind)
        return self.paths or (known.paths if known else (REPLICAS,) if self.scale else ())

    def nearest_path(self, path: tuple[Step, ...]) -> str:
        """Return what may be written instead of a path: with the steps of it where a pattern has any.

        A cap is no other spelling of a floor.
        """
        alike = [pattern for pattern in self.allowed if is_cap(pattern) == is_cap(path)]
        texts = _with_steps_of(path, alike or self.allowed)
        near = close(object_path_text(path), texts)[:1] or texts
        has_wildcards = any("*" in text for text in near)
        return " or ".join(near) + (
            ", with a key for .* and an item such as [0] for [*]" if has_wildcards else ""
        )

    def allows(self, path: tuple[Step, ...]) -> bool:
        """Return whether the number at a path may be held."""
        return not holds_code(path) and any(matches_pattern(path, pattern) for pattern in self.allowed)

    def could_allow(self, path: tuple[Step, ...]) -> bool:
        """Return whether a path is probably meant as it is; then the platform team may add it to `paths`."""
        if holds_code(path) or self.object_kind.has_scale:
            return False
        known = known_kind(self.api_version, self.kind)
        is_known = any(matches_pattern(path, pattern) for pattern in (known.paths if known else ()))
        is_misspelled = close(object_path_text(path), _with_steps_of(path, self.allowed), 0.9)
        is_another = all(is_cap(pattern) != is_cap(path) for pattern in self.allowed)
        return is_known or (is_another and not is_misspelled)

    def moving_selector(self, path: tuple[Step, ...]) -> str | None:
        """Return a selector of a path that selects by what windows may change; then it finds another item."""
        held = {pattern[-1] for pattern in self.allowed}
        for i, step in enumerate(path):
            if isinstance(step, tuple) and (
                step[0] in held.union(path[i + 1 :])
                or (ANY_KEY in held and parse_quantity(step[1]) is not None)
            ):
                return "=".join(step)
        return None

    @property
    def object_kind(self) -> ObjectKind:
        known = known_kind(self.api_version, self.kind)
        has_scale = known.has_scale if known else bool(self.scale)
        plural = self.plural or (known.plural if known else "")
        return ObjectKind(self.kind, self.api_version, plural, self.namespaces is None, has_scale)

    @property
    def places(self) -> set[tuple[str, str, str]]:
        """Return group, kind and each namespace, empty without one."""
        return {(group_of(self.api_version), self.kind, name) for name in self.namespaces or ("",)}

    @property
    def target_beginnings(self) -> set[str]:
        """Return `Kind/namespace/` or `Kind/`, as policies write targets."""
        return {f"{kind}/{place}/" if place else f"{kind}/" for _, kind, place in self.places}


def check_held(held: tuple[HeldSpec, ...], home: str, path: Path, report: DocumentProblems) -> None:
    """Check what reservations may hold in a cluster. `home`: the namespace of Berth there."""
    before: set[tuple[str, str, str]] = set()
    for i, each in enumerate(held):
        if again := sorted(each.places & before):
            where = f" in namespace {again[0][2]}" if again[0][2] else ""
            message = f"{each.kind}{where} is in this list twice."
            report(CONFLICT, (*path, i), message, "Keep one entry, with one apiVersion.")
        before |= each.places
        for j, name in enumerate(each.namespaces or ()):
            if name == home:
                message = f"{name} is the namespace of Berth in this cluster: its objects are not for others."
                report(NOT_HELD, (*path, i, "namespaces", j), message, "Remove it.")
