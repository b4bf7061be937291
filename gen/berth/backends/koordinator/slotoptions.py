"""The keys of `backend` that are for slots: Koordinator's Reservations, one a seat."""

from typing import Annotated, Literal, Self

from berth.backends.koordinator.slotparts import (
    Owner,
    PreAllocationPolicy,
    SlotTaint,
    SlotTemplate,
    check_slot_keys,
    warn_of_priority,
)
from berth.findings import Path
from berth.schema.basemodel import ListOf, Model, NonEmpty, Whole, field
from berth.schema.documentproblems import CONFLICT, DocumentProblems
from berth.schema.types import INT32, INT64, Annotations, GoDuration, Instant, Labels, ResourceName

PRE_ALLOCATION, NEVER_ENDS, MADE_AGAIN, CLUSTER_MODE, CLOSED = "B106", "B108", "B109", "B115", "B116"
ORDER = "B122"

AllocatePolicy = Literal["Restricted", "Aligned"]


class SlotOptions(Model):
    owners: NonEmpty[Owner] = field(
        (),
        "pods that may take a slot; a pod needs to match one entry",
        "sessions of the class, if labels of pods tell them; needed for Renku's",
    )
    allocate_once: bool = field(False, "whether a slot ends with its first session")
    allocate_policy: AllocatePolicy | None = field(
        None, "as in Koordinator; equal in the whole cluster", "the cluster's"
    )
    pre_allocation: bool | None = field(
        None, "whether a slot may take over from running pods", "as `withPlaceholders`"
    )
    pre_allocation_policy: PreAllocationPolicy | None = field(
        None, "from which pods a slot may take over", "none"
    )
    pre_allocation_required: bool | None = field(
        None, "the slot never takes free room", "as `withPlaceholders`"
    )
    unschedulable: bool = field(False, "the slot holds its room, but no session may take it")
    taints: ListOf[SlotTaint] = field((), "taints that session pods tolerate by an annotation", "none")
    # It is a label, which cannot be negative; and Koordinator ignores 0.
    order: Annotated[int, Whole(1, INT64)] | None = field(
        None, "slots with the lowest order are taken first", "none"
    )
    priority: Annotated[int, Whole(0, INT32)] | None = field(
        None, "priority, where Koordinator preempts", "none"
    )
    restricted_resources: NonEmpty[ResourceName] = field((), "only these resources come from the slot", "all")
    labels: Labels = field({}, "labels of each slot", "none")
    annotations: Annotations = field({}, "annotations of each slot", "none")
    template: SlotTemplate = field(
        SlotTemplate.model_construct(), "what is added to the class, as in a pod", "none"
    )
    standing: bool = field(False, "slots from the merge on, without recurrence")
    expires: Instant | None = field(None, "only `standing`: when the slots end", "when it is taken from git")
    ttl: GoDuration | None = field(None, "only `standing`: how long after its creation a slot ends", "none")
    session_affinity: bool = field(False, "renders what makes session pods require a slot")
    with_placeholders: bool = field(False, "placeholders first, which make an autoscaler add nodes")

    def check(self, path: Path, report: DocumentProblems) -> None:
        check_slot_keys(self.labels, self.annotations, path, report, on_object=True)
        self._check_end(path, report)
        self._check_pre_allocation(path, report)
        self._check_priority(path, report)
        self._check_closed(path, report)
        self._check_order(path, report)

    def _check_end(self, path: Path, report: DocumentProblems) -> None:
        """Check when a slot ends: with its window, or as the backend sets it."""
        if not self.standing:
            for name, value in (("expires", self.expires), ("ttl", self.ttl)):
                if value is not None:
                    message = f"slots end with their window; {name} is only for standing slots."
                    fix = "Remove it, or write standing: true."
                    report(CONFLICT, (*path, name), message, fix, at_key=True)
            return
        if self.ttl == "0s" and self.expires is not None:
            message = "ttl 0 means never: Koordinator would ignore expires."
            fix = "Remove ttl: Berth sets one that lets expires decide."
            report(NEVER_ENDS, (*path, "ttl"), message, fix)
        elif self.ttl not in (None, "0s"):
            message = f"a slot ends {self.ttl} after its creation, and is created again from git a day later."
            report(MADE_AGAIN, (*path, "ttl"), message, "Write expires, and remove ttl.")
        if self.allocate_once:
            message = "a slot ends with its first session, and is created again from git a day later."
            report(MADE_AGAIN, (*path, "allocateOnce"), message, "Remove it, unless that is intended.")

    def _check_pre_allocation(self, path: Path, report: DocumentProblems) -> None:
        placeholders = self.with_placeholders
        if placeholders and self.standing:
            message = (
                "slots take over from placeholders in the window of an occurrence; standing slots have none."
            )
            report(CONFLICT, (*path, "withPlaceholders"), message, "Remove it, or standing.", at_key=True)
        flags = (
            ("preAllocation", self.pre_allocation),
            ("preAllocationRequired", self.pre_allocation_required),
        )
        for name, flag in flags:
            if placeholders and flag is False:
                message = f"withPlaceholders needs {name}: slots take over from placeholders."
                report(PRE_ALLOCATION, (*path, name), message, "Remove it, or withPlaceholders.")
        asked = placeholders or self.pre_allocation is True
        self._check_needless(asked, path, report)
        if not asked:
            return
        why = "withPlaceholders" if placeholders else "preAllocation"
        if self.allocate_once:
            message = (
                f"{why} needs allocateOnce: false: a slot would be used up by the pods that it takes over "
                "from."
            )
            report(PRE_ALLOCATION, (*path, "allocateOnce"), message, f"Remove it, or {why}.")
        if self.allocate_policy == "Aligned":
            message = f"{why} needs allocatePolicy Restricted: with Aligned a slot is never scheduled."
            report(PRE_ALLOCATION, (*path, "allocatePolicy"), message, f"Write Restricted, or remove {why}.")
        self._check_mode(path, report, placeholders=placeholders)

    def _check_needless(self, asked: bool, path: Path, report: DocumentProblems) -> None:
        """Report what needs preAllocation where that is not asked for."""
        policy = self.pre_allocation_policy
        pairs = (
            ("preAllocationPolicy", policy is not None and not policy.is_blank),
            ("preAllocationRequired", self.pre_allocation_required),
        )
        for name, value in pairs:
            if value and not asked:
                fix = "Add preAllocation: true, or remove it."
                report(PRE_ALLOCATION, (*path, name), f"{name} needs preAllocation.", fix, at_key=True)

    def _check_mode(self, path: Path, report: DocumentProblems, *, placeholders: bool) -> None:
        """Check whose capacity a slot takes over."""
        policy, at = self.pre_allocation_policy, (*path, "preAllocationPolicy")
        if policy is not None and policy.mode == "Cluster":
            if placeholders:
                message = "withPlaceholders needs mode Default: slots know their placeholders by owners."
                report(PRE_ALLOCATION, (*at, "mode"), message, "Remove it, or withPlaceholders.")
            else:
                message = "mode Cluster works only where Koordinator's scheduler has enableClusterMode."
                fix = "Enable it (preAllocationConfig.enableClusterMode: true), or write Default."
                report(CLUSTER_MODE, (*at, "mode"), message, fix)
        elif not placeholders and self.owners and not any(owner.has_labels for owner in self.owners):
            message = "a slot can take over only from pods of an owner with a labelSelector."
            report(PRE_ALLOCATION, (*path, "owners"), message, "Add labelSelector to an owner.")

    def _check_priority(self, path: Path, report: DocumentProblems) -> None:
        if self.priority is None:
            return
        if self.template.priority is not None:
            message = "template.priority already sets the priority."
            report(CONFLICT, (*path, "priority"), message, "Keep one of the two.", at_key=True)
        warn_of_priority((*path, "priority"), report)

    def _check_closed(self, path: Path, report: DocumentProblems) -> None:
        """Warn of slots that no session takes unless its pod says in an annotation that it tolerates that."""
        annotation = "scheduling.koordinator.sh/reservation-affinity"
        if self.unschedulable:
            message = "no session can use a slot while it is unschedulable."
            report(
                CLOSED, (*path, "unschedulable"), message, "Remove it once the slots should be used again."
            )
        if self.taints and not self.session_affinity:
            message = (
                f"a taint keeps out only pods with the annotation {annotation} that do not tolerate it "
                "there; their own tolerations do not count."
            )
            fix = "Add sessionAffinity: true, or put the annotation on session pods."
            report(CLOSED, (*path, "taints"), message, fix)

    def _check_order(self, path: Path, report: DocumentProblems) -> None:
        """Warn of an order that leads sessions past free slots."""
        if self.order is not None and not self.session_affinity:
            message = (
                "sessions go to the node with the slots of the lowest order, also when these are full: they "
                "take free room there, and pass by free slots elsewhere."
            )
            report(ORDER, (*path, "order"), message, "Add sessionAffinity: true, or remove it.", at_key=True)

    @property
    def resolved(self) -> Self:
        """Return the same with what follows from `withPlaceholders`."""
        placeholders, policy = self.with_placeholders, self.pre_allocation_policy
        return self.model_copy(
            update={
                "pre_allocation": placeholders or bool(self.pre_allocation),
                "pre_allocation_required": placeholders or bool(self.pre_allocation_required),
                "pre_allocation_policy": None if policy is None or policy.is_blank else policy,
            }
        )
