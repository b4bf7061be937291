"""What was seen of one site in one cluster. Values only; instants in seconds, 0 where unknown."""

from collections.abc import Mapping
from typing import NamedTuple

from gen.runtime.recognition import Recognition
from gen.runtime.session import Session
from gen.runtime.slot import Slot as Held


class Place(NamedTuple):
    """Where we look: a cluster of the site, its namespace, and the kubeconfig context; none inside of it."""

    cluster: str
    namespace: str
    context: str | None

    def kubectl(self, command: str, *, namespaced: bool = True) -> str:
        """A command that a person can paste."""
        context = f" --context={self.context}" if self.context else ""
        namespace = f" --namespace={self.namespace}" if namespaced else ""
        return f"kubectl{context}{namespace} {command}"


class Trouble(NamedTuple):
    """Why a pod does not run, in the words of the scheduler or the kubelet. `reason` is one word."""

    reason: str
    message: str


class Deployment(NamedTuple):
    """The Deployment of a pool, or its NodePool. `scaled_by` is the field manager that last wrote replicas,
    at `scaled_at`. `refused`: why no more of its pods are made, since `refused_at`. `template` is JSON.
    """

    name: str
    reservation: str
    resource_class: str
    replicas: int
    ready: int
    scaled_by: str
    scaled_at: int
    is_nodes: bool = False
    refused: Trouble | None = None
    refused_at: int = 0
    template: str = ""


class Waiting(NamedTuple):
    """A placeholder that is not ready: Pending since it was made, or not running on its node any more."""

    reservation: str
    resource_class: str
    since: int
    trouble: Trouble | None
    is_pending: bool = True


class Pod(NamedTuple):
    """A pod of ours that is no placeholder, and has not succeeded. `serves`: its program runs, whatever the
    sidecar does.
    """

    name: str
    reservation: str
    role: str
    phase: str
    restarts: int
    trouble: Trouble | None
    serves: bool


class Job(NamedTuple):
    name: str
    reservation: str
    role: str
    active: bool
    failure: Trouble | None  # of a Job that has failed for good


class CronJob(NamedTuple):
    name: str
    reservation: str
    role: str
    suspended: bool
    created: int
    last_success: int


class Timetable(NamedTuple):
    """The ConfigMap as it is, last written at `changed`. `text` is None without the key, `override` without
    the annotation.
    """

    name: str
    reservation: str
    text: str | None
    override: str | None
    changed: int


class Slot(NamedTuple):
    """A slot of ours. `trouble`: why it waits or is over, in the scheduler's words, since `changed`;
    `is_seen`: the scheduler has looked at it.
    """

    reservation: str
    resource_class: str
    is_standing: bool
    held: Held
    is_seen: bool
    trouble: Trouble | None
    changed: int


class Unread(NamedTuple):
    """A Reservation, of whomever, that Koordinator's scheduler cannot read."""

    name: str
    why: str


class Refusal(NamedTuple):
    """No list of Reservations, and why: the HTTP status, 0 without one."""

    status: int
    message: str


class Facts(NamedTuple):
    """`code` is the in-cluster code by file, None without its ConfigMap. `sessions`: those that are active,
    or why nobody could tell. `slots` is None where nobody looked: the site says that there is no Koordinator.
    """

    timetables: tuple[Timetable, ...] = ()
    deployments: tuple[Deployment, ...] = ()
    cronjobs: tuple[CronJob, ...] = ()
    jobs: tuple[Job, ...] = ()
    pods: tuple[Pod, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    code: Mapping[str, str] | None = None
    sessions: Mapping[Recognition, tuple[Session, ...] | str] = {}
    slots: tuple[Slot, ...] | Refusal | None = None
    unread: tuple[Unread, ...] = ()
    unset: tuple[str, ...] = ()  # Reservations of others, by name, that hold something by no allocatePolicy
