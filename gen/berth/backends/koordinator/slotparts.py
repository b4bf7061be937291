"""The parts of backend `koordinator`: whose pods may take a slot, and what its object and template have.

Koordinator's CRD checks nothing of a template, and one value of a wrong type keeps its scheduler from seeing
any Reservation; so only what matters to scheduling can be written, and all of it is checked.
"""

import json
from typing import Annotated, Any, Literal

from pydantic.json_schema import SkipJsonSchema

from berth.findings import Path
from berth.schema import grammar
from berth.schema.basemodel import Json, ListOf, Model, Text, Whole, field
from berth.schema.documentproblems import CONFLICT, IDLE_KEY, MISSING, DocumentProblems, shown
from berth.schema.metadata import RESERVED, refusal_of_ours, refuse_many, refuse_much
from berth.schema.pod import Placing, check_amounts
from berth.schema.scheduling import Effect, LabelSelector
from berth.schema.types import (
    INT32,
    Annotations,
    AnyText,
    DnsLabel,
    DnsName,
    LabelKey,
    Labels,
    LabelValue,
    NodeName,
    Resources,
)

FOREIGN, QUOTA, UNREADABLE = "B112", "B113", "B114"
EVERYBODY, NEARLY_EVERYBODY, NOBODY = "B102", "B103", "B104"
PRIORITY = "B110"
_SCHEDULING = "scheduling.koordinator.sh/"
OURS = {
    f"{_SCHEDULING}reservation-order": "order",
    f"{_SCHEDULING}pre-allocation-required": "preAllocationRequired",
    f"{_SCHEDULING}reservation-restricted-options": "restrictedResources",
    "koordinator.sh/priority": "priority",
}
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
_TRACKING = (
    "app.kubernetes.io/instance",
    "argocd.argoproj.io/tracking-id",
    "argocd.argoproj.io/instance",
    "kustomize.toolkit.fluxcd.io/",
    "helm.toolkit.fluxcd.io/",
)
CHARGED = "quota.scheduling.koordinator.sh/name"
HELD_BACK = "node.koordinator.sh/reservation"
_UID = r"[A-Za-z0-9][-A-Za-z0-9_.]{0,127}"
_KIND = r"[A-Z][A-Za-z0-9]{0,62}"
_API = r"(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?/)?v[0-9][a-z0-9]{0,30}"
# What makes pods, by what people name instead: it owns the maker of the pods, not the pods.
_MAKERS = {"Deployment": "ReplicaSet", "CronJob": "Job", "AmaltheaSession": "StatefulSet"}

# To Koordinator an empty text means any, as does a key that is left out.
AnyUid = Annotated[
    str,
    Text("UID", grammar.optional(grammar.matching(_UID, "a UID", "9a3c1f6e-2c1d-4e2b-8f4a-0d5f4c6b7a81"))),
]
AnyName = Annotated[str, Text("DNS name", grammar.optional(grammar.dns_name))]
AnyNamespace = Annotated[str, Text("DNS label", grammar.optional(grammar.dns_label))]
PodKind = Annotated[str, Text("kind", grammar.optional(grammar.matching(_KIND, "a kind", "Pod")))]
OwnerKind = Annotated[str, Text("kind", grammar.optional(grammar.matching(_KIND, "a kind", "StatefulSet")))]
Api = Annotated[
    str, Text("API version", grammar.optional(grammar.matching(_API, "an API version", "apps/v1")))
]


class HeldBack(Model):
    """What an annotation of Koordinator's holds back of a node."""

    resources: Resources | None = field(None)
    reserved_cpus: AnyText | None = field(None, alias="reservedCPUs")
    apply_policy: Literal["Default", "ReservedCPUsOnly"] | None = field(None)


