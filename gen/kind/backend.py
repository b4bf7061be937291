"""`backend` of a reservation: what holds its seats. Slots are Koordinator's Reservations, one a seat."""

from typing import Any, Final

from gen.finding import Path
from gen.kind import grammar, slotkeys
from gen.kind.duration import duration, utc
from gen.kind.koordinator import ALLOCATE_POLICIES
from gen.kind.metadata import ANNOTATIONS, LABELS
from gen.kind.owner import OWNER
from gen.kind.pod import KEY, VALUE
from gen.kind.shape import CONFLICT, IDLE_KEY, INVALID, RANGE, Field, Fields, ListOf, Made, Report
from gen.kind.slottemplate import TEMPLATE, template, warn_of_priority
from gen.kind.value import Flag, OneOf, Text, Whole
from gen.model import Slots

PLACEHOLDER: Final = "placeholder"
KOORDINATOR: Final = "koordinator"
NODE_POOL: Final = "nodePool"
PRE_ALLOCATION, NEVER_ENDS, MADE_AGAIN, CLUSTER_MODE, CLOSED = "B106", "B108", "B109", "B115", "B116"
_INT64, _INT32 = 2**63 - 1, 2**31 - 1
_ENDS = ("expires", "ttl")


class _Order(Whole):
    """It is a label, which cannot be negative; and Koordinator ignores 0."""

    def check(self, value: Any, path: Path, report: Report) -> Any:
        if type(value) is int and value == 0:
            return report(RANGE, path, "0 is ignored by Koordinator.", f"Write a {self.words()}.")
        return Whole.check(self, value, path, report)


def _given(made: Made) -> dict[str, Any]:
    return {key: value for key, value in made.items() if value is not None}


def _taint(made: Made, path: Path, report: Report) -> None:
    if made["effect"] == "PreferNoSchedule":
        message = "Koordinator ignores taints of effect PreferNoSchedule."
        report(IDLE_KEY, (*path, "effect"), message, "Write NoSchedule, or remove the taint.")


TAINT = Fields(
    {
        "key": Field(KEY),
        "value": Field(VALUE, None),
        "effect": Field(OneOf(("NoSchedule", "PreferNoSchedule", "NoExecute"))),
    },
    _given,
    agree=_taint,
)


def _agree(made: Made, path: Path, report: Report) -> None:
    if made["type"] in (PLACEHOLDER, NODE_POOL):
        for name, value in made.items():
            if name != "type" and value is not None:
                message = f"type {made['type']} takes no {name}."
                report(
                    CONFLICT, (*path, name), message, "Remove it, or write type: koordinator.", at_key=True
                )
    elif made["type"] == KOORDINATOR:
        slotkeys.agree(made, path, report, on_object=True)
        _ends(made, path, report)
        _pre_allocation(made, path, report)
        _priority(made, path, report)
        _closed(made, path, report)


def _ends(made: Made, path: Path, report: Report) -> None:
    """When a slot ends is either said by the windows of the reservation, or here."""
    if made["standing"] is INVALID:
        return
    if not made["standing"]:
        for name in _ENDS:
            if made[name] is not None:
                message = f"the end of a window says when its slots end; {name} cannot."
                fix = "Remove it, or write standing: true."
                report(CONFLICT, (*path, name), message, fix, at_key=True)
        return
    if made["ttl"] == "0s" and made["expires"] is not None:
        message = "ttl 0 means never: Koordinator would ignore expires."
        report(NEVER_ENDS, (*path, "ttl"), message, "Remove ttl: Berth sets one that lets expires decide.")
    elif made["ttl"] not in (None, INVALID, "0s"):
        message = f"{made['ttl']} after it was made a slot ends, and a day later it is made again from git."
        report(MADE_AGAIN, (*path, "ttl"), message, "Write expires, and remove ttl.")
    if made["allocateOnce"] is True:
        message = "a slot ends with its first session, and a day later it is made again from git."
        report(MADE_AGAIN, (*path, "allocateOnce"), message, "Remove it, unless that is meant.")


