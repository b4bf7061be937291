"""Are the seats of an occurrence ready in time? Pure.

Asked once, some minutes before the start (or a minute after the opening, where that is later): the answer is
no as long as fewer placeholders or slots are ready than wanted. More that is wanted of a pool gets a minute
to come.
"""

from gen.runtime.record import NODES, PLACEHOLDERS, SLOTS, Look
from gen.runtime.timetable import Occurrence, Settings

UNJUDGED, LATE, READY = "unjudged", "late", "ready"
GRACE = 60  # seconds for placeholders to come
_REMEDY = {
    PLACEHOLDERS: "Look at the pods of this Deployment that are Pending, and at the events of the cluster's "
    "autoscaler.",
    SLOTS: "Look at those that are Pending, with kubectl get reservations.scheduling.koordinator.sh: there "
    "is no room for them, or Koordinator's scheduler does not run.",
    NODES: "Look at kubectl get nodeclaims, and at the events of the NodePool: its limits, or what the cloud "
    "has left.",
}


def asked_at(item: Occurrence, settings: Settings) -> int:
    return max(item.start - 60 * settings.ready_minutes, item.open + GRACE)


def judged(before: str, asked: int, look: Look, now: float) -> str:
    """READY is for ever: what placeholders make room for later is no lateness."""
    if before == READY or now < asked:
        return before
    if look.ready >= look.wanted:
        return READY
    return before if now < look.raised + GRACE else LATE


def late_message(item: Occurrence, look: Look, start: str) -> str:
    return (
        f"{look.ready} of {look.wanted} {look.kind} of {look.resource_class} are ready for {item.id}, which "
        f"starts at {start}. {_REMEDY[look.kind]}"
    )


def ready_message(item: Occurrence, look: Look) -> str:
    return f"All {look.wanted} {look.kind} of {look.resource_class} are ready for {item.id}."
