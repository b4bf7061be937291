"""Declarations of a cloud, for checks that need more than one document."""

from typing import Any

from berth.backends.backendinterface import backend_of
from berth.checks import autoscalers, cloudchecks, references
from berth.dates.recurrence import expand
from berth.findings import Problem
from berth.schema.declared import Declared
from berth.schema.seatholders import Unit
from berth.schema.values import Site

from tests.checks.backendproblems import checked_reservation, project_of
from tests.clouddocuments import cloud
from tests.saying import Value, lines, reservation, resource_class, site, valid

KARPENTER: Value = {"name": "prod", "autoscaler": "karpenter"}
MACHINE: Value = {"instanceType": "p5.48xlarge", "zone": "us-east-1a", "count": 4}
RESERVED: Value = {"id": "cr-0a", **MACHINE}


def block(until: str, **more: object) -> Value:
    """A Capacity Block from February on."""
    return {**RESERVED, "type": "capacity-block", "from": "2026-02-01T00:00:00Z", "until": until, **more}


def sound(*documents: Value) -> tuple[Declared, Site]:
    declared = valid(*documents)
    assert declared.site is not None
    return declared, declared.site


def of_documents(*documents: Value) -> list[str]:
    """What is told of a site, its clouds and its classes."""
    project = project_of(sound(*documents)[0])
    problems: list[Problem] = [
        *references.check_names_in_classes(project),
        *references.check_capacities_of_classes(project.declared),
        *autoscalers.check_autoscalers(project),
        *autoscalers.check_pods_for_autoscaler(project),
        *cloudchecks.check_clouds(project),
    ]
    return lines(problems)


def of_cloud(*, cluster: Value = KARPENTER, **spec: Any) -> list[str]:
    """What is told of a capacity that a class names."""
    return of_documents(site(cluster), resource_class(cloudCapacity=["gpu"]), cloud(**spec))


def of_class(found: Value, **spec: Any) -> list[str]:
    """What is told of a class that names a capacity."""
    return of_documents(site(KARPENTER), resource_class(cloudCapacity=["gpu"], **found), cloud(**spec))


def of_reservation(course: Value, *capacities: Value, cluster: Value = KARPENTER, **found: Any) -> list[str]:
    """What is told of a reservation's windows and nodes. Its class names all capacities, in their order."""
    names = [capacity["metadata"]["name"] for capacity in capacities]
    one = resource_class(**{"cloudCapacity": names, **found})
    declared, _ = sound(reservation(**course), site(cluster), one, *capacities)
    (placed,) = declared.reservations
    dates = expand(placed, declared.calendars).occurrences
    checked = checked_reservation(placed, declared, dates)
    of_nodes = backend_of(placed.holder).problems(checked) if placed.holder.unit is Unit.NODE else ()
    return lines([*of_nodes, *cloudchecks.check_reserved_clouds(checked)])
