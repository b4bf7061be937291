"""Backend `placeholder`: capacity is held by low-priority pause pods, opened and closed by Jobs."""

from collections.abc import Sequence

from berth.backends.backendinterface import Backend, Manifest
from berth.dates.expansion import Occurrence
from berth.manifests import deployments, rbac, window
from berth.manifests.placed import Placed
from berth.schema.values import Site


class PlaceholderBackend(Backend):
    timetable_version = 1
    pool_templates = (deployments.TEMPLATE,)

    def manifests(
        self,
        site: Site,
        placed: Placed,
        occurrences: Sequence[Occurrence],
        schedules: Sequence[str],
        timetable: str,
    ) -> list[Manifest]:
        """Return timetable, Deployments, ServiceAccount, Role, RoleBindings, CronJobs."""
        common = window.shared(site, placed)
        return [
            window.timetable(common, timetable),
            *deployments.deployments(site, placed, common),
            *rbac.of_reservation(site, placed, rbac.of_deployments(deployments.names(placed))),
            *window.cronjobs(site, placed, common, occurrences, schedules),
        ]


BACKEND = PlaceholderBackend()
