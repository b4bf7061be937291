"""Objects of somebody else whose numbers are held: the kinds that are known, and `held` of a cluster."""

import re
from collections.abc import Mapping
from typing import Annotated, NamedTuple

from berth.core.holders import Step
from berth.core.objects import ObjectKind, group_of
from berth.notation.objectpath import ANY_ITEM, ANY_KEY, matches_pattern, parse_object_path
from berth.plugins.numbers.quantities import parse_quantity
from berth.schema.basemodel import Model, NonEmptyUnique, Text, field
from berth.schema.documentproblems import DocumentProblems, Refusal, shown
from berth.schema.grammar import matching, page_size
from berth.schema.seatholders import Unit
from berth.schema.types import DnsLabel


class KnownNumber(NamedTuple):
    """A number of a known kind. `unit`: what it counts; None: the last name of its path is a resource.

    `ready`: where its status counts what is asked for. `least`: the least that the API server takes.
    `zero_since`: the version of Kubernetes that takes 0; None: all do that this least allows.
    """

    path: tuple[Step, ...]
    unit: Unit | None
    is_cap: bool = False
    ready: tuple[Step, ...] = ()
    least: int = 0
    zero_since: tuple[int, int] | None = None


class KnownKind(NamedTuple):
    """What Berth knows of a kind. `numbers`: those that may be held unless the Site lists others.

    `short`: its short name in kubectl. `item_keys`: by the name of a list, the key that names its items;
    empty: they have none.
    """

    plural: str
    numbers: tuple[KnownNumber, ...]
    short: str = ""
    has_scale: bool | None = False  # None: the Site says whether spec.replicas is held, by it, or the others
    of_cluster: bool = False
    has_bounds: bool = False  # its numbers are the least and the largest of the same things
    item_keys: Mapping[Step, str] = {}

    @property
    def paths(self) -> tuple[tuple[Step, ...], ...]:
        return tuple(number.path for number in self.numbers)

    @property
    def bounds(self) -> tuple[tuple[Step, ...], ...]:
        return self.paths if self.has_bounds else ()


REPLICAS: tuple[Step, ...] = ("spec", "replicas")
_SCALED = (KnownNumber(REPLICAS, Unit.REPLICA, ready=("status", "readyReplicas")),)
_RESOURCE: tuple[Step, ...] = (
    *("spec", "resourceGroups", ANY_ITEM),
    *("flavors", ANY_ITEM, "resources", ANY_ITEM),
)


def _bounds(
    unit: Unit,
    names: tuple[str, str],
    ready: tuple[Step, ...] = (),
    above_zero: int = 0,
    zero_since: tuple[int, int] | None = None,
) -> tuple[KnownNumber, ...]:
    """Return the least and the largest number of the same things, by their names in the spec.

    `above_zero` is for the largest, `zero_since` for the least.
    """
    least, largest = names
    return (
        KnownNumber(("spec", least), unit, ready=ready, zero_since=zero_since),
        KnownNumber(("spec", largest), unit, is_cap=True, least=above_zero),
    )


_REPLICAS = ("minReplicas", "maxReplicas")
KNOWN_KINDS = {
    ("apps", "Deployment"): KnownKind("deployments", _SCALED, "deploy", has_scale=True),
    ("apps", "ReplicaSet"): KnownKind("replicasets", _SCALED, "rs", has_scale=True),
    ("apps", "StatefulSet"): KnownKind("statefulsets", _SCALED, "sts", has_scale=True),
    ("autoscaling", "HorizontalPodAutoscaler"): KnownKind(
        "horizontalpodautoscalers",
        # A minReplicas of 0 needs the feature gate HPAScaleToZero, which is on by default since then.
        _bounds(Unit.REPLICA, _REPLICAS, ("status", "currentReplicas"), above_zero=1, zero_since=(1, 37)),
        "hpa",
        has_bounds=True,
    ),
    ("keda.sh", "ScaledObject"): KnownKind(
        "scaledobjects",
        _bounds(Unit.REPLICA, ("minReplicaCount", "maxReplicaCount"), above_zero=1),
        "so",
        has_bounds=True,
    ),
    ("actions.github.com", "AutoscalingRunnerSet"): KnownKind(
        "autoscalingrunnersets",
        _bounds(Unit.RUNNER, ("minRunners", "maxRunners"), ready=("status", "currentRunners")),
        has_bounds=True,
    ),
    ("actions.summerwind.dev", "HorizontalRunnerAutoscaler"): KnownKind(
        "horizontalrunnerautoscalers", _bounds(Unit.REPLICA, _REPLICAS), "hra", has_bounds=True
    ),
    ("", "ResourceQuota"): KnownKind(
        "resourcequotas", (KnownNumber(("spec", "hard", ANY_KEY), None, is_cap=True),), "quota"
    ),
    ("karpenter.sh", "NodePool"): KnownKind(
        "nodepools",
        (
            KnownNumber(("spec", "limits", ANY_KEY), None, is_cap=True),
            KnownNumber(REPLICAS, Unit.REPLICA, ready=("status", "nodes")),
        ),
        has_scale=None,  # since Karpenter 1.8; only pools of a fixed number of nodes have spec.replicas
        of_cluster=True,
    ),
    ("kueue.x-k8s.io", "ClusterQueue"): KnownKind(
        "clusterqueues",
        tuple(
            KnownNumber((*_RESOURCE, name), None, is_cap=True)
            for name in ("nominalQuota", "borrowingLimit", "lendingLimit")
        ),
        "cq",
        of_cluster=True,
        item_keys={"resourceGroups": "", "flavors": "name", "resources": "name"},
    ),
}
"""By group and kind."""
SHORT_NAMES = {known.short: kind for (_, kind), known in KNOWN_KINDS.items() if known.short}

