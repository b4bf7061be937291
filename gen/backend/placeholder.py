"""Backend `placeholder`: capacity is held by low-priority pause pods, opened and closed by Jobs."""

from collections.abc import Sequence

from gen.backend import pool, window
from gen.backend.base import Manifest
from gen.dates.occurrence import Occurrence
from gen.model import Site
from gen.placed import Placed


def manifests(
    site: Site, placed: Placed, occurrences: Sequence[Occurrence], schedules: Sequence[str], timetable: str
) -> list[Manifest]:
    """Timetable, Deployments, Role, RoleBinding, CronJobs."""
    common = window.shared(site, placed)
    return [
        window.timetable(common, timetable),
        *pool.deployments(site, placed, common),
        *pool.rights_to_scale(placed, common),
        *window.cronjobs(site, placed, common, occurrences, schedules),
    ]
