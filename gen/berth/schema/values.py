"""What people declared, as checked values: no text left to parse, no default left to fill in.

`berth.schema` makes these from documents; everything after it works on nothing else. Dates are local dates of
the reservation's zone; times are minutes after local midnight.
"""

from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, TypeVar

from berth.core.objects import CAPACITY_BUFFER, NODE_POOL, SLOT, ObjectKind
from berth.findings import Origin, Path
from berth.schema.basemodel import Json, Model
from berth.schema.engine import OWN_CLUSTER, of_cluster
from berth.schema.metadata import KindDocument
from berth.schema.pod import completed, layered, with_overhead
from berth.schema.resourceclass import ResourceClassSpec
from berth.schema.site import (
    ClusterSpec,
    HubSpec,
    ImagesSpec,
    MonitoringSpec,
    RuntimeSpec,
    SiteSpec,
    namespace_of,
)
from berth.schema.types import EngineWord

if TYPE_CHECKING:
    from berth.schema.engine import NoEngine
    from berth.schema.engineoptions import ArgoCD, Flux

M = TypeVar("M", bound=Model)
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
    first: date | None = None  # startDate; None for `dates`, `capacity`, `standing` and unknown terms
    last: date | None = None  # endDate, inclusive
    dates: tuple[tuple[date, date], ...] = ()  # of type `dates`: ranges, both ends inclusive, as in the file
    interval: int = 1
    schedule: tuple[Entry, ...] = ()  # then one entry for each item of `dates` with its own hours
    calendars: tuple[str, ...] = ()
    excepts: tuple[Except, ...] = ()
    moves: tuple[Move, ...] = ()
    extras: tuple[Extra, ...] = ()
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


class ResourceClass(ResourceClassSpec):
    """A class as it is declared, with its amounts completed."""

    origin: Origin
    name: str
    cluster: str
    requests: dict[str, str]  # of a seat, with the overhead
    limits: dict[str, str]
    node_pools: tuple[str, ...] = ()  # that its placeholders may use, in the order of the clouds

    @property
    def without_place(self) -> "ResourceClass":
        """Return it without its place in the files, to compare it."""
        return self.model_copy(update={"origin": None})

    @property
    def slot_patch(self) -> Json:
        """Return what is merged into each Reservation of Koordinator."""
        return {} if self.reservation is None else self.reservation.patch


class ResourceClassDocument(KindDocument):
    instead_of_metadata: ClassVar = "Remove them; for its placeholders write podLabels or podAnnotations."
    kind: Literal["ResourceClass"]
    spec: ResourceClassSpec

    def declared(self, origin: Origin) -> ResourceClass:
        spec = self.spec
        requests, limits = with_overhead(*completed(spec.requests, spec.limits), spec.overhead)
        own = {"origin": origin, "name": self.metadata.name, "cluster": spec.cluster or ""}
        amounts = {"requests": requests, "limits": limits}
        return ResourceClass.model_construct(**dict(spec) | own | amounts)


OPENSHIFT, AUTOPILOT, AUTO_MODE = "openshift", "gke-autopilot", "eks-auto-mode"
_RESOURCES = {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "64Mi"}}
_OF_OCCURRENCE = {"requests": {"cpu": "1m", "memory": "12Mi"}, "limits": {"memory": "32Mi"}}
# So much that GKE Autopilot changes nothing: an engine would see a difference to git for ever.
_ON_AUTOPILOT = {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "64Mi"}}


