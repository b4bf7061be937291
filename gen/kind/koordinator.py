"""`clusters[].koordinator` of the site: whether a cluster has Koordinator, and what holds for all of it."""

from gen.kind import grammar
from gen.kind.shape import Field, Fields
from gen.kind.value import Flag, OneOf, Text
from gen.model import Koordinator

ALLOCATE_POLICIES = ("Restricted", "Aligned")

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
)
