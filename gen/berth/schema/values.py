"""What people declared, as checked values: no text left to parse, no default left to fill in.

`berth.schema` makes these from documents; everything after it works on nothing else. Dates are local dates of
the reservation's zone; times are minutes after local midnight.
"""

from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from berth.schema.report import Origin

if TYPE_CHECKING:
    from decimal import Decimal  # expensive to load, and few sites declare a price

    from berth.schema.argocd import ArgoCD
    from berth.schema.engine import NoEngine
    from berth.schema.flux import Flux
    from berth.schema.holders import Holder
    from berth.schema.pod import Placement, Tolerating
    from berth.schema.sessions import ClassSessions


Seats = tuple[tuple[str, int], ...]
"""(resource class, number of seats or of nodes), in the order of the file; never empty."""


class Entry(NamedTuple):
    """One line of a schedule. `end` may be 1440 (24:00). `days` are ISO weekdays, ascending, 1 = Monday."""

    days: tuple[int, ...]  # empty where the recurrence's type does not look at weekdays
    start: int
    end: int
    end_day: int | None  # days from the start's date to the end's; None: by the rule of `endTime`
    seats: Seats


class Except(NamedTuple):
    """Dates, both inclusive, that do not happen; with `start`, only the occurrence that starts then."""

    first: date
    last: date
    start: int | None


class Move(NamedTuple):
    """One occurrence of the bare recurrence that happens at another time. It keeps its id."""

    day: date
    start: int | None  # None: the date has one occurrence
    to_day: date
    to_start: int | None  # None: at the same time of day
    to_end: int | None  # None: it keeps its wall-clock length
    to_end_day: int | None


class Extra(NamedTuple):
    """One more occurrence, outside of the recurrence."""

    day: date
    start: int
    end: int
    end_day: int | None
    seats: Seats


class Recurrence(NamedTuple):
    type: str  # once | daily | weekly | dates; standing: it has no dates, and its seats stand always
    zone: str
    first: date | None  # startDate; None only for `dates` and `standing`
    last: date | None  # endDate, inclusive
    dates: tuple[
        tuple[date, date], ...
    ]  # only for `dates`: ranges, both ends inclusive, in the order of the file
    interval: int
    schedule: tuple[Entry, ...]
    calendars: tuple[str, ...]
    excepts: tuple[Except, ...]
    moves: tuple[Move, ...]
    extras: tuple[Extra, ...]


class SessionMatch(NamedTuple):
    """What narrows a class's sessions to one course. All empty: every session of the class counts."""

    namespaces: tuple[str, ...]
    match_labels: tuple[tuple[str, str], ...]
    match_annotations: tuple[tuple[str, str], ...]
    project_template: str | None
    earlier: str  # count | ignore


class Reservation(NamedTuple):
    origin: Origin
    name: str
    title: str
    labels: tuple[tuple[str, str], ...]
    annotations: tuple[tuple[str, str], ...]
    recurrence: Recurrence
    seats: Seats  # of the reservation; every entry repeats what holds for it
    seats_listed: bool  # written as provisioning.seats, not as resourceClass and placeholderCount
    lead: int  # minutes
    behavior: str  # maintain | reduce | none
    sessions: SessionMatch
    holder: "Holder"
    suspend: bool
    renku: bool  # read from a Renku payload: some errors are warnings there


class ResourceClass(NamedTuple):
    origin: Origin
    name: str
    cluster: str
    renku_id: int | None
    requests: tuple[tuple[str, str], ...]
    limits: tuple[tuple[str, str], ...]
    pod: "Placement"
    pod_labels: tuple[tuple[str, str], ...]
    sessions: "ClassSessions | None"
    cloud_capacity: tuple[str, ...] = ()  # names of CloudCapacity, the preferred first
    node_pools: tuple[str, ...] = ()  # that its placeholders may use, in the order of the clouds


class Calendar(NamedTuple):
    origin: Origin
    name: str
    dates: tuple[tuple[date, date, str], ...]  # first, last (inclusive), title


class Ceiling(NamedTuple):
    """The most that may be open at once. `first` and `last` are inclusive local dates of the site's zone."""

    seats: tuple[tuple[str, int], ...]
    requests: tuple[tuple[str, str], ...]
    first: date | None
    last: date | None


class Images(NamedTuple):
    pause: str
    python: str
    pull_secrets: tuple[str, ...]


class Koordinator(NamedTuple):
    """Koordinator's scheduler in a cluster."""

    scheduler: str
    allocate_policy: str  # of every Reservation there: mixed ones do not share a node
    colocation_profiles: bool  # whether its webhook may add what session pods need


class Karpenter(NamedTuple):
    """Karpenter in a cluster, as far as rules need it."""

    version: tuple[int, int]
    gates: tuple[tuple[str, bool], ...]  # only those that are set


class Cluster(NamedTuple):
    """One cluster of the site, with what it overrides already merged over the site's own values."""

    name: str
    namespace: str
    engine: str
    engine_options: "ArgoCD | Flux | NoEngine"  # NoEngine by default
    replicas_in_git: bool  # whether the engine leaves alone what is in git as 0
    destination: tuple[str, str]  # server or name, and which
    autoscaler: str
    ceilings: tuple[Ceiling, ...]
    priority: int
    images: Images
    runtime: "Tolerating"  # where the Jobs of Berth run
    job_resources: dict[str, dict[str, str]]  # requests and limits of the scaler and the sweep
    occurrence_resources: dict[str, dict[str, str]]  # of the container that only waits
    koordinator: Koordinator | None = None  # None: the cluster has none
    karpenter: Karpenter | None = None  # None: not known
    largest_node: tuple[tuple[str, str], ...] = ()  # amounts that pods may have of it; () if not known
    runtime_image: str = ""  # contains the in-cluster code; empty: ConfigMaps and a Python image

    @property
    def has_static_pools(self) -> bool:
        """Tell whether its Karpenter has static NodePools, a feature gate that is off by default."""
        return self.karpenter is not None and dict(self.karpenter.gates).get("StaticCapacity", False)

    @property
    def sweep_prunes(self) -> bool:
        """Tell whether the sweep removes what is gone from git, as no engine does; it needs an inventory."""
        return self.engine == "none"


class Repository(NamedTuple):
    """The git repository of the site, or an artifact, as an engine finds it; `path` leads to the project."""

    url: str
    revision: str
    path: str


class Renku(NamedTuple):
    """Renku's API, which knows the templates of projects. The secret is in the namespace of a cluster."""

    url: str
    secret: str  # empty: no token
    secret_key: str


class Site(NamedTuple):
    origin: Origin
    name: str
    zone: str
    clusters: tuple[Cluster, ...]
    kustomization: bool
    stabilization_seconds: int  # how long a session that left still counts
    ready_minutes: int  # before the start of an occurrence, at which all its seats should be ready
    renku: Renku | None
    notice_hours: int  # how long before its opening a change should be merged
    repository: Repository | None
    budget: "Decimal | None" = None  # of money in a month; a change that costs more fails
