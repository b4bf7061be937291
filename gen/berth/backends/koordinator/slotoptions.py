"""The keys of `backend` that are for slots: Koordinator's Reservations, one a seat."""

from typing import Annotated, Any

from pydantic.json_schema import SkipJsonSchema

from berth.schema import grammar
from berth.schema.basemodel import Json, ListOf, Model, NonEmpty, Text, field
from berth.schema.documentproblems import DocumentProblems
from berth.schema.scheduling import Effect, LabelSelector
from berth.schema.types import LabelKey, LabelValue

_UID = r"(?:[A-Za-z0-9][-A-Za-z0-9_.]{0,127})?"
_KIND = r"(?:[A-Z][A-Za-z0-9]{0,62})?"
_API = r"(?:(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?/)?v[0-9][a-z0-9]{0,30})?"
# What makes pods, by what people name instead: it owns the maker of the pods, not the pods.
_MAKERS = {"Deployment": "ReplicaSet", "CronJob": "Job", "AmaltheaSession": "StatefulSet"}

# To Koordinator an empty text means any, as does a key that is left out.
_UID_ADVICE = "Write one such as 9a3c1f6e-2c1d-4e2b-8f4a-0d5f4c6b7a81."
AnyUid = Annotated[str, Text("UID", grammar.matching(_UID, "a UID", _UID_ADVICE))]
AnyName = Annotated[str, Text("DNS name", grammar.optional(grammar.dns_name))]
AnyNamespace = Annotated[str, Text("DNS label", grammar.optional(grammar.dns_label))]
PodKind = Annotated[str, Text("kind", grammar.matching(_KIND, "a kind", "Write one such as Pod."))]
OwnerKind = Annotated[str, Text("kind", grammar.matching(_KIND, "a kind", "Write one such as StatefulSet."))]
Api = Annotated[
    str, Text("API version", grammar.matching(_API, "an API version", "Write one such as apps/v1."))
]


class OwnerObject(Model):
    """A pod, or all pods of a namespace."""

    namespace: AnyNamespace | None = field(None, "of the pod", "any")
    name: AnyName | None = field(None, "of the pod", "any")
    uid: AnyUid | None = field(None, "of the pod", "any")
    kind: PodKind | None = field(None, "Pod, or left out; ignored", "none")
    api_version: SkipJsonSchema[Any] = field(None)  # Kubernetes has it there, and it does harm

    def check(self, report: DocumentProblems) -> None:
        if self.api_version is not None:
            message = "with an apiVersion, Koordinator finds no pod at all."
            report("B101", "apiVersion", message, "Remove it.", at_key=True)
        if self.kind not in (None, "", "Pod"):
            message = (
                f"an object is a pod: Koordinator would look for a pod of this name, not for a {self.kind}."
            )
            report("B101", "kind", message, "Write controller for what owns pods.")


class OwnerController(Model):
    """What owns a pod: a StatefulSet, a Job."""

    api_version: Api | None = field(None, "of what owns the pod", "any")
    kind: OwnerKind | None = field(None, "of what owns the pod", "any")
    name: AnyName | None = field(None, "of what owns the pod", "any")
    uid: AnyUid | None = field(None, "of what owns the pod", "any")
    namespace: AnyNamespace | None = field(None, "of the pod", "any")
    controller: bool | None = field(None, "whether it is the pod's controller", "either")
    block_owner_deletion: bool | None = field(None, "ignored", "none")

    def check(self, report: DocumentProblems) -> None:
        if self.kind not in _MAKERS:
            return
        group = (self.api_version or "").rpartition("/")[0]
        if "." not in group or group == "amalthea.dev":  # Kubernetes' own, or Renku's
            maker = _MAKERS[self.kind]
            message = f"kind {self.kind} owns no pods itself: its {maker} does."
            fix = f"Write kind: {maker}, or labelSelector with labels of the pods."
            report("B101", "kind", message, fix)


class Owner(Model):
    """Who may take a slot. What is empty means any to Koordinator, so not all may be."""

    object: OwnerObject | None = field(None, "a pod, or all of a namespace", "any")
    controller: OwnerController | None = field(None, "what owns the pod: a StatefulSet, a Job", "any")
    label_selector: LabelSelector | None = field(None, "labels of the pod, as in a pod's affinity", "any")

    def check(self, report: DocumentProblems) -> None:
        by, one, selector = self.controller, self.object, self.label_selector
        places = {part.namespace for part in (one, by) if part is not None} - {None, ""}
        if len(places) > 1:
            message = "object and controller name two namespaces: no pod is in both."
            report("B101", ("controller", "namespace"), message, "Write the same, or one of the two.")
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
            report("B103", (), message, "Add labels, or a namespace.")
        else:
            message = "it matches anything: every pod of the cluster may use a slot."
            report("B102", (), message, "Write labelSelector with labels, a namespace or a name.")

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


class SlotTaint(Model):
    key: LabelKey
    value: LabelValue | None = field(None)
    effect: Effect

    def check(self, report: DocumentProblems) -> None:
        if self.effect == "PreferNoSchedule":
            message = "Koordinator ignores taints of effect PreferNoSchedule."
            report("B029", "effect", message, "Write NoSchedule, or remove the taint.")


class SlotOptions(Model):
    owners: NonEmpty[Owner] = field(
        (),
        "pods that may take a slot; a pod needs to match one entry",
        "sessions of the class, if labels of pods tell them; needed for Renku's",
    )
    allocate_once: bool = field(False, "whether a slot ends with its first session")
    taints: ListOf[SlotTaint] = field((), "taints that session pods tolerate by an annotation", "none")
    standing: bool = field(False, "slots from the merge on, without recurrence")
    session_affinity: bool = field(False, "renders what makes session pods require a slot")
    with_placeholders: bool = field(False, "placeholders first, which make an autoscaler add nodes")

    def check(self, report: DocumentProblems) -> None:
        if self.standing and self.allocate_once:
            message = "a slot ends with its first session, and is created again from git a day later."
            report("B109", "allocateOnce", message, "Remove it, unless that is intended.")
        if self.standing and self.with_placeholders:
            message = (
                "slots take over from placeholders in the window of an occurrence; standing slots have none."
            )
            report("B016", "withPlaceholders", message, "Remove it, or standing.", at_key=True)
        if self.with_placeholders and self.allocate_once:
            message = (
                "withPlaceholders needs allocateOnce: false: a slot would be used up by the pods that it "
                "takes over from."
            )
            fix = "Remove it, or withPlaceholders."
            report("B106", "allocateOnce", message, fix)
        if self.taints and not self.session_affinity:
            message = (
                "a taint keeps out only pods with the annotation "
                "scheduling.koordinator.sh/reservation-affinity that do not tolerate it there; their own "
                "tolerations do not count."
            )
            fix = "Add sessionAffinity: true, or put the annotation on session pods."
            report("B116", "taints", message, fix)
