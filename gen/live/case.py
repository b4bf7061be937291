"""One pool under judgement: all that was seen of it and worked out, before anything is concluded."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gen.live.expected import Expected, Standing
from gen.live.facts import Deployment, Facts, Place, Pod, Slot, Waiting
from gen.live.rules import Live
from gen.model import Site
from gen.runtime import judgement
from gen.runtime.override import Override
from gen.runtime.slotdemand import Demand
from gen.runtime.slotplan import Census
from gen.runtime.target import full_count, open_now, target
from gen.runtime.timetable import Occurrence, Pool, Timetable, in_force

# How long each may take until it is a broken promise, in seconds.
RESET = 10  # replicas that somebody changed, while a pod serves
EDIT = judgement.EDIT  # an edit of the timetable, or an override
REPAIR = 360  # everything else: the sweep comes every five minutes


class Look(NamedTuple):
    """One look at one cluster. `expected` is what git says, by reservation, `standing` what it says stands
    without a timetable; `has_sweep` that a sweep works here, which repairs in time what no pod does.
    """

    place: Place
    site: str
    engine: str
    autoscaler: str
    expected: Mapping[str, Timetable]
    facts: Facts
    now: int
    has_sweep: bool = True
    standing: Mapping[str, Sequence[Standing]] = {}
    templates: Mapping[str, str] = {}  # of pools, by git
    scheduler: str = ""  # Koordinator's; empty: the cluster has none


class Case(NamedTuple):
    """`timetable` is the one that holds in the cluster (None: none), last changed at `changed`; `git` the one
    of git. `wanted` and `active` (sessions) are None where nobody can tell.
    """

    look: Look
    reservation: str
    pool: Pool
    timetable: Timetable | None = None
    git: Timetable | None = None
    changed: int = 0
    wanted: int | None = None
    active: int | None = None
    override: Override | None = None  # that is in force
    overridden: int = 0  # until when one was, that is over; 0: none
    deployment: Deployment | None = None
    waiting: tuple[Waiting, ...] = ()
    pods: tuple[Pod, ...] = ()  # of the reservation's Jobs
    slots: tuple[Slot, ...] | None = None  # of windows; None: nobody knows
    census: Census = Census()  # of these
    demand: Demand | None = None  # None: slots do not hold it, or nobody knows

    @property
    def subject(self) -> str:
        return f"{self.reservation}/{self.pool.resource_class}"

    @property
    def pending(self) -> int:
        """Placeholders that no node has."""
        return sum(one.is_pending for one in self.waiting)

    @property
    def served(self) -> bool:
        return any(pod.serves for pod in self.pods)

    def occurrences(self) -> tuple[Occurrence, ...]:
        """Those with seats here that may open, by the timetable that holds."""
        return occurrences_of(self.timetable, self.pool.resource_class)

    def open(self) -> tuple[Occurrence, ...]:
        return open_now(self.occurrences(), self.look.now)

    def seats(self, number: int) -> str:
        """`3 seats`; `3 nodes` of a pool of whole nodes."""
        return seats(number, "node" if self.pool.node_pool else "seat")

    def live(self, code: str, message: str, fix: str) -> Live:
        return Live(code, self.look.place.cluster, self.subject, message, fix)

    def kubectl(self, command: str, *, namespaced: bool = True) -> str:
        return self.look.place.kubectl(command, namespaced=namespaced)


def look_at(place: Place, site: Site, git: Expected, facts: Facts, now: int) -> Look:
    """At the cluster that `git` is about."""
    cluster = next(one for one in site.clusters if one.name == git.cluster)
    return Look(
        place,
        site.name,
        cluster.engine,
        cluster.autoscaler,
        git.timetables,
        facts,
        now,
        standing=git.standing,
        templates=git.templates,
        scheduler=cluster.koordinator.scheduler if cluster.koordinator else "",
    )


def occurrences_of(timetable: Timetable | None, resource_class: str) -> tuple[Occurrence, ...]:
    if timetable is None:
        return ()
    count = full_count(resource_class)
    return tuple(one for one in in_force(timetable) if count(one))


def wanted_by_git(case: Case) -> int:
    """Where the cluster knows of nothing."""
    occurrences = occurrences_of(case.git, case.pool.resource_class)
    return target(occurrences, case.look.now, full_count(case.pool.resource_class))


def seats(number: int, what: str = "seat") -> str:
    """`1 seat`, `3 seats`."""
    return f"{number} {what}{'' if number == 1 else 's'}"