def check_slot_keys(
    labels: Labels | None,
    annotations: Annotations | None,
    path: Path,
    report: DocumentProblems,
    *,
    on_object: bool,
) -> None:
    """Report keys that would break what a slot is for.

    `on_object`: they are on the Reservation itself, which an engine may see, not in its template. Koordinator
    copies both onto the pod that its scheduler sees, where many keys mean something else.
    """
    refuse_much(annotations, (*path, "annotations"), report)
    refuse_many(labels, (*path, "labels"), report)
    for where, pairs in (("labels", labels), ("annotations", annotations)):
        for name, value in (pairs or {}).items():
            at = (*path, where, name)
            refusal = refusal_of_ours(name)
            if refusal is not None:
                report.refuse(refusal, at)
            elif name in OURS:
                message, fix = f"{name} is set by Berth itself.", f"Write backend.{OURS[name]} instead."
                report(RESERVED, at, message, fix, at_key=True)
            elif name in _OF_PODS:
                message = f"{name} belongs on pods or to Koordinator, and means something else on a slot."
                report(FOREIGN, at, message, "Remove it.", at_key=True)
            elif on_object and name.startswith(_TRACKING):
                message = (
                    f"{name} tells an engine which objects it owns: it would remove the slots of a window."
                )
                report(FOREIGN, at, message, "Remove it.", at_key=True)
            elif name == CHARGED:
                message = f"{name} counts a slot in a quota, and the session that uses it once more."
                fix = "Remove it, unless the quota is large enough for both."
                report(QUOTA, at, message, fix, at_key=True)
            elif name == HELD_BACK:
                _check_held_back(value, at, report)


def is_foreign(name: str) -> bool:
    """Tell whether a label makes something else of a slot, also where a class puts it on its pods."""
    return name in OURS or name in _OF_PODS


def _check_held_back(text: str, path: Path, report: DocumentProblems) -> None:
    """Report what Koordinator cannot read there, and so ignores."""
    try:
        data = json.loads(text)
        nothing = {name for name, value in data.items() if value is None} if type(data) is dict else ()
        HeldBack.model_validate({k: v for k, v in data.items() if k not in nothing} if nothing else data)
    except (ValueError, RecursionError):
        message = f"Koordinator cannot read {shown(text)}."
        fix = """Write JSON such as '{"resources": {"cpu": "1"}}'."""
        report(UNREADABLE, path, message, fix)


class OwnerObject(Model):
    """A pod, or all pods of a namespace."""

    namespace: AnyNamespace | None = field(None, "of the pod", "any")
    name: AnyName | None = field(None, "of the pod", "any")
    uid: AnyUid | None = field(None, "of the pod", "any")
    kind: PodKind | None = field(None, "Pod, or left out; ignored", "none")
    api_version: SkipJsonSchema[Any] = field(None)  # Kubernetes has it there, and it does harm

    def check(self, path: Path, report: DocumentProblems) -> None:
        if self.api_version is not None:
            message = "with an apiVersion, Koordinator finds no pod at all."
            report(NOBODY, (*path, "apiVersion"), message, "Remove it.", at_key=True)
        if self.kind not in (None, "", "Pod"):
            message = (
                f"an object is a pod: Koordinator would look for a pod of this name, not for a {self.kind}."
            )
            report(NOBODY, (*path, "kind"), message, "Write controller for what owns pods.")


class OwnerController(Model):
    """What owns a pod: a StatefulSet, a Job."""

    api_version: Api | None = field(None, "of what owns the pod", "any")
    kind: OwnerKind | None = field(None, "of what owns the pod", "any")
    name: AnyName | None = field(None, "of what owns the pod", "any")
    uid: AnyUid | None = field(None, "of what owns the pod", "any")
    namespace: AnyNamespace | None = field(None, "of the pod", "any")
    controller: bool | None = field(None, "whether it is the pod's controller", "either")
    block_owner_deletion: bool | None = field(None, "ignored", "none")

    def check(self, path: Path, report: DocumentProblems) -> None:
        if self.kind not in _MAKERS:
            return
        group = (self.api_version or "").rpartition("/")[0]
        if "." not in group or group == "amalthea.dev":  # Kubernetes' own, or Renku's
            maker = _MAKERS[self.kind]
            message = f"kind {self.kind} owns no pods itself: its {maker} does."
            fix = f"Write kind: {maker}, or labelSelector with labels of the pods."
            report(NOBODY, (*path, "kind"), message, fix)