def _pre_allocation(made: Made, path: Path, report: Report) -> None:
    placeholders = made["withPlaceholders"] is True
    if placeholders and made["standing"] is True:
        message = "placeholders hand over to slots in the window of an occurrence; what stands has none."
        report(CONFLICT, (*path, "withPlaceholders"), message, "Remove it, or standing.", at_key=True)
    for name in ("preAllocation", "preAllocationRequired"):
        if placeholders and made[name] is False:
            message = f"withPlaceholders needs {name}: slots take over from placeholders."
            report(PRE_ALLOCATION, (*path, name), message, "Remove it, or withPlaceholders.")
    asked = placeholders or made["preAllocation"] is True
    for name in ("preAllocationPolicy", "preAllocationRequired"):
        if made[name] and made[name] is not INVALID and not asked and made["preAllocation"] is not INVALID:
            fix = "Add preAllocation: true, or remove it."
            report(PRE_ALLOCATION, (*path, name), f"{name} needs preAllocation.", fix, at_key=True)
    if not asked:
        return
    why = "withPlaceholders" if placeholders else "preAllocation"
    if made["allocateOnce"] is True:
        message = (
            f"{why} needs allocateOnce: false: a slot would be used up by the pods that it takes over from."
        )
        report(PRE_ALLOCATION, (*path, "allocateOnce"), message, f"Remove it, or {why}.")
    if made["allocatePolicy"] == "Aligned":
        message = f"{why} needs allocatePolicy Restricted: with Aligned a slot is never scheduled."
        report(PRE_ALLOCATION, (*path, "allocatePolicy"), message, f"Write Restricted, or remove {why}.")
    _mode(made, path, report, placeholders=placeholders)


def _mode(made: Made, path: Path, report: Report, *, placeholders: bool) -> None:
    """Whose capacity a slot takes over."""
    policy = made["preAllocationPolicy"]
    if policy is not INVALID and policy and policy.get("mode") == "Cluster":
        at = (*path, "preAllocationPolicy", "mode")
        if placeholders:
            message = "withPlaceholders needs mode Default: slots know their placeholders by owners."
            report(PRE_ALLOCATION, at, message, "Remove it, or withPlaceholders.")
        else:
            message = "mode Cluster works only where Koordinator's scheduler has enableClusterMode."
            fix = "Make sure of it (preAllocationConfig.enableClusterMode: true), or write Default."
            report(CLUSTER_MODE, at, message, fix)
    elif not placeholders and _all_without_labels(made["owners"]):
        message = "a slot can take over only from pods of an owner with a labelSelector."
        report(PRE_ALLOCATION, (*path, "owners"), message, "Add labelSelector to an owner.")


def _all_without_labels(owners: Any) -> bool:
    """Of what was written and is sound."""
    return bool(owners) and type(owners) is tuple and not any(o is INVALID or o.selector for o in owners)


def _priority(made: Made, path: Path, report: Report) -> None:
    said = made["template"]
    if made["priority"] in (None, INVALID):
        return
    if isinstance(said, dict) and said["priority"] is not None:
        message = "template.priority says the priority already."
        report(CONFLICT, (*path, "priority"), message, "Keep one of the two.", at_key=True)
    warn_of_priority((*path, "priority"), report)


def _closed(made: Made, path: Path, report: Report) -> None:
    """Slots that no session takes unless its pod says in an annotation that it tolerates that."""
    annotation = "scheduling.koordinator.sh/reservation-affinity"
    if made["unschedulable"] is True:
        message = "no session takes a slot while it is unschedulable."
        report(CLOSED, (*path, "unschedulable"), message, "Remove it once the slots should be used again.")
    taints = made["taints"] if isinstance(made["taints"], tuple) else ()
    if taints and made["sessionAffinity"] is not True and made["sessionAffinity"] is not INVALID:
        message = (
            f"a taint keeps out only pods with the annotation {annotation} that do not tolerate it there; "
            "their own tolerations do not count."
        )
        fix = "Add sessionAffinity: true, or put the annotation on session pods."
        report(CLOSED, (*path, "taints"), message, fix)


