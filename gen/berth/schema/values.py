"""What people declared, as checked values: no text left to parse, no default left to fill in.

`berth.schema` makes these from documents; everything after it works on nothing else. Dates are local dates of
the reservation's zone; times are minutes after local midnight.
"""

from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from berth.findings import Origin

if TYPE_CHECKING:
    from decimal import Decimal  # expensive to load, and few sites declare a price

    from berth.schema.argocdoptions import ArgoCD
    from berth.schema.basemodel import Json
    from berth.schema.classsessions import ClassSessions
    from berth.schema.deviceclaims import DeviceClaim
    from berth.schema.engine import NoEngine
    from berth.schema.fluxoptions import Flux
    from berth.schema.heldobjects import HeldSpec
    from berth.schema.pod import Placement, Tolerating
    from berth.schema.policies import PolicySpec
    from berth.schema.siteparts import CeilingSpec, KarpenterSpec, KoordinatorSpec, RenkuSpec, RepositorySpec


Seats = tuple[tuple[str, int], ...]
"""(resource class, number of seats or of nodes), in the order of the file; never empty."""


class Scaling(NamedTuple):
    """When seats of a class open, and how they scale down."""

    lead: int  # minutes before the start
    behavior: str  # maintain | reduce | none | buffer


class EntryDates(NamedTuple):
    """Which of the recurrence's dates an entry has; by default all of them."""

    first: date | None = None
    last: date | None = None  # inclusive
    weeks: tuple[int, ...] = ()  # ISO week numbers, ascending; empty: every week
    nth: int = 0  # only the n-th of its weekday in a month, -1 for the last; 0: each
    listed: int | None = None  # only those of this item of `dates`, which has its own hours


EVERY_DATE = EntryDates()


class Entry(NamedTuple):
    """One line of a schedule. `end` may be 1440 (24:00). `days` are ISO weekdays, ascending, 1 = Monday."""

    days: tuple[int, ...]  # empty where the recurrence's type does not look at weekdays
    start: int
    end: int
    end_day: int | None  # days from the start's date to the end's; None: by the rule of `endTime`
    seats: Seats
    scaling: tuple[Scaling, ...] = ()  # of each of `seats`; empty: all as the reservation
    name: str = ""  # part of its ids
    dates: EntryDates = EVERY_DATE


class Except(NamedTuple):
    """Dates, both inclusive, that do not happen; with `start` or `name`, only occurrences that have it."""

    first: date
    last: date
    start: int | None
    name: str | None = None  # empty: those without a name
    title: str = ""


class Move(NamedTuple):
    """One occurrence of the bare recurrence that has another time or other seats. It keeps its id."""

    day: date
    start: int | None  # None: the date has one occurrence
    to_day: date | None  # None: on the same date
    to_start: int | None  # None: at the same time of day
    to_end: int | None  # None: it keeps its wall-clock length
    to_end_day: int | None
    name: str | None = None  # None: only one occurrence starts then; empty: the one without a name
    seats: Seats | None = None  # None: those of its entry

    @property
    def has_time(self) -> bool:
        """Tell whether it says when the occurrence happens, so that it happens then in any case."""
        return any(value is not None for value in (self.to_day, self.to_start, self.to_end))


class Extra(NamedTuple):
    """One more occurrence, outside of the recurrence."""

    day: date
    start: int
    end: int
    end_day: int | None
    seats: Seats
    scaling: tuple[Scaling, ...] = ()  # as of an entry
    name: str = ""


class Recurrence(NamedTuple):
    type: str  # once | daily | weekly | dates | capacity; standing: no dates, its seats stand always
    zone: str
    first: date | None  # startDate; None for `dates`, `capacity`, `standing` and unknown terms
    last: date | None  # endDate, inclusive
    dates: tuple[
        tuple[date, date], ...
    ]  # only for `dates`: ranges, both ends inclusive, in the order of the file
    interval: int
    schedule: tuple[Entry, ...]  # then one entry for each item of `dates` with its own hours
    calendars: tuple[str, ...]
    excepts: tuple[Except, ...]
    moves: tuple[Move, ...]
    extras: tuple[Extra, ...]
    within: tuple[str, ...] = ()  # names of terms, in the order of the file
    terms: tuple[tuple[date, date], ...] = ()  # their dates; `first` and `last` are those of all of them
    capacity: str = ""  # only for `capacity`: name of a CloudCapacity
    usable: tuple[tuple[int, int], ...] = ()  # when its machines may be used: instants, by time

    @property
    def has_unknown_dates(self) -> bool:
        """Tell whether it names a term, or a CloudCapacity, whose dates are not known."""
        return len(self.terms) < len(self.within) or bool(self.capacity and not self.usable)

    @property
    def lines(self) -> tuple[Entry | Extra, ...]:
        """Everything that occurrences come from. Wherever entries have numbers, they count these."""
        return *self.schedule, *self.extras

    def all_seats(self) -> Iterator[Seats]:
        """Yield the seats of each line, and of each move that has any."""
        yield from (line.seats for line in self.lines)
        yield from (move.seats for move in self.moves if move.seats)


class ClassImages(NamedTuple):
    """The images that sessions of a class run, and how placeholders get them onto their nodes."""

    names: tuple[str, ...] = ()
    warm_up: str | None = None  # volume | background | initContainer | none; None: as the cluster can
    command: tuple[str, ...] = ("true",)  # of an initContainer
    pull_secrets: tuple[str, ...] = ()