# Others of the core group have no number worth holding.
_CORE_KINDS = ("ReplicationController", "ResourceQuota")
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


_BYTES = ("memory", "ephemeral-storage", "storage")
_RESOURCES = (
    *("cpu", *_BYTES, "pods", "nodes"),
    # Objects that a ResourceQuota counts.
    *("persistentvolumeclaims", "services", "services.loadbalancers", "services.nodeports", "secrets"),
    *("configmaps", "replicationcontrollers", "resourcequotas"),
)


def known_kind(api_version: str, kind: str) -> KnownKind | None:
    return KNOWN_KINDS.get((group_of(api_version), kind))


def known_number(api_version: str, kind: str, path: tuple[Step, ...]) -> KnownNumber | None:
    """Return what is known of the number at a path; None for any other number."""
    known = known_kind(api_version, kind)
    numbers = known.numbers if known else ()
    return next((number for number in numbers if matches_pattern(path, number.path)), None)


def resource_of(path: tuple[Step, ...]) -> str:
    """Return the resource of a number that is of one, by its item or key; empty for an item by its index."""
    step = path[-2] if isinstance(path[-2], tuple | int) else path[-1]
    name = step[1] if isinstance(step, tuple) else "" if isinstance(path[-2], int) else str(step)
    name = name.rpartition(".storageclass.storage.k8s.io/")[2]  # a quota may be for one StorageClass alone
    return name.removeprefix("requests.").removeprefix("limits.")


def is_of_bytes(resource: str) -> bool:
    return resource in _BYTES or bool(page_size(resource))


def is_resource(name: str) -> bool:
    """Return whether Kubernetes may count such a resource; devices begin with a domain."""
    return name in _RESOURCES or "/" in name or bool(page_size(name))


_API_VERSION = r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[0-9][a-z0-9]*"
_api_version = matching(_API_VERSION, "an apiVersion", "Write it as autoscaling/v2.", "B300")


def _kind(text: str) -> str:
    """Read a kind, or the short name of a known one."""
    text = SHORT_NAMES.get(text, text)
    if re.fullmatch(r"[A-Z][A-Za-z0-9]*", text, re.ASCII):
        return text
    raise Refusal(f"{shown(text)} is not a kind.", "Write it as HorizontalPodAutoscaler.", "B300")


