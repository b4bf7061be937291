"""What a backend is given and what it answers."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from berth.dates.expansion import Occurrence
from berth.manifests.placed import Placed
from berth.schema.values import ResourceClass, Site


class Manifest(NamedTuple):
    """One object to render: a template and the finished values for it."""

    template: str
    values: Mapping[str, Any]


class Backend(ABC):
    """How a holder's objects are made. Defaults are those of most backends."""

    timetable_version: int
    """The lowest version of the timetable that can describe its pools."""

    pool_templates: tuple[str, ...]
    """Templates of the objects whose replicas are the seats or nodes."""

    @abstractmethod
    def manifests(
        self,
        site: Site,
        placed: Placed,
        occurrences: Sequence[Occurrence],
        schedules: Sequence[str],
        timetable: str,
    ) -> list[Manifest]:
        """Return the objects of one reservation in one cluster, in the order of the file."""

    def timetable_pool(self, site: Site, placed: Placed, found: ResourceClass) -> Mapping[str, Any]:  # noqa: ARG002
        """Return the fields of a pool in the timetable that only this backend has."""
        return {}

    def inventory_lines(self, site: Site, placed: Placed) -> list[str]:  # noqa: ARG002
        """Return the lines of the inventory about what is held without windows."""
        return []
