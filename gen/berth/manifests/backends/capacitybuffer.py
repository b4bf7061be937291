"""Backend `capacityBuffer`: capacity is room that the autoscaler itself keeps free, without pods.

A CapacityBuffer has 0 replicas in git, and Jobs set their number. A PodTemplate is the shape of one seat.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from berth.core.labels import CLASS
from berth.dates.expansion import Occurrence
from berth.manifests import deployments, rbac, window
from berth.manifests.backends.backendinterface import Backend, Manifest
from berth.manifests.placed import Placed
from berth.schema.values import ResourceClass, Site

_POD_TEMPLATE = "capacitybuffer/podtemplate.yaml.j2"


class CapacityBufferBackend(Backend):
    timetable_version = 4
    pool_templates = (_POD_TEMPLATE,)

    def manifests(
        self,
        site: Site,
        placed: Placed,
        occurrences: Sequence[Occurrence],
        schedules: Sequence[str],
        timetable: str,
    ) -> list[Manifest]:
        """Return timetable, PodTemplates, CapacityBuffers, ServiceAccount, Role, RoleBindings, CronJobs."""
        common = window.shared(site, placed)
        return [
            window.timetable(common, timetable),
            *_pools(site, placed, common),
            *rbac.of_reservation(site, placed),
            *window.cronjobs(site, placed, common, occurrences, schedules),
        ]

    def timetable_pool(self, site: Site, placed: Placed, found: ResourceClass) -> dict[str, bool]:  # noqa: ARG002
        return {"capacityBuffer": True}


def _pools(site: Site, placed: Placed, common: dict[str, Any]) -> Iterator[Manifest]:
    """Yield a PodTemplate and a CapacityBuffer of the same name for each class."""
    for name, found in zip(deployments.names(placed), placed.classes, strict=True):
        known = {**common, "name": name, "labels": {**common["labels"], CLASS: found.name}}
        yield Manifest(_POD_TEMPLATE, {**known, **deployments.seat_values(site, placed, found)})
        yield Manifest("capacitybuffer/capacitybuffer.yaml.j2", known)
