"""The facts of a site, sorted by reservation."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol, TypeVar

from gen.runtime.facts import CronJob, Deployment, Facts, Job, Pod, SlotFact, Source, Thing
from gen.runtime.objectkind import DEPLOYMENT


class Holding(NamedTuple):
    """Everything in the cluster that is of one reservation, each kind in the order of names."""

    reservation: str
    sources: tuple[Source, ...]
    deployments: tuple[Deployment, ...]
    cronjobs: tuple[CronJob, ...]
    jobs: tuple[Job, ...]
    pods: tuple[Pod, ...]
    rights: tuple[Thing, ...]
    slots: tuple[SlotFact, ...] = ()

    @property
    def is_served(self) -> bool:
        return any(pod.is_serving for pod in self.pods)

    @property
    def cronjob(self) -> CronJob | None:
        """One whose Jobs can serve the reservation. Any can: they differ in their schedule."""
        return next((one for one in self.cronjobs if not one.thing.is_going), None)

    @property
    def subjects(self) -> list[Thing]:
        """Where people look for what is told of it: its Deployments, or its timetable where it has none.
        Events of what has no namespace are hard to find.
        """
        found = [one.thing for one in self.deployments if one.thing.kind == DEPLOYMENT.name]
        return found or [one.thing for one in self.sources]

    def things(self) -> list[Thing]:
        """All but the pods, which follow their owners, and the slots, which are of no namespace."""
        found = [*(one.thing for one in self.sources), *(one.thing for one in self.deployments), *self.rights]
        return [*found, *(one.thing for one in self.cronjobs), *(one.thing for one in self.jobs)]


class _Known(Protocol):
    @property
    def thing(self) -> Thing: ...


K = TypeVar("K", bound=_Known)


def holdings(facts: Facts) -> list[Holding]:
    """By name. Each fact is in one of them."""
    sources, deployments = _by_reservation(facts.sources), _by_reservation(facts.deployments)
    cronjobs, jobs, pods = (
        _by_reservation(facts.cronjobs),
        _by_reservation(facts.jobs),
        _by_reservation(facts.pods),
    )
    rights: dict[str, tuple[Thing, ...]] = {}
    for thing in sorted(facts.rights):
        rights[thing.reservation] = (*rights.get(thing.reservation, ()), thing)
    slots = _by_reservation(facts.slots or ())
    names = {*sources, *deployments, *cronjobs, *jobs, *pods, *rights, *slots}
    return [
        Holding(
            name,
            sources.get(name, ()),
            deployments.get(name, ()),
            cronjobs.get(name, ()),
            jobs.get(name, ()),
            pods.get(name, ()),
            rights.get(name, ()),
            slots.get(name, ()),
        )
        for name in sorted(names)
    ]


def _by_reservation(found: Iterable[K]) -> dict[str, tuple[K, ...]]:
    groups: dict[str, list[K]] = {}
    for one in sorted(found, key=lambda one: one.thing.name):
        groups.setdefault(one.thing.reservation, []).append(one)
    return {name: tuple(group) for name, group in groups.items()}