class Owner(Model):
    """Who may take a slot. What is empty means any to Koordinator, so not all may be."""

    object: OwnerObject | None = field(None, "a pod, or all of a namespace", "any")
    controller: OwnerController | None = field(None, "what owns the pod: a StatefulSet, a Job", "any")
    label_selector: LabelSelector | None = field(None, "labels of the pod, as in a pod's affinity", "any")

    def check(self, path: Path, report: DocumentProblems) -> None:
        by, one, selector = self.controller, self.object, self.label_selector
        places = {part.namespace for part in (one, by) if part is not None} - {None, ""}
        if len(places) > 1:
            message = "object and controller name two namespaces: no pod is in both."
            report(NOBODY, (*path, "controller", "namespace"), message, "Write the same, or one of the two.")
        named = [(part.name, part.uid, part.namespace) for part in (by, one) if part is not None]
        chosen = selector is not None and bool(selector.match_labels)
        excluded = False
        for each in () if selector is None else selector.match_expressions or ():
            positive = each.operator in ("In", "Exists")
            chosen, excluded = chosen or positive, excluded or not positive
        if any(any(part) for part in named) or chosen:
            return
        kinds = by is not None and (by.api_version or by.kind)
        if excluded or kinds:
            said = "it only excludes pods" if excluded else "it has only the kind of a controller"
            message = f"{said}: nearly every pod of the cluster may use a slot."
            report(NEARLY_EVERYBODY, path, message, "Add labels, or a namespace.")
        else:
            message = "it matches anything: every pod of the cluster may use a slot."
            report(EVERYBODY, path, message, "Write labelSelector with labels, a namespace or a name.")

    @property
    def has_labels(self) -> bool:
        """Tell whether its labelSelector says anything."""
        return self.label_selector is not None and not self.label_selector.is_blank

    def parts(self) -> Json:
        """Return the parts that say something, as a Reservation has them."""
        controller: Json = {}
        if self.controller is not None:
            blank = dict.fromkeys(("apiVersion", "kind", "name", "uid"), "")
            said = self.controller.dump()
            names = ("controller", "blockOwnerDeletion")
            flags: Json = {name: said.pop(name) for name in names if name in said}
            place = said.pop("namespace", "")
            controller = {**blank, **said, **flags, **({"namespace": place} if place else {})}
        found = {} if self.object is None else self.object.dump()
        named = {key: found[key] for key in ("kind", "namespace", "name", "uid") if found.get(key)}
        selector = {} if self.label_selector is None else self.label_selector.dump()
        parts = {"object": named, "controller": controller, "labelSelector": selector}
        return {key: value for key, value in parts.items() if value}


class PreAllocationPolicy(Model):
    mode: Literal["Default", "Cluster"] | None = field(None, "which pods", "`Default`: its owners'")
    enable_multiple: bool | None = field(None, "several pods for one slot", "`false`")


class SlotTaint(Model):
    key: LabelKey
    value: LabelValue | None = field(None)
    effect: Effect

    def check(self, path: Path, report: DocumentProblems) -> None:
        if self.effect == "PreferNoSchedule":
            message = "Koordinator ignores taints of effect PreferNoSchedule."
            report(IDLE_KEY, (*path, "effect"), message, "Write NoSchedule, or remove the taint.")


class TemplateMetadata(Model):
    namespace: DnsLabel | None = field(
        None, "namespace in which pod affinity, spread and claims are resolved", "`default`"
    )
    labels: Labels | None = field(None, "labels that affinity and spread see", "none")
    annotations: Annotations | None = field(None, "annotations that the scheduler sees", "none")

    def check(self, path: Path, report: DocumentProblems) -> None:
        check_slot_keys(self.labels, self.annotations, path, report, on_object=False)


