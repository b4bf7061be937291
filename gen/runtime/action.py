"""What the sweep can do, each as a value that says why: the order in which it is done, and how it is told."""

from typing import TYPE_CHECKING, NamedTuple

from gen.runtime.event import NORMAL
from gen.runtime.facts import Deployment, Job, Thing
from gen.runtime.objectkind import CONFIG_MAP, CRON_JOB, DEPLOYMENT, JOB, ROLE, ROLE_BINDING, SCALED
from gen.runtime.verbs import Tree

if TYPE_CHECKING:
    from gen.runtime.slot import Slot
    from gen.runtime.timetable import Slots

OPENED, CLOSED, STARTED, REMOVED = "SweepOpened", "SweepClosed", "SweepStartedJob", "SweepRemoved"
GONE, BACK = "SweepGone", "SweepBack"
# What makes pods goes before the pods; the timetable goes last, so that a removal that was cut short goes on.
_REMOVAL = tuple(kind.name for kind in (CRON_JOB, JOB, *SCALED, ROLE_BINDING, ROLE, CONFIG_MAP))


class Scale(NamedTuple):
    deployment: Deployment
    to: int
    why: str

    @property
    def thing(self) -> Thing:
        return self.deployment.thing


class StartJob(NamedTuple):
    thing: Thing  # the timetable that will own the Job
    name: str
    template: Tree
    replaced: Job | None  # of that name, which has to go first
    why: str


class Mark(NamedTuple):
    """On the timetable, since when its reservation is gone, or on what is left without one; an empty `since`
    takes that away.
    """

    thing: Thing
    since: str
    why: str


class Remove(NamedTuple):
    thing: Thing
    why: str


class MakeSlots(NamedTuple):
    """Of one pool. `thing` is where it is told: the timetable."""

    thing: Thing
    resource_class: str
    slots: "Slots"
    names: tuple[str, ...]
    expires: int
    why: str


class RemoveSlots(NamedTuple):
    """Of one class of a reservation. `thing` is where it is told, or the first of them."""

    thing: Thing
    resource_class: str
    slots: "tuple[Slot, ...]"
    why: str
    is_last: bool = False  # it waits for what could make them again to be removed


Action = Scale | StartJob | Mark | Remove | MakeSlots | RemoveSlots


class Telling(NamedTuple):
    """A Warning, told once for each `key` until the API server forgets Events, by default after an hour."""

    thing: Thing  # that people look at
    reason: str
    message: str
    key: str


def rank(action: Action) -> tuple[int, int, str, str]:
    """Seats first: opening, then Jobs that serve, then whatever takes away."""
    place = 0
    match action:
        case Scale():
            order = 0 if action.to else 2
        case StartJob():
            order = 1
        case Mark():
            order = 3
        case Remove():
            order, place = 4, _REMOVAL.index(action.thing.kind)
        case MakeSlots():
            order = 0
        case RemoveSlots():
            order, place = (4, _REMOVAL.index(DEPLOYMENT.name)) if action.is_last else (2, 0)
    return order, place, action.thing.reservation, action.thing.name


def told(action: Action) -> tuple[str, str, str]:
    """As an Event: its kind, reason and message."""
    match action:
        case Scale():
            what = f"Scaled from {action.deployment.replicas} to {action.to}"
            return NORMAL, OPENED if action.to else CLOSED, f"{what}: {action.why}."
        case StartJob():
            verb = "Made again" if action.replaced else "Started"
            return NORMAL, STARTED, f"{verb} Job {action.name}: {action.why}."
        case Mark():
            what = "To be removed soon" if action.since else "No longer to be removed"
            return NORMAL, GONE if action.since else BACK, f"{what}: {action.why}."
        case Remove():
            return NORMAL, REMOVED, f"Removed {action.thing.kind} {action.thing.name}: {action.why}."
        case MakeSlots():
            return NORMAL, OPENED, f"Made {_slots(len(action.names), action.resource_class)}: {action.why}."
        case RemoveSlots():
            what = f"Removed {_slots(len(action.slots), action.resource_class)}"
            return NORMAL, CLOSED, f"{what}: {action.why}."


def _slots(number: int, resource_class: str) -> str:
    return f"{number} slot{'' if number == 1 else 's'} of {resource_class}"
