"""`clusters[].koordinator` of the site: whether a cluster has Koordinator, and what holds for all of it."""

from gen.finding import Path
from gen.kind import grammar
from gen.kind.shape import Field, Fields, Made, Report
from gen.kind.value import Flag, OneOf, Text
from gen.model import Koordinator

ALLOCATE_POLICIES = ("Restricted", "Aligned")

CONFIGURED = "B115"
_STOCK = "default-scheduler"


def _agree(made: Made, path: Path, report: Report) -> None:
    if made["schedulerName"] == _STOCK:
        message = (
            f"{_STOCK} is Kubernetes' own scheduler, which knows no slots, unless Koordinator replaces it."
        )
        fix = "Write the name under which Koordinator's scheduler runs, mostly koord-scheduler."
        report(CONFIGURED, (*path, "schedulerName"), message, fix)


KOORDINATOR = Fields(
    {
        "schedulerName": Field(
            Text("DNS name", grammar.dns_name), "koord-scheduler", "name of Koordinator's scheduler there"
        ),
        "allocatePolicy": Field(
            OneOf(ALLOCATE_POLICIES), "Restricted", "of every Reservation there: Restricted or Aligned"
        ),
        "colocationProfiles": Field(
            Flag(), False, "whether its webhook may change session pods, for `sessionAffinity`"
        ),
    },
    lambda made: Koordinator(made["schedulerName"], made["allocatePolicy"], made["colocationProfiles"]),
    agree=_agree,
)