class VolumeClaim(Model):
    claim_name: DnsName
    read_only: bool | None = field(None)


class Volume(Model):
    name: DnsLabel
    persistent_volume_claim: VolumeClaim


class Port(Model):
    host_port: Annotated[int, Whole(1, 65535)]
    container_port: Annotated[int, Whole(1, 65535)] | None = field(None)
    protocol: Literal["TCP", "UDP", "SCTP"] | None = field(None)
    host_ip: Annotated[str, Text("IP address", grammar.ip_address)] | None = field(None, alias="hostIP")


class SlotTemplate(Placing):
    """What is added to the pod template of a slot, beyond what the class says."""

    metadata: TemplateMetadata | None = field(
        None, "`{namespace, labels, annotations}` of the template", "none"
    )
    node_name: NodeName | None = field(None, "only this node", "any node")
    priority: Annotated[int, Whole(-(2**31), INT32)] | None = field(
        None, "of the slot, where preemption is on", "the highest"
    )
    priority_class_name: DnsName | None = field(None, "has no effect without priority", "none")
    preemption_policy: Literal["Never", "PreemptLowerPriority"] | None = field(
        None, "as in a pod, where Koordinator preempts", "PreemptLowerPriority"
    )
    overhead: Resources | None = field(None, "held in addition to the requests of the class", "none")
    volumes: ListOf[Volume] | None = field(
        None, "`{name, persistentVolumeClaim: {claimName}}`: claims to be near", "none"
    )
    ports: ListOf[Port] | None = field(None, "`{hostPort}`: ports of the node that are held too", "none")

    def check(self, path: Path, report: DocumentProblems) -> None:
        super().check(path, report)
        check_amounts(self.overhead, (*path, "overhead"), report)
        self._check_volumes(path, report)
        if self.priority is not None:
            warn_of_priority((*path, "priority"), report)
        elif self.priority_class_name is not None:
            message = "a Reservation does not get its priority from the name of a class."
            fix = "Remove it, or add priority: the value of the class."
            report(IDLE_KEY, (*path, "priorityClassName"), message, fix, at_key=True)

    def _check_volumes(self, path: Path, report: DocumentProblems) -> None:
        """Report duplicate names, and claims without a namespace."""
        if not self.volumes:
            return
        if self.metadata is None or self.metadata.namespace is None:
            message = "claims would be looked up in namespace default."
            report(MISSING, (*path, "volumes"), message, "Add metadata.namespace: where the claims are.")
        names: list[str] = []
        for i, volume in enumerate(self.volumes):
            if volume.name in names:
                at = (*path, "volumes", i, "name")
                report(CONFLICT, at, f"duplicate volume {volume.name}.", "Rename one of the two.")
            names.append(volume.name)

    def named_metadata(self) -> Json:
        """Return the metadata that a pod template gets."""
        said = {} if self.metadata is None else self.metadata.dump()
        return {key: value for key, value in said.items() if value}

    def container_ports(self) -> tuple[Json, ...]:
        """Return the ports of its container."""
        return tuple({"containerPort": port.host_port, **port.dump()} for port in self.ports or ())

    def spec(self) -> Json:
        """Return what a pod's spec gets."""
        said, spec = self.dump(), self.placement
        names = ("nodeName", "priority", "priorityClassName", "preemptionPolicy", "overhead", "volumes")
        spec |= {name: said[name] for name in names if said.get(name) not in (None, {}, ())}
        return spec


def warn_of_priority(path: Path, report: DocumentProblems) -> None:
    """Warn of what a priority does if preemption is enabled; it is off by default in Koordinator."""
    message = (
        "where preemption is enabled, a slot evicts pods of a lower priority; without a priority, it "
        "evicts any pod, also system-node-critical ones."
    )
    fix = "Keep it below the priority of pods that must stay; where preemption is disabled, remove it."
    report(PRIORITY, path, message, fix, at_key=True)
