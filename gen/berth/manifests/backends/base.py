"""The interface of a backend. A backend is a module with the functions of `Backend`."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from berth.dates.occurrence import Occurrence
from berth.manifests.placed import Placed
from berth.schema.values import Site


class Manifest(NamedTuple):
    """One object to render: a template and the finished values for it."""

    template: str
    values: Mapping[str, Any]


class Backend(Protocol):
    def manifests(
        self,
        site: Site,
        placed: Placed,
        occurrences: Sequence[Occurrence],
        schedules: Sequence[str],
        timetable: str,
    ) -> list[Manifest]:
        """Return the objects of one reservation in one cluster, in the order of the file."""
