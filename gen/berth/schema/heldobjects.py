"""Objects of somebody else whose numbers are held: the kinds that are known, and `held` of a cluster."""

import re
from typing import Annotated, NamedTuple

from berth.core.holders import Step
from berth.core.objects import ObjectKind
from berth.findings import Path
from berth.schema.basemodel import Model, NonEmptyUnique, Text, field
from berth.schema.documentproblems import CONFLICT, MISSING, DocumentProblems, Refusal, shown
from berth.schema.seatholders import Unit
from berth.schema.types import DnsLabel

NOT_HELD = "B300"


class KnownKind(NamedTuple):
    """What Berth knows of a kind. `ready`: where its status counts what a number of its spec asks for."""

    plural: str
    has_scale: bool = False
    of_cluster: bool = False
    ready: tuple[tuple[Step, ...], tuple[Step, ...]] = ((), ())


_SCALED: tuple[tuple[Step, ...], tuple[Step, ...]] = (("spec", "replicas"), ("status", "readyReplicas"))
KNOWN_KINDS = {
    ("apps", "Deployment"): KnownKind("deployments", has_scale=True, ready=_SCALED),
    ("apps", "ReplicaSet"): KnownKind("replicasets", has_scale=True, ready=_SCALED),
    ("apps", "StatefulSet"): KnownKind("statefulsets", has_scale=True, ready=_SCALED),
    ("autoscaling", "HorizontalPodAutoscaler"): KnownKind(
        "horizontalpodautoscalers", ready=(("spec", "minReplicas"), ("status", "currentReplicas"))
    ),
    ("keda.sh", "ScaledObject"): KnownKind("scaledobjects"),
    ("actions.github.com", "AutoscalingRunnerSet"): KnownKind(
        "autoscalingrunnersets", ready=(("spec", "minRunners"), ("status", "currentRunners"))
    ),
    ("actions.summerwind.dev", "HorizontalRunnerAutoscaler"): KnownKind("horizontalrunnerautoscalers"),
    ("karpenter.sh", "NodePool"): KnownKind("nodepools", of_cluster=True),
    ("kueue.x-k8s.io", "ClusterQueue"): KnownKind("clusterqueues", of_cluster=True),
}
"""By group and kind."""

_WORDS = (("replica", Unit.REPLICA), ("runner", Unit.RUNNER), ("cpu", Unit.CORE))


def known_kind(api_version: str, kind: str) -> KnownKind | None:
    return KNOWN_KINDS.get((group_of(api_version), kind))


def group_of(api_version: str) -> str:
    """Return the group of an apiVersion; empty for the core group."""
    return api_version.rpartition("/")[0]


def unit_of(path: tuple[Step, ...]) -> Unit:
    """Return what the number at a path counts, by the last step that says so."""
    for step in reversed(path):
        text = (step[1] if isinstance(step, tuple) else str(step)).lower()
        for word, unit in _WORDS:
            if word in text:
                return unit
    return Unit.UNIT


def _api_version(text: str) -> str:
    if re.fullmatch(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[0-9][a-z0-9]*", text, re.ASCII):
        return text
    raise Refusal(f"{shown(text)} is not an apiVersion.", "Write it as autoscaling/v2.", NOT_HELD)


def _kind(text: str) -> str:
    if re.fullmatch(r"[A-Z][A-Za-z0-9]*", text, re.ASCII):
        return text
    raise Refusal(f"{shown(text)} is not a kind.", "Write it as HorizontalPodAutoscaler.", NOT_HELD)


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
        None, "whether the kind has the subresource scale, to write spec.replicas by", "that of known kinds"
    )

    def check(self, path: Path, report: DocumentProblems) -> None:
        known = known_kind(self.api_version, self.kind)
        if known is None and self.plural is None:
            fix = f"Add plural, as kubectl api-resources has it, such as {self.kind.lower()}s."
            report(MISSING, path, f"the plural of kind {self.kind} is not known.", fix)
        elif known is not None and known.of_cluster and self.namespaces is not None:
            message = f"{self.kind} has no namespace."
            report(CONFLICT, (*path, "namespaces"), message, "Remove namespaces.", at_key=True)
        elif known is not None and not known.of_cluster and self.namespaces is None:
            report(MISSING, path, "namespaces is missing.", "Add namespaces: where these objects are.")

    @property
    def object_kind(self) -> ObjectKind:
        known = known_kind(self.api_version, self.kind)
        has_scale = known.has_scale if known and self.scale is None else bool(self.scale)
        plural = self.plural or (known.plural if known else "")
        return ObjectKind(self.kind, self.api_version, plural, self.namespaces is None, has_scale)