BACKEND = Fields(
    {
        "type": Field(
            OneOf((PLACEHOLDER, KOORDINATOR, NODE_POOL)),
            PLACEHOLDER,
            "what holds the capacity: placeholder, koordinator or nodePool; the rest is for koordinator only",
        ),
        "owners": Field(
            ListOf(OWNER, 1),
            None,
            "whose pods may take a slot; one entry is enough",
            "sessions of the class, if labels of pods tell them; needed for Renku's",
        ),
        "allocateOnce": Field(Flag(), None, "whether a slot ends with its first session", "`false`"),
        "allocatePolicy": Field(
            OneOf(ALLOCATE_POLICIES), None, "as in Koordinator; equal in the whole cluster", "the cluster's"
        ),
        "preAllocation": Field(
            Flag(), None, "whether a slot may take over from running pods", "as `withPlaceholders`"
        ),
        "preAllocationPolicy": Field(
            Fields(
                {
                    "mode": Field(
                        OneOf(("Default", "Cluster")), None, "which pods", "`Default`: its owners'"
                    ),
                    "enableMultiple": Field(Flag(), None, "several pods for one slot", "`false`"),
                },
                _given,
            ),
            None,
            "from whom",
            "none",
        ),
        "preAllocationRequired": Field(Flag(), None, "never from free capacity", "as `withPlaceholders`"),
        "unschedulable": Field(Flag(), None, "holds, but no session takes it", "`false`"),
        "taints": Field(ListOf(TAINT), None, "that session pods tolerate by their annotation", "none"),
        "order": Field(_Order(1, _INT64), None, "which slots are taken first: the lowest", "none"),
        "priority": Field(Whole(0, _INT32), None, "where preemption is on", "none"),
        "restrictedResources": Field(
            ListOf(Text("resource", grammar.resource_name), 1), None, "only these come from the slot", "all"
        ),
        "labels": Field(LABELS, None, "labels of each slot", "none"),
        "annotations": Field(ANNOTATIONS, None, "annotations of each slot", "none"),
        "template": Field(TEMPLATE, None, "what is added to the class, as in a pod", "none"),
        "standing": Field(Flag(), None, "from merge on, without recurrence", "`false`"),
        "expires": Field(
            Text("instant in UTC", utc), None, "only `standing`: when it ends", "when it is taken from git"
        ),
        "ttl": Field(Text("duration", duration), None, "only `standing`: how long after it was made", "none"),
        "sessionAffinity": Field(Flag(), None, "renders what makes session pods require a slot", "`false`"),
        "withPlaceholders": Field(
            Flag(), None, "placeholders first, which make an autoscaler add nodes", "`false`"
        ),
    },
    agree=_agree,
)
NOTHING_SAID: Made = {name: field.default for name, field in BACKEND.fields.items()}


def slots(made: Made) -> Slots | None:
    """What was checked as a value; None of another type."""
    if made["type"] != KOORDINATOR:
        return None
    placeholders = bool(made["withPlaceholders"])
    return Slots(
        owners=made["owners"] or (),
        allocate_once=bool(made["allocateOnce"]),
        allocate_policy=made["allocatePolicy"],
        pre_allocation=placeholders or bool(made["preAllocation"]),
        pre_allocation_policy=made["preAllocationPolicy"] or {},
        pre_allocation_required=placeholders or bool(made["preAllocationRequired"]),
        unschedulable=bool(made["unschedulable"]),
        taints=made["taints"] or (),
        order=made["order"],
        priority=made["priority"],
        restricted_resources=made["restrictedResources"] or (),
        labels=made["labels"] or (),
        annotations=made["annotations"] or (),
        template=template(made["template"]),
        standing=bool(made["standing"]),
        expires=made["expires"],
        ttl=made["ttl"],
        session_affinity=bool(made["sessionAffinity"]),
        with_placeholders=placeholders,
    )