class Cluster(ClusterSpec):
    """One cluster of the site, with what it overrides already merged over the site's own values."""

    namespace: str
    creates_namespace: bool  # whether the Namespace is rendered
    has_own_namespace: bool  # it names the namespace itself; else the site does, or nobody
    engine: EngineWord
    engine_options: "ArgoCD | Flux | NoEngine"  # NoEngine by default
    priority: int
    existing_priority_class: str  # of the placeholders; empty: one is rendered
    images: ImagesSpec
    runtime: RuntimeSpec
    monitoring: MonitoringSpec
    job_resources: dict[str, dict[str, str]]  # requests and limits of the scaler and the sweep
    occurrence_resources: dict[str, dict[str, str]]  # of the container that only waits

    @classmethod
    def of(cls, own: ClusterSpec, site: SiteSpec) -> "Cluster":
        """Return one cluster: its own values, else those of the site, else the defaults."""
        namespace, creates_namespace = namespace_of(own, site)
        priority = site.priority if own.priority is None else own.priority
        number = getattr(priority, "value", priority)
        options = of_cluster(site.engine, own.engine)
        resources = [_ON_AUTOPILOT if own.platform == AUTOPILOT else _RESOURCES, _OF_OCCURRENCE]
        for runtime in (site.runtime, own.runtime):
            if runtime is not None and (more := runtime.resources) is not None:
                resources = [layered(below, more.requests, more.limits) for below in resources]
        return cls.model_construct(
            **dict(own)
            | {
                "namespace": namespace,
                "creates_namespace": creates_namespace,
                "has_own_namespace": own.namespace is not None,
                "engine": options.type,
                "engine_options": options,
                "priority": -10 if number is None else number,
                "existing_priority_class": getattr(priority, "class_name", ""),
                "images": _merged(ImagesSpec, site.images, own.images),
                "runtime": _merged(RuntimeSpec, site.runtime, own.runtime),
                "monitoring": _merged(MonitoringSpec, site.monitoring, own.monitoring),
                "job_resources": resources[0],
                "occurrence_resources": resources[1],
            }
        )

    @property
    def replicas_in_git(self) -> bool:
        """Tell whether the engine leaves alone what is in git as 0."""
        options = self.engine_options
        return options.type == "argocd" or (options.type == "flux" and options.version != "2.8")

    @property
    def destination_of_argocd(self) -> tuple[str, str]:
        """Return the destination as a key of Argo CD and its value."""
        if self.destination is not None and self.destination.name is not None:
            return "name", self.destination.name
        return "server", (self.destination and self.destination.server) or OWN_CLUSTER

    @property
    def hubs(self) -> list[tuple[Path, HubSpec]]:
        """Return the JupyterHubs whose values are known, and the path of each in the cluster."""
        if isinstance(self.z2jh, str):
            return [(("z2jh",), HubSpec.model_construct(files=(self.z2jh,)))]
        return [(("z2jh", i), hub) for i, hub in enumerate(self.z2jh or ())]

    @property
    def assigns_users(self) -> bool:
        """Tell whether the cluster gives pods their user and group, and refuses any other."""
        return self.platform == OPENSHIFT

    @property
    def seat_kinds(self) -> tuple[ObjectKind, ...]:
        """Return the kinds of objects that may hold seats here, besides Deployments.

        Static NodePools and CapacityBuffers are off by default in all autoscalers.
        """
        gates = self.karpenter.gates if self.karpenter is not None else {}
        has_kind = {
            NODE_POOL: gates.get("StaticCapacity", False),
            CAPACITY_BUFFER: self.capacity_buffers
            if self.autoscaler == "cluster-autoscaler"
            else self.autoscaler == "karpenter" and gates.get("CapacityBuffer", False),
            SLOT: self.koordinator is not None,
        }
        return tuple(kind for kind, has in has_kind.items() if has)

    @property
    def sweep_prunes(self) -> bool:
        """Tell whether the sweep removes what is gone from git, as no engine does; it needs an inventory."""
        return self.engine == "none"


def _merged(model: type[M], site: M | None, own: M | None) -> M:
    """Return what is set in either part, a cluster's own over the site's."""
    given = (pair for part in (site, own) if part for pair in part if pair[0] in part.model_fields_set)
    return model.model_construct(**{name: value for name, value in given if value is not None})


class Site(SiteSpec):
    """A site as it is declared."""

    origin: Origin
    name: str
    zone: str
    clusters: tuple[Cluster, ...]


class SiteDocument(KindDocument):
    instead_of_metadata: ClassVar = "Remove them; for the pods of Berth's Jobs write runtime.podLabels."
    kind: Literal["Site"]
    spec: SiteSpec

    def declared(self, origin: Origin) -> Site:
        spec = self.spec
        own = {"origin": origin, "name": self.metadata.name, "zone": spec.time_zone or ""}
        clusters = tuple(Cluster.of(cluster, spec) for cluster in spec.clusters)
        return Site.model_construct(**dict(spec) | own | {"clusters": clusters})