def _pattern(text: str) -> tuple[Step, ...]:
    """Read which numbers may be held. What runs in pods is never one of them."""
    steps = parse_object_path(text, is_pattern=True)
    fix = "Write it as spec.minReplicas, spec.limits.* or spec.groups[*].quota."
    if steps is None:
        raise Refusal(f"{shown(text)} is not a pattern of paths.", fix, "B300")
    if steps[0] != "spec" or not isinstance(steps[-1], str) or len(steps) < 2:
        raise Refusal(f"{shown(text)} is not a number below spec.", fix, "B300")
    if holds_code(steps):
        message = f"{shown(text)} is in a template or metadata: who changes that can run other code."
        raise Refusal(message, fix, "B300")
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
        None,
        "whether the kind has the subresource scale, to write spec.replicas by",
        "that of known kinds; NodePool: if `paths` is spec.replicas",
    )
    paths: NonEmptyUnique[PathPattern] | None = field(
        None,
        "numbers that may be held, such as spec.limits.*; `*` is any key, `[*]` any item",
        "those of known kinds; spec.replicas with `scale`; else required",
    )

    def check(self, report: DocumentProblems) -> None:
        known = known_kind(self.api_version, self.kind)
        if is_never_held(self.api_version, self.kind):
            message = (
                f"no number of {self.kind} {self.api_version} is ever held: a patch of one gives rights."
            )
            report("B300", "kind", message, "Remove the entry.")
        self._check_known(known, report)
        self._check_paths(report)
        if known is None and self.plural is None:
            fix = "Add plural, as kubectl api-resources has it under NAME."
            report("B011", (), f"the plural of kind {self.kind} is not known.", fix)
        elif known is not None and known.of_cluster and self.namespaces is not None:
            message = f"{self.kind} has no namespace."
            report("B016", "namespaces", message, "Remove namespaces.", at_key=True)
        elif known is not None and not known.of_cluster and self.namespaces is None:
            report("B011", (), "namespaces is missing.", "Add namespaces: where these objects are.")

    def _check_known(self, known: KnownKind | None, report: DocumentProblems) -> None:
        """Report a name or a subresource that a known kind does not have."""
        facts = (
            {"plural": (self.plural, known.plural), "scale": (self.scale, known.has_scale)} if known else {}
        )
        for key, (written, fact) in facts.items():
            if None not in (written, fact) and written != fact:
                shown_fact = str(fact).lower() if isinstance(fact, bool) else fact
                message = f"{shown(written)} is not the {key} of {self.kind}, which is {shown_fact}."
                report("B016", key, message, "Remove it.")

    def _check_paths(self, report: DocumentProblems) -> None:
        if not self.allowed and not is_never_held(self.api_version, self.kind):
            fix = "Add paths: the numbers that may be held, such as [spec.replicas]."
            report("B011", (), f"which numbers of {self.kind} may be held is not known.", fix)
        for i, pattern in enumerate(self.paths or ()):
            if self.object_kind.has_scale and pattern != REPLICAS:
                message = f"of {self.kind} only spec.replicas is held, by its scale."
                report("B016", ("paths", i), message, "Remove it.")

    @property
    def allowed(self) -> tuple[tuple[Step, ...], ...]:
        """Return the patterns of the numbers that may be held."""
        known = known_kind(self.api_version, self.kind)
        if self.paths or known is None:
            return self.paths or ((REPLICAS,) if self.scale else ())
        return tuple(path for path in known.paths if (path == REPLICAS) == self._has_scale)

    @property
    def _has_scale(self) -> bool:
        known = known_kind(self.api_version, self.kind)
        if known is None or known.has_scale is None:
            return self.paths == (REPLICAS,) if self.scale is None and known else bool(self.scale)
        return known.has_scale

    def allows(self, path: tuple[Step, ...]) -> bool:
        """Return whether the number at a path may be held."""
        return not holds_code(path) and any(matches_pattern(path, pattern) for pattern in self.allowed)

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
        plural = self.plural or (known.plural if known else "")
        return ObjectKind(self.kind, self.api_version, plural, self.namespaces is None, self._has_scale)

    @property
    def places(self) -> set[tuple[str, str, str]]:
        """Return group, kind and each namespace, empty without one."""
        return {(group_of(self.api_version), self.kind, name) for name in self.namespaces or ("",)}

    @property
    def target_beginnings(self) -> set[str]:
        """Return `Kind/namespace/` or `Kind/`, as policies write targets."""
        return {f"{kind}/{place}/" if place else f"{kind}/" for _, kind, place in self.places}


def check_held(held: tuple[HeldSpec, ...], home: str, report: DocumentProblems) -> None:
    """Check what reservations may hold in a cluster. `home`: the namespace of Berth there."""
    before: set[tuple[str, str, str]] = set()
    for i, each in enumerate(held):
        if again := sorted(each.places & before):
            where = f" in namespace {again[0][2]}" if again[0][2] else ""
            message = f"{each.kind}{where} is in this list twice."
            report("B016", (i,), message, "Keep one entry, with one apiVersion.")
        before |= each.places
        for j, name in enumerate(each.namespaces or ()):
            if name == home:
                message = f"{name} is the namespace of Berth in this cluster: its objects are not for others."
                report("B300", (i, "namespaces", j), message, "Remove it.")