class ResourceClass(NamedTuple):
    origin: Origin
    name: str
    cluster: str
    renku_id: int | None
    requests: tuple[tuple[str, str], ...]  # of a seat, with the overhead
    limits: tuple[tuple[str, str], ...]
    pod: "Placement"
    pod_labels: tuple[tuple[str, str], ...]
    sessions: "ClassSessions | None"
    cloud_capacity: tuple[str, ...] = ()  # names of CloudCapacity, the preferred first
    images: ClassImages = ClassImages()
    pod_annotations: tuple[tuple[str, str], ...] = ()
    volumes: int = 0  # that each session attaches to its node
    overhead: tuple[tuple[str, str], ...] = ()  # of the RuntimeClass of its sessions
    node_pools: tuple[str, ...] = ()  # that its placeholders may use, in the order of the clouds
    resource_claims: "tuple[DeviceClaim, ...]" = ()
    reservation: "Json | None" = None  # merged into each Reservation of Koordinator


class Images(NamedTuple):
    pause: str
    python: str
    pull_secrets: tuple[str, ...]


class Monitoring(NamedTuple):
    """What a cluster's Prometheus and Grafana get."""

    prometheus_rule: bool = False
    dashboard: bool = False
    labels: tuple[tuple[str, str], ...] = ()  # of both objects
    events: str = ""  # name of a metric with Events; empty: there is none
    runbooks: str = ""  # address of the page with the runbooks; empty: that of Berth


class HubFiles(NamedTuple):
    """Where the values of a JupyterHub are: files of the project, of which later ones win."""

    files: tuple[str, ...]
    namespace: str = ""  # of its sessions; empty: any that a class names
    release: str = ""  # name of its Helm release, where no file says it
    position: int | None = None  # in the list of hubs of the cluster; None: it is not in a list


class JobPods(NamedTuple):
    """What the pods of Berth's Jobs have besides its own."""

    labels: tuple[tuple[str, str], ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()
    priority_class: str = ""  # empty: the cluster's default


OPENSHIFT, AUTOPILOT, AUTO_MODE = "openshift", "gke-autopilot", "eks-auto-mode"


class Cluster(NamedTuple):
    """One cluster of the site, with what it overrides already merged over the site's own values."""

    name: str
    namespace: str
    engine: str
    engine_options: "ArgoCD | Flux | NoEngine"  # NoEngine by default
    replicas_in_git: bool  # whether the engine leaves alone what is in git as 0
    destination: tuple[str, str]  # server or name, and which
    autoscaler: str
    ceilings: "tuple[CeilingSpec, ...]"
    priority: int
    images: Images
    runtime: "Tolerating"  # where the Jobs of Berth run
    job_resources: dict[str, dict[str, str]]  # requests and limits of the scaler and the sweep
    occurrence_resources: dict[str, dict[str, str]]  # of the container that only waits
    koordinator: "KoordinatorSpec | None" = None  # None: the cluster has none
    karpenter: "KarpenterSpec | None" = None  # None: not known
    largest_node: tuple[tuple[str, str], ...] = ()  # amounts that pods may have of it; () if not known
    kubernetes: tuple[int, int] | None = None  # its version; None: not known
    runtime_image: str = ""  # contains the in-cluster code; empty: ConfigMaps and a Python image
    hubs: tuple[HubFiles, ...] = ()  # the JupyterHubs whose values are known
    renku_classes: str = ""  # path of the resource pools of its Renku; empty: not known
    capacity_buffers: bool = False  # whether its cluster-autoscaler keeps CapacityBuffers
    monitoring: Monitoring = Monitoring()
    creates_namespace: bool = True  # whether the Namespace is rendered
    has_own_namespace: bool = False  # it names the namespace itself; else the site does, or nobody
    existing_priority_class: str = ""  # of the placeholders; empty: one is rendered
    platform: str = "kubernetes"  # or OPENSHIFT, AUTOPILOT, AUTO_MODE
    job_pods: JobPods = JobPods()
    held: "tuple[HeldSpec, ...]" = ()  # kinds of objects of others whose numbers may be held, and where

    @property
    def assigns_users(self) -> bool:
        """Tell whether the cluster gives pods their user and group, and refuses any other."""
        return self.platform == OPENSHIFT

    @property
    def has_static_pools(self) -> bool:
        """Tell whether its Karpenter has static NodePools, a feature gate that is off by default."""
        return self._has_gate("StaticCapacity")

    @property
    def has_buffers(self) -> bool:
        """Tell whether its autoscaler keeps CapacityBuffers, which is off by default in all of them."""
        if self.autoscaler == "cluster-autoscaler":
            return self.capacity_buffers
        return self.autoscaler == "karpenter" and self._has_gate("CapacityBuffer")

    def _has_gate(self, name: str) -> bool:
        return self.karpenter is not None and self.karpenter.gates.get(name, False)

    @property
    def sweep_prunes(self) -> bool:
        """Tell whether the sweep removes what is gone from git, as no engine does; it needs an inventory."""
        return self.engine == "none"


class Site(NamedTuple):
    origin: Origin
    name: str
    zone: str
    clusters: tuple[Cluster, ...]
    kustomization: bool
    stabilization_seconds: int  # how long a session that left still counts
    ready_minutes: int  # before the start of an occurrence, at which all its seats should be ready
    renku: "RenkuSpec | None"
    notice_hours: int  # how long before its opening a change should be merged
    repository: "RepositorySpec | None"
    budget: "Decimal | None" = None  # of money in a month; a change that costs more fails
    calendars: tuple[str, ...] = ()  # of all reservations
    policies: "tuple[PolicySpec, ...]" = ()
